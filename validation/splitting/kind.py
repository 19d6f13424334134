"""Runs that split the criteria of a set: the kind *splitting* of `scoring.pipelines`. Each case is a step."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext_lazy

from accounts.models import User
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
from validation.access import hidden_splitting_runs
from validation.coverage.content import Point
from validation.gates import sendable_cases
from validation.models.splitting import SPLIT_POINTS, SPLITTING
from validation.splitting.config import SplittingConfig, splitting_config
from validation.splitting.content import Statement, UnusablePoints, checked_points, points_as_they_are
from validation.splitting.prompts import splitting_messages

ENDPOINT = "model"


class PointAnswer(StructuredAnswer):
    """A point, and the number of its criterion."""

    text: str
    criterion: int


class PointsAnswer(StructuredAnswer):
    """The form of an answer."""

    points: list[PointAnswer]


class SplittingKind(PipelineKind[SplittingConfig]):
    """An answer that stays faulty leaves the criteria of its case as they are, and the output has the ``fault``."""

    name = SPLITTING
    label = gettext_lazy("Split criteria")
    route = "validation:splitting-run"
    stages = (SPLIT_POINTS,)

    def settings_of(self, run: PipelineRun, *, may_call: bool) -> SplittingConfig:
        """Its settings, with all criteria."""
        return splitting_config(run.config, may_call=may_call)

    def endpoints(self, settings: SplittingConfig) -> Mapping[str, EndpointUse]:
        """The one endpoint."""
        return {ENDPOINT: EndpointUse(settings.for_client(), settings.allowance)}

    def plan(self, settings: SplittingConfig, done: Mapping[StepName, Output]) -> Sequence[PlannedStep]:
        """One step."""
        return [PlannedStep(StepName(SPLIT_POINTS))]

    def materials(self, settings: SplittingConfig, run: PipelineRun, cases: Collection[int]) -> Mapping[int, Any]:
        """Key and conversation. A case is left out that was excluded meanwhile, or has an open privacy finding."""
        return sendable_cases(run, cases, settings.criteria)

    def input_of(
        self, settings: SplittingConfig, name: StepName, material: Any, done: Mapping[StepName, Output]
    ) -> Any:
        """The conversation and the criteria."""
        criteria = settings.criteria[material["case"]]
        return {"conversation": material["conversation"], "criteria": [each.stored() for each in criteria]}

    def request(self, settings: SplittingConfig, name: StepName, value: Any, nonce: str) -> StepRequest:
        """Conversation and criteria in fences."""
        criteria = list(map(Point.of, value["criteria"]))
        messages = splitting_messages(value["conversation"], criteria, nonce=nonce)
        return StepRequest(ENDPOINT, messages, settings.parameters(0))

    def output(self, settings: SplittingConfig, name: StepName, value: Any, answer: Answer) -> Output:
        """The points in the order of the criteria; an answer that loses or invents a criterion is asked for again."""
        text = answer.usable()
        given = parse_structured(text, PointsAnswer)
        try:
            points = checked_points(
                (Statement(own.criterion, own.text) for own in given.points), len(value["criteria"])
            )
        except UnusablePoints as error:
            raise ContentError(error.kind, str(error), text) from None
        return _output(points)

    def last_output(
        self, settings: SplittingConfig, name: StepName, value: Any, answer: Answer, fault: ContentError
    ) -> Output:
        """After an answer that is faulty still, each criterion is one point."""
        return {**_output(points_as_they_are(text for text, *_rest in value["criteria"])), "fault": fault.kind}

    def hidden_from(self, run: PipelineRun) -> Collection[int]:
        """Those who may still review a rubric of the set that the run splits."""
        people = User.objects.filter(benchmark_roles__benchmark=run.benchmark_id, benchmark_roles__active=True)
        return {user.pk for user in people if hidden_splitting_runs(user, run.benchmark).filter(pk=run.pk).exists()}


def _output(points: Sequence[Statement]) -> Output:
    return {"points": [point.stored() for point in points]}


KIND = register_kind(SplittingKind())
