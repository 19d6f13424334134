"""A table as a Parquet file, for which pandas needs pyarrow: a package that the product does not require."""

from __future__ import annotations

from importlib.util import find_spec
from typing import IO

from agreement.writers.columns import Tabular
from agreement.writers.data_frame import table_frame


def is_available() -> bool:
    """Whether pyarrow is installed."""
    return find_spec("pyarrow") is not None


def write_parquet(target: IO[bytes], table: Tabular) -> None:
    """Write the table to ``target`` with the types of `table_frame`."""
    table_frame(table).to_parquet(target, engine="pyarrow", index=False)
