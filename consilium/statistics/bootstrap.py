"""Percentile intervals by a bootstrap over cases: a rule by name beside that of every figure (`intervals`).

Criteria of one case, and responses to one case, are not independent, so whole cases are drawn: a resample gives each
case a weight (how often it was drawn, multinomial), and one matrix product of weights with case-level sums gives the
sums of every slice in every resample. All slices share the weights. Percentile intervals, Efron and Tibshirani 1993,
chapter 13; quantiles by linear interpolation (type 7).

Rules: an interval only where at least 10 cases stand behind the figure; resamples in which the statistic is undefined
are dropped and counted, and when fewer than 95% of them remain there is no interval. There is none either where it
would have no width: where all resamples agree, a percentile interval would give a figure at its bound (12 of 12) as if
it were known exactly. And none where it would miss the figure's own value, which may happen to a skewed statistic.
Seeded; the seed belongs with the result.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.core.reasons import Reason
from consilium.statistics.case_figures import CaseFigures
from consilium.statistics.case_numbers import MINIMUM_RESAMPLED_CASES
from consilium.statistics.estimate import (
    Undefined,
    nearly_equal,
)

RESAMPLES = 1000
LEVEL = 0.95
MINIMUM_CASES = MINIMUM_RESAMPLED_CASES
MINIMUM_KEPT = 0.95
# Weights are made in blocks of about 32 MB, so that memory does not grow with the number of cases.
BLOCK_CELLS = 4_000_000
# Each slice takes some 50 kB while its deviation is computed.
SLICES_AT_ONCE = 200

Array = NDArray[Any]


@dataclass(frozen=True)
class CaseBootstrap:
    """Resamples of `n_cases` cases: the same seed and sizes always give the same weights."""

    n_cases: int
    seed: int
    resamples: int = RESAMPLES

    def __post_init__(self) -> None:
        if self.n_cases < 0 or self.resamples < 1:
            raise ValueError("a bootstrap needs a number of cases and at least one resample")

    @cached_property
    def _blocks(self) -> list[Array] | None:
        return list(self._draw()) if self.n_cases * self.resamples <= BLOCK_CELLS else None

    def _draw(self) -> Iterator[Array]:
        rng = np.random.Generator(np.random.PCG64(self.seed))
        size = max(1, BLOCK_CELLS // max(1, self.n_cases))
        for start in range(0, self.resamples, size):
            rows = min(size, self.resamples - start)
            # Drawing case numbers and counting them is the multinomial, at less than half its price.
            drawn = rng.integers(self.n_cases, size=(rows, self.n_cases), dtype=np.int32).astype(np.int64)
            drawn += (np.arange(rows) * self.n_cases)[:, None]
            weights = np.bincount(drawn.ravel(), minlength=rows * self.n_cases)
            yield weights.reshape(rows, self.n_cases).astype(np.float64)

    def weight_blocks(self) -> Iterator[Array]:
        """The weights, (resamples, n_cases), in blocks of resamples."""
        if self.n_cases:
            yield from self._blocks if self._blocks is not None else self._draw()

    def totals(self, sums_by_case: ArrayLike) -> NDArray[np.float64]:
        """Sums over the cases of each resample: (n_cases, ...) to (..., resamples)."""
        sums = np.asarray(sums_by_case, dtype=np.float64)
        if sums.shape[0] != self.n_cases:
            raise ValueError(f"{sums.shape[0]} rows of sums for {self.n_cases} cases")
        flat = np.ascontiguousarray(sums.reshape(self.n_cases, prod(sums.shape[1:])).T)
        totals = np.zeros((flat.shape[0], self.resamples))
        start = 0
        for weights in self.weight_blocks():
            totals[:, start : start + len(weights)] = flat @ weights.T
            start += len(weights)
        return totals.reshape(*sums.shape[1:], self.resamples)


@dataclass(frozen=True, eq=False)
class PercentileIntervals:
    """Percentile intervals of several figures; `kept[i]` of `resamples` were defined. `low[i]` is NaN where
    `n_cases[i]` or `kept[i]` is too small and where the ends are equal; `interval(i)` then gives the reason.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    kept: NDArray[np.int64]
    n_cases: NDArray[np.int64]
    resamples: int
    standard_deviation: NDArray[np.float64]

    def interval(self, i: int) -> tuple[float, float] | Undefined:
        """Ends of the i-th interval, or why it has none."""
        low, high, kept, cases = self.low[i], self.high[i], int(self.kept[i]), int(self.n_cases[i])
        if cases < MINIMUM_CASES:
            return Undefined(Reason.INTERVAL_CASES(cases=cases, needed=MINIMUM_CASES), cases)
        if kept < MINIMUM_KEPT * self.resamples:
            reason = Reason.INTERVAL_RESAMPLES(some=self.resamples - kept, all=self.resamples)
            return Undefined(reason, cases)
        if np.isnan(low) or np.isnan(high):
            all_agree = nearly_equal(self.standard_deviation[i], 0.0)
            reasons = Reason.INTERVAL_RESAMPLES_AGREE, Reason.INTERVAL_RESAMPLES_NEARLY_AGREE
            return Undefined(reasons[0 if all_agree else 1](), cases)
        return float(low), float(high)


def percentile_intervals(replicates: ArrayLike, n_cases: ArrayLike, level: float = LEVEL) -> PercentileIntervals:
    """Intervals from replicates, shape (figures, resamples) with NaN where undefined; `n_cases` stand behind each.

    The standard deviation is given wherever the cases and the resamples suffice, 0 where all resamples agree.
    """
    values = np.asarray(replicates, dtype=np.float64)
    resamples = values.shape[-1]
    cases = np.broadcast_to(np.asarray(n_cases, dtype=np.int64), values.shape[:-1]).copy()
    ordered = np.sort(values, axis=-1)  # NaN goes last
    missing = np.isnan(ordered)
    kept = resamples - missing.sum(axis=-1)
    due = (cases >= MINIMUM_CASES) & (kept >= MINIMUM_KEPT * resamples)
    low, high = (_quantile(ordered, kept, share) for share in ((1 - level) / 2, (1 + level) / 2))
    shown = due & ~nearly_equal(low, high)
    # Over the defined resamples, with divisor n as in HealthBench's bootstrap_std.
    filled, size = np.where(missing, 0.0, ordered), np.maximum(kept, 1)
    mean = filled.sum(axis=-1) / size
    apart = np.where(missing, 0.0, filled - mean[:, None])
    spread = np.sqrt(np.einsum("ij,ij->i", apart, apart) / size)
    low, high = (np.where(shown, end, np.nan) for end in (low, high))
    return PercentileIntervals(low, high, kept, cases, resamples, np.where(due, spread, np.nan))


def _quantile(ordered: Array, kept: Array, share: float) -> Array:
    """Type 7 quantile of the first `kept` entries of each sorted row."""
    position = share * (np.maximum(kept, 1) - 1)
    below = np.floor(position).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(kept, 1) - 1)
    rows = np.arange(len(ordered))
    low, high = ordered[rows, below], ordered[rows, above]
    return np.asarray(low + (high - low) * (position - below))


def standard_deviations(figures: CaseFigures, bootstrap: CaseBootstrap) -> list[float | None]:
    """The deviation of each slice's figure over the resamples, as HealthBench's `bootstrap_std`: with divisor n, after
    clipping. None where fewer than 10 cases stand behind it, or fewer than 95% of the resamples are defined.
    """
    cases = figures.behind.sum(axis=0)
    due = np.flatnonzero(cases >= MINIMUM_CASES)
    spreads: list[float | None] = [None] * figures.n_slices
    for start in range(0, len(due), SLICES_AT_ONCE):
        block = due[start : start + SLICES_AT_ONCE]
        intervals = percentile_intervals(replicates(figures.of_slices(block), bootstrap), cases[block])
        for i, spread in zip(block.tolist(), intervals.standard_deviation.tolist(), strict=True):
            spreads[i] = None if np.isnan(spread) else spread
    return spreads


def replicates(figures: CaseFigures, bootstrap: CaseBootstrap) -> NDArray[np.float64]:
    """The figures in each resample, (slices, resamples), clipped as the figures are; NaN where undefined."""
    totals = bootstrap.totals(np.where(figures.behind[..., None], figures.sums, 0))
    values = figures.values(np.moveaxis(totals, 1, -1))
    return values if figures.clip is None else np.clip(values, *figures.clip)
