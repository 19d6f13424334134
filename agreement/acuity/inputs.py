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
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from typing import Any

import numpy as np
from django.db.models import Case as CaseWhen
from django.db.models import Exists, F, OuterRef, Q, Value, When
from django.db.models.functions import Coalesce, NullIf
from numpy.typing import NDArray

from agreement.acuity.case_slices import slices_digest, slices_in_database
from agreement.acuity.frontier_table import CallRecord
from agreement.acuity.judge_tables import ReadResponse
from agreement.acuity.level_judges import LevelJudge, level_judge, run_on
from agreement.acuity.packed_readings import NO_ESCALATION, UNKNOWN_ESCALATION, Block, PackedReadings, rows_of
from agreement.acuity.readings import IMPORTED, AcuityData, CaseStatus, series_order
from agreement.acuity.released_runs import runs_from_releases
from agreement.acuity.unusable_table import UnusableReading
from annotation.models import LabelAnswer, LabelTask, ReferenceItem, ReferenceSet
from consilium.core.ratings import fetch_arrays, windows
from rubrics.acuity.stored import scale_of
from rubrics.models import Benchmark, Candidate, Case, SourceLabel
from rubrics.parsing.acuity_files import FORMATS, MATRIX
from rubrics.parsing.acuity_levels import State
from scoring.models import AcuityReading, EndpointKind, JudgeRun, PipelineRun

Ints = NDArray[np.int64]

MISSING = -100  # an answer that was asked for and not given
MAX_ROWS = 150_000  # readings that are read from the database at once, some 100 bytes each
NO_DATASET = -1
Source = AcuityReading.Source
_STATUSES = {
    ReferenceItem.Status.CLEAR: CaseStatus.CLEAR,
    ReferenceItem.Status.BOUNDARY: CaseStatus.BOUNDARY,
    ReferenceItem.Status.AMBIGUOUS: CaseStatus.AMBIGUOUS,
    ReferenceItem.Status.SET_ASIDE: CaseStatus.SET_ASIDE,
    ReferenceItem.Status.WITHOUT: CaseStatus.WITHOUT_REFERENCE,
    ReferenceItem.Status.EXCLUDED: CaseStatus.EXCLUDED,
}
_CASES = " ".join(f"WHEN '{state.word}' THEN {-int(state)}" for state in State if state is not State.LEVEL)
# The place of a level, or why it is none.
_ANSWER = f"COALESCE(r.level, CASE r.state {_CASES} ELSE {MISSING} END)"
# Imported readings, then the steps of runs that ask for levels, then the responses that a judge was to read: a step or
# response without a reading is missing. Of several replicates of a judge the first counts.
_ASKED = """
    LEFT JOIN scoring_acuityreading r
        ON r.pipeline_run_id = g.id AND r.case_id = s.case_id AND r.sample::text = s.key
"""
_READ = """
    LEFT JOIN scoring_acuityreading r
        ON r.judge_run_id = i.run_id AND r.response_id = i.response_id AND r.replicate = 0
"""
_FILES = """
    FROM scoring_acuityreading r
    JOIN rubrics_case c ON c.id = r.case_id
    JOIN rubrics_acuityimport i ON i.id = r.acuity_import_id
    WHERE r.scale_id = %(scale)s AND c.excluded_at IS NULL
"""
_RUNS = """
    FROM scoring_pipelinerun g
    JOIN scoring_pipelinestep s ON s.run_id = g.id
    JOIN rubrics_case c ON c.id = s.case_id
    {readings}
    WHERE g.kind = 'classify' AND NOT g.replay AND (NOT g.imported OR g.origin <> '') AND g.candidate_id IS NOT NULL
      AND g.benchmark_id = %(benchmark)s AND (g.terms ->> 'scale')::int8 = %(scale)s AND c.excluded_at IS NULL
"""
_JUDGED = """
    FROM scoring_judgerunitem i
    JOIN rubrics_response a ON a.id = i.response_id
    JOIN rubrics_case c ON c.id = a.case_id
    {readings}
    WHERE i.run_id = %(judge_run)s AND c.excluded_at IS NULL
"""
# What a reading is of: case, candidate, 1 for chat, its import or run, 1 of a matrix, 1 where a run asked for it.
_SOURCES = (
    (
        "r.case_id::int8, r.candidate_id::int8, (r.format = %(chat)s)::int::int2, r.acuity_import_id::int8,"
        " (i.shape = %(matrix)s)::int::int2, 0::int2",
        _FILES,
    ),
    ("s.case_id::int8, g.candidate_id::int8, 0::int2, g.id::int8, 0::int2, 1::int2", _RUNS.format(readings="")),
    ("a.case_id::int8, a.candidate_id::int8, 1::int2, i.run_id::int8, 0::int2, 1::int2", _JUDGED.format(readings="")),
)
_KEYS = " UNION ALL ".join(f"SELECT {keys}, count(*)::int8 {rows} GROUP BY 1, 2, 3, 4, 5, 6" for keys, rows in _SOURCES)
_KEY_TYPES = dict(zip("abcdefg", ("int8", "int8", "int2", "int8", "int2", "int2", "int8"), strict=True))
_WITHIN = "AND {case} BETWEEN %(first)s AND %(last)s AND {candidate} = ANY(%(candidates)s)"
_READINGS = f"""
    SELECT r.case_id::int8, r.candidate_id::int8, (r.format = %(chat)s)::int::int2, r.acuity_import_id::int8, 0::int2,
           r.sample::int4, {_ANSWER}::int2, COALESCE(r.confidence, 'NaN')::float8, 'NaN'::float8, (-1)::int2,
           ({UNKNOWN_ESCALATION})::int2
    {_FILES} {_WITHIN.format(case="r.case_id", candidate="r.candidate_id")}
    UNION ALL
    SELECT s.case_id::int8, g.candidate_id::int8, 0::int2, g.id::int8, 1::int2,
           s.key::int4, {_ANSWER}::int2, COALESCE(r.confidence, 'NaN')::float8,
           COALESCE((r.distribution ->> r.level)::float8, 'NaN'), COALESCE(r.descending::int, -1)::int2,
           ({UNKNOWN_ESCALATION})::int2
    {_RUNS.format(readings=_ASKED)} {_WITHIN.format(case="s.case_id", candidate="g.candidate_id")}
    UNION ALL
    SELECT a.case_id::int8, a.candidate_id::int8, 1::int2, i.run_id::int8, 1::int2,
           a.sample::int4, {_ANSWER}::int2, 'NaN'::float8, 'NaN'::float8, (-1)::int2,
           COALESCE(r.escalation, {NO_ESCALATION})::int2
    {_JUDGED.format(readings=_READ)} {_WITHIN.format(case="a.case_id", candidate="a.candidate_id")}
"""
_READING_TYPES = dict(
    zip(
        "abcdefghijk",
        ("int8", "int8", "int2", "int8", "int2", "int4", "int2", "float8", "float8", "int2", "int2"),
        strict=True,
    )
)


@dataclass(frozen=True, eq=False)
class AcuityInputs:
    """What a report rests on; ``digest`` is the SHA-256 of it. ``judge``: whose readings are among them, if any.

    Where a report needs them: ``advice`` are the responses that it read, with what physicians read in them; ``calls``
    are what the answers of a series took, by its number. ``releases``: how many of the runs came with each release;
    where a run was read in is no part of the digest. ``by_rules``: rules answered in one of the runs.
    """

    data: AcuityData
    unusable: list[UnusableReading]
    digest: str
    judge: LevelJudge | None = None
    advice: list[ReadResponse] = field(default_factory=list)
    calls: Mapping[int, CallRecord] = field(default_factory=dict)
    releases: Mapping[str, int] = field(default_factory=dict)
    by_rules: bool = False

    @property
    def run_facts(self) -> dict[str, Any]:
        """What a report keeps of the judge, of releases that runs came with, and of what answered."""
        came_with = {"releases": dict(self.releases)} if self.releases else {}
        answered = {"endpoint_kind": str(EndpointKind.RULES)} if self.by_rules else {}
        return {**(self.judge.facts if self.judge else {}), **came_with, **answered}


@dataclass(frozen=True, eq=False)
class _Keys:
    """What there are readings of, missing ones too: one entry for each case, candidate, format and import or run.

    ``by_run``: 1 where a run asked, which has no ``dataset``, else 0; a dataset is a number. ``origin`` is the id of
    the import or run, ``n`` the number of readings.
    """

    case: Ints
    candidate: Ints
    format: Ints
    origin: Ints
    dataset: Ints
    by_run: Ints
    n: Ints

    def chosen(self, kept: NDArray[np.bool_]) -> _Keys:
        return _Keys(*(getattr(self, name)[kept] for name in self.__dataclass_fields__))


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
    keys = _joined(_read_keys(reference_set, run), {pk for pk, *_reference in references})
    names = dict(
        Candidate.objects.filter(benchmark=reference_set.benchmark_id, name__in=candidates).values_list("pk", "name")
    )
    # A case that files know is in their dataset, also where a run asked about it.
    order = np.argsort(-keys.by_run, kind="stable")
    case_datasets = dict(zip(keys.case[order].tolist(), keys.dataset[order].tolist(), strict=True))
    own = keys.chosen(np.isin(keys.candidate, list(names)))
    read = _Reading(_parameters(reference_set, run), own, names)
    data = _data(reference_set, references, case_datasets, own, read)
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
    return AcuityInputs(data, unusable, digest, by_judge, releases=releases, by_rules=_asked_rules(own))


def _asked_rules(keys: _Keys) -> bool:
    """Whether rules answered in a run behind these keys."""
    rules = {"endpoint_kind": EndpointKind.RULES}
    choices, judged = (np.unique(keys.origin[(keys.by_run == 1) & (keys.format == place)]).tolist() for place in (0, 1))
    return (
        PipelineRun.objects.filter(pk__in=choices, **rules).exists()
        or JudgeRun.objects.filter(pk__in=judged, **rules).exists()
    )


def candidates_with_readings(reference_set: ReferenceSet, judge: str = "", *, originals: bool = False) -> list[str]:
    """The names of the candidates that were asked about the cases of a set, or whose responses ``judge`` was to read,
    in order. With ``originals`` derived candidates are left out.
    """
    cases = {pk for pk, *_reference in _references(reference_set)}
    keys = _joined(_read_keys(reference_set, run_on(reference_set, judge)), cases)
    ids = np.unique(keys.candidate).tolist()
    candidates = Candidate.objects.filter(pk__in=ids)
    return sorted((candidates.originals() if originals else candidates).values_list("name", flat=True))


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


def _parameters(reference_set: ReferenceSet, judge_run: JudgeRun | None) -> dict[str, object]:
    """Those of the queries above."""
    given: dict[str, object] = {"scale": reference_set.scale_id, "benchmark": reference_set.benchmark_id}
    return given | {"chat": FORMATS[1], "matrix": MATRIX, "judge_run": judge_run.pk if judge_run else 0}


def _read_keys(reference_set: ReferenceSet, judge_run: JudgeRun | None) -> _Keys:
    given = _parameters(reference_set, judge_run)
    query = f"SELECT * FROM ({_KEYS}) AS keys({', '.join(_KEY_TYPES)})"
    columns = fetch_arrays(query, given, types=_KEY_TYPES)
    case, candidate, format_, origin, of_matrix, by_run, n = (column.astype(np.int64) for column in columns)
    # In a matrix each candidate is a dataset by itself; until the datasets of a run's cases are known, the run is one.
    # Runs in both formats, of candidates and of a judge, may have the same number.
    own = np.stack([by_run, by_run * format_, origin, np.where(of_matrix == 1, candidate, -1)], axis=1)
    dataset = np.unique(own, axis=0, return_inverse=True)[1].reshape(-1) if len(own) else case
    return _Keys(case, candidate, format_, origin, dataset.astype(np.int64), by_run, n)


def _joined(keys: _Keys, cases: Collection[int]) -> _Keys:
    """The keys of the datasets and runs that have one of ``cases``; datasets that share a case have one number.

    A run joins no datasets, though it may ask about the cases of several; it has the dataset -1.
    """
    if not len(keys.case):
        return keys
    # Each process of the product would spend a tenth of its start on these.
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    places, case = np.unique(keys.case, return_inverse=True)
    by_file = keys.by_run == 0
    n_datasets = int(keys.dataset.max()) + 1
    size = n_datasets + len(places)
    ends = keys.dataset[by_file], n_datasets + case[by_file]
    edges = coo_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(size, size))
    component = connected_components(edges, directed=False)[1].astype(np.int64)
    of_key = component[keys.dataset]
    of_set = np.unique(of_key[np.isin(keys.case, list(cases))])
    dataset = np.where(by_file, of_key, NO_DATASET)
    return replace(keys, dataset=dataset).chosen(np.isin(of_key, of_set))


# Candidate, 1 for chat, 1 for readings that a run asked for.
SeriesKey = tuple[str, int, int]


class _Reading:
    """Reads the readings of some keys, a window of cases at a time; a window holds all that there is of its cases.

    Windows are read one after another: a reading that comes meanwhile may be included or not, and the digest describes
    what was read.
    """

    def __init__(self, given: dict[str, object], keys: _Keys, names: dict[int, str]) -> None:
        self._given = {**given, "candidates": list(names)}
        triples = set(zip(keys.candidate.tolist(), keys.format.tolist(), keys.by_run.tolist(), strict=True))
        code_of = {
            (names[candidate], chat, by_run): _code(candidate, chat, by_run) for candidate, chat, by_run in triples
        }
        self.series = sorted(code_of, key=lambda key: (*series_order((key[0], FORMATS[key[1]])), key[2]))
        self._code_of_series = np.array([code_of[key] for key in self.series], dtype=np.int64)
        self.series_of_key = self._series(keys.candidate, keys.format, keys.by_run)
        by_run = keys.by_run == 1
        self._runs = np.unique(2 * keys.origin[by_run] + keys.format[by_run])
        self._cases_of_files = np.unique(keys.case[~by_run])
        self.cases, case = np.unique(keys.case, return_inverse=True)
        self._n = np.bincount(case, weights=keys.n).astype(np.int64)

    def _series(self, candidate: Ints, format_: Ints, by_run: Ints) -> Ints:
        """The number of the series of each; -1 where it is none of them."""
        order = np.argsort(self._code_of_series)
        codes = self._code_of_series[order]
        code = _code(candidate, format_, by_run)
        if not len(codes):
            return np.full(len(code), -1, dtype=np.int64)
        place = np.minimum(np.searchsorted(codes, code), len(codes) - 1)
        return np.where(codes[place] == code, order[place], -1)

    def readings(self) -> tuple[PackedReadings, Ints]:
        """The readings on ``cases`` by ``series``, and how many samples runs planned, of that shape."""
        read, planned = [], []
        start = 0
        for span, _done in windows(self.cases, self._n, MAX_ROWS):
            first, last = (0, 2**63 - 1) if span is None else (span.first, span.last)
            end = int(np.searchsorted(self.cases, last, side="right"))
            own = self._window(first, last, self.cases[start:end])
            read.append(own[0])
            planned.append(own[1])
            start = end
        return PackedReadings.joined(read), np.concatenate(planned)

    def _window(self, first: int, last: int, cases: Ints) -> tuple[PackedReadings, Ints]:
        query = f"SELECT * FROM ({_READINGS}) AS readings({', '.join(_READING_TYPES)})"
        columns = fetch_arrays(query, {**self._given, "first": first, "last": last}, types=_READING_TYPES)
        case, candidate, format_, origin, by_run, sample, answer, confidence, share, descending, advised = columns
        series = self._series(candidate, format_, by_run)
        kept = np.where(by_run == 1, np.isin(2 * origin + format_, self._runs), np.isin(case, self._cases_of_files))
        kept &= (series >= 0) & np.isin(case, cases)
        place, series, sample = np.searchsorted(cases, case[kept]), series[kept], sample[kept].astype(np.int64)
        answer, has_run = answer[kept].astype(np.int64), by_run[kept] == 1
        shape = len(cases), len(self.series)
        given = answer != MISSING
        given[_repeated(place * shape[1] + series, sample, origin[kept], given & has_run)] = False
        readings = PackedReadings.of(
            shape,
            case=place[given],
            series=series[given],
            sample=sample[given],
            answer=answer[given],
            confidence=confidence[kept][given],
            share=share[kept][given] if len(self._runs) else None,
            descending=descending[kept][given].astype(np.int64) if len(self._runs) else None,
            escalation=advised[kept][given].astype(np.int64),
        )
        planned = np.unique(np.stack([(place * shape[1] + series)[has_run], sample[has_run]], axis=1), axis=0)[:, 0]
        return readings, np.bincount(planned, minlength=shape[0] * shape[1]).reshape(shape)


def _repeated(cell: Ints, sample: Ints, run: Ints, chosen: NDArray[np.bool_]) -> Ints:
    """The places of those chosen that an earlier run has given for the same cell and sample: the first one counts."""
    places = np.flatnonzero(chosen)
    order = places[np.lexsort((run[places], sample[places], cell[places]))]
    is_same = (np.diff(cell[order]) == 0) & (np.diff(sample[order]) == 0)
    return order[1:][is_same]


def _code(candidate: Any, chat: Any, by_run: Any) -> Any:
    return 4 * candidate + 2 * chat + by_run


def _data(
    reference_set: ReferenceSet,
    references: Sequence[tuple[int, str, str, int | None, int | None]],
    case_datasets: dict[int, int],
    own: _Keys,
    read: _Reading,
) -> AcuityData:
    keys = {pk: key for pk, key, *_levels in references}
    others = [pk for pk in case_datasets if pk not in keys]
    keys |= dict(Case.with_stubs.filter(pk__in=others).values_list("pk", "key"))
    ids = sorted(keys, key=lambda pk: keys[pk])
    number_of = {pk: number for number, pk in enumerate(ids)}
    low, high = (np.full(len(ids), -1, dtype=np.int64) for _ in range(2))
    status = np.full(len(ids), int(CaseStatus.WITHOUT_REFERENCE), dtype=np.int64)
    for pk, _key, name, own_low, own_high in references:
        number = number_of[pk]
        low[number], high[number] = (-1 if level is None else level for level in (own_low, own_high))
        status[number] = int(_STATUSES[ReferenceItem.Status(name)])

    readings, planned = read.readings()
    places = np.full(len(ids), -1, dtype=np.int64)
    places[[number_of[pk] for pk in read.cases.tolist()]] = np.arange(len(read.cases))
    by_file = own.by_run == 0
    data = AcuityData(
        scale=scale_of(reference_set.scale),
        cases=[keys[pk] for pk in ids],
        low=low,
        high=high,
        status=status,
        is_asked=_is_asked(
            [case_datasets.get(pk, NO_DATASET) for pk in ids],
            own.dataset[by_file],
            read.series_of_key[by_file],
            len(read.series),
        ),
        series_names=[(candidate, FORMATS[chat]) for candidate, chat, _by_run in read.series],
        readings=readings.arranged(places, np.arange(len(read.series))),
    )
    if by_file.all():
        return data
    return _with_runs(data, read.series, rows_of(planned, places))


def _with_runs(data: AcuityData, keys: Sequence[SeriesKey], planned: Ints) -> AcuityData:
    """``data`` with what is known of readings that runs asked for; a series of theirs was asked what they planned."""
    of_run = np.array([key[2] == 1 for key in keys], dtype=bool)
    planned = np.where(of_run, planned, -1)
    sources = [
        _source_of_run(chat=chat == 1, has_shares=_has_shares(data.readings, i)) if by_run else IMPORTED
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
        sources=sources,
        candidates=[key[0] for key in keys],
    )


def _has_shares(readings: PackedReadings, series: int) -> bool:
    share = readings.of_series(series).share
    return share is not None and not np.isnan(share).all()


def _source_of_run(*, chat: bool, has_shares: bool) -> str:
    """Runs ask candidates for forced choices; advice to a patient is what a judge reads in it."""
    if chat:
        return Source.JUDGE.value
    return (Source.LOGPROBS if has_shares else Source.PARSED).value


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
    # Of several runs that gave the same sample the first counts.
    same = {name: OuterRef(name) for name in ("scale", "case", "candidate", "format", "sample")}
    rows = rows.exclude(Exists(AcuityReading.objects.filter(**same, pipeline_run__lt=OuterRef("pipeline_run"))))
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
    for array in (data.low, data.high, data.status):
        whole.update(np.ascontiguousarray(array).tobytes())
    readings, n_series = data.readings, len(data.series_names)
    # Column by column, as if each were one array of whole numbers.
    columns: tuple[Callable[[Block], Ints], ...] = (
        lambda block: block.cell // n_series,
        lambda block: block.cell % n_series,
        lambda block: block.sample,
        lambda block: block.state,
        lambda block: block.place,
    )
    for column in columns:
        for block in readings.blocks():
            whole.update(column(block).tobytes())
    whole.update(np.ascontiguousarray(data.is_asked).tobytes())
    for block in readings.blocks():
        whole.update(readings.confidence[block.start : block.end].tobytes())
    if data.planned is not None:
        assert readings.share is not None
        assert readings.descending is not None
        whole.update(json.dumps([data.sources, data.candidates]).encode())
        whole.update(np.ascontiguousarray(data.planned).tobytes())
        for block in readings.blocks():
            whole.update(readings.share[block.start : block.end].tobytes())
        for block in readings.blocks():
            whole.update(readings.descending[block.start : block.end].astype(np.int64).tobytes())
    if readings.escalation is not None:
        for block in readings.blocks():
            whole.update(readings.escalation[block.start : block.end].astype(np.int64).tobytes())
    return whole.hexdigest()
