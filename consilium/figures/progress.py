"""Progress over time: a mark a candidate at its release date, and the best so far as a line of steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from consilium.figures.charts import SHAPES, label_heights
from consilium.figures.frontier import MAX_LABELLED
from consilium.figures.style import HEIGHT, Palette, configuration


@dataclass(frozen=True)
class Release:
    """A candidate's release: its date (ISO), score with the ends of its interval, and the best score until then."""

    label: str
    series: str
    day: str
    score: float
    low: float | None
    high: float | None
    best: float


def progress(releases: Sequence[Release], palette: Palette, *, x_title: str, y_title: str, description: str) -> Any:
    """Marks of one family share shape and colour. Many candidates: only those that became the best have names."""
    import altair as alt

    days = [date.fromisoformat(each.day).toordinal() for each in releases]
    span = max(days) - min(days) or 30
    start, end = min(days) - 0.05 * span, max(days) + 0.25 * span
    ends = [value for each in releases for value in (each.score, each.low, each.high) if value is not None]
    room = 0.08 * (max(ends) - min(ends)) or 0.1
    low, high = min(ends) - room, max(ends) + room
    places = [
        ((day - start) / (end - start) * palette.width, (each.score - low) / (high - low) * HEIGHT, len(each.label))
        for each, day in zip(releases, days, strict=True)
    ]
    names = {each.label for each in releases if len(releases) <= MAX_LABELLED or each.score == each.best}
    values = [
        {
            "label": each.label if each.label in names else "",
            "series": each.series,
            "day": each.day,
            "score": each.score,
            "low": each.low,
            "high": each.high,
            "best": each.best,
            "label_y": low + height / HEIGHT * (high - low),
            "words": f"{each.label}, {each.day}: {each.score:.3f}",
        }
        for each, height in zip(releases, label_heights(places), strict=True)
    ]
    series = list(dict.fromkeys(each.series for each in releases))
    colours = [palette.series[i % len(palette.series)] for i in range(len(series))]
    shapes = [SHAPES[i % len(SHAPES)] for i in range(len(series))]
    legend = alt.Legend(columns=4) if len(series) > 1 else None
    limits = [(date.fromordinal(1) + timedelta(days=round(day) - 1)).isoformat() for day in (start, end)]
    scale = alt.Scale(domain=[low, high], nice=False)
    base = alt.Chart(alt.Data(values=values)).encode(
        x=alt.X("day:T", title=x_title, scale=alt.Scale(domain=limits, type="utc"), axis=alt.Axis(tickCount=6)),
    )
    line = base.mark_line(interpolate="step-after", strokeWidth=1.6, color=palette.faint, aria=False).encode(
        y=alt.Y("best:Q", title=y_title, scale=scale)
    )
    whiskers = (
        base.transform_filter("isValid(datum.low)")
        .mark_rule(strokeWidth=1.2, color=palette.faint, aria=False)
        .encode(y=alt.Y("low:Q", title=y_title, scale=scale), y2="high:Q")
    )
    marks = base.mark_point(filled=True, size=85, opacity=1, stroke=palette.ground).encode(
        y=alt.Y("score:Q", title=y_title, scale=scale, axis=alt.Axis(tickCount=6)),
        color=alt.Color("series:N", sort=None, scale=alt.Scale(domain=series, range=colours), legend=legend),
        shape=alt.Shape("series:N", sort=None, scale=alt.Scale(domain=series, range=shapes), legend=legend),
        description="words:N",
    )
    labels = base.mark_text(align="left", dx=9, dy=-8, color=palette.text, fontSize=11, limit=180, aria=False).encode(
        y=alt.Y("label_y:Q", title=y_title, scale=scale), text="label:N"
    )
    return (
        alt.layer(whiskers, line, marks, labels)
        .properties(width=palette.width, height=HEIGHT, description=description)
        .configure(**configuration(palette))
    )
