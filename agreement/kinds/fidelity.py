"""A judge against two groups, and the groups against each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agreement.forms import ReportForm, choose, grouped
from agreement.judged import fidelity
from agreement.judged.coverage import coverage_remarks, remark_on_coverage
from agreement.judged.fidelity import read_triad
from agreement.judged.training_overlap import learned_candidates, learners, remark
from agreement.kinds.kind import Context, Figure, Invitation, Kind, Parameters, Read
from agreement.kinds.shared import headline, raters_table, row_label, split_broken, with_n
from agreement.models import Report
from agreement.reports import sentences
from agreement.reports.interval_facts import interval_facts
from agreement.reports.links import pairs_url
from agreement.reports.numbers import Number, Tile, number
from agreement.reports.parameters import WrongParameters, named_raters
from agreement.reports.sentences import capital, counted, rater_in_words
from agreement.reports.stored import table_names, table_of
from agreement.reports.tables import Result, Row, Table
from agreement.selectors.rater_choices import display_name, group_choices, judge_choices, shown_name
from consilium.core.i18n import translate_remark
from consilium.core.jobs import Progress, no_progress
from consilium.core.phrases import parts_of
from consilium.core.reasons import Reason
from consilium.figures import charts
from consilium.figures.style import Palette
from consilium.statistics.intervals import DEFAULT_RULE, IntervalRule
from consilium.statistics.noninferiority import DEFAULT_MARGIN
from rubrics.models import Benchmark
from scoring.selectors.raters import require_verdicts, resolve_rater

NAMES = ("judge", "group_a", "group_b")
# The three comparisons, by the two raters that each compares.
SIDES = {
    "judge_a": gettext_lazy("Judge and A"),
    "judge_b": gettext_lazy("Judge and B"),
    "ceiling": gettext_lazy("A and B"),
}


class FidelityForm(ReportForm):
    """A judge and two groups."""

    judge = forms.ChoiceField(label=gettext_lazy("Judge"))
    group_a = forms.ChoiceField(label=gettext_lazy("First group"))
    group_b = forms.ChoiceField(label=gettext_lazy("Second group"))
    margin = forms.FloatField(
        label=gettext_lazy("Margin"),
        min_value=0.001,
        max_value=0.999,
        initial=DEFAULT_MARGIN,
        required=False,
        help_text=gettext_lazy(
            "How far the Macro-F1 of a judge may be below that of the groups and still be acceptable. "
            "Decide this before you see the results."
        ),
    )
    field_order = ["judge", "group_a", "group_b", "margin", "seed"]

    def offer(self, benchmark: Benchmark) -> None:
        groups, judges = group_choices(benchmark), judge_choices(benchmark)
        checked = [offer for offer in groups if offer.rater.endswith("@checked")]
        self.ready = len(checked) > 1 and bool(judges)
        choose(self, "judge", grouped(judges))
        for name, offer in zip(("group_a", "group_b"), checked, strict=False):
            self.fields[name].initial = offer.rater
        for name in ("group_a", "group_b"):
            choose(self, name, [(offer.rater, offer.label) for offer in groups])


def complete(benchmark: Benchmark, parameters: Mapping[str, Any]) -> dict[str, Any]:
    margin = parameters.get("margin")
    margin = DEFAULT_MARGIN if margin is None else margin
    if not isinstance(margin, int | float) or isinstance(margin, bool) or not 0 < margin < 1:
        raise WrongParameters(_("The margin must be a number between 0 and 1."), field="parameters.margin")
    named = named_raters(benchmark, parameters, *NAMES)
    _two_of_physicians(benchmark, {name: named[name] for name in ("group_a", "group_b")})
    return {**named, "margin": float(margin)}


def _two_of_physicians(benchmark: Benchmark, groups: Mapping[str, str]) -> None:
    """Refuse an unsuitable ceiling: one of judges, or of one group with itself at another stage.

    ``groups`` are labels of raters by the names of their parameters.
    """
    for name, label in groups.items():
        if resolve_rater(benchmark, label).is_judge:
            words = {"rater": label}
            raise WrongParameters(
                _("The human ceiling must come from physicians, and %(rater)s is not a physician rater.") % words,
                field=f"parameters.{name}",
            )
    if len({label.rpartition("@")[0] or label for label in groups.values()}) < len(groups):
        raise WrongParameters(
            _("The human ceiling requires two groups; these are two stages of the same group."),
            field="parameters.group_b",
        )


def compute(
    benchmark: Benchmark,
    *,
    judge: str,
    group_a: str,
    group_b: str,
    margin: float = DEFAULT_MARGIN,
    rule: IntervalRule = DEFAULT_RULE,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Result:
    """A judge against two groups, and the groups against each other."""
    triad = fidelity.read_triad(benchmark, judge=judge, group_a=group_a, group_b=group_b)
    require_verdicts(*triad.raters)
    progress(0.5)
    comparison = fidelity.fidelity(triad, margin=margin, rule=rule)
    learned = learned_candidates(benchmark, triad.runs)
    learned_by = learners(benchmark, *triad.raters)
    remark(comparison.rows, learned, learned_by)
    remark_on_coverage(comparison.rows, *triad.raters)
    raters = raters_table(*triad.raters)
    progress(0.9)
    return Result(
        tables={
            "fidelity": Table.of(fidelity.COLUMNS, comparison.rows, fidelity.TEXT_COLUMNS),
            "robustness": Table.of(fidelity.ROBUSTNESS_COLUMNS, comparison.robustness, fidelity.TEXT_COLUMNS),
            "fidelity_slices": Table.of(fidelity.COLUMNS, comparison.slices, fidelity.TEXT_COLUMNS),
            "non_inferiority": Table.of(fidelity.MARGIN_COLUMNS, comparison.non_inferiority, fidelity.TEXT_COLUMNS),
            "raters": raters,
        },
        facts={
            **triad.labels,
            "raters": raters.dicts(),
            "runs": triad.runs,
            "learned": learned,
            "learned_by": learned_by,
            "judged_by": triad.raters[0].undecided_by,
            **interval_facts(rule, comparison.rows[0]["mf1_mean_effective"]),
            "headline": headline(comparison.rows[0], "mf1_mean"),
        },
        notes=[*coverage_remarks(*triad.raters), *parts_of(Reason.PAIRS_FAULTY.counted(triad.sides.n_faulty))],
        digest=triad.digest,
    )


def title(given: Parameters, runs: Mapping[str, str] | None = None) -> str:
    """What a report of this kind is called."""
    return _("%(judge)s compared with the human ceiling") % {"judge": display_name(given["judge"], runs)}


def body(report: Report, sort: str) -> Context:
    rows = table_of(report, "fidelity").dicts()
    facts = report.result["facts"]
    overall = split_broken(rows[0])
    names = {key: shown_name(report.benchmark, facts[key]) for key in ("judge", "a", "b")}
    return {
        "names": names,
        "overall": overall,
        "tiles": [
            Tile(_("Judge, mean of both"), number(overall, "mf1_mean")),
            *_undecided_tile(overall, facts.get("judged_by", "")),
            Tile(_("Human ceiling"), number(overall, "mf1_ceiling")),
            Tile(_("Judge minus ceiling"), number(overall, "mf1_gap")),
            Tile(
                _("Pairs"),
                text=f"{overall['n_pairs']:,}",
                detail=_("%(cases)s cases, all three on the same pairs") % {"cases": f"{overall['n_cases']:,}"},
            ),
        ],
        "finding": finding(report, names),
        "candidates": [_row(report, row) for row in rows],
        "slices": [_row(report, row) for row in _table(report, "fidelity_slices")],
        "robustness": [
            {
                **row,
                "label": " · ".join(shown_name(report.benchmark, rater) for rater in pair),
                "figures": {
                    "spearman": number(row, "spearman"),
                    "kendall": number(row, "kendall"),
                    "difference": number(row, "mean_absolute_difference", digits=1),
                    "top3": number(row, "top3", digits=2),
                    "top5": number(row, "top5", digits=2),
                },
            }
            for row, pair in zip(
                table_of(report, "robustness").dicts(),
                ((facts["judge"], facts["a"]), (facts["judge"], facts["b"]), (facts["a"], facts["b"])),
                strict=True,
            )
        ],
    }


def _table(report: Report, name: str) -> list[Row]:
    """Rows of a table; none in a report of an earlier version without it."""
    return table_of(report, name).dicts() if name in table_names(report) else []


def _row(report: Report, row: Row) -> Context:
    return {
        **row,
        "label": row_label(row["slice"]),
        "is_all": row["slice"] == "all",
        "url": pairs_url(report, row["slice"]),
        "figures": {key: number(row, f"mf1_{key}") for key in ("judge_a", "judge_b", "mean", "ceiling", "gap")},
        "met": {key: number(row, f"met_{key}", scale=100, digits=1, unit="%") for key in ("judge", "a", "b")},
    }


def finding(report: Report, names: Mapping[str, str]) -> str:
    """Whether the judge is inferior to the human ceiling at the margin, in a sentence; empty in an older report."""
    rows = _table(report, "non_inferiority")
    if not rows:
        return ""
    row = rows[0]
    given = {"judge": names["judge"], "margin": f"{row['margin']:g}"}
    if row["bound"] is None:
        given["why"] = translate_remark(row["note"])
        return _("No conclusion can be drawn about non-inferiority at a margin of %(margin)s: %(why)s.") % given
    given["bound"] = Number(row["bound"]).shown
    return {
        "superior": _(
            "%(judge)s is closer to the groups than they are to each other: the 97.5%% bound of the "
            "difference, %(bound)s, is above 0."
        ),
        "non-inferior": _(
            "%(judge)s is not inferior to the human ceiling at a margin of %(margin)s: the 97.5%% bound "
            "of the difference, %(bound)s, is above −%(margin)s."
        ),
        "inferior": _(
            "%(judge)s is inferior to the human ceiling by more than the margin of %(margin)s: the whole "
            "interval is below −%(margin)s."
        ),
        "open": _(
            "Non-inferiority of %(judge)s to the human ceiling is not shown at a margin of %(margin)s: "
            "the 97.5%% bound of the difference is %(bound)s."
        ),
    }[row["finding"]] % given


def _undecided_tile(overall: Row, judged_by: str) -> list[Tile]:
    """How many pairs the headline leaves out, shown beside it: always for a jury, for a judge if there are any."""
    n = overall.get("n_undecided")
    if n is None or (not n and judged_by != "jury"):
        return []
    label = _("Undecided by the jury") if judged_by == "jury" else _("Undecided by the judge")
    return [
        Tile(
            label,
            text=_("%(n)s of %(all)s") % {"n": f"{n:,}", "all": f"{overall['n_pairs'] + n:,}"},
            detail=_("excluded from all figures"),
        )
    ]


def figures(report: Report) -> Iterator[Figure]:
    rows = table_of(report, "fidelity").dicts()
    facts = report.result["facts"]
    names = {key: shown_name(report.benchmark, facts[key]) for key in ("judge", "a", "b")}
    series = {
        "ceiling": _("%(a)s and %(b)s: the human ceiling") % names,
        "judge_a": _("%(judge)s and %(a)s") % names,
        "judge_b": _("%(judge)s and %(b)s") % names,
    }
    points = [
        charts.Point(
            with_n(row_label(row["slice"]), row["n_pairs"]),
            row[f"mf1_{key}"],
            row[f"mf1_{key}_low"],
            row[f"mf1_{key}_high"],
            series=label,
        )
        for row in rows
        for key, label in series.items()
    ]

    def drawing(palette: Palette) -> object:
        # The ceiling is the reference for the judge: it has the neutral colour, the judge the accent colour.
        return charts.points_and_whiskers(
            points,
            palette,
            x_title=_("Macro-F1"),
            description=_(
                "Macro-F1 of the judge with each group, compared with that between the groups, for each candidate."
            ),
            colours=(palette.series[4], palette.series[0], palette.series[1]),
        )

    yield Figure(
        "fidelity",
        _("The judge compared with the human ceiling"),
        _("Macro-F1 on the same n pairs, with 95% intervals over cases.")
        if rows[0]["mf1_mean_low"] is not None
        else _("Macro-F1 on the same n pairs. There are no intervals; the table notes explain why."),
        "fidelity",
        drawing,
    )


def pairs(report: Report, side: str) -> Read:
    triad = read_triad(report.benchmark, **{name: report.parameters[name] for name in NAMES})
    side = side if side in SIDES else next(iter(SIDES))
    judge, a, b = triad.labels["judge"], triad.labels["a"], triad.labels["b"]
    labels = {"judge_a": (a, judge), "judge_b": (b, judge), "ceiling": (a, b)}[side]
    return labels, getattr(triad.sides, side), triad.frame, triad.digest


def digest(benchmark: Benchmark, given: Parameters) -> str:
    """The digest of what `compute` would read now."""
    return fidelity.read_triad(benchmark, **{name: given[name] for name in NAMES}).digest


def _margin_in_words(report: Report) -> str:
    rows = _table(report, "non_inferiority")
    if not rows:
        return ""
    verdict = f"the finding is: {rows[0]['finding']}" if rows[0]["finding"] else f"nothing is said ({rows[0]['note']})"
    return (
        "The judge counts as not inferior to the human ceiling where the lower end of that interval, a one-sided 97.5% "
        f"bound, lies above −{rows[0]['margin']:g} (Piaggio et al. 2012); {verdict}."
    )


def methods(report: Report) -> list[str]:
    facts = report.result["facts"]
    overall = table_of(report, "fidelity").dicts()[0]
    judge, a, b = (rater_in_words(facts[name]) for name in ("judge", "a", "b"))
    return [
        f"{capital(judge)} was measured against {a} and against {b}, and both groups against each other (the human "
        f"ceiling), all on the same {counted(overall['n_pairs'], 'pair')} of a response and a criterion from "
        f"{counted(overall['n_cases'], 'case')} of the benchmark {report.benchmark.title}: those that both groups "
        "answered and the judge was to decide.",
        sentences.MF1,
        sentences.conservative(overall),
        f"{counted(overall['n_undecided'], 'pair')} that the judge or jury left undecided are in no figure."
        if overall.get("n_undecided")
        else "",
        "The judge’s figure is the mean of its MF1 against both groups.",
        sentences.difference(report, "its difference from the ceiling"),
        _margin_in_words(report),
        "Candidates are ranked by the share of criteria met under each rater; ranks are compared by Spearman’s ρ and "
        "Kendall’s τ-b (Kendall 1945), the overlap of the top 3 and top 5, and the mean absolute difference in points.",
        sentences.learned(facts),
    ]


KIND = Kind(
    value=Report.Kind.FIDELITY,
    parameters=frozenset({*NAMES, "margin"}),
    complete=complete,
    compute=compute,
    title=title,
    form=FidelityForm,
    invitation=Invitation(
        gettext_lazy("A judge compared with physicians"),
        gettext_lazy("Compares a judge with two groups, and the groups with each other, on the same decisions."),
        gettext_lazy("This report requires two groups with submitted work and a judge with a finished run."),
    ),
    template="agreement/kinds/fidelity.html",
    body=body,
    figures=figures,
    headline=(gettext_lazy("MF1, mean of both groups"), 3),
    pairs=pairs,
    methods=methods,
    digest=digest,
)
