"""Stores responses in the transaction that ends their steps, each once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import connection

from rubrics.models import Response
from scoring.generation.asking import kept_with
from scoring.generation.config import GenerationConfig
from scoring.models import GeneratedResponse, PipelineRun
from scoring.pipelines.kind import FinishedStep, StepFault

# The response was stored by something else meanwhile, such as an import.
TAKEN = "taken"


def store_responses(
    run: PipelineRun, config: GenerationConfig, steps: Sequence[FinishedStep], *, at: datetime
) -> dict[int, StepFault]:
    """Write the responses of finished steps. One that exists already is not replaced: its step, by its id, fails."""
    assert run.candidate_id is not None
    responses = {
        step.id: Response(
            case_id=step.case,
            candidate_id=run.candidate_id,
            setting=run.terms["setting"],
            sample=int(step.name.key),
            text=step.output["text"],
            metadata=kept_with(step, config, run=run.public_id, at=at),
        )
        for step in steps
    }
    Response.objects.bulk_create(responses.values(), ignore_conflicts=True)
    ids = dict(
        Response.objects.filter(public_id__in=[response.public_id for response in responses.values()]).values_list(
            "public_id", "pk"
        )
    )
    stored = {step: ids[response.public_id] for step, response in responses.items() if response.public_id in ids}
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {GeneratedResponse._meta.db_table} (step_id, response_id)"
            " SELECT * FROM unnest(%s::bigint[], %s::bigint[])",
            [list(stored), list(stored.values())],
        )
    return {
        step: StepFault(TAKEN, "a response came to stand here meanwhile") for step in responses if step not in stored
    }
