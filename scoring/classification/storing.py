"""Stores readings in the transaction that ends their steps, each once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db.models import QuerySet

from rubrics.models import Candidate
from scoring.classification.config import ClassificationConfig
from scoring.models import AcuityReading, PipelineRun
from scoring.pipelines.kind import TAKEN, FinishedStep, StepFault

Source = AcuityReading.Source


def store_readings(
    run: PipelineRun, config: ClassificationConfig, steps: Sequence[FinishedStep], *, at: datetime
) -> dict[int, StepFault]:
    """Write the reading of each finished step; its source tells whether log probabilities came with it.

    Where another run has stored a reading of the same case and sample, it stays, and the step, by its id, fails.
    """
    assert run.candidate_id is not None
    # Runs of one candidate store one after the other, so that each sees what the other has stored.
    Candidate.objects.select_for_update().get(pk=run.candidate_id)
    elsewhere = readings_of_other_runs(run).filter(case__in={step.case for step in steps})
    taken = set(elsewhere.values_list("case", "sample"))
    place_of = {level.value: place for place, level in enumerate(config.levels)}
    readings = []
    faults = {}
    for step in steps:
        if (step.case, int(step.name.key)) in taken:
            faults[step.id] = StepFault(TAKEN, "another run has stored a reading here meanwhile")
            continue
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
    return faults


def readings_of_other_runs(run: PipelineRun) -> QuerySet[AcuityReading]:
    """Forced choices of the run's candidate on its scale that other runs have stored."""
    return (
        AcuityReading.objects.filter(
            candidate=run.candidate_id, scale=run.terms["scale"], format=AcuityReading.Format.FORCED_CHOICE
        )
        .exclude(pipeline_run__in=[run.pk])
        .exclude(pipeline_run=None)
    )
