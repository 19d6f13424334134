"""Area under the ROC curve: how well a score tells right answers from wrong ones.

    AUROC = P(score of a right one > score of a wrong one) + ½ P(both the same)

from the ranks of all scores, ties having their mid-rank (Mann and Whitney 1947; Hanley and McNeil 1982): with R the sum
of the ranks of the n1 right ones, (R - n1(n1 + 1)/2) / (n1·n0). Undefined: no right one, or no wrong one.

Of pairs of a better and a worse response, three questions have three AUROC:

    paired              the share of pairs with Δ > 0, plus half of those with Δ = 0; Δ is the better one's score less
                        the worse one's
    pooled              P(score of a random better one > score of a random worse one) + ½ P(both the same), whichever
                        pairs they are of: as above, with the better ones as the right ones
    self-consistency    AUROC of Δ for the pair's own decision *win* against the rest. It says whether Δ and decision
                        agree, and nothing about the better one being better.

Paired is a mean over pairs, so it has an interval over cases (`paired_auroc`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.core.reasons import Reason
from consilium.statistics.case_figures import CaseFigures, case_ratio
from consilium.statistics.estimate import Estimate, Figure, Undefined
from consilium.statistics.rank_agreement import ranks

# Scores that differ less than this differ by rounding alone: sums of points may be quotients.
DECIMALS = 10


def auroc(
    right: ArrayLike,
    score: ArrayLike,
    *,
    empty: str = Reason.NO_ANSWERS(),
    one_class: str = Reason.ALL_RIGHT_OR_ALL_WRONG(),
) -> Figure:
    """From one entry for each answer; n is their number. The reasons are for no answer, and for one class alone."""
    truth, scores = np.asarray(right, dtype=bool).ravel(), np.asarray(score, dtype=np.float64).ravel()
    if truth.shape != scores.shape:
        raise ValueError("each answer needs its score")
    n, n_right = len(truth), int(truth.sum())
    if not n:
        return Undefined(empty)
    if n_right in (0, n):
        return Undefined(one_class, n)
    above = float(ranks(scores)[truth].sum()) - n_right * (n_right + 1) / 2
    return Estimate(above / (n_right * (n - n_right)), n)


def pooled_auroc(better: ArrayLike, worse: ArrayLike) -> Figure:
    """From the scores of the better and of the worse response of each pair; n is the number of pairs."""
    first, second = np.asarray(better, dtype=np.float64).ravel(), np.asarray(worse, dtype=np.float64).ravel()
    n = len(first)
    if not n:
        return Undefined(Reason.NO_DECIDED_PAIR())
    scores = np.round(np.concatenate([first, second]), DECIMALS)
    figure = auroc(np.arange(2 * n) < n, scores)
    assert isinstance(figure, Estimate)
    return Estimate(figure.value, n)


def self_consistency(is_win: ArrayLike, delta: ArrayLike) -> Figure:
    """AUROC of Δ for the pair's own decision; n is the number of pairs. Undefined where all or none are wins."""
    return auroc(
        is_win,
        np.round(np.asarray(delta, dtype=np.float64), DECIMALS),
        empty=Reason.NO_DECIDED_PAIR(),
        one_class=Reason.PAIRS_ALL_OR_NONE_WON(),
    )


def paired_auroc(sign: NDArray[np.float64], pairs: NDArray[np.float64]) -> CaseFigures:
    """The paired AUROC of each slice, from sums by case of the signs of Δ and numbers of pairs, (cases, slices)."""
    return case_ratio((sign + pairs) / 2, pairs)
