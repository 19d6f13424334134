"""The funnel of a frame on the terminal."""

from __future__ import annotations

import io
from collections.abc import Sequence

from validation.sets.frames import Step


def printed_funnel(steps: Sequence[Step]) -> str:
    """A row for each condition: how many cases meet it alone, and together with those before it."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title="Frame", title_justify="left")
    table.add_column("Condition")
    table.add_column("Value", overflow="fold")
    table.add_column("Alone", justify="right")
    table.add_column("Together", justify="right")
    for step in steps:
        table.add_row(step.label, step.value, str(step.alone), str(step.together))
    text = io.StringIO()
    Console(file=text, width=100, markup=False, highlight=False).print(table)
    return text.getvalue().rstrip()
