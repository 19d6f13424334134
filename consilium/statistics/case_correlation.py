"""Correlations of pairs of numbers that come in cases, for intervals over the cases.

Pairs of one case are not independent, so that Fisher's interval for n independent pairs is too short for them. The
correlation of Pearson is a function of sums over cases (of x, y, x², y² and xy) and has the interval of every figure
over cases (`jackknife`); between -1 and 1 its logit scale is twice Fisher's z. That of Spearman is Pearson's of the
mid-ranks, and the pairs are ranked anew without each case:

    r = Σ (x - x̄)(y - ȳ) / √(Σ (x - x̄)² · Σ (y - ȳ)²)

Simulated with 5 to 100 cases of one and five pairs, normal, length and binary values, coefficients of 0, 0.5 and 0.9:
Spearman's covers at least 93.5%, Pearson's at least 93% but for strong correlations (0.7) of a skewed length with a
bounded score, where it covers 87 to 92%. Fisher's interval covers 81 to 96% where a case has five pairs.

The size of a case is the number of its pairs. Undefined, and NaN: one side constant. Source: Fisher 1921 (the scale);
Miller 1974 (the jackknife of a correlation on it).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.statistics.case_figures import CaseFigures, sums_by_case
from consilium.statistics.jackknife import Jackknife, effective_cases

# A sum of squares below this share of that of all pairs of the slice is rounding.
NEGLIGIBLE = 1e-12

Array = NDArray[np.float64]


def pearson_figures(
    x: ArrayLike,
    y: ArrayLike,
    *,
    case: ArrayLike,
    n_cases: int,
    slice_of: ArrayLike | None = None,
    n_slices: int = 1,
) -> CaseFigures:
    """Pearson's correlation of each slice, from one entry a pair: its case and its slice.

    Cases may be numbered for each slice by itself: an array is as long as the slice with the most.
    """
    first, second = _standardized(x, slice_of, n_slices), _standardized(y, slice_of, n_slices)

    def summed(values: Array) -> Array:
        return sums_by_case(values, case, n_cases, slice_of, n_slices)

    pairs = np.ones(first.shape)
    columns = [pairs, first, second, first**2, second**2, first * second]
    sums = np.stack([summed(column) for column in columns], axis=-1)
    return CaseFigures(sums, _correlations, sums[..., 0], -1.0, 1.0)


def _standardized(values: ArrayLike, slice_of: ArrayLike | None, n_slices: int) -> Array:
    """Values less the mean of their slice, over their deviation: no small difference of large sums then counts."""
    column = np.asarray(values, dtype=np.float64).ravel()
    where = np.zeros(column.shape, dtype=np.int64) if slice_of is None else np.asarray(slice_of, dtype=np.int64)
    n = np.maximum(np.bincount(where, minlength=n_slices), 1)
    apart = column - (np.bincount(where, weights=column, minlength=n_slices) / n)[where]
    largest = np.zeros(n_slices)
    np.maximum.at(largest, where, np.abs(column))
    deviation = np.sqrt(np.bincount(where, weights=apart**2, minlength=n_slices) / n)
    varies = deviation > NEGLIGIBLE * largest
    return np.where(varies[where], apart / np.where(varies, deviation, 1.0)[where], 0.0)


def _correlations(sums: Array) -> Array:
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    size = np.maximum(n, 1)
    own = xx - x * x / size, yy - y * y / size
    varies = (own[0] > NEGLIGIBLE * size) & (own[1] > NEGLIGIBLE * size)
    spread = np.sqrt(np.where(varies, own[0] * own[1], 1.0))
    return np.where(varies, np.clip((xy - x * y / size) / spread, -1, 1), np.nan)


def spearman_jackknife(x: ArrayLike, y: ArrayLike, *, case: ArrayLike, n_cases: int) -> Jackknife:
    """Spearman's correlation of all pairs, and without each case; one slice. One entry a pair."""
    where = np.asarray(case, dtype=np.int64).ravel()
    sizes = np.bincount(where, minlength=n_cases).astype(np.float64)[:, None]
    pairs = _RankedPairs.of(x, y)
    order = np.argsort(where, kind="stable")
    starts = np.searchsorted(where[order], np.arange(n_cases + 1))
    without = np.full((n_cases, 1), np.nan)
    for i in np.flatnonzero(sizes).tolist():
        without[i] = pairs.correlation(without=order[starts[i] : starts[i + 1]])
    value = np.array([pairs.correlation(without=order[:0])])
    ends = np.array([-1.0]), np.array([1.0])
    return Jackknife(value, without, sizes > 0, effective_cases(sizes), *ends)


@dataclass(frozen=True, eq=False)
class _RankedPairs:
    """Pairs by the places of their values among the distinct ones. Without some pairs the ranks follow from the counts
    of the values alone, so that nothing is sorted again.
    """

    x: NDArray[np.int64]
    y: NDArray[np.int64]
    x_counts: NDArray[np.int64]
    y_counts: NDArray[np.int64]

    @classmethod
    def of(cls, x: ArrayLike, y: ArrayLike) -> _RankedPairs:
        (_, first, first_counts), (_, second, second_counts) = (
            np.unique(np.asarray(side, dtype=np.float64).ravel(), return_inverse=True, return_counts=True)
            for side in (x, y)
        )
        return cls(first, second, first_counts, second_counts)

    def correlation(self, without: NDArray[np.int64]) -> float:
        """Of all pairs but those at the places ``without``; NaN where one side is constant."""
        left_out = self.x[without], self.y[without]
        sides = []
        for counts, places in zip((self.x_counts, self.y_counts), left_out, strict=True):
            n = counts - np.bincount(places, minlength=len(counts))
            # Mid-ranks less their mean, (size + 1) / 2.
            sides.append((n, np.cumsum(n) - (n - 1) / 2 - (n.sum() + 1) / 2))
        (nx, rx), (ny, ry) = sides
        squares = float(nx @ rx**2) * float(ny @ ry**2)
        if not squares:
            return float("nan")
        products = float(rx[self.x] @ ry[self.y]) - float(rx[left_out[0]] @ ry[left_out[1]])
        return float(np.clip(products / np.sqrt(squares), -1, 1))
