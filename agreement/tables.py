"""Tables of a report: columns and rows, kept as JSON on its row and written as CSV byte for byte the same each time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from consilium.lib.csvfile import stream_csv

Row = dict[str, Any]


@dataclass(frozen=True)
class Table:
    """Rows in the order of ``columns``; ``text`` names the columns that hold text."""

    columns: tuple[str, ...]
    rows: list[list[Any]]
    text: tuple[str, ...] = ()

    @classmethod
    def of(cls, columns: Sequence[str], rows: Sequence[Mapping[str, Any]], text: Sequence[str] = ()) -> Table:
        """From rows by column name; what is in no column is left aside."""
        return cls(
            tuple(columns),
            [[row[name] for name in columns] for row in rows],
            tuple(name for name in text if name in columns),
        )

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Table:
        """From what `as_json` made."""
        return cls(tuple(stored["columns"]), stored["rows"], tuple(stored["text"]))

    def as_json(self) -> Row:
        """For a JSON column."""
        return {"columns": list(self.columns), "rows": self.rows, "text": list(self.text)}

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
        """For ``Report.result``."""
        return {
            "tables": {name: table.as_json() for name, table in self.tables.items()},
            "facts": self.facts,
            "notes": self.notes,
        }
