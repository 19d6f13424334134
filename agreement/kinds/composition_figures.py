"""The figures of a report on composition: bars of each dimension, the cross table, histograms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _

from agreement.composition.tables import OF_CRITERIA, OF_RESPONSES
from agreement.kinds.composition_page import MEASURES, dimension_label, figure_name, value_label
from agreement.kinds.kind import Figure
from agreement.models import Report
from agreement.reports.stored import table_names, table_of
from agreement.reports.tables import Row
from consilium.figures.bars import Bar, counted_bars
from consilium.figures.charts import histogram
from consilium.figures.cross_table import CountCell, cross_table
from consilium.figures.style import Palette, with_footnote_in_files

MAX_BARS = 30  # of a dimension
MAX_ROWS, MAX_COLUMNS = 30, 14  # of the cross table
DRAWN = ("user_turns", "characters", "last_user_characters", "criteria", OF_CRITERIA, OF_RESPONSES)


def figures(report: Report) -> Iterator[Figure]:
    """A figure of each dimension in which cases differ, then the cross table, then the histograms."""
    rows = table_of(report, "composition").dicts()
    names: set[str] = set()
    for dimension in report.result["facts"]["dimensions"]:
        own = [row for row in rows if row["dimension"] == dimension and row["n"]]
        name = figure_name(dimension)
        if len(own) > 1 and name not in names:
            names.add(name)
            yield _of_dimension(name, dimension, own)
    if "cross" in table_names(report):
        cross = _of_cross(report)
        if cross:
            yield cross
    bins: dict[str, list[Row]] = {}
    for row in table_of(report, "histogram").dicts():
        bins.setdefault(row["measure"], []).append(row)
    for measure in DRAWN:
        if len(bins.get(measure, ())) > 1:
            yield _of_measure(measure, bins[measure])


def _of_dimension(name: str, dimension: str, rows: Sequence[Row]) -> Figure:
    shown, label = rows[:MAX_BARS], dimension_label(dimension)
    has_several = any(row["n"] != row["n_first"] for row in rows)
    bars = []
    for row in shown:
        value = value_label(dimension, row["value"])
        bars.append(Bar(value, row["n"], row["percent"], _("Any label") if has_several else ""))
        if has_several:
            bars.append(Bar(value, row["n_first"], row["percent_first"], _("First label")))
    caption = _("Cases, and their share of all %(n)s.") % {"n": f"{rows[0]['n_cases']:,}"}
    cut = _("The %(n)s largest of %(all)s values.") % {"n": len(shown), "all": len(rows)}

    def drawing(palette: Palette) -> object:
        return counted_bars(bars, palette, x_title=_("Cases"), description=f"{label}. {caption}")

    return _saying(Figure(name, label, caption, "composition", drawing), cut if len(rows) > len(shown) else "")


def _saying(figure: Figure, cut: str) -> Figure:
    """The figure with the sentence about what it does not show, in its caption and below it in files."""
    if not cut:
        return figure
    return replace(figure, caption=f"{figure.caption} {cut}", drawing=with_footnote_in_files(figure.drawing, cut))


def _of_cross(report: Report) -> Figure | None:
    facts, rows = report.result["facts"], table_of(report, "cross").dicts()
    names = [list(dict.fromkeys(row[side] for row in rows)) for side in ("row", "column")]
    if not all(names) or len(names[1]) > MAX_COLUMNS:
        return None
    kept = set(names[0][:MAX_ROWS])
    cells = [
        CountCell(
            value_label(facts["row"], row["row"]),
            value_label(facts["column"], row["column"]),
            row["n"],
            row["row_percent"],
        )
        for row in rows
        if row["row"] in kept
    ]
    title = _("%(row)s by %(column)s") % {
        "row": dimension_label(facts["row"]),
        "column": dimension_label(facts["column"]),
    }
    caption = _("Cases, and their share of the row. The darker a cell, the larger this share.")
    cut = _("The %(n)s largest of %(all)s values.") % {"n": len(kept), "all": len(names[0])}

    def drawing(palette: Palette) -> object:
        return cross_table(cells, palette, description=f"{title}. {caption}")

    return _saying(Figure("cross", title, caption, "cross", drawing), cut if len(names[0]) > len(kept) else "")


def _of_measure(measure: str, rows: Sequence[Row]) -> Figure:
    title = str(MEASURES[measure])
    step = (rows[0]["high"] if rows[0]["high"] is not None else rows[0]["low"]) - rows[0]["low"] + 1
    is_open = rows[-1]["high"] is None
    # Single whole numbers stand in the middle of their bar.
    shift = 0.5 if step == 1 else 0.0
    bins = [(row["low"] - shift, row["low"] + step - shift, row["n"]) for row in rows]
    y_title = {OF_RESPONSES: _("Responses"), OF_CRITERIA: _("Criteria")}.get(measure, _("Cases"))
    n = sum(row["n"] for row in rows)
    caption = _("n = %(n)s.") % {"n": f"{n:,}"}
    cut = _("The last bar has everything from %(low)s on.") % {"low": f"{rows[-1]['low']:,}"}

    def drawing(palette: Palette) -> Any:
        return histogram(
            bins,
            palette,
            x_title=title,
            y_title=y_title,
            description=f"{title}. {caption}",
            whole=step == 1,
            digits=0,
        )

    return _saying(Figure(measure, title, caption, "histogram", drawing), cut if is_open else "")
