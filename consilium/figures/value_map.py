"""A heat map of values: each cell shows its value, below it n, on a ground that is stronger where the value is higher.

Undefined cells are hatched and have no number. All grounds are one colour in several strengths, so that the map reads
the same without colours.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from django.utils.translation import gettext as _

from consilium.figures.row_labels import line_limit, row_labels
from consilium.figures.style import FONT, Palette, configuration

CELL = 38  # height of a row in pixels
NARROWEST, WIDEST = 46, 96  # width of a column in pixels
STRENGTHS = (0.05, 0.16, 0.28, 0.4, 0.52)  # of the ground, from the lowest values to the highest
KEY = 74  # width of a ground of the key in pixels
GAP = 0.03  # white space around a cell, as a share of it
HATCHES = 4


@dataclass(frozen=True)
class ValueCell:
    """A value and the number behind it in a row and a column; None where it is undefined."""

    row: str
    column: str
    value: float | None
    n: int
    href: str = ""


def strengths(values: Sequence[float]) -> tuple[list[int], list[float]]:
    """In which of equal steps from the least value to the greatest each lies, and the edges of the steps."""
    if not values:
        return [], []
    least, most = min(values), max(values)
    if least == most:
        return [len(STRENGTHS) // 2] * len(values), []
    n = len(STRENGTHS)
    edges = [least + (most - least) * step / n for step in range(n + 1)]
    return [min(n - 1, int((value - least) / (most - least) * n)) for value in values], edges


def value_map(
    cells: Sequence[ValueCell], palette: Palette, *, description: str, digits: int = 2, key_title: str = ""
) -> Any:
    """Rows and columns keep the order in which they first come. The key below says what the grounds stand for."""
    import altair as alt

    rows, columns = (list(dict.fromkeys(getattr(cell, name) for cell in cells)) for name in ("row", "column"))
    row_place, column_place = ({name: i for i, name in enumerate(names)} for names in (rows, columns))
    given = [(cell, cell.value) for cell in cells if cell.value is not None]
    steps, edges = strengths([value for _cell, value in given])
    values = [
        {
            **_box(row_place[cell.row], column_place[cell.column]),
            "strength": STRENGTHS[step],
            "shown": f"{value:.{digits}f}",
            "n": f"n {cell.n:,}",
            "href": cell.href or None,
            "words": f"{cell.row}, {cell.column}: {value:.{digits}f}, n = {cell.n:,}",
        }
        for (cell, value), step in zip(given, steps, strict=True)
    ]
    empty = [
        {
            **_box(row_place[cell.row], column_place[cell.column]),
            "href": cell.href or None,
            "words": _("%(row)s, %(column)s: undefined") % {"row": cell.row, "column": cell.column},
        }
        for cell in cells
        if cell.value is None
    ]
    hatches = [line for box in empty for line in _hatches(box)]
    longest = max(map(len, columns), default=0)
    slanted = longest > 8
    x_axis = alt.Axis(
        orient="top",
        domain=False,
        ticks=False,
        grid=False,
        values=list(range(len(columns))),
        labelExpr=f"{json.dumps(columns, ensure_ascii=False)}[datum.value]",
        labelAngle=-40 if slanted else 0,
        labelAlign="left" if slanted else "center",
        labelLimit=170,
        labelOverlap=False,
    )
    lines = row_labels(rows, line_limit(palette))
    y_axis = alt.Axis(
        grid=False,
        values=list(range(len(rows))),
        labelExpr=f"{json.dumps([lines[name] for name in rows], ensure_ascii=False)}[datum.value]",
        labelLimit=0,
        labelOverlap=False,
    )
    x_scale = alt.Scale(domain=[-0.5, len(columns) - 0.5], nice=False, zero=False)
    y_scale = alt.Scale(domain=[len(rows) - 0.5, -0.5], nice=False, zero=False)
    x = alt.X("left:Q", title=None, scale=x_scale, axis=x_axis)
    y = alt.Y("top:Q", title=None, scale=y_scale, axis=y_axis)
    strength = alt.FillOpacity("strength:Q", scale=None, legend=None)
    base = alt.Chart(alt.Data(values=values))
    grounds = base.mark_rect(fill=palette.series[0], opacity=1, cornerRadius=3).encode(
        x=x, x2="right:Q", y=y, y2="bottom:Q", fillOpacity=strength, href="href:N", description="words:N"
    )
    number: dict[str, Any] = {"aria": False, "color": palette.ink, "baseline": "middle"}
    middle = alt.X("x:Q", title=None, scale=x_scale, axis=x_axis)
    shown = base.mark_text(**number, fontSize=12, dy=-5).encode(
        x=middle, y=alt.Y("y:Q", title=None, scale=y_scale, axis=y_axis), text="shown:N", href="href:N"
    )
    counts = base.mark_text(**number, fontSize=9, dy=9).encode(
        x=middle, y=alt.Y("y:Q", title=None, scale=y_scale, axis=y_axis), text="n:N", href="href:N"
    )
    layers = [grounds, shown, counts] if values else []
    if empty:
        layers += [
            alt.Chart(alt.Data(values=empty))
            .mark_rect(fill=palette.grid, fillOpacity=0.35, stroke=palette.faint, strokeWidth=0.6, cornerRadius=3)
            .encode(x=x, x2="right:Q", y=y, y2="bottom:Q", href="href:N", description="words:N"),
            alt.Chart(alt.Data(values=hatches))
            .mark_rule(color=palette.faint, strokeWidth=0.8, aria=False)
            .encode(x=x, x2="right:Q", y=y, y2="bottom:Q"),
        ]
    wide = max(NARROWEST, min(WIDEST, int(palette.width / max(1, len(columns)))))
    # Room for names that a page sets in a wider font than they were measured in, and for the slant of the last one.
    room = {
        "left": 12 + int(1.2 * min(30, max(map(len, rows), default=0))),
        "right": min(120, 5 * longest) if slanted else 12,
        "top": 8,
        "bottom": 8,
    }
    cells_drawn = alt.layer(*layers).properties(width=wide * max(1, len(columns)), height=CELL * max(1, len(rows)))
    parts = [cells_drawn, *([_key(edges, palette, key_title, digits)] if edges else [])]
    chart = alt.vconcat(*parts, spacing=18) if edges else cells_drawn
    return chart.properties(padding=room, description=description).configure(**configuration(palette))


def _key(edges: Sequence[float], palette: Palette, title: str, digits: int) -> Any:
    """A row of grounds with the values that each stands for below it."""
    import altair as alt

    steps = [
        {
            "step": step,
            "strength": STRENGTHS[step],
            "left": step - 0.46,
            "right": step + 0.46,
            "words": _("%(low)s to %(high)s") % {"low": f"{low:.{digits}f}", "high": f"{high:.{digits}f}"},
        }
        for step, (low, high) in enumerate(pairwise(edges))
    ]
    scale = alt.Scale(domain=[-0.5, len(steps) - 0.5], nice=False, zero=False)
    base = alt.Chart(alt.Data(values=steps))
    squares = base.mark_rect(
        fill=palette.series[0], opacity=1, cornerRadius=3, stroke=palette.faint, strokeWidth=0.6, aria=False
    ).encode(
        x=alt.X("left:Q", scale=scale, title=None, axis=None),
        x2="right:Q",
        y=alt.YDatum(0, axis=None, title=None, scale=alt.Scale(domain=[0, 1], nice=False)),
        y2=alt.Y2Datum(1),
        fillOpacity=alt.FillOpacity("strength:Q", scale=None, legend=None),
    )
    words = base.mark_text(baseline="top", dy=14, fontSize=10, color=palette.text, aria=False).encode(
        x=alt.X("step:Q", scale=scale, title=None, axis=None), text="words:N"
    )
    heading = {
        "text": title,
        "anchor": "start",
        "fontSize": 12,
        "fontWeight": 500,
        "color": palette.text,
        "font": FONT,
        "offset": 6,
    }
    return alt.layer(squares, words).properties(width=KEY * len(steps), height=12, title=heading)


def _box(row: int, column: int) -> dict[str, Any]:
    half = 0.5 - GAP
    return {
        "x": column,
        "y": row,
        "left": column - half,
        "right": column + half,
        "top": row - half,
        "bottom": row + half,
    }


def _hatches(box: dict[str, Any]) -> list[dict[str, float]]:
    """Slanted lines through a cell, from its lower left to its upper right, cut off at its edges."""
    across, down = box["right"] - box["left"], box["bottom"] - box["top"]
    lines = []
    for number in range(1, 2 * HATCHES):
        # The line where (share from the left) + (share from the top) is this.
        at = number / HATCHES
        first, last = max(0.0, at - 1), min(1.0, at)
        lines.append(
            {
                "left": box["left"] + first * across,
                "right": box["left"] + last * across,
                "top": box["top"] + (at - first) * down,
                "bottom": box["top"] + (at - last) * down,
            }
        )
    return lines
