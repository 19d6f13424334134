"""Runs that ask how far the criteria of sets cover gold points: the kind *coverage* of `scoring.pipelines`.

Each gold point is held against the criteria of each set, those of the same set for the next case, and the gold points
themselves; each criterion of a set against the gold points. No step needs the output of another.
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
    Computed,
    EndpointUse,
    Output,
    PipelineKind,
    PlannedStep,
    StepName,
    StepRequest,
    register_kind,
)
from validation.coverage.config import CoverageConfig, coverage_config
from validation.coverage.content import Point, parsed
from validation.coverage.prompts import coverage_messages
from validation.gates import sendable_cases
from validation.models.coverage import BACK, COVERAGE, FORWARD

ENDPOINT = "model"
INVALID = "invalid"  # the extent of an answer that stayed faulty


class ExtentAnswer(StructuredAnswer):
    """The form of an answer; ``by`` are numbers of the list."""

    extent: Literal["full", "partly", "none"]
    by: list[int]
    why: str


class CoverageKind(PipelineKind[CoverageConfig]):
    """An answer that stays faulty is *invalid*, which counts as not covered; only where none came does a step fail."""

    name = COVERAGE
    label = gettext_lazy("Coverage runs")
    route = "validation:coverage-run"
    stages = (FORWARD, BACK)

    @property
    def has_chains(self) -> bool:
        """Each step stands alone."""
        return False

    def settings_of(self, run: PipelineRun, *, may_call: bool) -> CoverageConfig:
        """Its settings, with all texts."""
        return coverage_config(run.config, may_call=may_call)

    def endpoints(self, settings: CoverageConfig) -> Mapping[str, EndpointUse]:
        """The one endpoint."""
        return {ENDPOINT: EndpointUse(settings.for_client(), settings.allowance)}

    def plan(self, settings: CoverageConfig, done: Mapping[StepName, Output]) -> Sequence[PlannedStep]:
        """The steps that any case has; which of them one has depends on its points, and is stored with the run."""
        content = settings.content
        names = {name for place in range(len(content.cases)) for name in content.steps(place)}
        return [PlannedStep(name) for name in sorted(names, key=_by_number)]

    def materials(self, settings: CoverageConfig, run: PipelineRun, cases: Collection[int]) -> Mapping[int, Any]:
        """Key and conversation. A case is left out that was excluded meanwhile, or has an open privacy finding."""
        return sendable_cases(run, cases, settings.place_of)

    def input_of(self, settings: CoverageConfig, name: StepName, material: Any, done: Mapping[StepName, Output]) -> Any:
        """The conversation, the point and the list that it is held against."""
        point, criteria = settings.content.question(settings.place_of[material["case"]], name)
        return {
            "conversation": material["conversation"],
            "point": point.stored(),
            "criteria": [each.stored() for each in criteria],
        }

    def request(self, settings: CoverageConfig, name: StepName, value: Any, nonce: str) -> StepRequest | Computed:
        """The point and the list in fences; an empty list covers nothing, and nobody is asked."""
        if not value["criteria"]:
            return Computed({"extent": "none", "by": [], "why": ""})
        criteria = [Point.of(each) for each in value["criteria"]]
        messages = coverage_messages(name.stage, value["conversation"], Point.of(value["point"]), criteria, nonce=nonce)
        return StepRequest(ENDPOINT, messages, settings.parameters(0))

    def output(self, settings: CoverageConfig, name: StepName, value: Any, answer: Answer) -> Output:
        """The extent with the numbers that it names; what names no number of the list is asked for again."""
        text = answer.usable()
        given = parse_structured(text, ExtentAnswer)
        if given.extent == "full" and not given.by:
            raise ContentError("wrong_numbers", "full names no number of the list", text)
        if any(not 1 <= number <= len(value["criteria"]) for number in given.by):
            raise ContentError("wrong_numbers", f"the list has the numbers 1 to {len(value['criteria'])}", text)
        return {**given.model_dump(), "by": sorted(set(given.by))}

    def last_output(
        self, settings: CoverageConfig, name: StepName, value: Any, answer: Answer, fault: ContentError
    ) -> Output:
        """An answer that is faulty still is *invalid*."""
        return {"extent": INVALID, "by": [], "why": "", "fault": fault.kind}


def _by_number(name: StepName) -> tuple[str, int, str]:
    """The first points of all series come first, the measured sets before the controls."""
    series, number = parsed(name.key)
    return name.stage, number, series


KIND = register_kind(CoverageKind())
