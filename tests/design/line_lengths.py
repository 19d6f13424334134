"""Finds lines of templates, scripts, style sheets and documents that are too long; `make lint` runs it.

The formatters wrap code, and leave long comments, texts and names as they are.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

MAX_LENGTH = 120
# The guidelines and the rule sheet in `demo` are data: judges are asked in these very words.
PLACES = ("templates", "consilium/templates", "static/css", "static/js", "tests/js", "*.md", ":!demo")


def long_lines(text: str) -> Iterator[tuple[int, int]]:
    """``(line, characters)`` for each line with more than `MAX_LENGTH` characters."""
    for number, line in enumerate(text.splitlines(), start=1):
        if len(line) > MAX_LENGTH:
            yield number, len(line)


def main() -> int:
    """Print the long lines of the files that git knows; 1 where there is any."""
    listed = subprocess.run(["git", "ls-files", *PLACES], capture_output=True, text=True, check=True)
    count = 0
    for path in filter(lambda path: path.endswith((".html", ".css", ".js", ".md")), listed.stdout.splitlines()):
        for number, length in long_lines(Path(path).read_text(encoding="utf-8")):
            print(f"{path}:{number}: {length} characters, {MAX_LENGTH} at most")
            count += 1
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main())
