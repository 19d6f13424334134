"""Runs that refine responses: the kind *refinement* of `scoring.pipelines`. Each arm plans, and then edits by the plan.

A response is refined from the base alone: no arm sees the plan or the text of another.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.utils.translation import gettext_lazy

from rubrics.editor.privacy import cases_with_open_findings
from rubrics.models import Case
from scoring.models import PipelineRun
from scoring.pipelines.kind import (
    TAKEN,
    Answer,
    Computed,
    EndpointUse,
    FinishedStep,
    Output,
    PipelineKind,
    PlannedStep,
    StepFault,
    StepName,
    StepRequest,
    register_kind,
)
from validation.coverage.content import Point
from validation.models.refinement import EDIT, PLAN, REFINEMENT
from validation.refinement.answers import read_edit, read_plan
from validation.refinement.checks import findings_of
from validation.refinement.config import SELF, RefinementConfig, refinement_config
from validation.refinement.prompts import edit_messages, plan_messages
from validation.refinement.storing import store_refined


class RefinementKind(PipelineKind[RefinementConfig]):
    """An answer that breaks the rules of its form is asked for again, with the reason; then the arm has no text."""

    name = REFINEMENT
    label = gettext_lazy("Refinement runs")
    route = "validation:refinement-run"
    stages = (PLAN, EDIT)

    def settings_of(self, run: PipelineRun, *, may_call: bool) -> RefinementConfig:
        """Its settings, with all texts."""
        return refinement_config(run.config, may_call=may_call)

    def endpoints(self, settings: RefinementConfig) -> Mapping[str, EndpointUse]:
        """One address; the editor may be another model."""
        return {stage: EndpointUse(settings.endpoint_of(stage), settings.allowance) for stage in self.stages}

    def plan(self, settings: RefinementConfig, done: Mapping[StepName, Output]) -> Sequence[PlannedStep]:
        """The steps of a case with criteria in every arm; which of them one has is stored with the run."""
        return steps_of(range(len(settings.arms)))

    def materials(self, settings: RefinementConfig, run: PipelineRun, cases: Collection[int]) -> Mapping[int, Any]:
        """Key and conversation. A case is left out that was excluded meanwhile, or has an open privacy finding."""
        rows = Case.objects.filter(pk__in=cases)
        if not run.replay:  # what was answered once may be read again
            rows = rows.included().exclude(pk__in=cases_with_open_findings(cases))
        known = rows.filter(key__in=settings.place_of).values_list("pk", "key", "conversation")
        return {pk: {"case": key, "conversation": conversation} for pk, key, conversation in known}

    def input_of(
        self, settings: RefinementConfig, name: StepName, material: Any, done: Mapping[StepName, Output]
    ) -> Any:
        """Conversation and base, with the criteria of the arm for the plan, and with the plan for the edit."""
        place, arm = settings.place_of[material["case"]], int(name.key)
        value = {"conversation": material["conversation"], "base": settings.cases[place].base}
        if name.stage == EDIT:
            return {**value, "plan": done[StepName(PLAN, name.key)]}
        criteria = settings.criteria(place, arm)
        is_guided = settings.arms[arm].kind != SELF
        return {**value, "criteria": [each.stored() for each in criteria or ()] if is_guided else None}

    def request(self, settings: RefinementConfig, name: StepName, value: Any, nonce: str) -> StepRequest | Computed:
        """All texts in fences. A plan without edits leaves the base as it is, and nobody is asked."""
        if name.stage == PLAN:
            criteria = None if value["criteria"] is None else tuple(map(Point.of, value["criteria"]))
            messages = plan_messages(value["conversation"], value["base"], criteria, nonce=nonce)
        elif not value["plan"]["edits"]:
            return Computed({"edits_done": [], "edits_refused": [], "text": value["base"]})
        else:
            messages = edit_messages(value["conversation"], value["base"], value["plan"], nonce=nonce)
        return StepRequest(name.stage, messages, settings.request_of(name.stage))

    def output(self, settings: RefinementConfig, name: StepName, value: Any, answer: Answer) -> Output:
        """The plan, or the refined text."""
        text = answer.usable()
        if name.stage == PLAN:
            return read_plan(text, value["base"], len(value["criteria"] or ()))
        return read_edit(text, value["plan"])

    def check(self, settings: RefinementConfig, name: StepName, value: Any, output: Output) -> list[Output]:
        """What the refined text has that neither base nor plan nor conversation accounts for."""
        if name.stage == PLAN:
            return []
        turns = [turn["content"] for turn in value["conversation"]]
        return findings_of(value["base"], value["plan"], turns, output)

    def keep(
        self, settings: RefinementConfig, run: PipelineRun, steps: Sequence[FinishedStep], *, at: datetime
    ) -> Mapping[int, StepFault]:
        """Store the refined texts as responses; one that exists already is not replaced, and its step fails."""
        return store_refined(run, settings, [step for step in steps if step.name.stage == EDIT], at=at)

    def may_ask_again(self, error_kind: str) -> bool:
        """Not where a response has come meanwhile."""
        return error_kind != TAKEN


def steps_of(arms: Collection[int]) -> list[PlannedStep]:
    """The steps of these arms: all plans, then all edits."""
    plans = [PlannedStep(StepName(PLAN, str(arm))) for arm in arms]
    edits = [PlannedStep(StepName(EDIT, str(arm)), needs=(StepName(PLAN, str(arm)),)) for arm in arms]
    return [*plans, *edits]


KIND = register_kind(RefinementKind())
