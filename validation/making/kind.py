"""Runs in which a model makes near-miss pairs: the kind *near_miss* of `scoring.pipelines`. Each pair is a step.

The model sees question and reference, and never a rubric that is to be measured: an error that was made from a rubric
is found by it. It names words and what stands in their place; the candidate is made by code (`validation.near_miss`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from django.utils.translation import gettext_lazy

from consilium.llm.errors import ContentError
from consilium.llm.structured import StructuredAnswer, parse_structured
from scoring.models import PipelineRun
from scoring.pipelines.kind import (
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
from validation.gates import sendable_cases
from validation.making.config import MakingConfig, making_config
from validation.making.prompts import making_messages
from validation.making.storing import store_pairs
from validation.models.pairs import MAKING
from validation.near_miss import UnusableEdit, near_miss

ENDPOINT = "model"
DUPLICATE = "duplicate"


class EditAnswer(StructuredAnswer):
    """The form of an answer."""

    kind: Literal[
        "dose",
        "unit",
        "timing",
        "number",
        "drug",
        "contraindication",
        "urgency",
        "red_flag",
        "negation",
        "modality",
        "exception",
        "population",
    ]
    find: str
    replace: str
    why: str


class MakingKind(PipelineKind[MakingConfig]):
    """An answer that makes no near miss is asked for again, with the reason; after the last one there is no pair."""

    name = MAKING
    label = gettext_lazy("Pairs made by a model")
    route = "validation:making-run"
    stages = (MAKING,)

    def settings_of(self, run: PipelineRun, *, may_call: bool) -> MakingConfig:
        """Its settings, with all references."""
        return making_config(run.config, may_call=may_call)

    def endpoints(self, settings: MakingConfig) -> Mapping[str, EndpointUse]:
        """The one endpoint."""
        return {ENDPOINT: EndpointUse(settings.for_client(), settings.allowance)}

    def plan(self, settings: MakingConfig, done: Mapping[StepName, Output]) -> Sequence[PlannedStep]:
        """A step for each pair of a reference."""
        return [PlannedStep(StepName(MAKING, str(number))) for number in range(settings.each)]

    def materials(self, settings: MakingConfig, run: PipelineRun, cases: Collection[int]) -> Mapping[int, Any]:
        """Key and conversation. A case is left out that was excluded meanwhile, or has an open privacy finding."""
        return sendable_cases(run, cases, settings.place_of)

    def input_of(self, settings: MakingConfig, name: StepName, material: Any, done: Mapping[StepName, Output]) -> Any:
        """The conversation, the reference, and the kind of error that is asked for first."""
        place, number = settings.place_of[material["case"]], int(name.key)
        return {
            "conversation": material["conversation"],
            "reference": settings.cases[place].reference,
            "kind": settings.kind_for(place, number),
            "number": number,
        }

    def request(self, settings: MakingConfig, name: StepName, value: Any, nonce: str) -> StepRequest:
        """Conversation and reference in fences."""
        messages = making_messages(
            value["conversation"], value["reference"], value["kind"], value["number"], nonce=nonce
        )
        return StepRequest(ENDPOINT, messages, settings.parameters(value["number"]), draw=value["number"])

    def output(self, settings: MakingConfig, name: StepName, value: Any, answer: Answer) -> Output:
        """The edit with the candidate that it makes; what makes none is asked for again."""
        text = answer.usable()
        given = parse_structured(text, EditAnswer)
        try:
            miss = near_miss(value["reference"], given.find, given.replace)
        except UnusableEdit as error:
            raise ContentError(error.kind, str(error), text) from None
        return {
            **given.model_dump(),
            "candidate": miss.candidate,
            "start": miss.span.start,
            "reference_end": miss.span.reference_end,
            "candidate_end": miss.span.candidate_end,
        }

    def keep(
        self, settings: MakingConfig, run: PipelineRun, steps: Sequence[FinishedStep], *, at: datetime
    ) -> Mapping[int, StepFault]:
        """Store the pairs; of a pair that the group has already, the step fails."""
        message = "the group has this pair already"
        return {step: StepFault(DUPLICATE, message) for step in store_pairs(run, settings, steps, at=at)}

    def may_ask_again(self, error_kind: str) -> bool:
        """Not for what was there already: the answer would come from the store again."""
        return error_kind != DUPLICATE


KIND = register_kind(MakingKind())
