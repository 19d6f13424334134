"""Tables of a report: columns and rows, kept in pieces and written as CSV byte for byte the same each time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

from consilium.lib.csvfile import stream_csv

Row = dict[str, Any]


class _Picked(Sequence[list[Any]]):
    """Rows by column name as rows in the order of the columns, each made when it is read."""

    def __init__(self, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
        self._columns, self._rows = columns, rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> list[Any]: ...
    @overload
    def __getitem__(self, place: slice) -> list[list[Any]]: ...
    def __getitem__(self, place: int | slice) -> list[Any] | list[list[Any]]:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
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
        """From rows by column name; what is in no column is left aside. Only of a list are the rows made at once."""
        picked = _Picked(columns, rows)
        kept = tuple(name for name in text if name in columns)
        return cls(tuple(columns), list(picked) if isinstance(rows, list) else picked, kept)

    def dicts(self) -> list[Row]:
        """Rows by column name."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def csv(self) -> Iterator[str]:
        """The file, in pieces."""
        return stream_csv(self.columns, self.rows, text_columns=self.text)


@dataclass(frozen=True)
class Result:
    """What a report comes to: its tables by name, single facts, remarks, and the digest of its inputs."""

    tables: dict[str, Table]
    digest: str
    facts: Row = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def as_json(self) -> Row:
        """For ``Report.result``; the tables are kept apart (`agreement.stored.store_tables`)."""
        return {"facts": self.facts, "notes": self.notes}
