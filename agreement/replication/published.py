"""Values from a paper beside those made here: ``published.csv``, and the values that come with Consilium."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from agreement.replication.manifest import Artefact, Paper
from agreement.reports.tables import Row, Table
from agreement.writers.units import Unit, is_difference, unit_of
from consilium.core.limits import MAX_URL_LENGTH
from consilium.core.phrases import Phrase
from rubrics.parsing.decisions import read_table
from rubrics.parsing.faults import Faults
from rubrics.parsing.fields import Fields
from rubrics.parsing.reader import Limits

COLUMNS = ("artefact", "row", "column", "value", "source")
OUT_COLUMNS = ("artefact", "row", "column", "published", "ours", "difference", "report", "source", "note")
OUT_TEXT = ("artefact", "row", "column", "report", "source", "note")
BETWEEN = " / "  # the parts of a row's name
LIMITS = Limits(line_bytes=1 << 16, total_bytes=4 << 20)
MAX_VALUES = 5_000
MAX_ROW_LENGTH = 600
MAX_VALUE_LENGTH = 64
FOLDER = Path(__file__).parent / "values"
NO_ROW = "no row of this name here"
NO_VALUE = "no value here"
SEVERAL_ROWS = "several rows of this name here"
HUNDRED = 100
# The largest values by unit.
_BOUNDS: dict[Unit | None, float] = {Unit.SHARE: 1, Unit.OF_HUNDRED: HUNDRED}


@dataclass(frozen=True, slots=True)
class PublishedValue:
    """A number of a paper: of which artefact, row and column, and where it stands."""

    artefact: str
    row: str
    column: str
    value: float
    source: str

    def as_json(self) -> dict[str, Any]:
        """For the row of a replication."""
        return asdict(self)


def read_published(file: BinaryIO, paper: Paper) -> list[PublishedValue]:
    """The values of a CSV; `ImportRefused` names every fault by line and field, and nothing is read then."""
    faults = Faults()
    required = ("artefact", "row", "column", "value")
    values = list(
        _sound_values(read_table(file, faults, limits=LIMITS, columns=COLUMNS, required=required), faults, paper)
    )
    faults.refuse_if_any()
    return values


def published_rows(rows: Iterable[Mapping[str, Any]], paper: Paper) -> list[PublishedValue]:
    """The same of rows that were sent instead of a file; a line is the number of a row, from 1."""
    faults = Faults()
    numbered = ((number, {**row, "value": str(row["value"])}) for number, row in enumerate(rows, start=1))
    values = list(_sound_values(numbered, faults, paper))
    faults.refuse_if_any()
    return values


def _sound_values(
    records: Iterable[tuple[int, dict[str, Any]]], faults: Faults, paper: Paper
) -> Iterator[PublishedValue]:
    lines: dict[tuple[str, str, str], int] = {}
    for line, record in records:
        fields = Fields(line, record, faults)
        artefact = _artefact(fields, paper)
        row = fields.text("row", longest=MAX_ROW_LENGTH).strip()
        column = _column(fields, artefact)
        value = _value(fields, column, unit_of(column, artefact.table, _cells(artefact, row)) if artefact else None)
        source = fields.text("source", required=False, longest=MAX_URL_LENGTH).strip()
        for name in fields.rest():
            fields.fault(name, Phrase("This field does not exist."))
        if not fields.sound or artefact is None:
            continue
        key = (artefact.key, row, column)
        if key in lines:
            fields.fault("row", Phrase("Line %(line)s has a value of the same row and column.", line=lines[key]))
            continue
        lines[key] = line
        if len(lines) > MAX_VALUES:
            faults.add(line, "", Phrase("A file has at most %(n)s values.", n=MAX_VALUES))
            return
        yield PublishedValue(artefact.key, row, column, value, source)


def _artefact(fields: Fields, paper: Paper) -> Artefact | None:
    tables = {artefact.key: artefact for artefact in paper.artefacts if artefact.is_made_here}
    name = fields.choice("artefact", tuple(tables))
    return tables.get(name)


def _column(fields: Fields, artefact: Artefact | None) -> str:
    if artefact is None:
        return fields.text("column")
    return fields.choice("column", value_columns(artefact))


def value_columns(artefact: Artefact) -> tuple[str, ...]:
    """The columns of an artefact that a value can be of: those of figures, which do not name its rows."""
    return tuple(
        name
        for name in artefact.columns
        if name not in artefact.row and unit_of(name, artefact.table) is not Unit.WORDS
    )


def _cells(artefact: Artefact, row: str) -> dict[str, str]:
    """The cells that name a row."""
    return dict(zip(artefact.row, row.split(BETWEEN), strict=False))


def _value(fields: Fields, column: str, unit: Unit | None) -> float:
    """The number in the unit of its column; one with a percent sign is converted, one of another unit is a fault."""
    text = fields.text("value").strip()
    number, percent = text.removesuffix("%").rstrip(), text.endswith("%")
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not text:
        return value
    if not math.isfinite(value):
        fields.fault("value", Phrase("This is not a number."))
        return value
    bound = _BOUNDS.get(unit, math.inf)
    if percent and unit in (Unit.NONE, None):
        fields.fault("value", Phrase("A value of this column is not a percentage."))
    elif abs(value) > (HUNDRED if percent and unit in _BOUNDS else bound):
        fields.fault("value", _too_large(value, unit, percent=percent))
    elif not percent and unit is Unit.OF_HUNDRED and 0 < abs(value) < 1 and not is_difference(column):
        message = Phrase(
            "This column is on a scale of 100: write %(whole)s, or %(value)s%% if that is meant.",
            whole=f"{value * HUNDRED:g}",
            value=number,
        )
        fields.fault("value", message)
    return value / HUNDRED if percent and unit in (Unit.SHARE, Unit.RATIO) else value


def _too_large(value: float, unit: Unit | None, *, percent: bool) -> Phrase:
    if unit is Unit.SHARE and not percent and abs(value) <= HUNDRED:
        return Phrase(
            "This column is on a scale of 1: write %(share)s, or %(value)s%%.",
            share=f"{value / HUNDRED:g}",
            value=f"{value:g}",
        )
    most = f"{HUNDRED}%" if percent else _BOUNDS[unit]
    return Phrase("A value of this column is at most %(n)s.", n=most)


@cache
def shipped(paper: str) -> tuple[PublishedValue, ...]:
    """The values of a paper that come with Consilium; each names its source."""
    from agreement.replication.papers import PAPERS

    path = FOLDER / f"{paper}.csv"
    if not path.exists():
        return ()
    with path.open("rb") as file:
        return tuple(read_published(file, PAPERS[paper]))


def all_published(paper: str, own: Iterable[Mapping[str, Any]]) -> list[PublishedValue]:
    """The values that were given, then those that come with Consilium of other rows or columns."""
    given = [PublishedValue(**value) for value in own]
    taken = {(value.artefact, value.row, value.column) for value in given}
    return [*given, *(value for value in shipped(paper) if (value.artefact, value.row, value.column) not in taken)]


def row_name(artefact: Artefact, row: Mapping[str, Any]) -> str:
    """The name of a row in a file of published values: the values of its columns `Artefact.row`.

    An empty value at an end leaves no white space there, since none is read from a file.
    """
    return BETWEEN.join(str(row[name]) for name in artefact.row).strip()


def compared(paper: Paper, values: Iterable[PublishedValue], tables: Mapping[str, tuple[Table, str]]) -> Iterator[Row]:
    """A row of ``published.csv`` for each value; ``tables`` has of each artefact its table and the id of its report.

    A name that several rows have is compared with none of them.
    """
    rows_by_name: dict[str, dict[str, list[Row]]] = {}
    for key, (table, _report) in tables.items():
        artefact = paper.artefact(key)
        if artefact is not None:
            named = rows_by_name[key] = {}
            for row in table.dicts():
                named.setdefault(row_name(artefact, row), []).append(row)
    for value in values:
        rows = rows_by_name.get(value.artefact, {}).get(value.row, [])
        ours = _number(rows[0].get(value.column)) if len(rows) == 1 else None
        yield {
            "artefact": value.artefact,
            "row": value.row,
            "column": value.column,
            "published": value.value,
            "ours": ours,
            "difference": None if ours is None else ours - value.value,
            "report": tables[value.artefact][1] if rows else "",
            "source": value.source,
            "note": _note(len(rows), ours),
        }


def _number(cell: Any) -> float | None:
    return float(cell) if isinstance(cell, int | float) and not isinstance(cell, bool) else None


def _note(n_rows: int, ours: float | None) -> str:
    """Why there is no value; empty where there is one."""
    if n_rows == 0:
        return NO_ROW
    if n_rows > 1:
        return SEVERAL_ROWS
    return NO_VALUE if ours is None else ""
