"""Figures of triage: what a reference became, errors in both directions, and what they cost.

A level too high lies to the right and is blue, a level too low to the left and amber; two levels or more are darker.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from consilium.figures.charts import SHAPES, Line
from consilium.figures.style import HEIGHT, ROW, Palette, configuration

CELL = 64


@dataclass(frozen=True)
class Matrix:
    """Counts of levels read (columns) by reference (rows), (L, L), under a title; links to what is behind a cell."""

    title: str
    counts: Sequence[Sequence[float]]
    hrefs: Sequence[Sequence[str]] = ()


def confusion_panels(
    matrices: Sequence[Matrix], labels: Sequence[str], palette: Palette, *, y_title: str, x_title: str, description: str
) -> Any:
    """A panel for each matrix: counts with the share of their row; the diagonal is outlined."""
    import altair as alt

    panels = []
    for matrix in matrices:
        values = list(_cells(matrix, labels))
        base = alt.Chart(alt.Data(values=values)).encode(
            x=alt.X(
                "level:N",
                sort=None,
                title=x_title,
                scale=alt.Scale(domain=list(labels)),
                axis=alt.Axis(orient="top", domain=False, ticks=False, grid=False, labelAngle=0),
            ),
            y=alt.Y(
                "reference:N",
                sort=None,
                title=y_title,
                scale=alt.Scale(domain=list(labels)),
                axis=alt.Axis(grid=False),
            ),
        )
        steps = list(range(len(palette.diverging)))
        links = {"href": "href:N"} if matrix.hrefs else {}
        grounds = base.mark_rect(stroke=palette.ground, strokeWidth=2, cornerRadius=3).encode(
            color=alt.Color("step:O", legend=None, scale=alt.Scale(domain=steps, range=list(palette.diverging))),
            description="words:N",
            **links,
        )
        outline = base.transform_filter("datum.right").mark_rect(
            filled=False, stroke=palette.ink, strokeWidth=1.6, cornerRadius=3, aria=False
        )
        counts = base.mark_text(aria=False, color=palette.ink, fontSize=12, dy=-7).encode(text="shown:N", **links)
        shares = base.mark_text(aria=False, color=palette.ink, fontSize=10, dy=8).encode(text="share:N", **links)
        size = CELL * len(labels)
        panel = alt.layer(grounds, outline, counts, shares).properties(width=size, height=size * 0.7)
        panels.append(panel.properties(title=matrix.title) if len(matrices) > 1 else panel)
    chart = alt.hconcat(*panels, spacing=36) if len(panels) > 1 else panels[0]
    settings = configuration(palette)
    settings["title"] = {"color": palette.text, "fontSize": 13, "fontWeight": 500, "anchor": "start"}
    return chart.properties(description=description).configure(**settings)


def _cells(matrix: Matrix, labels: Sequence[str]) -> Any:
    for i, row in enumerate(matrix.counts):
        total = sum(row)
        for j, n in enumerate(row):
            share = n / total if total else 0.0
            # From the middle outwards: nothing, up to a tenth, up to a third, more.
            size = (share > 0) + (share > 0.1) + (share > 1 / 3)
            shown = f"{n:,.0f}"
            percent = f"{share:.0%}" if total else "–"
            yield {
                "reference": labels[i],
                "level": labels[j],
                "step": 3 + (size if j > i else -size if j < i else 0),
                "right": i == j,
                "shown": shown,
                "share": percent,
                "words": f"{labels[i]} → {labels[j]}: {shown} ({percent})",
                "href": (matrix.hrefs[i][j] or None) if matrix.hrefs else None,
            }


@dataclass(frozen=True)
class TriageErrors:
    """The shares of a row: too low and too high, and of each those by two levels or more, None where undefined."""

    label: str
    under: float
    over: float
    severe_under: float | None
    severe_over: float | None


def triage_bars(rows: Sequence[TriageErrors], palette: Palette, *, x_title: str, description: str) -> Any:
    """Bars to the left for levels too low and to the right for those too high; the severe ones lie outside."""
    import altair as alt

    names = {
        "severe_under": _("Too low by two or more levels"),
        "under": _("Too low by one level"),
        "over": _("Too high by one level"),
        "severe_over": _("Too high by two or more levels"),
    }
    if all(row.severe_under is None for row in rows):
        names = {"under": _("Too low"), "over": _("Too high")}
    colours = {
        "severe_under": palette.diverging[0],
        "under": palette.diverging[1],
        "over": palette.diverging[5],
        "severe_over": palette.diverging[6],
    }
    labels = [row.label for row in rows]
    values = []
    for row in rows:
        lighter_under = row.under - (row.severe_under or 0.0)
        lighter_over = row.over - (row.severe_over or 0.0)
        for kind, start, end in (
            ("under", -lighter_under, 0.0),
            ("severe_under", -row.under, -lighter_under),
            ("over", 0.0, lighter_over),
            ("severe_over", lighter_over, row.over),
        ):
            if kind in names and end > start:
                words = f"{row.label}, {names[kind]}: {end - start:.1%}"
                values.append({"label": row.label, "kind": names[kind], "from": start, "to": end, "words": words})
    most = max([row.under for row in rows] + [row.over for row in rows] + [0.05]) * 1.3
    y = alt.Y("label:N", sort=None, title=None, scale=alt.Scale(domain=labels, padding=0.25), axis=alt.Axis(grid=False))
    x_scale = alt.Scale(domain=[-most, most], nice=False)
    bars = (
        alt.Chart(alt.Data(values=values))
        .mark_bar(stroke=palette.faint, strokeWidth=0.7)
        .encode(
            x=alt.X(
                "from:Q",
                title=x_title,
                scale=x_scale,
                axis=alt.Axis(tickCount=7, labelExpr="format(abs(datum.value), '.0%')"),
            ),
            x2="to:Q",
            y=y,
            color=alt.Color(
                "kind:N",
                sort=None,
                scale=alt.Scale(domain=list(names.values()), range=[colours[kind] for kind in names]),
                legend=alt.Legend(columns=2, columnPadding=60, symbolType="square", symbolStrokeWidth=0),
            ),
            description="words:N",
        )
    )
    ends = [
        {"label": row.label, "at": end, "shown": f"{abs(end):.1%}", "left": end < 0}
        for row in rows
        for end in (-row.under, row.over)
        if end
    ]
    numbers = [
        alt.Chart(alt.Data(values=[end for end in ends if end["left"] is left]))
        .mark_text(align="right" if left else "left", dx=-5 if left else 5, color=palette.text, fontSize=11, aria=False)
        .encode(x=alt.X("at:Q", title=x_title, scale=x_scale), y=y, text="shown:N")
        for left in (True, False)
    ]
    middle = (
        alt.Chart(alt.Data(values=[{"at": 0}]))
        .mark_rule(strokeWidth=1.2, color=palette.text, aria=False)
        .encode(x=alt.X("at:Q", title=x_title, scale=x_scale))
    )
    room = {"left": 12 + int(1.2 * min(30, max(map(len, labels), default=0))), "right": 12, "top": 8, "bottom": 8}
    chart = alt.layer(bars, middle, *numbers).properties(
        width=palette.width * 0.9, height=max(2, len(rows)) * ROW, padding=room, description=description
    )
    return chart.configure(**configuration(palette))


@dataclass(frozen=True)
class CostPoint:
    """The cost of a candidate at one ratio, with the ends of its interval."""

    series: str
    ratio: float
    cost: float
    low: float | None = None
    high: float | None = None


def cost_curves(
    points: Sequence[CostPoint],
    crossings: Sequence[tuple[float, float, str]],
    palette: Palette,
    *,
    x_title: str,
    y_title: str,
    description: str,
    line: Line,
) -> Any:
    """A curve with its band for each series; a dot with words where two of them cross, ``(ratio, cost, words)``."""
    import altair as alt

    series = list(dict.fromkeys(point.series for point in points))
    ratios = [point.ratio for point in points]
    scale = alt.Scale(type="log", domain=[min(ratios), max(ratios)], nice=False)
    ticks = [tick for tick in (1, 2, 3, 5, 10, 20) if min(ratios) <= tick <= max(ratios)]
    x = alt.X("ratio:Q", title=x_title, scale=scale, axis=alt.Axis(values=ticks, format="d", grid=False))
    y = alt.Y("cost:Q", title=y_title, scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=6))
    colours = alt.Scale(domain=series, range=list(palette.series[: len(series)]))
    legend = alt.Legend(columns=2, columnPadding=32, offset=26) if len(series) > 1 else None
    values = [
        {"series": point.series, "ratio": point.ratio, "cost": point.cost, "low": point.low, "high": point.high}
        for point in points
    ]
    base = alt.Chart(alt.Data(values=values))
    bands = (
        alt.Chart(alt.Data(values=[row for row in values if row["low"] is not None]))
        .mark_area(opacity=0.14 if len(series) < 3 else 0.08, aria=False)
        .encode(
            x=x, y=alt.Y("low:Q", title=y_title), y2="high:Q", color=alt.Color("series:N", sort=None, scale=colours,
            legend=legend),
        )
    )  # fmt: skip
    drawn = base.mark_line(strokeWidth=2, aria=False).encode(
        x=x, y=y, color=alt.Color("series:N", sort=None, scale=colours, legend=legend)
    )
    ends = [row for row in values if row["ratio"] in (min(ratios), max(ratios))]
    for row in ends:
        row["words"] = f"{row['series']}, {row['ratio']:g}: {row['cost']:.3f}"
    marks = (
        alt.Chart(alt.Data(values=ends))
        .mark_point(filled=True, size=55, opacity=1, stroke=palette.ground)
        .encode(
            x=x,
            y=y,
            color=alt.Color("series:N", sort=None, scale=colours, legend=legend),
            shape=alt.Shape(
                "series:N", sort=None, scale=alt.Scale(domain=series, range=list(SHAPES[: len(series)])), legend=legend
            ),
            description="words:N",
        )
    )
    rule = alt.Chart(alt.Data(values=[{"ratio": line.value, "label": line.label}]))
    at = alt.X("ratio:Q", title=x_title, scale=scale)
    layers = [
        rule.mark_rule(strokeDash=[4, 4], strokeWidth=1.2, color=palette.faint, aria=False).encode(x=at),
        rule.mark_text(align="left", baseline="bottom", dx=5, dy=-4, y=0, color=palette.text, aria=False).encode(
            x=at, text="label:N"
        ),
    ]
    if not min(ratios) <= line.value <= max(ratios):
        layers = []
    where = [{"ratio": ratio, "cost": cost, "words": words} for ratio, cost, words in crossings]
    dots = (
        alt.Chart(alt.Data(values=where))
        .mark_point(filled=False, size=90, opacity=1, stroke=palette.ink, strokeWidth=1.6)
        .encode(x=x, y=y, description="words:N")
    )
    shown = [bands] if any(row["low"] is not None for row in values) else []
    chart = alt.layer(*layers, *shown, drawn, marks, *([dots] if where else [])).properties(
        width=palette.width, height=HEIGHT, description=description
    )
    return chart.configure(**configuration(palette))
