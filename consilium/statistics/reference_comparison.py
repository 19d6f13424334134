"""Responses beside the references that their writers were shown: who scores higher, by how much, and how often.

A score of a response is a ratio: its points over 1, or its hits over its positive criteria. With the references r of a
response i, each scored by the same rater on the same rubric,

    own        = sum of above_i / sum of below_i
    references = sum of mean over r of above_r / sum of mean over r of below_r        (or those of the best r alone)
    difference = own - references

so that a response with four references counts as much as one with two. The share better is that of responses whose own
ratio is above that of the references; ratios that differ by rounding alone are equal. Difference and shares have
intervals over cases (`intervals`). Source of the comparison: Arora et al. 2025 (HealthBench), section on physicians.
Undefined where no response has scored references.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from consilium.core.reasons import Reason
from consilium.statistics.case_figures import CaseFigures, case_ratio, sums_by_case
from consilium.statistics.estimate import Figure, nearly_equal
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.paired_difference import differences
from consilium.statistics.ratios import estimated, ratio_figures

Array = NDArray[np.float64]
NO_REFERENCES = Reason.NO_SCORED_REFERENCES()


@dataclass(frozen=True, eq=False)
class Ratios:
    """A score of each of several responses as ``above`` over ``below``; ``least`` is the least that above can be."""

    above: Array
    below: Array
    least: Array

    def at(self, places: NDArray[np.int64] | NDArray[np.bool_]) -> Ratios:
        """Those of some responses."""
        return Ratios(self.above[places], self.below[places], self.least[places])

    @property
    def values(self) -> Array:
        """The ratio of each response."""
        return np.asarray(self.above / self.below)


@dataclass(frozen=True, eq=False)
class ReferenceComparison:
    """The figures of a comparison; n is the number of responses."""

    own: Figure
    references: Figure
    difference: Figure
    better: Figure
    equal: Figure
    worse: Figure
    n_better: int
    n_equal: int
    n_worse: int


def mean_of_references(shown: Ratios, response: NDArray[np.int64], n_responses: int) -> Ratios:
    """The mean over the references of each response; ``response`` is that of each reference, and none has none."""
    counts = np.bincount(response, minlength=n_responses)
    if len(counts) and not counts.all():
        raise ValueError("each response needs a reference")
    return Ratios(
        *(
            np.bincount(response, weights=part, minlength=n_responses) / counts
            for part in (shown.above, shown.below, shown.least)
        )
    )


def best_of_references(shown: Ratios, response: NDArray[np.int64]) -> NDArray[np.int64]:
    """Which reference of each response has the highest ratio; of several the first."""
    order = np.lexsort((np.arange(len(response)), -np.round(shown.values, 9), response))
    _responses, first = np.unique(response[order], return_index=True)
    return np.asarray(order[first])


def ratio_over_cases(
    ratios: Ratios,
    case: NDArray[np.int64],
    n_cases: int,
    *,
    high: float = 1.0,
    clip: tuple[float, float] | None = None,
) -> CaseFigures:
    """The pooled ratio of some responses as one slice; ``high`` is the most that a ratio can be."""
    above, below = (sums_by_case(part, case, n_cases) for part in (ratios.above, ratios.below))
    least = float(ratios.least.sum() / max(float(ratios.below.sum()), 1.0))
    return case_ratio(above, below, bounds=(min(least, high), high), clip=clip)


def compare_with_references(
    own: Ratios,
    references: Ratios,
    case: NDArray[np.int64],
    n_cases: int,
    *,
    rule: IntervalRule,
    high: float = 1.0,
    clip: tuple[float, float] | None = None,
) -> ReferenceComparison:
    """``own`` beside ``references``, entry by entry; ``case`` is the number of the case of each.

    ``clip`` bounds both figures before they are subtracted, as it bounds a candidate's rubric score.
    """
    n = len(case)
    first, second = (ratio_over_cases(ratios, case, n_cases, high=high, clip=clip) for ratios in (own, references))
    is_equal = nearly_equal(own.values, references.values)
    is_better = ~is_equal & (own.values > references.values)
    is_worse = ~is_equal & ~is_better
    ones = sums_by_case(np.ones(n), case, n_cases)

    def figure(part: CaseFigures) -> Figure:
        return estimated(part, n=[n], rule=rule, empty=NO_REFERENCES)[0]

    def share(which: NDArray[np.bool_]) -> Figure:
        events = sums_by_case(which, case, n_cases)
        return ratio_figures(events, ones, rule=rule, empty=NO_REFERENCES, trials=True)[0]

    return ReferenceComparison(
        own=figure(first),
        references=figure(second),
        difference=differences(first, second, n=[n], rule=rule, empty=NO_REFERENCES)[0],
        better=share(is_better),
        equal=share(is_equal),
        worse=share(is_worse),
        n_better=int(is_better.sum()),
        n_equal=int(is_equal.sum()),
        n_worse=int(is_worse.sum()),
    )
