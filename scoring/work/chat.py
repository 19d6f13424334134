"""How a chat judge works on a slice: questions become requests to its endpoint, and answers become verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from django.conf import settings
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from consilium.llm.client import ChatClient
from consilium.llm.errors import may_pass
from consilium.llm.judging import Judgement, judge_body
from consilium.llm.meter import Allowance
from consilium.llm.parsing import ParsedVerdict
from consilium.llm.prompts import Draft, JudgeItem, Template, body_of, messages_for_all, nonce_for, request_hash
from scoring.judges.config import AskingConfig, ChatConfig, chat_config
from scoring.keys.grants import bound_keys_for
from scoring.models import JudgeRun, RunSlice, Verdict
from scoring.work import slice_turn
from scoring.work.claims import BUDGET_USED_UP, spent_by
from scoring.work.dispatcher import Dispatcher
from scoring.work.missing import Question, Questions, missing_questions, requests_of
from scoring.work.slice_turn import SliceTurn
from scoring.work.store import JudgedRequest, JudgeVerdict
from scoring.work.turn import EndpointDown, TurnStopped, ask_all

# The drafts of this many responses are kept; requests about only a few responses are in flight at a time.
DRAFTS_KEPT = 100
Request = TypeVar("Request")


def nonce_key() -> bytes:
    """The server's key for the codes that fence a candidate's text."""
    return salted_hmac("consilium.judge.nonce", b"", algorithm="sha256").digest()


def template_of(snapshot: dict[str, Any]) -> Template:
    """The prompt as it was when the run began."""
    kept = snapshot["template"]
    return Template(name=kept["name"], title=kept["name"], system=kept["system"], user=kept["user"])


def item_of(question: Question, rule_sheet: str) -> JudgeItem:
    """A question as the prompts take it."""
    return JudgeItem(
        conversation=question.conversation,
        response=question.response,
        criterion=question.criterion,
        points=question.points,
        rule_sheet=rule_sheet,
    )


def allowance_of(run: JudgeRun, config: AskingConfig, row: RunSlice) -> Allowance:
    """What a slice may use: the judge's limits, and its claim on the run's budget less what it has spent."""
    return Allowance(
        requests_per_minute=config.requests_per_minute,
        tokens_per_minute=config.tokens_per_minute,
        price_in=config.price_in,
        price_out=config.price_out,
        money=None if row.claim is None else row.claim - spent_by(run, row),
        fresh=not row.calls,
    )


def chat_dispatcher(run: JudgeRun, row: RunSlice) -> Dispatcher[Questions, JudgedRequest]:
    """A dispatcher with the settings of the run's snapshot."""
    config: ChatConfig = chat_config(run.snapshot["config"])
    endpoint = config.for_client()
    template = template_of(run.snapshot)
    rule_sheet = str(run.snapshot.get("rule_sheet", ""))
    key = nonce_key()
    drafts: dict[tuple[int, int], Draft] = {}

    def draft_for(question: Question, item: JudgeItem, replicate: int) -> Draft:
        """Questions about one response come one after the other, and share most of their request."""
        place = question.response_id, question.replicate
        if place not in drafts:
            if len(drafts) >= DRAFTS_KEPT:
                drafts.clear()
            parameters = endpoint.parameters(replicate=replicate)
            drafts[place] = Draft(template, item, nonce=nonce_for(item, key), parameters=parameters)
        return drafts[place]

    async def ask(client: ChatClient, questions: Questions) -> JudgedRequest:
        items = [item_of(question, rule_sheet) for question in questions]
        # Where replicates are injections, the judge's seed must not change with them.
        replicate = questions[0].replicate if run.purpose == JudgeRun.Purpose.GRADE else 0
        if config.together:
            parameters = endpoint.parameters(replicate=replicate, criteria=len(items))
            nonce = nonce_for(items[0], key)
            messages = messages_for_all(template, items, nonce=nonce)
            body, digest = body_of(messages, parameters), request_hash(messages, nonce, parameters)
            judgement = await judge_body(client, body, criteria=len(items))
        else:
            body, digest = draft_for(questions[0], items[0], replicate).request(items[0])
            judgement = await judge_body(client, body)
        return JudgedRequest(
            questions=questions,
            verdicts=_verdicts(questions, judgement),
            calls=judgement.calls,
            request_hash=digest,
            failed=judgement.failed,
        )

    return Dispatcher(
        endpoint,
        ask,
        JudgedRequest,
        allowed_hosts=settings.JUDGE_ALLOWED_HOSTS,
        bound_keys=bound_keys_for(run.benchmark, endpoint),
        allowance=allowance_of(run, config, row),
    )


def _verdicts(questions: Questions, judgement: Judgement[ParsedVerdict]) -> list[JudgeVerdict]:
    """A verdict for each question; no verdicts where the request got no answer."""
    if judgement.invalid:
        return [JudgeVerdict(question, Verdict.Outcome.INVALID) for question in questions]
    return [
        JudgeVerdict(
            question, Verdict.Outcome.MET if verdict.criteria_met else Verdict.Outcome.NOT_MET, verdict.explanation
        )
        for question, verdict in zip(questions, judgement.verdicts, strict=False)
    ]


def ask_endpoint(turn: SliceTurn, until: float) -> bool:
    """Request the missing verdicts of a slice from its endpoint; True if the time was up first."""
    slices = turn.run.slices.count()
    config = chat_config(turn.run.snapshot["config"])
    # The first pass goes in order. A later pass begins at a random place, so that failed questions do not always
    # come first.
    rng = turn.rng if turn.row.calls else None
    chunks = (
        list(requests_of(questions, together=config.together))
        for questions in missing_questions(turn.run, turn.row.number, slices, whole=config.together, rng=rng)
    )
    return ask_chunks(turn, until, config, chat_dispatcher(turn.run, turn.row), chunks)


def ask_chunks(
    turn: SliceTurn,
    until: float,
    config: AskingConfig,
    requests: Dispatcher[Request, JudgedRequest],
    chunks: Iterator[Sequence[Request]],
) -> bool:
    """Send the requests of a slice; True if the time was up first. `TurnStopped` where it cannot go on."""
    with requests as dispatcher:
        if turn.row.pauses:
            dispatcher.probe()
        time_is_up = ask_all(turn, dispatcher, chunks, until=until, timeout_s=config.timeout_s)
    if turn.cancelled:
        return False
    if dispatcher.down and may_pass(turn.failures.kind) and turn.pauses < config.pauses:
        raise EndpointDown(_failure_message(turn, dispatcher))
    if dispatcher.budget_spent:
        if turn.stored and slice_turn.may_claim_more(turn):
            return True  # another turn, with a larger claim
        raise TurnStopped(str(BUDGET_USED_UP))
    if dispatcher.down or (turn.failures.total and (not time_is_up or not turn.stored)):
        raise TurnStopped(_failure_message(turn, dispatcher))
    return time_is_up


def _failure_message(turn: SliceTurn, dispatcher: Dispatcher[Any, JudgedRequest]) -> str:
    """Why the endpoint's failures end the turn."""
    number = dispatcher.failures_in_a_row if dispatcher.down else turn.failures.total
    if dispatcher.down and not may_pass(turn.failures.kind):
        message = _("The endpoint refuses requests: %(n)s requests in a row failed. Last failure: %(last)s")
    elif dispatcher.down:
        message = _("The endpoint is not responding: %(n)s requests in a row failed. Last failure: %(last)s")
    else:
        message = _("%(n)s requests failed after their retries. Last failure: %(last)s")
    return message % {"n": number, "last": turn.failures.last}
