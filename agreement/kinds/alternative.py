"""Report of the alternative annotator test: may a judge replace a physician of this group?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

import numpy as np
from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from agreement.forms import ReportForm, choose, grouped
from agreement.judged import many_raters
from agreement.judged.alternative import ALL, alternative, checked_group, read_bench, tables_of
from agreement.judged.coverage import coverage_remarks
from agreement.judged.training_overlap import learned_candidates, learners
from agreement.kinds.kind import Context, Figure, Invitation, Kind, Parameters, Read
from agreement.kinds.shared import raters_table, row_label
from agreement.label_files.label_tables import EFFECTIVE
from agreement.models import Report
from agreement.reports.earlier import DIFFERENCE_FACT, JUDGE_LESS_PHYSICIAN
from agreement.reports.interval_facts import interval_facts
from agreement.reports.links import pairs_url
from agreement.reports.numbers import PValue, Tile, number
from agreement.reports.parameters import WrongParameters, named_raters
from agreement.reports.sentences import counted, learned, rater_in_words
from agreement.reports.stored import table_names, table_of
from agreement.reports.tables import Result, Row
from agreement.selectors.rater_choices import display_name, group_choices, judge_choices, rater_choices, shown_name
from consilium.core.jobs import Progress, no_progress
from consilium.core.phrases import parts_of
from consilium.core.reasons import Reason
from consilium.figures import charts
from consilium.figures.style import Palette
from consilium.statistics.alternative_annotator import (
    ENOUGH_FOR_T,
    EPSILON,
    MINIMUM_ANNOTATORS,
    MINIMUM_INSTANCES,
    PASSING,
)
from consilium.statistics.case_numbers import in_words
from consilium.statistics.intervals import DEFAULT_RULE, IntervalRule
from rubrics.models import Benchmark
from scoring.selectors.raters import require_verdicts, resolve_rater

LARGEST_MINIMUM = 100_000


class AlternativeForm(ReportForm):
    """A judge, the physicians, and by how much a physician must be ahead."""

    judge = forms.ChoiceField(label=gettext_lazy("Judge"))
    group = forms.ChoiceField(label=gettext_lazy("Physicians"))
    epsilon = forms.FloatField(
        label=gettext_lazy("Cost benefit ε"),
        min_value=0,
        initial=EPSILON,
        help_text=gettext_lazy(
            "How far ahead a physician must be to be worth the cost: 0.2 for experts, 0.15 for skilled "
            "annotators, 0.1 for crowds. Decide this before you see the results."
        ),
    )
    minimum = forms.IntegerField(
        label=gettext_lazy("Minimum number of decisions per physician"),
        min_value=2,
        max_value=LARGEST_MINIMUM,
        initial=MINIMUM_INSTANCES,
        help_text=gettext_lazy(
            "Physicians with fewer are not tested. With 30 or more, the t-test is used; below 30, "
            "Wilcoxon’s signed-rank test."
        ),
    )
    field_order = ["judge", "group", "epsilon", "minimum", "seed"]

    def offer(self, benchmark: Benchmark) -> None:
        judges = [*judge_choices(benchmark), *(offer for offer in rater_choices(benchmark) if offer.kind == "run")]
        groups = group_choices(benchmark, stages=False)
        self.ready = bool(judges and groups)
        choose(self, "judge", grouped(judges))
        everyone = (ALL, gettext_lazy("All physicians of the benchmark"))
        choose(self, "group", [everyone, *((offer.rater.rpartition("@")[0], offer.label) for offer in groups)])


def complete(benchmark: Benchmark, parameters: Mapping[str, Any]) -> dict[str, Any]:
    judge = named_raters(benchmark, parameters, "judge")["judge"]
    if not resolve_rater(benchmark, judge).is_judge:
        raise WrongParameters(
            _("Only a judge, a run of a judge, or a jury of judges can be tested."), field="parameters.judge"
        )
    epsilon, minimum = parameters.get("epsilon", EPSILON), parameters.get("minimum", MINIMUM_INSTANCES)
    if not isinstance(epsilon, int | float) or isinstance(epsilon, bool) or not 0 <= epsilon < 1:
        raise WrongParameters(_("ε must be a number from 0 to less than 1."), field="parameters.epsilon")
    if not isinstance(minimum, int) or isinstance(minimum, bool) or not 2 <= minimum <= LARGEST_MINIMUM:
        raise WrongParameters(
            _("The minimum number of decisions per physician must be a whole number from 2 to %(largest)s.")
            % {"largest": LARGEST_MINIMUM},
            field="parameters.minimum",
        )
    return {
        "judge": judge,
        "group": checked_group(benchmark, str(parameters.get("group", ALL))),
        "epsilon": float(epsilon),
        "minimum": minimum,
    }


def compute(
    benchmark: Benchmark,
    *,
    judge: str,
    group: str = ALL,
    epsilon: float = EPSILON,
    minimum: int = MINIMUM_INSTANCES,
    rule: IntervalRule = DEFAULT_RULE,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Result:
    """The judge against each physician, and the verdict of the test."""
    bench = read_bench(benchmark, judge=judge, group=group)
    require_verdicts(bench.judge)
    progress(0.4)
    test_result = alternative(bench.labelled, epsilon=epsilon, minimum=minimum, rule=rule)
    progress(0.9)
    tables = tables_of(test_result, bench.labelled, judge=bench.judge.label, group=bench.group)
    summary = tables["summary"].dicts()[0]
    behind = raters_table(bench.judge)
    runs = [run.public_id for run in bench.judge.runs]
    return Result(
        tables={
            **tables,
            **many_raters.tables_of(bench, rule=rule),
            "raters": behind,
        },
        facts={
            "judge": bench.judge.label,
            "group": bench.group,
            "judged_by": bench.judge.undecided_by,
            "raters": behind.dicts(),
            "runs": runs,
            "learned": learned_candidates(benchmark, runs),
            "learned_by": learners(benchmark, bench.judge),
            "n_undecided": bench.n_undecided,
            "n_faulty": bench.n_faulty,
            "n_cases": len(np.unique(bench.labelled.case)),
            "n_unanswered": int((bench.labelled.judge < 0).sum()),
            **interval_facts(rule, test_result.advantage.effective),
            DIFFERENCE_FACT: JUDGE_LESS_PHYSICIAN,
            "headline": {
                "value": summary["winning_rate"],
                "low": None,
                "high": None,
                "reason": summary["note"] if summary["winning_rate"] is None else "",
            },
        },
        notes=[*coverage_remarks(bench.judge), *parts_of(Reason.PAIRS_FAULTY.counted(bench.n_faulty))],
        digest=many_raters.digest_of(bench),
    )


def _group_name(group: str) -> str:
    return _("all physicians") if group == ALL else group.removeprefix("group:")


def title(given: Parameters, runs: Mapping[str, str] | None = None) -> str:
    """What a report of this kind is called."""
    return _("Can %(judge)s replace a physician? (%(group)s)") % {
        "judge": display_name(given["judge"], runs),
        "group": _group_name(given["group"]),
    }


def body(report: Report, sort: str) -> Context:
    facts = report.result["facts"]
    summary = table_of(report, "summary").dicts()[0]
    rows = table_of(report, "physicians").dicts()
    judge = shown_name(report.benchmark, facts["judge"])
    wins = sum(row["wins"] is True for row in rows)
    return {
        "judge": judge,
        "group": _group_name(facts["group"]),
        "summary": summary,
        "verdict": verdict(summary, judge),
        "differs": summary["passes"] is not None and summary["passes"] != summary["passes_clustered"],
        "clustered": summary["passes_clustered"],
        "tiles": [
            Tile(
                _("Winning rate ω"),
                number(summary, "winning_rate", digits=2),
                detail=_("ahead of %(wins)s of %(n)s physicians") % {"wins": wins, "n": summary["n_tested"]}
                if summary["winning_rate"] is not None
                else "",
            ),
            Tile(_("ω, over cases"), number(summary, "winning_rate_clustered", digits=2)),
            Tile(_("Average advantage ρ"), number(summary, "advantage")),
            Tile(_("Cost benefit ε"), text=f"{summary['epsilon']:g}"),
            Tile(
                _("Pairs"),
                text=f"{summary['n_instances']:,}",
                detail=ngettext(
                    "response and criterion, decided by two or more of %(n)s physician",
                    "response and criterion, decided by two or more of %(n)s physicians",
                    summary["n_physicians"],
                )
                % {"n": f"{summary['n_physicians']:,}"},
            ),
        ],
        "effective_of": _("average advantage ρ (the tested physicians’ pairs)"),
        "n_untested": summary["n_physicians"] - summary["n_tested"],
        "n_few": sum(row["test"] == "wilcoxon" for row in rows),
        "enough": ENOUGH_FOR_T,
        "physicians": [_row(report, row) for row in rows],
        **_many_raters(report),
    }


def _many_raters(report: Report) -> Context:
    """The judge against all physicians beside their ceiling; nothing for a report that is older than these tables."""
    if "meta_judge" not in table_names(report):
        return {}
    judged, ceiling = (
        [_meta(row) for row in table_of(report, name).dicts()] for name in ("meta_judge", "meta_ceiling")
    )
    return {
        "meta": [(_("Judge and physicians"), judged[0]), (_("Agreement among physicians"), ceiling[0])],
        "meta_effective": _effective(judged[0], ceiling[0]),
        "meta_categories": list(zip(judged[1:], ceiling[1:], strict=True)),
    }


def _effective(*rows: Row) -> list[str]:
    """The effective cases behind MF1 of each row; empty for a report that is older than this column."""
    if any(EFFECTIVE not in row for row in rows):
        return []
    return ["–" if row[EFFECTIVE] is None else in_words(row[EFFECTIVE]) for row in rows]


def _meta(row: Row) -> Context:
    names = ("mf1", "f1_met", "f1_not_met", "precision_met", "recall_met", "raw", "kappa")
    return {**row, "label": row_label(row["slice"]), "figures": {name: number(row, name) for name in names}}


def verdict(summary: Row, judge: str) -> str:
    """Whether the judge may stand in, in words; a plain no where the test is not passed."""
    if summary["passes"] is None:
        return ngettext(
            "No conclusion: %(n)s physician has enough decisions to be tested, and the test requires %(needed)s.",
            "No conclusion: %(n)s physicians have enough decisions to be tested, and the test requires %(needed)s.",
            summary["n_tested"],
        ) % {"n": summary["n_tested"], "needed": MINIMUM_ANNOTATORS}
    given = {"judge": judge, "rate": f"{summary['winning_rate']:.2f}", "epsilon": f"{summary['epsilon']:g}"}
    if summary["passes"]:
        return (
            _(
                "By this test, %(judge)s can replace one of these physicians at ε = %(epsilon)s: its "
                "winning rate is %(rate)s; 0.5 is required."
            )
            % given
        )
    return (
        _(
            "By this test, %(judge)s cannot replace one of these physicians at ε = %(epsilon)s: its "
            "winning rate is %(rate)s; 0.5 is required."
        )
        % given
    )


def _row(report: Report, row: Row) -> Context:
    tests = {"t": _("t-test"), "wilcoxon": _("Wilcoxon"), "": _("not tested")}
    return {
        **row,
        "url": f"{pairs_url(report, 'all')}&{urlencode({'side': row['physician']})}",
        "test_name": tests[row["test"]],
        "figures": {name: number(row, name) for name in ("rho_judge", "rho_physician", "difference")},
        "tests": {name: PValue.of(row, name) for name in ("p", "p_adjusted", "p_clustered_adjusted")},
    }


# With more physicians than this the figure would be unreadable; the table has them all.
SHOWN = 40


def figures(report: Report) -> Iterator[Figure]:
    facts = report.result["facts"]
    rows = [row for row in table_of(report, "physicians").dicts() if row["test"]]
    shown = sorted(rows, key=lambda row: -row["n_instances"])[:SHOWN]
    kept = [row for row in rows if row in shown]
    judge = shown_name(report.benchmark, facts["judge"])
    series = {"rho_judge": judge, "rho_physician": _("the physician")}
    points = [
        charts.Point(
            row["physician"],
            row[name],
            row[f"{name}_low"],
            row[f"{name}_high"],
            series=label,
            href=f"{pairs_url(report, 'all')}&{urlencode({'side': row['physician']})}",
        )
        for row in kept
        for name, label in series.items()
    ]
    if not points:
        return

    def drawing(palette: Palette) -> object:
        return charts.points_and_whiskers(
            points,
            palette,
            x_title=_("Share of decisions on which the rater is at least as close to the others"),
            description=_(
                "For each physician: how often %(judge)s, and how often the physician, is at least as "
                "close to the others."
            )
            % {"judge": judge},
            colours=(palette.series[0], palette.series[4]),
        )

    caption = (
        _("ρ of the judge and of each tested physician, with 95% intervals over cases.")
        if any(row["rho_judge_low"] is not None for row in kept)
        else _("ρ of the judge and of each tested physician. There are no intervals; the table notes explain why.")
    )
    caption += " " + _("In a tie both are at least as close, so the two shares can add up to more than 1.")
    if len(kept) < len(rows):
        caption += " " + _("Only the %(n)s physicians with the most decisions are shown; the table lists all.") % {
            "n": len(kept)
        }
    yield Figure(
        "advantage", _("The judge and each physician compared with the others"), caption, "physicians", drawing
    )


def pairs(report: Report, side: str) -> Read:
    bench = read_bench(report.benchmark, judge=report.parameters["judge"], group=report.parameters["group"])
    physician = side or bench.labelled.names[0]
    digest = many_raters.digest_of(bench)
    return (f"physician:{physician}@first", bench.judge.label), bench.pairs_of(physician), bench.frame, digest


def digest(benchmark: Benchmark, given: Parameters) -> str:
    """The digest of the inputs as they are now."""
    return many_raters.digest_of(read_bench(benchmark, judge=given["judge"], group=given["group"]))


def methods(report: Report) -> list[str]:
    facts = report.result["facts"]
    summary = table_of(report, "summary").dicts()[0]
    tests = [row["test"] for row in table_of(report, "physicians").dicts()]
    who = "all physicians" if facts["group"] == ALL else f"the physicians of {facts['group'].replace(':', ' ')}"
    rate = summary["winning_rate"]
    return [
        f"Whether {rater_in_words(facts['judge'])} may stand in for one of {who} of the benchmark "
        f"{report.benchmark.title} was tested by the alternative annotator test (Calderon et al. 2025) with accuracy "
        f"as the alignment score and a cost benefit of ε = {summary['epsilon']:g}, on "
        f"{counted(summary['n_instances'], 'pair')} of a response and a criterion that two or more of "
        f"{counted(summary['n_physicians'], 'physician')} decided, by their own decisions of the first round.",
        f"{counted(summary['n_tested'], 'physician')} with at least {summary['minimum']} such pairs were tested: "
        f"{tests.count('t')} by a one-sided t-test and {tests.count('wilcoxon')}, with fewer than {ENOUGH_FOR_T} "
        "pairs, by Wilcoxon’s signed ranks (exact, with mid-ranks; Wilcoxon 1945).",
        f"The false discovery rate over physicians is held at {summary['q']:g} (Benjamini and Yekutieli 2001).",
        "As pairs of a case are not independent, the same test with standard errors over cases (Liang and Zeger 1986) "
        "stands beside it.",
        f"An invalid or missing verdict agrees with nobody ({counted(facts['n_unanswered'], 'pair')}); "
        f"{counted(facts['n_undecided'], 'pair')} that the judge or jury left undecided are excluded.",
        f"The winning rate is {rate:.2f}; {PASSING} is asked for."
        if rate is not None
        else f"The winning rate is undefined: it takes {MINIMUM_ANNOTATORS} tested physicians.",
        _of_all_pairs(report),
        learned(facts),
    ]


def _of_all_pairs(report: Report) -> str:
    """The tables over all pairs of raters; empty for a report that is older than them."""
    if "meta_judge" not in table_names(report):
        return ""
    judged, ceiling = (table_of(report, name).dicts()[0] for name in ("meta_judge", "meta_ceiling"))
    of_judge, of_physicians = counted(judged["n_pairs"], "pair"), counted(ceiling["n_pairs"], "ordered pair")
    return (
        "Over all pairs of raters, as in HealthBench’s meta-evaluation (Arora et al. 2025), the judge was compared "
        f"with every physician ({of_judge}) and each physician with every other one on the same item "
        f"({of_physicians}): precision, recall and F1 of each class, and Macro-F1, which is there called balanced F1; "
        "there an invalid or missing verdict counts as the opposite."
    )


KIND = Kind(
    value=Report.Kind.ALTERNATIVE,
    parameters=frozenset({"judge", "group", "epsilon", "minimum"}),
    complete=complete,
    compute=compute,
    title=title,
    form=AlternativeForm,
    invitation=Invitation(
        gettext_lazy("Can a judge replace a physician?"),
        gettext_lazy(
            "Alternative annotator test: is the judge at least as close to the other physicians as each of them is?"
        ),
        gettext_lazy(
            "This report requires a judge with a finished run, and decisions of three or more physicians "
            "on the same responses."
        ),
    ),
    template="agreement/kinds/alternative.html",
    body=body,
    figures=figures,
    headline=(gettext_lazy("winning rate"), 2),
    pairs=pairs,
    methods=methods,
    digest=digest,
)
