"""Whether rubric sets can guide an improvement: scores of responses before and after they were refined."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agreement.forms import ReportForm, choose, grouped
from agreement.kinds.kind import Invitation, Kind, Parameters
from agreement.kinds.refinement_page import body, figures
from agreement.kinds.shared import drafted_words, headline, raters_table, tables_of
from agreement.models import Report
from agreement.reports.interval_facts import interval_facts
from agreement.reports.parameters import WrongParameters, named_raters
from agreement.reports.sentences import counted, listed, rater_in_words
from agreement.reports.stored import table_of
from agreement.reports.tables import Result
from agreement.selectors.rater_choices import display_name, group_choices, rater_choices
from consilium.core.clock import day
from consilium.core.jobs import Progress, no_progress
from consilium.statistics.intervals import DEFAULT_RULE, IntervalRule
from consilium.statistics.jackknife import effective_cases
from rubrics.models import Benchmark
from scoring.selectors.raters import resolve_rater
from validation.coverage.building import FEW_CASES
from validation.files.table_rows import ALL
from validation.models import RefinementRun
from validation.refinement.graded_run import read_refinement_run
from validation.refinement.selectors import grading_runs, reported_runs
from validation.refinement.tables import refinement_files


class RefinementForm(ReportForm):
    """A run of refinement, and who grades its texts."""

    run = forms.ChoiceField(label=gettext_lazy("Run"))
    rater = forms.ChoiceField(
        label=gettext_lazy("Graded by"),
        help_text=gettext_lazy("A judge run over base and refined responses, or a group that graded both."),
    )
    field_order = ["run", "rater", "interval", "seed"]

    def offer(self, benchmark: Benchmark) -> None:
        runs = list(reported_runs(benchmark))
        own = {f"run:{run.public_id}" for refined in runs for run in grading_runs(refined)}
        raters = [offer for offer in rater_choices(benchmark) if offer.rater in own]
        raters += group_choices(benchmark)
        self.ready = bool(runs and raters)
        choose(self, "run", [(run.public_id, run_title(run)) for run in runs])
        choose(self, "rater", grouped(raters))


def run_title(run: RefinementRun) -> str:
    """A run as a choice names it."""
    return _("%(base)s: %(arms)s, by %(model)s, %(date)s") % {
        "base": run.base_name,
        "arms": ", ".join(run.arm_names),
        "model": ", ".join(run.model_names),
        "date": day(run.created_at),
    }


def run_called(benchmark: Benchmark, public_id: Any, *, replays: bool = False) -> RefinementRun:
    """The run that a report is about; `WrongParameters` where there is none with this id that has ended."""
    runs = reported_runs(benchmark, with_settings=True, replays=replays)
    run = runs.filter(public_id=public_id).first() if isinstance(public_id, str) else None
    if run is None:
        raise WrongParameters(_("“run” does not name a refinement run that has ended."), field="parameters.run")
    return run


def complete(benchmark: Benchmark, parameters: Mapping[str, Any]) -> dict[str, Any]:
    run = run_called(benchmark, parameters.get("run"))
    named = {"base": run.base_name, "arms": run.arm_names}
    if any(parameters.get(name, own) != own for name, own in named.items()):
        raise WrongParameters(_("This run has a different base or different arms."), field="parameters.run")
    return {"run": run.public_id, **named_raters(benchmark, parameters, "rater"), **named}


def compute(
    benchmark: Benchmark,
    *,
    run: str,
    rater: str,
    base: str,
    arms: list[str],
    rule: IntervalRule = DEFAULT_RULE,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Result:
    """The tables of the command ``refinement``; base and arms are those of the run."""
    grader = resolve_rater(benchmark, rater)
    inputs = read_refinement_run(run_called(benchmark, run), grader)
    progress(0.2)
    behind = raters_table(grader)
    tables = {**tables_of(refinement_files(inputs, rule=rule, seed=seed)), "raters": behind}
    everything = [row for row in tables["refinement"].dicts() if row["slice"] == ALL]
    cases = max((row["n"] for row in everything), default=0)
    leading = next((row for row in everything if row["n"]), everything[0])
    facts = {
        "run": run,
        "base": base,
        "models": inputs.config.models,
        "endpoint": inputs.config.endpoint,
        "endpoint_kind": inputs.endpoint_kind,
        "refined_by": inputs.run.endpoint_kind,
        "rater": inputs.grader.label,
        "raters": behind.dicts(),
        "arms": [
            {**arm.model_dump(), "taken_out": stored.get("taken_out", 0), "criteria": _n_criteria(inputs.config, place)}
            for place, (arm, stored) in enumerate(zip(inputs.config.arms, inputs.run.terms["arms"], strict=True))
        ],
        "split": inputs.config.split,
        "draw_seed": inputs.config.draw_seed,
        "upper_bound": inputs.upper_bound,
        "refining_judges": inputs.refining_judges,
        "taught_since": inputs.taught_since,
        "lost": inputs.lost,
        "n_cases": len(inputs.config.cases),
        "n_texts": sum(text.text is not None for text in inputs.texts),
        "n_due": len(inputs.texts),
        "n_harms": len(tables["refinement_harms"].rows),
        "few_cases": cases < FEW_CASES,
        "n_scored": cases,
        "case_ids": _case_ids(inputs.run, [case.key for case in inputs.config.cases]),
        "headline": headline(leading, "gain"),
        **interval_facts(rule, float(effective_cases(np.ones((cases, 1)))[0]) if cases else None),
    }
    return Result(tables=tables, facts=facts, digest=inputs.digest)


def _n_criteria(config: Any, arm: int) -> int:
    return sum(len(case.arms[arm] or ()) for case in config.cases)


def _case_ids(run: RefinementRun, keys: list[str]) -> dict[str, str]:
    rows = run.steps.filter(case__key__in=keys).order_by().values_list("case__key", "case__public_id")
    return dict(rows.distinct())


def title(given: Parameters, runs: Mapping[str, str] | None = None) -> str:
    """What a report of this kind is called."""
    named = {"base": given["base"], "arms": ", ".join(given["arms"]), "rater": display_name(given["rater"], runs)}
    return _("Refinement of %(base)s by %(arms)s, graded by %(rater)s") % named


def digest(benchmark: Benchmark, given: Parameters) -> str:
    """Of what `compute` would read now."""
    return read_refinement_run(run_called(benchmark, given["run"]), resolve_rater(benchmark, given["rater"])).digest


_GUIDED = {
    "set": "the criteria of the rubric set {name}",
    "self": "no criteria (self-critique)",
    "gold": "all criteria of the gold rubric, as an upper bound",
    "half": "the half of the gold criteria that does not grade",
}


def methods(report: Report) -> list[str]:
    facts = report.result["facts"]
    arms = [_GUIDED[arm["kind"]].format(name=arm["name"]) for arm in facts["arms"]]
    bounds = [arm["name"] for arm in facts["arms"] if arm["upper_bound"] and arm["kind"] == "set"]
    taught = [f"{arm['taken_out']:,} of {arm['name']}" for arm in facts["arms"] if arm["taken_out"]]
    sets = [arm for arm in facts["arms"] if arm["rubric_set"]]
    digests = ", ".join(f"{arm['name']} {arm['rubric_set']['digest'][:12]}" for arm in sets)
    whole = [row for row in table_of(report, "refinement").dicts() if row["slice"] == ALL]
    n_new = sum(row["new_numbers"] or 0 for row in whole)
    return [
        f"The texts were graded by {listed(facts['refining_judges'])}, whose model also planned or edited them: these "
        "gains are not independent."
        if facts["refining_judges"]
        else "",
        f"Responses of {facts['base']} to {counted(facts['n_cases'], 'case')} of the benchmark "
        f"{report.benchmark.title} were refined (after Chen et al. 2026), guided by {listed(arms)}.",
        *(words for arm in sets for words in drafted_words(arm["rubric_set"])),
        f"{_refiners(facts)} planned edits, and then carried out the plan and nothing else.",
        f"Base and refined texts were graded alike, criterion by criterion of the gold rubric, by "
        f"{rater_in_words(facts['rater'])}, who was not shown which is which.",
        f"The gold criteria of each case were split into halves by a draw with seed {facts['draw_seed']}: one half "
        "guides, and all arms are graded by the other half alone. Guiding criteria that are the same as one that "
        "grades, or alike (cosine of TF-IDF vectors at least 0.9), were taken out"
        f"{': ' + listed(taught) if taught else ' where there were any'}."
        if facts["split"]
        else "",
        f"{listed(bounds)} {'shares' if len(bounds) == 1 else 'share'} criteria with the gold rubric, and "
        f"{'is an upper bound' if len(bounds) == 1 else 'are upper bounds'}."
        if bounds
        else "",
        *(
            "Since the run began, the grading rubrics have taken in "
            f"{counted(n, 'guiding criterion', 'guiding criteria')} of {name}: its gain is that of an upper bound."
            for name, n in facts.get("taught_since", {}).items()
        ),
        f"{facts['lost']:,} criteria that were to grade are no longer in the published rubrics."
        if facts["lost"]
        else "",
        "Scores are HealthBench scores times 100. The gain is the mean difference over cases with both scores; it is "
        "divided by the mean base (relative), by what the base lacks to 100 (headroom), and by the gain of the upper "
        "bound on the same cases; relative_of_cases is the mean of each case’s own gain over its base, over cases with "
        "a base above 0. These are different figures, and all are called relative improvement in print.",
        "The two-sided sign-flip test takes the mean gain over all patterns of signs, exactly up to 20 cases and else "
        "over 100,000 drawn ones.",
        "Numbers with units and words like names of drugs are new where neither the base nor an edit that was carried "
        f"out nor the conversation has them; there are {n_new:,} new numbers in these texts.",
        "The gain at equal length is the coefficient of refinement in a least-squares fit of score on case, length in "
        "code points and refinement.",
        f"Sets by SHA-256: {digests}." if digests else "",
    ]


def _refiners(facts: Mapping[str, Any]) -> str:
    if facts.get("refined_by", facts["endpoint_kind"]) == "rules":
        return "The rules"
    return f"The {'model' if len(facts['models']) == 1 else 'models'} {listed(facts['models'])}"


KIND = Kind(
    value=Report.Kind.REFINEMENT,
    parameters=frozenset({"run", "rater", "base", "arms"}),
    complete=complete,
    compute=compute,
    title=title,
    form=RefinementForm,
    invitation=Invitation(
        gettext_lazy("Whether rubric sets can guide an improvement"),
        gettext_lazy(
            "Gains of refined responses over their bases by arm and axis, with length, harms, and "
            "numbers of unknown origin."
        ),
        gettext_lazy("This report requires a refinement run that has ended, and a rater who has graded its texts."),
    ),
    template="agreement/kinds/refinement.html",
    body=body,
    figures=figures,
    headline=(gettext_lazy("Gain in points"), 2),
    methods=methods,
    digest=digest,
)
