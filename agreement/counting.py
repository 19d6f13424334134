"""Two raters of a benchmark counted in windows: what a report is made of, in memory that decisions do not add to.

A window holds whole responses, and what a rater says of a pair depends on nothing outside its response
(`scoring.raters.ReadRatings`), so that windows of any size come to the same counts and the same digest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agreement.frame import Frame, Index, read_frame
from agreement.inputs import RatingsDigest, digest_of
from agreement.pairs import LAST_COUNTED, STANDINGS, Pairs, pair
from annotation.ratings import faulty_pairs
from consilium.lib.ratings import Span, windows
from rubrics.models import Benchmark
from scoring.raters import Rater, nothing_together
from scoring.score_sheet import due_pairs

# So many pairs a window at most, by the criteria of its cases; some 100 bytes each while it is read.
WINDOW = 500_000

Counts = NDArray[np.int32]


class Tallies:
    """Pairs counted by response and by criterion, part by part: every slice and every resample is a sum of those.

    ``by_response`` and ``by_criterion`` have the shape (places of the frame, STANDINGS); ``responses_behind`` says of
    each slice that is made of criteria how many responses have a pair in it that counts. Parts hold whole responses,
    each response in one of them; their order does not matter.
    """

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.by_response: Counts = np.zeros((len(frame.response_ids), STANDINGS), np.int32)
        self.by_criterion: Counts = np.zeros((len(frame.criterion_ids), STANDINGS), np.int32)
        self._by_criteria = [one for one in frame.slices if one.criteria is not None]
        self.responses_behind = {one.name: 0 for one in self._by_criteria}

    def add(self, pairs: Pairs) -> None:
        """Count another part."""
        if not len(pairs):
            return
        response = self.frame.response_places(pairs.response)
        _count(self.by_response, response, pairs.standing)
        if not self._by_criteria:
            return
        criterion = self.frame.criterion_places(pairs.criterion)
        _count(self.by_criterion, criterion, pairs.standing)
        behind = pairs.standing <= LAST_COUNTED
        criterion, response = criterion[behind], response[behind] - response.min()
        for one in self._by_criteria:
            assert one.criteria is not None
            own = response[one.criteria[criterion]]
            self.responses_behind[one.name] += int((np.bincount(own) > 0).sum())

    def touched(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which responses and which criteria have a pair at all."""
        return np.asarray(self.by_response.any(axis=1)), np.asarray(self.by_criterion.any(axis=1))


def _count(into: Counts, place: Index, standing: NDArray[np.int8]) -> None:
    """Add up standings by place; only the stretch of places that the part covers is touched."""
    first, last = int(place.min()), int(place.max())
    size = last - first + 1
    made = np.bincount((place - first) * STANDINGS + standing, minlength=size * STANDINGS)
    into[first : last + 1] += made.reshape(size, STANDINGS).astype(np.int32)


@dataclass(frozen=True, eq=False)
class Counted:
    """The tallies of two raters' pairs, and the digest of everything that went in."""

    tallies: Tallies
    digest: str


def spans(frame: Frame, most: int = WINDOW) -> Iterator[tuple[Span | None, float]]:
    """The windows of `windows` over all responses of a frame."""
    per_case = np.bincount(frame.criterion_case, minlength=len(frame.cases))
    yield from windows(frame.response_ids, per_case[frame.response_case], most)


def count(
    benchmark: Benchmark,
    rater_a: Rater,
    rater_b: Rater,
    *,
    progress: Callable[[float], None] = lambda share: None,
    window: int = WINDOW,
) -> Counted:
    """Read both raters window by window and count their pairs; ``rater_a`` is the reference.

    The windows are read one after another: a decision that is made meanwhile may be in or not, and the digest is of
    what was read.
    """
    frame, faulty = read_frame(benchmark), faulty_pairs(benchmark)
    judges = (rater_a.undecided_by != "group", rater_b.undecided_by != "group")
    tallies = Tallies(frame)
    read_a, read_b, read_due = RatingsDigest(), RatingsDigest(), RatingsDigest() if rater_b.runs else None
    for span, done in spans(frame, window):
        a, b, due = rater_a.ratings(span), rater_b.ratings(span), due_pairs(rater_b, span)
        tallies.add(pair(a, b, due_of_b=due, faulty=faulty.within(span), judges=judges))
        read_a.add(a)
        read_b.add(b)
        if read_due is not None and due is not None:
            read_due.add(due)
        progress(done)
    for rater, read in ((rater_a, read_a), (rater_b, read_b)):
        if rater.members and not len(read):
            raise nothing_together(rater.label)
    names = (rater_a.label, rater_b.label, frame.described_by(*tallies.touched()))
    return Counted(tallies, digest_of(read_a, read_b, read_due, faulty, names=names))
