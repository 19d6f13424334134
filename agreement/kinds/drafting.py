"""What became of drafted criteria: how many physicians took, reworded and rejected, and what their rubrics owe them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agreement.drafted.inputs import DraftedInputs, decided_suggestions, read_drafted
from agreement.drafted.missed import coverage_choices, missed_by
from agreement.drafted.rubric_tables import Missed
from agreement.drafted.slices import ALL
from agreement.drafted.tables import DraftingTables
from agreement.forms import ReportForm, choose
from agreement.kinds.drafting_page import body, figures
from agreement.kinds.kind import Invitation, Kind, Parameters
from agreement.kinds.shared import headline, tables_of
from agreement.models import Report
from agreement.reports.interval_facts import interval_facts
from agreement.reports.parameters import WrongParameters
from agreement.reports.sentences import counted, listed
from agreement.reports.stored import table_of
from agreement.reports.tables import Result
from consilium.core.jobs import Progress, no_progress
from consilium.statistics.case_numbers import MINIMUM_PILOT_CASES
from consilium.statistics.intervals import DEFAULT_RULE, IntervalRule
from consilium.statistics.jackknife import effective_cases
from rubrics.models import Benchmark
from scoring.models import EndpointKind


class DraftingForm(ReportForm):
    """Nothing has to be chosen; a run of coverage may say which published criteria no suggestion covers."""

    coverage = forms.ChoiceField(
        label=gettext_lazy("Coverage run for missed criteria"),
        required=False,
        help_text=gettext_lazy("A coverage run of the drafted criteria against the published ones."),
    )
    field_order = ["coverage", "interval", "seed"]

    def offer(self, benchmark: Benchmark) -> None:
        self.ready = bool(decided_suggestions(benchmark))
        choose(self, "coverage", [("", _("Unknown")), *coverage_choices(benchmark)])


def complete(benchmark: Benchmark, parameters: Mapping[str, Any]) -> dict[str, Any]:
    coverage = parameters.get("coverage") or ""
    if not isinstance(coverage, str):
        raise WrongParameters(_("“coverage” must have the form RUN/SET."), field="parameters.coverage")
    if coverage:
        missed_by(benchmark, coverage)
    return {"coverage": coverage}


def compute(
    benchmark: Benchmark,
    *,
    coverage: str,
    rule: IntervalRule = DEFAULT_RULE,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Result:
    """The tables of the command ``drafting_report``."""
    inputs = read_drafted(benchmark)
    if not inputs.suggestions:
        raise WrongParameters(_("No decision has been made on suggestions in a published rubric."))
    missed = missed_by(benchmark, coverage) if coverage else None
    progress(0.2)
    tables = tables_of(DraftingTables(inputs, rule, missed).files())
    whole = tables["drafting"].dicts()[0]
    sizes = np.array([[sum(row.case == case.case for row in inputs.suggestions)] for case in inputs.cases], dtype=float)
    facts = {
        "coverage": coverage,
        "recipes": sorted({row.recipe for row in inputs.suggestions}),
        "n_cases": len(inputs.cases),
        "n_decided": len(inputs.suggestions),
        "n_authors": len({row.author for row in inputs.suggestions}),
        "endpoint_kind": str(EndpointKind.RULES if inputs.by_rules else EndpointKind.MODEL),
        "few_cases": len(inputs.cases) < MINIMUM_PILOT_CASES,
        "case_ids": {case.case: case.public_id for case in inputs.cases},
        "headline": headline(whole, "acceptance"),
        **interval_facts(rule, float(effective_cases(sizes)[0])),
    }
    return Result(tables=tables, facts=facts, digest=_digest(inputs, missed))


def _digest(inputs: DraftedInputs, missed: Missed | None) -> str:
    return inputs.digest if missed is None else inputs.digest_with(missed.as_json())


def title(given: Parameters, runs: Mapping[str, str] | None = None) -> str:
    """What a report of this kind is called."""
    return _("Outcome of drafted criteria")


def digest(benchmark: Benchmark, given: Parameters) -> str:
    """Of what `compute` would read now."""
    coverage = given.get("coverage", "")
    return _digest(read_drafted(benchmark), missed_by(benchmark, coverage) if coverage else None)


def methods(report: Report) -> list[str]:
    facts = report.result["facts"]
    (rubrics,) = (row for row in table_of(report, "drafting_rubrics").dicts() if row["slice"] == ALL)
    by_rules = facts["endpoint_kind"] == EndpointKind.RULES
    return [
        f"Criteria for {counted(facts['n_cases'], 'case')} of the benchmark {report.benchmark.title} were drafted by "
        f"{'rules' if by_rules else 'language models'} (recipe {listed(facts['recipes'])}) and shown to the authors of "
        f"the rubrics beside the passages that they rest on (after Chen et al. 2026).",
        f"{counted(facts['n_authors'], 'author')} decided on {counted(facts['n_decided'], 'suggestion')} that count: "
        "those of cases whose rubric a second physician approved and that was published after the decision.",
        "A suggestion is taken as it is where its text, points and axis stand in the published rubric unchanged. The "
        "edit distance of a reworded one is the Levenshtein distance over code points divided by the longer length "
        "(Levenshtein 1966); its quartiles are linear between order statistics (Hyndman and Fan 1996).",
        "Survival is the share of suggestions that were ever taken which stand in the rubric in force. Findings are "
        "held against rejections by the area under the ROC curve (Hanley and McNeil 1982) of the gravest finding, from "
        "none over note and caution to problem.",
        f"Published criteria that no suggestion covers in full are those of the run of coverage {facts['coverage']}."
        if facts["coverage"]
        else "How many published criteria no suggestion covers is not known, since no run of coverage was named.",
        f"Active time is that in which authors ({counted(rubrics['n_timed'], 'case')}) and reviewers "
        f"({counted(rubrics['n_reviewed'], 'case')}) had a case open, over all of its versions. The intervals of its "
        "medians are of order statistics.",
        "There was no comparison with writing unaided, so the report does not say whether drafting saves time.",
    ]


KIND = Kind(
    value=Report.Kind.DRAFTING,
    parameters=frozenset({"coverage"}),
    complete=complete,
    compute=compute,
    title=title,
    form=DraftingForm,
    invitation=Invitation(
        gettext_lazy("Outcome of drafted criteria"),
        gettext_lazy(
            "How many suggestions physicians accepted, reworded and rejected, and why, by recipe, axis, "
            "author and month."
        ),
        gettext_lazy("This report requires a published rubric whose author has decided on suggestions."),
    ),
    template="agreement/kinds/drafting.html",
    body=body,
    figures=figures,
    headline=(gettext_lazy("Acceptance"), 3),
    methods=methods,
    digest=digest,
)
