"""Tables of a report as the files that a command leaves in a folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from django.core.management.base import CommandError

from agreement.tables import Table
from consilium.lib.csvfile import write_csv


def write_tables(out: Path, tables: Mapping[str, Table]) -> str:
    """Write each as ``NAME.csv`` into ``out``, which is made if missing; `CommandError` where that cannot be done.

    Returns the names of the files, as a command lists them.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, table in tables.items():
            write_csv(out / f"{name}.csv", table.columns, table.rows, text_columns=table.text)
    except OSError as error:
        raise CommandError(f"{out} cannot be written: {error.strerror}") from None
    return ", ".join(f"{name}.csv" for name in tables)
