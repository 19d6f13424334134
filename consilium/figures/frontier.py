"""What an answer takes against how bad it is: a mark a candidate, with its interval, and the frontier as a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from consilium.figures.style import HEIGHT, Palette, configuration

MAX_LABELLED = 12  # more names would cover each other


@dataclass(frozen=True)
class FrontierPoint:
    """What the answers of one candidate take (``taken``), and their cost with the ends of its interval."""

    label: str
    taken: float
    cost: float
    low: float | None
    high: float | None
    on_frontier: bool


def frontier(points: Sequence[FrontierPoint], palette: Palette, *, x_title: str, y_title: str, description: str) -> Any:
    """Filled marks lie on the frontier: none is lower in both. Better and cheaper is to the lower left."""
    import altair as alt

    names = {point.label for point in points if point.on_frontier}
    if len(points) <= MAX_LABELLED:
        names = {point.label for point in points}
    values = [
        {
            "label": point.label,
            "shown": point.label if point.label in names else "",
            "taken": point.taken,
            "cost": point.cost,
            "low": point.low,
            "high": point.high,
            "frontier": point.on_frontier,
            "words": f"{point.label}: {point.taken:.4g}, {point.cost:.3f}",
        }
        for point in points
    ]
    most = max([point.taken for point in points] + [0.0]) or 1.0
    x = alt.X(
        "taken:Q", title=x_title, scale=alt.Scale(domain=[0, most * 1.25], nice=False), axis=alt.Axis(tickCount=6)
    )
    y = alt.Y("cost:Q", title=y_title, scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=6))
    base = alt.Chart(alt.Data(values=values)).encode(x=x, y=y)
    colour = palette.series[0]
    line = (
        base.transform_filter("datum.frontier")
        .mark_line(strokeWidth=1.6, strokeDash=[5, 4], color=colour, aria=False)
        .encode(order="taken:Q")
    )
    whiskers = (
        base.transform_filter("isValid(datum.low)")
        .mark_rule(strokeWidth=1.2, color=palette.faint, aria=False)
        .encode(y=alt.Y("low:Q", title=y_title), y2="high:Q")
    )
    others = (
        base.transform_filter("!datum.frontier")
        .mark_point(filled=True, size=70, opacity=1, fill=palette.ground, stroke=palette.text, strokeWidth=1.6)
        .encode(description="words:N")
    )
    best = (
        base.transform_filter("datum.frontier")
        .mark_point(filled=True, size=90, opacity=1, color=colour, stroke=palette.ground)
        .encode(description="words:N")
    )
    labels = base.mark_text(align="left", dx=9, dy=-8, color=palette.text, fontSize=11, limit=180, aria=False).encode(
        text="shown:N"
    )
    return (
        alt.layer(whiskers, line, others, best, labels)
        .properties(width=palette.width, height=HEIGHT, description=description)
        .configure(**configuration(palette))
    )
