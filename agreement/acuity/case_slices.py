"""Slices of cases for figures of acuity, as masks over the cases of `AcuityData`.

``dataset:NAME``, ``scheme:NAME`` and ``how:NAME`` are those of the label of a case, ``reference:LEVEL`` its reference
level (two of a case between levels, ``LOW|HIGH``). The others are those of scores: ``difficulty:X``, ``register:X``,
each tag by its own name, ``language:X``, larger groups by the benchmark's maps, and named slices (`case_sets`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agreement.acuity.readings import AcuityData, CaseStatus
from agreement.models import NamedSlice
from agreement.scoreboard.case_sets import case_sets
from annotation.models import ReferenceSet
from rubrics.models import Case, SourceLabel
from rubrics.parsing.acuity_files import AcuityRecords
from scoring.scores.sheet import labels_of_case

DATASET = "dataset:"
# Kinds that are no tags here, even where a case has a tag that begins so.
_OF_LABELS = (DATASET, "scheme:", "how:", "reference:")
_LABELS = ("difficulty", "register", "language", "tags", "label_tags")


def slices_in_database(data: AcuityData, reference_set: ReferenceSet, subsets: Iterable[str]) -> AcuityData:
    """``data`` with every slice that one of its cases is in; of the named slices those called in ``subsets``."""
    benchmark = reference_set.benchmark
    number_of = {case: number for number, case in enumerate(data.cases)}
    rows = Case.with_stubs.filter(benchmark=benchmark).values_list("pk", "key", *_LABELS)
    cases: dict[int, dict[str, Any]] = {}
    numbers: dict[int, int] = {}
    for pk, key, *labels in rows.iterator():
        if key in number_of:
            cases[pk] = dict(zip(_LABELS, labels, strict=True))
            numbers[pk] = number_of[key]
    members: dict[str, set[int]] = {}
    for pk, labels_of in cases.items():
        for name in labels_of_case(labels_of):
            if name.startswith(_OF_LABELS):
                continue
            members.setdefault(name, set()).add(numbers[pk])
    named = NamedSlice.objects.filter(benchmark=benchmark, slug__in=list(subsets)).order_by("slug")
    for name, pks in case_sets(benchmark, cases, named).items():
        members.setdefault(name, set()).update(numbers[pk] for pk in pks)
    for name, pk in _of_labels(reference_set):
        if pk in numbers:
            members.setdefault(name, set()).add(numbers[pk])
    return _with(data, members)


def datasets_in_database(data: AcuityData, reference_set: ReferenceSet) -> AcuityData:
    """``data`` with the panel cases of each dataset of the set as slices (``dataset:NAME``), and with no others."""
    number_of = {case: number for number, case in enumerate(data.cases) if case in data.panel}
    keys = dict(Case.with_stubs.filter(benchmark=reference_set.benchmark_id).values_list("pk", "key"))
    members: dict[str, list[int]] = {}
    for name, pk in _of_labels(reference_set):
        if name.startswith(DATASET) and (number := number_of.get(keys.get(pk, ""))) is not None:
            members.setdefault(name, []).append(number)
    return replace(data, slices={name: _mask(len(data.cases), sorted(members[name])) for name in sorted(members)})


def slices_in_files(data: AcuityData, records: AcuityRecords) -> AcuityData:
    """``data`` with what files alone know: how a case was labelled, and its reference level."""
    members: dict[str, set[int]] = {}
    for number, case in enumerate(data.cases):
        if case in records.labels:
            members.setdefault(f"how:{records.labels[case].how.value}", set()).add(number)
    return _with(data, members)


def slices_digest(data: AcuityData) -> str:
    """SHA-256 of which case is in which slice."""
    content = [[name, np.flatnonzero(mask).tolist()] for name, mask in data.slices.items()]
    return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()


def _of_labels(reference_set: ReferenceSet) -> Iterator[tuple[str, int]]:
    """Slices by the label of each case in each dataset of the set, as it was mapped when it was imported last."""
    rows = SourceLabel.objects.filter(
        case__benchmark=reference_set.benchmark_id,
        scheme__scale=reference_set.scale_id,
        dataset__in=reference_set.datasets,
    ).select_related("scheme")
    newest = {(row.case_id, row.dataset): row for row in rows.order_by("pk")}
    for (case, dataset), row in newest.items():
        yield f"{DATASET}{dataset}", case
        yield f"scheme:{row.scheme}", case
        yield f"how:{row.how}", case


def _with(data: AcuityData, members: Mapping[str, Iterable[int]]) -> AcuityData:
    masks = {name: _mask(len(data.cases), sorted(own)) for name, own in members.items()}
    referenced = (data.status == int(CaseStatus.CLEAR)) | (data.status == int(CaseStatus.BOUNDARY))
    for low, high in sorted(set(zip(data.low[referenced].tolist(), data.high[referenced].tolist(), strict=True))):
        masks[f"reference:{data.scale.named(low, high)}"] = referenced & (data.low == low) & (data.high == high)
    return replace(data, slices={name: masks[name] for name in sorted(masks)})


def _mask(size: int, chosen: list[int]) -> NDArray[np.bool_]:
    mask = np.zeros(size, dtype=bool)
    mask[chosen] = True
    return mask
