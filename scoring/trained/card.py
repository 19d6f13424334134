"""The figures of a model card: how a trained judge and its baselines agree with physicians on held-out candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilium.statistics.confusion import ConfusionCounts, confusion_counts
from consilium.statistics.estimate import Figure
from consilium.statistics.intervals import DEFAULT_RULE, IntervalRule
from consilium.statistics.macro_f1 import macro_f1_values
from consilium.statistics.paired_difference import mf1_difference
from consilium.statistics.probabilities import brier_score, calibration_curve, expected_calibration_error
from consilium.statistics.two_raters import COEFFICIENTS, two_rater_agreement

Array = NDArray[Any]


def cell(figure: Figure) -> dict[str, Any]:
    """A figure as a card holds it."""
    return {
        "value": figure.value,
        "low": figure.low,
        "high": figure.high,
        "n": figure.n,
        "effective": figure.effective,
        "note": figure.note,
    }


@dataclass(frozen=True)
class Truth:
    """What physicians decided (0, 1) on some pairs, the case of each, and the rule of the intervals over cases."""

    met: Array
    case: Array
    rule: IntervalRule = DEFAULT_RULE

    @cached_property
    def _cases(self) -> tuple[Array, int]:
        _, numbers = np.unique(self.case, return_inverse=True)
        return numbers, int(numbers.max()) + 1 if len(numbers) else 0

    def _places(self) -> dict[str, Any]:
        numbers, n_cases = self._cases
        return {"case": numbers, "n_cases": n_cases, "rule": self.rule}

    def agreement(self, verdicts: Array) -> dict[str, Any]:
        """MF1 and the related coefficients of verdicts (0, 1), with intervals over cases."""
        numbers, n_cases = self._cases
        counts = confusion_counts(self.met, verdicts, case=numbers, n_cases=n_cases)
        agreement = two_rater_agreement(counts, rule=self.rule)[0]
        return {
            "n_pairs": agreement.n_pairs,
            "n_cases": agreement.n_cases,
            **{
                coefficient.key: cell(getattr(agreement, coefficient.key))
                for coefficient in COEFFICIENTS
                if coefficient.beside_reports
            },
        }

    def difference(self, verdicts: Array, others: Array) -> dict[str, Any]:
        """MF1 of verdicts less MF1 of others, with a paired interval."""
        return cell(mf1_difference(self.met, verdicts, others, **self._places()))

    def brier(self, probability: Array) -> dict[str, Any]:
        """The Brier score."""
        return cell(brier_score(self.met, probability, **self._places()))

    def calibration_error(self, probability: Array) -> dict[str, Any]:
        """The expected calibration error."""
        return cell(expected_calibration_error(self.met, probability))

    def curve(self, probability: Array) -> list[dict[str, Any]]:
        """For each tenth of the probability: how many pairs, their mean probability, and the share that was met."""
        return [
            {
                "from": part.start,
                "to": part.end,
                "n": part.n,
                "mean_probability": part.mean_probability,
                "share_met": part.share_met.value,
                "low": part.share_met.low,
                "high": part.share_met.high,
                "note": part.share_met.note,
            }
            for part in calibration_curve(self.met, probability, **self._places())
        ]

    def by_candidate(self, verdicts: Array, candidates: Sequence[str]) -> list[dict[str, Any]]:
        """The agreement on each candidate."""
        names = np.asarray(candidates)
        entries = []
        for name in np.unique(names):
            rows = np.flatnonzero(names == name)
            own = Truth(self.met[rows], self.case[rows], self.rule)
            entries.append({"candidate": str(name), **own.agreement(verdicts[rows])})
        return entries


def best_threshold(physicians: Array, scores: Array) -> float:
    """The threshold for met with the highest MF1; it lies between two scores, and is the middle one of equals."""
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
