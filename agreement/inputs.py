"""What goes into a comparison, read from the database, with a digest that tells whether it has changed since."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from agreement.frame import Frame, read_frame
from agreement.pairs import Pairs, pair
from annotation.ratings import faulty_pairs
from consilium.lib.ratings import Ratings
from rubrics.models import Benchmark
from scoring.raters import Rater, resolve_rater
from scoring.score_sheet import due_pairs


@dataclass(frozen=True, eq=False)
class Joined:
    """Two raters of a benchmark, joined: their names, the pairs, what the ids stand for, and the digest of it all."""

    rater_a: Rater
    rater_b: Rater
    pairs: Pairs
    frame: Frame
    digest: str


class RatingsDigest:
    """What a rater said, hashed piece by piece: the same for the same ratings, however they are cut into pieces."""

    def __init__(self) -> None:
        self._length = 0
        self._columns = [hashlib.sha256() for _ in range(3)]

    def add(self, piece: Ratings) -> None:
        """The next piece, in the order of the ratings."""
        self._length += len(piece)
        columns = (piece.response, piece.criterion, piece.outcome)
        for sha, column, kind in zip(self._columns, columns, ("<i8", "<i8", "<i1"), strict=True):
            sha.update(np.ascontiguousarray(column, dtype=kind).data)

    def __len__(self) -> int:
        return self._length

    def digest(self) -> bytes:
        """Of everything so far."""
        return self._length.to_bytes(8, "little") + b"".join(sha.digest() for sha in self._columns)


def digest_of(*ratings: Ratings | RatingsDigest | None, names: tuple[str, ...] = ()) -> str:
    """SHA-256 over ratings in their order, and over names; the same inputs give the same digest on any machine."""
    sha = hashlib.sha256()
    for name in names:
        sha.update(name.encode() + b"\0")
    for one in ratings:
        if one is None:
            sha.update(b"none\0")
            continue
        if isinstance(one, Ratings):
            whole, one = one, RatingsDigest()
            one.add(whole)
        sha.update(one.digest())
    return sha.hexdigest()


def join(benchmark: Benchmark, reference: str, other: str) -> Joined:
    """Read both raters and join them; `scoring.raters.UnknownRater` where one is not there."""
    rater_a, rater_b = resolve_rater(benchmark, reference), resolve_rater(benchmark, other)
    a, b = rater_a.ratings(), rater_b.ratings()
    due, faulty = due_pairs(rater_b), faulty_pairs(benchmark)
    judges = (rater_a.undecided_by != "group", rater_b.undecided_by != "group")
    pairs, frame = pair(a, b, due_of_b=due, faulty=faulty, judges=judges), read_frame(benchmark)
    described = frame.described(frame.response_places(pairs.response), frame.criterion_places(pairs.criterion))
    return Joined(
        rater_a=rater_a,
        rater_b=rater_b,
        pairs=pairs,
        frame=frame,
        digest=digest_of(a, b, due, faulty, names=(rater_a.label, rater_b.label, described)),
    )
