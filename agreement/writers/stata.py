"""A table as a data file of Stata (``.dta``, format 118 of Stata 14 and later): every column as it was computed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import IO, TYPE_CHECKING

from agreement.writers.columns import Tabular
from agreement.writers.data_frame import table_frame

if TYPE_CHECKING:
    import pandas as pd

# Bytes must not depend on the day.
_MADE = datetime(1980, 1, 1)  # noqa: DTZ001  # the format has no time zone
MAX_NAME_LENGTH = 32
MAX_LABEL_LENGTH = 80
_WHOLE = 2**53 - 1  # a double holds every integer up to it
# https://www.stata.com/manuals/u11.pdf, 11.3 Naming conventions
_RESERVED = frozenset(
    (
        *("_all", "_b", "_coef", "_cons", "_n", "_N", "_pi", "_pred", "_rc", "_skip"),
        *("byte", "double", "float", "int", "long", "str", "strL"),
        *("if", "in", "using", "with"),
    )
)
_STRING_TYPE = re.compile(r"str\d+")


def write_stata(target: IO[bytes], name: str, table: Tabular) -> None:
    """Write the table to ``target``; ``name`` becomes the label of the data.

    A column whose name Stata refuses gets another (`stata_names`), and its own as the label of the variable. Missing
    numbers are ``.``; missing text is empty, since Stata has no other. A boolean is 0 or 1. An integer that a double
    cannot hold exactly makes its column text. ValueError on a figure that is not finite.
    """
    frame = table_frame(table)
    for column in frame.columns:
        frame[column] = _for_stata(frame[column])
    names = stata_names(table.columns)
    frame.rename(columns=names).to_stata(
        target,
        write_index=False,
        version=118,
        byteorder="little",
        time_stamp=_MADE,
        data_label=_shortened(name, MAX_LABEL_LENGTH),
        variable_labels={new: _shortened(own, MAX_LABEL_LENGTH) for own, new in names.items() if new != own},
    )


def stata_names(columns: Sequence[str]) -> dict[str, str]:
    """Column → the name of its variable: 1 to 32 letters of ASCII, digits and ``_``, no digit first, no reserved word.

    An allowed name is kept. In any other each refused character becomes ``_``; the name is cut to length, and numbered
    where it is taken.
    """
    names = {column: column for column in columns if _is_allowed(column)}
    taken = set(names.values())
    for column in columns:
        if column in names:
            continue
        base = re.sub(r"[^A-Za-z0-9_]", "_", column)
        if not base or base[0].isdigit() or base in _RESERVED or _STRING_TYPE.fullmatch(base):
            base = f"v_{base}"
        name, number = base[:MAX_NAME_LENGTH], 1
        while name in taken:
            number += 1
            suffix = f"_{number}"
            name = base[: MAX_NAME_LENGTH - len(suffix)] + suffix
        names[column] = name
        taken.add(name)
    return names


def _is_allowed(name: str) -> bool:
    is_identifier = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) is not None
    return is_identifier and len(name) <= MAX_NAME_LENGTH and name not in _RESERVED and not _STRING_TYPE.fullmatch(name)


def _for_stata(column: pd.Series) -> pd.Series:
    if column.dtype == "boolean":
        return column.astype("Int8")
    if column.dtype == "Int64" and bool((column.dropna().abs() > _WHOLE).any()):
        column = column.astype("string")
    if column.dtype == "string":
        return column.fillna("")
    return column


def _shortened(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
