"""Ratings of a rater on (response, criterion) pairs, as plain arrays read from the database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import psycopg
from django.db import connection


@dataclass(frozen=True, slots=True)
class Span:
    """Responses by their ids, from ``first`` to ``last``, both of them included."""

    first: int
    last: int


def windows(
    ids: npt.NDArray[np.int64], n_pairs: npt.NDArray[np.int64], most: int
) -> Iterator[tuple[Span | None, float]]:
    """Spans of at most ``most`` pairs, or of one response, each with the share of the pairs that is done after it.

    ``ids`` are those of the responses in ascending order, ``n_pairs`` how many pairs each may have. A single window
    over everything is None: it needs no bounds. The first and last spans are open-ended, so that nothing is missed.
    """
    until = np.cumsum(n_pairs)
    total = int(until[-1]) if len(until) else 0
    if total <= most:
        yield None, 1.0
        return
    start, before, first = 0, 0, 0
    while start < len(until):
        end = max(int(np.searchsorted(until, before + most, side="right")), start + 1)
        is_last = end == len(until)
        last = 2**63 - 1 if is_last else int(ids[end - 1])
        before = int(until[end - 1])
        yield Span(first, last), before / total
        start, first = end, last + 1


@dataclass(frozen=True, slots=True)
class Ratings:
    """Three arrays of one length, sorted by response, then criterion; every pair occurs once.

    ``outcome`` holds the codes of `consilium.statistics.outcomes.Outcome`.
    """

    response: npt.NDArray[np.int64]
    criterion: npt.NDArray[np.int64]
    outcome: npt.NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.response)

    def keys(self) -> npt.NDArray[np.int64]:
        """One sortable integer for each pair; valid while both ids stay below 2³¹."""
        return (self.response << 31) | self.criterion

    def within(self, span: Span | None) -> Ratings:
        """The ratings of the responses in ``span``; all ratings for None."""
        if span is None:
            return self
        start, end = np.searchsorted(self.response, span.first), np.searchsorted(self.response, span.last, side="right")
        return Ratings(self.response[start:end], self.criterion[start:end], self.outcome[start:end])

    @classmethod
    def of(cls, response: npt.ArrayLike, criterion: npt.ArrayLike, outcome: npt.ArrayLike) -> Ratings:
        """Sort three sequences into ratings."""
        a, b, c = np.asarray(response, np.int64), np.asarray(criterion, np.int64), np.asarray(outcome, np.int8)
        order = np.lexsort((b, a))
        return cls(a[order], b[order], c[order])


def shared(first: Ratings, second: Ratings) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Positions in ``first`` and in ``second`` of the pairs that both rated."""
    _, a, b = np.intersect1d(first.keys(), second.keys(), assume_unique=True, return_indices=True)
    return a, b


class Reads:
    """Arrays that were read from the database, by their query with its parameters; see `reading_once`."""

    def __init__(self) -> None:
        self.kept: dict[str, list[npt.NDArray[Any]]] = {}

    def keep(self, query: str, arrays: list[npt.NDArray[Any]]) -> list[npt.NDArray[Any]]:
        """Note the arrays of a query; nobody may write to them from now on."""
        for array in arrays:
            array.setflags(write=False)
        self.kept[query] = arrays
        return list(arrays)

    def clear(self) -> None:
        """Forget everything, so that it is read anew."""
        self.kept.clear()


_reads: ContextVar[Reads | None] = ContextVar("reads", default=None)


@contextmanager
def reading_once(reads: Reads) -> Iterator[None]:
    """In the block, each array that ``reads`` holds is used as it was read, and others are added to it.

    What changes in the database meanwhile is not seen.
    """
    before = _reads.set(reads)
    try:
        yield
    finally:
        _reads.reset(before)


# PostgreSQL's binary COPY writes each field as a 4-byte length and its bytes, big-endian.
_WIDTHS = {"int8": (">i8", 8), "int4": (">i4", 4), "int2": (">i2", 2), "float8": (">f8", 8)}


def copy_columns(
    query: str, params: Sequence[Any] | Mapping[str, Any] = (), *, types: Mapping[str, str]
) -> dict[str, npt.NDArray[Any]]:
    """Run ``query`` as a binary COPY and return its columns as arrays, without a Python object for any row.

    ``types`` names the columns in order with their PostgreSQL type: int8, int4, int2 or float8. No value may be NULL
    and every column must have exactly that type (cast in the query); ValueError otherwise.
    """
    record: list[tuple[str, str]] = [("fields", ">i2")]
    for name, kind in types.items():
        record += [(f"{name}_length", ">i4"), (name, _WIDTHS[kind][0])]
    layout = np.dtype(record)
    connection.ensure_connection()
    with connection.connection.cursor() as cursor:
        bound = cursor.mogrify(f"COPY ({query}) TO STDOUT (FORMAT BINARY)", params)
    reads = _reads.get()
    kept = reads.kept.get(bound) if reads else None
    if kept is None:
        columns = _copied(bound, layout, types)
        kept = list(columns.values()) if reads is None else reads.keep(bound, list(columns.values()))
    return dict(zip(types, kept, strict=True))


def _copied(bound: str, layout: np.dtype[Any], types: Mapping[str, str]) -> dict[str, npt.NDArray[Any]]:
    """The columns of a binary COPY, whose rows have this layout."""
    with connection.connection.cursor() as cursor, cursor.copy(bound) as copy:
        data = bytearray()  # grows in place: a list of all blocks and their sum would take the memory twice
        for block in copy:
            data += block
    # 11 bytes of signature, 4 of flags, 4 of header extension; then the rows, then a trailer of 2 bytes.
    rows = memoryview(data)[19:-2]
    if len(rows) % layout.itemsize:
        raise ValueError("a column of the query is NULL or not of its declared type")
    table = np.frombuffer(rows, dtype=layout)
    for name, kind in types.items():
        if not (table[f"{name}_length"] == _WIDTHS[kind][1]).all():
            raise ValueError(f"column {name} is NULL or not {kind} in some row")
    return {name: table[name].astype(table[name].dtype.newbyteorder("=")) for name in types}


def fetch_ratings(query: str, params: Sequence[Any] | Mapping[str, Any] = (), *, within: Span | None = None) -> Ratings:
    """Read ``SELECT response_id, criterion_id, outcome code``, one row for each pair, in any order.

    ``within`` reads the pairs of some responses only.
    """
    chosen = f"WHERE q.a BETWEEN {within.first:d} AND {within.last:d}" if within else ""
    response, criterion, outcome = fetch_arrays(
        f"SELECT q.a::int8 AS a, q.b::int8 AS b, q.c::int2 AS c FROM ({query}) AS q(a, b, c) {chosen} ORDER BY 1, 2",
        params,
        types={"a": "int8", "b": "int8", "c": "int2"},
    )
    ratings = Ratings(response, criterion, outcome.astype(np.int8))
    keys = ratings.keys()
    # An aggregate takes the rows in the order of its subquery; should a server ever not do so, they are sorted here.
    return ratings if bool((keys[1:] > keys[:-1]).all()) else Ratings.of(response, criterion, outcome)


def fetch_arrays(
    query: str, params: Sequence[Any] | Mapping[str, Any], *, types: Mapping[str, str]
) -> list[npt.NDArray[Any]]:
    """The columns of ``query`` with their types, each fetched as one PostgreSQL array; no value may be NULL.

    COPY would cost a call for every row, which is half the time of reading decisions. A value holds up to 1 GB, some
    85 million rows.
    """
    names = ", ".join(f"array_agg({name})" for name in types)
    connection.ensure_connection()
    link = connection.connection
    with link.cursor() as cursor:
        bound = cursor.mogrify(f"SELECT {names} FROM ({query}) AS rows", params)
    reads = _reads.get()
    if reads and bound in reads.kept:
        return list(reads.kept[bound])
    # Django's own cursors bind parameters themselves and cannot ask for the binary format.
    with psycopg.Cursor(link) as cursor:
        cursor.execute(bound, binary=True)
        result = cursor.pgresult
        assert result is not None
        arrays = [_from_array(result.get_value(0, i), kind) for i, kind in enumerate(types.values())]
    return reads.keep(bound, arrays) if reads else arrays


def _from_array(value: bytes | None, kind: str) -> npt.NDArray[Any]:
    """A one-dimensional array in PostgreSQL's binary format: 20 bytes of header, then lengths and values."""
    layout, width = _WIDTHS[kind]
    if value is None:  # the aggregate of no rows
        return np.array([], dtype=np.dtype(layout).newbyteorder("="))
    rows = np.frombuffer(value, dtype=np.dtype([("length", ">i4"), ("value", layout)]), offset=20)
    if int.from_bytes(value[4:8], "big") or rows["length"][0] != width:
        raise ValueError("a column of the query is NULL or not of its declared type")
    return rows["value"].astype(np.dtype(layout).newbyteorder("="))
