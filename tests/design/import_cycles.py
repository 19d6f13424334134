"""A contract for import-linter: no module imports itself by way of others, not even inside a function.

Its own `acyclic_siblings` is stricter: it also forbids that two packages import each other where no module does.
"""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, output


class NoImportCycles(Contract):
    """Kept where all modules can be put in an order in which each imports only earlier ones."""

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Look for an order."""
        imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
        try:
            TopologicalSorter(imports).prepare()
        except CycleError as error:
            return ContractCheck(kept=False, metadata={"cycle": error.args[1][::-1]})
        return ContractCheck(kept=True)

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Name one cycle."""
        output.print_error(" imports ".join(check.metadata["cycle"]))
        output.new_line()
