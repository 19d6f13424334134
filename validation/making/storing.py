"""Stores the pairs that a run makes, in the transaction that writes its steps."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from rubrics.models import Case
from scoring.models import PipelineRun
from scoring.pipelines.kind import FinishedStep
from validation.making.config import MakingConfig
from validation.models import NearMissPair, PairGroup
from validation.near_miss import change_words
from validation.pairs.keys import free_key


def store_pairs(run: PipelineRun, settings: MakingConfig, steps: Sequence[FinishedStep], *, at: datetime) -> set[int]:
    """Add the pairs to the group of the run; the ids of the steps whose pair the group has already."""
    # Pairs enter a group one after the other, so that keys are free and no pair enters twice.
    group = PairGroup.objects.select_for_update().get(benchmark=run.benchmark_id, public_id=run.terms["group_id"])
    taken = set(NearMissPair.objects.filter(group=group).values_list("key", flat=True))
    keys = dict(Case.objects.filter(pk__in={step.case for step in steps}).values_list("pk", "key"))
    known = set(
        NearMissPair.objects.filter(group=group, case__in=keys).values_list("case_id", "reference", "candidate")
    )
    pairs, doubled = [], set()
    for step in steps:
        key, output = keys[step.case], step.output
        reference = settings.cases[settings.place_of[key]].reference
        content = (step.case, reference, output["candidate"])
        if content in known:
            doubled.add(step.id)
            continue
        known.add(content)
        name = free_key(key, taken)
        taken.add(name)
        pairs.append(
            NearMissPair(
                group=group,
                case_id=step.case,
                key=name,
                reference=reference,
                candidate=output["candidate"],
                start=output["start"],
                reference_end=output["reference_end"],
                candidate_end=output["candidate_end"],
                kind=output["kind"],
                change=change_words(output["find"], output["replace"]),
                why=output["why"].strip()[:2000],
                origin=NearMissPair.Origin.GENERATED,
                step_id=step.id,
                created_at=at,
            )
        )
    NearMissPair.objects.bulk_create(pairs)
    return doubled
