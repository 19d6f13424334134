"""Runs behind a report on acuity that were made elsewhere and came with a release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from agreement.reports.sentences import counted
from annotation.models import ReferenceSet
from scoring.models import AcuityReading, JudgeRun


def runs_from_releases(
    reference_set: ReferenceSet, candidates: Collection[int], judge_run: JudgeRun | None
) -> dict[str, int]:
    """How many runs of forced choices of the candidates, and of the judge, came with each release, by its name."""
    readings = AcuityReading.objects.filter(scale=reference_set.scale, candidate__in=candidates)
    rows = readings.exclude(pipeline_run=None).exclude(pipeline_run__imported_from="").order_by()
    counts = Counter(
        release for release, _run in rows.values_list("pipeline_run__imported_from", "pipeline_run").distinct()
    )
    if judge_run is not None and judge_run.imported_from:
        counts[judge_run.imported_from] += 1
    return dict(sorted(counts.items()))


def release_methods(facts: Mapping[str, Any]) -> list[str]:
    """What the methods say of it; nothing where every run was made here."""
    return [
        f"{counted(n, 'run')} of these readings {'was' if n == 1 else 'were'} made elsewhere and came with the release "
        f"{release}."
        for release, n in facts.get("releases", {}).items()
    ]
