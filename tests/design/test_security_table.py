"""Every test that docs/security.md names as a proof is there."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "security.md"
MENTION = re.compile(r"`(test_\w+)::(\w+)`")


def missing_tests(text: str, *, folder: Path = TESTS) -> list[str]:
    """The ``file::test`` mentions of ``text`` without such a function in a file of that name below ``folder``."""
    sources: dict[str, str] = {}
    for path in folder.rglob("test_*.py"):  # files in different folders may have the same name
        sources[path.stem] = sources.get(path.stem, "") + path.read_text(encoding="utf-8")
    return sorted(
        {
            f"{file}::{test}"
            for file, test in MENTION.findall(text)
            if not re.search(rf"^ *def {test}\(", sources.get(file, ""), re.M) or not test.startswith("test")
        }
    )


def test_the_named_tests_are_there() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert len(MENTION.findall(text)) > 100
    assert missing_tests(text) == []


def test_a_test_that_is_not_there_is_named() -> None:
    text = "`test_security_table::test_the_named_tests_are_there`, `test_security_table::test_b`, `test_none::test_c`"
    assert missing_tests(text) == ["test_none::test_c", "test_security_table::test_b"]
