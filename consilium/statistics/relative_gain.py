"""Gain: how much better responses become when they are refined, in points and relative to what could be gained.

Scores are those of rubrics times 100, so that 100 is the most. With the means b before and r after over n cases:

    gain                r - b
    relative            gain / b
    headroom            gain / (100 - b)                      of the room left
    relative of cases   mean of each case's own gain / base, over the cases with a base above 0
    of upper bound      gain / gain of the upper bound, over the cases of both

The first three relative figures are different, and all of them are called relative improvement in print. A case is
improved, the same or worse by its own gain; gains that differ from 0 by rounding alone are none.

Undefined: no case; relative, a mean base that is not above 0; headroom, a mean base of 100; relative of cases, no case
with a base above 0; of upper bound, no shared case, or an upper bound that does not gain. The interval of the gain is
over cases; its bounds are ± the range from the least score, 0 or below, to 100.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.core.reasons import Reason
from consilium.statistics.case_figures import case_ratio
from consilium.statistics.estimate import ROUNDING, Estimate, Figure, Undefined
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.ratios import estimated

Array = NDArray[np.float64]
FULL_SCORE = 100.0
NO_SCORED_CASE = Reason.NO_SCORED_CASE()


@dataclass(frozen=True)
class Gain:
    """Scores before and after; n of the figures is the number of cases."""

    n: int
    base: Figure
    refined: Figure
    gain: Figure
    relative: Figure
    headroom: Figure
    relative_of_cases: Figure
    n_relative: int
    improved: int
    same: int
    worse: int


def gain_figures(base: ArrayLike, refined: ArrayLike, *, rule: IntervalRule) -> Gain:
    """From the scores of each case, 0 to 100 or below."""
    before, after = np.asarray(base, dtype=np.float64).ravel(), np.asarray(refined, dtype=np.float64).ravel()
    n, gains = len(before), own_gains(base, refined)
    if not n:
        none = Undefined(NO_SCORED_CASE)
        return Gain(0, none, none, none, none, none, none, 0, 0, 0, 0)
    least = min(0.0, float(before.min()), float(after.min()))
    most = FULL_SCORE - least
    mean, mean_gain = float(before.mean()), float(gains.mean())
    ratio = case_ratio(gains[:, None], np.ones((n, 1)), bounds=(-most, most))
    return Gain(
        n=n,
        base=Estimate(mean, n),
        refined=Estimate(float(after.mean()), n),
        gain=estimated(ratio, n=[n], rule=rule, empty=NO_SCORED_CASE)[0],
        relative=Estimate(mean_gain / mean, n) if mean > 0 else Undefined(Reason.BASE_NOT_ABOVE_0(), n),
        headroom=Estimate(mean_gain / (FULL_SCORE - mean), n)
        if mean < FULL_SCORE
        else Undefined(Reason.NO_HEADROOM(), n),
        relative_of_cases=_relative_of_cases(before, gains),
        n_relative=int((before > 0).sum()),
        improved=int((gains > 0).sum()),
        same=int((gains == 0).sum()),
        worse=int((gains < 0).sum()),
    )


def own_gains(base: ArrayLike, refined: ArrayLike) -> Array:
    """The gain of each case, 0 where rounding alone made it."""
    gains = np.asarray(refined, dtype=np.float64).ravel() - np.asarray(base, dtype=np.float64).ravel()
    return np.where(np.abs(gains) <= ROUNDING * FULL_SCORE, 0.0, gains)


def _relative_of_cases(before: Array, gains: Array) -> Figure:
    positive = before > 0
    n = int(positive.sum())
    return Estimate(float((gains[positive] / before[positive]).mean()), n) if n else Undefined(Reason.NO_BASE_ABOVE_0())


def gain_of_upper_bound(gains: ArrayLike, gains_of_upper_bound: ArrayLike) -> Figure:
    """From the gains of the same cases; n is their number."""
    own, upper = np.asarray(gains, dtype=np.float64), np.asarray(gains_of_upper_bound, dtype=np.float64)
    n = len(own)
    if not n:
        return Undefined(Reason.NO_CASE_OF_UPPER_BOUND())
    if not upper.mean() > ROUNDING:
        return Undefined(Reason.UPPER_BOUND_WITHOUT_GAIN(), n)
    return Estimate(float(own.mean() / upper.mean()), n)


def length_ratio(base: ArrayLike, refined: ArrayLike) -> Figure:
    """Mean length after over mean length before, of the cases with both; n is their number."""
    before, after = np.asarray(base, dtype=np.float64), np.asarray(refined, dtype=np.float64)
    both = ~np.isnan(before) & ~np.isnan(after)
    if not before[both].sum() > 0:
        return Undefined(Reason.NO_LENGTHS(), int(both.sum()))
    return Estimate(float(after[both].sum() / before[both].sum()), int(both.sum()))
