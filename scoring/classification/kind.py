"""Runs that ask for the level of each case: the kind *classify* of `scoring.pipelines`. Each sample is a step."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext_lazy

from consilium.core.drawing import keyed
from consilium.llm.acuity import Choice, choice_messages, choice_schema, letter_distribution, parse_choice
from consilium.llm.errors import ContentError
from rubrics.models import Case
from scoring.classification.config import ClassificationConfig, LevelConfig, classification_config
from scoring.classification.storing import store_readings
from scoring.models import PipelineRun
from scoring.models.classification import CLASSIFY
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

STAGE = "choice"
ENDPOINT = "model"
TOP_LOGPROBS = 20  # as many as the endpoints give that give any
LOGPROBS = ("logprobs", "top_logprobs")
INVALID, REFUSED = "invalid", "refused"
# The client's fault for an answer that the endpoint's filter or the model itself held back.
HELD_BACK = "refusal"


@dataclass(frozen=True, slots=True)
class ClassificationSettings:
    """What a run asks, and how often."""

    config: ClassificationConfig
    samples: int


class ClassifyKind(PipelineKind[ClassificationSettings]):
    """A forced choice has a state in any case: an answer that names no one level is a result, and never a level."""

    name = CLASSIFY
    label = gettext_lazy("Forced choices")
    route = "scoring:classification-run"
    stages = (STAGE,)
    # Another candidate with the same settings is another draw: it must not get the same answers.
    reads_cache = False

    def settings_of(self, run: PipelineRun, *, may_call: bool) -> ClassificationSettings:
        """Its settings and the number of samples."""
        return ClassificationSettings(classification_config(run.config, may_call=may_call), int(run.terms["samples"]))

    def endpoints(self, settings: ClassificationSettings) -> Mapping[str, EndpointUse]:
        """The one endpoint."""
        return {ENDPOINT: EndpointUse(settings.config.for_client(), settings.config.allowance)}

    def plan(self, settings: ClassificationSettings, done: Mapping[StepName, Output]) -> Sequence[PlannedStep]:
        """A step for each sample."""
        return [PlannedStep(StepName(STAGE, str(sample))) for sample in range(settings.samples)]

    def materials(
        self, settings: ClassificationSettings, run: PipelineRun, cases: Collection[int]
    ) -> Mapping[int, Any]:
        """Key and conversation; a case without a text is left out."""
        rows = Case.objects.filter(pk__in=cases).values_list("pk", "key", "conversation")
        return {pk: {"case": key, "conversation": conversation} for pk, key, conversation in rows}

    def input_of(
        self, settings: ClassificationSettings, name: StepName, material: Any, done: Mapping[StepName, Output]
    ) -> Any:
        """The conversation, the number of the sample, and whether the most urgent level is listed first."""
        sample = int(name.key)
        descending = bool(keyed(settings.config.order_seed, "order", material["case"], sample) % 2)
        return {"conversation": material["conversation"], "sample": sample, "descending": descending}

    def request(self, settings: ClassificationSettings, name: StepName, value: Any, nonce: str) -> StepRequest:
        """The levels and the conversation in a fence."""
        config, sample = settings.config, value["sample"]
        messages = choice_messages(
            value["conversation"],
            config.options,
            ask=config.ask,
            nonce=nonce,
            descending=value["descending"],
            confidence=config.confidence,
        )
        parameters = config.parameters(sample)
        optional: tuple[str, ...] = ()
        if config.ask == "schema":
            parameters["response_format"] = choice_schema(config.options, confidence=config.confidence)
        elif config.logprobs:
            parameters |= {"logprobs": True, "top_logprobs": TOP_LOGPROBS}
            optional = LOGPROBS
        return StepRequest(ENDPOINT, messages, parameters, draw=sample, optional=optional)

    def output(self, settings: ClassificationSettings, name: StepName, value: Any, answer: Answer) -> Output:
        """The state of the answer with its level; `ContentError` where it cannot be read, so that it is asked again."""
        if answer.fault == HELD_BACK:
            return _output(settings.config, value, answer, Choice("refused"))
        text = answer.usable()
        config = settings.config
        choice = parse_choice(text, config.options, ask=config.ask, confidence=config.confidence)
        if choice.state == INVALID:
            raise ContentError("unreadable", "it is not exactly one level in the form that was asked for", text)
        return _output(config, value, answer, choice)

    def last_output(
        self, settings: ClassificationSettings, name: StepName, value: Any, answer: Answer, fault: ContentError
    ) -> Output:
        """An answer that still cannot be read is *invalid*, as is one without a text or cut before its level."""
        return _output(settings.config, value, answer, Choice("invalid"))

    def keep(
        self, settings: ClassificationSettings, run: PipelineRun, steps: Sequence[FinishedStep], *, at: datetime
    ) -> Mapping[int, StepFault]:
        """Store the readings; where another run has stored one, it stays, and the step fails."""
        return store_readings(run, settings.config, steps, at=at)

    def may_ask_again(self, error_kind: str) -> bool:
        """Not where a reading has come meanwhile."""
        return error_kind != TAKEN


def _output(config: ClassificationConfig, value: Any, answer: Answer, choice: Choice) -> Output:
    output: Output = {
        "state": choice.state,
        "level": _value(config.levels, choice.place),
        "confidence": choice.confidence,
        "descending": value["descending"],
        "text": answer.text,
        "model": answer.model,
        "finish_reason": answer.finish,
        "left_out": list(answer.left_out),
        "distribution": None,
        "outside": None,
        "no_distribution": "",
    }
    if config.logprobs and choice.place >= 0:
        letters = letter_distribution({"content": answer.logprobs}, config.options)
        output |= {
            "distribution": list(letters.shares) or None,
            "outside": letters.outside,
            "no_distribution": letters.reason,
        }
    return output


def _value(levels: Sequence[LevelConfig], place: int) -> str | None:
    return levels[place].value if place >= 0 else None


KIND = register_kind(ClassifyKind())
