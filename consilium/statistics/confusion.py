"""Two raters on the same pairs: the 2x2 table, for any number of slices, cases or resamples at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class ConfusionCounts:
    """Counts of (response, criterion) pairs by the outcomes of rater A (the reference) and rater B.

    `tp`: both met; `fp`: only B met; `fn`: only A met; `tn`: both not met. The four arrays have one shape, which is
    whatever the caller needs: () for one table, (cases, slices), (slices, resamples). Every coefficient of two raters
    is a function of these, element by element.
    """

    tp: Array
    fp: Array
    fn: Array
    tn: Array

    def __post_init__(self) -> None:
        cells = [np.asarray(cell) for cell in (self.tp, self.fp, self.fn, self.tn)]
        if len({cell.shape for cell in cells}) != 1:
            raise ValueError("the four cells must have the same shape")
        for name, cell in zip(("tp", "fp", "fn", "tn"), cells, strict=True):
            object.__setattr__(self, name, cell)

    @classmethod
    def single(cls, tp: int, fp: int, fn: int, tn: int) -> ConfusionCounts:
        """One table from four numbers."""
        return cls(np.asarray(tp), np.asarray(fp), np.asarray(fn), np.asarray(tn))

    @classmethod
    def from_cells(cls, cells: Array) -> ConfusionCounts:
        """From an array whose first axis is (tp, fp, fn, tn)."""
        return cls(cells[0], cells[1], cells[2], cells[3])

    def cells(self) -> Array:
        """One array with the first axis (tp, fp, fn, tn)."""
        return np.stack([self.tp, self.fp, self.fn, self.tn])

    @property
    def shape(self) -> tuple[int, ...]:
        return self.tp.shape

    @property
    def n(self) -> Array:
        """Pairs in each table."""
        return np.asarray(self.tp + self.fp + self.fn + self.tn)

    @property
    def met_mentions(self) -> Array:
        """How often either rater said met: 2tp + fp + fn."""
        return np.asarray(2 * self.tp + self.fp + self.fn)

    @property
    def not_met_mentions(self) -> Array:
        """How often either rater said not met: 2tn + fp + fn."""
        return np.asarray(2 * self.tn + self.fp + self.fn)

    def __getitem__(self, key: Any) -> ConfusionCounts:
        return ConfusionCounts(self.tp[key], self.fp[key], self.fn[key], self.tn[key])

    def __add__(self, other: ConfusionCounts) -> ConfusionCounts:
        return ConfusionCounts(self.tp + other.tp, self.fp + other.fp, self.fn + other.fn, self.tn + other.tn)

    def swapped(self) -> ConfusionCounts:
        """The same pairs with the raters' places exchanged."""
        return ConfusionCounts(self.tp, self.fn, self.fp, self.tn)

    def pooled(self, axis: int | tuple[int, ...] | None = None) -> ConfusionCounts:
        """Summed over `axis` (over everything by default)."""
        return ConfusionCounts(*(np.asarray(cell.sum(axis=axis)) for cell in (self.tp, self.fp, self.fn, self.tn)))

    def summed_by(self, index: ArrayLike, size: int) -> ConfusionCounts:
        """1-d counts summed into `size` groups; `index` gives the group of each entry."""
        where = np.asarray(index, dtype=np.int64)
        return ConfusionCounts(
            *(
                np.rint(np.bincount(where, weights=cell, minlength=size)).astype(np.int64)
                for cell in (self.tp, self.fp, self.fn, self.tn)
            )
        )


def confusion_counts(
    a: ArrayLike,
    b: ArrayLike,
    *,
    case: ArrayLike | None = None,
    n_cases: int | None = None,
    slice_of: ArrayLike | None = None,
    n_slices: int = 1,
) -> ConfusionCounts:
    """Count pairs by case and slice: shape (n_cases, n_slices), or () when no `case` is given.

    `a` and `b` hold MET or NOT_MET per pair (booleans will do), `case` and `slice_of` the case and slice number of each
    pair. A pair that belongs to several slices is given several times, once for each.
    """
    first, second = np.asarray(a).astype(np.int64).ravel(), np.asarray(b).astype(np.int64).ravel()
    if first.shape != second.shape:
        raise ValueError("both raters must have one outcome for each pair")
    if first.size and (min(first.min(), second.min()) < 0 or max(first.max(), second.max()) > 1):
        raise ValueError("only met and not met can be counted; sort out the other outcomes first")
    # Cells in the order tp, fp, fn, tn.
    cell = np.where(first == 1, np.where(second == 1, 0, 2), np.where(second == 1, 1, 3))
    if case is None:
        return ConfusionCounts.from_cells(np.bincount(cell, minlength=4))
    cases = np.asarray(case, dtype=np.int64).ravel()
    size = n_cases if n_cases is not None else (int(cases.max()) + 1 if cases.size else 0)
    slices = np.zeros_like(cases) if slice_of is None else np.asarray(slice_of, dtype=np.int64).ravel()
    flat = (cell * size + cases) * n_slices + slices
    return ConfusionCounts.from_cells(np.bincount(flat, minlength=4 * size * n_slices).reshape(4, size, n_slices))
