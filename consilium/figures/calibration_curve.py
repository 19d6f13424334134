"""The calibration curve: observed share over predicted probability, beside the diagonal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from consilium.figures.charts import SHAPES
from consilium.figures.style import HEIGHT, Palette, configuration


@dataclass(frozen=True)
class CurvePoint:
    """A bin of probabilities of one series: their mean, the share met with the ends of its interval, and how many."""

    series: str
    probability: float
    share: float
    n: int
    low: float | None = None
    high: float | None = None


def calibration_curve(
    points: Sequence[CurvePoint],
    palette: Palette,
    *,
    x_title: str,
    y_title: str,
    description: str,
) -> Any:
    """A line with dots for each series in the order in which they come, and the diagonal of perfect calibration.

    The first series has whiskers; the others are drawn faint, for comparison.
    """
    import altair as alt

    series = list(dict.fromkeys(point.series for point in points))
    rows = [
        {
            "series": point.series,
            "x": point.probability,
            "y": point.share,
            "low": point.low,
            "high": point.high,
            "words": f"{point.series}, {point.probability:.3f}: {point.share:.3f} (n = {point.n:,})",
        }
        for point in points
    ]
    share = alt.Scale(domain=[0, 1], nice=False)
    axis = alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1], format=".1f")
    x = alt.X("x:Q", title=x_title, scale=share, axis=axis)
    y = alt.Y("y:Q", title=y_title, scale=share, axis=axis)
    # Ink for the main series, a fainter colour for those it is compared with.
    colours = alt.Scale(domain=series, range=[palette.series[0], *[palette.faint] * (len(series) - 1)])
    legend = alt.Legend(columns=2) if len(series) > 1 else None
    colour = alt.Color("series:N", sort=None, scale=colours, legend=legend)
    shape = alt.Shape(
        "series:N", sort=None, scale=alt.Scale(domain=series, range=list(SHAPES[: len(series)])), legend=legend
    )
    base = alt.Chart(alt.Data(values=rows))
    diagonal = (
        alt.Chart(alt.Data(values=[{"x": 0, "y": 0}, {"x": 1, "y": 1}]))
        .mark_line(strokeDash=[4, 4], strokeWidth=1.2, color=palette.faint, aria=False)
        .encode(x=x, y=y)
    )
    drawn = base.mark_line(strokeWidth=2, aria=False).encode(x=x, y=y, color=colour)
    dots = base.mark_point(filled=True, size=70, opacity=1, stroke=palette.ground, strokeWidth=1).encode(
        x=x, y=y, color=colour, shape=shape, description="words:N"
    )
    first = [row for row in rows if row["series"] == series[0] and row["low"] is not None] if series else []
    whiskers = (
        alt.Chart(alt.Data(values=first))
        .mark_rule(strokeWidth=2, opacity=0.55, color=palette.series[0], aria=False)
        .encode(x=x, y=alt.Y("low:Q", title=y_title, scale=share, axis=axis), y2="high:Q")
    )
    chart = alt.layer(diagonal, whiskers, drawn, dots).properties(width=palette.width * 0.6, height=HEIGHT)
    return chart.properties(description=description).configure(**configuration(palette))
