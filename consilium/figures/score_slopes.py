"""Scores before and after: a panel for each arm, a line for each case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from consilium.figures.style import Palette, configuration

WIDTH, HEIGHT = 210, 230
COLUMNS = 2
SAME = 1e-9


@dataclass(frozen=True)
class ScoreSlope:
    """The score of a case on the left and on the right; ``href`` leads to what stands behind the line."""

    panel: str
    name: str
    left: float
    right: float
    href: str = ""


def score_slopes(
    slopes: Sequence[ScoreSlope], palette: Palette, *, left: str, right: str, y_title: str, description: str
) -> Any:
    """All panels have one axis. A line that falls takes the colour of errors."""
    import altair as alt

    values = [value for slope in slopes for value in (slope.left, slope.right)]
    low, high = min([0.0, *values]), max([100.0, *values])
    room = 0.03 * (high - low)
    panels = []
    for name in dict.fromkeys(slope.panel for slope in slopes):
        rows = [
            {
                "name": slope.name,
                "side": side,
                "score": score,
                "falls": slope.right < slope.left - SAME,
                "href": slope.href or None,
                "words": f"{name}, {slope.name}: {left} {slope.left:.1f}, {right} {slope.right:.1f}",
            }
            for slope in slopes
            if slope.panel == name
            for side, score in ((left, slope.left), (right, slope.right))
        ]
        base = alt.Chart(alt.Data(values=rows)).encode(
            x=alt.X(
                "side:N", sort=None, title=None, scale=alt.Scale(domain=[left, right]), axis=alt.Axis(labelAngle=0)
            ),
            y=alt.Y("score:Q", title=y_title, scale=alt.Scale(domain=[low - room, high + room], nice=False)),
        )
        colour = alt.condition("datum.falls", alt.value(palette.series[1]), alt.value(palette.series[0]))
        line = base.mark_line(strokeWidth=1.5, opacity=0.7, aria=False).encode(detail="name:N", color=colour)
        dots = base.mark_point(filled=True, size=50, opacity=1, stroke=palette.ground).encode(
            color=colour, description="words:N", href="href:N"
        )
        panels.append(
            alt.layer(line, dots).properties(width=min(WIDTH, palette.width * 0.42), height=HEIGHT, title=name)
        )
    rows_of_panels = [alt.hconcat(*panels[i : i + COLUMNS], spacing=30) for i in range(0, len(panels), COLUMNS)]
    settings = configuration(palette)
    settings["title"] = {"color": palette.text, "fontSize": 13, "fontWeight": 500, "anchor": "start"}
    chart = rows_of_panels[0] if len(rows_of_panels) == 1 else alt.vconcat(*rows_of_panels, spacing=24)
    return chart.properties(description=description).configure(**settings)
