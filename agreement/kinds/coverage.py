"""How much of the intended content sets of criteria cover, from the answers of a run and physicians' decisions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agreement.forms import ReportForm, choose
from agreement.kinds.coverage_page import body, figures
from agreement.kinds.kind import Invitation, Kind, Parameters
from agreement.kinds.shared import drafted_words, headline, own_criteria_words, tables_of
from agreement.models import Report
from agreement.reports.interval_facts import interval_facts
from agreement.reports.parameters import WrongParameters
from agreement.reports.sentences import counted, listed
from agreement.reports.stored import table_of
from agreement.reports.tables import Result
from consilium.core.clock import day
from consilium.core.jobs import Progress, no_progress
from consilium.statistics.intent_alignment import Extent
from consilium.statistics.intervals import DEFAULT_RULE, IntervalRule
from consilium.statistics.jackknife import effective_cases
from rubrics.models import Benchmark
from validation.coverage.building import FEW_CASES
from validation.coverage.inputs import read_coverage
from validation.coverage.selectors import questions_about_points, reported_runs
from validation.coverage.tables import coverage_files
from validation.files.coverage_tables import CASES, POINTS
from validation.files.table_rows import ALL
from validation.models import CoverageRun

OVER = {CASES: gettext_lazy("Cases"), POINTS: gettext_lazy("Gold points, as in some publications")}


class CoverageForm(ReportForm):
    """A run, and what intervals are over."""

    run = forms.ChoiceField(label=gettext_lazy("Run"))
    over = forms.ChoiceField(
        label=gettext_lazy("Intervals are over"),
        choices=list(OVER.items()),
        initial=CASES,
        help_text=gettext_lazy("Gold points of one case are not independent."),
    )
    field_order = ["run", "over", "interval", "seed"]

    def offer(self, benchmark: Benchmark) -> None:
        runs = list(reported_runs(benchmark))
        self.ready = bool(runs)
        choose(self, "run", [(run.public_id, run_title(run)) for run in runs])


def run_title(run: CoverageRun) -> str:
    """A run as a choice names it."""
    return _("%(sets)s against %(gold)s, by %(model)s, %(date)s") % {
        "sets": ", ".join(run.set_names),
        "gold": run.gold_name,
        "model": run.model_name,
        "date": day(run.created_at),
    }


def run_called(benchmark: Benchmark, public_id: Any, *, replays: bool = False) -> CoverageRun:
    """The run that a report is about; `WrongParameters` where there is none with this id that has ended."""
    runs = reported_runs(benchmark, with_settings=True, replays=replays)
    run = runs.filter(public_id=public_id).first() if isinstance(public_id, str) else None
    if run is None:
        raise WrongParameters(_("“run” does not name a coverage run that has ended."), field="parameters.run")
    return run


def complete(benchmark: Benchmark, parameters: Mapping[str, Any]) -> dict[str, Any]:
    run = run_called(benchmark, parameters.get("run"))
    over = parameters.get("over") or CASES
    if over not in OVER:
        raise WrongParameters(
            _("“over” must be one of: %(names)s.") % {"names": ", ".join(OVER)}, field="parameters.over"
        )
    named = {"sets": run.set_names, "model": run.model_name}
    if any(parameters.get(name, own) != own for name, own in named.items()):
        raise WrongParameters(_("This run measured other sets or used another model."), field="parameters.run")
    return {"run": run.public_id, "over": over, **named}


def compute(
    benchmark: Benchmark,
    *,
    run: str,
    over: str,
    sets: list[str],
    model: str,
    rule: IntervalRule = DEFAULT_RULE,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Result:
    """The tables of the command ``coverage``; the sets and the model are those of the run."""
    inputs = read_coverage(run_called(benchmark, run))
    progress(0.2)
    tables = tables_of(coverage_files(inputs, rule=rule, over=over))
    everything = [row for row in tables["coverage"].dicts() if row["slice"] == ALL]
    sizes = np.bincount(inputs.file.case, minlength=inputs.file.n_cases).astype(np.float64)[:, None]
    extents = [answer.extent for place in range(len(inputs.names)) for answer in inputs.series_of(place)]
    facts = {
        "run": run,
        "model": model,
        "endpoint": inputs.config.endpoint,
        "endpoint_kind": str(inputs.endpoint_kind),
        "judged_by": str(inputs.run.endpoint_kind),
        "gold": inputs.config.gold.model_dump(exclude_none=True),
        "sets": [own.model_dump(exclude_none=True) for own in inputs.config.sets],
        "names_its_judge": inputs.run.terms.get("names_its_judge", []),
        "over": over,
        "share": inputs.config.share,
        "n_cases": inputs.file.n_cases,
        "n_points": len(inputs.gold),
        "n_invalid": extents.count(Extent.INVALID),
        "n_missing": extents.count(Extent.MISSING),
        "n_questions": questions_about_points(inputs.run),
        "n_decided": sum(bool(own.decision) for place in range(len(sets)) for own in inputs.series_of(place)),
        "few_cases": inputs.file.n_cases < FEW_CASES,
        "headline": headline(everything[0], "cia"),
        **interval_facts(rule, float(effective_cases(sizes)[0])),
    }
    return Result(tables=tables, facts=facts, digest=inputs.digest)


def title(given: Parameters, runs: Mapping[str, str] | None = None) -> str:
    """What a report of this kind is called."""
    named = {"sets": ", ".join(given["sets"]), "model": given["model"]}
    return _("Coverage of %(sets)s, by %(model)s") % named


def digest(benchmark: Benchmark, given: Parameters) -> str:
    """Of what `compute` would read now."""
    return read_coverage(run_called(benchmark, given["run"])).digest


def methods(report: Report) -> list[str]:
    facts = report.result["facts"]
    names = [own["name"] for own in facts["sets"]]
    digests = ", ".join(f"{own['name']} {own['digest'][:12]}" for own in (facts["gold"], *facts["sets"]))
    by_rules = facts.get("judged_by", facts["endpoint_kind"]) == "rules"
    controls = [row for row in table_of(report, "coverage_controls").dicts() if row["slice"] == ALL]
    shown = [f"{_control_words(row)} {row['cia']:.3f}" for row in controls if row["cia"] is not None]
    return [
        f"How much of the intended content {listed(names)} of the benchmark {report.benchmark.title} "
        f"{'covers' if len(names) == 1 else 'cover'} is Clinical Intent Alignment (Chen et al. 2026), over "
        f"{counted(facts['n_points'], 'gold point')} of the set {facts['gold']['name']} on "
        f"{counted(facts['n_cases'], 'case')}.",
        *_split_words(facts["gold"]),
        *(words for own in (facts["gold"], *facts["sets"]) for words in drafted_words(own)),
        f"{'The rules' if by_rules else 'The model ' + facts['model']} said of each gold point whether a set covers it "
        "in full, in part or not at all, and by which criteria; and likewise of each criterion of a set against the "
        "gold points.",
        f"An answer that names no criterion, or one that is not there, was asked for again and is then invalid; "
        f"{facts['n_invalid']:,} invalid and {facts['n_missing']:,} missing answers count as not covered.",
        own_criteria_words(facts["names_its_judge"]),
        f"As controls, the gold set was held against itself and each set against the gold points of the case before: "
        f"CIA was {listed(shown)}."
        if shown
        else "",
        f"Physicians, who saw neither the set nor the answer, decided on {_decided_words(facts)}all that were partly "
        f"or invalid, and a share of {facts['share']:g} of the others, drawn at random. CIA put right by them is "
        "prediction-powered (Angelopoulos et al. 2023); a decision weighs the inverse of the share of its stratum, "
        "the set and the model’s answer, that was decided on."
        if facts["n_decided"]
        else "No physician has decided on any of these answers yet.",
        "Two sets are compared on the same gold points, by McNemar’s test clustered over cases (McNemar 1947, "
        "Obuchowski 1998), and exact and mid-p beside it, which take gold points for independent."
        if len(names) > 1
        else "",
        "Intervals are over gold points, which are not independent within a case." if facts["over"] == POINTS else "",
        f"Sets by SHA-256: {digests}.",
    ]


def _decided_words(facts: Mapping[str, Any]) -> str:
    """How many answers physicians decided on, up to what was put to them."""
    decided, n_questions = facts["n_decided"], facts.get("n_questions", 0)
    if decided < n_questions:
        return f"{decided:,} of {counted(n_questions, 'answer')} that were put to them in random order: "
    return f"{counted(decided, 'answer')}: "


def _split_words(gold: Mapping[str, Any]) -> list[str]:
    """What the methods say of a gold set whose criteria were split."""
    split = gold.get("split")
    if split is None:
        return []
    by = "Rules, and no language model," if split["by_rules"] else f"The model {split['model']}"
    whole = f"; those of {counted(split['unsplit'], 'case')} stayed as they are" if split["unsplit"] else ""
    corrected = f", and authors corrected those of {counted(split['corrected'], 'case')}" if split["corrected"] else ""
    return [
        f"{by} split the {counted(split['criteria'], 'criterion', 'criteria')} of the set {split['source']} on "
        f"{counted(split['cases'], 'case')} into {counted(split['points'], 'gold point')}, single statements of which "
        f"each keeps the points and the axis of its criterion{corrected}{whole}. Over criteria, one is covered in full "
        "if each of its points is."
    ]


def _control_words(row: Mapping[str, Any]) -> str:
    if row["control"] == "itself":
        return f"for {row['set']} against itself"
    return f"for {row['set']} of the next case"


KIND = Kind(
    value=Report.Kind.COVERAGE,
    parameters=frozenset({"run", "over", "sets", "model"}),
    complete=complete,
    compute=compute,
    title=title,
    form=CoverageForm,
    invitation=Invitation(
        gettext_lazy("How much of the intended content the rubric sets cover"),
        gettext_lazy(
            "Which gold points each set covers according to a run, shown between two controls and "
            "corrected with physicians’ decisions."
        ),
        gettext_lazy("This report requires a coverage run that has ended. Compare rubric sets with a gold set first."),
    ),
    template="agreement/kinds/coverage.html",
    body=body,
    figures=figures,
    headline=(gettext_lazy("Clinical Intent Alignment (CIA)"), 3),
    methods=methods,
    digest=digest,
)
