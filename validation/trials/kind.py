"""Runs that judge near-miss pairs by rubric sets: the kind *trials* of `scoring.pipelines`. Each trial is a step.

A trial has both texts of a pair in one request, so that the model sees what differs. Every trial is an answer of its
own (`StepRequest.draw`). Totals are added up here from the points of the criteria; what the model prefers is kept
apart. No step needs the output of another.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from django.utils.translation import gettext_lazy

from consilium.llm.errors import ContentError
from consilium.llm.structured import StructuredAnswer, parse_structured
from scoring.models import PipelineRun
from scoring.pipelines.kind import (
    Answer,
    EndpointUse,
    Output,
    PipelineKind,
    PlannedStep,
    StepName,
    StepRequest,
    register_kind,
)
from validation.coverage.content import Point
from validation.gates import sendable_cases
from validation.models.trials import NO_RUBRIC, SIDE_BY_SIDE, TRIALS
from validation.trials.config import TrialConfig, trial_config
from validation.trials.content import MAX_SCORE, Trial
from validation.trials.prompts import trial_messages

ENDPOINT = "model"
WRONG_NUMBERS = "wrong_numbers"
Decision = Literal["A", "B", "same"]


class ItemAnswer(StructuredAnswer):
    """A criterion by its number, and whether each text meets it."""

    criterion: int
    met_a: bool
    met_b: bool


class SideBySideAnswer(StructuredAnswer):
    """The form of an answer by criteria."""

    items: list[ItemAnswer]
    decision: Decision


class ScoreAnswer(StructuredAnswer):
    """The form of an answer without a rubric."""

    score_a: float
    score_b: float
    decision: Decision


class TrialsKind(PipelineKind[TrialConfig]):
    """An answer that stays faulty fails its step: a missing trial is left out of all figures, and counted."""

    name = TRIALS
    label = gettext_lazy("Runs of trials")
    route = "validation:trial-run"
    stages = (SIDE_BY_SIDE, NO_RUBRIC)

    @property
    def has_chains(self) -> bool:
        """Each step stands alone."""
        return False

    def settings_of(self, run: PipelineRun, *, may_call: bool) -> TrialConfig:
        """Its settings, with all texts."""
        return trial_config(run.config, may_call=may_call)

    def endpoints(self, settings: TrialConfig) -> Mapping[str, EndpointUse]:
        """The one endpoint."""
        return {ENDPOINT: EndpointUse(settings.for_client(), settings.allowance)}

    def plan(self, settings: TrialConfig, done: Mapping[StepName, Output]) -> Sequence[PlannedStep]:
        """The steps that any case has; which of them one has depends on its pairs, and is stored with the run."""
        content = settings.content
        trials = {trial for place in range(len(content.cases)) for trial in content.of_case(place)}
        return [PlannedStep(trial.step) for trial in sorted(trials, key=_by_number)]

    def materials(self, settings: TrialConfig, run: PipelineRun, cases: Collection[int]) -> Mapping[int, Any]:
        """Key and conversation. A case is left out that was excluded meanwhile, or has an open privacy finding."""
        return sendable_cases(run, cases, settings.place_of)

    def input_of(self, settings: TrialConfig, name: StepName, material: Any, done: Mapping[StepName, Output]) -> Any:
        """The conversation, the two texts in their order, the criteria, and which of the trials this is."""
        trial, place = Trial.of(name.key), settings.place_of[material["case"]]
        first, second = settings.content.texts(place, trial)
        return {
            "conversation": material["conversation"],
            "a": first,
            "b": second,
            "criteria": [each.stored() for each in settings.content.criteria(place, trial)],
            "is_reference_first": trial.is_reference_first,
            "trial": trial.number,
        }

    def request(self, settings: TrialConfig, name: StepName, value: Any, nonce: str) -> StepRequest:
        """Both texts and the criteria in fences."""
        criteria = [Point.of(each) for each in value["criteria"]]
        messages = trial_messages(value["conversation"], value["a"], value["b"], criteria, nonce=nonce)
        return StepRequest(ENDPOINT, messages, settings.parameters(value["trial"]), draw=value["trial"])

    def output(self, settings: TrialConfig, name: StepName, value: Any, answer: Answer) -> Output:
        """Which criteria reference and candidate meet, their totals, and the stated decision."""
        text = answer.usable()
        if name.stage == NO_RUBRIC:
            scores = parse_structured(text, ScoreAnswer)
            if not all(0 <= score <= MAX_SCORE for score in (scores.score_a, scores.score_b)):
                raise ContentError("wrong_score", f"a score is a number from 0 to {MAX_SCORE}", text)
            return _output(value, (scores.score_a, scores.score_b), scores.decision)
        given = parse_structured(text, SideBySideAnswer)
        n = len(value["criteria"])
        if sorted(item.criterion for item in given.items) != list(range(1, n + 1)):
            raise ContentError(WRONG_NUMBERS, f"each of the numbers 1 to {n} is answered once", text)
        items = sorted(given.items, key=lambda item: item.criterion)
        met = ([item.met_a for item in items], [item.met_b for item in items])
        points = [Point.of(each).points for each in value["criteria"]]
        totals = tuple(sum(own for own, is_met in zip(points, side, strict=True) if is_met) for side in met)
        return _output(value, (totals[0], totals[1]), given.decision, met)


def _output(
    value: Any,
    totals: tuple[float, float],
    decision: Decision,
    met: tuple[list[bool], list[bool]] | None = None,
) -> Output:
    """The output in terms of reference and candidate, whichever stood first."""
    first, second = ("reference", "candidate") if value["is_reference_first"] else ("candidate", "reference")
    stated = {"A": first, "B": second, "same": "same"}[decision]
    output: Output = {
        f"total_{first}": totals[0],
        f"total_{second}": totals[1],
        "stated": stated,
        "decision": decision,
    }
    if met is not None:
        output |= {f"met_{first}": met[0], f"met_{second}": met[1]}
    return output


def _by_number(trial: Trial) -> tuple[int, int, str, str]:
    """The first trials of all series and pairs come first, so that a run that is cut short has some of each."""
    return trial.number, trial.pair, trial.series, trial.order


KIND = register_kind(TrialsKind())
