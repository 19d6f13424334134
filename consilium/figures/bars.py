"""Horizontal bars of counts, each with its number and its share in words; a few series stand within a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from consilium.figures.row_labels import label_expression, line_limit
from consilium.figures.style import Palette, configuration

BAR = 18


@dataclass(frozen=True)
class Bar:
    """``n`` of row ``label``, and its share in percent; None: no share."""

    label: str
    n: int
    percent: float | None
    series: str = ""
    href: str = ""


def counted_bars(bars: Sequence[Bar], palette: Palette, *, x_title: str, description: str) -> Any:
    """Rows and series keep the order in which they first come."""
    import altair as alt

    labels = list(dict.fromkeys(bar.label for bar in bars))
    series = list(dict.fromkeys(bar.series for bar in bars))
    values = [
        {"label": bar.label, "series": bar.series, "n": bar.n, "shown": _shown(bar), "href": bar.href or None}
        | {"words": f"{bar.label}{f', {bar.series}' if bar.series else ''}: {_shown(bar)}"}
        for bar in bars
    ]
    most = max((bar.n for bar in bars), default=1)
    base = alt.Chart(alt.Data(values=values)).encode(
        x=alt.X(
            "n:Q",
            title=x_title,
            # Room for the words behind the longest bar.
            scale=alt.Scale(domain=[0, most * (1.25 if palette.width > 400 else 1.5) or 1], nice=False),
            axis=alt.Axis(format=",d", tickCount=6, tickMinStep=1),
        ),
        y=alt.Y(
            "label:N",
            sort=None,
            title=None,
            scale=alt.Scale(domain=labels, padding=0.25),
            axis=alt.Axis(grid=False, labelExpr=label_expression(labels, line_limit(palette)), labelLimit=0),
        ),
    )
    if len(series) > 1:
        base = base.encode(yOffset=alt.YOffset("series:N", sort=None, scale=alt.Scale(domain=series)))
    colour = alt.Color(
        "series:N",
        sort=None,
        scale=alt.Scale(domain=series, range=list(palette.series[: len(series)])),
        legend=alt.Legend(columns=2) if len(series) > 1 else None,
    )
    marks = base.mark_bar(cornerRadiusEnd=2).encode(color=colour, href="href:N", description="words:N")
    words = base.mark_text(align="left", dx=5, aria=False, color=palette.text, fontSize=11).encode(text="shown:N")
    height = len(labels) * max(24, BAR * len(series) + 6)
    # Room for names that a page sets in a wider font than they were measured in.
    room = {"left": 12 + int(1.2 * min(30, max(map(len, labels), default=0))), "right": 12, "top": 8, "bottom": 8}
    chart = alt.layer(marks, words).properties(width=palette.width, height=height, padding=room)
    return chart.properties(description=description).configure(**configuration(palette))


def _shown(bar: Bar) -> str:
    return f"{bar.n:,}" if bar.percent is None else f"{bar.n:,} ({bar.percent:.1f}%)"
