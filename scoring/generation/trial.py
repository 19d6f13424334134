"""One live request before a run begins: whether the endpoint accepts the settings, and how it answers.

No response is stored. The answer stays with its trial (`scoring.endpoint_trials`) for an hour.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import QueryDict
from django.utils.translation import gettext as _
from pydantic import TypeAdapter

from consilium.core.errors import DomainError
from consilium.llm.client import ChatClient
from rubrics.models import Benchmark, Case
from scoring.generation.asking import request_for
from scoring.generation.config import GenerationConfig
from scoring.generation.due_responses import CaseFrame, cases_in
from scoring.generation.forms import GenerationForm
from scoring.generation.kind import KIND, STAGE, GenerationSettings
from scoring.keys.grants import bound_keys_for
from scoring.models import EndpointTrial
from scoring.pipelines.asking import Asker
from scoring.pipelines.hashing import body_of_request
from scoring.pipelines.kind import StepName
from scoring.pipelines.pages import problems_of
from scoring.pipelines.selectors import error_words
from scoring.pipelines.steps import PendingStep, ReadyStep, StepResult

# A page waits for the answer.
MAX_SECONDS = 45.0


@dataclass(frozen=True, slots=True)
class TrialAnswer:
    """A response, or the kind of error; ``flagged``: the words by which it names its author."""

    text: str = ""
    model: str = ""
    cut: bool = False
    refused: bool = False
    flagged: str = ""
    latency_ms: int | None = None
    kind: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Trial:
    """The id of the case of the request, and the answer."""

    case: int
    answer: TrialAnswer


TRIAL = TypeAdapter(Trial)


def response_of_form(trial: EndpointTrial, values: QueryDict, seconds: float) -> str:
    """Ask once with the values of a `GenerationForm`; the `Trial` as JSON."""
    form = GenerationForm(values, benchmark=trial.benchmark)
    if not form.is_valid() or form.checked is None:
        raise DomainError(" ".join(problems_of(form)))
    result = try_once(
        trial.benchmark, form.frame(), form.checked, candidate=form.cleaned_data["candidate"], seconds=seconds
    )
    return TRIAL.dump_json(result).decode()


def response_context(trial: EndpointTrial) -> dict[str, Any]:
    """What `scoring/generation/_trial.html` shows of a trial that is done."""
    result = TRIAL.validate_json(trial.result)
    case = Case.objects.filter(pk=result.case).first()
    return {"case": case, "answer": result.answer, "words": error_words(result.answer.kind)}


def try_once(
    benchmark: Benchmark,
    frame: CaseFrame,
    config: GenerationConfig,
    *,
    candidate: str = "",
    seconds: float = MAX_SECONDS,
) -> Trial:
    """Ask about the first case of the frame, once; `DomainError` where there is none, or the endpoint is refused."""
    cases = cases_in(benchmark, frame)
    if not cases:
        raise DomainError(_("No cases match these filters."))
    case = Case.objects.get(pk=cases[0])
    endpoint = config.for_client(attempts=1, timeout_s=min(config.timeout_s, seconds, MAX_SECONDS))
    request = request_for(config, case.conversation, 0)
    step = ReadyStep(0, case.pk, StepName(STAGE, "0"), value={"conversation": case.conversation, "sample": 0})
    pending = PendingStep(step, request, "", body_of_request(request))
    asker = Asker(KIND, GenerationSettings(config, candidate, samples=1))

    bound_keys = bound_keys_for(benchmark, endpoint)

    async def once() -> StepResult:
        async with ChatClient(endpoint, allowed_hosts=settings.JUDGE_ALLOWED_HOSTS, bound_keys=bound_keys) as client:
            return await asker.ask(client, pending)

    return Trial(case.pk, _in_short(asker.read(asyncio.run(once()))))


def _in_short(result: StepResult) -> TrialAnswer:
    latency_ms = result.calls[-1].latency_ms
    if result.output is None:
        return TrialAnswer(latency_ms=latency_ms, kind=result.error_kind, error=result.error)
    output = result.output
    return TrialAnswer(
        output["text"],
        output["model"],
        output["truncated"],
        output["refused"],
        output["names_its_author"],
        latency_ms,
    )
