"""Counts two raters' pairs in windows, so that memory does not grow with the number of decisions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agreement.counting.frame import Frame, Index
from agreement.counting.inputs import WINDOW, MoreSlices, PairReader, no_more_slices
from agreement.counting.pairs import LAST_COUNTED, N_PAIR_STATUSES, Pairs
from rubrics.models import Benchmark
from scoring.selectors.raters import Rater

Counts = NDArray[np.int32]


class Tallies:
    """Pairs counted by response and by criterion, part by part. Every slice is a sum of these counts.

    ``by_response`` and ``by_criterion`` have the shape (places of the frame, statuses); ``responses_behind`` has, for
    each slice of criteria, the number of responses with a pair in it that counts. Parts hold whole responses, each
    response in one of them; their order does not matter.
    """

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.by_response: Counts = np.zeros((len(frame.response_ids), N_PAIR_STATUSES), np.int32)
        self.by_criterion: Counts = np.zeros((len(frame.criterion_ids), N_PAIR_STATUSES), np.int32)
        self._by_criteria = [part for part in frame.slices if part.criteria is not None]
        self.responses_behind = {part.name: 0 for part in self._by_criteria}

    def add(self, pairs: Pairs) -> None:
        """Count another part."""
        if not len(pairs):
            return
        response = self.frame.response_places(pairs.response)
        _count(self.by_response, response, pairs.status)
        if not self._by_criteria:
            return
        criterion = self.frame.criterion_places(pairs.criterion)
        _count(self.by_criterion, criterion, pairs.status)
        behind = pairs.status <= LAST_COUNTED
        criterion, response = criterion[behind], response[behind] - response.min()
        for part in self._by_criteria:
            assert part.criteria is not None
            own = response[part.criteria[criterion]]
            self.responses_behind[part.name] += int((np.bincount(own) > 0).sum())

    def touched(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which responses and which criteria have a pair at all."""
        return np.asarray(self.by_response.any(axis=1)), np.asarray(self.by_criterion.any(axis=1))


def _count(into: Counts, place: Index, status: NDArray[np.int8]) -> None:
    """Add up pair statuses by place; only the stretch of places that the part covers is touched."""
    first, last = int(place.min()), int(place.max())
    size = last - first + 1
    counts = np.bincount((place - first) * N_PAIR_STATUSES + status, minlength=size * N_PAIR_STATUSES)
    into[first : last + 1] += counts.reshape(size, N_PAIR_STATUSES).astype(np.int32)


@dataclass(frozen=True, eq=False)
class Counted:
    """The tallies of two raters' pairs, and the digest of everything that went in."""

    tallies: Tallies
    digest: str


def count(
    benchmark: Benchmark,
    rater_a: Rater,
    rater_b: Rater,
    *,
    progress: Callable[[float], None] = lambda share: None,
    window: int = WINDOW,
    more: MoreSlices = no_more_slices,
) -> Counted:
    """Read both raters window by window and count their pairs; ``rater_a`` is the reference.

    ``more`` are slices besides those that every frame has.
    """
    reading = PairReader(benchmark, rater_a, rater_b, more=more)
    tallies = Tallies(reading.frame)
    for pairs, done in reading.parts(window):
        tallies.add(pairs)
        progress(done)
    return Counted(tallies, reading.digest(reading.frame.described_by(*tallies.touched())))
