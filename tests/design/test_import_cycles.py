"""The contract about import cycles finds one, and only where there is one."""

from __future__ import annotations

import grimp

from tests.design.import_cycles import NoImportCycles


def check(imports: dict[str, str]) -> tuple[bool, list[str]]:
    """Whether the contract is kept, and the cycle: ``{"a": "bc"}`` says that module a imports b and c."""
    graph = grimp.ImportGraph()
    for module in sorted({*imports, *"".join(imports.values())}):
        graph.add_module(module)
    for importer, imported in imports.items():
        for module in imported:
            graph.add_import(importer=importer, imported=module)
    result = NoImportCycles("cycles", {}, {}).check(graph, verbose=False)
    return result.kept, result.metadata.get("cycle", [])


def test_a_chain_keeps_the_contract() -> None:
    assert check({"a": "bc", "b": "c", "c": "d"}) == (True, [])


def test_a_cycle_by_way_of_others_breaks_it_and_is_named() -> None:
    kept, cycle = check({"a": "b", "b": "c", "c": "ad"})
    assert not kept
    assert cycle[0] == cycle[-1]
    assert set(cycle) == {"a", "b", "c"}
