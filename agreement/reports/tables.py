"""Tables of a report: columns and rows. `agreement.reports.stored` keeps them, `Table.csv` writes them as a file."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, overload

from consilium.core.csvfile import stream_csv
from consilium.core.out_folder import OutTable

Row = dict[str, Any]
T = TypeVar("T")


class ComputedRows(Sequence[T]):
    """Rows that are made or read on access: their number (`__len__`), and each by its place."""

    @abstractmethod
    def row_at(self, place: int) -> T:
        """The row at ``place``, from 0 to below the length."""

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> list[T]: ...
    def __getitem__(self, place: int | slice) -> T | list[T]:
        if isinstance(place, slice):
            return [self.row_at(position) for position in range(*place.indices(len(self)))]
        place = place + len(self) if place < 0 else place
        if not 0 <= place < len(self):
            raise IndexError(place)
        return self.row_at(place)


class _Picked(ComputedRows[list[Any]]):
    """Rows by column name as rows in the order of the columns."""

    def __init__(self, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
        self._columns, self._rows = columns, rows

    def __len__(self) -> int:
        return len(self._rows)

    def row_at(self, place: int) -> list[Any]:
        row = self._rows[place]
        return [row[name] for name in self._columns]


@dataclass(frozen=True)
class Table:
    """Rows in the order of ``columns``; ``text`` names the columns that hold text. ``rows`` may be a sequence that
    makes or reads its rows as it goes.
    """

    columns: tuple[str, ...]
    rows: Sequence[list[Any]]
    text: tuple[str, ...] = ()

    @classmethod
    def of(cls, columns: Sequence[str], rows: Sequence[Mapping[str, Any]], text: Sequence[str] = ()) -> Table:
        """A table from rows by column name; other keys are ignored. Rows are made at once only if given as a list."""
        picked = _Picked(columns, rows)
        kept = tuple(name for name in text if name in columns)
        return cls(tuple(columns), list(picked) if isinstance(rows, list) else picked, kept)

    def dicts(self) -> list[Row]:
        """Rows by column name."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def for_file(self, name: str) -> OutTable:
        """The table as the file ``NAME.csv`` of a command."""
        return OutTable(name, self.columns, self.rows, self.text)

    def csv(self) -> Iterator[str]:
        """The file, in pieces."""
        return stream_csv(self.columns, self.rows, text_columns=self.text)


def tables_for_files(tables: Mapping[str, Table], raters: str) -> Iterator[OutTable]:
    """A command's tables as files with their names; ``raters`` is the name of the file of the table ``raters``."""
    return (table.for_file(raters if name == "raters" else name) for name, table in tables.items())


@dataclass(frozen=True)
class Result:
    """The result of a report: its tables by name, single facts, remarks, and the digest of its inputs."""

    tables: dict[str, Table]
    digest: str
    facts: Row = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def as_json(self) -> Row:
        """For ``Report.result``; the tables are kept apart (`agreement.reports.stored.store_tables`)."""
        return {"facts": self.facts, "notes": self.notes}
