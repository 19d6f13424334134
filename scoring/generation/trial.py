"""One live request before a run begins: whether the endpoint accepts the settings, and how it answers.

Nothing is written.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from django.conf import settings
from django.utils.translation import gettext as _

from consilium.core.errors import DomainError
from consilium.llm.client import ChatClient
from rubrics.models import Benchmark, Case
from rubrics.parsing.self_identification import self_identification
from scoring.generation.asking import Answer, ResponseRequest, ask
from scoring.generation.config import GenerationConfig
from scoring.generation.due_responses import CaseFrame, cases_in

# A page waits for the answer, and a web process has 60 s for a request.
MAX_SECONDS = 45.0


@dataclass(frozen=True, slots=True)
class Trial:
    """The case of the request, and the answer."""

    case: Case
    answer: Answer
    flagged: str = ""  # the words by which it names its author


def try_once(benchmark: Benchmark, frame: CaseFrame, config: GenerationConfig, *, candidate: str = "") -> Trial:
    """Ask about the first case of the frame, once; `DomainError` where there is none, or the endpoint is refused."""
    cases = cases_in(benchmark, frame)
    if not cases:
        raise DomainError(_("No case matches this choice."))
    case = Case.objects.get(pk=cases[0])
    endpoint = config.for_client(attempts=1, timeout_s=min(config.timeout_s, MAX_SECONDS))
    task = ResponseRequest(0, case.pk, 0, case.conversation)

    async def once() -> Answer:
        async with ChatClient(endpoint, allowed_hosts=settings.JUDGE_ALLOWED_HOSTS) as client:
            return await ask(client, config, task)

    answer = asyncio.run(once())
    return Trial(case, answer, self_identification(answer.text, candidate) if answer.text else "")
