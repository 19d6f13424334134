"""Pages of a long record, newest first, without OFFSET: a page begins after the row at which the one before ended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import QuerySet
from django.db.models.fields.tuple_lookups import Tuple, TupleLessThan

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
MAX_DIGITS = 18


@dataclass(frozen=True, slots=True)
class Place:
    """A row in the order of time: pages go on after it."""

    at: datetime
    number: int

    def __str__(self) -> str:
        return f"{(self.at - EPOCH) // MICROSECOND}-{self.number}"


@dataclass(frozen=True, slots=True)
class KeysetPage:
    """The rows of a page, and ``older``: the value of ``before`` for the next one, empty on the last page."""

    rows: list[Any]
    older: str


def place_of(text: str) -> Place | None:
    """The place that `Place.__str__` wrote; None where ``text`` is none, which is the beginning."""
    time, _hyphen, number = text.partition("-")
    if not all(part.isascii() and part.isdecimal() and len(part) <= MAX_DIGITS for part in (time, number)):
        return None
    try:
        return Place(EPOCH + int(time) * MICROSECOND, int(number))
    except OverflowError:
        return None


def page_before(rows: QuerySet[Any], place: Place | None, *, size: int, time: str = "at") -> KeysetPage:
    """The newest ``size`` rows before ``place``, by the field ``time`` and the primary key."""
    if place is not None:
        # Compared as a whole, so that an index on both is entered at the place, however many rows are of its moment.
        rows = rows.filter(TupleLessThan(Tuple(time, "pk"), (place.at, place.number)))
    page = list(rows.order_by(f"-{time}", "-pk")[: size + 1])
    older = str(Place(getattr(page[size - 1], time), page[size - 1].pk)) if len(page) > size else ""
    return KeysetPage(page[:size], older)


def all_rows(rows: QuerySet[Any], *, size: int = 1000, time: str = "at") -> Iterator[Any]:
    """Every row, newest first, read page by page: no statement takes long, and none is held open."""
    place: Place | None = None
    while True:
        page = page_before(rows, place, size=size, time=time)
        yield from page.rows
        if not page.older:
            return
        place = place_of(page.older)
