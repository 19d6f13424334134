"""The page of a report on drafting: its tables and figures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext

from agreement.drafted.inputs import NEED, NOTHING
from agreement.drafted.slices import ALL
from agreement.drafted.tables import NO_FINDING, NO_REASON
from agreement.kinds.kind import Context, Figure
from agreement.kinds.page_table import PageTable
from agreement.models import Report
from agreement.reports.numbers import Number, number
from agreement.reports.stored import table_of
from agreement.reports.tables import Row
from consilium.figures.charts import Point, points_and_whiskers
from consilium.figures.style import Palette
from drafting.models import FactKind, RejectionReason
from drafting.stages import findings as codes
from rubrics.models import Case
from rubrics.slice_words import value_words

SHOWN_ROWS = 50  # of the list of cases; its file has all
HEADINGS = {
    "recipe": gettext_lazy("By recipe"),
    "kind": gettext_lazy("By basis"),
    "axis": gettext_lazy("By axis"),
    "author": gettext_lazy("By author"),
    "month": gettext_lazy("By month of decision"),
}
FINDINGS = {
    codes.INSTRUCTION: gettext_lazy("A passage gives instructions to a model"),
    codes.NUMBERS_DIFFER: gettext_lazy("A number does not occur in any source"),
    codes.CONTRADICTS: gettext_lazy("Contradicts a criterion or a fact"),
    codes.UNSUPPORTED: gettext_lazy("Not supported by its facts"),
    codes.UNGROUNDED: gettext_lazy("Not based on any fact or need"),
    codes.JOINED: gettext_lazy("Combines red flags or prohibitions"),
    codes.OPPOSITE: gettext_lazy("Contradicts another criterion"),
    codes.LOW_POINTS: gettext_lazy("Few points for a red flag or a prohibition"),
    codes.LINT: gettext_lazy("Wording"),
    codes.BANK_DUPLICATE: gettext_lazy("Already in the bank"),
    codes.CONFLICT: gettext_lazy("Sources disagree"),
    codes.UNKNOWN_AXIS: gettext_lazy("Axis not in the benchmark"),
    codes.MOVED_QUOTE: gettext_lazy("Quotation found in another passage"),
    codes.NOT_CHECKED: gettext_lazy("Facts not checked by a second model"),
    NO_FINDING: gettext_lazy("No finding"),
}


def body(report: Report, sort: str) -> Context:
    facts = report.result["facts"]
    rows = table_of(report, "drafting").dicts()
    return {
        "facts": facts,
        "recipes": ", ".join(facts["recipes"]),
        "taken": _taken(rows),
        "changed": _changed(rows),
        "rubrics": _rubrics(report),
        "time": _time(report),
        "reasons": _reasons(report),
        "findings": _findings(report),
        "cases": _cases(report),
        "effective": facts.get("effective"),
    }


def slice_label(name: str) -> str:
    """A slice without the name of its column, in words."""
    column, _colon, value = name.partition(":")
    if name == ALL:
        return _("All")
    if column == "kind":
        others = {NEED: _("A need of the person asking"), NOTHING: _("None")}
        return others.get(value) or str(dict(FactKind.choices).get(value, value))
    return value_words("axis", value) if column == "axis" else value


def _grouped(rows: list[Row], cells: Any) -> dict[str, list[list[str]]]:
    groups: dict[str, list[list[str]]] = {}
    for row in rows:
        column = row["slice"].partition(":")[0]
        groups.setdefault(str(HEADINGS.get(column, "")), []).append([slice_label(row["slice"]), *cells(row)])
    return groups


def _cell(row: Row, name: str) -> str:
    return number(row, name).cell


def _plain(value: float | None, digits: int = 3) -> str:
    return Number(value, digits=digits).shown or "–"


def _count(n: int | None) -> str:
    return "–" if n is None else f"{n:,}"


def _taken(rows: list[Row]) -> PageTable:
    return PageTable(
        "drafting",
        _("How many suggestions physicians accepted"),
        [
            (_("Suggestions"), False),
            (_("Cases"), True),
            (_("Decided"), True),
            (_("As is"), True),
            (_("Reworded"), True),
            (_("Rejected"), True),
            (_("Acceptance"), True),
            (_("Share unchanged"), True),
            (_("Survival"), True),
        ],
        _grouped(
            rows,
            lambda row: [
                *(_count(row[name]) for name in ("n_cases", "n_decided", "n_accepted", "n_edited", "n_rejected")),
                *(_cell(row, name) for name in ("acceptance", "as_is", "survival")),
            ],
        ),
        remark=_(
            "Acceptance is the share of suggestions that were accepted, unchanged or reworded. Survival "
            "is the share of accepted suggestions that are still in the rubric in force. A suggestion "
            "based on facts of several kinds counts for each kind."
        ),
    )


def _changed(rows: list[Row]) -> PageTable:
    def cells(row: Row) -> list[str]:
        quartiles = [row[f"distance_{name}"] for name in ("q1", "median", "q3")]
        return [
            _cell(row, "distance_mean"),
            " · ".join(map(_plain, quartiles)) if quartiles[0] is not None else "–",
            _cell(row, "points_changed"),
            _cell(row, "points_shift"),
            _cell(row, "auroc"),
            _plain(row["seconds_read_median"], 0),
        ]

    return PageTable(
        "drafting",
        _("Extent of changes, and what findings predict"),
        [
            (_("Suggestions"), False),
            (_("Mean edit distance"), True),
            (_("Quartiles"), True),
            (_("Different points"), True),
            (_("Mean change in points"), True),
            (_("AUROC of findings"), True),
            (_("Median reading time, seconds"), True),
        ],
        _grouped(rows, cells),
        remark=_(
            "Distances are of reworded suggestions, from 0 (identical text) to 1. AUROC shows how well "
            "the most serious finding distinguishes rejected from accepted suggestions; 0.5 is chance."
        ),
    )


def _rubric_slices(report: Report) -> list[Row]:
    return table_of(report, "drafting_rubrics").dicts()


def _rubrics(report: Report) -> PageTable:
    def cells(row: Row) -> list[str]:
        return [
            *(_count(row[name]) for name in ("n_cases", "n_criteria", "n_from_suggestions")),
            _cell(row, "share_of_rubric"),
            _cell(row, "missed"),
            *(_count(row[name]) for name in ("n_missed", "n_points")),
        ]

    return PageTable(
        "drafting_rubrics",
        _("Share of published rubrics that came from suggestions"),
        [
            (_("Suggestions"), False),
            (_("Cases"), True),
            (_("Criteria"), True),
            (_("From suggestions"), True),
            (_("Share of the rubric"), True),
            (_("Missed by all suggestions"), True),
            (pgettext("of criteria", "Missed"), True),
            (_("Total"), True),
        ],
        _grouped(_rubric_slices(report), cells),
        remark=_("Missed: published criteria that no suggestion fully covers, if a coverage run was selected."),
    )


def _time(report: Report) -> PageTable:
    def cells(row: Row) -> list[str]:
        return [
            _count(row["n_timed"]),
            _cell(row, "author_minutes"),
            _count(row["n_reviewed"]),
            _cell(row, "reviewer_minutes"),
            _count(row["n_lists"]),
            _cell(row, "own_criteria"),
            *(_count(row[name]) for name in ("n_added", "n_double")),
        ]

    return PageTable(
        "drafting_rubrics",
        _("Time, and authors’ own lists"),
        [
            (_("Suggestions"), False),
            (_("Cases with author time"), True),
            (_("Author, median minutes"), True),
            (_("Cases with reviewer time"), True),
            (_("Reviewer, median minutes"), True),
            (_("Own lists"), True),
            (_("Own criteria, median"), True),
            (_("Accepted in addition"), True),
            (_("Duplicate criterion"), True),
        ],
        _grouped(_rubric_slices(report), cells),
        remark=_(
            "Active time per case, over all of its versions. Own lists are what authors had written "
            "before they first saw the suggestions. There is no comparison with unaided writing, so time "
            "saved cannot be inferred."
        ),
    )


def _reasons(report: Report) -> PageTable:
    labels = {reason.name.lower(): str(reason.label) for reason in RejectionReason} | {NO_REASON: _("None given")}
    rows = [row for row in table_of(report, "drafting_reasons").dicts() if row["slice"] == ALL]
    return PageTable(
        "drafting_reasons",
        _("Reasons for rejecting suggestions"),
        [(_("Reason"), False), (_("Suggestions"), True), (_("Share of rejected suggestions"), True)],
        {"": [[labels[row["reason"]], _count(row["n"]), _cell(row, "share")] for row in rows]},
    )


def _findings(report: Report) -> PageTable:
    severities = {
        codes.PROBLEM: _("problem"), codes.CAUTION: _("caution"), codes.NOTE: _("note"), "": "–",
    }  # fmt: skip
    return PageTable(
        "drafting_findings",
        _("Findings compared with decisions"),
        [
            (pgettext("of a suggestion", "Finding"), False),
            (_("Severity"), False),
            (_("Suggestions"), True),
            (_("Reworded"), True),
            (_("Rejected"), True),
            (_("Share rejected"), True),
        ],
        {
            "": [
                [
                    str(FINDINGS.get(row["finding"], row["finding"])),
                    severities[row["severity"]],
                    *(_count(row[name]) for name in ("n", "n_edited", "n_rejected")),
                    _cell(row, "rejected"),
                ]
                for row in table_of(report, "drafting_findings").dicts()
            ]
        },
    )


def _cases(report: Report) -> PageTable:
    rows = table_of(report, "drafting_cases").dicts()
    more = len(rows) - SHOWN_ROWS
    shown = Case.objects.filter(benchmark=report.benchmark_id, key__in=[row["case"] for row in rows[:SHOWN_ROWS]])
    slug = report.benchmark.slug
    return PageTable(
        "drafting_cases",
        _("Cases"),
        [
            (_("Case"), False),
            (_("Criteria"), True),
            (_("From suggestions"), True),
            (_("Decided"), True),
            (_("Rejected"), True),
            (_("Author, minutes"), True),
            (_("Reviewer, minutes"), True),
        ],
        {
            "": [
                [
                    row["case"],
                    *(_count(row[name]) for name in ("n_criteria", "n_from_suggestions", "n_decided", "n_rejected")),
                    *(_plain(row[name], 1) for name in ("author_minutes", "reviewer_minutes")),
                ]
                for row in rows[:SHOWN_ROWS]
            ]
        },
        remark=_("%(n)s more are in the file.") % {"n": f"{more:,}"} if more > 0 else "",
        addresses={
            key: reverse("rubrics:case", args=[slug, public_id])
            for key, public_id in shown.values_list("key", "public_id")
        },
    )


# Figures -----------------------------------------------------------------------------------------------------------


def figures(report: Report) -> Iterator[Figure]:
    rows = table_of(report, "drafting").dicts()
    caption = _("Lines are 95% intervals over cases.")
    for name, column, title in (
        ("axes", "axis", _("Acceptance by axis")),
        ("months", "month", _("Acceptance by month")),
    ):
        own = [row for row in rows if row["slice"].startswith(f"{column}:")]
        if own:
            yield Figure(name, title, caption, "drafting", _drawing(own, f"{title}."))


def _drawing(rows: list[Row], description: str) -> Any:
    points = [
        Point(slice_label(row["slice"]), row[name], row[f"{name}_low"], row[f"{name}_high"], series)
        for row in rows
        for name, series in (("acceptance", _("Acceptance")), ("as_is", _("Share unchanged")))
    ]

    def drawing(palette: Palette) -> object:
        return points_and_whiskers(
            points, palette, x_title=_("Share of decided suggestions"), description=description, domain=(0.0, 1.0)
        )

    return drawing
