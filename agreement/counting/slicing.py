"""Counts coded pairs for every slice, by case, so that figures and their intervals are made of sums of these counts.

The caller computes a code of each pair: its status, or the outcomes of three raters together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agreement.counting.frame import Frame, Slice

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Sliced:
    """Counts of shape (cases, slices, codes), of cases and slices with a pair only; slice 0 is all.

    ``n_responses`` holds for each slice the number of responses with a pair.
    """

    names: list[str]
    counts: Counts
    n_responses: list[int]

    @property
    def n_cases(self) -> Counts:
        """Cases with a pair, for each slice."""
        return np.asarray(self.counts.any(axis=2).sum(axis=0))

    def totals(self) -> dict[str, int]:
        """Pairs of each slice, by its name."""
        return dict(zip(self.names, self.counts.sum(axis=(0, 2)).tolist(), strict=True))


def sliced(
    frame: Frame, response: NDArray[np.int64], criterion: NDArray[np.int64], code: NDArray[np.int8], codes: int
) -> Sliced:
    """Count pairs by their ``code`` (0 to ``codes`` − 1), in the order all, candidates by name, then `Frame.slices`.

    ``response`` and ``criterion`` are ids, as in `agreement.counting.pairs.Pairs`.
    """
    responses, criteria = frame.response_places(response), frame.criterion_places(criterion)
    by_case = _tally(frame.response_case[responses], code, len(frame.cases), codes)
    studied = np.flatnonzero(by_case.any(axis=1))
    names, tables, n_responses = ["all"], [by_case[studied]], [_distinct(responses)]
    candidate = frame.response_candidate[responses]
    for place in sorted(np.unique(candidate).tolist(), key=frame.candidates.__getitem__):
        own = candidate == place
        counted = _tally(frame.response_case[responses[own]], code[own], len(frame.cases), codes)
        names.append(f"candidate:{frame.candidates[place]}")
        tables.append(counted[studied])
        n_responses.append(_distinct(responses[own]))
    by_criterion = _tally(criteria, code, len(frame.criterion_ids), codes)
    responses_of_case = np.bincount(frame.response_case[np.unique(responses)], minlength=len(frame.cases))
    for part in frame.slices:
        counted = _of_slice(part, frame, by_case, by_criterion)
        if not counted.any():
            continue
        names.append(part.name)
        tables.append(counted[studied])
        if part.criteria is None:
            n_responses.append(int(responses_of_case[part.cases].sum()))
        else:
            n_responses.append(_distinct(responses[part.criteria[criteria]]))
    return Sliced(names, np.stack(tables, axis=1), n_responses)


def _of_slice(part: Slice, frame: Frame, by_case: Counts, by_criterion: Counts) -> Counts:
    if part.criteria is None:
        return np.asarray(by_case * part.cases[:, None])
    rows = np.flatnonzero(part.criteria)
    counted = np.zeros_like(by_case)
    np.add.at(counted, frame.criterion_case[rows], by_criterion[rows])
    return counted


def _tally(index: NDArray[np.int64], code: NDArray[np.int8], size: int, codes: int) -> Counts:
    return np.bincount(index * codes + code, minlength=size * codes).reshape(size, codes)


def _distinct(places: NDArray[np.int64]) -> int:
    return len(np.unique(places))
