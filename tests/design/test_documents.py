"""Files, folders and names that the pages on architecture and on decisions mention are there."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # it reads every source file

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("docs/architecture/*.md"), *ROOT.glob("docs/adr/*.md"), ROOT / "tests/README.md"])
SOURCES = (".py", ".js", ".html", ".css", ".toml", ".yml", "Makefile")
CODE = re.compile(r"`([^`\n]+)`")
FILE = re.compile(r"[\w.-]+(/[\w.-]+)*/?")
FILE_ENDING = re.compile(r"\.(py|js|html|css|md|toml|yml)$")
NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*(\(\))?")


def _tracked() -> list[str]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()


def _places(path: str) -> set[str]:
    """All names of a file and of its folders: a page of a package leaves out the package."""
    parts = path.split("/")
    ranges = [(start, end) for start in range(len(parts)) for end in range(start + 1, len(parts) + 1)]
    return {"/".join(parts[start:end]) for start, end in ranges}


def test_what_the_pages_name_is_there() -> None:
    tracked = _tracked()
    places = set().union(*map(_places, tracked))
    sources = [ROOT / path for path in tracked if path.endswith(SOURCES) and not path.startswith("docs/")]
    words = {word for path in sources for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))}
    missing = []
    for page in PAGES:
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
            for name in CODE.findall(line):
                if FILE.fullmatch(name) and ("/" in name or FILE_ENDING.search(name)):
                    is_there = name.removesuffix("/") in places
                else:
                    is_there = not NAME.fullmatch(name) or set(re.findall(r"\w+", name)) <= words
                if not is_there:
                    missing.append(f"{page.relative_to(ROOT)}:{number}: {name}")
    assert missing == []
