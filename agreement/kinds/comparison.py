"""Two judges, or any two raters, against one reference on the same pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from agreement.forms import ReportForm, choose, grouped
from agreement.judged import two_judges
from agreement.judged.coverage import coverage_remarks, remark_on_coverage
from agreement.judged.training_overlap import learned_candidates
from agreement.judged.two_judges import Contest, read_contest
from agreement.kinds.kind import Context, Figure, Invitation, Kind, Parameters, Read
from agreement.kinds.shared import headline, judged_by, raters_table, row_label, with_n
from agreement.models import Report
from agreement.reports import sentences
from agreement.reports.interval_facts import interval_facts
from agreement.reports.links import pairs_url
from agreement.reports.numbers import PValue, Tile, number
from agreement.reports.parameters import named_raters
from agreement.reports.sentences import counted, rater_in_words
from agreement.reports.stored import table_of
from agreement.reports.tables import Result, Row, Table
from agreement.selectors.rater_choices import display_name, rater_choices, shown_name
from consilium.core import phrases
from consilium.core.i18n import translate_remark
from consilium.core.jobs import Progress, no_progress
from consilium.core.labels import OUTCOME_LABELS
from consilium.core.reasons import Reason
from consilium.figures import charts
from consilium.figures.style import Palette
from consilium.statistics.intervals import DEFAULT_RULE, IntervalRule
from rubrics.models import Benchmark
from scoring.selectors.raters import require_verdicts

NAMES = ("reference", "judge_a", "judge_b")
SIDES = {
    "judges": gettext_lazy("Judge A and judge B"),
    "judge_a": gettext_lazy("Reference and A"),
    "judge_b": gettext_lazy("Reference and B"),
}
CELLS = ("both_right", "only_a_right", "only_b_right", "both_wrong")


class ComparisonForm(ReportForm):
    """A reference, and the two raters that are compared with it."""

    reference = forms.ChoiceField(label=pgettext_lazy("rater", "Reference"))
    judge_a = forms.ChoiceField(label=gettext_lazy("Judge A"))
    judge_b = forms.ChoiceField(label=gettext_lazy("Judge B"))
    field_order = [*NAMES, "seed"]

    def offer(self, benchmark: Benchmark) -> None:
        rater_offers = rater_choices(benchmark)
        self.ready = len(rater_offers) > 2
        choices = grouped(rater_offers)
        judges = [offer for offer in rater_offers if offer.kind in ("judge", "jury")]
        others = [offer for offer in rater_offers if offer not in judges]
        for name, offer in zip(NAMES, [*others[:1], *judges, *others[1:]], strict=False):
            self.fields[name].initial = offer.rater
        for name in NAMES:
            choose(self, name, choices)


def complete(benchmark: Benchmark, parameters: Mapping[str, Any]) -> dict[str, Any]:
    return named_raters(benchmark, parameters, *NAMES)


def compute(
    benchmark: Benchmark,
    *,
    reference: str,
    judge_a: str,
    judge_b: str,
    rule: IntervalRule = DEFAULT_RULE,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Result:
    """Both judges, their difference and McNemar's test, on every slice."""
    joined = read_contest(benchmark, reference=reference, judge_a=judge_a, judge_b=judge_b)
    raters = (joined.reference, *joined.judges)
    require_verdicts(*raters)
    progress(0.4)
    rows, disagreement = two_judges.contest(joined, rule=rule, progress=lambda share: progress(0.4 + 0.5 * share))
    learned = {
        rater.label: names
        for rater in joined.judges
        if (names := learned_candidates(benchmark, [run.public_id for run in rater.runs]))
    }
    _remark(rows, learned)
    remark_on_coverage(rows, *raters)
    whole = [row for row in rows if row["slice"] == "all" or row["slice"].startswith("candidate:")]
    slices = rows[len(whole) :]
    behind = raters_table(*raters)
    columns, text = two_judges.COLUMNS, two_judges.TEXT_COLUMNS
    return Result(
        tables={
            "comparison": Table.of(columns, whole, text),
            "slices": Table.of(columns, slices, text),
            "disagreement": Table.of(two_judges.DISAGREEMENT_COLUMNS, disagreement, text),
            "raters": behind,
        },
        facts={
            "reference": joined.reference.label,
            "judge_a": joined.judges[0].label,
            "judge_b": joined.judges[1].label,
            "judged_by": judged_by(*raters),
            "raters": behind.dicts(),
            "runs": [run.public_id for rater in raters for run in rater.runs],
            "learned_of": learned,
            "n_one_only": joined.n_one_only,
            "n_left_out": joined.n_left_out,
            **interval_facts(rule, whole[0]["difference_effective"]),
            "headline": headline(whole[0], "difference"),
        },
        notes=[*_left_out(joined), *coverage_remarks(*raters)],
        digest=joined.digest,
    )


def _left_out(joined: Contest) -> list[str]:
    notes = Reason.PAIRS_NOT_DECIDED.counted(joined.n_left_out), Reason.PAIRS_NOT_DUE.counted(joined.n_one_only)
    return [note for note in notes if note]


def _remark(rows: list[Row], learned: Mapping[str, list[str]]) -> None:
    """Remark in the rows whose figures are flattered: those of the judge that learned from decisions."""
    for label, names in learned.items():
        own = {f"candidate:{name}" for name in names}
        for row in rows:
            if row["slice"] == "all":
                text = Reason.NAMED_JUDGE_LEARNED_CANDIDATES(judge=label, names=", ".join(names))
            elif row["slice"] in own:
                text = Reason.NAMED_JUDGE_LEARNED_CANDIDATE(judge=label)
            else:
                continue
            row["note"] = phrases.joined(row["note"], text)


def title(given: Parameters, runs: Mapping[str, str] | None = None) -> str:
    """What a report of this kind is called."""
    return _("%(a)s and %(b)s against %(reference)s") % {
        "a": display_name(given["judge_a"], runs),
        "b": display_name(given["judge_b"], runs),
        "reference": display_name(given["reference"], runs),
    }


def _names(report: Report) -> dict[str, str]:
    facts = report.result["facts"]
    return {
        "a": shown_name(report.benchmark, facts["judge_a"]),
        "b": shown_name(report.benchmark, facts["judge_b"]),
        "reference": shown_name(report.benchmark, facts["reference"]),
    }


def body(report: Report, sort: str) -> Context:
    rows = table_of(report, "comparison").dicts()
    overall, names = rows[0], _names(report)
    facts = report.result["facts"]
    return {
        "names": names,
        "overall": overall,
        "finding": finding(overall, names),
        "trained_on": [
            (shown_name(report.benchmark, label), candidates) for label, candidates in facts["learned_of"].items()
        ],
        "tiles": [
            Tile(_("Macro-F1 of A"), number(overall, "mf1_a"), detail=names["a"]),
            Tile(_("Macro-F1 of B"), number(overall, "mf1_b"), detail=names["b"]),
            Tile(_("A minus B"), number(overall, "difference")),
            Tile(_("McNemar, over cases"), PValue.of(overall, "p_clustered")),
            Tile(
                _("Pairs"),
                text=f"{overall['n_pairs']:,}",
                detail=_("responses: %(responses)s, cases: %(cases)s")
                % {"responses": f"{overall['n_responses']:,}", "cases": f"{overall['n_cases']:,}"},
            ),
        ],
        "disagreement": _disagreement(table_of(report, "disagreement").dicts()),
        "candidates": [_row(report, row) for row in rows],
        "slices": [_row(report, row) for row in table_of(report, "slices").dicts()],
    }


def finding(row: Row, names: Mapping[str, str]) -> str:
    """The conclusion from the difference over all pairs, in a sentence."""
    difference = number(row, "difference")
    if row["difference"] is None:
        return _("No difference can be reported: %(why)s.") % {"why": difference.reason}
    if row["difference_low"] is None:
        given = {**names, "why": difference.reason}
        return _("It cannot be determined which of the two is closer to %(reference)s: %(why)s.") % given
    shown = {**names, "by": difference.shown.lstrip("\N{MINUS SIGN}"), "interval": difference.interval}
    if row["difference_low"] > 0:
        return _("%(a)s is closer to %(reference)s than %(b)s is: its Macro-F1 is higher by %(by)s.") % shown
    if row["difference_high"] < 0:
        return _("%(b)s is closer to %(reference)s than %(a)s is: its Macro-F1 is higher by %(by)s.") % shown
    return _("The data do not distinguish the two: the interval of their difference, %(interval)s, includes 0.") % shown


def _disagreement(rows: list[Row]) -> list[Context]:
    """By outcome of the reference: on how many pairs both judges, one alone, or none was right."""
    cells_by_reference = {reference: dict.fromkeys(CELLS, 0) for reference in ("met", "not_met", "")}
    for row in rows:
        right_a, right_b = row["judge_a"] == row["reference"], row["judge_b"] == row["reference"]
        cell = CELLS[(0 if right_b else 1) if right_a else (2 if right_b else 3)]
        for reference in (row["reference"], ""):
            cells_by_reference[reference][cell] += row["n"]
    labels = {"met": OUTCOME_LABELS["met"], "not_met": OUTCOME_LABELS["not_met"], "": _("All")}
    return [
        {"label": labels[reference], "is_all": not reference, "cells": list(cells.values()), "n": sum(cells.values())}
        for reference, cells in cells_by_reference.items()
    ]


def _row(report: Report, row: Row) -> Context:
    name = row["slice"]
    return {
        **row,
        "label": row_label(name),
        "is_all": name == "all",
        "url": pairs_url(report, name),
        "figures": {key: number(row, key) for key in ("mf1_a", "mf1_b", "difference")},
        "p_exact": PValue.of(row, "p_exact"),
        "p_clustered": PValue.of(row, "p_clustered"),
        "remark": translate_remark(row["note"]),
    }


def figures(report: Report) -> Iterator[Figure]:
    rows, names = table_of(report, "comparison").dicts(), _names(report)
    with_interval = any(row[f"mf1_{key}_low"] is not None for row in rows for key in ("a", "b"))

    def label(row: Row) -> str:
        return with_n(row_label(row["slice"]), row["n_pairs"])

    both = [
        charts.Point(
            label(row),
            row[f"mf1_{key}"],
            row[f"mf1_{key}_low"],
            row[f"mf1_{key}_high"],
            series=names[key],
            href=pairs_url(report, row["slice"]) + f"&side=judge_{key}",
        )
        for row in rows
        for key in ("a", "b")
    ]
    apart = [
        charts.Point(
            label(row),
            row["difference"],
            row["difference_low"],
            row["difference_high"],
            href=pairs_url(report, row["slice"]),
        )
        for row in rows
    ]

    def side_by_side(palette: Palette) -> object:
        return charts.points_and_whiskers(
            both,
            palette,
            x_title=_("Macro-F1"),
            description=_("Macro-F1 of %(a)s and of %(b)s against %(reference)s, for each candidate.") % names,
        )

    def difference(palette: Palette) -> object:
        ends = [number for point in apart for number in (point.value, point.low, point.high) if number is not None]
        reach = max(0.02, *(abs(number) for number in ends)) * 1.08 if ends else 1.0
        return charts.points_and_whiskers(
            apart,
            palette,
            x_title=_("Macro-F1 of A minus Macro-F1 of B"),
            description=_("Macro-F1 of %(a)s minus that of %(b)s, for each candidate.") % names,
            line=charts.Line(0.0, _("no difference")),
            domain=(-reach, reach),
        )

    yield Figure(
        "judges",
        _("Both judges on each candidate"),
        _("Macro-F1 on the same n pairs, with 95% intervals over cases.")
        if with_interval
        else _("Macro-F1 on the same n pairs. There are no intervals; the table notes explain why."),
        "comparison",
        side_by_side,
    )
    if any(point.value is not None for point in apart):
        yield Figure(
            "difference",
            _("Size of the difference"),
            _("A: %(a)s. B: %(b)s. To the right of the dashed line, A is closer to the reference; to the left, B is.")
            % names,
            "comparison",
            difference,
        )


def pairs(report: Report, side: str) -> Read:
    joined = read_contest(report.benchmark, **{name: report.parameters[name] for name in NAMES})
    reference, a, b = joined.reference.label, joined.judges[0].label, joined.judges[1].label
    labels, joined_pairs = {
        "judge_a": ((reference, a), joined.first),
        "judge_b": ((reference, b), joined.second),
    }.get(side, ((a, b), joined.between))
    return labels, joined_pairs, joined.frame, joined.digest


def methods(report: Report) -> list[str]:
    facts = report.result["facts"]
    overall = table_of(report, "comparison").dicts()[0]
    a, b, reference = (rater_in_words(facts[name]) for name in ("judge_a", "judge_b", "reference"))
    broken = sum(overall[name] for name in ("n_invalid_a", "n_missing_a", "n_invalid_b", "n_missing_b"))
    return [
        f"Two raters, {a} (A) and {b} (B), were held against {reference} on the same "
        f"{counted(overall['n_pairs'], 'pair')} of a response and a criterion, from "
        f"{counted(overall['n_responses'], 'response')} to {counted(overall['n_cases'], 'case')} of the benchmark "
        f"{report.benchmark.title}: those that the reference answered and that both were to decide.",
        sentences.MF1,
        f"An invalid or missing verdict counts as the opposite of the reference ({broken:,} of both raters).",
        sentences.difference(report, "the difference of the two MF1"),
        "McNemar’s test (McNemar 1947) compares the pairs on which one rater alone was right: exact binomial and mid-p "
        "(Fagerland et al. 2013) for independent pairs, and a chi-square with cases as clusters (Obuchowski 1998; Yang "
        "et al. 2010), which is the one to go by, as pairs of a case are not independent.",
        "Tests on candidates and slices are not corrected for their number.",
        *(
            f"{label} learned from decisions on {', '.join(names)}, which flatters it there."
            for label, names in facts["learned_of"].items()
        ),
    ]


def digest(benchmark: Benchmark, given: Parameters) -> str:
    """The digest of the inputs as they are now."""
    return read_contest(benchmark, **{name: given[name] for name in NAMES}).digest


KIND = Kind(
    value=Report.Kind.COMPARISON,
    parameters=frozenset(NAMES),
    complete=complete,
    compute=compute,
    title=title,
    form=ComparisonForm,
    invitation=Invitation(
        gettext_lazy("Compare two judges"),
        gettext_lazy("Which of two judges, or of any two raters, is closer to a reference on the same decisions."),
        gettext_lazy("This report requires three raters: a reference, and two that are compared with it."),
    ),
    template="agreement/kinds/comparison.html",
    body=body,
    figures=figures,
    headline=(gettext_lazy("A minus B, MF1"), 3),
    pairs=pairs,
    sides=SIDES,
    methods=methods,
    digest=digest,
)
