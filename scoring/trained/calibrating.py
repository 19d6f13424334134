"""Calibrates a judge's probabilities without using dev or held-out decisions.

The judge's scores on its own training decisions are overconfident. So it is fitted again on parts of the train
decisions and scores the part that was left out; on these scores Platt's logistic function is fitted (Platt 1999; with
few decisions it errs less than isotonic regression: Niculescu-Mizil and Caruana 2005). Parts are whole candidates, as
a judge is used on candidates that it never saw, or whole cases where without a candidate too little is left to learn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoring.trained.model import Platt, logit

Array = NDArray[Any]
FOLDS = 5
# Scores of the second rows by a judge that was fitted on the first.
ScoreLeftOut = Callable[[Array, Array], NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Calibration:
    """The fitted function and where it comes from. ``reason`` is why there is none: ``too_few`` candidates or cases
    to learn from in parts, or ``no_signal`` in the scores of what was left out.
    """

    platt: Platt
    n: int = 0
    folds: int = 0
    grouped_by: str = ""
    reason: str = ""

    def card(self) -> dict[str, Any]:
        """As a model card holds it."""
        return {
            "method": "none" if self.reason else "platt",
            "slope": self.platt.slope,
            "intercept": self.platt.intercept,
            "n": self.n,
            "folds": self.folds,
            "grouped_by": self.grouped_by,
            "reason": self.reason,
        }


def calibrate(met: Array, candidate: Array, case: Array, score_left_out: ScoreLeftOut) -> Calibration:
    """Fit on train decisions alone; ``score_left_out(fitted, left)`` gets row numbers of them."""
    ways = ((by, _folds(names)) for by, names in (("candidate", candidate), ("case", case)))
    grouped_by, fold_of = next(((by, folds) for by, folds in ways if _can_learn(met, folds)), ("", _folds(case)))
    if not grouped_by:
        return Calibration(Platt(), reason="too_few")
    folds = np.unique(fold_of)
    scores = np.empty(len(met))
    for fold in folds:
        left = np.flatnonzero(fold_of == fold)
        scores[left] = score_left_out(np.flatnonzero(fold_of != fold), left)
    platt = fit_platt(scores, met)
    if platt.slope <= 0:
        return Calibration(Platt(), reason="no_signal")
    return Calibration(platt, n=len(met), folds=len(folds), grouped_by=grouped_by)


def _folds(names: Array) -> NDArray[np.int64]:
    """At most `FOLDS` parts of whole names, given out in turn."""
    _, number = np.unique(names, return_inverse=True)
    return np.asarray(number % FOLDS, dtype=np.int64)


def _can_learn(met: Array, fold_of: Array) -> bool:
    """Whether both outcomes remain whichever part is left out."""
    folds = np.unique(fold_of)
    return len(folds) > 1 and all(len(np.unique(met[fold_of != fold])) == 2 for fold in folds)


def fit_platt(scores: Array, met: Array) -> Platt:
    """Slope and intercept by maximum likelihood, towards Platt's targets (n₊ + 1)/(n₊ + 2) and 1/(n₋ + 2)."""
    from sklearn.linear_model import LogisticRegression

    n_met, n_not = int(met.sum()), int(len(met) - met.sum())
    target = np.where(met == 1, (n_met + 1) / (n_met + 2), 1 / (n_not + 2))
    # Each decision counts twice: as met by its target, as not met by the rest.
    x = np.tile(logit(scores), 2)[:, None]
    y = np.repeat([1, 0], len(met))
    fitted = LogisticRegression(C=1e6, max_iter=1000).fit(x, y, sample_weight=np.concatenate([target, 1 - target]))
    return Platt(round(float(fitted.coef_[0, 0]), 5), round(float(fitted.intercept_[0]), 5))
