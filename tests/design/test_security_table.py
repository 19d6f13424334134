"""Every test that docs/security.md names as a proof is there, and its name fits one file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "security.md"
MENTION = re.compile(r"`((?:\w+/)*test_\w+)::(\w+)`")


def unclear_mentions(text: str, *, folder: Path = TESTS) -> list[str]:
    """The ``file::test`` mentions of ``text`` that do not name one file below ``folder`` with such a function in it."""
    paths = list(folder.rglob("test_*.py"))
    return sorted({f"{file}::{test}" for file, test in MENTION.findall(text) if not _is_clear(file, test, paths)})


def _is_clear(file: str, test: str, paths: list[Path]) -> bool:
    """Whether one path ends with ``file``, folders included, and has the function."""
    parts = file.split("/")
    files = [path for path in paths if list(path.with_suffix("").parts[-len(parts) :]) == parts]
    if len(files) != 1 or not test.startswith("test"):
        return False
    return re.search(rf"^ *def {test}\(", files[0].read_text(encoding="utf-8"), re.M) is not None


@pytest.mark.slow
def test_each_named_test_is_in_one_file() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert len(MENTION.findall(text)) > 100
    assert unclear_mentions(text) == []


def test_a_test_that_is_not_there_is_named() -> None:
    text = (
        "`test_security_table::test_each_named_test_is_in_one_file`, `test_security_table::test_b`, `test_none::test_c`"
    )
    assert unclear_mentions(text) == ["test_none::test_c", "test_security_table::test_b"]


def test_a_name_of_two_files_needs_its_folder(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "test_pages.py").write_text(f"def test_{folder}():\n    pass\n")
    text = "`test_pages::test_a`, `a/test_pages::test_a`, `a/test_pages::test_b`"
    assert unclear_mentions(text, folder=tmp_path) == ["a/test_pages::test_b", "test_pages::test_a"]
