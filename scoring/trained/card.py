"""The figures of a model card: how a trained judge and its baselines agree with physicians on held-out candidates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilium.statistics.bootstrap import CaseBootstrap
from consilium.statistics.confusion import ConfusionCounts, confusion_counts
from consilium.statistics.estimate import Figure
from consilium.statistics.macro_f1 import macro_f1_values
from consilium.statistics.two_raters import two_rater_agreement

Array = NDArray[Any]
BINS = 10


def _cell(figure: Figure) -> dict[str, Any]:
    return {"value": figure.value, "low": figure.low, "high": figure.high, "n": figure.n, "note": figure.note}


def agreement_card(physicians: Array, verdicts: Array, case: Array, *, seed: int) -> dict[str, Any]:
    """MF1 and its company of verdicts (0, 1) against physicians' decisions, with intervals over cases."""
    _, cases = np.unique(case, return_inverse=True)
    n_cases = int(cases.max()) + 1 if len(cases) else 0
    counts = confusion_counts(physicians, verdicts, case=cases, n_cases=n_cases)
    made = two_rater_agreement(counts, bootstrap=CaseBootstrap(n_cases, seed))[0]
    return {
        "n_pairs": made.n_pairs,
        "n_cases": made.n_cases,
        **{
            name: _cell(getattr(made, name))
            for name in ("mf1", "f1_met", "f1_not_met", "raw", "kappa", "ac1", "prevalence_a", "prevalence_b")
        },
    }


def best_threshold(physicians: Array, scores: Array) -> float:
    """The score from which met gives the highest MF1; between two scores, and the middle one of equals."""
    known = np.unique(scores)
    between = (known[1:] + known[:-1]) / 2 if len(known) > 1 else np.array([0.5])
    truth = np.asarray(physicians).astype(bool)
    order = np.argsort(scores, kind="stable")
    ordered, met = scores[order], truth[order]
    # Above each threshold: how many were met, how many not, by one cumulative sum.
    position = np.searchsorted(ordered, between, side="left")
    met_below = np.concatenate([[0], np.cumsum(met)])[position]
    not_below = position - met_below
    tp, fp = met.sum() - met_below, (~met).sum() - not_below
    values = macro_f1_values(ConfusionCounts(tp, fp, met_below, not_below))
    best = np.flatnonzero(values >= values.max() - 1e-12)
    return float(between[best[len(best) // 2]])


def calibration_card(physicians: Array, probability: Array) -> list[dict[str, Any]]:
    """For each tenth of the probability: how many pairs, their mean probability, and the share that was met."""
    made = []
    where = np.minimum((probability * BINS).astype(int), BINS - 1)
    for number in range(BINS):
        inside = where == number
        if inside.any():
            made.append(
                {
                    "from": number / BINS,
                    "n": int(inside.sum()),
                    "mean_probability": float(probability[inside].mean()),
                    "share_met": float(physicians[inside].mean()),
                }
            )
    return made


def by_candidate(
    physicians: Array, verdicts: Array, candidates: Sequence[str], case: Array, *, seed: int
) -> list[dict[str, Any]]:
    """The agreement on each held-out candidate."""
    names = np.asarray(candidates)
    return [
        {"candidate": str(name), **agreement_card(physicians[rows], verdicts[rows], case[rows], seed=seed)}
        for name in np.unique(names)
        for rows in [np.flatnonzero(names == name)]
    ]
