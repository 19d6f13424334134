"""Chart types of reports. Each takes plain rows and a palette and returns an Altair chart.

Values may be None: such a row keeps its place on the axis and shows no mark. Every mark is described in words for
screen readers, and may carry a link (``href``) to the data behind it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from consilium.figures.row_labels import label_expression, line_limit
from consilium.figures.style import HEIGHT, ROW, Palette, configuration

Ends = tuple[float, float]  # of an interval
SHAPES = ("circle", "diamond", "square", "triangle-up", "cross", "triangle-down")


@dataclass(frozen=True)
class Point:
    """A value with the ends of its interval, in row ``label`` and of series ``series``."""

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    series: str = ""
    href: str = ""


@dataclass(frozen=True)
class Line:
    """A line across a chart at ``value``, with a label."""

    value: float
    label: str


def _shown(number: float, digits: int = 3) -> str:
    return f"{number:.{digits}f}"


def _styled(chart: Any, palette: Palette, description: str) -> Any:
    return chart.properties(description=description).configure(**configuration(palette))


def points_and_whiskers(
    points: Sequence[Point],
    palette: Palette,
    *,
    x_title: str,
    description: str,
    line: Line | None = None,
    band: Ends | None = None,
    domain: tuple[float, float] | None = None,
    colours: Sequence[str] | None = None,
) -> Any:
    """A dot with its 95% interval for each row; several series stand below one another within a row, each with a
    shape of its own. Rows and series keep the order in which they first come. ``band`` shades an interval behind them.
    """
    import altair as alt

    labels = list(dict.fromkeys(point.label for point in points))
    given_out = list(colours or palette.series)
    series = list(dict.fromkeys(point.series for point in points))
    rows = [
        {
            "label": point.label,
            "series": point.series,
            "value": point.value,
            "low": point.low,
            "high": point.high,
            "href": point.href or None,
            "words": _words(point),
        }
        for point in points
        if point.value is not None
    ]
    inline = [*(row["low"] for row in rows), *(row["high"] for row in rows), *(row["value"] for row in rows)]
    given = [number for number in (*inline, *(band or ())) if isinstance(number, float | int)]
    given += [line.value] if line else []
    low, high = domain or _domain(given)
    height = len(labels) * max(ROW, 16 * len(series) + 8)
    base = alt.Chart(alt.Data(values=rows))
    names = alt.Axis(grid=False, labelExpr=label_expression(labels, line_limit(palette)), labelLimit=0)
    y = alt.Y("label:N", sort=None, title=None, scale=alt.Scale(domain=labels, padding=0.2), axis=names)
    x = alt.X(
        "value:Q",
        title=x_title,
        scale=alt.Scale(domain=[low, high], nice=False, zero=False, clamp=True),
        axis=alt.Axis(tickCount=7),
    )
    colour = alt.Color(
        "series:N",
        scale=alt.Scale(domain=series, range=given_out[: len(series)]),
        legend=alt.Legend(columns=_legend_columns(series)) if len(series) > 1 else None,
        sort=None,
    )
    shape = alt.Shape(
        "series:N",
        scale=alt.Scale(domain=series, range=list(SHAPES[: len(series)])),
        legend=alt.Legend(columns=_legend_columns(series)) if len(series) > 1 else None,
        sort=None,
    )
    place = {"yOffset": alt.YOffset("series:N", sort=None, scale=alt.Scale(domain=series))} if len(series) > 1 else {}
    whiskers = base.mark_rule(strokeWidth=2, opacity=0.55, aria=False).encode(
        x=alt.X("low:Q", title=x_title), x2="high:Q", y=y, color=colour, **place
    )
    dots = base.mark_point(filled=True, size=80, opacity=1, stroke=palette.ground, strokeWidth=1).encode(
        x=x, y=y, color=colour, shape=shape, href="href:N", description="words:N", **place
    )
    layers = [*_shaded(band, palette), *(_vertical(line, palette) if line else []), whiskers, dots]
    # Room for names that a page sets in a wider font than they were measured in.
    room = {"left": 12 + int(1.2 * min(30, max(map(len, labels), default=0))), "right": 12, "top": 8, "bottom": 8}
    return _styled(
        alt.layer(*layers).properties(width=palette.width, height=height, padding=room), palette, description
    )


def _legend_columns(series: Sequence[str]) -> int:
    """Long names stand below one another: a page may set them in a wider font than they were measured in."""
    return 1 if max(map(len, series)) > 16 else 4


def _words(point: Point) -> str:
    name = f"{point.label}, {point.series}" if point.series else point.label
    interval = (
        _(", 95%% interval %(low)s to %(high)s") % {"low": _shown(point.low), "high": _shown(point.high)}
        if point.low is not None and point.high is not None
        else ""
    )
    return f"{name}: {_shown(point.value)}{interval}" if point.value is not None else name


def _domain(values: Sequence[float]) -> tuple[float, float]:
    """Ends of an axis for shares: room around the values, never outside 0 to 1 unless they are."""
    if not values:
        return 0.0, 1.0
    low, high = min(values), max(values)
    room = max(0.02, (high - low) * 0.08)
    return max(low - room, min(0.0, low)), min(high + room, max(1.0, high))


def data_ends(values: Sequence[float], line: Line | None) -> list[float]:
    """The ends of an axis that ends where its data do; the line across the chart stays in sight."""
    given = [*values, *([line.value] if line else [])]
    low, high = min(given, default=0.0), max(given, default=1.0)
    return [low, high] if low < high else [low - 0.5, high + 0.5]


def _vertical(line: Line, palette: Palette) -> list[Any]:
    import altair as alt

    base = alt.Chart(alt.Data(values=[{"at": line.value, "label": line.label}]))
    rule = base.mark_rule(strokeDash=[4, 4], strokeWidth=1.2, color=palette.faint, aria=False).encode(x="at:Q")
    words = base.mark_text(align="left", baseline="bottom", dx=5, dy=-4, y=0, color=palette.text, aria=False).encode(
        x="at:Q", text="label:N"
    )
    return [rule, words]


def _shaded(band: Ends | None, palette: Palette) -> list[Any]:
    """An interval across a chart, behind its marks; nothing without one."""
    import altair as alt

    if band is None:
        return []
    base = alt.Chart(alt.Data(values=[{"from": band[0], "to": band[1]}]))
    return [base.mark_rect(color=palette.grid, opacity=0.7, aria=False).encode(x="from:Q", x2="to:Q")]


def histogram(
    bins: Sequence[tuple[float, float, int]],
    palette: Palette,
    *,
    x_title: str,
    y_title: str,
    description: str,
    line: Line | None = None,
    band: tuple[float, float] | None = None,
    marked_below: float | None = None,
    whole: bool = False,
    digits: int | None = None,
) -> Any:
    """Bars over ``(from, to, count)``. Bars that end at or below ``marked_below`` stand out; ``band`` shades an
    interval behind them. With ``whole`` the bins are single whole numbers, labelled in their middle. ``digits`` are
    the decimals of the axis and of the ends in words: 1 and 2 unless given.
    """
    import altair as alt

    in_words, on_axis = (2, ".1f") if digits is None else (digits, f",.{digits}f")

    rows: list[dict[str, Any]] = [
        {
            "from": low,
            "to": high,
            "count": count,
            "marked": marked_below is not None and high <= marked_below + 1e-9,
            "words": f"{round((low + high) / 2)}: {count}"
            if whole
            else f"{low:,.{in_words}f} to {high:,.{in_words}f}: {count}",
        }
        for low, high, count in bins
    ]
    start, end = (rows[0]["from"], rows[-1]["to"]) if rows else (0.0, 1.0)
    x = alt.X(
        "from:Q",
        title=x_title,
        scale=alt.Scale(domain=[start, end], nice=False, zero=False),
        axis=alt.Axis(grid=False, format="d", labelFlush=False)
        if whole
        else alt.Axis(grid=False, format=on_axis, tickCount=11, labelFlush=False),
    )
    bars = (
        alt.Chart(alt.Data(values=rows))
        .mark_bar(stroke=palette.ground, strokeWidth=1.5, cornerRadiusEnd=2)
        .encode(
            x=x,
            x2="to:Q",
            y=alt.Y("count:Q", title=y_title, axis=alt.Axis(values=_whole_ticks(rows), format="d")),
            y2=alt.Y2Datum(0),
            color=alt.condition("datum.marked", alt.value(palette.series[2]), alt.value(palette.series[0])),
            description="words:N",
        )
    )
    layers: list[Any] = []
    layers += [*_shaded(band, palette), bars]
    if line:
        layers += _vertical(line, palette)
    return _styled(alt.layer(*layers).properties(width=palette.width, height=HEIGHT * 0.8), palette, description)


def _whole_ticks(rows: Sequence[dict[str, Any]]) -> list[int]:
    """Whole numbers from 0 to the largest count, in steps of 1, 2 or 5 times a power of ten, about five of them."""
    largest = max((row["count"] for row in rows), default=0)
    step = 1
    while largest / step > 6:
        step = step * 5 // 2 if str(step).startswith("2") else step * 2
    return list(range(0, largest + 1, step))


def scatter(
    points: Sequence[tuple[str, float | None, float | None, str]],
    palette: Palette,
    *,
    x_title: str,
    y_title: str,
    description: str,
    limits: tuple[float, float] = (0.0, 100.0),
    x_limits: tuple[float, float] | None = None,
    x_ends: Mapping[str, Ends] | None = None,
    y_ends: Mapping[str, Ends] | None = None,
    y_digits: int = 1,
    diagonal: str = "",
) -> Any:
    """Named dots, ``(name, x, y, href)``, with the intervals that ``x_ends`` and ``y_ends`` have by name. The axes show
    the part of ``limits`` that dots and intervals fill; the diagonal of equal values is drawn when a good part of it is
    visible, with the words ``diagonal`` beside it. With ``x_limits`` x is another quantity than y, and there is no
    diagonal. A reading program hears x with one decimal place, and y with ``y_digits``.
    """
    import altair as alt

    given = [(name, x, y, href) for name, x, y, href in points if x is not None and y is not None]
    width, height = palette.width * 0.85, HEIGHT * 1.3
    names_given = [name for name, _x, _y, _href in given]
    across = _room([*(x for _, x, _, _ in given), *_all_ends(x_ends, names_given)], x_limits or limits)
    up = _room([*(y for _, _, y, _ in given), *_all_ends(y_ends, names_given)], limits)
    beside = label_heights(
        [
            ((x - across[0]) / (across[1] - across[0]) * width, (y - up[0]) / (up[1] - up[0]) * height, len(name))
            for name, x, y, _ in given
        ]
    )
    rows = [
        {
            "name": name,
            "x": x,
            "y": y,
            "label_y": up[0] + pixels / height * (up[1] - up[0]),
            "href": href or None,
            "words": f"{name}: {x:.1f}{_interval_words(x_ends, name)}, "
            f"{y:.{y_digits}f}{_interval_words(y_ends, name, y_digits)}",
            **_end_fields("x", x_ends, name),
            **_end_fields("y", y_ends, name),
        }
        for (name, x, y, href), pixels in zip(given, beside, strict=True)
    ]
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("x:Q", title=x_title, scale=alt.Scale(domain=list(across), nice=False), axis=alt.Axis(tickCount=8))
    )
    y_scale = alt.Scale(domain=list(up), nice=False)
    dots = base.mark_point(filled=True, size=90, opacity=1, color=palette.series[0], stroke=palette.ground).encode(
        y=alt.Y("y:Q", title=y_title, scale=y_scale, axis=alt.Axis(tickCount=8)), href="href:N", description="words:N"
    )
    # Above the line of an interval, which would run through the name.
    rise = -8 if x_ends else 0
    names = base.mark_text(align="left", baseline="middle", dx=9, dy=rise, aria=False).encode(
        y=alt.Y("label_y:Q", title=y_title, scale=y_scale), text="name:N"
    )
    y = alt.Y("y:Q", title=y_title, scale=y_scale)
    whisker: dict[str, Any] = {"strokeWidth": 1.5, "opacity": 0.55, "color": palette.series[0], "aria": False}
    with_x, with_y = ([row for row in rows if f"{axis}_low" in row] for axis in "xy")
    x_scale = alt.Scale(domain=list(across), nice=False)
    whiskers = [
        *(
            [
                alt.Chart(alt.Data(values=with_x))
                .mark_rule(**whisker)
                .encode(x=alt.X("x_low:Q", title=x_title, scale=x_scale), x2="x_high:Q", y=y)
            ]
            if with_x
            else []
        ),
        *(
            [
                alt.Chart(alt.Data(values=with_y))
                .mark_rule(**whisker)
                .encode(
                    x=alt.X("x:Q", title=x_title, scale=x_scale),
                    y=alt.Y("y_low:Q", title=y_title, scale=y_scale),
                    y2="y_high:Q",
                )
            ]
            if with_y
            else []
        ),
    ]
    start, end = max(across[0], up[0]), min(across[1], up[1])
    in_sight = x_limits is None and end - start > 0.25 * (across[1] - across[0])
    same = [{"x": start, "y": start, "label": ""}, {"x": end, "y": end, "label": diagonal}] if in_sight else []
    line = alt.Chart(alt.Data(values=same)).encode(x="x:Q", y=y)
    layers = [
        line.mark_line(strokeDash=[4, 4], strokeWidth=1.2, color=palette.faint, aria=False),
        line.mark_text(align="right", baseline="top", dx=-22, dy=4, aria=False).encode(text="label:N"),
    ]
    layers = [*(layers if diagonal else layers[:1]), *whiskers, dots, names]
    return _styled(alt.layer(*layers).properties(width=width, height=height), palette, description)


def _all_ends(ends: Mapping[str, Ends] | None, names: Sequence[str]) -> list[float]:
    return [end for name in names if ends and name in ends for end in ends[name]]


def _end_fields(axis: str, ends: Mapping[str, Ends] | None, name: str) -> dict[str, float]:
    return {f"{axis}_low": ends[name][0], f"{axis}_high": ends[name][1]} if ends and name in ends else {}


def _interval_words(ends: Mapping[str, Ends] | None, name: str, digits: int = 1) -> str:
    if not ends or name not in ends:
        return ""
    low, high = (f"{end:.{digits}f}" for end in ends[name])
    return _(", 95%% interval %(low)s to %(high)s") % {"low": low, "high": high}


def _room(values: Sequence[float], limits: tuple[float, float]) -> tuple[float, float]:
    """The ends of an axis: the values with a tenth of room on both sides, inside ``limits``."""
    if not values:
        return limits
    low, high = min(values), max(values)
    room = max((high - low) * 0.1, (limits[1] - limits[0]) * 0.03)
    return max(limits[0], low - room), min(limits[1], high + room)


def label_heights(dots: Sequence[tuple[float, float, int]]) -> list[float]:
    """Heights for the names beside dots, ``(x, y, letters)`` in pixels, so that no two names overlap."""
    line, letter = 14.0, 7.0
    placed: list[tuple[float, float, float]] = []  # left, right, height
    heights = [0.0] * len(dots)
    for i in sorted(range(len(dots)), key=lambda i: dots[i][1]):
        x, y, letters = dots[i]
        left, right = x + 9, x + 9 + letter * letters
        # From below upwards: a name moves up to leave room for those placed already.
        for other_left, other_right, other in sorted(placed, key=lambda entry: entry[2]):
            if left < other_right and other_left < right and abs(y - other) < line:
                y = other + line
        placed.append((left, right, y))
        heights[i] = y
    return heights


def lines(
    rows: Sequence[tuple[str, float, float | None]],
    palette: Palette,
    *,
    x_title: str,
    y_title: str,
    description: str,
    line: Line | None = None,
    domain: tuple[float, float] | None = None,
) -> Any:
    """One line with dots for each series, from ``(series, x, y)`` with whole x."""
    import altair as alt

    series = list(dict.fromkeys(name for name, _, _ in rows))
    values = [
        {"series": name, "x": x, "y": y, "words": f"{name}, {x:g}: {_shown(y)}"} for name, x, y in rows if y is not None
    ]
    places = sorted({x for _, x, y in rows if y is not None})
    # By default a short axis shows the same whole number twice.
    ticks = {"values": places} if places and places[-1] - places[0] <= 10 else {"tickMinStep": 1}
    legend = alt.Legend(columns=_legend_columns(series), columnPadding=24)
    base = alt.Chart(alt.Data(values=values)).encode(
        x=alt.X(
            "x:Q",
            title=x_title,
            axis=alt.Axis(grid=False, format="d", **ticks),
            scale=alt.Scale(domain=data_ends(places, line), nice=False, zero=False),
        ),
        y=alt.Y(
            "y:Q", title=y_title, scale=alt.Scale(domain=list(domain), nice=False) if domain else alt.Scale(zero=False)
        ),
        color=alt.Color(
            "series:N",
            sort=None,
            scale=alt.Scale(domain=series, range=list(palette.series[: len(series)])),
            legend=legend,
        ),
    )
    drawn = base.mark_line(strokeWidth=2, aria=False)
    dots = base.mark_point(filled=True, size=55, opacity=1, stroke=palette.ground).encode(
        shape=alt.Shape(
            "series:N", sort=None, scale=alt.Scale(domain=series, range=list(SHAPES[: len(series)])), legend=legend
        ),
        description="words:N",
    )
    layers = [*(_vertical(line, palette) if line else []), drawn, dots]
    return _styled(alt.layer(*layers).properties(width=palette.width, height=HEIGHT * 0.8), palette, description)
