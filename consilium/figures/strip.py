"""Strips: in each row a dot for each of many values, their mean, and the marks of a few series among them.

Dots of a row stand apart vertically, by their order alone (steps of the golden ratio), so that the same values give the
same figure. The series differ in shape and size as well as in colour, so that the figure can be read in greys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from consilium.figures.charts import SHAPES
from consilium.figures.row_labels import label_expression, line_limit
from consilium.figures.style import ROW, Palette, configuration

GOLDEN = 0.6180339887498949
HEIGHT = 1.6  # of a row, in rows of other charts
MEAN_SHAPE = "M0,-1.2L0,1.2"  # a vertical line
DOT, MARK, MEAN = 42, 150, 420  # areas of the symbols


@dataclass(frozen=True)
class StripRow:
    """A row: its dots with what each is called, the mean of the dots, and the marks by series."""

    label: str
    dots: Sequence[tuple[str, float]]
    mean: float | None
    marks: Sequence[tuple[str, float]] = ()


def jitter(n: int) -> list[float]:
    """Offsets from −1 to 1, the same for the same ``n``."""
    return [2 * ((0.5 + place * GOLDEN) % 1) - 1 for place in range(n)]


def strip(
    rows: Sequence[StripRow],
    palette: Palette,
    *,
    x_title: str,
    description: str,
    dots_name: str,
    mean_name: str,
    domain: tuple[float, float],
    digits: int = 3,
) -> Any:
    """The rows in their order, below one legend: the dots, their mean, and each series of marks."""
    import altair as alt

    labels = [row.label for row in rows]
    series = list(dict.fromkeys(name for row in rows for name, _value in row.marks))
    values: list[dict[str, Any]] = []
    for row in rows:
        ordered = sorted(row.dots, key=lambda dot: (dot[1], dot[0]))
        for (name, value), offset in zip(ordered, jitter(len(ordered)), strict=True):
            values.append(_value(row.label, dots_name, value, f"{row.label}, {name}", digits, offset))
        if row.mean is not None:
            values.append(_value(row.label, mean_name, row.mean, f"{row.label}, {mean_name}", digits))
        values += [_value(row.label, name, value, f"{row.label}, {name}", digits) for name, value in row.marks]
    names = [dots_name, mean_name, *series]
    colours = [palette.faint, palette.ink, *palette.series]
    # A legend of its own for each layer would list every series three times: the layers share one.
    legend = alt.Legend(columns=1 if max(map(len, names)) > 24 else 3, columnPadding=36)
    colour = alt.Color("series:N", sort=None, scale=alt.Scale(domain=names, range=colours[: len(names)]), legend=legend)
    shape = alt.Shape(
        "series:N",
        sort=None,
        scale=alt.Scale(domain=names, range=["circle", MEAN_SHAPE, *SHAPES[1 : len(series) + 1]]),
        legend=legend,
    )
    axis = alt.Axis(grid=True, labelExpr=label_expression(labels, line_limit(palette)), labelLimit=0)
    shared = {
        "x": alt.X(
            "value:Q",
            title=x_title,
            scale=alt.Scale(domain=list(domain), nice=False, zero=False),
            axis=alt.Axis(tickCount=7),
        ),
        "y": alt.Y("label:N", sort=None, title=None, scale=alt.Scale(domain=labels, padding=0.2), axis=axis),
        "yOffset": alt.YOffset("offset:Q", scale=alt.Scale(domain=[-1.3, 1.3])),
        "color": colour,
        "shape": shape,
        "description": "words:N",
    }

    def layer(chosen: list[str], **look: Any) -> Any:
        own = [value for value in values if value["series"] in chosen]
        return alt.Chart(alt.Data(values=own)).mark_point(**look).encode(**shared)

    layers = [
        layer([dots_name], filled=True, size=DOT, opacity=0.75),
        layer([mean_name], filled=False, size=MEAN, strokeWidth=2.5, opacity=1),
        layer(series, filled=True, size=MARK, opacity=1, stroke=palette.ground, strokeWidth=1),
    ]
    chart = alt.layer(*layers[: 3 if series else 2]).properties(
        width=palette.width * 0.85, height=max(2, len(rows)) * ROW * HEIGHT, description=description
    )
    return chart.configure(**configuration(palette))


def _value(label: str, series: str, value: float, words: str, digits: int, offset: float = 0.0) -> dict[str, Any]:
    return {
        "label": label,
        "series": series,
        "value": value,
        "offset": offset,
        "words": f"{words}: {value:.{digits}f}",
    }
