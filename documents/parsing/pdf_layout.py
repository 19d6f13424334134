"""From the fragments of a page of a PDF to its blocks in reading order: columns, lines, tables, paragraphs.

Coordinates are points from the upper left corner. A fragment is text of one line without a wide gap. All rules are
heuristics on places and sizes; a page keeps every word whatever they decide.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
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
_MIN_LINES_OF_SEVERAL = 8  # of each of three columns or more, as what follows
_MIN_COLUMN_WIDTH = 7
_MIN_LINE_FILL = 0.7  # the middle line reaches so far
_MIN_LINE_FILL_WITHOUT_CASE = 0.93  # where no capital letters tell cells from lines that go on
_MIN_CONTINUED = 0.5  # of the lines go on in the next
_MAX_SHARED_ENDS = 0.5  # of the ends of paragraphs are in line; cells of a row end together
_MAX_SHARED_GAPS = 0.6
_MAX_TABLE_FILL = 0.7
_MAX_COLUMN_SHARE = 0.65  # of the width of a page; wider lines run across it
_HEADING_RATIO = 1.15
_MAX_HEADING_LEVELS = 4
_MAX_HEADING_CHARACTERS = 200
_MAX_BOLD_SHARE = 0.3
_ITEM = re.compile(r"(?:[•‣◦▪·●○■□–]|[-*o](?=\s)|\(?(?:\d{1,2}|[a-z]|[ivx]{1,5})[.)](?=\s)|[①-⑳])")
_LTR_RUN = re.compile(r"[0-9A-Za-z\u0660-\u0669\u06f0-\u06f9][0-9A-Za-z\u0660-\u0669\u06f0-\u06f9.,:/%-]*")
_FIRST_WORD = re.compile(r"[^\s\u2e80-\uffff]+|.{1,2}")  # of Chinese two characters, as a sign may not begin a line
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
    ordered = "".join(character for character, _left in sorted(characters, key=lambda place: -place[1]))
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
        of_turn = [fragment for fragment in fragments if fragment.turn == turn]
        lines_by_region = [lines_of(region) for region in _regions(of_turn)]
        for lines in lines_by_region:
            if turn == 0 and repeated:
                lines = [line for line in lines if line[0].top not in repeated]
            yield from _region_blocks(lines, sizes, page)


def _regions(fragments: list[Fragment], depth: int = 0) -> Iterator[list[Fragment]]:
    """The parts of a page in reading order: what stands above columns, the columns from the left, what follows."""
    gutters = _gutters(fragments) if depth < 3 else []
    if not gutters or (depth == 0 and _has_table(fragments, len(gutters) > 1)):
        if depth == 0:
            for part, has_columns in _parts(fragments):
                if has_columns:
                    yield from _regions(part, depth + 1)
                else:
                    yield part
        elif fragments:
            yield fragments
        return
    crossing = [fragment for fragment in fragments if _crosses(fragment, gutters)]
    crossing.sort(key=lambda fragment: fragment.top)
    tops = [fragment.top for fragment in crossing]
    bands: dict[int, list[Fragment]] = {}
    for fragment in fragments:
        if not _crosses(fragment, gutters):
            bands.setdefault(bisect(tops, (fragment.top + fragment.bottom) / 2), []).append(fragment)
    above: list[Fragment] = []
    for number in range(len(crossing) + 1):
        if band := bands.get(number):
            columns = [column for column in _columns(band, gutters) if column]
            if len(columns) > 1 and len(columns[0]) < 2:
                above += band  # say a table or a heading between lines of full width
            else:
                if above:
                    yield above
                    above = []
                for column in columns:
                    yield from _regions(column, depth + 1)
        if number < len(crossing):
            above.append(crossing[number])
    if above:
        yield above


def _crosses(fragment: Fragment, gutters: list[float]) -> bool:
    return any(fragment.left < gutter - 1 and fragment.right > gutter + 1 for gutter in gutters)


def _columns(fragments: list[Fragment], gutters: list[float]) -> list[list[Fragment]]:
    """The fragments between the gutters, from the left."""
    columns: list[list[Fragment]] = [[] for _ in range(len(gutters) + 1)]
    for fragment in fragments:
        columns[bisect(gutters, (fragment.left + fragment.right) / 2)].append(fragment)
    return columns


def _parts(fragments: list[Fragment]) -> Iterator[tuple[list[Fragment], bool]]:
    """What stands one below another on a page where only some of it has columns, say above and below a table.

    A part with columns reaches as far down as white space runs between them.
    """
    if not fragments:
        return
    start, end = min(fragment.left for fragment in fragments), max(fragment.right for fragment in fragments)
    height = median(fragment.height for fragment in fragments)
    rest: list[Fragment] = []
    for run in _runs(_bands(fragments), start, end, height):
        behind: list[list[Fragment]] = []
        while len(run) > 1 and _is_heading(run[-1], height):
            behind.insert(0, run.pop())  # of what follows, not of the left column
        part = [fragment for band in run for fragment in band]
        gutters = _gutters(part)
        # A part is too little to tell three columns of text from a table whose cells are long.
        if len(gutters) == 1 and any(_has_columns_at(gutters[0], band) for band in run):
            while all(fragment.right <= gutters[0] + 1 for fragment in run[0]):
                rest += run.pop(0)  # say the short last line of what stands above
            part = [fragment for band in run for fragment in band]
            if rest:
                yield rest, False
            yield part, True
            rest = []
        else:
            rest += part
        rest += [fragment for band in behind for fragment in band]
    if rest:
        yield rest, False


def _has_table(fragments: list[Fragment], has_several_columns: bool) -> bool:
    """Whether rows of a table stand one below another, which white space between columns must not cut.

    Where the whole page is several columns of running text, a band of it that is so too is no row.
    """
    n_rows = 0
    for band in _bands(fragments):
        is_row = _is_row(band) and not (has_several_columns and len(_gutters(band)) > 1)
        n_rows = n_rows + len(lines_of(band)) if is_row else 0
        if n_rows >= 3:
            return True
    return False


def _bands(fragments: list[Fragment]) -> Iterator[list[Fragment]]:
    """What white space across the page keeps apart, from above. A wide line stands by itself."""
    width = max(fragment.right for fragment in fragments) - min(fragment.left for fragment in fragments)
    wide = _MAX_COLUMN_SHARE * width
    gap = 0.5 * median(fragment.height for fragment in fragments)
    band: list[Fragment] = []
    bottom, was_wide = 0.0, False
    for fragment in sorted(fragments, key=lambda fragment: fragment.top):
        is_wide = fragment.right - fragment.left >= wide
        if band and (is_wide or was_wide or fragment.top > bottom + gap):
            yield band
            band = []
        bottom = max(bottom, fragment.bottom) if band else fragment.bottom
        band.append(fragment)
        was_wide = is_wide
    if band:
        yield band


def _runs(bands: Iterable[list[Fragment]], start: float, end: float, height: float) -> Iterator[list[list[Fragment]]]:
    """Bands one below another as long as white space in the middle of the page runs down between their sides."""
    middle = [(start + 0.15 * (end - start), start + 0.85 * (end - start))]
    run: list[list[Fragment]] = []
    free = middle
    for band in bands:
        white = [] if _is_row(band) else _shared(middle, _white(band, start, end), _MIN_GUTTER * height)
        shared = _shared(free, white, _MIN_GUTTER * height)
        if run and not shared:
            yield run
            run = []
            shared = white
        run.append(band)
        free = shared
    if run:
        yield run


def _white(band: list[Fragment], start: float, end: float) -> list[tuple[float, float]]:
    """The white space that runs down through a band."""
    white: list[tuple[float, float]] = []
    reached = start
    for fragment in sorted(band, key=lambda fragment: fragment.left):
        if fragment.left > reached:
            white.append((reached, fragment.left))
        reached = max(reached, fragment.right)
    return [*white, (reached, end)]


def _is_row(band: list[Fragment]) -> bool:
    """Whether a band is of a table with three columns or more; many lines of three columns of text fill their width."""
    lines = lines_of(band)
    if median(map(len, lines)) < 3:
        return False
    width = max(fragment.right for fragment in band) - min(fragment.left for fragment in band)
    filled = median(sum(cell.right - cell.left for cell in line) for line in lines)
    return len(lines) < _MIN_COLUMN_LINES or filled < _MAX_TABLE_FILL * width


def _has_columns_at(gutter: float, band: list[Fragment]) -> bool:
    """Whether lines of text stand on both sides, so that these are no rows of a table."""
    n_left = sum(fragment.right <= gutter + 1 for fragment in band)
    return min(n_left, len(band) - n_left) >= _MIN_COLUMN_LINES


def _is_heading(band: list[Fragment], height: float) -> bool:
    return all(fragment.is_bold or fragment.height > _HEADING_RATIO * height for fragment in band)


def _gutters(fragments: list[Fragment]) -> list[float]:
    """Where the white space between columns of text is; empty where there is one column, or a table.

    Two columns have one gutter: a column that has columns of its own is looked at again.
    """
    if len(fragments) < 2 * _MIN_COLUMN_LINES:
        return []
    start, end = min(fragment.left for fragment in fragments), max(fragment.right for fragment in fragments)
    width = end - start
    height = median(fragment.height for fragment in fragments)
    if width < 20 * height or width > 20_000:
        return []
    narrow = [fragment for fragment in fragments if fragment.right - fragment.left < _MAX_COLUMN_SHARE * width]
    middles = _free_middles(narrow, start, width, _MIN_GUTTER * height)
    n_lines, best = max(((_lines_beside(narrow, x, start, end), -x) for x in middles), default=(0, 0.0))
    return [-best] if n_lines else _gutters_of_several(narrow, middles, start, end, height)


def _free_middles(narrow: list[Fragment], start: float, width: float, least: float) -> list[float]:
    """The middles of the white spaces, at least so wide, that run down the page between narrow lines."""
    covered = [0] * (int(width) + 3)
    for fragment in narrow:
        covered[int(fragment.left - start)] += 1
        covered[int(fragment.right - start) + 1] -= 1
    middles: list[float] = []
    total = 0
    free_from: int | None = None
    allowed = len(narrow) // 50
    for x, change in enumerate(covered):
        total += change
        is_free = total <= allowed and 0.15 * width < x < 0.85 * width
        if is_free and free_from is None:
            free_from = x
        elif not is_free and free_from is not None:
            if x - free_from >= least:
                middles.append(start + (free_from + x) / 2)
            free_from = None
    return middles


def _lines_beside(fragments: list[Fragment], gutter: float, start: float, end: float) -> int:
    """How many lines the shorter of two columns beside ``gutter`` has; 0 where these are no columns of text."""
    left = [fragment for fragment in fragments if fragment.right <= gutter + 1]
    right = [fragment for fragment in fragments if fragment.left >= gutter - 1]
    if min(len(left), len(right)) < _MIN_COLUMN_LINES:
        return 0
    for column, width in ((left, gutter - start), (right, end - gutter)):
        if median(fragment.right - fragment.left for fragment in column) < _COLUMN_FILL * width:
            return 0
    upper = max(min(fragment.top for fragment in left), min(fragment.top for fragment in right))
    lower = min(max(fragment.bottom for fragment in left), max(fragment.bottom for fragment in right))
    heights = [max(cell.bottom for cell in side) - min(cell.top for cell in side) for side in (left, right)]
    shorter = min(heights)
    return min(len(left), len(right)) if lower - upper > 0.3 * shorter else 0


def _gutters_of_several(
    narrow: list[Fragment], middles: list[float], start: float, end: float, height: float
) -> list[float]:
    """The gutters of three columns of running text or more; empty where there are fewer, or a table.

    In running text a line ends where the next word has no room, and paragraphs end at different heights in each
    column. The cells of a table end before that, or all cells of a row end together.
    """
    gutters: list[float] = []
    for middle in middles:
        if min(middle - (gutters[-1] if gutters else start), end - middle) >= _MIN_COLUMN_WIDTH * height:
            gutters.append(middle)  # others stand between list marks and their texts
    if len(gutters) < 2:
        return []
    columns = [lines_of(column) for column in _columns(narrow, gutters) if column]
    if len(columns) > 2 and len(columns[-1]) < _MIN_LINES_OF_SEVERAL:
        columns.pop()  # where the text ends
    if len(columns) < 2 or not all(map(_is_running_text, columns)):
        return []
    return [] if _are_cells(columns, 0.3 * height) else gutters


def _are_cells(columns: list[list[Line]], tolerance: float) -> bool:
    """Whether paragraphs begin at the same heights in all columns, as the cells of a row do."""
    tops = [[_top(line) for line in lines] for lines in columns]
    ends = [_paragraph_ends(lines) for lines in columns]
    fewest, *others = sorted(ends, key=len)
    n_shared = sum(all(_has_near(column, top, tolerance) for column in others) for top in fewest)
    if n_shared >= max(2, _MAX_SHARED_ENDS * len(fewest)):
        return True
    n_gaps = n_shared = 0
    for number in range(len(columns)):
        other_tops, other_ends = (places[:number] + places[number + 1 :] for places in (tops, ends))
        for top in _tops_below_gaps(columns[number]):
            n_gaps += 1
            n_shared += all(_has_near(column, top, tolerance) for column in other_tops) and any(
                _has_near(column, top, tolerance) for column in other_ends
            )
    return n_shared >= max(2, _MAX_SHARED_GAPS * n_gaps)


def _has_near(places: list[float], place: float, tolerance: float) -> bool:
    """Whether one of the places, which ascend, is near."""
    index = bisect(places, place - tolerance)
    return index < len(places) and places[index] < place + tolerance


def _is_running_text(lines: list[Line]) -> bool:
    if len(lines) < _MIN_LINES_OF_SEVERAL:
        return False
    left, right = min(map(_left, lines)), max(map(_right, lines))
    has_case = 2 * sum(_text(line)[0].lower() != _text(line)[0].upper() for line in lines) > len(lines)
    least = _MIN_LINE_FILL if has_case else _MIN_LINE_FILL_WITHOUT_CASE
    if median(map(_right, lines)) - left < least * (right - left):
        return False
    return len(lines) - 1 - len(_paragraph_ends(lines)) >= _MIN_CONTINUED * (len(lines) - 1)


def _paragraph_ends(lines: list[Line]) -> list[float]:
    """The tops of the lines of a column that seem to continue no line above them."""
    right = max(map(_right, lines))
    below_gaps = set(_tops_below_gaps(lines))
    ends: list[float] = []
    for above, line in pairwise(lines):
        text = _text(line)
        word = _FIRST_WORD.match(text)
        share = len(word[0]) / len(text) if word else 0.0
        has_room = right - _right(above) > share * (_right(line) - _left(line)) + 0.5 * line[0].height
        begins = text[0].isupper() or text[0].isdigit() or _ITEM.match(text) is not None
        if has_room or begins or _top(line) in below_gaps:
            ends.append(_top(line))
    return ends


def _tops_below_gaps(lines: list[Line]) -> list[float]:
    """The tops of the lines of a column that stand further below the line above than most do."""
    pitches = [_top(line) - _top(above) for above, line in pairwise(lines)]
    usual = median(pitches)
    return [_top(line) for line, pitch in zip(lines[1:], pitches, strict=True) if pitch > 1.3 * usual]


Line = list[Fragment]


def lines_of(fragments: list[Fragment]) -> list[Line]:
    """The lines of a region from above, each with its cells in reading order."""
    lines: list[Line] = []
    for fragment in sorted(fragments, key=lambda fragment: ((fragment.top + fragment.bottom) / 2, fragment.left)):
        for line in reversed(lines[-3:]):
            if _on_one_line(line[0], fragment):
                line.append(fragment)
                break
        else:
            lines.append([fragment])
    return [_joined(line) for line in lines]


def _joined(line: Line) -> Line:
    """The fragments of a line, those joined that stand close together."""
    is_rtl = _is_rtl("".join(fragment.text for fragment in line))
    ordered = sorted(line, key=lambda fragment: -fragment.right if is_rtl else fragment.left)
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


def _left(line: Line) -> float:
    return min(cell.left for cell in line)


def _right(line: Line) -> float:
    return max(cell.right for cell in line)


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
