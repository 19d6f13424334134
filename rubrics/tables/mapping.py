"""What each column of a table holds: recognised by its heading, or chosen by a person."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from consilium.core.phrases import Phrase
from rubrics.parsing.faults import Faults
from rubrics.tables.columns import Cell, plain_name, text_of

# What a column may hold beside the fields of its kind of table.
KEPT, KEPT_WITH_CRITERION, LEFT_OUT, ANSWERS = "metadata", "criterion_metadata", "leave_out", "answers"
MAX_HEADING = 200


class Heading(str):
    """The heading of a column, in faults that are about the column and not about what it holds."""


@dataclass(slots=True)
class Places:
    """Where in a table the values of a record stand, so that its faults name rows and headings."""

    headings: dict[str, str] = field(default_factory=dict)  # by field
    rows: dict[int, list[int]] = field(default_factory=dict)  # of the criteria of a case, by its first row

    def heading(self, name: str) -> str:
        """The heading of the column of a field; a table without such a column is told by the name of the field."""
        return self.headings.get(name, name)


def place_of_field(places: Places, line: int, field: str) -> tuple[int, str]:
    """Row and heading of a field of a record that is one row."""
    return line, field if isinstance(field, Heading) else places.heading(field)


@dataclass(frozen=True, slots=True)
class TableKind:
    """The columns of a kind of table: the headings that name each field, and the fields that it must have.

    ``a|b`` in ``required`` means one of both. ``others`` are the further things that a column may hold; ``unknown`` is
    what becomes of a column whose heading nobody knows, empty if it must be chosen. ``place`` says where in the table a
    field of a record stands.
    """

    headings: Mapping[str, Sequence[str]]
    required: Sequence[str]
    others: Sequence[str]
    unknown: str = ""
    always: bool = False  # its files are nothing but tables
    place: Callable[[Places, int, str], tuple[int, str]] = place_of_field
    by_heading: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        names = {heading: name for name, headings in self.headings.items() for heading in headings}
        object.__setattr__(self, "by_heading", names)

    def field_of(self, heading: str) -> str:
        """The field that a heading names; empty if none does."""
        return self.by_heading.get(plain_name(heading), "")

    @property
    def targets(self) -> tuple[str, ...]:
        """All that a column may hold."""
        return (*self.headings, *self.others)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table. ``target`` is what it holds: a field, or one of the constants above."""

    heading: Heading
    target: str
    is_recognised: bool  # by its heading


def headings_of(cells: Sequence[Cell]) -> list[Heading]:
    """A name for each column, none twice: its heading, or its letter where it has none or one that came before."""
    names: list[Heading] = []
    for place, cell in enumerate(cells):
        name = text_of(cell)[:MAX_HEADING]
        letter = f"column {letter_of(place)}"
        names.append(Heading(f"{name} ({letter})" if name in names else name or letter))
    return names


def letter_of(place: int) -> str:
    """The letters with which a spreadsheet names a column, counted from 0: ``A``, …, ``Z``, ``AA``."""
    letters = ""
    while place >= 0:
        letters = chr(ord("A") + place % 26) + letters
        place = place // 26 - 1
    return letters


def columns_of(cells: Sequence[Cell], kind: TableKind, chosen: Mapping[str, str]) -> list[Column]:
    """What each column of a table holds: as ``chosen`` for its heading, else by the heading itself."""
    columns = []
    for heading, cell in zip(headings_of(cells), cells, strict=True):
        recognised = kind.field_of(text_of(cell))
        target = chosen.get(heading) or recognised or (kind.unknown if text_of(cell) else "")
        columns.append(Column(heading, target, bool(recognised)))
    return columns


def check_columns(
    columns: Sequence[Column], kind: TableKind, chosen: Mapping[str, str], line: int, faults: Faults
) -> bool:
    """Whether a table can be read by these columns; else the faults say why not."""
    before = faults.total
    chosen_fit(chosen, [column.heading for column in columns], kind.targets, line, faults)
    targets = [column.target for column in columns]
    for column in columns:
        if column.target in kind.headings and targets.count(column.target) > 1:
            faults.add(line, column.heading, Phrase("Two columns have the same meaning."))
    for name in kind.required:
        alternatives = name.split("|")
        if not {*alternatives} & {*targets}:
            faults.add(line, Heading(" / ".join(alternatives)), Phrase("This column is missing."))
    return faults.total == before


def chosen_fit(
    chosen: Mapping[str, str], headings: Collection[str], targets: Collection[str], line: int, faults: Faults
) -> bool:
    """Whether the table has all columns for which something was ``chosen``, and each may hold that."""
    before = faults.total
    for heading, target in chosen.items():
        if heading not in headings:
            faults.add(line, Heading(heading[:MAX_HEADING]), Phrase("This column does not exist in the table."))
        elif target and target not in targets:
            message = Phrase("“%(name)s” must be one of: %(names)s.", name=target[:40], names=", ".join(targets))
            faults.add(line, Heading(heading), message)
    return faults.total == before


def chosen_columns(text: str) -> dict[str, str]:
    """What somebody chose for columns, from JSON: ``{"heading": "field"}``. ValueError if it is anything else."""
    if not text:
        return {}
    value = json.loads(text)
    if not isinstance(value, dict) or not all(isinstance(target, str) for target in value.values()):
        raise ValueError("not an object of texts")
    return value
