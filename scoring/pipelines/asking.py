"""One exchange with an endpoint about a step: the request, the answer, and what the kind makes of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from consilium.llm.client import ChatClient
from consilium.llm.errors import BILLED_KINDS, ContentError, TransportError
from consilium.llm.parsing import storable
from scoring.models import PipelineStep
from scoring.pipelines.hashing import body_of_request
from scoring.pipelines.kind import Answer, AnyKind
from scoring.pipelines.steps import Exchange, PendingStep, ReadyStep, StepResult

State = PipelineStep.State
MAX_TEXT_LENGTH = 1_000_000
# Answers of an endpoint that does not know a parameter.
REFUSALS = ("http_400", "http_422")


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks for the steps of one run. ``billed_tries``: how often a step is tried whose tries may each be billed."""

    kind: AnyKind
    settings: Any
    billed_tries: int = 1

    async def ask(self, client: ChatClient, pending: PendingStep) -> StepResult:
        """Ask once; `RequestNotSent` if no request was sent. Nothing that an endpoint does raises an error here.

        What the answer means is found out by `read`, outside of the event loop, which other requests wait for.
        """
        calls: list[Exchange] = []
        body, left_out = pending.body, tuple[str, ...]()
        while True:
            exchange = await _exchange(client, body, left_out)
            calls.append(exchange)
            refused = exchange.error_kind in REFUSALS and pending.request.optional and not left_out
            if not refused or client.closing:
                return StepResult(pending.step, pending, failed=exchange.answer is None, calls=calls)
            left_out = pending.request.optional
            body = body_of_request(pending.request, fault=pending.step.fault, left_out=left_out)

    def read(self, result: StepResult) -> StepResult:
        """What the last exchange of an asked step means for it; any other result stays as it is."""
        if not result.calls or result.state is not None:
            return result
        step, exchange = result.step, result.calls[-1]
        if exchange.answer is None:
            again = exchange.error_kind in BILLED_KINDS and step.re_asks + 1 < self.billed_tries
            state = State.READY if again else State.FAILED
            return replace(result, state=state, error_kind=exchange.error_kind, error=exchange.error)
        may_ask_again = step.re_asks < self.kind.re_asks
        meaning = read_answer(self.kind, self.settings, step, exchange.answer, is_last=not may_ask_again)
        meaning = replace(meaning, pending=result.pending, calls=result.calls)
        if meaning.state == State.DONE:
            return meaning
        faulty = replace(exchange, error_kind=meaning.error_kind, error=meaning.error)
        state = State.READY if may_ask_again else State.FAILED
        return replace(meaning, state=state, calls=[*result.calls[:-1], faulty])


def read_answer(kind: AnyKind, settings: Any, step: ReadyStep, answer: Answer, *, is_last: bool = False) -> StepResult:
    """*done* with output and findings, or *failed* with the fault that the kind finds in the answer.

    ``is_last``: it is not asked for again, so that the kind may have an output for a faulty answer too.
    """
    try:
        output = kind.output(settings, step.name, step.value, answer)
    except ContentError as fault:
        last = kind.last_output(settings, step.name, step.value, answer, fault) if is_last else None
        if last is None:
            return StepResult(
                step, state=State.FAILED, answer=answer, error_kind=fault.kind, error=storable(fault.message, 1000)
            )
        output = last
    findings = kind.check(settings, step.name, step.value, output)
    return StepResult(step, state=State.DONE, output=output, findings=findings, answer=answer)


async def _exchange(client: ChatClient, body: bytes, left_out: tuple[str, ...]) -> Exchange:
    try:
        reply = await client.ask(body)
    except TransportError as error:
        message = f"{error.message} (tries: {error.attempts})"
        by_rules = client.by_rules("")
        return Exchange(
            error.attempts, usage=error.usage, error_kind=error.kind, error=message, by_rules=by_rules, body=body
        )
    except ContentError as error:
        answer = Answer(
            storable(error.raw, MAX_TEXT_LENGTH),
            error.model,
            error.finish or error.kind,
            error.kind,
            storable(error.message, 1000),
            left_out=left_out,
        )
        by_rules = client.by_rules(error.model)
        return Exchange(1, usage=error.usage, latency_ms=error.latency_ms, by_rules=by_rules, body=body, answer=answer)
    text = storable(reply.text, MAX_TEXT_LENGTH)
    answer = Answer(text, reply.model, reply.finish, logprobs=reply.logprobs, left_out=left_out)
    return Exchange(
        reply.attempts,
        usage=reply.usage,
        latency_ms=reply.latency_ms,
        by_rules=reply.by_rules,
        body=body,
        answer=answer,
    )
