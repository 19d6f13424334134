"""Stores answers: responses and the states of their items in one transaction, each response once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from consilium.llm.parsing import storable
from rubrics.models import Response
from scoring.generation.asking import Answer, kept_with
from scoring.generation.config import GenerationConfig
from scoring.models import GenerationItem, GenerationRun

# The response was stored by something else meanwhile, such as an import.
TAKEN = "taken"

_ITEMS = """
    UPDATE scoring_generationitem AS i
    SET status = t.status, response_id = t.response, attempts = i.attempts + 1, error_kind = t.kind, error = t.error,
        tokens_in = t.tokens_in, tokens_out = t.tokens_out, latency_ms = t.latency_ms, finished_at = %(at)s
    FROM json_to_recordset(%(rows)s::json) AS t (
        item bigint, status text, response bigint, kind text, error text, tokens_in int, tokens_out int, latency_ms int
    )
    WHERE i.id = t.item AND i.run_id = %(run)s AND i.status = 'due'
"""


@transaction.atomic
def store_answers(run: GenerationRun, config: GenerationConfig, answers: Sequence[Answer], *, at: datetime) -> int:
    """Write answers; return how many responses were created. A response that exists already is not replaced."""
    responses: dict[int, Response] = {}
    for answer in answers:
        if answer.text:
            responses[answer.task.item] = Response(
                case_id=answer.task.case,
                candidate_id=run.candidate_id,
                setting=run.setting,
                sample=answer.task.sample,
                text=answer.text,
                metadata=kept_with(answer, config, run=run.public_id, candidate=run.candidate.name, at=at),
            )
    Response.objects.bulk_create(responses.values(), ignore_conflicts=True)
    ids = dict(
        Response.objects.filter(public_id__in=[response.public_id for response in responses.values()]).values_list(
            "public_id", "pk"
        )
    )
    rows = [_row(answer, responses.get(answer.task.item), ids) for answer in answers if answer.calls]
    if rows:
        with connection.cursor() as cursor:
            cursor.execute(_ITEMS, {"run": run.pk, "at": at, "rows": json.dumps(rows, ensure_ascii=False)})
    return len(ids)


def _row(answer: Answer, response: Response | None, ids: dict[str, int]) -> dict[str, Any]:
    pk = None if response is None else ids.get(response.public_id)
    kind, error = answer.kind, answer.error
    if response is not None and pk is None:
        kind, error = TAKEN, "a response came to stand here meanwhile"
    counted = answer.usage if answer.usage is not None and not answer.usage.estimated else None
    return {
        "item": answer.task.item,
        "status": str(GenerationItem.Status.FAILED if pk is None else GenerationItem.Status.DONE),
        "response": pk,
        "kind": kind,
        "error": storable(error, 1000),
        "tokens_in": None if counted is None else counted.tokens_in,
        "tokens_out": None if counted is None else counted.tokens_out,
        "latency_ms": answer.latency_ms,
    }
