"""Runs that ask a model for responses: the kind *responses* of `scoring.pipelines`. Each sample of a case is a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext_lazy

from consilium.llm.meter import Allowance
from scoring.generation.asking import MESSAGES_ENDPOINT, request_for, response_of
from scoring.generation.config import GenerationConfig, generation_config
from scoring.generation.storing import store_responses
from scoring.models import PipelineRun
from scoring.models.generation import RESPONSES
from scoring.pipelines.kind import (
    TAKEN,
    Answer,
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

STAGE = "response"


@dataclass(frozen=True, slots=True)
class GenerationSettings:
    """What a run asks, and how often."""

    config: GenerationConfig
    candidate: str
    samples: int


class ResponsesKind(PipelineKind[GenerationSettings]):
    """A response is what a user would have seen: an answer that was cut or is a refusal is one, and marked."""

    name = RESPONSES
    label = gettext_lazy("Generated responses")
    route = "scoring:generation-run"
    stages = (STAGE,)
    re_asks = 0
    # Another candidate with the same settings is another draw: it must not get the same texts.
    reads_cache = False

    def settings_of(self, run: PipelineRun, *, may_call: bool) -> GenerationSettings:
        """Its settings, the candidate's name and the number of samples."""
        config = generation_config(run.config, may_call=may_call)
        return GenerationSettings(config, run.candidate.name if run.candidate else "", int(run.terms["samples"]))

    def endpoints(self, settings: GenerationSettings) -> Mapping[str, EndpointUse]:
        """The one endpoint."""
        allowance = Allowance(requests_per_minute=settings.config.requests_per_minute)
        return {MESSAGES_ENDPOINT: EndpointUse(settings.config.for_client(), allowance)}

    def plan(self, settings: GenerationSettings, done: Mapping[StepName, Output]) -> Sequence[PlannedStep]:
        """A step for each sample."""
        return [PlannedStep(StepName(STAGE, str(sample))) for sample in range(settings.samples)]

    def input_of(
        self, settings: GenerationSettings, name: StepName, material: Any, done: Mapping[StepName, Output]
    ) -> Any:
        """The conversation and the number of the sample."""
        return {"conversation": material, "sample": int(name.key)}

    def request(self, settings: GenerationSettings, name: StepName, value: Any, nonce: str) -> StepRequest:
        """The conversation, framed or as it is: what a user says is no material here, and stands in no fence."""
        return request_for(settings.config, value["conversation"], value["sample"])

    def output(self, settings: GenerationSettings, name: StepName, value: Any, answer: Answer) -> Output:
        """The response and what is known of it; `ContentError` for an answer without a text."""
        framed = settings.config.frames(value["conversation"])
        return response_of(answer, candidate=settings.candidate, framed=framed)

    def keep(
        self, settings: GenerationSettings, run: PipelineRun, steps: Sequence[FinishedStep], *, at: datetime
    ) -> Mapping[int, StepFault]:
        """Store the responses; one that exists already is not replaced, and its step fails."""
        return store_responses(run, settings.config, steps, at=at)

    def may_ask_again(self, error_kind: str) -> bool:
        """Not where a response has come meanwhile."""
        return error_kind != TAKEN


KIND = register_kind(ResponsesKind())
