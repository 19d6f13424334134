"""No script imports itself by way of others, types in comments included.

The manifest of static files replaces the addresses of imports by addresses with a digest of the content. In a circle of
imports each digest depends on the others, and `collectstatic` ends with an error. It also replaces what looks like an
import in a comment.
"""

from __future__ import annotations

import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

SCRIPTS = Path(__file__).parents[2] / "static" / "js"
IMPORTED = re.compile(r"""(?:\bfrom|\bimport\s*\(?)\s*["'](\.[^"']+)["']""")


def imports_of(script: Path) -> set[Path]:
    return {(script.parent / name).resolve() for name in IMPORTED.findall(script.read_text())}


def test_scripts_have_no_circle_of_imports() -> None:
    imports = {script.resolve(): imports_of(script) for script in SCRIPTS.rglob("*.js")}
    assert any(imports.values())
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        circle = [str(script.relative_to(SCRIPTS)) for script in error.args[1]]
        raise AssertionError(" → ".join(circle)) from None
