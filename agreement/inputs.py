"""What goes into a comparison, read from the database, with a digest that tells whether it has changed since."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from agreement.frame import Frame, read_frame
from agreement.pairs import Pairs, pair
from annotation.ratings import faulty_pairs
from consilium.lib.ratings import Outcome, Ratings, fetch_ratings
from rubrics.models import Benchmark
from scoring.models import JudgeRun
from scoring.raters import Rater, resolve_rater

_DUE = f"""
    SELECT DISTINCT item.response_id, entry.criterion_id, {int(Outcome.UNDECIDED)}
    FROM scoring_judgerunitem item JOIN rubrics_rubricitem entry ON entry.rubric_id = item.rubric_id
    WHERE item.run_id = %(run)s
"""


@dataclass(frozen=True, eq=False)
class Joined:
    """Two raters of a benchmark, joined: their names, the pairs, what the ids stand for, and the digest of it all."""

    rater_a: Rater
    rater_b: Rater
    pairs: Pairs
    frame: Frame
    digest: str


def due_of(rater: Rater) -> Ratings | None:
    """The pairs that a judge was to decide (all runs of a jury had to); None for physicians, who owe nothing."""
    common: Ratings | None = None
    for run in rater.runs:
        due = due_of_run(run)
        if common is None:
            common = due
        else:
            kept = np.isin(common.keys(), due.keys(), assume_unique=True)
            common = Ratings(common.response[kept], common.criterion[kept], common.outcome[kept])
    return common


def due_of_run(run: JudgeRun) -> Ratings:
    """The criteria of the rubrics that the items of a run name; empty where verdicts came without items."""
    return fetch_ratings(_DUE, {"run": run.pk})


def digest_of(*ratings: Ratings | None, names: tuple[str, ...] = ()) -> str:
    """SHA-256 over arrays in their order, and over names; the same inputs give the same digest on any machine."""
    sha = hashlib.sha256()
    for name in names:
        sha.update(name.encode() + b"\0")
    for one in ratings:
        if one is None:
            sha.update(b"none\0")
            continue
        sha.update(len(one).to_bytes(8, "little"))
        for column, kind in ((one.response, "<i8"), (one.criterion, "<i8"), (one.outcome, "<i1")):
            sha.update(np.ascontiguousarray(column, dtype=kind).tobytes())
    return sha.hexdigest()


def join(benchmark: Benchmark, reference: str, other: str) -> Joined:
    """Read both raters and join them; `scoring.raters.UnknownRater` where one is not there."""
    rater_a, rater_b = resolve_rater(benchmark, reference), resolve_rater(benchmark, other)
    a, b = rater_a.ratings(), rater_b.ratings()
    due, faulty = due_of(rater_b), faulty_pairs(benchmark)
    pairs, frame = pair(a, b, due_of_b=due, faulty=faulty), read_frame(benchmark)
    described = frame.described(frame.response_places(pairs.response), frame.criterion_places(pairs.criterion))
    return Joined(
        rater_a=rater_a,
        rater_b=rater_b,
        pairs=pairs,
        frame=frame,
        digest=digest_of(a, b, due, faulty, names=(rater_a.label, rater_b.label, described)),
    )
