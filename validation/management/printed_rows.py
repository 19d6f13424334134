"""The leading rows of a table on the terminal."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from scoring.models import EndpointKind, PipelineRun
from validation.files.table_rows import ALL


def printed_rows(title: str, rows: Sequence[Mapping[str, Any]], name: str, columns: Sequence[str]) -> str:
    """The rows of the slice of everything: a column for each set or arm, called as its cell in the column ``name``."""
    from rich.console import Console
    from rich.table import Table

    leading = [row for row in rows if row["slice"] == ALL]
    table = Table(title=title, title_justify="left")
    table.add_column("")
    for row in leading:
        table.add_column(row[name] or ALL, justify="right", overflow="fold")
    for column in columns:
        table.add_row(column, *(_shown(row.get(column)) for row in leading))
    text = io.StringIO()
    console = Console(file=text, width=120, markup=False, highlight=False)
    console.print(table)
    for row in leading:
        if row["note"]:
            console.print(f"{row[name] or ALL}: {row['note']}", soft_wrap=True)
    return text.getvalue().rstrip()


def by_rules_words(run: PipelineRun, endpoint_kind: str) -> str:
    """What a command says where rules answered in a run, or wrote or graded what its figures rest on; else nothing."""
    if run.endpoint_kind == EndpointKind.RULES:
        return "The answers were given by rules, not by a language model."
    if endpoint_kind == EndpointKind.RULES:
        return "Rules, and no language model, wrote or graded a part of what these figures rest on."
    return ""


def _shown(value: float | int | None) -> str:
    if value is None:
        return "–"
    return str(value) if isinstance(value, int) else f"{value:.6f}"
