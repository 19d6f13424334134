"""How a judge of acuity works on a slice: each response becomes a request, and each answer a reading of a level."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from consilium.llm.acuity import LevelOption, ParsedReading, judge_messages, judge_schema, parse_reading
from consilium.llm.client import ChatClient
from consilium.llm.judging import Judgement, ask_strictly
from consilium.llm.prompts import Messages, body_of, nonce_of, request_hash
from consilium.llm.refusals import begins_with_refusal
from scoring.judges.config import acuity_config
from scoring.keys.grants import bound_keys_for
from scoring.models import AcuityReading, JudgeRun, RunSlice
from scoring.work.chat import allowance_of, ask_chunks, nonce_key
from scoring.work.dispatcher import Dispatcher
from scoring.work.missing import LevelQuestion, missing_levels
from scoring.work.slice_turn import SliceTurn
from scoring.work.store import JudgedRequest, JudgeReading

State = AcuityReading.State
OneQuestion = tuple[LevelQuestion]


def options_of(levels: list[dict[str, Any]]) -> list[LevelOption]:
    """The levels of a snapshot or a scale as the prompts name them."""
    return [
        LevelOption(letter, level["value"], level["label_en"], level["definition_en"])
        for letter, level in zip("ABCDEF", levels, strict=False)
    ]


def request_of(conversation: list[dict[str, str]], response: str, options: list[LevelOption]) -> tuple[Messages, str]:
    """The request about one response, and its nonce. It holds nothing but the two texts and the levels."""
    nonce = nonce_of(conversation, response, nonce_key())
    return judge_messages(conversation, response, options, nonce=nonce), nonce


def level_dispatcher(run: JudgeRun, row: RunSlice) -> Dispatcher[OneQuestion, JudgedRequest]:
    """A dispatcher with the settings of the run's snapshot."""
    config = acuity_config(run.snapshot["config"])
    endpoint = config.for_client()
    options = options_of(run.snapshot["levels"])
    schema = judge_schema(options)

    async def ask(client: ChatClient, questions: OneQuestion) -> JudgedRequest:
        question = questions[0]
        # Where replicates are changed texts, the judge's seed must not change with them.
        replicate = question.replicate if run.purpose == JudgeRun.Purpose.ACUITY else 0
        parameters = endpoint.parameters(replicate=replicate, schema=schema)
        messages, nonce = request_of(question.conversation, question.response, options)
        judgement = await ask_strictly(
            client,
            body_of(messages, parameters),
            lambda text: (parse_reading(text, options, question.response),),
        )
        return JudgedRequest(
            questions=questions,
            readings=_readings(question, judgement),
            calls=judgement.calls,
            request_hash=request_hash(messages, nonce, parameters),
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


def _readings(question: LevelQuestion, judgement: Judgement[ParsedReading]) -> list[JudgeReading]:
    """The reading of a response; none where the request got no answer."""
    if judgement.invalid:
        return [JudgeReading(question, State.INVALID)]
    reading = judgement.verdict
    if reading is None:
        return []
    state = State.LEVEL
    if reading.place is None:
        state = State.REFUSED if begins_with_refusal(question.response) else State.NO_LEVEL
    return [
        JudgeReading(
            question,
            state,
            level=reading.place,
            explanation=reading.explanation,
            escalation=reading.escalation,
            condition=reading.condition,
            quote=(reading.start, reading.end) if reading.quote else None,
        )
    ]


def ask_about_levels(turn: SliceTurn, until: float) -> bool:
    """Request the missing readings of a slice from its endpoint; True if the time was up first."""
    config = acuity_config(turn.run.snapshot["config"])
    rng = turn.rng if turn.row.calls else None
    missing = missing_levels(turn.run, turn.row.number, turn.run.slices.count(), rng=rng)
    chunks = ([(question,) for question in questions] for questions in missing)
    return ask_chunks(turn, until, config, level_dispatcher(turn.run, turn.row), chunks)
