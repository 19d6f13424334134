"""Lines with an interval at each point: a few series over whole numbers or over ordered words.

Points of one place stand a little beside one another, so that their intervals do not cover one another. Series differ
in colour, in the shape of their dots and in the dash of their lines: without colours they can still be told apart.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from consilium.figures.charts import SHAPES
from consilium.figures.style import HEIGHT, NARROW, Palette, configuration

MAX_LINES = len(SHAPES)
DASHES: tuple[list[int], ...] = ([1, 0], [6, 3], [2, 3], [8, 3, 2, 3], [4, 2], [1, 2])
APART = 0.07  # between points of one place, as a share of the room from one place to the next
MAX_APART = 0.4


@dataclass(frozen=True)
class Place:
    """A place on the horizontal axis: its label, and below it what is in smaller numbers, such as n."""

    label: str
    below: str = ""


@dataclass(frozen=True)
class LinePoint:
    """A value with the ends of its interval, of ``series`` at the place number ``place``; ``n`` is what is behind."""

    series: str
    place: int
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    href: str = ""


def interval_lines(
    points: Sequence[LinePoint],
    places: Sequence[Place],
    palette: Palette,
    *,
    x_title: str,
    y_title: str,
    description: str,
    digits: int = 2,
    limits: tuple[float, float] = (0.0, 1.0),
) -> Any:
    """A line for each series in the order in which they first come, at most `MAX_LINES`. ``limits`` are the ends that
    the vertical axis may have; it shows the part with values. A point without a value breaks its line.
    """
    import altair as alt

    series = list(dict.fromkeys(point.series for point in points))
    apart = min(APART, MAX_APART / max(1, len(series)))
    shift = {name: (i - (len(series) - 1) / 2) * apart for i, name in enumerate(series)}
    values = [
        {
            "series": point.series,
            "x": point.place + shift[point.series],
            "y": point.value,
            "low": point.low,
            "high": point.high,
            "href": point.href or None,
            "words": _words(point, places[point.place].label, digits),
        }
        for point in points
    ]
    marked = [row for row in values if row["y"] is not None]
    ends = (end for point in points for end in (point.value, point.low, point.high))
    given = [end for end in ends if end is not None]
    low, high = _ends(given, limits)
    lines_of_labels = [[place.label, place.below] if place.below else [place.label] for place in places]
    x = alt.X(
        "x:Q",
        title=x_title,
        scale=alt.Scale(domain=[-0.5, len(places) - 0.5], nice=False, zero=False),
        axis=alt.Axis(
            grid=False,
            values=list(range(len(places))),
            labelExpr=f"{json.dumps(lines_of_labels, ensure_ascii=False)}[datum.value]",
            labelAngle=0,
            labelLimit=0,
            labelOverlap=True,
        ),
    )
    y_scale = alt.Scale(domain=[low, high], nice=False, zero=False)
    y = alt.Y("y:Q", title=y_title, scale=y_scale, axis=alt.Axis(tickCount=6))
    longest = max(map(len, series), default=0)
    columns = (1 if longest > 16 else 2) if palette.width <= NARROW else (2 if longest > 16 else 3)
    legend = alt.Legend(columns=columns, columnPadding=24, symbolStrokeWidth=0) if len(series) > 1 else None
    n = len(series)
    colour = alt.Color(
        "series:N", sort=None, legend=legend, scale=alt.Scale(domain=series, range=list(palette.series[:n]))
    )
    shape = alt.Shape("series:N", sort=None, legend=legend, scale=alt.Scale(domain=series, range=list(SHAPES[:n])))
    dash = alt.StrokeDash("series:N", sort=None, legend=None, scale=alt.Scale(domain=series, range=list(DASHES[:n])))
    lines = (
        alt.Chart(alt.Data(values=values))
        .mark_line(strokeWidth=1.5, opacity=0.8, aria=False)
        .encode(x=x, y=y, color=colour, strokeDash=dash)
    )
    ended = [row for row in marked if row["low"] is not None]
    whiskers = (
        alt.Chart(alt.Data(values=ended))
        .mark_rule(strokeWidth=2, opacity=0.55, aria=False)
        .encode(x=x, y=alt.Y("low:Q", title=y_title, scale=y_scale), y2="high:Q", color=colour)
    )
    dots = (
        alt.Chart(alt.Data(values=marked))
        .mark_point(filled=True, size=70, opacity=1, stroke=palette.ground, strokeWidth=1)
        .encode(x=x, y=y, color=colour, shape=shape, href="href:N", description="words:N")
    )
    layers = [lines, *([whiskers] if ended else []), dots]
    room = {"left": 8, "right": 12, "top": 8, "bottom": 8}
    chart = alt.layer(*layers).properties(width=palette.width, height=HEIGHT * 0.9, padding=room)
    return chart.properties(description=description).configure(**configuration(palette))


def _ends(given: Sequence[float], limits: tuple[float, float]) -> tuple[float, float]:
    """The ends of an axis: the values with room on both sides, inside ``limits``."""
    if not given:
        return limits
    least, most = min(given), max(given)
    room = max((most - least) * 0.1, (limits[1] - limits[0]) * 0.03)
    return max(limits[0], least - room), min(limits[1], most + room)


def _words(point: LinePoint, place: str, digits: int) -> str:
    if point.value is None:
        return ""
    text = f"{point.series}, {place}: {point.value:.{digits}f}"
    if point.low is not None and point.high is not None:
        ends = {"low": f"{point.low:.{digits}f}", "high": f"{point.high:.{digits}f}"}
        text += _(", 95%% interval %(low)s to %(high)s") % ends
    return f"{text}, n = {point.n:,}" if point.n else text
