"""Mean levels under two conditions: a panel for each candidate, a line for each level of the reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from consilium.figures.style import Palette, configuration

WIDTH, STEP = 210, 44
COLUMNS = 2


@dataclass(frozen=True)
class LevelSlope:
    """The mean level, from 0, of the cases of a reference level, on the left and on the right."""

    panel: str
    reference: str
    left: float
    right: float


def level_slopes(
    slopes: Sequence[LevelSlope], levels: Sequence[str], palette: Palette, *, left: str, right: str, description: str
) -> Any:
    """Levels are on the vertical axis, the most urgent on top. A line that falls takes the colour of errors."""
    import altair as alt

    top = len(levels) - 1
    names = list(dict.fromkeys(slope.panel for slope in slopes))
    panels = []
    for name in names:
        rows = [
            {
                "reference": slope.reference,
                "side": side,
                "level": level,
                "falls": slope.right < slope.left - 1e-9,
                "words": f"{name}, {slope.reference}: {left} {slope.left:.2f}, {right} {slope.right:.2f}",
            }
            for slope in slopes
            if slope.panel == name
            for side, level in ((left, slope.left), (right, slope.right))
        ]
        base = alt.Chart(alt.Data(values=rows)).encode(
            x=alt.X(
                "side:N", sort=None, title=None, scale=alt.Scale(domain=[left, right]), axis=alt.Axis(labelAngle=0)
            ),
            y=alt.Y(
                "level:Q",
                title=None,
                scale=alt.Scale(domain=[-0.15, top + 0.15], nice=False),
                axis=alt.Axis(values=list(range(top + 1)), labelExpr=f"{list(levels)!r}[datum.value]", labelLimit=130),
            ),
        )
        colour = alt.condition("datum.falls", alt.value(palette.series[1]), alt.value(palette.series[0]))
        line = base.mark_line(strokeWidth=2, aria=False).encode(detail="reference:N", color=colour)
        dots = base.mark_point(filled=True, size=70, opacity=1, stroke=palette.ground).encode(
            color=colour, description="words:N"
        )
        panels.append(
            alt.layer(line, dots).properties(
                width=min(WIDTH, palette.width * 0.42), height=STEP * (top + 1), title=name
            )
        )
    rows_of_panels = [alt.hconcat(*panels[i : i + COLUMNS], spacing=30) for i in range(0, len(panels), COLUMNS)]
    settings = configuration(palette)
    settings["title"] = {"color": palette.text, "fontSize": 13, "fontWeight": 500, "anchor": "start"}
    chart = rows_of_panels[0] if len(rows_of_panels) == 1 else alt.vconcat(*rows_of_panels, spacing=24)
    return chart.properties(description=description).configure(**settings)
