"""Writing what a worker found out: calls and verdicts in one transaction, each verdict once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from consilium.llm.judging import Call
from consilium.llm.parsing import storable
from scoring.models import JudgeCall, JudgeRun, Verdict
from scoring.work.missing import Question


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of one question. ``outcome`` empty: nothing is known, the verdict stays missing."""

    question: Question
    outcome: str
    explanation: str = ""
    probability: float | None = None
    calls: Sequence[Call] = ()
    request_hash: str = ""


def store_findings(run: JudgeRun, findings: Sequence[Finding], *, at: datetime) -> None:
    """Write calls and verdicts. A verdict that is there already stays as it is, whoever wrote it."""
    calls: list[JudgeCall] = []
    verdicts: list[Verdict] = []
    for finding in findings:
        for call in finding.calls:
            calls.append(
                JudgeCall(
                    run=run,
                    request_hash=finding.request_hash,
                    attempt=call.attempt,
                    raw=storable(call.raw),
                    tokens_in=call.tokens_in,
                    tokens_out=call.tokens_out,
                    latency_ms=call.latency_ms,
                    error_kind=call.error_kind,
                    error=storable(call.error, 2000),
                    created_at=at,
                )
            )
        if finding.outcome:
            verdicts.append(
                Verdict(
                    run=run,
                    response_id=finding.question.response_id,
                    criterion_id=finding.question.criterion_id,
                    replicate=finding.question.replicate,
                    outcome=finding.outcome,
                    probability=finding.probability,
                    explanation=storable(finding.explanation),
                    call=calls[-1] if finding.calls else None,
                    created_at=at,
                )
            )
    with transaction.atomic():
        JudgeCall.objects.bulk_create(calls)
        Verdict.objects.bulk_create(verdicts, ignore_conflicts=True)
