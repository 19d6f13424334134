"""Inputs of a report on writing modes: what physicians wrote, what they were shown, and a rater's decisions on both.

A response belongs to a *mode*: how it was written, and the name of that mode. The name is what a study calls it
(`mode_name` in the metadata, or HealthBench's group); without one, it is the names of the candidates that were shown.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agreement.calibration.inputs import graded_by_authors
from consilium.statistics.cacs import cacs_values
from consilium.statistics.reference_comparison import Ratios
from rubrics.models import Benchmark, Candidate, Response
from rubrics.parsing.responses import references_of
from scoring.scores.grid import Grid, grid_of
from scoring.scores.lengths import read_lengths
from scoring.scores.points import DEFAULT_RULES
from scoring.scores.sheet import OVERALL, Sheet, Slice, axes_of_criteria, read_sheet
from scoring.selectors.raters import Rater

MEASURES = ("rubric_score", "rubric_accuracy", "cacs_at_k")
UNKNOWN = "unknown"
# The candidate to which the references inside a file of HealthBench examples belong (`rubrics.services.import_cases`).
IN_CASE_FILE = "reference"
GROUP = "ideal_completions_group"

Place = tuple[str, str, int]  # of a response among those to its case: candidate, setting, sample
Mode = tuple[str, str]  # how it was written, and the name of the mode


@dataclass(frozen=True, slots=True)
class Written:
    """A response that a physician wrote; ``shown`` are the responses that its writer saw, by id."""

    id: int
    case: int
    key: str
    candidate: str
    setting: str
    sample: int
    mode: Mode
    shown: tuple[int, ...]
    by_author: bool  # graded by a physician who wrote one of the candidate's responses


@dataclass(frozen=True, eq=False)
class Measure:
    """A score of every response that the rater has: ratios by the place in the sheet, and which responses have one."""

    ratios: Ratios
    present: NDArray[np.bool_]
    high: float
    clip: tuple[float, float] | None


@dataclass(frozen=True, eq=False)
class WrittenInputs:
    """All that the report reads. ``places`` says what each reference is, by id; ``by_case`` has their ids, by case and
    candidate.
    """

    rater: Rater
    k: int | None
    written: list[Written]
    places: dict[int, Place]
    by_case: dict[tuple[int, str], list[int]]
    sheet: Sheet
    measures: dict[str, Measure]
    axes: dict[str, dict[str, Measure]]  # those of criteria of the written responses, without CACS
    lengths: dict[int, int]
    digest: str

    @property
    def modes(self) -> dict[tuple[str, Mode], list[Written]]:
        """The responses by candidate and mode, in order."""
        groups: dict[tuple[str, Mode], list[Written]] = {}
        for response in self.written:
            groups.setdefault((response.candidate, response.mode), []).append(response)
        return dict(sorted(groups.items(), key=lambda entry: (entry[0][0], _order(entry[0][1]))))

    def in_sheet(self, ids: Iterable[int]) -> NDArray[np.int64]:
        """The places of responses in the sheet, -1 for those that the rater has no decision on."""
        chosen = np.fromiter(ids, dtype=np.int64)
        known = self.sheet.response_ids
        if not len(known):
            return np.full(len(chosen), -1)
        place = np.minimum(np.searchsorted(known, chosen), len(known) - 1)
        return np.where(known[place] == chosen, place, -1)


def _order(mode: Mode) -> tuple[int, bool, str]:
    """Unaided first, then beside references, then unknown; in each those with a name first."""
    how, name = mode
    return (str(Response.WritingMode.UNAIDED), str(Response.WritingMode.AIDED), UNKNOWN).index(how), not name, name


def read_inputs(benchmark: Benchmark, *, rater: Rater, candidates: Collection[str], k: int | None) -> WrittenInputs:
    """Read all inputs. ``candidates`` are names of physicians' candidates; without ``k`` there is no CACS."""
    rows = list(
        Response.objects.filter(case__benchmark=benchmark, case__excluded_at=None, candidate__name__in=list(candidates))
        .order_by("case__key", "candidate__name", "setting", "sample")
        .values("id", "case_id", "case__key", "candidate__name", "setting", "sample", "writing_mode", "metadata")
    )
    answers = _answers(benchmark, rows)
    by_authors = set()
    if not rater.is_judge:
        for candidate in Candidate.objects.filter(benchmark=benchmark, name__in=list(candidates)):
            by_authors.update(graded_by_authors(candidate, rater.label).tolist())
    written = [_written(row, answers, by_authors) for row in rows]
    places = answers.places
    named = {place[0] for place in places.values()}
    sheet = read_sheet(benchmark, rater, named=sorted(named))
    # References that were shown to anybody are read on all cases: unaided responses stand beside them, too.
    relevant = np.array(sorted({*(each.id for each in written), *places}), dtype=np.int64)
    lengths = read_lengths(benchmark, relevant)
    own_rows = np.isin(sheet.response, np.flatnonzero(np.isin(sheet.response_ids, [each.id for each in written])))
    axes = {
        name: mask for name, mask in axes_of_criteria(benchmark, sheet).items() if mask[sheet.criterion[own_rows]].any()
    }
    grid = grid_of(sheet, [Slice(OVERALL), *(Slice(name, criteria=mask) for name, mask in axes.items())], DEFAULT_RULES)
    axis_rows = {name: mask[sheet.criterion[own_rows]] for name, mask in axes.items()}
    by_id = dict(zip(relevant.tolist(), lengths.tolist(), strict=True))
    return WrittenInputs(
        rater=rater,
        k=k,
        written=written,
        places=places,
        by_case=answers.by_candidate,
        sheet=sheet,
        measures=_measures(grid, 0, k),
        axes={name: _measures(grid, place, None) for place, name in enumerate(axes, start=1)},
        lengths=by_id,
        digest=_digest(rater.label, k, written, places, by_id, sheet, relevant, axis_rows),
    )


@dataclass(frozen=True, eq=False)
class _Answers:
    """Responses that may have been shown."""

    places: dict[int, Place]
    public_ids: dict[int, str]
    by_candidate: dict[tuple[int, str], list[int]]  # by case and name, in the order of setting and sample


def _answers(benchmark: Benchmark, rows: Iterable[Mapping[str, Any]]) -> _Answers:
    """The responses to the same cases of every candidate that somebody was shown."""
    names: set[str] = set()
    cases = set()
    for row in rows:
        cases.add(row["case_id"])
        names.update(shown.candidate for shown in references_of(row["metadata"]))
        if row["metadata"].get(GROUP):
            names.add(IN_CASE_FILE)
    answers = _Answers({}, {}, {})
    columns = ("case_id", "candidate__name", "setting", "sample", "id", "public_id")
    responses = Response.objects.filter(case__benchmark=benchmark, case__in=cases, candidate__name__in=names).order_by(
        "case_id", "candidate__name", "setting", "sample", "pk"
    )
    for case, name, setting, sample, pk, public_id in responses.values_list(*columns):
        answers.places[pk] = name, setting, sample
        answers.public_ids[pk] = public_id
        answers.by_candidate.setdefault((case, name), []).append(pk)
    return answers


def _written(row: Mapping[str, Any], answers: _Answers, by_authors: Collection[int]) -> Written:
    metadata = row["metadata"]
    aided = row["writing_mode"] == Response.WritingMode.AIDED
    shown = _shown(row, answers) if aided else ()
    named = [metadata.get(name) for name in ("mode_name", GROUP)]
    name = next((text for text in named if isinstance(text, str) and text.strip()), "")
    if aided and not name:
        name = ", ".join(sorted({shown.candidate for shown in references_of(metadata)}))
    return Written(
        id=row["id"],
        case=row["case_id"],
        key=row["case__key"],
        candidate=row["candidate__name"],
        setting=row["setting"],
        sample=row["sample"],
        mode=(row["writing_mode"] or UNKNOWN, name),
        shown=shown,
        by_author=row["id"] in by_authors,
    )


def _shown(row: Mapping[str, Any], answers: _Answers) -> tuple[int, ...]:
    """The responses that the writer of a response saw, none where one of them is not there or nothing is known."""
    case, metadata = row["case_id"], row["metadata"]
    references = references_of(metadata)
    if not references and metadata.get(GROUP):
        # A file of HealthBench examples has the references of a case beside what was written with them.
        return tuple(answers.by_candidate.get((case, IN_CASE_FILE), ()))
    shown: list[int] = []
    for reference in references:
        own = answers.by_candidate.get((case, reference.candidate), [])
        if reference.response:
            own = [pk for pk in own if answers.public_ids[pk] == reference.response]
        elif reference.sample is not None:
            own = [pk for pk in own if answers.places[pk][2] == reference.sample]
        if not own:
            return ()
        shown.append(own[0])
    return tuple(dict.fromkeys(shown))


def _measures(grid: Grid, place: int, k: int | None) -> dict[str, Measure]:
    """The measures of one slice of the grid; CACS only with ``k``."""
    hits, n_positive, settled = grid.hits[place], grid.n_positive[place], grid.has_hits[place]
    ones, zeros = np.ones(len(hits)), np.zeros(len(hits))
    scores = Ratios(np.nan_to_num(grid.score[place]), ones, np.nan_to_num(grid.least_score[place]))
    accuracy = Ratios(100.0 * hits, np.where(settled, n_positive, 1).astype(np.float64), zeros)
    measures = {
        "rubric_score": Measure(scores, grid.has_score[place], 1.0, (0.0, 1.0)),
        "rubric_accuracy": Measure(accuracy, settled, 100.0, None),
    }
    if k is not None:
        cacs = cacs_values(hits, np.where(settled, n_positive, 0), k)
        measures["cacs_at_k"] = Measure(Ratios(np.nan_to_num(cacs), ones, zeros), ~np.isnan(cacs), 100.0, None)
    return measures


def _digest(
    rater: str,
    k: int | None,
    written: list[Written],
    places: Mapping[int, Place],
    lengths: Mapping[int, int],
    sheet: Sheet,
    relevant: NDArray[np.int64],
    axis_rows: Mapping[str, NDArray[np.bool_]],
) -> str:
    """Of the responses of the report alone: decisions on those of other candidates change nothing here. ``axis_rows``
    says of each row of the written responses whether its criterion is of that axis.
    """
    own = [
        [each.id, each.key, each.candidate, each.setting, each.sample, *each.mode, *each.shown, each.by_author]
        for each in written
    ]
    names = [rater, k, own, sorted([pk, *place] for pk, place in places.items()), sorted(lengths.items())]
    sha = hashlib.sha256(json.dumps(names).encode())
    response = sheet.response_ids[sheet.response] if len(sheet.response_ids) else sheet.response
    rows = np.isin(response, relevant)
    criterion = sheet.criterion_ids[sheet.criterion] if len(sheet.criterion_ids) else sheet.criterion
    for column in (response, criterion, sheet.points, sheet.answer):
        sha.update(np.ascontiguousarray(column[rows], dtype="<i8").tobytes())
    if sheet.share is not None:
        sha.update(np.ascontiguousarray(sheet.share[rows], dtype="<f8").tobytes())
    for name, mask in axis_rows.items():
        sha.update(name.encode() + np.packbits(mask).tobytes())
    return sha.hexdigest()
