"""A stored table as the page of a report shows it; the template is ``agreement/kinds/_table.html``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class PageTable:
    """A stored table as the page shows it.

    ``columns`` are headings, each with whether it holds numbers; the first column heads its row. ``groups`` are rows
    under a heading, which may be empty. ``remark`` is a line below; ``empty`` is there in place of rows.
    """

    name: str
    title: str
    columns: Sequence[tuple[str, bool]]
    groups: Mapping[str, Sequence[Sequence[str]]]
    remark: str = ""
    empty: str = ""

    @property
    def cells(self) -> Iterator[tuple[str, list[list[tuple[str, bool]]]]]:
        """Each heading with its rows, each cell with whether it is a number."""
        numeric = [is_number for _label, is_number in self.columns]
        for heading, rows in self.groups.items():
            yield heading, [list(zip(row, numeric, strict=True)) for row in rows]
