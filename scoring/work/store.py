"""Stores a worker's results: calls, verdicts or readings, and costs in one transaction, each verdict once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import F

from consilium.llm.judging import Call
from consilium.llm.parsing import storable
from rubrics.imports.bulk import reserve_ids
from scoring.models import EndpointKind, JudgeCall, JudgeRun, RunSlice
from scoring.work.missing import LevelQuestion, Question, Questions


@dataclass(frozen=True, slots=True)
class JudgeVerdict:
    """A verdict on one question."""

    question: Question
    outcome: str
    explanation: str = ""
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class JudgeReading:
    """What was read in one response; ``quote`` is what stands between its offsets, None for no quote."""

    question: LevelQuestion
    state: str
    level: int | None = None
    explanation: str = ""
    escalation: int | None = None
    condition: str = ""
    quote: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class JudgedRequest:
    """The result of one request. Without ``verdicts`` or ``readings`` these stay missing.

    ``failed``: the endpoint gave no answer.
    """

    questions: Questions | tuple[LevelQuestion]
    verdicts: Sequence[JudgeVerdict] = ()
    readings: Sequence[JudgeReading] = ()
    calls: Sequence[Call] = ()
    request_hash: str = ""
    failed: bool = False

    @property
    def about(self) -> int:
        """The response that the request was about."""
        return self.questions[0].response_id


# Rows are sent as one JSON text: of all ways tried, this takes the worker the least time.
_CALLS = """
    INSERT INTO scoring_judgecall
        (id, run_id, request_hash, attempt, raw, tokens_in, tokens_out, latency_ms, error_kind, error, created_at)
    SELECT id, %(run)s, hash, attempt, raw, tokens_in, tokens_out, latency_ms, kind, error, %(at)s
    FROM json_to_recordset(%(rows)s::json) AS t (
        id bigint, hash text, attempt smallint, raw text, tokens_in int, tokens_out int, latency_ms int, kind text,
        error text
    )
"""
_VERDICTS = """
    INSERT INTO scoring_verdict
        (run_id, response_id, criterion_id, replicate, outcome, probability, explanation, call_id, created_at)
    SELECT %(run)s, response, criterion, replicate, outcome, probability, explanation, call, %(at)s
    FROM json_to_recordset(%(rows)s::json) AS t (
        response bigint, criterion bigint, replicate smallint, outcome text, probability float8, explanation text,
        call bigint
    )
    ON CONFLICT DO NOTHING
"""
# Case, candidate and sample are those of the response.
_READINGS = """
    INSERT INTO scoring_acuityreading
        (scale_id, case_id, candidate_id, format, sample, source, judge_run_id, response_id, replicate, state, level,
         text, explanation, escalation, condition, quote, quote_start, quote_end, call_id, created_at)
    SELECT j.scale_id, r.case_id, r.candidate_id, 'chat', r.sample, %(source)s, %(run)s, t.response, t.replicate,
           t.state, t.level, '', t.explanation, t.escalation, t.condition, t.quote, t.quote_start, t.quote_end, t.call,
           %(at)s
    FROM json_to_recordset(%(rows)s::json) AS t (
        response bigint, replicate smallint, state text, level smallint, explanation text, escalation smallint,
        condition text, quote text, quote_start int, quote_end int, call bigint
    )
    JOIN rubrics_response r ON r.id = t.response
    JOIN scoring_judgerun o ON o.id = %(run)s
    JOIN scoring_judge j ON j.id = o.judge_id
    ON CONFLICT DO NOTHING
"""


@transaction.atomic
def store_results(run: JudgeRun, results: Sequence[JudgedRequest], *, slice_id: int, at: datetime) -> None:
    """Write calls, verdicts and readings. An existing one is left unchanged, whoever wrote it."""
    calls: list[dict[str, Any]] = []
    verdicts: list[dict[str, Any]] = []
    readings: list[dict[str, Any]] = []
    tokens_in = tokens_out = estimated = 0
    ids = iter(reserve_ids(JudgeCall, sum(len(result.calls) for result in results)))
    for result in results:
        last = None
        for call in result.calls:
            last = next(ids)
            usage = call.usage
            if usage is not None:
                tokens_in, tokens_out = tokens_in + usage.tokens_in, tokens_out + usage.tokens_out
                estimated += usage.estimated
            counted = usage is not None and not usage.estimated
            calls.append(
                {
                    "id": last,
                    "hash": result.request_hash,
                    "attempt": call.attempt,
                    "raw": call.raw,
                    "tokens_in": usage.tokens_in if usage and counted else None,
                    "tokens_out": usage.tokens_out if usage and counted else None,
                    "latency_ms": call.latency_ms,
                    "kind": call.error_kind,
                    "error": storable(call.error, 2000),
                }
            )
        for verdict in result.verdicts:
            verdicts.append(
                {
                    "response": verdict.question.response_id,
                    "criterion": verdict.question.criterion_id,
                    "replicate": verdict.question.replicate,
                    "outcome": str(verdict.outcome),
                    "probability": verdict.probability,
                    "explanation": storable(verdict.explanation),
                    "call": last,
                }
            )
        for reading in result.readings:
            start, end = reading.quote or (None, None)
            readings.append(
                {
                    "response": reading.question.response_id,
                    "replicate": reading.question.replicate,
                    "state": reading.state,
                    "level": reading.level,
                    "explanation": storable(reading.explanation),
                    "escalation": reading.escalation,
                    "condition": storable(reading.condition),
                    "quote": reading.question.response[start:end] if reading.quote else "",
                    "quote_start": start,
                    "quote_end": end,
                    "call": last,
                }
            )
    source = "edited" if run.purpose == JudgeRun.Purpose.ACUITY_EDITED else "judge"
    with connection.cursor() as cursor:
        for statement, rows in ((_CALLS, calls), (_VERDICTS, verdicts), (_READINGS, readings)):
            if rows:
                texts = json.dumps(rows, ensure_ascii=False)
                cursor.execute(statement, {"run": run.pk, "at": at, "rows": texts, "source": source})
    if any(call.by_rules for result in results for call in result.calls):
        JudgeRun.objects.filter(pk=run.pk, endpoint_kind=EndpointKind.MODEL).update(endpoint_kind=EndpointKind.RULES)
    if calls:
        RunSlice.objects.filter(pk=slice_id).update(
            calls=F("calls") + len(calls),
            tokens_in=F("tokens_in") + tokens_in,
            tokens_out=F("tokens_out") + tokens_out,
            estimated_calls=F("estimated_calls") + estimated,
        )
