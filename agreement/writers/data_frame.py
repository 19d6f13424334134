"""A table as a data frame of pandas, with a type for each column. No database."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from agreement.writers.columns import Tabular
from consilium.core.loading import LOADING_PANDAS

if TYPE_CHECKING:
    import pandas as pd

_INT64 = range(-(2**63), 2**63)


def table_frame(table: Tabular) -> pd.DataFrame:
    """The table with a column for each of its columns: ``boolean``, ``Int64``, ``float64`` or ``string``.

    Text columns are ``string``. Another column has the type that holds all its values, where an empty text among
    numbers is a missing one; a column without any value is ``float64``. A missing value is ``pandas.NA``, and NaN in
    ``float64``. ValueError on a figure that is not finite, so that NaN always means missing.
    """
    with LOADING_PANDAS:
        import pandas as pd  # the import takes half a second, which no other page should wait for

    columns: list[list[Any]] = [[] for _name in table.columns]
    for row in table.rows:
        for values, value in zip(columns, row, strict=True):
            values.append(value)
    series = {}
    for name, values in zip(table.columns, columns, strict=True):
        dtype = "string" if name in table.text else _dtype(values)
        if dtype != "string":
            values = [None if value == "" else value for value in values]
        if dtype == "string":
            values = [None if value is None else str(value) for value in values]
        series[name] = pd.Series(values, dtype=dtype)
    return pd.DataFrame(series, columns=list(table.columns))


def _dtype(values: Sequence[Any]) -> str:
    given = [value for value in values if value is not None]
    present = [value for value in given if value != ""]
    if not present:
        return "string" if given else "float64"
    if all(isinstance(value, bool) for value in present):
        return "boolean"
    if any(isinstance(value, bool) or not isinstance(value, int | float) for value in present):
        return "string"
    if any(isinstance(value, float) for value in present):
        if not all(math.isfinite(value) for value in present):
            raise ValueError("a figure that is not finite must not reach a file")
        return "float64"
    return "Int64" if all(value in _INT64 for value in present) else "string"
