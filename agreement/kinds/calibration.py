"""The coverage threshold k, how ranks depend on it, and what the errors of a judge do to CACS@k."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from django import forms
from django.db.models import Count, Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from agreement.calibration import calibrating, judge_error
from agreement.calibration.figures import figures
from agreement.calibration.inputs import CalibrationInputs, fixed_name, newest_runs, read_inputs
from agreement.calibration.modes import MODES_COLUMNS, MODES_TEXT
from agreement.calibration.page import body
from agreement.counting.pairs import Pairs, pair, positions
from agreement.forms import ReportForm, choose
from agreement.kinds.kind import Invitation, Kind, Parameters, Read
from agreement.kinds.shared import headline, raters_table
from agreement.models import Report
from agreement.reports.interval_facts import interval_facts
from agreement.reports.parameters import WrongParameters
from agreement.reports.sentences import counted, rater_in_words
from agreement.reports.stored import table_of
from agreement.reports.tables import Result, Table
from agreement.selectors.rater_choices import display_name, group_choices, physician_candidates
from consilium.core.jobs import Progress, no_progress
from consilium.statistics.cacs_error import DRAWS
from consilium.statistics.intervals import DEFAULT_RULE, IntervalRule
from rubrics.models import Benchmark, Candidate, Case, Rubric
from scoring.selectors.raters import require_verdicts, resolve_rater


class CalibrationForm(ReportForm):
    """A group, and the physician whose responses it graded."""

    group = forms.ChoiceField(label=gettext_lazy("Graded by"))
    candidate = forms.ChoiceField(label=gettext_lazy("Responses by"))
    include_aided = forms.BooleanField(
        label=gettext_lazy("Include responses written with model references"), required=False
    )
    field_order = ["group", "candidate", "include_aided", "interval", "seed"]

    def offer(self, benchmark: Benchmark) -> None:
        groups, physicians = group_choices(benchmark), physician_candidates(benchmark)
        self.ready = bool(groups and physicians)
        choose(self, "group", [(offer.rater.removeprefix("group:"), offer.label) for offer in groups])
        choose(self, "candidate", [(name, name) for name in physicians])
        self.fields["candidate"].help_text = _constant_number(benchmark)


def _constant_number(benchmark: Benchmark) -> str:
    """That k takes cases with the same number of positive criteria, and how many cases there are with each number."""
    positive = Q(rubrics__items__points__gt=0, rubrics__status=Rubric.Status.PUBLISHED, rubrics__track="gold")
    cases = Case.objects.included().filter(
        benchmark=benchmark, responses__candidate__kind=Candidate.Kind.PHYSICIAN
    ).annotate(n_positive=Count("rubrics__items", filter=positive, distinct=True)).order_by()  # fmt: skip
    numbers = Counter(cases.values_list("n_positive", flat=True))
    words = _("k is defined only if all cases have the same number of positive criteria.")
    if len(numbers) < 2:
        return words
    counted_cases = [
        ngettext(
            "%(number)s positive criteria: %(n)s case",
            "%(number)s positive criteria: %(n)s cases",
            n,
        )
        % {"number": number, "n": f"{n:,}"}
        for number, n in sorted(numbers.items())
    ]
    return " ".join(
        [
            words,
            _(
                "Cases with responses by physicians: %(cases)s. The calibration is refused if the cases of the chosen "
                "candidate have different numbers."
            )
            % {"cases": "; ".join(counted_cases)},
        ]
    )


def complete(benchmark: Benchmark, parameters: Parameters) -> dict[str, Any]:
    """Judges are stored as runs when the report is requested, so that computing it again gives the same result."""
    include_aided = parameters.get("include_aided", False)
    if not isinstance(include_aided, bool):
        raise WrongParameters(_("“include_aided” must be true or false."), field="parameters.include_aided")
    group = str(parameters.get("group") or "").removeprefix("group:")
    label = resolve_rater(benchmark, f"group:{group}").label
    candidate = Candidate.objects.filter(benchmark=benchmark, name=str(parameters.get("candidate") or "")).first()
    if candidate is None or candidate.kind != Candidate.Kind.PHYSICIAN:
        raise WrongParameters(
            _("k must be calibrated on responses that physicians wrote. Choose a candidate of that type."),
            field="parameters.candidate",
        )
    return {
        "group": label.removeprefix("group:"),
        "candidate": candidate.name,
        "include_aided": include_aided,
        "judges": _judges(benchmark, parameters.get("judges")),
    }


def _judges(benchmark: Benchmark, named: Any) -> list[str]:
    if named is None:
        return newest_runs(benchmark)
    if not isinstance(named, list):
        raise WrongParameters(_("Judges must be given as a list of raters."), field="parameters.judges")
    raters = [resolve_rater(benchmark, name) for name in dict.fromkeys(map(str, named))]
    require_verdicts(*raters)
    if not all(rater.is_judge for rater in raters):
        raise WrongParameters(_("Only judges and juries can be selected as judges."), field="parameters.judges")
    # A judge given by name is stored as its newest run; several imported runs are stored by the name alone.
    return [fixed_name(rater) for rater in raters]


def compute(
    benchmark: Benchmark,
    *,
    group: str,
    candidate: str,
    include_aided: bool = False,
    judges: list[str] | None = None,
    rule: IntervalRule = DEFAULT_RULE,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Result:
    """The coverage threshold k, how ranks depend on it, and what judges' errors do to CACS@k."""
    tables = calibrating.calibrate_group(
        benchmark,
        group=group,
        candidate=candidate,
        include_aided=include_aided,
        judges=judges,
        rule=rule,
        seed=seed,
        progress=progress,
    )
    counts = tables.calibration["histogram"]
    single = {name: value for name, value in tables.calibration.items() if name != "histogram"}
    carried = {row["run"] or row["judge"] for row in tables.error.judges if row["role"]}
    behind = [
        rater
        for rater in tables.raters
        if not rater.runs or carried & {rater.label, *(run.public_id for run in rater.runs)}
    ]
    return Result(
        tables={
            "calibration": Table.of(tuple(single), [single], ("note",)),
            "histogram": Table(("hits", "n_responses"), [[hits, n] for hits, n in enumerate(counts)]),
            "sensitivity": Table.of(calibrating.SENSITIVITY_COLUMNS, tables.sensitivity, calibrating.SENSITIVITY_TEXT),
            "sensitivity_all": Table.of(
                calibrating.SENSITIVITY_ALL_COLUMNS, tables.sensitivity_all, calibrating.SENSITIVITY_TEXT
            ),
            "candidates": Table.of(calibrating.CANDIDATES_COLUMNS, tables.values, calibrating.CANDIDATES_TEXT),
            "case_accuracy": Table.of(calibrating.ACCURACY_COLUMNS, tables.accuracy, calibrating.ACCURACY_TEXT),
            "modes": Table.of(MODES_COLUMNS, tables.modes, MODES_TEXT),
            "judges": Table.of(judge_error.JUDGES_COLUMNS, tables.error.judges, judge_error.TEXT),
            "judge_error": Table.of(judge_error.ERROR_COLUMNS, tables.error.error, judge_error.TEXT),
            "judge_order": Table.of(judge_error.ORDER_COLUMNS, tables.error.order, judge_error.TEXT),
            "raters": raters_table(*tables.raters),
        },
        facts={
            **tables.calibration,
            "rater": tables.rater,
            "candidate": candidate,
            **interval_facts(rule),
            "draws": DRAWS,
            "n_incomplete": tables.n_incomplete,
            "error_reason": tables.error.reason,
            "raters": raters_table(*behind).dicts(),
            "runs": [run.public_id for rater in tables.raters for run in rater.runs],
            "headline": headline(tables.calibration, "k"),
        },
        notes=tables.notes,
        digest=tables.digest,
    )


def title(given: Parameters, runs: Mapping[str, str] | None = None) -> str:
    """What a report of this kind is called."""
    return _("Threshold k from %(candidate)s, by %(group)s") % {
        "candidate": given["candidate"],
        "group": display_name(f"group:{given['group']}", runs),
    }


def pairs(report: Report, side: str) -> Read:
    """The group's decisions on positive criteria; with a judge of the report as ``side``, both on the other
    candidates. KeyError where the report has no such judge.
    """
    inputs = _read(report.benchmark, report.parameters)
    if side:
        judge = {judge_pairs.run or judge_pairs.name: judge_pairs for judge_pairs in inputs.judges}[side]
        return (inputs.rater.label, judge.rater.label), judge.pairs, inputs.frame, inputs.digest
    return (inputs.rater.label, ""), _of_the_group(inputs), inputs.frame, inputs.digest


def digest(benchmark: Benchmark, parameters: Parameters) -> str:
    """The digest of the inputs as they are now."""
    return _read(benchmark, parameters).digest


def _read(benchmark: Benchmark, given: Parameters) -> CalibrationInputs:
    return read_inputs(
        benchmark,
        group=given["group"],
        candidate=given["candidate"],
        include_aided=bool(given.get("include_aided")),
        judges=given.get("judges"),
    )


def _of_the_group(inputs: CalibrationInputs) -> Pairs:
    alone = pair(inputs.ratings, inputs.ratings)
    return alone.chosen(positions(inputs.positive.keys(), inputs.ratings.keys())[1])


def methods(report: Report) -> list[str]:
    facts = report.result["facts"]
    aided = report.parameters.get("include_aided")
    return [
        f"The coverage threshold k was calibrated on {counted(facts['n'], 'response')} that physicians wrote "
        f"({facts['candidate']}; {'with' if aided else 'without'} those written beside model references), each with "
        f"{counted(facts['n_criteria'], 'positive criterion', 'positive criteria')}, graded by "
        f"{rater_in_words(facts['rater'])} of the benchmark {report.benchmark.title}; gradings by an author of any of "
        "the responses, and responses with an undecided positive criterion, are excluded.",
        f"k is the mean number of positive criteria met, {facts['mean']:.2f}, rounded half up and kept within 1 and "
        f"{facts['n_criteria']}: k = {facts['k']} (Zheng et al. 2026).",
        "Quartiles interpolate linearly (type 7).",
        "How far ranks of the other candidates depend on k is told by Spearman’s ρ, Kendall’s τ-b and the overlap of "
        "the top 3 and top 5 with those under the calibrated k, for every k from 1.",
        _error_in_words(report),
    ]


def _error_in_words(report: Report) -> str:
    facts = report.result["facts"]
    if "draws" not in facts:
        return ""
    carried = [row for row in table_of(report, "judges").dicts() if row["role"]]
    if facts["error_reason"] or not carried:
        return ""
    named = "; ".join(
        f"{row['judge']} ({row['role']}: sensitivity {row['sensitivity']:.3f}, specificity {row['specificity']:.3f}"
        + (f", measured on {counted(row['n_responses'], 'response')}" if "n_responses" in row else "")
        + ")"
        for row in carried
    )
    return (
        "The errors of judges were carried to CACS and Rubric Accuracy by simulation: the group’s hits are taken for "
        "the truth, and each positive criterion is drawn anew with the judge’s sensitivity and specificity against the "
        f"group, independently, {facts['draws']:,} times with seed {report.seed}; ranges hold 95% of the draws. "
        f"The judges, the worst and the best by MF1: {named}."
    )


KIND = Kind(
    value=Report.Kind.CALIBRATION,
    parameters=frozenset({"group", "candidate", "include_aided", "judges"}),
    complete=complete,
    compute=compute,
    title=title,
    form=CalibrationForm,
    invitation=Invitation(
        gettext_lazy("Calibrate k"),
        gettext_lazy(
            "Responses that a physician of the group wrote, or that are not fully graded, are excluded "
            "and counted separately."
        ),
        gettext_lazy("This report requires graded responses from a candidate of the type physician."),
    ),
    template="agreement/kinds/calibration.html",
    body=body,
    figures=figures,
    headline=("k", 0),
    pairs=pairs,
    digest=digest,
    methods=methods,
)
