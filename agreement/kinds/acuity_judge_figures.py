"""The figures of a report about a judge that reads levels."""

from __future__ import annotations

from collections.abc import Iterator
from string import ascii_uppercase

from django.utils.translation import gettext as _

from agreement.acuity.parameters import level_label
from agreement.kinds.acuity_judge_page import MEASURE_LABELS
from agreement.kinds.kind import Figure
from agreement.models import Report
from agreement.reports.stored import table_of
from consilium.figures.charts import Point, points_and_whiskers
from consilium.figures.render import Drawing
from consilium.figures.style import Palette
from consilium.figures.triage import Matrix, confusion_panels

COMPARED = ("exact", "within_one", "qwk", "alpha")


def figures(report: Report) -> Iterator[Figure]:
    yield from _agreement(report)
    yield from _confusion(report)


def _agreement(report: Report) -> Iterator[Figure]:
    rows = {row["measure"]: row for row in table_of(report, "judge_ceiling").dicts()}
    # An entry for each side, so that a reader of the drawing sees what stands beside what.
    sides = {"judge": _("Judge and a physician"), "physicians": _("Two physicians")}
    points = [
        Point(
            str(MEASURE_LABELS[measure]),
            rows[measure][side],
            rows[measure][f"{side}_low"],
            rows[measure][f"{side}_high"],
            label,
        )
        for measure in COMPARED
        if measure in rows
        for side, label in sides.items()
    ]
    if not any(point.value is not None for point in points):
        return

    def drawing(palette: Palette) -> object:
        return points_and_whiskers(
            points,
            palette,
            x_title=_("agreement"),
            description=_("How far the judge agrees with physicians, and physicians agree with each other."),
        )

    has_intervals = any(point.low is not None for point in points)
    intervals = (
        _("Lines are 95% intervals over cases.") if has_intervals else _("There are too few cases for intervals.")
    )
    yield Figure(
        "agreement",
        _("Agreement on the same responses"),
        _("Responses with a level from the judge and from two or more physicians.") + " " + intervals,
        "judge_ceiling",
        drawing,
    )


def _confusion(report: Report) -> Iterator[Figure]:
    levels = report.result["facts"].get("levels", [])  # a report from before has none, and no figure
    values = [level["value"] for level in levels]
    counts = [[0.0] * len(values) for _value in values]
    without_level = 0
    for row in table_of(report, "judge_confusion").dicts():
        if row["candidate"] != "all":
            continue
        if row["physicians"] in values and row["judge"] in values:
            counts[values.index(row["physicians"])][values.index(row["judge"])] = row["n"]
        else:
            without_level += row["n"]
    if not any(map(any, counts)):
        return
    caption = _(
        "Rows are the levels that physicians marked, columns are the levels that the judge read. Each "
        "mark counts as 1 and is shown with its share of the row. Outlined: same level. Amber: the judge "
        "read a lower level. Blue: the judge read a higher level."
    )
    if without_level:
        more = _("%(n)s marks are not shown because one side has no level; they are in the table.")
        caption += " " + more % {"n": f"{without_level:,}"}
    key = ", ".join(f"{letter} {level_label(level)}" for letter, level in zip(ascii_uppercase, levels, strict=False))
    yield Figure(
        "confusion",
        _("Levels read by the judge for each level marked by physicians"),
        f"{caption} {key}.",
        "judge_confusion",
        _confusion_drawing(counts),
    )


def _confusion_drawing(counts: list[list[float]]) -> Drawing:
    def drawing(palette: Palette) -> object:
        return confusion_panels(
            [Matrix("", counts)],
            list(ascii_uppercase[: len(counts)]),
            palette,
            y_title=_("marked by physicians"),
            x_title=_("read by the judge"),
            description=_("Levels that the judge read, by the level that a physician marked."),
        )

    return drawing
