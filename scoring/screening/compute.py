"""Computes the rubric score of each case over several candidates, by one rater.

A response's score is the one of `scoring.scores.points`; a candidate's score on a case is the mean over its responses,
the case's score the mean over all responses (or the highest of the candidates). As in HealthBench's benchmark score,
each mean is clipped to 0..1. A case without enough scored candidates has a reason instead of a score, and is never
flagged.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from consilium.core.phrases import joined
from consilium.core.reasons import Reason
from rubrics.models import Benchmark, Candidate, Case, RubricItem
from scoring.scores.grid import Grid, grid_of
from scoring.scores.points import DEFAULT_RULES
from scoring.scores.score_tables import digest_of_sheet
from scoring.scores.sheet import OVERALL, Sheet, Slice, read_sheet
from scoring.selectors.raters import Rater, require_verdicts

MEAN, MAX = "mean", "max"
AGGREGATES = (MEAN, MAX)
# Scores are sums of fractions: a case exactly at the threshold must not slip below it by the last bit.
TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class CaseScore:
    """``score`` is None where undefined, with the reason in ``note``; ``scores`` maps candidates to scores or None."""

    case: int
    score: float | None
    scores: dict[str, float | None]
    n_responses: int
    note: str = ""

    def reaches(self, threshold: float) -> bool:
        """Whether the case is at or above ``threshold``."""
        return self.score is not None and self.score >= threshold - TOLERANCE


@dataclass(frozen=True, eq=False)
class ScoredCases:
    """Cases in the order of their keys, and the digest of the input of their scores."""

    cases: list[CaseScore]
    digest: str
    rules: str


def aggregated(scores: Mapping[str, Sequence[float]], aggregate: str) -> tuple[float, dict[str, float]]:
    """The score of a case and of each candidate on it, from the scores of one or more responses of each candidate.

    ``mean``: over all responses. ``max``: the highest of the candidates.
    """
    by_candidate = {name: _clipped(values) for name, values in scores.items()}
    if aggregate == MAX:
        return max(by_candidate.values()), by_candidate
    return _clipped([value for values in scores.values() for value in values]), by_candidate


def _clipped(values: Sequence[float]) -> float:
    return min(1.0, max(0.0, float(np.mean(values))))


def score_cases(
    benchmark: Benchmark, rater: Rater, candidates: Sequence[str], *, aggregate: str = MEAN, at_least: int = 2
) -> ScoredCases:
    """Score every case that counts and has a published rubric; a case needs ``at_least`` scored candidates.

    Raises `scoring.selectors.raters.NoRatings` if a run of the rater has no verdict.
    """
    require_verdicts(rater)
    sheet = read_sheet(benchmark, rater, named=candidates)
    grid = grid_of(sheet, [Slice(OVERALL)], DEFAULT_RULES)
    names = dict(Candidate.objects.filter(benchmark=benchmark, name__in=candidates).values_list("pk", "name"))
    published = RubricItem.objects.filter(rubric__status="published", rubric__track="gold")
    cases = dict(
        Case.objects.included()
        .filter(benchmark=benchmark, pk__in=published.values("rubric__case"))
        .values_list("pk", "key")
    )
    positive = set(published.filter(points__gt=0, rubric__case__in=cases).values_list("rubric__case", flat=True))
    rows = _rows_by_case(sheet)
    scored_cases = []
    for pk in sorted(cases, key=lambda case_id: cases[case_id]):
        given, unscored = _given(sheet, grid, rows.get(pk, np.zeros(0, np.int64)), names)
        scored_cases.append(_case(pk, given, unscored, candidates, aggregate, at_least, has_positive=pk in positive))
    labels = [names.get(candidate, "") for candidate in sheet.candidate_ids.tolist()]
    keys = [cases.get(case, "") for case in sheet.case_ids.tolist()]
    parameters = json.dumps([sorted(candidates), aggregate, at_least, sorted(cases.values())])
    digest = hashlib.sha256((digest_of_sheet(sheet, rater.label, labels, keys) + parameters).encode()).hexdigest()
    return ScoredCases(scored_cases, digest, str(DEFAULT_RULES))


def _rows_by_case(sheet: Sheet) -> dict[int, NDArray[np.int64]]:
    """The indices in the sheet of each case's responses."""
    order = np.argsort(sheet.response_case, kind="stable")
    bounds = np.searchsorted(sheet.response_case[order], np.arange(len(sheet.case_ids) + 1))
    return {
        case: order[bounds[place] : bounds[place + 1]].astype(np.int64)
        for place, case in enumerate(sheet.case_ids.tolist())
    }


def _given(
    sheet: Sheet, grid: Grid, places: NDArray[np.int64], names: Mapping[int, str]
) -> tuple[dict[str, list[float]], int]:
    """The scores of the chosen candidates' responses, and how many of these responses have no score."""
    given: dict[str, list[float]] = {}
    unscored = 0
    for place in places.tolist():
        name = names.get(int(sheet.candidate_ids[sheet.response_candidate[place]]))
        if name is None:
            continue
        if grid.has_score[0, place]:
            given.setdefault(name, []).append(float(grid.score[0, place]))
        else:
            unscored += 1
    return given, unscored


def _case(
    pk: int,
    given: dict[str, list[float]],
    unscored: int,
    candidates: Sequence[str],
    aggregate: str,
    at_least: int,
    *,
    has_positive: bool,
) -> CaseScore:
    n = sum(map(len, given.values()))
    note = Reason.UNSCORED_RESPONSES.counted(unscored)
    if not has_positive:
        note = Reason.NO_POSITIVE_CRITERIA()
    elif len(given) < at_least:
        note = joined(Reason.SCORED_CANDIDATES(n=len(given), needed=at_least), note)
    if not has_positive or not given or len(given) < at_least:
        shown: dict[str, float | None] = dict.fromkeys(candidates)
        if given:
            shown |= aggregated(given, aggregate)[1]
        return CaseScore(pk, None, shown, n, note)
    score, by_candidate = aggregated(given, aggregate)
    return CaseScore(pk, score, {name: by_candidate.get(name) for name in candidates}, n, note)
