"""Arguments of commands whose files may be tables, and what a preview of one prints."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from django.core.management.base import CommandError

from rubrics.imports import Counts
from rubrics.tables.encodings import NAMES
from rubrics.tables.table import DELIMITER_NAMES, TABLE_OPTIONS

OPTIONS = (*TABLE_OPTIONS, "preview")


def add_table_options(parser: ArgumentParser) -> None:
    """How a table (CSV or XLSX) is read, and whether it is only shown."""
    parser.add_argument(
        "--column",
        dest="columns",
        action="append",
        default=[],
        metavar="HEADING=FIELD",
        help="what the column of a table holds whose heading does not tell; may be given several times",
    )
    parser.add_argument("--encoding", choices=tuple(NAMES), default="", help="of a CSV; recognised if it is not given")
    parser.add_argument("--delimiter", choices=tuple(DELIMITER_NAMES), default="", help="between the cells of a CSV")
    parser.add_argument("--preview", action="store_const", const="1", default="", help="write nothing")


def columns_as_json(options: dict[str, Any]) -> None:
    """Turn the arguments ``--column`` into the option ``columns`` of an import."""
    columns = {}
    for text in options["columns"]:
        heading, sign, field = text.rpartition("=")
        if not sign or not heading:
            raise CommandError(f"--column {text}: this must be HEADING=FIELD.")
        columns[heading] = field
    options["columns"] = json.dumps(columns, ensure_ascii=False) if columns else ""


def print_preview(counts: Counts, write: Callable[[str], object]) -> None:
    """What each column holds, and the faults; nothing where nothing was previewed."""
    for preview in counts.get("previews", []):
        for column in (preview["table"] or {"columns": []})["columns"]:
            write(f"column {column['heading']}: {column['target'] or 'nothing'}")
        for note in preview["notes"]:
            write(f"note: {note}")
        for fault in preview["faults"]:
            write(f"row {fault['line']}, {fault['field']}: {fault['message']}")
        write("Preview: nothing was written.")
