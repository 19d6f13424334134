"""Violins: how the values of several candidates are spread, one above another, with their quartiles.

The outline is a Gaussian kernel density on 121 points, computed here: bandwidth by Silverman's rule, 0.9 ·
min(standard deviation, interquartile range / 1.34) · n^(-1/5), and at least 0.012 of the axis so that equal values
still show. What the kernel would put beyond an end of the axis is mirrored back, since no value lies there. All
violins have the same greatest width. Fewer than five values (or as many as the caller says) are drawn as dots, equal
ones above one another: a density of them would invent what is not known.
Source: Silverman 1986, chapter 3; Hintze and Nelson 1998.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.figures.charts import Line
from consilium.figures.row_labels import line_limit, row_labels
from consilium.figures.style import ROW, Palette, configuration

POINTS = 121
MIN_VALUES = 5
NARROWEST = 0.012  # smallest bandwidth, as a share of the axis
STACK = 0.22  # between equal values that are drawn as dots, as a share of a row
HALF = 0.4  # half the greatest width, as a share of a row


def density(values: ArrayLike, low: float, high: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Places from `low` to `high` and the density of the values there, mirrored at both ends; it integrates to 1."""
    given = np.sort(np.asarray(values, dtype=np.float64).ravel())
    if not given.size:
        raise ValueError("no values")
    q1, q3 = np.quantile(given, [0.25, 0.75])
    spreads = [spread for spread in (float(given.std()), float(q3 - q1) / 1.34) if spread > 0]
    width = max(0.9 * min(spreads, default=0.0) * given.size**-0.2, NARROWEST * (high - low))
    places = np.linspace(low, high, POINTS)
    # Equal values weigh together: there are few different ones, however many responses.
    different, times = np.unique(given, return_counts=True)
    total = np.zeros(POINTS)
    for mirrored in (different, 2 * low - different, 2 * high - different):
        apart = (places[:, None] - mirrored[None, :]) / width
        total += np.exp(-0.5 * apart**2) @ times
    return places, np.asarray(total / (given.size * width * np.sqrt(2 * np.pi)))


def violin(
    rows: Sequence[tuple[str, Sequence[float]]],
    palette: Palette,
    *,
    x_title: str,
    description: str,
    line: Line | None = None,
    limits: tuple[float, float] = (0.0, 1.0),
    hrefs: Mapping[str, str] | None = None,
    words: str = "%(label)s: %(median).2f (%(q1).2f–%(q3).2f), n = %(n)s",
    min_values: int = MIN_VALUES,
    marked: Mapping[str, Sequence[float]] | None = None,
    marked_words: str = "%(label)s: %(value)g",
    whole: bool = False,
) -> Any:
    """A violin for each `(label, values)` in the order given, with a bar from the first to the third quartile and a dot
    at the median; `line` is drawn across all of them. `hrefs` leads from a label to what stands behind it; `words` is
    what a mark says, from `label`, `median`, `q1`, `q3` and `n`. Rows without values keep their place. Fewer than
    `min_values` are dots. `marked` are further values of a label, drawn as diamonds and no part of the violin, which
    say `marked_words`. With `whole` the axis has whole numbers alone.
    """
    import altair as alt

    low, high = limits
    links = hrefs or {}
    outline: list[dict[str, Any]] = []
    marks: list[dict[str, Any]] = []
    dots: list[dict[str, Any]] = []
    diamonds: list[dict[str, Any]] = []
    for place, (label, values) in enumerate(rows):
        for x_marked, up in _stacked((marked or {}).get(label, ())):
            caption = marked_words % {"label": label, "value": x_marked}
            diamonds.append({"x": x_marked, "y": place + up, "href": links.get(label) or None, "words": caption})
        if not len(values):
            continue
        q1, median, q3 = (
            float(point) for point in np.quantile(np.asarray(values, dtype=np.float64), [0.25, 0.5, 0.75])
        )
        caption = words % {"label": label, "median": median, "q1": q1, "q3": q3, "n": f"{len(values):,}"}
        link = {"href": links.get(label) or None, "words": caption}
        if len(values) < min_values:
            dots += [{"x": x, "y": place + up, **link} for x, up in _stacked(values)]
            continue
        marks.append({"x": median, "q1": q1, "q3": q3, "y": place, **link})
        places, heights = density(values, low, high)
        widths = HALF * heights / heights.max()
        # Far out the outline is thinner than a hair: leaving it off keeps the figure small.
        outline += [
            {"label": label, "x": float(x), "top": place - float(w), "bottom": place + float(w), **link}
            for x, w in zip(places.round(5), widths.round(4), strict=True)
            if w > 0.002
        ]
    axis_of_values = alt.Axis(format="d", tickMinStep=1, tickCount=8) if whole else alt.Axis(tickCount=6)
    x = alt.X("x:Q", title=x_title, scale=alt.Scale(domain=[low, high], nice=False), axis=axis_of_values)
    lines = row_labels([label for label, _values in rows], line_limit(palette))
    names = json.dumps([lines[label] for label, _values in rows], ensure_ascii=False)
    scale = alt.Scale(domain=[len(rows) - 0.5, -0.5], nice=False)
    axis = alt.Axis(values=list(range(len(rows))), labelExpr=f"{names}[datum.value]", grid=False, labelLimit=0)
    y: dict[str, Any] = {"title": None, "scale": scale, "axis": axis}
    area = (
        alt.Chart(alt.Data(values=outline))
        .mark_area(opacity=0.35, color=palette.series[0], stroke=palette.series[0], strokeWidth=1, strokeOpacity=0.8)
        .encode(
            x=x,
            y=alt.Y("top:Q", **y),
            y2="bottom:Q",
            detail="label:N",
            href="href:N",
            description="words:N",
        )
    )
    base = alt.Chart(alt.Data(values=marks))
    bars = base.mark_rule(strokeWidth=4, color=palette.ink, opacity=0.75, aria=False).encode(
        x="q1:Q", x2="q3:Q", y=alt.Y("y:Q", **y)
    )
    medians = base.mark_point(
        filled=True, size=55, opacity=1, color=palette.ground, stroke=palette.ink, strokeWidth=1.5
    ).encode(x=x, y=alt.Y("y:Q", **y), href="href:N", description="words:N")
    single = (
        alt.Chart(alt.Data(values=dots))
        .mark_point(filled=True, size=45, opacity=1, color=palette.series[0], stroke=palette.ground)
        .encode(x=x, y=alt.Y("y:Q", **y), href="href:N", description="words:N")
    )
    # A screen reader would announce a layer without marks as an image without words.
    layers = [*([area, bars, medians] if marks else []), *([single] if dots else [])]
    if diamonds:
        layers.append(
            alt.Chart(alt.Data(values=diamonds))
            .mark_point(
                shape="diamond",
                filled=True,
                size=90,
                opacity=1,
                color=palette.series[2],
                stroke=palette.ink,
                strokeWidth=1,
            )
            .encode(x=x, y=alt.Y("y:Q", **y), href="href:N", description="words:N")
        )
    if line:
        layers += _across(line, palette)
    room = {"left": 12 + int(1.2 * min(30, max((len(label) for label, _v in rows), default=0))), "right": 12}
    chart = alt.layer(*layers).properties(
        width=palette.width * 0.9, height=max(1, len(rows)) * ROW * 1.35, padding={**room, "top": 8, "bottom": 8}
    )
    return chart.properties(description=description).configure(**configuration(palette))


def _stacked(values: Sequence[float]) -> list[tuple[float, float]]:
    """Each value with how far it is moved off its row, so that equal ones do not cover one another."""
    times = Counter(map(float, values))
    seen: Counter[float] = Counter()
    stacked = []
    for value in map(float, values):
        step = min(STACK, 2 * HALF / times[value])
        stacked.append((value, (seen[value] - (times[value] - 1) / 2) * step))
        seen[value] += 1
    return stacked


def _across(line: Line, palette: Palette) -> list[Any]:
    import altair as alt

    base = alt.Chart(alt.Data(values=[{"at": line.value, "label": line.label}]))
    rule = base.mark_rule(strokeDash=[4, 4], strokeWidth=1.4, color=palette.text, aria=False).encode(x="at:Q")
    words = base.mark_text(align="left", baseline="bottom", dx=5, dy=-4, y=0, color=palette.text, aria=False).encode(
        x="at:Q", text="label:N"
    )
    return [rule, words]
