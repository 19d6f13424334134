"""Stores refined texts as responses, in the transaction that ends their steps, each once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from rubrics.models import Candidate, Case, Response
from scoring.models import PipelineRun
from scoring.pipelines.kind import TAKEN, FinishedStep, StepFault
from validation.refinement.config import RefinementConfig

SETTING = "chat"


def store_refined(
    run: PipelineRun, settings: RefinementConfig, steps: Sequence[FinishedStep], *, at: datetime
) -> Mapping[int, StepFault]:
    """Write the responses of finished edits, each derived from its base; of one that is there, the step fails."""
    if not steps:
        return {}
    names = [arm.candidate for arm in settings.arms]
    # Locked, so that two workers do not store the same text.
    rows = Candidate.objects.select_for_update(no_key=True).filter(benchmark=run.benchmark_id, name__in=names)
    candidates = {row.name: row.pk for row in rows.order_by("pk")}
    keys = dict(Case.objects.filter(pk__in={step.case for step in steps}).values_list("pk", "key"))
    ids = [case.base_id for case in settings.cases]
    bases = dict(Response.objects.filter(public_id__in=ids, case__in=keys).values_list("public_id", "pk"))
    existing = set(
        Response.objects.filter(candidate__in=candidates.values(), case__in=keys, setting=SETTING, sample=0)
        .values_list("case_id", "candidate_id")
    )  # fmt: skip
    faults: dict[int, StepFault] = {}
    responses = []
    for step in steps:
        arm = settings.arms[int(step.name.key)]
        place = (step.case, candidates[arm.candidate])
        if place in existing:
            faults[step.id] = StepFault(TAKEN, "a response was stored here meanwhile")
            continue
        existing.add(place)
        responses.append(
            Response(
                case_id=step.case,
                candidate_id=place[1],
                setting=SETTING,
                sample=0,
                text=step.output["text"],
                derived_from_id=bases[settings.cases[settings.place_of[keys[step.case]]].base_id],
                metadata={"refinement": run.public_id, "arm": arm.name},
                created_at=at,
            )
        )
    Response.objects.bulk_create(responses)
    return faults
