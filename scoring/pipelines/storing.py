"""Writes results in one transaction: exchanges, the outputs of steps, what the kind keeps of them, and the cost."""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import F
from django.db.models.functions import Greatest

from consilium.core.among import Among
from consilium.llm.meter import Usage
from consilium.llm.parsing import storable
from rubrics.imports.bulk import reserve_ids
from scoring.models import EndpointCall, EndpointKind, PipelineRun, PipelineStep
from scoring.pipelines.cache import LEVEL, packed_answer
from scoring.pipelines.kind import AnyKind, EndpointUse, FinishedStep, StepFault
from scoring.pipelines.settling import settle_cases
from scoring.pipelines.steps import StepResult

State = PipelineStep.State

# Rows are sent as one JSON text: of all ways tried, this takes the worker the least time.
_CALLS = """
    INSERT INTO scoring_endpointcall (
        id, benchmark_id, run_id, request_hash, endpoint, model, endpoint_kind, request, answer, tokens_in, tokens_out,
        latency_ms, error_kind, error, created_at
    )
    SELECT id, %(benchmark)s, %(run)s, hash, endpoint, model, endpoint_kind, decode(request, 'base64'),
        decode(answer, 'base64'), tokens_in, tokens_out, latency_ms, kind, error, %(at)s
    FROM json_to_recordset(%(rows)s::json) AS t (
        id bigint, hash text, endpoint text, model text, endpoint_kind text, request text, answer text, tokens_in int,
        tokens_out int, latency_ms int, kind text, error text
    )
"""
_STEPS = """
    UPDATE scoring_pipelinestep AS s
    SET state = t.state, output = t.output, findings = t.findings, call_id = t.call, input_digest = t.input_digest,
        request_hash = t.request_hash, attempts = s.attempts + t.exchanges, re_asks = t.re_asks, error_kind = t.kind,
        error = t.error, tokens_in = t.tokens_in, tokens_out = t.tokens_out, latency_ms = t.latency_ms,
        finished_at = CASE WHEN t.state = 'ready' THEN NULL ELSE %(at)s::timestamptz END
    FROM json_to_recordset(%(rows)s::json) AS t (
        id bigint, state text, output jsonb, findings jsonb, call bigint, input_digest text, request_hash text,
        exchanges int, re_asks int, kind text, error text, tokens_in int, tokens_out int, latency_ms int
    )
    WHERE s.id = t.id AND s.run_id = %(run)s AND s.state = 'ready'
"""


@dataclass(frozen=True, slots=True)
class Stored:
    """What was written: the number of answers, and the steps that can be asked now."""

    answers: int
    ready: list[int]


@transaction.atomic
def store_results(
    run: PipelineRun,
    kind: AnyKind,
    settings: Any,
    uses: Mapping[str, EndpointUse],
    results: Sequence[StepResult],
    *,
    at: datetime,
) -> Stored:
    """Write the results of steps that are ready, each output once; every exchange counts, whatever its step is by now.

    The steps that wait for these outputs become ready in the same transaction.
    """
    results = [result for result in results if result.state is not None]
    if not results:
        return Stored(0, [])
    calls = _write_calls(run, uses, results, at)
    still_ready = set(
        PipelineStep.objects.select_for_update()
        .filter(Among("pk", [result.step.id for result in results]), run=run, state=State.READY)
        .order_by("pk")
        .values_list("pk", flat=True)
    )
    written = [result for result in results if result.step.id in still_ready]
    faults: Mapping[int, StepFault] = {}
    finished = [_finished(result) for result in written if result.state == State.DONE]
    if finished and not run.replay:
        faults = kind.keep(settings, run, finished, at=at)
    rows = [_row(result, calls, faults.get(result.step.id)) for result in written]
    with connection.cursor() as cursor:
        cursor.execute(_STEPS, {"run": run.pk, "at": at, "rows": json.dumps(rows, ensure_ascii=False)})
    ready = [result.step.id for result in written if result.state == State.READY]
    if kind.has_chains:
        ready += settle_cases(run, kind, settings, {result.step.case for result in written})
    _count(run, uses, results)
    _note_cached_rules(run, results)
    return Stored(sum(result.state != State.READY and not result.failed for result in written), ready)


def _write_calls(
    run: PipelineRun, uses: Mapping[str, EndpointUse], results: Sequence[StepResult], at: datetime
) -> dict[int, int]:
    """Store every exchange; returns the id of the last of each step."""
    ids = iter(reserve_ids(EndpointCall, sum(len(result.calls) for result in results)))
    rows: list[dict[str, Any]] = []
    last_of: dict[int, int] = {}
    for result in results:
        if result.pending is None:
            continue
        endpoint = uses[result.pending.request.endpoint].endpoint
        for exchange in result.calls:
            last_of[result.step.id] = next(ids)
            usage = _counted(exchange.usage)
            rows.append(
                {
                    "id": last_of[result.step.id],
                    "hash": result.pending.request_hash,
                    "endpoint": endpoint.url,
                    "model": endpoint.model,
                    "endpoint_kind": str(EndpointKind.RULES if exchange.by_rules else EndpointKind.MODEL),
                    "request": b64encode(zlib.compress(exchange.body, LEVEL)).decode(),
                    "answer": None if exchange.answer is None else b64encode(packed_answer(exchange.answer)).decode(),
                    "tokens_in": usage.tokens_in if usage else None,
                    "tokens_out": usage.tokens_out if usage else None,
                    "latency_ms": exchange.latency_ms,
                    "kind": exchange.error_kind,
                    "error": storable(exchange.error, 2000),
                }
            )
    if rows:
        with connection.cursor() as cursor:
            values: dict[str, Any] = {"benchmark": run.benchmark_id, "run": run.pk, "at": at, "rows": json.dumps(rows)}
            cursor.execute(_CALLS, values)
    return last_of


def _counted(usage: Usage | None) -> Usage | None:
    """Token counts of the endpoint's own; estimates among them would look like counts."""
    return usage if usage is not None and not usage.estimated else None


def _usage(result: StepResult) -> tuple[int | None, int | None, int | None]:
    """Tokens in and out and latency of the last exchange."""
    if not result.calls:
        return None, None, None
    usage = _counted(result.calls[-1].usage)
    tokens = (usage.tokens_in, usage.tokens_out) if usage else (None, None)
    return *tokens, result.calls[-1].latency_ms


def _finished(result: StepResult) -> FinishedStep:
    assert result.output is not None
    step = result.step
    return FinishedStep(step.id, step.case, step.name, result.output, result.answer, *_usage(result))


def _row(result: StepResult, calls: Mapping[int, int], fault: StepFault | None) -> dict[str, Any]:
    is_done = result.state == State.DONE and fault is None
    kind, error = (fault.kind, fault.message) if fault else (result.error_kind, result.error)
    tokens_in, tokens_out, latency_ms = _usage(result)
    call = result.cached if result.cached is not None else calls.get(result.step.id)
    return {
        "id": result.step.id,
        "state": str(State.FAILED if fault else result.state),
        "output": result.output if is_done else None,
        "findings": list(result.findings),
        "call": call if is_done else None,
        "input_digest": result.step.input_digest,
        "request_hash": result.pending.request_hash if result.pending else "",
        "exchanges": len(result.calls),
        "re_asks": result.step.re_asks + (result.state == State.READY),
        "kind": kind,
        "error": storable(error, 1000),
        "tokens_in": tokens_in,
        "tokens_out": tokens_out,
        "latency_ms": latency_ms,
    }


def _note_cached_rules(run: PipelineRun, results: Sequence[StepResult]) -> None:
    """Say of a run that rules answered where it takes stored answers of rules."""
    cached = [result.cached for result in results if result.cached is not None]
    if cached and EndpointCall.objects.filter(pk__in=cached, endpoint_kind=EndpointKind.RULES).exists():
        PipelineRun.objects.filter(pk=run.pk).update(endpoint_kind=EndpointKind.RULES)


def _count(run: PipelineRun, uses: Mapping[str, EndpointUse], results: Sequence[StepResult]) -> None:
    """Add the use of endpoints to the run, and give back what was reserved for these requests."""
    calls = tokens_in = tokens_out = estimated = 0
    spent = reserved = 0.0
    rules = False
    for result in results:
        if result.pending is None or not result.calls:
            continue
        reserved += result.pending.most
        allowance = uses[result.pending.request.endpoint].allowance
        for exchange in result.calls:
            calls += 1
            rules = rules or exchange.by_rules
            if exchange.usage is not None:
                tokens_in += exchange.usage.tokens_in
                tokens_out += exchange.usage.tokens_out
                estimated += exchange.usage.estimated
                spent += allowance.cost(exchange.usage.tokens_in, exchange.usage.tokens_out)
    if calls:
        values: dict[str, Any] = {"endpoint_kind": EndpointKind.RULES} if rules else {}
        if run.budget is not None:
            values["reserved"] = Greatest(F("reserved") - reserved, 0.0)
        PipelineRun.objects.filter(pk=run.pk).update(
            calls=F("calls") + calls,
            tokens_in=F("tokens_in") + tokens_in,
            tokens_out=F("tokens_out") + tokens_out,
            estimated_calls=F("estimated_calls") + estimated,
            spent=F("spent") + spent,
            **values,
        )
