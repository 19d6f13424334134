"""The frozen votes of a reference set, as panels, and the distributions that readings of these cases came with."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby

import numpy as np

from agreement.acuity.readings import AcuityData, LevelDistribution
from annotation.acuity.panel import PanelCase
from annotation.acuity.selectors import panel_of_item
from annotation.models import ReferenceItem, ReferenceSet
from scoring.models import AcuityReading

CHUNK = 10_000


def with_panel(data: AcuityData, reference_set: ReferenceSet) -> AcuityData:
    """``data`` with the votes of its cases, by key, as the set froze them, and distributions by log probabilities."""
    data = replace(data, panel=_panels(reference_set, data.n_levels))
    return replace(data, distributions=_distributions(data, reference_set))


def panel_digest(data: AcuityData, reference_set: ReferenceSet, digest: str) -> str:
    """SHA-256 of inputs with this digest, of the set, and of the distributions where there are any."""
    whole = hashlib.sha256(f"{digest} {reference_set.digest}".encode())
    for (case, series), own in data.distributions.items():
        whole.update(f" {case} {series} {own.n} ".encode())
        whole.update(own.f.tobytes())
    return whole.hexdigest()


def _panels(reference_set: ReferenceSet, n_levels: int) -> dict[str, PanelCase]:
    items = ReferenceItem.objects.filter(reference_set=reference_set, case__excluded_at=None)
    rows = items.exclude(votes=[], n_cannot_tell=0).values_list("case__key", "votes", "n_cannot_tell", "status")
    # A case with a ruling is ambiguous whatever the rule of the set, and so is one with a flag where that is the rule.
    panels = {
        case: replace(
            panel_of_item(case, votes, n_cannot_tell, n_levels),
            is_ambiguous_in_set=status == ReferenceItem.Status.AMBIGUOUS,
        )
        for case, votes, n_cannot_tell, status in rows
    }
    return {case: panels[case] for case in sorted(panels)}


def _distributions(data: AcuityData, reference_set: ReferenceSet) -> Mapping[tuple[str, int], LevelDistribution]:
    """The means over the samples of each panel case, of the series of runs that have distributions."""
    source = AcuityReading.Source.LOGPROBS
    series_of = {data.candidate_of(i): i for i in range(len(data.series_names)) if data.source_of(i) == source}
    if not series_of:
        return {}
    # Of the runs whose readings are in the data: see `inputs`.
    rows = AcuityReading.objects.filter(
        source=source,
        scale=reference_set.scale_id,
        candidate__name__in=series_of,
        case__reference_items__reference_set=reference_set,
        case__excluded_at=None,
        pipeline_run__benchmark=reference_set.benchmark_id,
        pipeline_run__replay=False,
    )
    # A run from an archive brings no readings of its own; one that came with a release does.
    rows = rows.exclude(pipeline_run__imported=True, pipeline_run__origin="").order_by(
        "case__key", "candidate__name", "sample", "pk"
    )
    columns = rows.values_list("case__key", "candidate__name", "sample", "distribution").iterator(chunk_size=CHUNK)
    distributions = {}
    for (case, candidate), own in groupby(columns, key=lambda row: row[:2]):
        if case in data.panel:
            # Of several runs that gave the same sample the first counts.
            by_sample = {sample: distribution for *_names, sample, distribution in reversed(list(own))}
            shares = np.array([by_sample[sample] for sample in sorted(by_sample)], dtype=np.float64)
            distributions[case, series_of[candidate]] = LevelDistribution(shares.mean(axis=0), len(shares))
    return {key: distributions[key] for key in sorted(distributions)}
