"""What a rater decided about (response, criterion) pairs, as plain arrays straight from the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db import connection


class Outcome(IntEnum):
    """Codes of an outcome in an array; the first two are the only ones that enter an agreement table."""

    NOT_MET = 0
    MET = 1
    CANNOT_ASSESS = 2
    INVALID = 3
    UNDECIDED = 4  # several raters of one group, and no majority
    FAULTY = 5  # an adjudicator found the criterion itself at fault


# For SQL that reads an outcome column: CASE … END in one place.
OUTCOME_SQL = (
    "CASE {column} WHEN 'met' THEN 1 WHEN 'not_met' THEN 0 WHEN 'cannot_assess' THEN 2 "
    "WHEN 'invalid' THEN 3 WHEN 'faulty' THEN 5 ELSE 4 END"
)


@dataclass(frozen=True, slots=True)
class Ratings:
    """Three arrays of one length, sorted by response, then criterion; every pair stands there once."""

    response: npt.NDArray[np.int64]
    criterion: npt.NDArray[np.int64]
    outcome: npt.NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.response)

    def keys(self) -> npt.NDArray[np.int64]:
        """One sortable integer for each pair; good while both ids stay below 2³¹."""
        return (self.response << 31) | self.criterion

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
    with (
        connection.connection.cursor() as cursor,
        cursor.copy(f"COPY ({query}) TO STDOUT (FORMAT BINARY)", params) as copy,
    ):
        data = b"".join(bytes(block) for block in copy)
    # 11 bytes of signature, 4 of flags, 4 of header extension; then the rows, then a trailer of 2 bytes.
    rows = data[19:-2]
    if len(rows) % layout.itemsize:
        raise ValueError("a column of the query is NULL or not of its declared type")
    table = np.frombuffer(rows, dtype=layout)
    for name, kind in types.items():
        if not (table[f"{name}_length"] == _WIDTHS[kind][1]).all():
            raise ValueError(f"column {name} is NULL or not {kind} in some row")
    return {name: table[name].astype(table[name].dtype.newbyteorder("=")) for name in types}


def fetch_ratings(query: str, params: Sequence[Any] | Mapping[str, Any] = ()) -> Ratings:
    """Read ``SELECT response_id, criterion_id, outcome code``, one row for each pair, in any order."""
    inner = f"SELECT q.a::int8, q.b::int8, q.c::int2 FROM ({query}) AS q(a, b, c) ORDER BY 1, 2"
    columns = copy_columns(inner, params, types={"response": "int8", "criterion": "int8", "outcome": "int2"})
    return Ratings(columns["response"], columns["criterion"], columns["outcome"].astype(np.int8))
