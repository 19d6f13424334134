"""Sampling weights of the responses that physicians graded, from the record of their batches.

Where all graded responses of a candidate came from one batch, drawn by its seed, each has the inclusion probability
that the batch recorded, and its weight is the inverse. Several batches drawn one after another from the same cases make
up one random sample with equal probabilities. Everything else is treated as such a sample, and a remark says why it may
not be one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotation.models import Batch, BatchItem
from consilium.core.reasons import Reason
from rubrics.models import Benchmark
from scoring.scores.sheet import Sheet
from scoring.selectors.raters import Rater

NOT_RECORDED = Reason.SAMPLE_NOT_RECORDED()
SEVERAL = Reason.SAMPLE_OF_SEVERAL_DRAWS()
PART = Reason.SAMPLE_OF_SOME_CASES()
WEIGHTED = Reason.SAMPLE_WEIGHTED()
# The parts of a batch's filter that leave cases out.
_OF_CASES = ("difficulties", "registers", "languages", "tags", "cases")


@dataclass(frozen=True, eq=False)
class Sampling:
    """``weight`` of each response of a sheet, and the remarks on each candidate, by its place in the sheet."""

    weight: NDArray[np.float64]
    notes: list[list[str]]


def sampling_of(benchmark: Benchmark, reference: Rater, sheet: Sheet, graded: NDArray[np.bool_]) -> Sampling:
    """How the responses of ``sheet`` that ``reference`` decided (marked in ``graded``) were drawn."""
    weight = np.ones(len(sheet.response_ids))
    notes: list[list[str]] = [[] for _ in sheet.candidate_ids]
    kind, _colon, name = reference.label.partition(":")
    if kind != "group":
        for candidate in np.unique(sheet.response_candidate[graded]).tolist():
            notes[candidate].append(NOT_RECORDED)
        return Sampling(weight, notes)
    batches, batch, place, probability = _items(benchmark, name.rpartition("@")[0], sheet)
    for candidate in range(len(notes)):
        own = graded & (sheet.response_candidate == candidate)
        if not own.any():
            continue
        held = sheet.response_candidate[place] == candidate
        used = np.unique(batch[held])
        drawn = np.zeros(len(weight), dtype=bool)
        drawn[place[held]] = True
        frames = [batches[number] for number in used.tolist()]
        filters = [[frame["frame"].get("filter", {}).get(name) for name in _OF_CASES] for frame in frames]
        if not frames or any(frame["imported"] for frame in frames) or (own & ~drawn).any():
            notes[candidate].append(NOT_RECORDED)
        elif len(frames) > 1 and (
            any("overlap" in frame["frame"] for frame in frames) or any(map(filters[0].__ne__, filters))
        ):
            notes[candidate].append(SEVERAL)
        else:
            if any(filters[0]):
                notes[candidate].append(PART)
            if len(frames) == 1:
                weight[place[held]] = 1 / probability[held]
                if len(np.unique(probability[held])) > 1:
                    notes[candidate].append(WEIGHTED)
            if own.sum() < drawn.sum():
                notes[candidate].append(Reason.SAMPLE_GRADED_SO_FAR(n=int(own.sum()), all=int(drawn.sum())))
    return Sampling(weight, notes)


def _items(
    benchmark: Benchmark, group: str, sheet: Sheet
) -> tuple[dict[int, dict[str, Any]], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """The group's batches by pk; and for each of their items in the sheet its batch, place and probability."""
    rows = Batch.objects.filter(group__benchmark=benchmark, group__name=group, kind=Batch.Kind.GRADE)
    batches: dict[int, dict[str, Any]] = {
        pk: {"imported": imported, "frame": frame}
        for pk, imported, frame in rows.values_list("pk", "imported", "frame")
    }
    items = list(
        BatchItem.objects.filter(batch__in=batches).values_list("batch_id", "response_id", "inclusion_probability")
    )
    batch = np.array([item[0] for item in items], dtype=np.int64)
    response = np.array([item[1] for item in items], dtype=np.int64)
    probability = np.array([item[2] for item in items], dtype=np.float64)
    inside = np.isin(response, sheet.response_ids)
    place = np.searchsorted(sheet.response_ids, response[inside]).astype(np.int64)
    return batches, batch[inside], place, probability[inside]
