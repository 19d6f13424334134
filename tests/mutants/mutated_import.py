"""Imports modules as mutants, or observed, in this process and in those that it starts; no file changes."""

from __future__ import annotations

import ast
import builtins
import importlib.util
import os
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType

from tests.mutants.operators import REACHED, ROOT, mutated, observed

MUTANT = "CONSILIUM_MUTANT"  # environment: which mutant, as in `Mutant.id`

# The statements that were reached since somebody emptied it: (module, line).
reached: set[tuple[str, int]] = set()


class _Loader(SourceFileLoader):
    def __init__(self, fullname: str, path: str, tree: Callable[[], ast.Module]) -> None:
        super().__init__(fullname, path)
        self._tree = tree

    def get_code(self, fullname: str) -> CodeType:
        """The changed code; the cache of compiled modules is neither read nor written."""
        return compile(self._tree(), self.path, "exec", dont_inherit=True)


class _Finder:
    def __init__(self, trees: dict[str, Callable[[], ast.Module]]) -> None:
        self._trees = {
            module.removesuffix(".py").removesuffix("/__init__").replace("/", "."): (module, tree)
            for module, tree in trees.items()
        }

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The changed module in the place of the one in the file."""
        if fullname not in self._trees:
            return None
        module, tree = self._trees[fullname]
        file = ROOT / module
        folders = [str(file.parent)] if file.name == "__init__.py" else None
        loader = _Loader(fullname, str(file), tree)
        return importlib.util.spec_from_file_location(fullname, file, loader=loader, submodule_search_locations=folders)


def import_mutant() -> None:
    """Import the mutant that the environment names, if it names one."""
    if os.environ.get(MUTANT):
        module, _, number = os.environ[MUTANT].partition("#")
        sys.meta_path.insert(0, _Finder({module: lambda: mutated(module, int(number))}))


def observe(modules: Sequence[str]) -> None:
    """Let each statement of these modules enter itself in `reached`."""
    setattr(builtins, REACHED, reached.add)
    trees = {module: (lambda module=module: observed(module)) for module in modules}
    sys.meta_path.insert(0, _Finder(trees))  # type: ignore[arg-type]
