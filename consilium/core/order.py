"""Natural order of names: A2 before A10."""

from __future__ import annotations

import re

DIGITS = re.compile(r"(\d+)", re.ASCII)


def natural(name: str) -> list[tuple[int, str, int]]:
    """A key to sort names by: runs of digits count as numbers, and case does not count."""
    return [(1, "", int(part)) if at % 2 else (0, part, 0) for at, part in enumerate(DIGITS.split(name.casefold()))]
