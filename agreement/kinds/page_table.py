"""A stored table as the page of a report shows it; the template is ``agreement/kinds/_table.html``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from agreement.reports.tables import Row

SHOWN_ROWS = 50  # of a list, or of each group of it; its file has all


@dataclass(frozen=True)
class PageTable:
    """A stored table as the page shows it.

    ``columns`` are headings, each with whether it holds numbers; the first column heads its row. ``groups`` are rows
    under a heading, which may be empty. ``remark`` is a line below; ``empty`` is there in place of rows. ``addresses``
    are those of pages, by the first cell of a row. A table of more than ``open_rows`` rows is folded up.
    """

    name: str
    title: str
    columns: Sequence[tuple[str, bool]]
    groups: Mapping[str, Sequence[Sequence[str]]]
    remark: str = ""
    empty: str = ""
    addresses: Mapping[str, str] = field(default_factory=dict)
    open_rows: int | None = None

    @property
    def n_rows(self) -> int:
        """How many rows the page shows."""
        return sum(map(len, self.groups.values()))

    @property
    def is_folded(self) -> bool:
        """Whether the page shows only how many rows there are, until the reader opens them."""
        return self.open_rows is not None and self.n_rows > self.open_rows

    @property
    def cells(self) -> Iterator[tuple[str, list[tuple[str, list[tuple[str, bool]]]]]]:
        """Each heading with its rows: the address of a row, and its cells, each with whether it is a number."""
        numeric = [is_number for _label, is_number in self.columns]
        for heading, rows in self.groups.items():
            yield heading, [
                (self.addresses.get(row[0], ""), list(zip(row, numeric, strict=True))) for row in rows
            ]  # fmt: skip


def first_rows(
    rows: Iterable[Row], cells: Callable[[Row], list[str]], heading: Callable[[Row], str] = lambda row: ""
) -> tuple[dict[str, list[list[str]]], str]:
    """The first `SHOWN_ROWS` rows below each heading, and a remark on how many more the file has."""
    groups: dict[str, list[list[str]]] = {}
    more = 0
    for row in rows:
        group = groups.setdefault(heading(row), [])
        if len(group) < SHOWN_ROWS:
            group.append(cells(row))
        else:
            more += 1
    return groups or {"": []}, _("%(n)s more are in the file.") % {"n": f"{more:,}"} if more else ""
