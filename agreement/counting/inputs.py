"""Reads the inputs of a comparison from the database, with a digest that detects later changes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from agreement.counting.frame import Frame, Slice, read_frame
from agreement.counting.pairs import Pairs, chained, pair
from annotation.selectors.ratings import faulty_pairs
from consilium.core.ratings import Ratings, Span, windows
from rubrics.models import Benchmark
from scoring.scores.sheet import due_pairs
from scoring.selectors.raters import Rater, nothing_together, resolve_rater

# The largest number of pairs in a window, by the criteria of its cases; each takes some 100 bytes while it is read.
WINDOW = 500_000


@dataclass(frozen=True, eq=False)
class Joined:
    """Two raters of a benchmark, joined: their names, the pairs, what the ids stand for, and the digest of it all."""

    rater_a: Rater
    rater_b: Rater
    pairs: Pairs
    frame: Frame
    digest: str


class RatingsDigest:
    """A digest of ratings, updated in parts: equal for equal ratings, however they are divided into parts."""

    def __init__(self) -> None:
        self._length = 0
        self._columns = [hashlib.sha256() for _ in range(3)]

    def add(self, piece: Ratings) -> None:
        """Add the next part, in the order of the ratings."""
        self._length += len(piece)
        columns = (piece.response, piece.criterion, piece.outcome)
        for sha, column, kind in zip(self._columns, columns, ("<i8", "<i8", "<i1"), strict=True):
            sha.update(np.ascontiguousarray(column, dtype=kind).data)

    def __len__(self) -> int:
        return self._length

    def digest(self) -> bytes:
        """The digest of everything added so far."""
        return self._length.to_bytes(8, "little") + b"".join(sha.digest() for sha in self._columns)


def digest_of(*ratings: Ratings | RatingsDigest | None, names: tuple[str, ...] = ()) -> str:
    """SHA-256 over ratings in their order, and over names; the same inputs give the same digest on any machine."""
    sha = hashlib.sha256()
    for name in names:
        sha.update(name.encode() + b"\0")
    for part in ratings:
        if part is None:
            sha.update(b"none\0")
            continue
        if isinstance(part, Ratings):
            whole, part = part, RatingsDigest()
            part.add(whole)
        sha.update(part.digest())
    return sha.hexdigest()


MoreSlices = Callable[[Frame], Iterable[Slice]]


def no_more_slices(frame: Frame) -> Iterable[Slice]:
    """Only the slices that every frame has."""
    return ()


class PairReader:
    """Two raters read window by window: the pairs of each, and at the end the digest of all that was read.

    A window holds whole responses, and a rater's outcome of a pair depends on nothing outside its response
    (`scoring.selectors.raters.ReadRatings`), so that windows of any size give the same pairs and the same digest. They
    are read one after another: a decision that is made meanwhile may be included or not, and the digest describes what
    was read.
    """

    def __init__(
        self, benchmark: Benchmark, rater_a: Rater, rater_b: Rater, *, more: MoreSlices = no_more_slices
    ) -> None:
        frame = read_frame(benchmark)
        self.frame = replace(frame, more=tuple(more(frame)))
        self._raters = rater_a, rater_b
        self._faulty = faulty_pairs(benchmark)
        self._read = RatingsDigest(), RatingsDigest()
        self._due = RatingsDigest() if rater_b.runs else None

    def parts(self, window: int = WINDOW) -> Iterator[tuple[Pairs, float]]:
        """The pairs of each window, with the share of the work that is done after it; can be iterated only once."""
        rater_a, rater_b = self._raters
        judges = _judges(rater_a, rater_b)
        n_criteria = np.bincount(self.frame.criterion_case, minlength=len(self.frame.cases))
        for span, done in windows(self.frame.response_ids, n_criteria[self.frame.response_case], window):
            a, b, due = rater_a.ratings(span), rater_b.ratings(span), due_pairs(rater_b, span)
            for read, ratings in zip((*self._read, self._due), (a, b, due), strict=True):
                if read is not None and ratings is not None:
                    read.add(ratings)
            yield pair(a, b, due_of_b=due, faulty=self._faulty.within(span), judges=judges), done
        for rater, read in zip(self._raters, self._read, strict=True):
            if rater.members and not len(read):
                raise nothing_together(rater.label)

    def digest(self, described: str) -> str:
        """The digest of everything that `parts` has read, and of the names and labels of `Frame.described`."""
        names = (*(rater.label for rater in self._raters), described)
        return digest_of(*self._read, self._due, self._faulty, names=names)


def _judges(rater_a: Rater, rater_b: Rater) -> tuple[bool, bool]:
    """Which of the two are judges, for `pair`."""
    return rater_a.undecided_by != "group", rater_b.undecided_by != "group"


def pairs_of(benchmark: Benchmark, rater_a: Rater, rater_b: Rater, span: Span) -> Pairs:
    """The current pairs of a few responses alone."""
    a, b, due = rater_a.ratings(span), rater_b.ratings(span), due_pairs(rater_b, span)
    return pair(a, b, due_of_b=due, faulty=faulty_pairs(benchmark).within(span), judges=_judges(rater_a, rater_b))


def join(benchmark: Benchmark, reference: str, other: str) -> Joined:
    """Read both raters and join them; `scoring.selectors.raters.UnknownRater` where one does not exist."""
    raters = resolve_rater(benchmark, reference), resolve_rater(benchmark, other)
    reading = PairReader(benchmark, *raters)
    pairs, frame = chained([part for part, _done in reading.parts()]), reading.frame
    described = frame.described(frame.response_places(pairs.response), frame.criterion_places(pairs.criterion))
    return Joined(*raters, pairs=pairs, frame=frame, digest=reading.digest(described))
