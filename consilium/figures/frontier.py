"""What an answer takes against how bad it is: a mark a candidate, with its interval, and the frontier as a line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from consilium.figures.charts import label_heights
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


def frontier(
    points: Sequence[FrontierPoint],
    palette: Palette,
    *,
    x_title: str,
    y_title: str,
    description: str,
    rising: bool = False,
) -> Any:
    """Filled marks lie on the frontier: no other is at least as good in both and better in one.

    Better and cheaper is to the lower left. With ``rising`` higher is better, and the price has a logarithmic axis
    where nothing is free.
    """
    import altair as alt

    names = {point.label for point in points if point.on_frontier}
    if len(points) <= MAX_LABELLED:
        names = {point.label for point in points}
    logged = rising and bool(points) and min(point.taken for point in points) > 0
    across, up = _across(points, logged), _up(points, rising)
    beside = label_heights([(*_pixels(point, across, up, palette, logged), len(point.label)) for point in points])
    values = [
        {
            "label": point.label,
            "shown": point.label if point.label in names else "",
            "taken": point.taken,
            "cost": point.cost,
            "low": point.low,
            "high": point.high,
            "frontier": point.on_frontier,
            "label_y": up[0] + height / HEIGHT * (up[1] - up[0]),
            "words": f"{point.label}: {point.taken:.4g}, {point.cost:.3f}",
        }
        for point, height in zip(points, beside, strict=True)
    ]
    x = alt.X(
        "taken:Q",
        title=x_title,
        scale=alt.Scale(domain=list(across), nice=False, type="log" if logged else "linear"),
        axis=alt.Axis(tickCount=6, format="~g") if logged else alt.Axis(tickCount=6),
    )
    y_scale = alt.Scale(domain=list(up), nice=False)
    y = alt.Y("cost:Q", title=y_title, scale=y_scale, axis=alt.Axis(tickCount=6))
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
        .encode(y=alt.Y("low:Q", title=y_title, scale=y_scale), y2="high:Q")
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
    # Beside the line, which rises to the right where higher is better.
    off = 11 if rising else -8
    labels = base.mark_text(align="left", dx=9, dy=off, color=palette.text, fontSize=11, limit=180, aria=False).encode(
        y=alt.Y("label_y:Q", title=y_title, scale=y_scale), text="shown:N"
    )
    return (
        alt.layer(whiskers, line, others, best, labels)
        .properties(width=palette.width, height=HEIGHT, description=description)
        .configure(**configuration(palette))
    )


def _across(points: Sequence[FrontierPoint], logged: bool) -> tuple[float, float]:
    """The ends of the axis of what answers take, with room for names to the right."""
    taken = [point.taken for point in points]
    if logged:
        least, most = min(taken), max(taken)
        ratio = max(most / least, 2.0)
        return least / ratio**0.06, most * ratio**0.3
    return 0.0, (max(taken, default=0.0) or 1.0) * 1.25


def _up(points: Sequence[FrontierPoint], rising: bool) -> tuple[float, float]:
    """The ends of the other axis: from 0, or what the marks and their intervals fill, with room."""
    ends = [end for point in points for end in (point.cost, point.low, point.high) if end is not None]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    room = 0.08 * (high - low) or 0.1 * abs(high) or 0.1
    return (low - room if rising else min(0.0, low), high + room)


def _pixels(
    point: FrontierPoint, across: tuple[float, float], up: tuple[float, float], palette: Palette, logged: bool
) -> tuple[float, float]:
    start, end, taken = (math.log(each) if logged else each for each in (*across, point.taken))
    return (taken - start) / (end - start) * palette.width, (point.cost - up[0]) / (up[1] - up[0]) * HEIGHT
