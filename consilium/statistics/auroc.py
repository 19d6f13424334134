"""Area under the ROC curve: how well a score tells right answers from wrong ones.

    AUROC = P(score of a right one > score of a wrong one) + ½ P(both the same)

from the ranks of all scores, ties having their mid-rank (Mann and Whitney 1947; Hanley and McNeil 1982): with R the sum
of the ranks of the n1 right ones, (R - n1(n1 + 1)/2) / (n1·n0). Undefined: no right one, or no wrong one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from consilium.core.reasons import Reason
from consilium.statistics.estimate import Estimate, Figure, Undefined
from consilium.statistics.rank_agreement import ranks


def auroc(right: ArrayLike, score: ArrayLike) -> Figure:
    """From one entry for each answer; n is their number."""
    truth, scores = np.asarray(right, dtype=bool).ravel(), np.asarray(score, dtype=np.float64).ravel()
    if truth.shape != scores.shape:
        raise ValueError("each answer needs its score")
    n, n_right = len(truth), int(truth.sum())
    if not n:
        return Undefined(Reason.NO_ANSWERS())
    if n_right in (0, n):
        return Undefined(Reason.ALL_RIGHT_OR_ALL_WRONG(), n)
    above = float(ranks(scores)[truth].sum()) - n_right * (n_right + 1) / 2
    return Estimate(above / (n_right * (n - n_right)), n)
