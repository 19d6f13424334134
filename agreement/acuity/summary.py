"""The leading figures of acuity, for a terminal."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any

from rubrics.parsing.acuity_files import ALL


def leading_figures(rows: Iterable[Any], intervals: str) -> str:
    """The leading figures of each candidate, each case counting 1."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title="Each case counts 1 (expected)", title_justify="left")
    shown = ("accuracy", "over", "under", "qwk", "cost", "cost_all")
    for heading in ("candidate", "format", "cases", *shown):
        table.add_column(heading, justify="left" if heading in ("candidate", "format") else "right")
    for row in rows:
        if row["aggregate"] == "expected" and row["slice"] == ALL:
            figures = ("–" if row[name] is None else f"{row[name]:.4f}" for name in shown)
            table.add_row(row["candidate"], row["format"], str(row["n_cases"]), *figures)
    text = io.StringIO()
    console = Console(file=text, width=120, markup=False, highlight=False)
    console.print(table)
    console.print(f"Intervals: {intervals}.", soft_wrap=True)
    return text.getvalue()
