"""Stores readings in the transaction that ends their steps, each once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from scoring.classification.config import ClassificationConfig
from scoring.models import AcuityReading, PipelineRun
from scoring.pipelines.kind import FinishedStep

Source = AcuityReading.Source


def store_readings(
    run: PipelineRun, config: ClassificationConfig, steps: Sequence[FinishedStep], *, at: datetime
) -> None:
    """Write the reading of each finished step; its source tells whether log probabilities came with it."""
    assert run.candidate_id is not None
    place_of = {level.value: place for place, level in enumerate(config.levels)}
    readings = []
    for step in steps:
        output = step.output
        readings.append(
            AcuityReading(
                scale_id=run.terms["scale"],
                case_id=step.case,
                candidate_id=run.candidate_id,
                format=AcuityReading.Format.FORCED_CHOICE,
                sample=int(step.name.key),
                source=Source.PARSED if output["distribution"] is None else Source.LOGPROBS,
                pipeline_run=run,
                descending=output["descending"],
                state=output["state"],
                level=None if output["level"] is None else place_of[output["level"]],
                confidence=None if output["confidence"] is None else output["confidence"] / 100,
                distribution=output["distribution"],
                text=output["text"],
                created_at=at,
            )
        )
    AcuityReading.objects.bulk_create(readings)
