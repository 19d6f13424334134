"""Stores a worker's results: calls, verdicts and costs in one transaction, each verdict once."""

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
from scoring.models import JudgeCall, JudgeRun, RunSlice
from scoring.work.missing import Question, Questions


@dataclass(frozen=True, slots=True)
class JudgeVerdict:
    """A verdict on one question."""

    question: Question
    outcome: str
    explanation: str = ""
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class JudgedRequest:
    """The result of one request. Without ``verdicts`` its verdicts stay missing.

    ``failed``: the endpoint gave no answer.
    """

    questions: Questions
    verdicts: Sequence[JudgeVerdict] = ()
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


@transaction.atomic
def store_results(run: JudgeRun, results: Sequence[JudgedRequest], *, slice_id: int, at: datetime) -> None:
    """Write calls and verdicts. An existing verdict is left unchanged, whoever wrote it."""
    calls: list[dict[str, Any]] = []
    verdicts: list[dict[str, Any]] = []
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
    with connection.cursor() as cursor:
        for statement, rows in ((_CALLS, calls), (_VERDICTS, verdicts)):
            if rows:
                cursor.execute(statement, {"run": run.pk, "at": at, "rows": json.dumps(rows, ensure_ascii=False)})
    if calls:
        RunSlice.objects.filter(pk=slice_id).update(
            calls=F("calls") + len(calls),
            tokens_in=F("tokens_in") + tokens_in,
            tokens_out=F("tokens_out") + tokens_out,
            estimated_calls=F("estimated_calls") + estimated,
        )
