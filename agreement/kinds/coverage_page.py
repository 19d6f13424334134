"""The page of a report on coverage: its tables and figures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from agreement.kinds.kind import Context, Figure
from agreement.kinds.page_table import PageTable, first_rows
from agreement.models import Report
from agreement.reports.numbers import Number, PValue, number
from agreement.reports.stored import table_of
from agreement.reports.tables import Row
from consilium.figures.charts import Point, points_and_whiskers
from consilium.figures.style import Palette
from rubrics.slice_words import slice_words, value_words
from validation.files.coverage_tables import POINTS
from validation.files.table_rows import ALL
from validation.models import CoverageDecision
from validation.models.coverage import EXTENT_WORDS

MAX_SERIES = 6  # of a figure, each with a shape of its own


def body(report: Report, sort: str) -> Context:
    facts = report.result["facts"]
    several = len(facts["sets"]) > 1
    return {
        "facts": facts,
        "overlap": ", ".join(facts["names_its_judge"]),
        "coverage": _coverage(report),
        "split": facts["gold"].get("split"),
        "by_criterion": _by_criterion(report) if facts["gold"].get("split") else None,
        "controls": _controls(report),
        "powered": _powered(report),
        "agreement": _judge(report),
        "backward": _backward(report),
        "comparisons": _comparisons(report) if several else None,
        "by_axis": _by_axis(report),
        "only_one": _only_one(report) if several else None,
        "uncovered": _uncovered(report),
        "effective": facts.get("effective"),
    }


def _everything(report: Report, name: str) -> list[Row]:
    return [row for row in table_of(report, name).dicts() if row["slice"] == ALL]


def _cell(row: Row, name: str) -> str:
    return number(row, name).cell


def _plain(value: float | None) -> str:
    return Number(value).shown or "–"


def _count(n: int) -> str:
    return f"{n:,}"


def _coverage(report: Report) -> PageTable:
    return PageTable(
        "coverage",
        _("How much of the gold set each set covers: Clinical Intent Alignment (CIA)"),
        [
            (pgettext("of rubrics", "Set"), False),
            (_("Gold points"), True),
            ("CIA", True),
            (_("At least partly"), True),
            (_("Mean over cases"), True),
            (_("Weighted"), True),
            (_("On valid answers"), True),
            (_("Invalid"), True),
            (_("Missing"), True),
        ],
        {
            "": [
                [
                    row["set"],
                    _count(row["n_points"]),
                    _cell(row, "cia"),
                    *(_plain(row[name]) for name in ("cia_partly", "cia_mean_of_cases", "cia_weighted", "cia_valid")),
                    _count(row["n_invalid"]),
                    _count(row["n_missing"]),
                ]
                for row in _everything(report, "coverage")
            ]
        },
        remark=_(
            "CIA, Clinical Intent Alignment, is the share of gold points that a set fully covers. Invalid and missing "
            "answers count as not covered."
        ),
    )


def _by_criterion(report: Report) -> PageTable:
    return PageTable(
        "coverage_by_criterion",
        _("By criterion"),
        [
            (pgettext("of rubrics", "Set"), False),
            (_("Criteria"), True),
            ("CIA", True),
            (_("At least partly"), True),
            (_("Mean over cases"), True),
            (_("Weighted"), True),
        ],
        {
            "": [
                [
                    row["set"],
                    _count(row["n_criteria"]),
                    _cell(row, "cia"),
                    *(_plain(row[name]) for name in ("cia_partly", "cia_mean_of_cases", "cia_weighted")),
                ]
                for row in _everything(report, "coverage_by_criterion")
            ]
        },
        remark=_(
            "A criterion is fully covered if all of its points are, and counts once. Over points, it "
            "counts once for each point, and likewise in the weighted share."
        ),
    )


def control_label(row: Row) -> str:
    """A control in words."""
    if row["control"] == "itself":
        return _("%(set)s against itself") % {"set": row["set"]}
    return _("%(set)s of the next case") % {"set": row["set"]}


def _controls(report: Report) -> PageTable:
    rows = _everything(report, "coverage_controls")
    return PageTable(
        "coverage_controls",
        _("Controls"),
        [(_("Control"), False), ("CIA", True), (_("Invalid"), True), (_("Missing"), True)],
        {
            "": [
                [control_label(row), _cell(row, "cia"), _count(row["n_invalid"]), _count(row["n_missing"])]
                for row in rows
            ]
        },
        remark=_(
            "The gold set against itself should be near 1. The criteria for the next case show how much "
            "is covered by chance and generic wording."
        )
        if any(row["control"] == "shifted" for row in rows)
        else _(
            "The gold set against itself should be near 1. The run has only one case, so there is no "
            "next case to compare with."
        ),
    )


def _powered(report: Report) -> PageTable:
    rows = _everything(report, "coverage_powered")
    return PageTable(
        "coverage_powered",
        _("CIA corrected with physicians’ decisions"),
        [
            (pgettext("of rubrics", "Set"), False),
            (_("Corrected with physicians’ decisions"), True),
            (_("Physicians alone"), True),
            (_("Model only"), True),
            (_("Decided / all"), True),
        ],
        {
            "": [
                [
                    row["set"],
                    *(_cell(row, name) for name in ("cia_powered", "cia_physicians", "cia_judge")),
                    f"{row['n_decided']:,} / {row['n_points']:,}",
                ]
                for row in rows
            ]
        },
    )


def _judge(report: Report) -> PageTable:
    rows = _everything(report, "coverage_judge")
    return PageTable(
        "coverage_judge",
        _("The model compared with physicians"),
        [
            (pgettext("of rubrics", "Set"), False),
            (_("Decisions"), True),
            (_("Same answer"), True),
            (_("Agree on full coverage or not"), True),
        ],
        {
            "": [
                [row["set"], _count(row["n_decided"]), _cell(row, "agreement"), _cell(row, "agreement_full")]
                for row in rows
            ]
        },
        remark=_(
            "As if physicians had decided on every gold point: each decision is weighted by the inverse of "
            "its sampling share."
        ),
    )


def _backward(report: Report) -> PageTable:
    figures = {row["set"]: row for row in _everything(report, "coverage")}
    labels = dict(CoverageDecision.Answer.choices)
    answers = CoverageDecision.OF_CRITERIA
    return PageTable(
        "coverage_criteria",
        _("Basis of the criteria of each set"),
        [
            (pgettext("of rubrics", "Set"), False),
            (_("Criteria"), True),
            (_("Precision"), True),
            (_("With sound extras"), True),
            ("F1", True),
            *((str(labels[answer]), True) for answer in answers),
            (_("Not decided"), True),
        ],
        {
            "": [
                [
                    row["set"],
                    _count(row["n_criteria"]),
                    *(_plain(figures[row["set"]][name]) for name in ("precision", "precision_sound", "f1")),
                    *(_count(row[answer]) for answer in answers),
                    _count(row["undecided"]),
                ]
                for row in table_of(report, "coverage_criteria").dicts()
            ]
        },
        remark=_(
            "Precision is the share of criteria that are fully covered by a gold point. Physicians "
            "decide on the others; those found sound and needed count as “With sound extras” once all "
            "have been decided."
        ),
    )


def _comparisons(report: Report) -> PageTable:
    rows = _everything(report, "comparisons")
    return PageTable(
        "comparisons",
        _("Two sets on the same gold points"),
        [
            (pgettext("of two", "First"), False),
            (pgettext("of two", "Second"), False),
            (_("First only"), True),
            (_("Second only"), True),
            (_("Difference"), True),
            (_("p, over cases"), True),
            (_("p, exact"), True),
            (_("p, mid-p"), True),
        ],
        {
            "": [
                [
                    row["first"],
                    row["second"],
                    _count(row["b"]),
                    _count(row["c"]),
                    number({**row, "difference_low": row["low"], "difference_high": row["high"]}, "difference").cell,
                    *(PValue.of(row, name).cell for name in ("p_clustered", "p_exact", "p_mid")),
                ]
                for row in rows
            ]
        },
    )


def _by_axis(report: Report) -> PageTable:
    """The sets in each slice, and below them the controls on the same gold points."""
    groups: dict[str, list[list[str]]] = {}
    for table, label in (("coverage", lambda row: row["set"]), ("coverage_controls", control_label)):
        for row in table_of(report, table).dicts():
            if row["slice"] != ALL:
                own = groups.setdefault(slice_words(row["slice"]), [])
                own.append([label(row), _count(row["n_points"]), _cell(row, "cia"), _plain(row["cia_partly"])])
    columns = [
        (pgettext("of rubrics", "Set"), False),
        (_("Gold points"), True),
        ("CIA", True),
        (_("At least partly"), True),
    ]
    return PageTable("coverage", _("By axis, sign and tag"), columns, groups, empty=_("There are no slices."))


def _only_one(report: Report) -> PageTable:
    def cells(row: Row) -> list[str]:
        other = row["second"] if row["covered_by"] == row["first"] else row["first"]
        return [row["text"], row["case"], f"{row['points']:+d}", row["covered_by"], other]

    groups, remark = first_rows(table_of(report, "only_one").dicts(), cells)
    return PageTable(
        "only_one",
        _("Gold points covered by only one of two sets"),
        [
            (_("Gold point"), False),
            (_("Case"), False),
            (pgettext("of a gold point", "Points"), True),
            (_("Covered by"), False),
            (_("Not covered by"), False),
        ],
        groups,
        remark=remark,
        empty=_("Both cover the same gold points."),
    )


def _uncovered(report: Report) -> PageTable:
    def cells(row: Row) -> list[str]:
        return [row["text"], row["case"], f"{row['points']:+d}", str(EXTENT_WORDS[row["extent"]]), row["why"]]

    groups, remark = first_rows(table_of(report, "uncovered").dicts(), cells, lambda row: row["set"])
    return PageTable(
        "uncovered",
        _("What each set does not cover"),
        [
            (_("Gold point"), False),
            (_("Case"), False),
            (pgettext("of a gold point", "Points"), True),
            (_("Coverage"), False),
            (_("Why"), False),
        ],
        groups,
        remark=remark,
        empty=_("Every gold point is fully covered."),
    )


# Figures -----------------------------------------------------------------------------------------------------------


def figures(report: Report) -> Iterator[Figure]:
    over_points = report.parameters["over"] == POINTS
    intervals = (
        _("Lines are 95% intervals over gold points.") if over_points else _("Lines are 95% intervals over cases.")
    )
    sets, controls = _everything(report, "coverage"), _everything(report, "coverage_controls")
    itself = [row for row in controls if row["control"] == "itself"]
    shifted = [row for row in controls if row["control"] == "shifted"]
    groups = {_("Control"): itself, _("Measured set"): sets, _("Control, next case"): shifted}
    points = [
        _point(control_label(row) if "control" in row else row["set"], row, series)
        for series, rows in groups.items()
        for row in rows
    ]
    yield Figure(
        "sets",
        _("CIA of each set, between the controls"),
        f"{_('The gold set against itself is shown above, the criteria for the next case below.')} {intervals}"
        if shifted
        else intervals,
        "coverage",
        _drawing(points, _("CIA of each set and each control, with 95% intervals.")),
    )
    rows = [row for row in table_of(report, "coverage").dicts() if row["slice"].startswith("axis:")]
    of_axes = [row for row in table_of(report, "coverage_controls").dicts() if row["slice"].startswith("axis:")]
    names = list(dict.fromkeys(row["set"] for row in rows))
    series = [*names, *dict.fromkeys(control_label(row) for row in of_axes)]
    with_controls = len(series) <= MAX_SERIES
    points = [_point(_axis(row), row, row["set"]) for row in rows if row["set"] in names[:MAX_SERIES]]
    if with_controls:
        points += [_point(_axis(row), row, control_label(row)) for row in of_axes]
    if rows:
        yield Figure(
            "axes",
            _("CIA by axis"),
            intervals if with_controls else f"{intervals} {_('The controls of each axis are in the table below.')}",
            "coverage",
            _drawing(points, _("CIA of each set by axis, with 95% intervals.")),
        )


def _axis(row: Row) -> str:
    return value_words("axis", str(row["slice"]).removeprefix("axis:"))


def _point(label: str, row: Row, series: str) -> Point:
    return Point(label, row["cia"], row["cia_low"], row["cia_high"], series)


def _drawing(points: list[Point], description: str) -> Any:
    def drawing(palette: Palette) -> object:
        return points_and_whiskers(points, palette, x_title="CIA", description=description, domain=(0.0, 1.0))

    return drawing
