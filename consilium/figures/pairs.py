"""Figures of near-miss pairs: shares of wins, ties and losses by set, and the score delta of every pair."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from consilium.figures.style import ROW, Palette, configuration


@dataclass(frozen=True)
class Shares:
    """The shares of a set, by the names of the parts; they add up to 1."""

    label: str
    shares: dict[str, float]
    n: int


def stacked_shares(
    rows: Sequence[Shares], names: dict[str, str], palette: Palette, *, x_title: str, description: str
) -> Any:
    """A bar for each row from 0 to 1, in parts in the order of ``names`` (each with its label)."""
    import altair as alt

    colours = [palette.series[0], palette.grid, palette.series[2]]
    values = []
    for row in rows:
        start = 0.0
        for name, label in names.items():
            end = start + row.shares[name]
            values.append(
                {
                    "label": row.label,
                    "part": label,
                    "from": start,
                    "to": end,
                    "middle": (start + end) / 2,
                    "shown": f"{row.shares[name]:.0%}" if row.shares[name] >= 0.06 else "",
                    "words": f"{row.label}, {label}: {row.shares[name]:.3f}, n = {row.n}",
                }
            )
            start = end
    labels = [row.label for row in rows]
    base = alt.Chart(alt.Data(values=values)).encode(
        y=alt.Y(
            "label:N",
            sort=None,
            title=None,
            scale=alt.Scale(domain=labels, padding=0.25),
            axis=alt.Axis(grid=False, labelLimit=280),
        )
    )
    x = alt.X("from:Q", title=x_title, scale=alt.Scale(domain=[0, 1], nice=False), axis=alt.Axis(format="%"))
    bars = base.mark_bar(stroke=palette.ground, strokeWidth=1).encode(
        x=x,
        x2="to:Q",
        color=alt.Color(
            "part:N",
            sort=None,
            scale=alt.Scale(domain=list(names.values()), range=colours[: len(names)]),
            legend=alt.Legend(symbolType="square", symbolStrokeWidth=0, columnPadding=24),
        ),
        description="words:N",
    )
    middle = next(iter(list(names.values())[1:2]), "")
    on_colour = f"datum.part != {json.dumps(middle)}"

    def shown(colour: str, which: str) -> Any:
        text = base.transform_filter(which).mark_text(color=colour, fontSize=11, aria=False)
        return text.encode(x=alt.X("middle:Q", title=x_title), text="shown:N")

    chart = alt.layer(bars, shown(palette.ground, on_colour), shown(palette.ink, f"!({on_colour})")).properties(
        width=palette.width * 0.85, height=max(2, len(rows)) * ROW, description=description
    )
    return chart.configure(**configuration(palette))


@dataclass(frozen=True)
class Delta:
    """The delta of a pair in row ``label`` and of series ``series``; ``words`` say which pair, ``href`` leads to it."""

    label: str
    value: float
    series: str
    words: str
    href: str = ""


def delta_dots(deltas: Sequence[Delta], palette: Palette, *, x_title: str, description: str) -> Any:
    """A dot for every pair; dots with the same value stand below one another. A line is at 0."""
    import altair as alt

    labels = list(dict.fromkeys(delta.label for delta in deltas))
    series = list(dict.fromkeys(delta.series for delta in deltas))
    n_at: dict[tuple[str, float], int] = {}
    values = []
    for delta in deltas:
        place = (delta.label, round(delta.value, 6))
        n_at[place] = n_at.get(place, 0) + 1
        values.append(
            {
                "label": delta.label,
                "series": delta.series,
                "value": delta.value,
                "lane": n_at[place],
                "words": delta.words,
                "href": delta.href or None,
            }
        )
    lanes = list(range(1, max(n_at.values(), default=1) + 1))
    greatest = max((abs(delta.value) for delta in deltas), default=1.0) or 1.0
    y = alt.Y("label:N", sort=None, title=None, scale=alt.Scale(domain=labels, padding=0.15), axis=alt.Axis(grid=True))
    dots = (
        alt.Chart(alt.Data(values=values))
        .mark_point(filled=True, size=42, opacity=0.85, stroke=palette.ground, strokeWidth=0.5)
        .encode(
            x=alt.X(
                "value:Q",
                title=x_title,
                scale=alt.Scale(domain=[-1.05 * greatest, 1.05 * greatest], nice=False),
                axis=alt.Axis(tickCount=7),
            ),
            y=y,
            yOffset=alt.YOffset("lane:O", scale=alt.Scale(domain=lanes), sort=None),
            color=alt.Color(
                "series:N",
                sort=None,
                scale=alt.Scale(domain=series, range=list(palette.series[: len(series)])),
                legend=alt.Legend(columns=3, columnPadding=24) if len(series) > 1 else None,
            ),
            href="href:N",
            description="words:N",
        )
    )
    zero = (
        alt.Chart(alt.Data(values=[{"at": 0}]))
        .mark_rule(strokeDash=[4, 4], strokeWidth=1.2, color=palette.faint, aria=False)
        .encode(x="at:Q")
    )
    height = len(labels) * min(160, max(ROW, 7 * len(lanes) + 10))
    chart = alt.layer(zero, dots).properties(width=palette.width * 0.85, height=height, description=description)
    return chart.configure(**configuration(palette))
