"""The cases of a reference set, and what candidates say of them, read from the database as arrays.

Each import is a dataset (of a matrix each candidate in it, by itself); imports that share a case are one dataset. A
candidate was asked about all cases of the datasets in which it has a row. Cases without a reference count as such where
their dataset has cases of the set; other datasets on the scale are no part of it. Excluded cases count nowhere.
What a judge reads in responses is a series of its own, of one judge in a report.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from typing import Any

import numpy as np
from django.db.models import Case as CaseWhen
from django.db.models import F, Q, Value, When
from django.db.models.functions import Coalesce, NullIf
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from agreement.acuity.case_slices import slices_digest, slices_in_database
from agreement.acuity.level_judges import LevelJudge, level_judge, run_on
from agreement.acuity.readings import IMPORTED, AcuityData, CaseStatus, series_order
from agreement.acuity.released_runs import runs_from_releases
from agreement.acuity.unusable_table import UnusableReading
from annotation.models import LabelAnswer, LabelTask, ReferenceItem, ReferenceSet
from consilium.core.ratings import fetch_arrays
from rubrics.acuity.stored import scale_of
from rubrics.models import Benchmark, Candidate, Case, SourceLabel
from rubrics.parsing.acuity_files import FORMATS, MATRIX
from rubrics.parsing.acuity_levels import State
from scoring.models import AcuityReading, JudgeRun

Ints = NDArray[np.int64]

MISSING = -1
NO_DATASET = -1
Source = AcuityReading.Source
_STATES = {state.word: int(state) for state in State} | {AcuityReading.State.MISSING.value: MISSING}
_STATUSES = {
    ReferenceItem.Status.CLEAR: CaseStatus.CLEAR,
    ReferenceItem.Status.BOUNDARY: CaseStatus.BOUNDARY,
    ReferenceItem.Status.AMBIGUOUS: CaseStatus.AMBIGUOUS,
    ReferenceItem.Status.SET_ASIDE: CaseStatus.SET_ASIDE,
    ReferenceItem.Status.WITHOUT: CaseStatus.WITHOUT_REFERENCE,
    ReferenceItem.Status.EXCLUDED: CaseStatus.EXCLUDED,
}
_CASES = " ".join(f"WHEN r.state = '{word}' THEN {code}" for word, code in _STATES.items())
_STATE_CODES = f"(CASE {_CASES} END)"
# Imported readings, then the steps of runs that ask for levels, then the responses that a judge was to read: a step or
# response without a reading is missing. Of several replicates of a judge the first counts.
_ROWS = f"""
    SELECT r.case_id::int8, r.candidate_id::int8, (r.format = %(chat)s)::int::int2, r.sample::int4,
           {_STATE_CODES}::int2, COALESCE(r.level, -1)::int2, COALESCE(r.confidence, 'NaN')::float8,
           r.acuity_import_id::int8,
           (i.shape = %(matrix)s)::int::int2, 0::int2, 'NaN'::float8, (-1)::int2
    FROM scoring_acuityreading r
    JOIN rubrics_case c ON c.id = r.case_id
    JOIN rubrics_acuityimport i ON i.id = r.acuity_import_id
    WHERE r.scale_id = %(scale)s AND c.excluded_at IS NULL
    UNION ALL
    SELECT s.case_id::int8, g.candidate_id::int8, 0::int2, s.key::int4, COALESCE({_STATE_CODES}, {MISSING})::int2,
           COALESCE(r.level, -1)::int2, COALESCE(r.confidence, 'NaN')::float8, g.id::int8,
           0::int2, 1::int2, COALESCE((r.distribution ->> r.level)::float8, 'NaN'),
           COALESCE(r.descending::int, -1)::int2
    FROM scoring_pipelinerun g
    JOIN scoring_pipelinestep s ON s.run_id = g.id
    JOIN rubrics_case c ON c.id = s.case_id
    LEFT JOIN scoring_acuityreading r
        ON r.pipeline_run_id = g.id AND r.case_id = s.case_id AND r.sample::text = s.key
    WHERE g.kind = 'classify' AND NOT g.replay AND (NOT g.imported OR g.origin <> '') AND g.candidate_id IS NOT NULL
      AND g.benchmark_id = %(benchmark)s AND (g.terms ->> 'scale')::int8 = %(scale)s AND c.excluded_at IS NULL
    UNION ALL
    SELECT a.case_id::int8, a.candidate_id::int8, 1::int2, a.sample::int4, COALESCE({_STATE_CODES}, {MISSING})::int2,
           COALESCE(r.level, -1)::int2, 'NaN'::float8, i.run_id::int8, 0::int2, 1::int2, 'NaN'::float8, (-1)::int2
    FROM scoring_judgerunitem i
    JOIN rubrics_response a ON a.id = i.response_id
    JOIN rubrics_case c ON c.id = a.case_id
    LEFT JOIN scoring_acuityreading r
        ON r.judge_run_id = i.run_id AND r.response_id = i.response_id AND r.replicate = 0
    WHERE i.run_id = %(judge_run)s AND c.excluded_at IS NULL
"""
_TYPES = dict(
    zip(
        "abcdefghijkl",
        ("int8", "int8", "int2", "int4", "int2", "int2", "float8", "int8", "int2", "int2", "float8", "int2"),
        strict=True,
    )
)


@dataclass(frozen=True, eq=False)
class AcuityInputs:
    """What a report rests on; ``digest`` is the SHA-256 of it. ``judge``: whose readings are among them, if any.

    ``releases``: how many of the runs came with each release; where a run was read in is no part of the digest.
    """

    data: AcuityData
    unusable: list[UnusableReading]
    digest: str
    judge: LevelJudge | None = None
    releases: Mapping[str, int] = field(default_factory=dict)

    @property
    def run_facts(self) -> dict[str, Any]:
        """What a report keeps of the judge, and of releases that runs came with."""
        came_with = {"releases": dict(self.releases)} if self.releases else {}
        return {**(self.judge.facts if self.judge else {}), **came_with}


@dataclass(frozen=True, eq=False)
class _Rows:
    """Every row about a case of the scale that counts, missing readings too; ``dataset`` is a number.

    ``by_run``: 1 where a run asked for it, which has no dataset, else 0. ``share`` and ``descending`` are as in
    `AcuityData`.
    """

    case: Ints
    candidate: Ints
    format: Ints
    sample: Ints
    state: Ints
    place: Ints
    confidence: NDArray[np.float64]
    dataset: Ints
    by_run: Ints
    share: NDArray[np.float64]
    descending: Ints

    def chosen(self, kept: NDArray[np.bool_]) -> _Rows:
        return _Rows(*(getattr(self, name)[kept] for name in self.__dataclass_fields__))


def read_inputs(
    reference_set: ReferenceSet,
    candidates: Collection[str],
    *,
    judge: str = "",
    counts_boundary: bool = False,
    slices: bool = False,
    subsets: Collection[str] = (),
) -> AcuityInputs:
    """Read the set, and the readings of the candidates of these names on its scale.

    With ``judge`` also what the judge of this name read in responses, `WrongParameters` where there is nothing.
    With ``counts_boundary`` its boundary cases are in the main figures. With ``slices`` also the slices of its cases,
    with the named ones that are called in ``subsets``.
    """
    references = _references(reference_set)
    run = run_on(reference_set, judge)
    rows = _joined(_read(reference_set, run), {pk for pk, *_reference in references})
    names = dict(
        Candidate.objects.filter(benchmark=reference_set.benchmark_id, name__in=candidates).values_list("pk", "name")
    )
    # A case that files know is in their dataset, also where a run asked about it.
    order = np.argsort(-rows.by_run, kind="stable")
    case_datasets = dict(zip(rows.case[order].tolist(), rows.dataset[order].tolist(), strict=True))
    own = rows.chosen(np.isin(rows.candidate, list(names)))
    data = _data(reference_set, references, case_datasets, own, names)
    unusable = list(_unusable(reference_set.scale_id, list(names), list(case_datasets), run))
    digest = _digest(data, unusable)
    by_judge = level_judge(run) if run and Source.JUDGE in (data.sources or ()) else None
    if by_judge:
        digest = hashlib.sha256(f"{digest} {by_judge.identity}".encode()).hexdigest()
    data = replace(data, counts_boundary=counts_boundary)
    if slices:
        data = slices_in_database(data, reference_set, subsets)
        digest = hashlib.sha256(f"{digest} {slices_digest(data)}".encode()).hexdigest()
    releases = runs_from_releases(reference_set, list(names), run if by_judge else None)
    return AcuityInputs(data, unusable, digest, by_judge, releases)


def candidates_with_readings(reference_set: ReferenceSet, judge: str = "") -> list[str]:
    """The names of the candidates that were asked about the cases of a set, or whose responses ``judge`` was to read,
    in order.
    """
    rows = _joined(
        _read(reference_set, run_on(reference_set, judge)), {pk for pk, *_reference in _references(reference_set)}
    )
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
    readings = AcuityReading.objects.filter(scale__in=sets.values("scale")).exclude(source=Source.EDITED)
    return "" if readings.exists() else "readings"


def _references(reference_set: ReferenceSet) -> list[tuple[int, str, str, int | None, int | None]]:
    items = ReferenceItem.objects.filter(reference_set=reference_set, case__excluded_at=None)
    return list(items.values_list("case_id", "case__key", "status", "low", "high"))


def _read(reference_set: ReferenceSet, judge_run: JudgeRun | None) -> _Rows:
    given: dict[str, object] = {"scale": reference_set.scale_id, "benchmark": reference_set.benchmark_id}
    given |= {"chat": FORMATS[1], "matrix": MATRIX, "judge_run": judge_run.pk if judge_run else 0}
    case, candidate, format_, sample, state, place, confidence, origin, of_matrix, by_run, share, descending = (
        fetch_arrays(f"SELECT * FROM ({_ROWS}) AS rows({', '.join(_TYPES)})", given, types=_TYPES)
    )
    # In a matrix each candidate is a dataset by itself; until the datasets of a run's cases are known, the run is one.
    # Runs in both formats, of candidates and of a judge, may have the same number.
    keys = np.stack([by_run, by_run * format_, origin, np.where(of_matrix == 1, candidate, -1)], axis=1)
    dataset = np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1) if len(keys) else case
    return _Rows(
        *(case.astype(np.int64), candidate.astype(np.int64), format_.astype(np.int64), sample.astype(np.int64)),
        *(state.astype(np.int64), place.astype(np.int64)),
        confidence=confidence,
        dataset=dataset.astype(np.int64),
        by_run=by_run.astype(np.int64),
        share=share,
        descending=descending.astype(np.int64),
    )


def _joined(rows: _Rows, cases: Collection[int]) -> _Rows:
    """The rows of the datasets and runs that have one of ``cases``; datasets that share a case have one number.

    A run joins no datasets, though it may ask about the cases of several; its rows have the dataset -1.
    """
    if not len(rows.case):
        return rows
    places, case = np.unique(rows.case, return_inverse=True)
    by_file = rows.by_run == 0
    n_datasets = int(rows.dataset.max()) + 1
    size = n_datasets + len(places)
    ends = rows.dataset[by_file], n_datasets + case[by_file]
    edges = coo_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(size, size))
    component = connected_components(edges, directed=False)[1].astype(np.int64)
    of_row = component[rows.dataset]
    of_set = np.unique(of_row[np.isin(rows.case, list(cases))])
    dataset = np.where(by_file, of_row, NO_DATASET)
    return replace(rows, dataset=dataset).chosen(np.isin(of_row, of_set))


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

    series, series_keys = _series(rows, names)
    places = _looked_up(rows.case, number_of)
    order = np.lexsort((rows.sample, series, places))
    order = order[rows.state[order] != MISSING]
    of_file = rows.chosen(rows.by_run == 0)
    data = AcuityData(
        scale=scale_of(reference_set.scale),
        cases=[keys[pk] for pk in ids],
        low=low,
        high=high,
        status=status,
        is_asked=_is_asked(
            [case_datasets.get(pk, NO_DATASET) for pk in ids],
            of_file.dataset,
            series[rows.by_run == 0],
            len(series_keys),
        ),
        series_names=[(candidate, FORMATS[chat]) for candidate, chat, _by_run in series_keys],
        case=places[order],
        series=series[order],
        sample=rows.sample[order],
        state=rows.state[order],
        place=rows.place[order],
        confidence=rows.confidence[order],
    )
    if not rows.by_run.any():
        return data
    return _with_runs(data, rows, places, series, series_keys, order)


# Candidate, 1 for chat, 1 for readings that a run asked for.
SeriesKey = tuple[str, int, int]


def _series(rows: _Rows, names: dict[int, str]) -> tuple[Ints, list[SeriesKey]]:
    """The number of the series of each row, and the keys of the series in order."""
    triples = sorted(set(zip(rows.candidate.tolist(), rows.format.tolist(), rows.by_run.tolist(), strict=True)))
    of_key = {
        (names[candidate], chat, by_run): 4 * candidate + 2 * chat + by_run for candidate, chat, by_run in triples
    }
    keys = sorted(of_key, key=lambda key: (*series_order((key[0], FORMATS[key[1]])), key[2]))
    flat = 4 * rows.candidate + 2 * rows.format + rows.by_run
    return _looked_up(flat, {of_key[key]: number for number, key in enumerate(keys)}), keys


def _with_runs(
    data: AcuityData, rows: _Rows, places: Ints, series: Ints, keys: Sequence[SeriesKey], order: Ints
) -> AcuityData:
    """``data`` with what is known of readings that runs asked for; a series of theirs was asked what they planned."""
    n_series = len(keys)
    by_run = rows.by_run == 1
    samples = np.stack([places[by_run], series[by_run], rows.sample[by_run]], axis=1)
    flat = np.unique(samples, axis=0)[:, :2] @ np.array([n_series, 1])
    planned = np.bincount(flat, minlength=len(data.cases) * n_series).reshape(len(data.cases), n_series)
    of_run = np.array([key[2] == 1 for key in keys], dtype=bool)
    planned = np.where(of_run, planned, -1)
    with_shares = set(series[~np.isnan(rows.share)].tolist())
    sources = [
        _source_of_run(chat=chat == 1, has_shares=i in with_shares) if by_run else IMPORTED
        for i, (_name, chat, by_run) in enumerate(keys)
    ]
    n_sources = Counter(key[:2] for key in keys)
    return replace(
        data,
        is_asked=np.where(of_run, planned > 0, data.is_asked),
        series_names=[
            (f"{name} ({source})" if n_sources[name, chat] > 1 and source != IMPORTED else name, FORMATS[chat])
            for (name, chat, _by_run), source in zip(keys, sources, strict=True)
        ],
        planned=planned,
        share=rows.share[order],
        descending=rows.descending[order],
        sources=sources,
        candidates=[key[0] for key in keys],
    )


def _source_of_run(*, chat: bool, has_shares: bool) -> str:
    """Runs ask candidates for forced choices; advice to a patient is what a judge reads in it."""
    if chat:
        return Source.JUDGE.value
    return (Source.LOGPROBS if has_shares else Source.PARSED).value


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


def _unusable(
    scale: int, candidates: list[int], cases: list[int], judge_run: JudgeRun | None
) -> Iterator[UnusableReading]:
    """The readings that say no one level; few beside all. Of those of a judge the text is its explanation."""
    rows = AcuityReading.objects.filter(scale=scale, candidate__in=candidates, case__excluded_at=None)
    of_judge = Q(judge_run=judge_run, replicate=0) if judge_run else Q(pk=None)
    rows = rows.filter(Q(source__in=[Source.IMPORTED, Source.PARSED]) | of_judge)
    rows = rows.exclude(state__in=[AcuityReading.State.LEVEL, AcuityReading.State.MISSING]).order_by("pk")
    within = set(cases)
    words = CaseWhen(When(source=Source.JUDGE, then=F("explanation")), default=F("text"))
    columns = ("candidate__name", "format", "case__key", "sample", "state", "words")
    files = ("acuity_import__file_name", "line", "run")
    # The id that a run had where it was made, so that a release brings the same file.
    ids = (NullIf(f"{run}__origin", Value("")) for run in ("pipeline_run", "judge_run"))
    rows = rows.annotate(words=words, run=Coalesce(*ids, "pipeline_run__public_id", "judge_run__public_id"))
    for case, file, line, run, *own in rows.values_list("case_id", *files, *columns):
        if case in within:
            values = (*own, f"run {run}" if file is None else file, line)
            yield UnusableReading(*values)


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
    if data.planned is not None:
        assert data.share is not None
        assert data.descending is not None
        whole.update(json.dumps([data.sources, data.candidates]).encode())
        for array in (data.planned, data.share, data.descending):
            whole.update(np.ascontiguousarray(array).tobytes())
    return whole.hexdigest()
