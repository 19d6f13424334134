"""Names of rows on an axis: on two lines where one is too short, cut in the middle, and never two alike.

The renderer cuts a long name at its end. Names such as those of tags differ only there.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from unicodedata import east_asian_width

from consilium.figures.style import NARROW, Palette

WIDE, PLAIN = 12.0, 6.4  # pixels of a letter at `style.SIZE`: Chinese, and all others on average, with some room
LIMIT, NARROW_LIMIT = 220, 140  # pixels of a line
ELLIPSIS = "…"
# Behind these a name may go on in the next line.
_PIECES = re.compile(r"[^\s_:/,-]*[\s_:/,-]?")


def line_limit(palette: Palette) -> int:
    """How many pixels a line of a name has beside a plot of this width."""
    return LIMIT if palette.width > NARROW else NARROW_LIMIT


def row_labels(names: Iterable[str], limit: float = LIMIT) -> dict[str, list[str]]:
    """One line or two for each name, within ``limit`` pixels; different names have different lines."""
    lines = {name: _lines(name, limit) for name in names}
    seen: Counter[str] = Counter()
    for name, own in lines.items():
        shown = "\n".join(own)
        seen[shown] += 1
        if seen[shown] > 1:
            mark = f" ({seen[shown]})"
            lines[name] = [*own[:-1], _start(own[-1], limit - _width(mark)) + mark]
    return lines


def label_expression(names: Iterable[str], limit: float = LIMIT) -> str:
    """The expression by which an axis of the renderer shows `row_labels`."""
    return f"{json.dumps(row_labels(names, limit), ensure_ascii=False)}[datum.value]"


def _lines(name: str, limit: float) -> list[str]:
    if _width(name) <= limit:
        return [name]
    first = ""
    for piece in _PIECES.findall(name):
        if not piece or _width((first + piece).rstrip()) > limit:
            break
        first += piece
    # A first line that is nearly empty would waste room: a long word is cut where the line ends.
    if _width(first) < limit / 3:
        first = _start(name, limit)
    rest = name[len(first) :].lstrip()
    if _width(rest) > limit:
        rest = ELLIPSIS + _end(rest, limit - _width(ELLIPSIS))
    return [first.rstrip(), rest]


def _width(text: str) -> float:
    return sum(WIDE if east_asian_width(letter) in "WF" or letter == ELLIPSIS else PLAIN for letter in text)


def _start(text: str, limit: float) -> str:
    """As much of the start as fits."""
    while _width(text) > limit:
        text = text[:-1]
    return text


def _end(text: str, limit: float) -> str:
    """As much of the end as fits."""
    while _width(text) > limit:
        text = text[1:]
    return text
