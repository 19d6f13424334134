"""Computes the score of each response from its outcomes, from and to flat NumPy arrays with one entry per row.

With points p and y = 1 where a criterion is met:

    rubric score = (sum of p over met) / (sum of positive p)           undefined where no p is positive
    s = number of positive criteria met, N = number of positive criteria

Source of the score: Arora et al. 2025 (HealthBench); it may be negative, and is clipped only when a benchmark
averages it. Rubric Accuracy, Pass@k, CACS@k and the calibration of k are computed from s and N, so negative criteria
cannot affect them: neither their outcome, nor a broken verdict or a "cannot assess" on one of them.

The counting rules (`CountingRules`) are named beside every score that used them. Invalid and missing verdicts count
against the candidate by default: not met where p > 0, met where p < 0, since a candidate must never gain from a judge
that breaks. A "cannot assess" that no adjudication has settled, or an undecided criterion, leaves the response without
a score (without hits, when the criterion is positive) unless a rule says otherwise. A criterion that an adjudicator
found faulty is taken out of the rubric of that response.

If a judge was asked several times and the mean of its valid replicates is taken, y of the rubric score is that share
from 0 to 1, and one half for a tie. A threshold applies to s, which takes the majority; a tie leaves it undecided.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.statistics.outcomes import Outcome

Array = NDArray[Any]


class BrokenVerdict(StrEnum):
    """How an invalid or missing verdict counts."""

    AGAINST = "against"  # not met where p > 0, met where p < 0: the default, and the lower bound
    IN_FAVOUR = "in_favour"  # the upper bound
    LEFT_OUT = "left_out"  # the criterion is taken out of the rubric of this response


class CannotAssess(StrEnum):
    """How a "cannot assess" counts that no adjudication has settled, and a criterion that is undecided."""

    NO_SCORE = "no_score"  # the default
    AGAINST = "against"
    IN_FAVOUR = "in_favour"
    LEFT_OUT = "left_out"


@dataclass(frozen=True)
class CountingRules:
    broken_verdict: BrokenVerdict = BrokenVerdict.AGAINST
    cannot_assess: CannotAssess = CannotAssess.NO_SCORE

    def __str__(self) -> str:
        return f"invalid and missing: {self.broken_verdict}; cannot assess: {self.cannot_assess}"


DEFAULT_RULES = CountingRules()


@dataclass(frozen=True, eq=False)
class ResponseScores:
    """One entry per response, in the order of the response index.

    `score` is NaN and `has_score` False where there is none. `least_score` is the least that the rubric allows: the sum
    of negative p over the sum of positive p, NaN where there is no score. `points_met` is the sum of p · y, whole
    unless shares were given. `hits` (s) and `n_positive` (N) may be used only where `has_hits`. `n_criteria` is the
    number of criteria that count; `n_invalid` to `n_faulty` count the outcomes of the input, before any rule was
    applied.
    """

    score: NDArray[np.float64]
    least_score: NDArray[np.float64]
    has_score: NDArray[np.bool_]
    hits: NDArray[np.int64]
    n_positive: NDArray[np.int64]
    has_hits: NDArray[np.bool_]
    points_met: NDArray[np.float64]
    points_possible: NDArray[np.int64]
    n_criteria: NDArray[np.int64]
    n_invalid: NDArray[np.int64]
    n_missing: NDArray[np.int64]
    n_cannot: NDArray[np.int64]
    n_undecided: NDArray[np.int64]
    n_faulty: NDArray[np.int64]
    rules: CountingRules = field(default=DEFAULT_RULES)


def score_responses(
    response: ArrayLike,
    points: ArrayLike,
    outcome: ArrayLike,
    n_responses: int,
    rules: CountingRules = DEFAULT_RULES,
    share: ArrayLike | None = None,
) -> ResponseScores:
    """Score many responses at once.

    One row per criterion of a response: the response's index (0..n_responses - 1), the points (whole, never 0), the
    outcome (`Outcome`). A criterion without a verdict must be given as MISSING: one without a row does not count. For a
    criterion-tag slice give only the rows with that tag (or see `score_slices`).

    `share`, one entry per row from 0 to 1 or NaN, replaces y in the rubric score wherever it is not NaN, unless the
    criterion is faulty; hits and counts use `outcome` alone.
    """
    who, p, y = (np.asarray(column, dtype=np.int64).ravel() for column in (response, points, outcome))
    if not who.shape == p.shape == y.shape:
        raise ValueError("response, points and outcome must have one entry per criterion")
    if (p == 0).any():
        raise ValueError("points are never 0")
    if y.size and (y.min() < Outcome.NOT_MET or y.max() > max(Outcome)):
        raise ValueError("unknown outcome code")
    if who.size and (who.min() < 0 or who.max() >= n_responses):
        raise ValueError(f"response index outside 0..{n_responses - 1}")
    shares = np.full(p.shape, np.nan) if share is None else np.asarray(share, dtype=np.float64).ravel()
    if shares.shape != p.shape:
        raise ValueError("share must have one entry per criterion")

    positive = p > 0
    invalid, missing, cannot, undecided, faulty = (
        y == code
        for code in (Outcome.INVALID, Outcome.MISSING, Outcome.CANNOT_ASSESS, Outcome.UNDECIDED, Outcome.FAULTY)
    )
    unsettled = cannot | undecided
    met = y == Outcome.MET
    left_out = faulty.copy()
    for rule, rows in ((rules.broken_verdict, invalid | missing), (rules.cannot_assess, unsettled)):
        if rule == BrokenVerdict.AGAINST:
            met = np.where(rows, ~positive, met)
        elif rule == BrokenVerdict.IN_FAVOUR:
            met = np.where(rows, positive, met)
        elif rule == BrokenVerdict.LEFT_OUT:
            left_out |= rows
    blocking = unsettled if rules.cannot_assess is CannotAssess.NO_SCORE else np.zeros_like(unsettled)
    counts = ~left_out
    # In the rubric score a share replaces the outcome.
    shared = ~np.isnan(shares) & ~faulty
    y_of_score = np.where(shared, shares, met)
    in_score = counts | shared

    def total(rows: Array) -> NDArray[np.int64]:
        return np.bincount(who[rows], minlength=n_responses)

    def weighed(rows: Array, weights: Array) -> NDArray[np.float64]:
        # Points are small whole numbers: their float sums are exact.
        return np.bincount(who[rows], weights=weights[rows], minlength=n_responses).astype(np.float64)

    points_met = weighed(in_score, p * y_of_score)
    points_possible = np.rint(weighed(in_score & positive, p)).astype(np.int64)
    has_score = (points_possible > 0) & (total(blocking & ~shared) == 0)
    score = np.where(has_score, points_met / np.maximum(points_possible, 1), np.nan)
    least = weighed(in_score & ~positive, p) / np.maximum(points_possible, 1)
    n_positive = total(counts & positive)
    return ResponseScores(
        score=score,
        least_score=np.where(has_score, least, np.nan),
        has_score=has_score,
        hits=total(counts & positive & met),
        n_positive=n_positive,
        has_hits=(n_positive > 0) & (total(blocking & positive) == 0),
        points_met=points_met,
        points_possible=points_possible,
        n_criteria=total(counts),
        n_invalid=total(invalid),
        n_missing=total(missing),
        n_cannot=total(cannot),
        n_undecided=total(undecided),
        n_faulty=total(faulty),
        rules=rules,
    )


def score_slices(
    row: ArrayLike,
    slice_of: ArrayLike,
    n_slices: int,
    response: ArrayLike,
    points: ArrayLike,
    outcome: ArrayLike,
    n_responses: int,
    rules: CountingRules = DEFAULT_RULES,
    share: ArrayLike | None = None,
) -> ResponseScores:
    """Score responses again over the criteria of each criterion tag, all tags in one pass.

    `row` and `slice_of` list memberships: row number of a criterion (into `response`, `points`, `outcome`) and the
    slice it belongs to; a criterion with two tags is listed twice. The result has n_slices · n_responses entries;
    reshape it to (n_slices, n_responses). A response without a positive criterion in a slice has no score there.
    """
    rows, slices = np.asarray(row, dtype=np.int64).ravel(), np.asarray(slice_of, dtype=np.int64).ravel()
    who, p, y = (np.asarray(column, dtype=np.int64).ravel() for column in (response, points, outcome))
    index = slices * n_responses + who[rows]
    shares = None if share is None else np.asarray(share, dtype=np.float64).ravel()[rows]
    return score_responses(index, p[rows], y[rows], n_slices * n_responses, rules, shares)
