"""Tables among the files that are imported: opened by the options of an import, and described for a person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, BinaryIO

from consilium.core.errors import DomainError
from consilium.core.i18n import translate
from rubrics.tables.mapping import TableKind
from rubrics.tables.table import OptionError, Table, check_options, table_of

MAX_EXAMPLE = 120


def open_table(file: BinaryIO, kind: TableKind, options: Mapping[str, str]) -> Table | None:
    """The table that a file is, None if it is none; `DomainError` on an option that cannot be right."""
    try:
        return table_of(file, kind, options)
    except OptionError as error:
        raise _refusal(error) from error


def check_table_options(options: Mapping[str, str]) -> None:
    """`DomainError` on an option of a table that cannot be right, whatever the file is."""
    try:
        check_options(options)
    except OptionError as error:
        raise _refusal(error) from error


def _refusal(error: OptionError) -> DomainError:
    return DomainError(translate(error.args[0]), field=error.option)


def notes_of(table: Table | None) -> list[str]:
    """What a person should know of a table, in the active language."""
    return [translate(note) for note in table.notes] if table else []


def description_of(table: Table, options: Mapping[str, str]) -> dict[str, Any]:
    """How a table was read, as plain values for a page: its columns with an example of each."""
    return {
        "is_workbook": table.is_workbook,
        "encoding": table.encoding,
        "delimiter": options.get("delimiter", ""),
        "columns": [
            {
                "heading": column.heading,
                "target": column.target,
                "is_recognised": column.is_recognised,
                "example": table.examples.get(column.heading, "")[:MAX_EXAMPLE],
            }
            for column in table.columns
        ],
        "missing": [name.split("|") for name in table.kind.required if not {*name.split("|")} & table.targets],
    }
