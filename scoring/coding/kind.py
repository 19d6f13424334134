"""Runs that ask which failures of a code book responses show: the kind *code* of `scoring.pipelines`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from consilium.llm.coding import NO_QUOTE, ParsedCode, coding_messages, parse_codes
from consilium.llm.errors import ContentError
from rubrics.editor.privacy import cases_with_open_findings
from rubrics.models import Case, RubricItem
from scoring.coding.config import CodingConfig, coding_config
from scoring.models import CodedResponse, PipelineRun
from scoring.models.coding import CODE
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

ENDPOINT = "model"
CODED, INVALID = "coded", "invalid"  # states of an output


class CodingKind(PipelineKind[CodingConfig]):
    """An answer that stays faulty is *invalid*: no codes, and never *none of these*.

    An answer whose only fault is a quote that is not in the response keeps its codes, without that quote.
    """

    name = CODE
    label = gettext_lazy("Coding by judges")
    route = "scoring:coding-run"
    stages = (CODE,)

    def settings_of(self, run: PipelineRun, *, may_call: bool) -> CodingConfig:
        """Its settings, with the codes."""
        return coding_config(run.config, may_call=may_call)

    def endpoints(self, settings: CodingConfig) -> Mapping[str, EndpointUse]:
        """The one endpoint."""
        return {ENDPOINT: EndpointUse(settings.for_client(), settings.allowance)}

    def plan(self, settings: CodingConfig, done: Mapping[StepName, Output]) -> Sequence[PlannedStep]:
        """The steps that any case has; how many of them one has is stored with the run."""
        return [PlannedStep(StepName(CODE, str(place))) for place in range(settings.per_case)]

    def materials(self, settings: CodingConfig, run: PipelineRun, cases: Collection[int]) -> Mapping[int, Any]:
        """Conversation, and responses with criteria by the keys of steps.

        A case is left out that was excluded meanwhile, or has an open privacy finding.
        """
        coded = CodedResponse.objects.filter(step__run=first_run(run), step__case__in=cases)
        rows = list(coded.values_list("step__case", "step__key", "response__text", "rubric"))
        criteria = criteria_of({rubric for *_names, rubric in rows if rubric is not None})
        responses: defaultdict[int, dict[str, Any]] = defaultdict(dict)
        for case, key, text, rubric in rows:
            responses[case][key] = {"text": text, "criteria": criteria.get(rubric, [])}
        conversations = Case.objects.filter(pk__in=cases)
        if not run.replay:  # what was answered once may be read again
            conversations = conversations.included().exclude(pk__in=cases_with_open_findings(cases))
        texts = conversations.values_list("pk", "conversation")
        return {pk: {"conversation": conversation, "responses": responses[pk]} for pk, conversation in texts}

    def input_of(self, settings: CodingConfig, name: StepName, material: Any, done: Mapping[StepName, Output]) -> Any:
        """The conversation, the response, and the criteria with their ids."""
        response = material["responses"][name.key]
        return {
            "conversation": material["conversation"],
            "response": response["text"],
            "criteria": response["criteria"],
        }

    def request(self, settings: CodingConfig, name: StepName, value: Any, nonce: str) -> StepRequest:
        """The codes, and conversation and response in fences."""
        criteria = [text for _id, text in value["criteria"]]
        messages = coding_messages(
            value["conversation"], value["response"], settings.options, nonce=nonce, criteria=criteria
        )
        return StepRequest(ENDPOINT, messages, settings.parameters(0))

    def output(self, settings: CodingConfig, name: StepName, value: Any, answer: Answer) -> Output:
        """The codes with their evidence; every other answer is asked for again."""
        return _output(_parsed(settings, value, answer), value)

    def last_output(
        self, settings: CodingConfig, name: StepName, value: Any, answer: Answer, fault: ContentError
    ) -> Output:
        """The codes alone where a quote is at fault; else *invalid*."""
        if fault.kind == NO_QUOTE:
            return _output(_parsed(settings, value, answer, must_quote=False), value)
        return {"state": INVALID, "codes": [], "fault": fault.kind}

    def check(self, settings: CodingConfig, name: StepName, value: Any, output: Output) -> list[Output]:
        """The quotes that are not in the response; kept with the step as findings."""
        return [
            {"kind": NO_QUOTE, "code": code["code"], "quote": quote}
            for code in output["codes"]
            for quote in code["absent"]
        ]

    def archive_refusal(self, run: PipelineRun) -> str:
        """An archive holds conversations, and no responses."""
        return _("A run that codes responses has no archive: it would lack the responses. Export a CSV instead.")


def first_run(run: PipelineRun) -> PipelineRun:
    """The run that a replay repeats, or the run itself."""
    while run.replay_of is not None:
        run = run.replay_of
    return run


def criteria_of(rubrics: Collection[int]) -> dict[int, list[tuple[int, str]]]:
    """The criteria of rubrics with their ids, in their order; one query."""
    criteria: defaultdict[int, list[tuple[int, str]]] = defaultdict(list)
    items = RubricItem.objects.filter(rubric__in=rubrics).order_by("rubric", "position")
    for rubric, criterion, text in items.values_list("rubric", "criterion", "criterion__text"):
        criteria[rubric].append((criterion, text))
    return criteria


def _parsed(settings: CodingConfig, value: Any, answer: Answer, *, must_quote: bool = True) -> list[ParsedCode]:
    n_criteria = len(value["criteria"])
    return parse_codes(answer.usable(), settings.keys, value["response"], n_criteria=n_criteria, must_quote=must_quote)


def _output(codes: Sequence[ParsedCode], value: Any) -> Output:
    return {
        "state": CODED,
        "codes": [
            {
                "code": code.code,
                "why": code.why,
                "evidence": [{"quote": words.quote, "start": words.start, "end": words.end} for words in code.evidence],
                "absent": list(code.absent),
                "criterion": None if code.criterion is None else value["criteria"][code.criterion][0],
            }
            for code in codes
        ],
        "fault": "",
    }


KIND = register_kind(CodingKind())
