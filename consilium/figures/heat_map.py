"""A heat map of deviations: each cell shows its number on a colour of direction and size."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from django.utils.translation import gettext as _

from consilium.figures.row_labels import label_expression, line_limit
from consilium.figures.style import HEIGHT, NARROW, Palette, configuration

CELL = 28
NARROWEST, WIDEST = 44, 92


@dataclass(frozen=True)
class Cell:
    """A value in a row and a column; None leaves its place empty."""

    row: str
    column: str
    value: float | None
    href: str = ""


def steps(values: Sequence[float], n: int) -> list[int]:
    """In which of ``n`` (odd) equal steps from −m to m each value lies; m is the largest deviation, 0 in the middle."""
    most = max(map(abs, values), default=0.0)
    if not most:
        return [n // 2] * len(values)
    return [min(n - 1, int((value + most) / (2 * most) * n)) for value in values]


def bands(values: Sequence[float], n: int, digits: int) -> list[str]:
    """What each of the ``n`` steps of `steps` stands for: ``−4.2 to −1.4``. One band, 0, where nothing deviates."""
    most = max(map(abs, values), default=0.0)
    if not most:
        return [_signed(0.0, digits)] * n
    edges = [-most + 2 * most * step / n for step in range(n + 1)]
    return [
        _("%(low)s to %(high)s") % {"low": _signed(low, digits), "high": _signed(high, digits)}
        for low, high in pairwise(edges)
    ]


def heat_map(cells: Sequence[Cell], palette: Palette, *, description: str, digits: int = 1, key_title: str = "") -> Any:
    """Rows and columns keep the order in which they first come. The key below says what the colours stand for."""
    import altair as alt

    rows, columns = (list(dict.fromkeys(getattr(cell, name) for cell in cells)) for name in ("row", "column"))
    given = [(cell, cell.value) for cell in cells if cell.value is not None]
    deviations = [value for _cell, value in given]
    of_step = steps(deviations, len(palette.diverging))
    names_of_steps = bands(deviations, len(palette.diverging), digits)
    steps_in_key = list(range(len(names_of_steps))) if any(deviations) else [len(names_of_steps) // 2]
    values = [
        {
            "row": cell.row,
            "column": cell.column,
            "step": step,
            "shown": _signed(value, digits),
            "href": cell.href or None,
            "words": f"{cell.row}, {cell.column}: {_signed(value, digits)}",
        }
        for (cell, value), step in zip(given, of_step, strict=True)
    ]
    base = grid(values, rows, columns, palette)
    grounds = base.mark_rect(stroke=palette.ground, strokeWidth=2, cornerRadius=3).encode(
        color=alt.Color(
            "step:O",
            legend=alt.Legend(
                title=key_title or None,
                orient="bottom",
                columns=4 if palette.width > NARROW else 2,
                columnPadding=32,  # a page may set the numbers in a wider font than they were measured in
                symbolType="square",
                symbolSize=160,
                symbolStrokeColor=palette.faint,
                symbolStrokeWidth=0.8,
                values=steps_in_key,
                labelExpr=f"{json.dumps(names_of_steps)}[datum.value]",
            ),
            scale=alt.Scale(domain=list(range(len(palette.diverging))), range=list(palette.diverging)),
        ),
        href="href:N",
        description="words:N",
    )
    numbers = base.mark_text(aria=False, color=palette.ink, fontSize=11).encode(text="shown:N", href="href:N")
    layers = alt.layer(grounds, numbers)
    return sized(layers, rows, columns, palette, cell=CELL, widest=WIDEST, description=description)


def grid(values: list[dict[str, Any]], rows: Sequence[str], columns: Sequence[str], palette: Palette) -> Any:
    """The chart that the marks of a grid are drawn on: columns across the top, rows down the left side."""
    import altair as alt

    slanted = _longest(columns) > 10
    return alt.Chart(alt.Data(values=values)).encode(
        x=alt.X(
            "column:N",
            sort=None,
            title=None,
            scale=alt.Scale(domain=list(columns)),
            axis=alt.Axis(
                orient="top",
                domain=False,
                ticks=False,
                grid=False,
                labelAngle=-40 if slanted else 0,
                labelAlign="left" if slanted else "center",
                labelLimit=170,
            ),
        ),
        y=alt.Y(
            "row:N",
            sort=None,
            title=None,
            scale=alt.Scale(domain=list(rows)),
            axis=alt.Axis(grid=False, labelExpr=label_expression(rows, line_limit(palette)), labelLimit=0),
        ),
    )


def sized(
    layers: Any,
    rows: Sequence[str],
    columns: Sequence[str],
    palette: Palette,
    *,
    cell: int,
    widest: int,
    description: str,
) -> Any:
    """The grid with a size for its rows and columns: ``cell`` is the height of a row, ``widest`` that of a column."""
    wide = max(NARROWEST, min(widest, int(palette.width / max(1, len(columns)))))
    longest = _longest(columns)
    # Room for names that a page sets in a wider font than they were measured in, and for the slant of the last one.
    room = {
        "left": 12 + int(1.2 * min(30, _longest(rows))),
        "right": min(120, 5 * longest) if longest > 10 else 12,
        "top": 8,
        "bottom": 8,
    }
    chart = layers.properties(
        width=wide * max(1, len(columns)),
        height=max(cell * len(rows), HEIGHT // 6),
        padding=room,
        description=description,
    )
    return chart.configure(**configuration(palette))


def _longest(names: Sequence[str]) -> int:
    return max(map(len, names), default=0)


def _signed(value: float, digits: int) -> str:
    text = f"{value:+.{digits}f}".replace("-", "\N{MINUS SIGN}")
    return text if text.strip("+0.\N{MINUS SIGN}") else text[1:]
