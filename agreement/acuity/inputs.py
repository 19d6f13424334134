"""The cases of a reference set, and what candidates say of them, read from the database as arrays.

Each import is a dataset (of a matrix each candidate in it, by itself); imports that share a case are one dataset. A
candidate was asked about all cases of the datasets in which it has a row. Cases without a reference count as such where
their dataset has cases of the set; other datasets on the scale are no part of it. Excluded cases count nowhere.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import astuple, dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from agreement.acuity.readings import AcuityData, CaseStatus, series_order
from agreement.acuity.unusable_table import UnusableReading
from annotation.models import LabelAnswer, LabelTask, ReferenceItem, ReferenceSet
from consilium.core.ratings import fetch_arrays
from rubrics.acuity.stored import scale_of
from rubrics.models import Benchmark, Candidate, Case, SourceLabel
from rubrics.parsing.acuity_files import FORMATS, MATRIX
from rubrics.parsing.acuity_levels import State
from scoring.models import AcuityReading

Ints = NDArray[np.int64]

MISSING = -1
IMPORTED = AcuityReading.Source.IMPORTED
_STATES = {state.word: int(state) for state in State} | {AcuityReading.State.MISSING.value: MISSING}
_STATUSES = {
    ReferenceItem.Status.CLEAR: CaseStatus.CLEAR,
    ReferenceItem.Status.BOUNDARY: CaseStatus.BOUNDARY,
    ReferenceItem.Status.AMBIGUOUS: CaseStatus.AMBIGUOUS,
    ReferenceItem.Status.SET_ASIDE: CaseStatus.SET_ASIDE,
    ReferenceItem.Status.WITHOUT: CaseStatus.WITHOUT_REFERENCE,
    ReferenceItem.Status.EXCLUDED: CaseStatus.EXCLUDED,
}
_ROWS = f"""
    SELECT r.case_id::int8, r.candidate_id::int8, (r.format = %(chat)s)::int::int2, r.sample::int4,
           (CASE {" ".join(f"WHEN r.state = '{word}' THEN {code}" for word, code in _STATES.items())} END)::int2,
           COALESCE(r.level, -1)::int2, COALESCE(r.confidence, 'NaN')::float8, r.acuity_import_id::int8,
           (i.shape = %(matrix)s)::int::int2
    FROM scoring_acuityreading r
    JOIN rubrics_case c ON c.id = r.case_id
    JOIN rubrics_acuityimport i ON i.id = r.acuity_import_id
    WHERE r.scale_id = %(scale)s AND c.excluded_at IS NULL
"""
_TYPES = dict(zip("abcdefghi", ("int8", "int8", "int2", "int4", "int2", "int2", "float8", "int8", "int2"), strict=True))


@dataclass(frozen=True, eq=False)
class AcuityInputs:
    """What a report rests on; ``digest`` is the SHA-256 of it."""

    data: AcuityData
    unusable: list[UnusableReading]
    digest: str


@dataclass(frozen=True, eq=False)
class _Rows:
    """Every row about a case of the scale that counts, missing readings too; ``dataset`` is a number."""

    case: Ints
    candidate: Ints
    format: Ints
    sample: Ints
    state: Ints
    place: Ints
    confidence: NDArray[np.float64]
    dataset: Ints

    def chosen(self, kept: NDArray[np.bool_]) -> _Rows:
        return _Rows(*(getattr(self, name)[kept] for name in self.__dataclass_fields__))


def read_inputs(reference_set: ReferenceSet, candidates: Collection[str]) -> AcuityInputs:
    """Read the set, and the readings of the candidates of these names on its scale."""
    references = _references(reference_set)
    rows = _joined(_read(reference_set.scale_id), {pk for pk, *_reference in references})
    names = dict(
        Candidate.objects.filter(benchmark=reference_set.benchmark_id, name__in=candidates).values_list("pk", "name")
    )
    case_datasets = dict(zip(rows.case.tolist(), rows.dataset.tolist(), strict=True))
    own = rows.chosen(np.isin(rows.candidate, list(names)))
    data = _data(reference_set, references, case_datasets, own, names)
    unusable = list(_unusable(reference_set.scale_id, list(names), list(case_datasets)))
    return AcuityInputs(data, unusable, _digest(data, unusable))


def candidates_with_readings(reference_set: ReferenceSet) -> list[str]:
    """The names of the candidates that were asked about the cases of a set, in order."""
    rows = _joined(_read(reference_set.scale_id), {pk for pk, *_reference in _references(reference_set)})
    ids = np.unique(rows.candidate).tolist()
    return sorted(Candidate.objects.filter(pk__in=ids).values_list("name", flat=True))


def missing_inputs(benchmark: Benchmark) -> str:
    """What a report of a benchmark waits for: ``labels``, a ``reference-set``, ``readings``, or nothing."""
    sets = ReferenceSet.objects.filter(benchmark=benchmark)
    if not sets.exists():
        labels = SourceLabel.objects.filter(case__benchmark=benchmark)
        votes = LabelAnswer.objects.filter(question__benchmark=benchmark, question__kind="levels")
        votes = votes.filter(task__status=LabelTask.Status.SUBMITTED)
        return "reference-set" if labels.exists() or votes.exists() else "labels"
    return "" if AcuityReading.objects.filter(scale__in=sets.values("scale")).exists() else "readings"


def _references(reference_set: ReferenceSet) -> list[tuple[int, str, str, int | None, int | None]]:
    items = ReferenceItem.objects.filter(reference_set=reference_set, case__excluded_at=None)
    return list(items.values_list("case_id", "case__key", "status", "low", "high"))


def _read(scale: int) -> _Rows:
    given = {"scale": scale, "chat": FORMATS[1], "matrix": MATRIX}
    case, candidate, format_, sample, state, place, confidence, imported, of_matrix = fetch_arrays(
        f"SELECT * FROM ({_ROWS}) AS rows({', '.join(_TYPES)})", given, types=_TYPES
    )
    # In a matrix each candidate is a dataset by itself.
    keys = np.stack([imported, np.where(of_matrix == 1, candidate, -1)], axis=1)
    dataset = np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1) if len(keys) else case
    return _Rows(
        *(case.astype(np.int64), candidate.astype(np.int64), format_.astype(np.int64), sample.astype(np.int64)),
        *(state.astype(np.int64), place.astype(np.int64)),
        confidence=confidence,
        dataset=dataset.astype(np.int64),
    )


def _joined(rows: _Rows, cases: Collection[int]) -> _Rows:
    """The rows of the datasets that have one of ``cases``; datasets that share a case have one number."""
    if not len(rows.case):
        return rows
    places, case = np.unique(rows.case, return_inverse=True)
    n_datasets = int(rows.dataset.max()) + 1
    size = n_datasets + len(places)
    edges = coo_array((np.ones(len(case), dtype=np.int8), (rows.dataset, n_datasets + case)), shape=(size, size))
    component = connected_components(edges, directed=False)[1].astype(np.int64)
    of_row = component[rows.dataset]
    of_set = np.unique(of_row[np.isin(rows.case, list(cases))])
    return replace(rows, dataset=of_row).chosen(np.isin(of_row, of_set))


def _data(
    reference_set: ReferenceSet,
    references: Sequence[tuple[int, str, str, int | None, int | None]],
    case_datasets: dict[int, int],
    rows: _Rows,
    names: dict[int, str],
) -> AcuityData:
    keys = {pk: key for pk, key, *_levels in references}
    others = [pk for pk in case_datasets if pk not in keys]
    keys |= dict(Case.with_stubs.filter(pk__in=others).values_list("pk", "key"))
    ids = sorted(keys, key=lambda pk: keys[pk])
    number_of = {pk: number for number, pk in enumerate(ids)}
    low, high = (np.full(len(ids), -1, dtype=np.int64) for _ in range(2))
    status = np.full(len(ids), int(CaseStatus.WITHOUT_REFERENCE), dtype=np.int64)
    for pk, _key, own, own_low, own_high in references:
        number = number_of[pk]
        low[number], high[number] = (-1 if level is None else level for level in (own_low, own_high))
        status[number] = int(_STATUSES[ReferenceItem.Status(own)])

    pairs = sorted(set(zip(rows.candidate.tolist(), rows.format.tolist(), strict=True)))
    series_names = sorted(((names[candidate], FORMATS[chat]) for candidate, chat in pairs), key=series_order)
    series_of = {name: number for number, name in enumerate(series_names)}
    places = _looked_up(rows.case, number_of)
    series = _looked_up(
        rows.candidate * 2 + rows.format,
        {candidate * 2 + chat: series_of[names[candidate], FORMATS[chat]] for candidate, chat in pairs},
    )
    order = np.lexsort((rows.sample, series, places))
    order = order[rows.state[order] != MISSING]
    return AcuityData(
        scale=scale_of(reference_set.scale),
        cases=[keys[pk] for pk in ids],
        low=low,
        high=high,
        status=status,
        is_asked=_is_asked([case_datasets.get(pk, -1) for pk in ids], rows.dataset, series, len(series_names)),
        series_names=series_names,
        case=places[order],
        series=series[order],
        sample=rows.sample[order],
        state=rows.state[order],
        place=rows.place[order],
        confidence=rows.confidence[order],
    )


def _looked_up(values: Ints, number_of: dict[int, int]) -> Ints:
    distinct, place = np.unique(values, return_inverse=True)
    return np.array([number_of[value] for value in distinct.tolist()], dtype=np.int64)[place]


def _is_asked(datasets: Sequence[int], of_row: Ints, series: Ints, n_series: int) -> NDArray[np.bool_]:
    """Whether each series has a row in the dataset of each case, (cases, series); -1 is no dataset."""
    of_case = np.array(datasets, dtype=np.int64)
    most = max(int(of_case.max(initial=-1)), int(of_row.max(initial=-1)))
    has_row = np.zeros((most + 2, n_series), dtype=bool)
    has_row[of_row, series] = True
    return has_row[of_case]  # the last row, of no dataset, has none


def _unusable(scale: int, candidates: list[int], cases: list[int]) -> Iterator[UnusableReading]:
    """The readings that say no one level; few beside all."""
    rows = AcuityReading.objects.filter(scale=scale, candidate__in=candidates, case__excluded_at=None, source=IMPORTED)
    rows = rows.exclude(state__in=[AcuityReading.State.LEVEL, AcuityReading.State.MISSING]).order_by("pk")
    within = set(cases)
    columns = ("candidate__name", "format", "case__key", "sample", "state", "text", "acuity_import__file_name", "line")
    for case, *own in rows.values_list("case_id", *columns):
        if case in within:
            yield UnusableReading(*own)


def _digest(data: AcuityData, unusable: Sequence[UnusableReading]) -> str:
    """SHA-256 of everything that was read, by the names of things."""
    texts = [
        [data.scale.name, list(data.scale.values)],
        data.cases,
        data.series_names,
        sorted(map(list, map(astuple, unusable)), key=str),
    ]
    whole = hashlib.sha256(json.dumps(texts, ensure_ascii=False).encode())
    arrays = (data.low, data.high, data.status, data.case, data.series, data.sample, data.state, data.place)
    for array in (*arrays, data.is_asked, data.confidence):
        whole.update(np.ascontiguousarray(array).tobytes())
    return whole.hexdigest()
