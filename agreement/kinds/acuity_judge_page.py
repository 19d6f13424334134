"""The page of a report about a judge that reads levels: its tables, and what is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from django.utils.html import format_html
from django.utils.text import capfirst
from django.utils.translation import get_language, gettext_lazy, pgettext, pgettext_lazy
from django.utils.translation import gettext as _

from agreement.acuity.judge_instruments import ASPECTS, Aspect
from agreement.acuity.judge_tables import ENOUGH_READ
from agreement.acuity.parameters import level_label
from agreement.kinds.kind import Context
from agreement.kinds.page_table import PageTable
from agreement.models import Report
from agreement.reports.numbers import number
from agreement.reports.stored import table_names, table_of
from agreement.reports.tables import Row
from agreement.selectors.rater_choices import display_name, run_names
from consilium.core.labels import OUTCOME_LABELS
from rubrics.bank.consensus import consensus
from rubrics.parsing.bank import in_language
from rubrics.selectors.case_links import case_urls

# The page shows at most so many contradictions; the file has all.
SHOWN_CONTRADICTIONS = 50
MEASURE_LABELS = {
    "exact": gettext_lazy("Same level"),
    "within_one": gettext_lazy("Within one level"),
    "qwk": gettext_lazy("Weighted kappa"),
    "alpha": gettext_lazy("Krippendorff’s α, ordinal"),
    "bias": gettext_lazy("Bias, in levels"),
    "emergency_recall": gettext_lazy("Emergency advice recognised"),
    "quote_overlap": gettext_lazy("Overlap of quotations"),
    "accuracy": gettext_lazy("Right level"),
    "over": gettext_lazy("Too high"),
    "under": gettext_lazy("Too low"),
    "severe_under": gettext_lazy("Too low by two or more levels"),
    "cost": pgettext_lazy("of readings", "Cost"),
}
FINDING_LABELS = {
    "superior": gettext_lazy("better"),
    "non-inferior": gettext_lazy("no worse"),
    "inferior": gettext_lazy("worse"),
    "open": gettext_lazy("inconclusive"),
}
ASPECT_LABELS = {
    Aspect.EMERGENCY: gettext_lazy("the highest level is advised"),
    Aspect.ESCALATION: gettext_lazy("the highest level is advised under a condition"),
    Aspect.RESTRAINT: gettext_lazy("a lower level is advised"),
}


def body(report: Report, sort: str) -> Context:
    """The tables for the page. Reports from before the two instruments were compared are without them."""
    facts = report.result["facts"]
    has_instruments = "instruments" in table_names(report)
    instruments = table_of(report, "instruments").dicts() if has_instruments else []
    return {
        "facts": facts,
        "needed": ENOUGH_READ,
        "against": _against(report),
        "ceiling": _ceiling(report),
        "confusion": _confusion(report),
        "powered": _powered(report),
        "has_instruments": has_instruments,
        "instruments": _instruments(instruments) if instruments else None,
        "contradictions": _contradictions(report) if instruments else None,
    }


def _against(report: Report) -> PageTable:
    rows = [row for row in table_of(report, "judge").dicts() if row["candidate"] == "all"]
    return PageTable(
        "judge",
        _("Judge compared with physicians"),
        [(_("Measure"), False), (_("Responses"), True), (_("Judge"), True)],
        {"": [[_measure(row), _count(row["n_responses"]), number(row, "value").cell] for row in rows]},
    )


def _ceiling(report: Report) -> PageTable:
    return PageTable(
        "judge_ceiling",
        _("Judge and physicians on the same responses"),
        [
            (_("Measure"), False),
            (_("Judge"), True),
            (_("Agreement among physicians"), True),
            (_("Gap"), True),
            (_("Conclusion"), False),
        ],
        {
            "": [
                [
                    _measure(row),
                    *_cells(row, "judge", "physicians", "gap"),
                    str(FINDING_LABELS.get(row["finding"], "–")),
                ]
                for row in table_of(report, "judge_ceiling").dicts()
            ]
        },
    )


def _confusion(report: Report) -> PageTable:
    rows = [row for row in table_of(report, "judge_confusion").dicts() if row["candidate"] == "all"]
    label = reading_labels(report)
    return PageTable(
        "judge_confusion",
        _("Levels marked by physicians and read by the judge"),
        [(_("Physicians"), False), (_("Judge"), False), (pgettext("of a candidate", "Readings"), True)],
        {"": [[label(row["physicians"]), label(row["judge"]), _count(row["n"])] for row in rows]},
    )


def _powered(report: Report) -> PageTable:
    return PageTable(
        "powered",
        _("Rates of candidates, corrected with physicians’ readings"),
        [
            (_("Candidate"), False),
            (_("Measure"), False),
            (_("Judge"), True),
            (_("Physicians"), True),
            (_("Prediction-powered"), True),
        ],
        {
            "": [
                [_candidate(row["candidate"]), _measure(row), *_cells(row, "judge", "physicians", "powered")]
                for row in table_of(report, "powered").dicts()
            ]
        },
        _(
            "A rate is undefined if, for some level read by the judge and the candidate, physicians read "
            "no response, or only responses drawn for another run of a judge."
        )
        + " "
        + _(
            "Each rate is estimated separately, so “right level”, “too high” and “too low” need not total 100%, and "
            "the cost need not follow from them."
        ),
    )


def _instruments(rows: Sequence[Row]) -> PageTable:
    names, headings = _rater_names(rows), _cluster_headings()
    groups: dict[str, list[list[str]]] = {}
    for row in rows:
        cells = ("met_read", "met_not_read", "not_met_read", "not_met_not_read")
        groups.setdefault(headings[row["cluster"]], []).append(
            [
                names[row["rater"]],
                _reader(row["read_by"]),
                *(_count(row[cell]) for cell in cells),
                number(row, "kappa").cell,
                *(_count(row[cell]) for cell in ("n_contradictions", "n_left_out")),
            ]
        )
    return PageTable(
        "instruments",
        _("Criteria on emergency care compared with the levels read"),
        [
            (_("Decided by"), False),
            (_("Read by"), False),
            (_("Met and read"), True),
            (_("Met, not read"), True),
            (_("Read, not met"), True),
            (_("Neither"), True),
            (_("Cohen’s κ"), True),
            (_("Contradictions"), True),
            (_("Not included"), True),
        ],
        groups,
        _(
            "A pair is excluded if its decision is neither met nor not met, or if no level was read for "
            "a criterion on restraint."
        ),
    )


def _contradictions(report: Report) -> PageTable:
    table = table_of(report, "contradictions")
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows[:SHOWN_CONTRADICTIONS]]
    urls = case_urls(report.benchmark, {row["case"] for row in rows})
    names = _rater_names(rows)
    label = reading_labels(report)

    def levels(value: str, without: str) -> str:
        return ", ".join(without if part == "none" else label(part) for part in value.split(" | "))

    remark = ""
    if len(table.rows) > len(rows):
        remark = _("The first %(n)s of %(all)s; all are in the CSV.") % {"n": len(rows), "all": _count(len(table.rows))}
    return PageTable(
        "contradictions",
        _("Decisions and readings that contradict each other"),
        [
            (_("Response"), False),
            (_("Criterion"), False),
            (_("Decided by"), False),
            (_("Decision"), False),
            (_("Read by"), False),
            (_("Level read"), False),
            (_("Conditional level"), False),
        ],
        {
            "": [
                [
                    _response(row, urls.get(row["case"], "")),
                    row["criterion"],
                    names[row["rater"]],
                    str(OUTCOME_LABELS[row["outcome"]]),
                    _reader(row["read_by"]),
                    levels(row["levels"], _("no level")),
                    levels(row["escalations"], _("none")),
                ]
                for row in rows
            ]
        },
        remark,
        _("No decision and no reading contradict each other."),
    )


def _response(row: Row, case_url: str) -> str:
    name = f"{row['case']} · {row['candidate']}"
    if row["sample"]:
        name += " · " + _("sample %(n)s") % {"n": row["sample"]}
    if not case_url:
        return name
    return format_html('<a href="{0}?response={1}#response-{1}">{2}</a>', case_url, row["response"], name)


def reading_labels(report: Report) -> Callable[[str], str]:
    """How the page calls a level by its value, or the word for a reading without one; an older report has no labels."""
    levels = {level["value"]: level_label(level) for level in report.result["facts"].get("levels", [])}
    words = {
        "no-level": _("no level"),
        "refused": _("refused"),
        "invalid": _("invalid"),
    }
    return lambda value: levels.get(value) or words.get(value, value)


def _cluster_headings() -> dict[str, str]:
    """By the key of the cluster what it asks for, and which reading agrees with it."""
    language = get_language() or "en"
    names = {entry.key: in_language(entry.dimension, language) for entry in consensus() if entry.key in ASPECTS}
    words = _("%(criterion)s; agrees if %(reading)s")
    return {
        key: capfirst(words % {"criterion": name, "reading": ASPECT_LABELS[ASPECTS[key]]})
        for key, name in names.items()
    }


def _rater_names(rows: Sequence[Row]) -> dict[str, str]:
    raters = {row["rater"] for row in rows}
    runs = run_names(raters)
    return {rater: display_name(rater, runs) for rater in raters}


def _reader(name: str) -> str:
    return {"judge": _("Judge"), "physicians": _("Physicians")}[name]


def _measure(row: Row) -> str:
    return str(MEASURE_LABELS[row["measure"]])


def _candidate(name: str) -> str:
    return _("All candidates") if name == "all" else name


def _count(n: int) -> str:
    return f"{n:,}"


def _cells(row: Row, *names: str) -> Iterator[Any]:
    return (number(row, name).cell for name in names)
