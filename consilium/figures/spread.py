"""Figures of where physicians disagree: error beside the panel's own spread, and distributions case by case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from consilium.figures.style import ROW, Palette, configuration


@dataclass(frozen=True)
class ScoreParts:
    """The ranked probability score of a row as a sum: the error of the candidate, and the panel's own spread.

    ``ceiling`` is the score of one physician by the others, None where it is undefined.
    """

    label: str
    error: float
    spread: float
    ceiling: float | None


def stacked_scores(rows: Sequence[ScoreParts], palette: Palette, *, x_title: str, description: str) -> Any:
    """A bar for each row in two parts; a line across it where physicians themselves are."""
    import altair as alt

    names = {"spread": _("Spread of the panel"), "error": _("Error of the candidate")}
    colours = {"spread": palette.faint, "error": palette.series[1]}
    values = [
        {
            "label": row.label,
            "kind": names[kind],
            "from": start,
            "to": end,
            "words": f"{row.label}, {names[kind]}: {end - start:.3f}",
        }
        for row in rows
        for kind, start, end in (("spread", 0.0, row.spread), ("error", row.spread, row.spread + row.error))
    ]
    labels = [row.label for row in rows]
    axis = alt.Axis(grid=False, labelLimit=340)
    y = alt.Y("label:N", sort=None, title=None, scale=alt.Scale(domain=labels, padding=0.3), axis=axis)
    bars = (
        alt.Chart(alt.Data(values=values))
        .mark_bar()
        .encode(
            x=alt.X("from:Q", title=x_title, axis=alt.Axis(tickCount=7)),
            x2="to:Q",
            y=y,
            color=alt.Color(
                "kind:N",
                sort=None,
                scale=alt.Scale(domain=list(names.values()), range=[colours[kind] for kind in names]),
                legend=alt.Legend(symbolType="square", symbolStrokeWidth=0, columnPadding=24),
            ),
            description="words:N",
        )
    )
    ceilings = [
        {"label": row.label, "at": row.ceiling, "words": f"{row.label}, {_('one physician')}: {row.ceiling:.3f}"}
        for row in rows
        if row.ceiling is not None
    ]
    ticks = (
        alt.Chart(alt.Data(values=ceilings))
        .mark_tick(thickness=3, size=ROW * 0.75, color=palette.ink)
        .encode(x=alt.X("at:Q", title=x_title), y=y, description="words:N")
    )
    # Beside the bar or the line, whichever ends last.
    sums = [
        {
            "label": row.label,
            "at": max(row.spread + row.error, row.ceiling or 0.0),
            "shown": f"{row.spread + row.error:.3f}",
        }
        for row in rows
    ]
    numbers = (
        alt.Chart(alt.Data(values=sums))
        .mark_text(align="left", dx=8, color=palette.text, fontSize=11, aria=False)
        .encode(x=alt.X("at:Q", title=x_title), y=y, text="shown:N")
    )
    chart = alt.layer(bars, ticks, numbers).properties(
        width=palette.width * 0.85, height=max(2, len(rows)) * ROW, description=description
    )
    return chart.configure(**configuration(palette))


@dataclass(frozen=True)
class Spread:
    """Shares of the levels in one row of a case, the least urgent first; ``url`` is the page of the case, or empty."""

    case: str
    row: str
    shares: Sequence[float]
    url: str = ""


def spread_dots(
    spreads: Sequence[Spread], levels: Sequence[str], palette: Palette, *, x_title: str, description: str
) -> Any:
    """For each case a line of dots a row, their area the share of a level; the panel's row comes first."""
    import altair as alt

    rows = list(dict.fromkeys(spread.row for spread in spreads))
    values = [
        {
            "place": f"{spread.case}\u2003{spread.row}",
            "level": level,
            "share": share,
            "row": spread.row,
            "words": f"{spread.case}, {spread.row}, {level}: {share:.0%}",
            **({"href": spread.url} if spread.url else {}),
        }
        for spread in spreads
        for level, share in zip(levels, spread.shares, strict=True)
        if share > 0
    ]
    places = [f"{spread.case}\u2003{spread.row}" for spread in spreads]
    colours = [palette.ink, *palette.series]
    chart = (
        alt.Chart(alt.Data(values=values))
        .mark_circle(opacity=1)
        .encode(
            x=alt.X(
                "level:N",
                sort=None,
                title=x_title,
                scale=alt.Scale(domain=list(levels)),
                axis=alt.Axis(orient="top", labelAngle=0),
            ),
            y=alt.Y("place:N", sort=None, title=None, scale=alt.Scale(domain=places), axis=alt.Axis(labelLimit=400)),
            size=alt.Size("share:Q", legend=None, scale=alt.Scale(domain=[0, 1], range=[0, 220])),
            color=alt.Color(
                "row:N",
                sort=None,
                legend=None,
                scale=alt.Scale(domain=rows, range=[colours[i % len(colours)] for i in range(len(rows))]),
            ),
            description="words:N",
            **({"href": "href:N"} if any(spread.url for spread in spreads) else {}),
        )
        .properties(width=palette.width * 0.6, height=len(places) * 20, description=description)
    )
    return chart.configure(**configuration(palette))
