"""A cross table as a heat map: each cell has its count, and its colour the share of its row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from consilium.figures.heat_map import grid, sized
from consilium.figures.style import Palette

CELL, WIDEST = 30, 110


@dataclass(frozen=True)
class CountCell:
    """A count in a row and a column, and its share of the row in percent; None where the row is empty."""

    row: str
    column: str
    n: int
    percent: float | None


def cross_table(cells: Sequence[CountCell], palette: Palette, *, description: str) -> Any:
    """Rows and columns keep the order in which they first come."""
    import altair as alt

    rows, columns = (list(dict.fromkeys(getattr(cell, name) for cell in cells)) for name in ("row", "column"))
    values = [
        {
            "row": cell.row,
            "column": cell.column,
            # A light ground, so that the count stays readable on it.
            "strength": 0.0 if not cell.n else 0.08 + 0.42 * (cell.percent or 0.0) / 100,
            "shown": f"{cell.n:,}" if cell.n else "–",
            "share": "" if cell.percent is None or not cell.n else f"{cell.percent:.0f}%",
            "words": f"{cell.row}, {cell.column}: {cell.n:,}"
            + ("" if cell.percent is None else f" ({cell.percent:.1f}%)"),
        }
        for cell in cells
    ]
    base = grid(values, rows, columns, palette)
    grounds = base.mark_rect(color=palette.series[0], stroke=palette.ground, strokeWidth=2, cornerRadius=3).encode(
        opacity=alt.Opacity("strength:Q", scale=None, legend=None), description="words:N"
    )
    counts = base.mark_text(aria=False, color=palette.ink, fontSize=11, dy=-6).encode(text="shown:N")
    shares = base.mark_text(aria=False, color=palette.text, fontSize=9, dy=7).encode(text="share:N")
    layers = alt.layer(grounds, counts, shares)
    return sized(layers, rows, columns, palette, cell=CELL, widest=WIDEST, description=description)
