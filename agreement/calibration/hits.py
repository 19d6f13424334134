"""Hits of responses: the number of positive criteria of the current rubric that a rater judged met."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from agreement.counting.pairs import positions
from consilium.core.ratings import Ratings, fetch_ratings
from consilium.statistics.outcomes import Outcome
from rubrics.models import Benchmark

_POSITIVE = f"""
    SELECT r.id, i.criterion_id, {int(Outcome.MET)}
    FROM rubrics_response r
    JOIN rubrics_case c ON c.id = r.case_id
    JOIN rubrics_rubric u ON u.case_id = c.id AND u.track = 'gold' AND u.status = 'published'
    JOIN rubrics_rubricitem i ON i.rubric_id = u.id AND i.points > 0
    JOIN rubrics_candidate d ON d.id = r.candidate_id AND d.kind <> 'derived'
    WHERE c.benchmark_id = %(benchmark)s
"""


@dataclass(frozen=True, eq=False)
class Hits:
    """One entry for each response with a decision of the rater, by ascending id: s, N, whether every positive criterion
    was answered met or not met, and whether one of them was ruled faulty on the response. A response with a faulty
    criterion is not complete: with one criterion fewer its N would differ from that of the others.
    """

    response: NDArray[np.int64]
    hits: NDArray[np.int64]
    n_criteria: NDArray[np.int64]
    complete: NDArray[np.bool_]
    faulty: NDArray[np.bool_]

    def of(self, responses: NDArray[np.int64]) -> Hits:
        """The entries of some responses."""
        return self._at(np.isin(self.response, responses))

    def only_complete(self) -> Hits:
        """The entries whose positive criteria were all answered."""
        return self._at(self.complete)

    def _at(self, kept: NDArray[np.bool_]) -> Hits:
        return Hits(*(getattr(self, field.name)[kept] for field in fields(self)))


def positive_pairs(benchmark: Benchmark) -> Ratings:
    """Every (response, criterion) pair of the current rubrics whose criterion has positive points.

    Responses of derived candidates are left out.
    """
    return fetch_ratings(_POSITIVE, {"benchmark": benchmark.pk})


def count_hits(positive: Ratings, ratings: Ratings, faulty: Ratings | None = None) -> Hits:
    """Count hits; a criterion that the rater left open, could not assess or did not settle makes a response incomplete.
    So does one that an adjudicator found at fault (a pair of ``faulty``), whatever the rater's outcome.

    A physician's decision that has not been made yet is not a miss, so nothing is filled in for it.
    """
    where, is_rated = positions(ratings.keys(), positive.keys())
    outcomes = np.full(len(positive), int(Outcome.UNDECIDED), dtype=np.int8)
    if len(ratings):
        outcomes[is_rated] = ratings.outcome[where[is_rated]]
    if faulty is not None:
        outcomes[positions(faulty.keys(), positive.keys())[1]] = Outcome.FAULTY
    ids, place = np.unique(positive.response, return_inverse=True)
    size = len(ids)
    hits = np.bincount(place[outcomes == Outcome.MET], minlength=size)
    present = np.bincount(place, minlength=size)
    answered = np.bincount(place[outcomes <= Outcome.MET], minlength=size)
    touched = np.bincount(place[is_rated], minlength=size) > 0
    at_fault = np.bincount(place[outcomes == Outcome.FAULTY], minlength=size) > 0
    return Hits(ids[touched], hits[touched], present[touched], (answered == present)[touched], at_fault[touched])
