"""Figures about the threshold k: hits with quartiles, and lines over k that are labelled directly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from consilium.figures.charts import SHAPES, Line, data_ends
from consilium.figures.style import HEIGHT, Palette, configuration

# After six lines the colours repeat with broken lines, after twelve with dotted ones. Each line is named at its start.
DASHES: tuple[list[int], ...] = ([1, 0], [6, 3], [2, 3])
LINE = 14.0  # pixels that a name takes in height


def hits(
    counts: Sequence[int],
    palette: Palette,
    *,
    line: Line,
    quartiles: tuple[float, float, float],
    quartiles_label: str,
    x_title: str,
    y_title: str,
    description: str,
    band: tuple[float, float] | None = None,
    href: str = "",
) -> Any:
    """Bars of responses by whole numbers of hits (0 to N), the threshold as a dashed line with `band` shaded behind;
    above the bars a box from the first to the third quartile with a tick at the median.
    """
    import altair as alt

    rows = [
        {"from": s - 0.5, "to": s + 0.5, "count": n, "href": href or None, "words": f"{s}: {n}"}
        for s, n in enumerate(counts)
    ]
    top = max(1, *counts) if counts else 1
    x = alt.X(
        "from:Q",
        title=x_title,
        scale=alt.Scale(domain=[-0.5, len(counts) - 0.5], nice=False, zero=False),
        axis=alt.Axis(grid=False, format="d", labelFlush=False, tickMinStep=1),
    )
    y = alt.Y(
        "count:Q",
        title=y_title,
        scale=alt.Scale(domain=[0, top * 1.22], nice=False),
        axis=alt.Axis(format="d", tickMinStep=1, values=_ticks(top)),
    )
    bars = (
        alt.Chart(alt.Data(values=rows))
        .mark_bar(stroke=palette.ground, strokeWidth=1.5, cornerRadiusEnd=2, color=palette.series[0])
        .encode(x=x, x2="to:Q", y=y, y2=alt.Y2Datum(0), href="href:N", description="words:N")
    )
    layers: list[Any] = []
    if band:
        layers.append(
            alt.Chart(alt.Data(values=[{"from": band[0], "to": band[1]}]))
            .mark_rect(color=palette.grid, opacity=0.7, aria=False)
            .encode(x="from:Q", x2="to:Q")
        )
    q1, median, q3 = quartiles
    box = alt.Chart(alt.Data(values=[{"q1": q1, "q3": q3, "median": median, "y": top * 1.1, "label": quartiles_label}]))
    height = alt.Y("y:Q", title=y_title)
    layers += [
        bars,
        box.mark_rule(strokeWidth=7, color=palette.series[4], opacity=0.6).encode(
            x="q1:Q", x2="q3:Q", y=height, description="label:N"
        ),
        box.mark_tick(orient="vertical", size=15, thickness=2.5, color=palette.ink, aria=False).encode(
            x="median:Q", y=height
        ),
        box.mark_text(align="left", dx=8, baseline="middle", aria=False).encode(x="q3:Q", y=height, text="label:N"),
        *_vertical(line, palette),
    ]
    return _styled(alt.layer(*layers).properties(width=palette.width, height=HEIGHT * 0.85), palette, description)


def _ticks(top: int) -> list[int]:
    step = 1
    while top / step > 6:
        step = step * 5 // 2 if str(step).startswith("2") else step * 2
    return list(range(0, top + 1, step))


def named_lines(
    rows: Sequence[tuple[str, float, float | None]],
    palette: Palette,
    *,
    x_title: str,
    y_title: str,
    description: str,
    line: Line | None = None,
    limits: tuple[float, float] | None = None,
    hrefs: Mapping[str, str] | None = None,
) -> Any:
    """A line for each series of `(series, x, y)` with whole x, named at its left end, with a dot where `line` crosses
    it, and the y axis on the right. Points without a value break a line.
    """
    import altair as alt

    series = list(dict.fromkeys(name for name, _x, _y in rows))
    links = hrefs or {}
    first, last = data_ends([x for _name, x, y in rows if y is not None], line)
    values = [{"series": name, "x": x, "y": y} for name, x, y in rows if first <= x <= last]
    given = [y for _name, _x, y in rows if y is not None]
    low, high = limits or (min(given, default=0.0), max(given, default=1.0))
    height = max(HEIGHT * 1.2, LINE * len(series) * 1.15)
    colours = [palette.series[i % len(palette.series)] for i in range(len(series))]
    dashes = [DASHES[(i // len(palette.series)) % len(DASHES)] for i in range(len(series))]
    x = alt.X(
        "x:Q",
        title=x_title,
        scale=alt.Scale(domain=[first, last], nice=False, zero=False),
        axis=alt.Axis(grid=False, format="d", tickMinStep=1),
    )
    y_scale = alt.Scale(domain=[low, high], nice=limits is None)
    y = alt.Y("y:Q", title=y_title, scale=y_scale, axis=alt.Axis(orient="right"))
    colour = alt.Color("series:N", sort=None, legend=None, scale=alt.Scale(domain=series, range=colours))
    dash = alt.StrokeDash("series:N", sort=None, legend=None, scale=alt.Scale(domain=series, range=dashes))
    drawn = (
        alt.Chart(alt.Data(values=values))
        .mark_line(strokeWidth=1.8, aria=False)
        .encode(x=x, y=y, color=colour, strokeDash=dash)
    )
    marked = [
        {
            "series": row["series"],
            "x": row["x"],
            "y": row["y"],
            "href": links.get(str(row["series"])) or None,
            "words": f"{row['series']}, {row['x']:g}: {row['y']:.1f}",
        }
        for row in values
        if line and row["y"] is not None and row["x"] == line.value
    ]
    dots = (
        alt.Chart(alt.Data(values=marked))
        .mark_point(filled=True, size=60, opacity=1, stroke=palette.ground, strokeWidth=1)
        .encode(x=x, y=y, color=colour, href="href:N", description="words:N")
    )
    names = (
        alt.Chart(alt.Data(values=_names(values, series, links, (low, high), height)))
        .mark_text(align="right", baseline="middle", dx=-8, color=palette.text)
        .encode(x=x, y=alt.Y("at:Q", title=y_title, scale=y_scale), text="series:N", href="href:N")
    )
    # A screen reader would announce a layer without marks as an image without words.
    layers = [*(_vertical(line, palette) if line else []), drawn, *([dots] if marked else []), names]
    # Room for names that a page sets in a wider font than they were measured in.
    room = {"left": 12 + int(1.2 * min(30, max(map(len, series), default=0))), "right": 12, "top": 8, "bottom": 8}
    chart = alt.layer(*layers).properties(width=palette.width * 0.82, height=height, padding=room)
    return _styled(chart, palette, description)


def compared_lines(
    rows: Sequence[tuple[str, float, float | None]],
    palette: Palette,
    *,
    x_title: str,
    y_title: str,
    description: str,
    line: Line,
) -> Any:
    """A few lines of `(series, x, y)` with whole x and y up to 1, distinguished by colour, dash and shape of dots.
    The y axis begins at 0, or at -1 where a value lies below 0. Points without a value break a line.
    """
    import altair as alt

    series = list(dict.fromkeys(name for name, _x, _y in rows))
    first, last = data_ends([x for _name, x, y in rows if y is not None], line)
    values = [
        {"series": name, "x": x, "y": y, "words": f"{name}, {x:g}: {y:.3f}" if y is not None else None}
        for name, x, y in rows
        if first <= x <= last
    ]
    lowest = min((y for _name, _x, y in rows if y is not None), default=0.0)
    x = alt.X(
        "x:Q",
        title=x_title,
        scale=alt.Scale(domain=[first, last], nice=False, zero=False),
        axis=alt.Axis(grid=False, format="d", tickMinStep=1),
    )
    y = alt.Y("y:Q", title=y_title, scale=alt.Scale(domain=[-1 if lowest < 0 else 0, 1], nice=False))
    legend = alt.Legend(columns=3, offset=26)  # above the word at the line
    colour = alt.Color(
        "series:N", sort=None, legend=legend, scale=alt.Scale(domain=series, range=list(palette.series[: len(series)]))
    )
    shape = alt.Shape(
        "series:N", sort=None, legend=legend, scale=alt.Scale(domain=series, range=list(SHAPES[: len(series)]))
    )
    dash = alt.StrokeDash(
        "series:N", sort=None, legend=None, scale=alt.Scale(domain=series, range=list(DASHES[: len(series)]))
    )
    drawn = (
        alt.Chart(alt.Data(values=values))
        .mark_line(strokeWidth=1.8, aria=False)
        .encode(x=x, y=y, color=colour, strokeDash=dash)
    )
    dots = (
        alt.Chart(alt.Data(values=[row for row in values if row["y"] is not None]))
        .mark_point(filled=True, size=45, opacity=1, stroke=palette.ground)
        .encode(x=x, y=y, color=colour, shape=shape, description="words:N")
    )
    chart = alt.layer(*_vertical(line, palette), drawn, dots).properties(width=palette.width, height=HEIGHT * 0.8)
    return _styled(chart, palette, description)


def _names(
    values: Sequence[dict[str, Any]],
    series: Sequence[str],
    links: Mapping[str, str],
    limits: tuple[float, float],
    height: float,
) -> list[dict[str, Any]]:
    """The place of each name: beside the first point of its line, moved where names would overlap."""
    low, high = limits
    line = LINE * (high - low or 1.0) / height  # what a name takes, in units of the axis
    first: dict[str, float] = {}
    for row in values:
        if row["y"] is not None:
            first.setdefault(row["series"], row["y"])
    left = min((row["x"] for row in values), default=0)
    ordered = sorted((name for name in series if name in first), key=lambda name: first[name])
    heights = _apart([first[name] for name in ordered], line)
    return [
        {"series": name, "x": left, "at": at, "href": links.get(name) or None}
        for name, at in zip(ordered, heights, strict=True)
    ]


def _apart(heights: Sequence[float], room: float) -> list[float]:
    """Heights at least `room` apart, as near as possible to the wanted `heights`, which ascend.

    Names that would overlap are spaced evenly around the mean of their wanted heights.
    """
    blocks: list[tuple[float, int]] = []  # mean of (wanted - place · room), and how many names
    for place, height in enumerate(heights):
        mean, size = height - place * room, 1
        while blocks and blocks[-1][0] > mean:
            other, n = blocks.pop()
            mean, size = (mean * size + other * n) / (size + n), size + n
        blocks.append((mean, size))
    means = [mean for mean, size in blocks for _name in range(size)]
    return [mean + place * room for place, mean in enumerate(means)]


def _vertical(line: Line, palette: Palette) -> list[Any]:
    import altair as alt

    base = alt.Chart(alt.Data(values=[{"at": line.value, "label": line.label}]))
    rule = base.mark_rule(strokeDash=[4, 4], strokeWidth=1.2, color=palette.faint, aria=False).encode(x="at:Q")
    words = base.mark_text(align="left", baseline="bottom", dx=5, dy=-4, y=0, color=palette.text, aria=False).encode(
        x="at:Q", text="label:N"
    )
    return [rule, words]


def _styled(chart: Any, palette: Palette, description: str) -> Any:
    return chart.properties(description=description).configure(**configuration(palette))
