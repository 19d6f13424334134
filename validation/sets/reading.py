"""Reads the criteria of a rubric set from a file: JSONL in two shapes, or a table of criteria as CSV or XLSX."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from consilium.core.jobs import Progress, no_progress
from consilium.core.limits import MAX_CRITERION_LENGTH
from consilium.core.phrases import Phrase
from rubrics.editor.draft_content import MAX_ITEMS
from rubrics.parsing.faults import Faults
from rubrics.parsing.fields import Fields
from rubrics.parsing.reader import BOM, Limits, RecordReader
from rubrics.services.import_rubrics import rows_in_order
from rubrics.tables import ZIP, Row, rows_of_file, rows_with_heading
from rubrics.tables.columns import Cell, plain_number
from validation.sets.content import AXIS_PREFIX, Mend, SetCriterion
from validation.sets.mending import Mender, Place, number_in

MAX_SET_ITEMS = 200_000  # as many rows as a table may have
MAX_SET_CHARACTERS = 64 << 20
CASE_FIELDS = ("case", "prompt_id", "index")
MAX_INDEX = 10**9
LIMITS = Limits(total_bytes=1 << 30)


@dataclass(slots=True)
class SetRow:
    """The criteria of a case of a file. ``references`` are the fields that name the case: a key, or its place."""

    line: int
    references: list[tuple[str, str | int]]
    criteria: list[SetCriterion]
    mends: list[Mend] = field(default_factory=list)


class _Size:
    """What the file holds so far; a fault once that is more than a set may hold."""

    def __init__(self, faults: Faults) -> None:
        self.faults, self.items, self.characters = faults, 0, 0

    def is_too_large(self, line: int, criteria: list[SetCriterion]) -> bool:
        self.items += len(criteria)
        self.characters += sum(len(each.text) for each in criteria)
        if self.items > MAX_SET_ITEMS:
            self.faults.add(line, "", Phrase("A rubric set has at most %(n)s criteria.", n=MAX_SET_ITEMS))
        elif self.characters > MAX_SET_CHARACTERS:
            message = Phrase(
                "The criteria of a rubric set may have at most %(n)s characters in total.", n=MAX_SET_CHARACTERS
            )
            self.faults.add(line, "", message)
        else:
            return False
        return True


def read_set_file(
    file: BinaryIO,
    faults: Faults,
    *,
    axes: Collection[str],
    mend: bool,
    progress: Progress = no_progress,
) -> Iterator[SetRow]:
    """The sound cases of ``file``; everything else is in ``faults`` when the iterator ends.

    A file that begins with ``{`` is JSONL, any other a table.
    """
    start = file.read(512)
    file.seek(0)
    mender, size = Mender(faults, axes, mend=mend), _Size(faults)
    is_json = start.removeprefix(BOM).lstrip().startswith(b"{")
    read = _read_lines if is_json else _read_table
    for row in read(file, faults, mender, progress):
        if size.is_too_large(row.line, row.criteria):
            return
        yield row


def _read_lines(file: BinaryIO, faults: Faults, mender: Mender, progress: Progress) -> Iterator[SetRow]:
    reader = RecordReader(file, faults, limits=LIMITS, progress=progress, accept_nonfinite=mender.mend)
    for line, record in reader:
        before = faults.total
        fields = Fields(line, record, faults)
        references = _references(fields)
        name = fields.name_of("rubrics", "generated_rubrics")
        mender.mends = []
        elements = fields.objects(name, what=Phrase("criterion"))
        if len(elements) > MAX_ITEMS:
            fields.fault(name, Phrase("A rubric can have at most %(n)s criteria.", n=MAX_ITEMS))
            continue
        criteria = []
        for index, element in enumerate(elements):
            inner = fields.within(f"{name}[{index}]", element)
            if inner is None:
                continue
            text = inner.text("criterion", longest=MAX_CRITERION_LENGTH)
            place = Place(line, index + 1, inner.place)
            criterion = mender.criterion(place, text, element.get("points"), _axes(inner))
            if criterion is not None:
                criteria.append(criterion)
        yield from _whole_row(SetRow(line, references, criteria, mender.mends), name, faults, before)


def _whole_row(row: SetRow, name: str, faults: Faults, before: int) -> Iterator[SetRow]:
    """The row if it has no fault; one is that no criterion is left."""
    if faults.total == before and not row.criteria:
        faults.add(row.line, name, Phrase("The case has no usable criterion."))
    if faults.total == before:
        yield row


def _references(fields: Fields) -> list[tuple[str, str | int]]:
    references: list[tuple[str, str | int]] = []
    for name in CASE_FIELDS:
        if fields.record.get(name) is None:
            continue
        if name == "index":
            references.append((name, fields.integer(name, low=0, high=MAX_INDEX)))
        else:
            references.append((name, fields.key(name)))
    if not references:
        fields.fault("case", Phrase("The line does not identify a case. Give case, prompt_id or index."))
    return references


def _axes(inner: Fields) -> list[Any]:
    """The values that name the axis of a criterion: its field ``axis``, and its tags that begin with ``axis:``."""
    own = inner.take("axis")
    tags = inner.texts("tags", longest=MAX_CRITERION_LENGTH)
    return [*([] if own is None else [own]), *(tag for tag in tags if tag.startswith(AXIS_PREFIX))]


def _read_table(file: BinaryIO, faults: Faults, mender: Mender, progress: Progress) -> Iterator[SetRow]:
    exact = file.read(4) == ZIP
    file.seek(0)
    by_case: dict[str, list[Row]] = defaultdict(list)
    characters = 0
    table = rows_of_file(file, faults, progress)
    for row in rows_with_heading(table, faults, with_case=True, exact=exact, of_set=True):
        characters += len(row.text)
        if not row.case:
            faults.add(row.line, "case", Phrase("The row does not name a case."))
        elif characters <= MAX_SET_CHARACTERS + MAX_CRITERION_LENGTH and len(by_case[row.case]) <= MAX_ITEMS:
            by_case[row.case].append(row)
    for key, rows in by_case.items():
        before = faults.total
        mender.mends = []
        criteria = []
        numbers = {id(row): number for number, row in enumerate(rows, start=1)}
        for row in rows_in_order(rows, faults):
            axes = [*([row.axis] if row.axis else []), *(tag for tag in row.tags if tag.startswith(AXIS_PREFIX))]
            place = Place(row.line, numbers[id(row)])
            criterion = mender.criterion(place, row.text, _cell_value(row.points_cell), axes)
            if criterion is not None:
                criteria.append(criterion)
        yield from _whole_row(
            SetRow(rows[0].line, [("case", key)], criteria, mender.mends), "criterion", faults, before
        )


def _cell_value(cell: Cell) -> Any:
    """The points of a cell: a number that is written as text, as all are in CSV, is one."""
    if not isinstance(cell, str):
        return cell
    number = number_in(cell)
    if number is not None:
        return number
    return cell if plain_number(cell) else None
