"""The page of a report on refinement: its tables and figures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext, pgettext_lazy

from agreement.kinds.kind import Context, Figure
from agreement.kinds.page_table import PageTable
from agreement.models import Report
from agreement.reports.numbers import PValue, number
from agreement.reports.stored import table_of
from agreement.reports.tables import Row
from consilium.core.from_english import from_english
from consilium.core.i18n import translate
from consilium.figures.charts import Point, points_and_whiskers
from consilium.figures.score_slopes import ScoreSlope, score_slopes
from consilium.figures.style import Palette
from rubrics.slice_words import value_words
from validation.files.table_rows import ALL

SHOWN_ROWS = 20  # of a list; its file has all
SHOWN_OF_KIND = 10  # of what code finds, of each kind
MAX_ARMS = 6  # of a figure
AXIS = "axis:"
KINDS = {
    "new_number": gettext_lazy("New number"),
    "new_drug": gettext_lazy("New drug name"),
    "stray": gettext_lazy("Changes not explained by an edit"),
}
ACTIONS = {"added": pgettext_lazy("sentence", "added"), "removed": pgettext_lazy("sentence", "removed")}


def body(report: Report, sort: str) -> Context:
    facts = report.result["facts"]
    everything = _everything(report)
    cases = table_of(report, "refinement_cases").dicts()
    return {
        "facts": facts,
        "judges": ", ".join(facts["refining_judges"]),
        "taught_since": facts.get("taught_since", {}).items(),
        "n_scored": facts.get("n_scored", facts["n_cases"]),
        "arms": [{**arm, "label": arm_label(arm["name"], facts)} for arm in facts["arms"]],
        "new_numbers": sum(row["new_numbers"] for row in cases),
        "with_new": len({(row["arm"], row["case"]) for row in cases if row["new_numbers"]}),
        "ungraded": facts["n_texts"] and not _is_graded(report),
        "gains": _gains(report, everything),
        "relative": _relative(report, everything),
        "by_axis": _by_slice(report, AXIS, _("By axis")),
        "by_tag": _by_slice(report, "tag:", _("By tag")),
        "length": _length(report),
        "findings": _findings(report),
        "harms": _harms(report),
        "refused": _refused(report),
        "effective": facts.get("effective"),
    }


def arm_label(name: str, facts: Any) -> str:
    """An arm in words."""
    kind = next((arm["kind"] for arm in facts["arms"] if arm["name"] == name), "set")
    bound = next((arm["upper_bound"] for arm in facts["arms"] if arm["name"] == name), False)
    if kind == "self":
        return _("Self-critique")
    if kind == "gold":
        return _("Gold criteria (upper bound)")
    if kind == "half":
        return _("Half of the gold criteria")
    return _("%(name)s (upper bound)") % {"name": name} if bound else name


def _everything(report: Report) -> list[Row]:
    return [row for row in table_of(report, "refinement").dicts() if row["slice"] == ALL]


def _is_graded(report: Report) -> bool:
    """Whether some case has a score before and after: else a list that is empty says nothing of the texts."""
    return any(row["n"] for row in _everything(report))


def _plain(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _figure(row: Row, name: str) -> str:
    """A figure without an interval, or the reason why there is none."""
    return number(row, name).cell if row[name] is None else _plain(row[name])


def _points(row: Row, name: str) -> str:
    """A figure in points of 100 with its interval, and how that was made where it was made otherwise than most."""
    return number({**row, "n_cases": row["n"]}, name, digits=1, signed=True).cell


def _gains(report: Report, rows: list[Row]) -> PageTable:
    facts = report.result["facts"]
    return PageTable(
        "refinement",
        _("Scores before and after"),
        [
            (pgettext("of a refinement", "Arm"), False),
            (_("Cases"), True),
            (_("Before"), True),
            (_("After"), True),
            (_("Gain in points"), True),
            (_("Better, same, worse"), True),
            (_("p (sign-flip test)"), True),
            (_("Length ratio"), True),
            (_("New numbers"), True),
        ],
        {
            "": [
                [
                    arm_label(row["arm"], facts),
                    f"{row['n']:,}",
                    _plain(row["base"], 1),
                    _plain(row["refined"], 1),
                    _points(row, "gain"),
                    f"{row['improved']:,} / {row['same']:,} / {row['worse']:,}",
                    PValue.of(row, "p_sign_flip").cell,
                    _plain(row["length_ratio"], 2),
                    "–" if row["new_numbers"] is None else f"{row['new_numbers']:,}",
                ]
                for row in rows
            ]
        },
        remark=_(
            "The sign-flip test compares the mean gain with all patterns of signs of the cases’ gains. "
            "New numbers have a unit and occur neither in the base, nor in an edit that was carried out, "
            "nor in the conversation."
        ),
    )


def _relative(report: Report, rows: list[Row]) -> PageTable:
    facts = report.result["facts"]
    return PageTable(
        "refinement",
        _("Four figures, each called relative improvement"),
        [
            (pgettext("of a refinement", "Arm"), False),
            (_("Gain / base"), True),
            (_("Gain / room left"), True),
            (_("Mean of the cases’ own gains"), True),
            (_("Cases with a base above 0"), True),
            (_("Gain / gain of the upper bound"), True),
        ],
        {
            "": [
                [
                    arm_label(row["arm"], facts),
                    *(_figure(row, name) for name in ("relative", "headroom", "relative_of_cases")),
                    f"{row['n_relative']:,}",
                    _plain(row["of_upper_bound"]),
                ]
                for row in rows
            ]
        },
        remark="; ".join(dict.fromkeys(translate(from_english(row["note"])) for row in rows if row["note"])),
    )


def _by_slice(report: Report, prefix: str, title: str) -> PageTable:
    facts = report.result["facts"]
    groups: dict[str, list[list[str]]] = {}
    for row in table_of(report, "refinement").dicts():
        if row["slice"].startswith(prefix):
            cells = [f"{row['n']:,}", _plain(row["base"], 1), _plain(row["refined"], 1), _points(row, "gain")]
            own = groups.setdefault(value_words(*row["slice"].split(":", 1)), [])
            own.append([arm_label(row["arm"], facts), *cells])
    columns = [
        (pgettext("of a refinement", "Arm"), False),
        (_("Cases"), True),
        (_("Before"), True),
        (_("After"), True),
        (_("Gain in points"), True),
    ]
    return PageTable("refinement", title, columns, groups or {"": []}, empty=_("There are no slices."))


def _length(report: Report) -> PageTable:
    facts = report.result["facts"]
    rows = table_of(report, "refinement_length").dicts()
    return PageTable(
        "refinement_length",
        _("Is the gain due to length only?"),
        [
            (pgettext("of a refinement", "Arm"), False),
            (_("Cases"), True),
            (_("Gain in points"), True),
            (_("Length ratio"), True),
            (_("Gain at equal length"), True),
            (_("Correlation with length"), True),
            (_("Within cases"), True),
        ],
        {
            "": [
                [
                    arm_label(row["arm"], facts),
                    f"{row['n']:,}",
                    _points(row, "gain"),
                    _plain(row["length_ratio"], 2),
                    _points(row, "gain_at_equal_length"),
                    _plain(row["spearman"], 2),
                    _plain(row["residual_pearson"], 2),
                ]
                for row in rows
            ]
        },
        remark=_(
            "The gain at equal length is the gain that remains after adjusting for the change in length; "
            "it has no interval."
        ),
    )


def _listed(report: Report, name: str) -> tuple[list[Row], str]:
    rows = table_of(report, name).dicts()
    more = len(rows) - SHOWN_ROWS
    return rows[:SHOWN_ROWS], _("%(n)s more are in the file.") % {"n": f"{more:,}"} if more > 0 else ""


def _findings(report: Report) -> PageTable:
    facts = report.result["facts"]
    groups: dict[str, list[list[str]]] = {}
    more = 0
    for row in table_of(report, "refinement_findings").dicts():
        own = groups.setdefault(str(KINDS[row["kind"]]), [])
        if len(own) < SHOWN_OF_KIND:
            own.append([row["text"], str(ACTIONS[row["action"]]), arm_label(row["arm"], facts), row["case"]])
        else:
            more += 1
    remark = _("%(n)s more are in the file.") % {"n": f"{more:,}"} if more else ""
    return PageTable(
        "refinement_findings",
        _("Content of unknown origin"),
        [
            (_("Text"), False),
            (pgettext("of a sentence", "Change"), False),
            (pgettext("of a refinement", "Arm"), False),
            (_("Case"), False),
        ],
        groups or {"": []},
        remark=remark,
        empty=_("Every change was requested by the plan and introduces no new number or drug name.")
        if facts["n_texts"]
        else _("No response was refined."),
    )


def _harms(report: Report) -> PageTable:
    facts = report.result["facts"]
    rows, remark = _listed(report, "refinement_harms")
    return PageTable(
        "refinement_harms",
        _("Harms: met before but not after"),
        [
            (_("Criterion"), False),
            (pgettext("of a criterion", "Points"), True),
            (pgettext("of a refinement", "Arm"), False),
            (_("Case"), False),
        ],
        {"": [[row["text"], f"{row['points']:+d}", arm_label(row["arm"], facts), row["case"]] for row in rows]},
        remark=remark or _("For criteria with negative points: not met before, but met after."),
        empty=_("No refined text is worse on any criterion.")
        if _is_graded(report)
        else _("No text has been graded yet."),
    )


def _refused(report: Report) -> PageTable:
    facts = report.result["facts"]
    rows, remark = _listed(report, "refinement_refused")
    return PageTable(
        "refinement_refused",
        _("Edits rejected by the editor"),
        [
            (_("Edit"), False),
            (_("Why"), False),
            (pgettext("of a refinement", "Arm"), False),
            (_("Case"), False),
        ],
        {"": [[row["instruction"], row["why"], arm_label(row["arm"], facts), row["case"]] for row in rows]},
        remark=remark,
        empty=_("No edits were rejected."),
    )


# Figures -----------------------------------------------------------------------------------------------------------


def figures(report: Report) -> Iterator[Figure]:
    facts = report.result["facts"]
    names = [arm["name"] for arm in facts["arms"]][:MAX_ARMS]
    slopes = [
        ScoreSlope(
            arm_label(row["arm"], facts), row["case"], row["base"], row["refined"], case_url(report, row["case"])
        )
        for row in table_of(report, "refinement_cases").dicts()
        if row["base"] is not None and row["refined"] is not None and row["arm"] in names
    ]
    if not slopes:
        return
    yield Figure(
        "cases",
        _("Each case before and after refinement"),
        _("Falling lines have a different colour. Select a dot to see both texts side by side."),
        "refinement_cases",
        _slopes(slopes, _("Score")),
    )
    rows = [row for row in table_of(report, "refinement").dicts() if row["slice"].startswith(AXIS)]
    points = [
        Point(
            value_words("axis", row["slice"].removeprefix(AXIS)),
            row["gain"],
            row["gain_low"],
            row["gain_high"],
            arm_label(row["arm"], facts) if len(names) > 1 else "",
        )
        for row in sorted(rows, key=lambda row: row["slice"])
        if row["gain"] is not None and row["arm"] in names
    ]
    if points:
        yield Figure(
            "axes",
            _("Gain by axis"),
            _("On a scale of 100 points. Lines are 95% intervals over cases."),
            "refinement",
            _whiskers(points, _("Gain in points")),
        )


def case_url(report: Report, case: str) -> str:
    """The page on which the texts of a case stand side by side; empty where the report knows no such case."""
    facts = report.result["facts"]
    public_id = facts["case_ids"].get(case)
    if public_id is None:
        return ""
    return reverse("validation:refinement-case", args=[report.benchmark.slug, facts["run"], public_id])


def _slopes(slopes: list[ScoreSlope], y_title: str) -> Any:
    def drawing(palette: Palette) -> object:
        return score_slopes(
            slopes,
            palette,
            left=_("Before"),
            right=_("After"),
            y_title=y_title,
            description=_("The score of each case before and after refinement, by arm."),
        )

    return drawing


def _whiskers(points: list[Point], x_title: str) -> Any:
    ends = [end for point in points for end in (point.value, point.low, point.high) if end is not None]
    room = 0.05 * max(1.0, max(ends) - min(ends))
    domain = (min([0.0, *ends]) - room, max([0.0, *ends]) + room)

    def drawing(palette: Palette) -> object:
        description = _("The gain of each arm by axis, with 95% intervals.")
        return points_and_whiskers(points, palette, x_title=x_title, description=description, domain=domain)

    return drawing
