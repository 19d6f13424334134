"""Stores responses in the transaction that ends their steps, each once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from django.db import connection

from consilium.core.identifiers import new_public_id
from scoring.generation.asking import kept_with
from scoring.generation.config import GenerationConfig
from scoring.models import PipelineRun
from scoring.pipelines.kind import TAKEN, FinishedStep, StepFault

# A response that exists already is not replaced, and then its step gets none.
_RESPONSES = """
    WITH t AS (
        SELECT * FROM json_to_recordset(%(rows)s::json) AS t (
            step bigint, public_id text, case_id bigint, sample int, text text, metadata jsonb
        )
    ), stored AS (
        INSERT INTO rubrics_response (
            public_id, case_id, candidate_id, setting, sample, text, external_id, writing_mode, metadata, created_at
        )
        SELECT public_id, case_id, %(candidate)s, %(setting)s, sample, text, '', '', metadata, %(at)s FROM t
        ON CONFLICT DO NOTHING
        RETURNING id, public_id
    )
    INSERT INTO scoring_generatedresponse (step_id, response_id)
    SELECT t.step, stored.id FROM stored JOIN t USING (public_id)
    RETURNING step_id
"""


def store_responses(
    run: PipelineRun, config: GenerationConfig, steps: Sequence[FinishedStep], *, at: datetime
) -> dict[int, StepFault]:
    """Write the responses of finished steps. One that exists already is not replaced: its step, by its id, fails."""
    rows = [
        {
            "step": step.id,
            "public_id": new_public_id(),
            "case_id": step.case,
            "sample": int(step.name.key),
            "text": step.output["text"],
            "metadata": kept_with(step, config, run=run.public_id, at=at),
        }
        for step in steps
    ]
    values = {
        "candidate": run.candidate_id,
        "setting": run.terms["setting"],
        "at": at,
        "rows": json.dumps(rows, ensure_ascii=False),
    }
    with connection.cursor() as cursor:
        cursor.execute(_RESPONSES, values)
        stored = {step for (step,) in cursor.fetchall()}
    return {
        step.id: StepFault(TAKEN, "a response was stored here meanwhile") for step in steps if step.id not in stored
    }
