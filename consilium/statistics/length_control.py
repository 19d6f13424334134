"""Is a score only length? Correlation of response length with a score, raw and with candidate and case taken out.

Pearson and Spearman over responses; and the Pearson correlation of the residuals of length and score after one
least-squares fit of each on dummies for candidate and case (a partial correlation, as in Zheng et al. 2026). The fit
takes the case means out first and then regresses on the candidate dummies with their case means taken out, which gives
the same residuals (Frisch-Waugh-Lovell) without a matrix of all cases.

Spearman has its interval over cases (`case_correlation`). Pearson has none: of a length and a bounded score it would be
too short.

Undefined: fewer than 3 responses; constant length or score; nothing left to vary after the fit, or fewer than 2
residual degrees of freedom (with one, every correlation is 1 or -1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.core.reasons import Reason
from consilium.statistics.case_correlation import spearman_jackknife
from consilium.statistics.estimate import Estimate, Figure, Undefined, with_note
from consilium.statistics.intervals import DEFAULT_RULE
from consilium.statistics.rank_agreement import pearson, spearman

# Below this share of its variance, what a fit leaves over is rounding.
NEGLIGIBLE = 1e-18


@dataclass(frozen=True)
class LengthControl:
    pearson: Figure
    spearman: Figure
    residual_pearson: Figure


def length_control(
    length: ArrayLike, score: ArrayLike, candidate: ArrayLike, case: ArrayLike, *, with_interval: bool = True
) -> LengthControl:
    """One row per response; length in code points; `candidate` and `case` are any labels. n is the number of responses
    with a score; leave out (before) those without. Without ``with_interval`` Spearman has none, as where intervals are
    percentile intervals: ranks are no sums over cases.
    """
    lengths, scores = np.asarray(length, dtype=np.float64).ravel(), np.asarray(score, dtype=np.float64).ravel()
    first = pearson(lengths, scores, Reason.CONSTANT_LENGTH_OR_SCORE())
    # Ranks are constant exactly when the values are.
    if isinstance(first, Undefined):
        second: Figure = Undefined(first.reason, first.n)
    else:
        second = spearman(lengths, scores)
    if isinstance(second, Estimate) and not with_interval:
        second = with_note(second, Reason.INTERVAL_CORRELATION())
    elif isinstance(second, Estimate):
        numbers = np.unique(np.asarray(case), return_inverse=True)[1]
        jack = spearman_jackknife(lengths, scores, case=numbers, n_cases=int(numbers.max()) + 1)
        (second,) = DEFAULT_RULE.of_jackknife(jack).attach([second])
    return LengthControl(first, second, residual_pearson(lengths, scores, candidate, case))


def gain_at_equal_length(gains: ArrayLike, length_changes: ArrayLike) -> Figure:
    """What is left of a gain at a length that does not change: one gain and one change of length for each case.

    The coefficient of *refined* in the least-squares fit of score on case, length and refined, over two responses to
    each case; that is the intercept of gain on change of length. n is the number of cases. It has no interval.
    """
    gain = np.asarray(gains, dtype=np.float64).ravel()
    change = np.asarray(length_changes, dtype=np.float64).ravel()
    n = len(gain)
    if not n:
        return Undefined(Reason.NO_SCORED_CASE())
    if n < 3:
        return Undefined(Reason.DEGREES_OF_FREEDOM(n=max(n - 2, 0)), n)
    if not change.any():  # nothing to take out
        return Estimate(float(gain.mean()), n, note=Reason.NO_INTERVAL_AT_LENGTH())
    apart = change - change.mean()
    spread = float(apart @ apart)
    if spread <= NEGLIGIBLE * float(change @ change):
        return Undefined(Reason.CONSTANT_LENGTH_OR_SCORE(), n)
    slope = float(apart @ gain) / spread
    return Estimate(float(gain.mean() - slope * change.mean()), n, note=Reason.NO_INTERVAL_AT_LENGTH())


def residual_pearson(x: ArrayLike, y: ArrayLike, candidate: ArrayLike, case: ArrayLike) -> Figure:
    """Pearson correlation of the residuals of x and y after least squares on candidate and case dummies."""
    both = np.column_stack([np.asarray(x, dtype=np.float64).ravel(), np.asarray(y, dtype=np.float64).ravel()])
    n = len(both)
    if not n:
        return Undefined(Reason.NO_RESPONSES())
    candidates, who = np.unique(np.asarray(candidate), return_inverse=True)
    cases, where = np.unique(np.asarray(case), return_inverse=True)
    dummies = _without_means(np.eye(len(candidates))[who], where, len(cases))
    both = both - both.mean(axis=0)
    total = (both**2).sum(axis=0)
    left = _without_means(both, where, len(cases))
    rank = 0
    if n > len(cases):
        fit, _, matrix_rank, _ = np.linalg.lstsq(dummies, left, rcond=None)
        rank = int(matrix_rank)
        left = left - dummies @ fit
    freedom = n - len(cases) - rank
    if freedom < 2:
        return Undefined(Reason.DEGREES_OF_FREEDOM(n=max(freedom, 0)), n)
    if ((left**2).sum(axis=0) <= NEGLIGIBLE * total).any():
        return Undefined(Reason.NO_RESIDUAL_VARIANCE(), n)
    # Residuals have mean zero already: the fit contains a constant.
    x_left, y_left = (left / np.abs(left).max(axis=0)).T
    value = float(x_left @ y_left / np.sqrt((x_left @ x_left) * (y_left @ y_left)))
    return Estimate(min(1.0, max(-1.0, value)), n)


def _without_means(columns: NDArray[np.float64], group: NDArray[np.int64], size: int) -> NDArray[np.float64]:
    """Columns with the mean of each group taken out of its rows."""
    count = np.bincount(group, minlength=size)
    means = np.stack([np.bincount(group, weights=column, minlength=size) for column in columns.T], axis=1)
    return np.asarray(columns - (means / count[:, None])[group])
