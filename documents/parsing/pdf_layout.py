"""From the fragments of a page of a PDF to its blocks in reading order: columns, lines, tables, paragraphs.

Coordinates are points from the upper left corner. A fragment is text of one line without a wide gap. All rules are
heuristics on places and sizes; a page keeps every word whatever they decide.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

from documents.parsing.blocks import CELL_SEPARATOR, Block

# In heights of a line.
_WORD_GAP = 0.6  # a wider gap separates cells or columns
_MIN_GUTTER = 0.5
_COLUMN_FILL = 0.5  # lines of a column of text fill at least this part of it
_MIN_COLUMN_LINES = 4
_HEADING_RATIO = 1.15
_MAX_HEADING_LEVELS = 4
_MAX_HEADING_CHARACTERS = 200
_MAX_BOLD_SHARE = 0.3
_ITEM = re.compile(r"(?:[•‣◦▪·●○■□–]|[-*o](?=\s)|\(?(?:\d{1,2}|[a-z]|[ivx]{1,5})[.)](?=\s)|[①-⑳])")
_LTR_RUN = re.compile(r"[0-9A-Za-z\u0660-\u0669\u06f0-\u06f9][0-9A-Za-z\u0660-\u0669\u06f0-\u06f9.,:/%-]*")
_RTL = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")


@dataclass(slots=True)
class Fragment:
    """Text of one line without a wide gap. ``turn``: by how many quarters it is turned clockwise, as it is shown.

    The box of turned text is that of the text set upright.
    """

    text: str
    left: float
    top: float
    right: float
    bottom: float
    turn: int = 0
    is_bold: bool = False

    @property
    def height(self) -> float:
        return self.bottom - self.top

    def as_row(self) -> tuple[Any, ...]:
        """Its fields, in their order."""
        return self.text, self.left, self.top, self.right, self.bottom, self.turn, self.is_bold

    def join(self, other: Fragment) -> bool:
        """Append what stands close behind it on its line; says whether it did."""
        if other.turn != self.turn or not _on_one_line(self, other):
            return False
        height = max(self.height, other.height)
        gap = max(other.left - self.right, self.left - other.right)
        if not -0.5 * height < gap < _WORD_GAP * height:
            return False
        is_rtl = _RTL.search(self.text + other.text)
        if other.right < self.left + 0.3 * height and not is_rtl:
            return False  # text that begins anew further left
        comes_before = other.right > self.right and other.left > self.left and _is_rtl(self.text + other.text)
        self.text = f"{other.text} {self.text}" if comes_before else f"{self.text} {other.text}"
        self.left, self.right = min(self.left, other.left), max(self.right, other.right)
        self.top, self.bottom = min(self.top, other.top), max(self.bottom, other.bottom)
        self.is_bold = self.is_bold and other.is_bold
        return True


def word_text(characters: list[tuple[str, float]]) -> str:
    """The characters of a word in the order of reading, from their places.

    A PDF holds words of right-to-left scripts in either order. Digits and Latin letters in them run from the left.
    """
    text = "".join(character for character, _left in characters)
    if text.isascii() or not _RTL.search(text):
        return text
    ordered = "".join(character for character, _left in sorted(characters, key=lambda one: -one[1]))
    return _LTR_RUN.sub(lambda run: run[0][::-1], ordered)


def _is_rtl(text: str) -> bool:
    return 2 * len(_RTL.findall(text)) > len(text.replace(" ", ""))


class Sizes:
    """Heights of the text of a document, by the number of their characters."""

    def __init__(self) -> None:
        self._characters: Counter[float] = Counter()
        self._n_bold = 0
        self._levels: list[float] | None = None

    def count(self, fragment: Fragment) -> None:
        """Count the characters of a fragment."""
        self._characters[_rounded(fragment.height)] += len(fragment.text)
        self._n_bold += len(fragment.text) * fragment.is_bold

    @property
    def body(self) -> float:
        """The height of most of the text."""
        return max(self._characters.items(), key=lambda item: (item[1], -item[0]))[0] if self._characters else 0.0

    @property
    def bold_is_rare(self) -> bool:
        return self._n_bold < _MAX_BOLD_SHARE * sum(self._characters.values())

    def level(self, height: float) -> int:
        """The level of a heading of this height; 0 where it is no larger than the text."""
        if self._levels is None:
            body = self.body
            self._levels = sorted((size for size in self._characters if size > body * _HEADING_RATIO), reverse=True)
        if not self._levels or height <= self.body * _HEADING_RATIO:
            return 0
        larger = sum(size > height * 1.05 for size in self._levels)
        return min(larger + 1, _MAX_HEADING_LEVELS)


def _rounded(height: float) -> float:
    return round(2 * height) / 2


def _on_one_line(first: Fragment, second: Fragment) -> bool:
    overlap = min(first.bottom, second.bottom) - max(first.top, second.top)
    return overlap > 0.5 * min(first.height, second.height)


def page_blocks(
    fragments: list[Fragment], sizes: Sizes, page: int, repeated: Collection[float] = ()
) -> Iterator[Block]:
    """The blocks of a page. Lines that begin at one of the heights in ``repeated`` are left out."""
    for turn in range(4):
        of_turn = [one for one in fragments if one.turn == turn]
        lines_by_region = [lines_of(region) for region in _regions(of_turn)]
        for lines in lines_by_region:
            if turn == 0 and repeated:
                lines = [line for line in lines if line[0].top not in repeated]
            yield from _region_blocks(lines, sizes, page)


def _regions(fragments: list[Fragment], depth: int = 0) -> Iterator[list[Fragment]]:
    """The parts of a page in reading order: what stands above columns, the columns from the left, what follows."""
    gutter = _gutter(fragments) if depth < 3 else None
    if gutter is None:
        if fragments:
            yield fragments
        return
    crossing = sorted(
        (one for one in fragments if one.left < gutter - 1 and one.right > gutter + 1), key=lambda one: one.top
    )
    tops = [one.top for one in crossing]
    bands: dict[int, list[Fragment]] = {}
    for fragment in fragments:
        if not (fragment.left < gutter - 1 and fragment.right > gutter + 1):
            bands.setdefault(bisect(tops, (fragment.top + fragment.bottom) / 2), []).append(fragment)
    above: list[Fragment] = []
    for number in range(len(crossing) + 1):
        if band := bands.get(number):
            left = [one for one in band if (one.left + one.right) / 2 < gutter]
            right = [one for one in band if (one.left + one.right) / 2 >= gutter]
            if not _are_columns(left, right):
                above += band  # say a table or a heading between lines of full width
            else:
                if above:
                    yield above
                    above = []
                yield from _regions(left, depth + 1)
                yield from _regions(right, depth + 1)
        if number < len(crossing):
            above.append(crossing[number])
    if above:
        yield above


def _are_columns(left: list[Fragment], right: list[Fragment]) -> bool:
    return (len(left) >= 2 and len(right) >= 1) or not (left and right)


def _gutter(fragments: list[Fragment]) -> float | None:
    """Where the white space between two columns of text is; None where there is one column, or a table."""
    if len(fragments) < 2 * _MIN_COLUMN_LINES:
        return None
    start, end = min(one.left for one in fragments), max(one.right for one in fragments)
    width = end - start
    height = median(one.height for one in fragments)
    if width < 20 * height or width > 20_000:
        return None
    narrow = [one for one in fragments if one.right - one.left < 0.65 * width]
    covered = [0] * (int(width) + 3)
    for one in narrow:
        covered[int(one.left - start)] += 1
        covered[int(one.right - start) + 1] -= 1
    best: tuple[int, float] | None = None
    total = 0
    free_from: int | None = None
    allowed = len(narrow) // 50
    for x, change in enumerate(covered):
        total += change
        is_free = total <= allowed and 0.15 * width < x < 0.85 * width
        if is_free and free_from is None:
            free_from = x
        elif not is_free and free_from is not None:
            if x - free_from >= _MIN_GUTTER * height:
                middle = start + (free_from + x) / 2
                n = _lines_beside(narrow, middle, start, end)
                if n and (best is None or n > best[0]):
                    best = n, middle
            free_from = None
    return best[1] if best else None


def _lines_beside(fragments: list[Fragment], gutter: float, start: float, end: float) -> int:
    """How many lines the shorter of two columns beside ``gutter`` has; 0 where these are no columns of text."""
    left = [one for one in fragments if one.right <= gutter + 1]
    right = [one for one in fragments if one.left >= gutter - 1]
    if min(len(left), len(right)) < _MIN_COLUMN_LINES:
        return 0
    for column, width in ((left, gutter - start), (right, end - gutter)):
        if median(one.right - one.left for one in column) < _COLUMN_FILL * width:
            return 0
    upper = max(min(one.top for one in left), min(one.top for one in right))
    lower = min(max(one.bottom for one in left), max(one.bottom for one in right))
    shorter = min(max(one.bottom for one in side) - min(one.top for one in side) for side in (left, right))
    return min(len(left), len(right)) if lower - upper > 0.3 * shorter else 0


Line = list[Fragment]


def lines_of(fragments: list[Fragment]) -> list[Line]:
    """The lines of a region from above, each with its cells in reading order."""
    lines: list[Line] = []
    for fragment in sorted(fragments, key=lambda one: ((one.top + one.bottom) / 2, one.left)):
        for line in reversed(lines[-3:]):
            if _on_one_line(line[0], fragment):
                line.append(fragment)
                break
        else:
            lines.append([fragment])
    return [_joined(line) for line in lines]


def _joined(line: Line) -> Line:
    """The fragments of a line, those joined that stand close together."""
    is_rtl = _is_rtl("".join(one.text for one in line))
    ordered = sorted(line, key=lambda one: -one.right if is_rtl else one.left)
    cells = [Fragment(*ordered[0].as_row())]
    for fragment in ordered[1:]:
        if not cells[-1].join(fragment):
            cells.append(Fragment(*fragment.as_row()))
    return cells


def _region_blocks(lines: list[Line], sizes: Sizes, page: int) -> Iterator[Block]:
    index = 0
    pending: list[Line] = []
    while index < len(lines):
        end = _table_end(lines, index)
        if end:
            yield from _paragraphs(pending, sizes, page)
            pending = []
            yield from _rows(lines[index:end], page)
            index = end
        else:
            pending.append(lines[index])
            index += 1
    yield from _paragraphs(pending, sizes, page)


# Tables --------------------------------------------------------------------------------------------------------------


def _table_end(lines: list[Line], begin: int) -> int:
    """Where a table that begins with this line ends; 0 where none begins.

    The rows of a table have white space in common that runs down between their cells.
    """
    if len(lines[begin]) < 2 or _is_marked_item(lines[begin]):
        return 0
    end, n_rows = begin + 1, 1
    height = lines[begin][0].height
    gutters = _gaps(lines[begin])
    while end < len(lines):
        line = lines[end]
        gap = _top(line) - _bottom(lines[end - 1])
        if gap > 2.5 * height:
            break
        if len(line) >= 2:
            shared = _shared(gutters, _gaps(line), 0.4 * height)
            if not shared:
                break
            gutters = shared
            n_rows += 1
        elif not (gap < 0.8 * height and _continues_cell(lines, end, gutters, height)):
            break
        end += 1
    if n_rows >= 3 or (n_rows == 2 and (len(gutters) >= 2 or max(b - a for a, b in gutters) > 1.5 * height)):
        return end
    return 0


def _gaps(line: Line) -> list[tuple[float, float]]:
    """The white space between the cells of a line, from left to right."""
    cells = sorted(line, key=lambda cell: cell.left)
    return [(left.right, right.left) for left, right in pairwise(cells)]


def _shared(gutters: list[tuple[float, float]], gaps: list[tuple[float, float]], least: float) -> list[Any]:
    """What the white spaces have in common, as far as it is at least so wide."""
    common = [(max(a, c), min(b, d)) for a, b in gutters for c, d in gaps]
    return [(start, end) for start, end in common if end - start >= least]


def _is_marked_item(line: Line) -> bool:
    """A list item whose mark stands apart from its text."""
    return len(line) == 2 and len(line[0].text) <= 4 and _ITEM.match(f"{line[0].text} ") is not None


def _continues_cell(lines: list[Line], index: int, gutters: list[tuple[float, float]], height: float) -> bool:
    """Whether a line with one cell continues a cell above it, or stands between rows of the table."""
    cell = lines[index][0]
    if any(cell.left < start and cell.right > end for start, end in gutters):
        return False
    if cell.left >= gutters[0][1] - 1:
        return True  # not in the first column
    following = lines[index + 1] if index + 1 < len(lines) else None
    return following is not None and len(following) >= 2 and bool(_shared(gutters, _gaps(following), 0.4 * height))


def _rows(lines: list[Line], page: int) -> Iterator[Block]:
    """The rows of a table; the first is its header."""
    columns = max(lines, key=len)
    gaps = [_top(line) - _bottom(above) for above, line in pairwise(lines)]
    tight, wide = min(gaps), max(gaps)
    height = median(line[0].height for line in lines)
    has_rows_apart = wide - tight > 0.3 * height
    rows: list[list[list[str]]] = []
    for number, line in enumerate(lines):
        gap = gaps[number - 1] if number else 0.0
        places = [_column(cell, columns) for cell in line]
        continues = number > 0 and (
            0 not in places or (has_rows_apart and gap < tight + 0.3 * (wide - tight) and len(line) < len(columns))
        )
        if not continues:
            rows.append([[] for _ in columns])
        for cell, place in zip(line, places, strict=True):
            rows[-1][place].append(cell.text)
    header = ""
    for row in rows:
        cells = [" ".join(texts) for texts in row]
        while cells and not cells[-1]:
            cells.pop()
        text = CELL_SEPARATOR.join(cells)
        yield Block("row", text, page=page, header=header)
        header = header or text


def _column(cell: Fragment, columns: Line) -> int:
    """The column under which a cell stands: that of most overlap, else the nearest."""
    return max(range(len(columns)), key=lambda place: (_overlap(cell, columns[place]), -place))


def _overlap(first: Fragment, second: Fragment) -> float:
    """How far they overlap from left to right; below 0, how far they are apart."""
    return min(first.right, second.right) - max(first.left, second.left)


def _top(line: Line) -> float:
    return min(cell.top for cell in line)


def _bottom(line: Line) -> float:
    return max(cell.bottom for cell in line)


# Paragraphs ----------------------------------------------------------------------------------------------------------


def _paragraphs(lines: list[Line], sizes: Sizes, page: int) -> Iterator[Block]:
    if not lines:
        return
    pitches = sorted(_top(line) - _top(above) for above, line in pairwise(lines))
    usual = pitches[len(pitches) // 3] if pitches else 0.0
    right = max(cell.right for line in lines for cell in line)
    current: list[Line] = []
    for line in lines:
        if current and _begins_block(line, current, usual, right, sizes):
            yield _block(current, sizes, page)
            current = []
        current.append(line)
    yield _block(current, sizes, page)


def _begins_block(line: Line, current: list[Line], usual: float, right: float, sizes: Sizes) -> bool:
    last, height = current[-1], line[0].height
    last_height = last[0].height
    if not 0.88 < height / max(last_height, 0.1) < 1.14 and sizes.level(height) != sizes.level(last_height):
        return True
    pitch = _top(line) - _top(last)
    if pitch > max(1.3 * usual, 1.1 * height) and pitch > 1.25 * height:
        return True
    if _ITEM.match(_text(line)):
        return True
    if _is_bold(line) != _is_bold(last) and sizes.bold_is_rare:
        return True
    if _is_rtl(_text(line)):
        return False
    first = current[0] if len(current) == 1 else last
    is_indented = line[0].left > first[0].left + 0.8 * height
    ended_early = last[-1].right < right - 6 * height
    is_item = _ITEM.match(_text(current[0])) is not None
    return (is_indented and not is_item and len(current) > 1) or (ended_early and is_indented and not is_item)


def _text(line: Line) -> str:
    return " ".join(cell.text for cell in line)


def _is_bold(line: Line) -> bool:
    return all(cell.is_bold for cell in line)


def _block(lines: list[Line], sizes: Sizes, page: int) -> Block:
    text = "\n".join(map(_text, lines))
    level = sizes.level(median(line[0].height for line in lines))
    is_bold = sizes.bold_is_rare and all(map(_is_bold, lines)) and len(lines) <= 2
    if not level and is_bold and text[-1] not in ".;,。；，":
        level = _MAX_HEADING_LEVELS + 1
    if level and len(text) <= _MAX_HEADING_CHARACTERS:
        return Block("heading", text, level, page)
    return Block("item" if _ITEM.match(text) else "paragraph", text, page=page)
