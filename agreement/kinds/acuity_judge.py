"""How well a judge reads levels of care out of responses, beside how well physicians agree on the same ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agreement.acuity.judge_inputs import JudgeInputs, read_judge, run_of_judge
from agreement.acuity.judge_instruments import instrument_tables
from agreement.acuity.judge_tables import ENOUGH_READ, judge_tables
from agreement.acuity.measures import Price
from agreement.acuity.parameters import chosen_ratio, finite_number, reference_set_of
from agreement.acuity.plan_facts import judge_plan_facts, plan_methods
from agreement.acuity.released_runs import release_methods
from agreement.forms import ReportForm, choose
from agreement.kinds.acuity_judge_figures import figures
from agreement.kinds.acuity_judge_page import body
from agreement.kinds.kind import Invitation, Kind, Parameters
from agreement.kinds.shared import tables_of
from agreement.models import Report
from agreement.reports.endpoint_facts import endpoint_facts
from agreement.reports.interval_facts import interval_facts
from agreement.reports.parameters import WrongParameters
from agreement.reports.sentences import counted
from agreement.reports.stored import table_names, table_of
from agreement.reports.tables import Result
from agreement.selectors.rater_choices import display_name
from annotation.models import ReferenceSet
from consilium.core.clock import day
from consilium.core.errors import DomainError
from consilium.core.jobs import Progress, no_progress
from consilium.core.out_folder import OutTable
from consilium.statistics.intervals import DEFAULT_RULE, IntervalRule
from consilium.statistics.noninferiority import DEFAULT_MARGIN
from consilium.statistics.triage_cost import RATIO
from rubrics.models import Benchmark
from scoring.models import JudgeRun


def _runs(benchmark: Benchmark) -> list[JudgeRun]:
    rows = JudgeRun.objects.finished(JudgeRun.Purpose.ACUITY).filter(benchmark=benchmark)
    return list(rows.select_related("judge__scale"))


class AcuityJudgeForm(ReportForm):
    """A run of a judge, a margin, and the references for rates of candidates."""

    run = forms.ChoiceField(label=gettext_lazy("Run"))
    margin = forms.FloatField(
        label=gettext_lazy("Margin"),
        initial=DEFAULT_MARGIN,
        min_value=0.001,
        max_value=0.999,
        help_text=gettext_lazy("How far the judge may fall short of the physicians and still count as no worse."),
    )
    reference_set = forms.TypedChoiceField(label=gettext_lazy("Reference set"), coerce=int, required=False)
    ratio = forms.FloatField(label=gettext_lazy("Relative cost of a level too low"), initial=RATIO, min_value=0)
    field_order = ["run", "margin", "reference_set", "ratio", "interval", "seed"]

    def offer(self, benchmark: Benchmark) -> None:
        runs = _runs(benchmark)
        choose(
            self,
            "run",
            [(run.public_id, f"{run.judge.name}, {day(run.finished_at or run.created_at)}") for run in runs],
        )
        sets = ReferenceSet.objects.filter(benchmark=benchmark).select_related("scale")
        choose(self, "reference_set", [("", "–"), *((row.number, f"{row.number} ({row.scale})") for row in sets)])
        self.ready = bool(runs)

    def parameters(self) -> dict[str, Any]:
        """As `complete` takes them: without a reference set where none was chosen."""
        given = super().parameters()
        return (
            given if given["reference_set"] else {name: own for name, own in given.items() if name != "reference_set"}
        )


def complete(benchmark: Benchmark, parameters: Mapping[str, Any]) -> dict[str, Any]:
    margin = finite_number(parameters.get("margin", DEFAULT_MARGIN))
    if margin is None or not 0 < margin < 1:
        raise WrongParameters(_("“margin” must be a number between 0 and 1."), field="parameters.margin")
    run_id = str(parameters.get("run", "") or "").removeprefix("run:")
    if not run_id:
        run_id = next((run.public_id for run in _runs(benchmark)), "")
    try:
        run = run_of_judge(benchmark, run_id)
    except DomainError as error:
        raise WrongParameters(str(error)) from None
    number = parameters.get("reference_set")
    if number in (None, "", 0):
        # Without a set there are no rates of candidates; the rest of the report needs none.
        newest = ReferenceSet.objects.filter(benchmark=benchmark, scale=run.judge.scale).order_by("-number").first()
        number = newest.number if newest else 0
    elif reference_set_of(benchmark, number).scale_id != run.judge.scale_id:
        raise WrongParameters(
            _("The reference set and the judge use different scales."), field="parameters.reference_set"
        )
    return {"run": run.lasting_id, "margin": margin, "reference_set": number, "ratio": chosen_ratio(parameters)}


def read(benchmark: Benchmark, run: str, reference_set: int) -> JudgeInputs:
    """The responses of the run with what physicians read in them, and decisions on criteria about emergency care."""
    chosen = reference_set_of(benchmark, reference_set) if reference_set else None
    return read_judge(run_of_judge(benchmark, run), chosen)


def judge_files(
    inputs: JudgeInputs, run: JudgeRun, *, margin: float, ratio: float, rule: IntervalRule
) -> list[OutTable]:
    """All tables of a report, as files."""
    assert run.judge.scale is not None
    values = [level["value"] for level in run.judge.scale.levels]
    return [
        *judge_tables(inputs.responses, values, margin=margin, price=Price(ratio), rule=rule),
        *instrument_tables(inputs.decisions, values, rule=rule),
    ]


def compute(
    benchmark: Benchmark,
    *,
    run: str,
    margin: float,
    reference_set: int,
    ratio: float,
    rule: IntervalRule = DEFAULT_RULE,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Result:
    """The tables of the command ``acuity_judge``."""
    inputs = read(benchmark, run, reference_set)
    progress(0.3)
    row = run_of_judge(benchmark, run)
    assert row.judge.scale is not None
    tables = tables_of(judge_files(inputs, row, margin=margin, ratio=ratio, rule=rule))
    facts = {
        "run": row.public_id,
        "judge": row.judge.name,
        "judge_version": row.judge.version,
        "prompt_hash": row.prompt_hash,
        **endpoint_facts([row.endpoint_kind]),
        **({"releases": {row.imported_from: 1}} if row.imported_from else {}),
        **judge_plan_facts(
            row, reference_set_of(benchmark, reference_set) if reference_set else None, {"ratio": ratio}
        ),
        "scale": str(row.judge.scale),
        "levels": row.judge.scale.levels,
        "margin": margin,
        "ratio": ratio,
        "reference_set": reference_set,
        "n_responses": len(inputs.responses),
        "n_read": inputs.n_read,
        "enough_read": inputs.n_read >= ENOUGH_READ,
        "n_emergency_criteria": inputs.n_emergency_criteria,
        **interval_facts(rule, None),
    }
    return Result(tables=tables, facts=facts, digest=inputs.digest)


def title(given: Parameters, runs: Mapping[str, str] | None = None) -> str:
    """What a report of this kind is called."""
    return _("How well %(judge)s reads levels") % {"judge": display_name(f"run:{given['run']}", runs)}


def methods(report: Report) -> list[str]:
    facts = report.result["facts"]
    sentences = [
        f"The judge {facts['judge']}, version {facts['judge_version']}, read which level of the scale {facts['scale']} "
        f"each of {facts['n_responses']:,} responses advises; physicians read {facts['n_read']:,} of them, "
        "without seeing candidate, judge or each other.",
        "Pairs of one response share a weight of 1. Rates of candidates are prediction-powered (Angelopoulos et al. "
        "2023). They rest on responses drawn for this run evenly over the judge’s level and the candidate; a response "
        "weighs the inverse of the share of its stratum in which physicians found a level.",
        *release_methods(facts),
        *plan_methods(facts),
    ]
    if "instruments" in table_names(report) and table_of(report, "instruments").rows:
        sentences.append(
            f"Decisions on {counted(facts['n_emergency_criteria'], 'criterion', 'criteria')} about emergency care were "
            "set beside the readings of the same responses: a referral in an emergency beside advice of the highest "
            "level, a referral under a condition beside the highest level advised under a condition, and restraint "
            "beside advice of a lower level, with Cohen’s κ (Cohen 1960)."
        )
    return sentences


def digest(benchmark: Benchmark, given: Parameters) -> str:
    """Of what `compute` would read now."""
    return read(benchmark, given["run"], given["reference_set"]).digest


KIND = Kind(
    value=Report.Kind.ACUITY_JUDGE,
    parameters=frozenset({"run", "margin", "reference_set", "ratio"}),
    complete=complete,
    compute=compute,
    title=title,
    form=AcuityJudgeForm,
    invitation=Invitation(
        gettext_lazy("Check a judge that reads levels"),
        gettext_lazy(
            "The judge’s readings compared with physicians’ readings of the same responses, and rates "
            "corrected with them."
        ),
        gettext_lazy("This report requires a finished run of a judge that reads levels."),
    ),
    template="agreement/kinds/acuity_judge.html",
    body=body,
    figures=figures,
    methods=methods,
    digest=digest,
)
