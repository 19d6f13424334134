"""Candidates by cost and quality: the frontier, progress over time, and settings of one model side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agreement.calibration.thresholds import LARGEST_K, suggested_k
from agreement.forms import ReportForm, choose, grouped
from agreement.frontier import tables
from agreement.frontier.inputs import read_inputs
from agreement.judged.coverage import coverage_remarks
from agreement.judged.training_overlap import learned_candidates, learners
from agreement.kinds.frontier_page import body, figures, measure_name
from agreement.kinds.kind import Invitation, Kind, Parameters
from agreement.kinds.scores import pairs
from agreement.kinds.shared import raters_table
from agreement.models import Report
from agreement.reports import sentences
from agreement.reports.interval_facts import interval_facts
from agreement.reports.parameters import WrongParameters, checked_k, named_raters
from agreement.reports.sentences import counted, listed, rater_in_words
from agreement.reports.stored import table_of
from agreement.reports.tables import Result, Table
from agreement.selectors.rater_choices import display_name, rater_choices
from consilium.core.jobs import Progress, no_progress
from consilium.statistics.intervals import DEFAULT_RULE, IntervalRule
from rubrics.models import Benchmark
from scoring.scores.points import DEFAULT_RULES

RUBRIC_SCORE = tables.MEASURES[0]


class FrontierForm(ReportForm):
    """A rater, the measure of quality, and the threshold of coverage."""

    rater = forms.ChoiceField(label=gettext_lazy("Decisions by"))
    measure = forms.ChoiceField(
        label=gettext_lazy("Measure"),
        choices=[
            ("rubric_score", gettext_lazy("Rubric score")),
            ("rubric_accuracy", gettext_lazy("Rubric Accuracy")),
            ("cacs_at_k", gettext_lazy("CACS@k")),
        ],
    )
    k = forms.IntegerField(label=gettext_lazy("Threshold k"), min_value=1, max_value=LARGEST_K)
    field_order = ["rater", "measure", "k", "interval", "seed"]

    def offer(self, benchmark: Benchmark) -> None:
        rater_offers = rater_choices(benchmark)
        self.ready = bool(rater_offers)
        choose(self, "rater", grouped(rater_offers))
        self.fields["k"].initial, self.fields["k"].help_text = suggested_k(benchmark)


def complete(benchmark: Benchmark, parameters: Mapping[str, Any]) -> dict[str, Any]:
    named = named_raters(benchmark, parameters, "rater")
    measure = parameters.get("measure") or RUBRIC_SCORE
    if measure not in tables.MEASURES:
        message = _("A measure must be one of: %(names)s.") % {"names": ", ".join(tables.MEASURES)}
        raise WrongParameters(message, field="parameters.measure")
    given = parameters.get("k")
    # Only CACS depends on it.
    k = 1 if given is None and measure != "cacs_at_k" else checked_k(given)
    return {**named, "measure": measure, "k": k}


def compute(
    benchmark: Benchmark,
    *,
    rater: str,
    measure: str,
    k: int,
    rule: IntervalRule = DEFAULT_RULE,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Result:
    """Nothing is drawn but by the ``rule`` itself; ``seed`` plays no part beside it."""
    inputs = read_inputs(benchmark, rater=rater, k=k, rule=rule)
    progress(0.7)
    rows = tables.candidate_rows(inputs, measure, k)
    raters = raters_table(inputs.rater)
    runs = [run.public_id for run in inputs.rater.runs]
    effective = [row["score_effective"] for row in rows if row["score_effective"] is not None]

    def table(columns: Sequence[str], own_rows: list[Any]) -> Table:
        return Table.of(columns, own_rows, tables.TEXT_COLUMNS)

    return Result(
        tables={
            "cost_frontier": table(tables.COLUMNS, rows),
            "progress": table(tables.PROGRESS_COLUMNS, tables.progress_rows(inputs, measure, rule)),
            "model_families": table(tables.FAMILY_COLUMNS, tables.family_rows(rows)),
            "settings": table(tables.SETTING_COLUMNS, tables.setting_rows(inputs, rows)),
            "setting_differences": table(tables.DIFFERENCE_COLUMNS, tables.difference_rows(inputs, measure, rule)),
            "raters": raters,
        },
        facts={
            "rater": inputs.rater.label,
            "measure": measure,
            "k": k,
            "rules": str(DEFAULT_RULES),
            "raters": raters.dicts(),
            "runs": runs,
            "learned": learned_candidates(benchmark, runs),
            "learned_by": learners(benchmark, inputs.rater),
            "undated": [row["candidate"] for row in rows if row["release_date"] is None],
            **interval_facts(rule, min(effective, default=None)),
        },
        notes=coverage_remarks(inputs.rater),
        digest=inputs.digest,
    )


def title(given: Parameters, runs: Mapping[str, str] | None = None) -> str:
    """What a report of this kind is called."""
    return _("Cost and quality by %(rater)s: %(measure)s") % {
        "rater": display_name(given["rater"], runs),
        "measure": measure_name(given["measure"], given["k"]),
    }


def digest(benchmark: Benchmark, given: Parameters) -> str:
    """The digest of what `compute` would read now."""
    return read_inputs(benchmark, rater=given["rater"], k=given["k"]).digest


_BASES = {
    "calls": "from all calls of the runs that asked for the responses, retries and failed ones too, at the prices of "
    "these runs",
    "calls_listed": "from all calls of the runs that asked for the responses, at the prices of the candidate’s "
    "attributes",
    "tokens": "from the tokens that are recorded with the responses, at the prices of the candidate’s attributes",
}


def methods(report: Report) -> list[str]:
    facts, rows = report.result["facts"], table_of(report, "cost_frontier").dicts()
    name = measure_name(facts["measure"], facts["k"])
    bases = [
        f"of {listed(own)} {_BASES[basis]}"
        for basis in _BASES
        if (own := [row["candidate"] for row in rows if row["cost_basis"] == basis])
    ]
    without = [row["candidate"] for row in rows if row["cost"] is None]
    return [
        f"{counted(len(rows), 'candidate')} of the benchmark {report.benchmark.title} were scored by the decisions of "
        f"{rater_in_words(facts['rater'])}; the measure of quality is {name}.",
        sentences.SCORES if facts["measure"] == RUBRIC_SCORE else "",
        sentences.coverage(facts["k"]) if facts["measure"] == "cacs_at_k" else "",
        sentences.counting(facts["rules"]),
        f"The cost of a response was computed {'; '.join(bases)}." if bases else "",
        f"No cost is given of {listed(without)}." if without else "",
        "A candidate is on the frontier where no other is at least as good and at most as expensive, and better in one "
        "of the two, by the figures without their intervals. The second frontier has the price of a million output "
        "tokens in place of the cost of a response.",
        "The best so far is the largest score of all candidates that were released on a day or before. A step is the "
        "score of a candidate less that of the best one released before it in its family, on the cases with a score "
        "of both.",
        "Candidates with the same base model are settings of one model. The difference of two of them is the second "
        "score less the first, on the cases with a score of both.",
    ]


KIND = Kind(
    value=Report.Kind.FRONTIER,
    parameters=frozenset({"rater", "measure", "k"}),
    complete=complete,
    compute=compute,
    title=title,
    form=FrontierForm,
    invitation=Invitation(
        gettext_lazy("Compare cost and quality"),
        gettext_lazy(
            "Which candidates no other beats in both score and cost; the best score over time; settings of one model "
            "side by side. It uses the attributes of the candidates."
        ),
        gettext_lazy("No rater has made decisions yet."),
    ),
    template="agreement/kinds/frontier.html",
    body=body,
    figures=figures,
    pairs=pairs,
    methods=methods,
    digest=digest,
)
