"""A curve of cost by the share of cases that are handed to a person, for each series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from consilium.figures.style import HEIGHT, Palette, configuration


@dataclass(frozen=True)
class RoutingPoint:
    """The cost of a series where ``handed``, a share of the cases, go to a person."""

    series: str
    handed: float
    cost: float
    is_least: bool


def routing_curves(
    points: Sequence[RoutingPoint], palette: Palette, *, x_title: str, y_title: str, description: str
) -> Any:
    """Lines from nothing handed over to everything; a dot where the cost of a series is the least."""
    import altair as alt

    series = list(dict.fromkeys(point.series for point in points))
    values = [
        {
            "series": point.series,
            "handed": point.handed,
            "cost": point.cost,
            "least": point.is_least,
            "words": f"{point.series}: {point.handed:.0%}, {point.cost:.3f}",
        }
        for point in points
    ]
    legend = alt.Legend(columns=2) if len(series) > 1 else None
    base = alt.Chart(alt.Data(values=values)).encode(
        x=alt.X("handed:Q", title=x_title, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%", tickCount=6)),
        y=alt.Y("cost:Q", title=y_title, scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=6)),
        color=alt.Color(
            "series:N",
            sort=None,
            scale=alt.Scale(domain=series, range=list(palette.series[: len(series)])),
            legend=legend,
        ),
    )
    lines = base.mark_line(strokeWidth=2, aria=False)
    dots = (
        base.transform_filter("datum.least")
        .mark_point(filled=True, size=90, opacity=1, stroke=palette.ground)
        .encode(description="words:N")
    )
    return (
        alt.layer(lines, dots)
        .properties(width=palette.width, height=HEIGHT, description=description)
        .configure(**configuration(palette))
    )
