"""Parses rows of cells into criteria: by a heading, or by guessing what each column holds."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from types import MappingProxyType

from consilium.core.csvfile import bare
from consilium.core.limits import MAX_CITATIONS, MAX_CRITERION_LENGTH, MAX_LOCATOR_LENGTH, MAX_TAG_LENGTH
from consilium.core.phrases import Phrase
from rubrics.axes import axis_tags, is_known_axis
from rubrics.editor.citation import Citation, citation_rows
from rubrics.editor.draft_content import MAX_ITEMS, MAX_TAGS, TEXTS
from rubrics.parsing.faults import Faults
from rubrics.tables.columns import (
    AXIS,
    CASE,
    COLUMNS,
    NAMES,
    Cell,
    column_of,
    parted,
    points_of,
    refusal_of,
    text_of,
)
from rubrics.tables.mapping import LEFT_OUT, TableKind, chosen_fit, headings_of
from rubrics.tables.reading import rows_of_text
from rubrics.tables.workbooks import Rows

_TARGETS = {"criterion": "text", "source": "source", "element": "element", "expectation": "expectation", "bank": "bank"}
_BULLET = re.compile(r"^(?:\(?\d{1,3}[.)、．]|[-–•*·▪])\s+")
_POINTS_AT_END = re.compile(
    r"\s*[\[(（【]\s*([+\-−–]?\d{1,2})\s*(?:points?|pts?|分)?\s*[\])）】]\s*$|\s+([+\-−]\d{1,2})\s*$",
    re.IGNORECASE,
)
_NOT_STORABLE = re.compile("[\0\ud800-\udfff]")
SAMPLE = 50
CHOICES = (*COLUMNS, AXIS)  # what a column of a table may be
NOTHING_CHOSEN: Mapping[str, str] = MappingProxyType({})


RUBRICS = TableKind(
    headings={name: NAMES[name] for name in (CASE, *COLUMNS, AXIS)},
    required=(CASE, "criterion", "points"),
    others=(LEFT_OUT,),
    always=True,
)


@dataclass(slots=True)
class Row:
    """One criterion of a table, at its line. ``axis`` and ``points_cell`` are those of a file of a rubric set.

    ``locators`` are those of its cell, None where the table has no such column; `rubrics.cited.resolve_rows` finds the
    ``citations`` that they stand for.
    """

    line: int
    case: str = ""
    position: int | None = None
    text: str = ""
    points: int = 0
    tags: list[str] = field(default_factory=list)
    source: str = ""
    element: str = ""
    expectation: str = ""
    bank: str = ""
    axis: str = ""
    points_cell: Cell = None
    locators: list[str] | None = None
    citations: tuple[Citation, ...] = ()

    def as_json(self) -> dict[str, object]:
        """The row as JSON for the editor; citations are there if the table has a column for them."""
        names = ("line", "text", "points", "tags", "source", "element", "expectation", "bank")
        cited = {} if self.locators is None else {"citations": citation_rows(self.citations)}
        return {name: getattr(self, name) for name in names} | cited


@dataclass(slots=True)
class Pasted:
    """A pasted text as it was understood: ``columns`` has a name, or an empty text, for each of its columns."""

    columns: list[str]
    has_heading: bool
    rows: list[Row]


def rows_with_heading(
    rows: Rows,
    faults: Faults,
    *,
    with_case: bool,
    exact: bool = False,
    of_set: bool = False,
    chosen: Mapping[str, str] = NOTHING_CHOSEN,
    own_axes: Collection[str] = (),
) -> Iterator[Row]:
    """Rows of a table whose first row names its columns; ``exact`` where cells carry no apostrophe (XLSX).

    ``of_set``: for a rubric set, whose reader looks at the cells of points and axes itself. ``chosen`` says what
    columns hold whose headings do not, or `LEFT_OUT`. ``own_axes`` are those that the benchmark uses already.
    """
    first = next(rows, None)
    if first is None:
        if not faults.total:
            faults.add(0, "", Phrase("The table is empty."))
        return
    line, cells = first
    names = [text_of(cell) for cell in cells]
    while names and not names[-1]:
        names.pop()
    headings = headings_of(names)
    columns = [chosen.get(heading) or column_of(name) for heading, name in zip(headings, names, strict=True)]
    if not chosen_fit(chosen, headings, (CASE, *CHOICES, LEFT_OUT), line, faults):
        return
    required = (CASE, "criterion", "points") if with_case else ("criterion",)
    for name, column in zip(headings, columns, strict=True):
        if column == LEFT_OUT:
            continue
        if not column or (column == CASE and not with_case):
            known = ", ".join((*COLUMNS, AXIS))
            faults.add(
                line, name[:80], Phrase("This column is not supported. Available columns: %(names)s.", names=known)
            )
        elif columns.count(column) > 1:
            faults.add(line, name[:80], Phrase("Two columns have the same meaning."))
    for column in required:
        if column not in columns:
            faults.add(line, column, Phrase("This column is missing."))
    if faults.total:
        return
    columns = ["" if column == LEFT_OUT else column for column in columns]
    for number, row in rows:
        record = _row(number, row, columns, faults, exact=exact, of_set=of_set, own_axes=own_axes)
        if record is not None:
            yield record


def _row(
    line: int,
    cells: Sequence[Cell],
    columns: Sequence[str],
    faults: Faults,
    *,
    exact: bool,
    of_set: bool = False,
    own_axes: Collection[str] = (),
) -> Row | None:
    if any(text_of(cell) for cell in cells[len(columns) :]):
        faults.add(line, "", Phrase("The row has more cells than the header."))
        return None
    before = faults.total
    row = Row(line)
    for column, cell in zip(columns, cells, strict=False):
        if of_set and column == "points":
            row.points_cell = cell
            continue
        if not column:
            continue
        if refusal := refusal_of(cell):
            faults.add(line, column, refusal)
            continue
        if column == "points":
            points = points_of(cell)
            if isinstance(points, Phrase):
                faults.add(line, column, points)
            else:
                row.points = points
            continue
        text = text_of(cell) if exact else text_of(bare(str(cell)) if cell is not None else None)
        if _NOT_STORABLE.search(text):
            faults.add(line, column, Phrase("The text contains a character that cannot be stored."))
        elif column == "position":
            if text and not re.fullmatch(r"[1-9]\d{0,5}\.?", text):
                faults.add(line, column, Phrase("This is not a position in a list."))
            row.position = int(text.rstrip(".")) if text and faults.total == before else None
        elif column == "tags" or (column == AXIS and not of_set):
            labels = parted(text) if column == "tags" else axis_tags(parted(text), own_axes)
            row.tags = list(dict.fromkeys([*labels, *row.tags] if column == AXIS else [*row.tags, *labels]))
            if len(row.tags) > MAX_TAGS or any(len(tag) > MAX_TAG_LENGTH for tag in labels):
                message = Phrase(
                    "At most %(n)s tags of at most %(length)s characters.", n=MAX_TAGS, length=MAX_TAG_LENGTH
                )
                faults.add(line, column, message)
        elif column in (CASE, AXIS):
            setattr(row, column, text)
        elif column == "citations":
            row.locators = parted(text)
            if len(row.locators) > MAX_CITATIONS or any(len(name) > MAX_LOCATOR_LENGTH for name in row.locators):
                message = Phrase(
                    "At most %(n)s locators of at most %(length)s characters.",
                    n=MAX_CITATIONS,
                    length=MAX_LOCATOR_LENGTH,
                )
                faults.add(line, column, message)
        elif column:
            longest = TEXTS[_TARGETS[column]]
            if len(text) > longest:
                faults.add(line, column, Phrase("This is longer than %(n)s characters.", n=longest))
            else:
                setattr(row, _TARGETS[column], text)
    if not row.text and not faults.total > before:
        faults.add(line, "criterion", Phrase("The criterion has no text."))
    return row if faults.total == before else None


def read_pasted(
    text: str, faults: Faults, *, columns: Sequence[str] | None = None, own_axes: Collection[str] = ()
) -> Pasted:
    """A pasted text, with or without a heading; ``columns`` if the person named the columns."""
    if len(text) > MAX_CRITERION_LENGTH * 50:
        faults.add(0, "", Phrase("This is too long to paste. Import it as a file."))
        return Pasted([], has_heading=False, rows=[])
    return read_table(rows_of_text(text, faults), faults, columns=columns, own_axes=own_axes)


def read_table(
    table: Iterable[tuple[int, list[Cell]]],
    faults: Faults,
    *,
    columns: Sequence[str] | None = None,
    exact: bool = False,
    own_axes: Collection[str] = (),
) -> Pasted:
    """Like `read_pasted`, for rows of cells; takes no more rows than a rubric and its heading can have."""
    records = list(islice(table, MAX_ITEMS + 2))
    if len(records) > MAX_ITEMS + 1:
        faults.add(0, "", Phrase("A rubric can have at most %(n)s criteria.", n=MAX_ITEMS))
        return Pasted([], has_heading=False, rows=[])
    headings = [column_of(text_of(cell)) for cell in records[0][1]] if records else []
    has_heading = "criterion" in headings or "points" in headings
    width = max((len(cells) for _line, cells in records), default=0)
    body = records[1:] if has_heading else records
    if columns is None:
        sample = [cells for _line, cells in body[:SAMPLE]]
        guessed = _completed(_unique(headings), sample) if has_heading else _guess(sample, width)
    else:
        guessed = [name if name in CHOICES else "" for name in columns]
    guessed = (guessed + [""] * width)[:width]
    lonely = width == 1 or sum(bool(name) for name in guessed) == 1
    rows = []
    for line, cells in body:
        padded = [*cells, *([None] * (width - len(cells)))]
        row = _row(line, padded, guessed, faults, exact=exact, own_axes=own_axes)
        if row is not None:
            row.text = _BULLET.sub("", row.text) if lonely else row.text
            tail = _POINTS_AT_END.search(row.text) if "points" not in guessed else None
            points = points_of(tail.group(1) or tail.group(2)) if tail else 0
            if tail and isinstance(points, int):
                row.text, row.points = row.text[: tail.start()], points
            rows.append(row)
    return Pasted(guessed, has_heading, rows)


def _unique(headings: list[str]) -> list[str]:
    """Column names; empty for a repeated name, and for ``case``, which is of no use within one rubric."""
    return [name if name in CHOICES and name not in headings[:place] else "" for place, name in enumerate(headings)]


def _completed(names: list[str], rows: list[list[Cell]]) -> list[str]:
    """Column names; if none is the criterion, the longest column without a known heading becomes it."""
    unnamed = [place for place, name in enumerate(names) if not name]
    if "criterion" not in names and unnamed:
        size = {place: sum(len(text_of(row[place])) for row in rows if place < len(row)) for place in unnamed}
        names[max(unnamed, key=lambda place: size[place])] = "criterion"
    return names


def _guess(rows: list[list[Cell]], width: int) -> list[str]:
    """What each column holds: the longest texts are criteria, small numbers points, words with a colon tags.

    Names of common axes are axes.
    """
    cells = [[text_of(row[place]) if place < len(row) else "" for row in rows] for place in range(width)]
    filled = [[cell for cell in column if cell] for column in cells]
    names = [""] * width
    numeric = [place for place in range(width) if filled[place] and all(_is_points(cell) for cell in filled[place])]
    counted = [str(n) for n in range(1, len(rows) + 1)]
    if numeric and numeric[0] == 0 and len(rows) > 1 and [cell.rstrip(".") for cell in cells[0]] == counted:
        names[0] = "position"
        numeric = numeric[1:]
    if numeric:
        names[numeric[0]] = "points"
    rest = [place for place in range(width) if not names[place] and filled[place]]
    for place in list(rest):
        tagged = sum(bool(re.match(r"^[a-z_]+:\S", cell)) for cell in filled[place])
        axes = sum(map(is_known_axis, filled[place]))
        if "tags" not in names and tagged * 2 > len(filled[place]):
            names[place] = "tags"
            rest.remove(place)
        elif AXIS not in names and axes * 2 > len(filled[place]):
            names[place] = AXIS
            rest.remove(place)
    if rest:
        longest = max(rest, key=lambda place: sum(map(len, filled[place])) / len(filled[place]))
        names[longest] = "criterion"
        rest.remove(longest)
    for name, place in zip(("source", "element", "expectation"), rest, strict=False):
        names[place] = name
    return names


def _is_points(cell: str) -> bool:
    return isinstance(points_of(cell), int) or re.fullmatch(r"[1-9]\d{0,2}\.?", cell) is not None
