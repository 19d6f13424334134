"""Summaries of whole numbers: mean, standard deviation, quartiles, ends, and bins of a histogram.

The standard deviation is that of a sample (n − 1); quartiles are linear between order statistics (type 7 of Hyndman and
Fan 1996).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agreement.reports.tables import Row
from consilium.core.reasons import Reason

Ints = NDArray[np.int64]
COLUMNS = ("n", "mean", "sd", "median", "q1", "q3", "minimum", "maximum", "note")
MAX_BINS = 20
# The share of the values that equal bins hold; what is longer is in the last bin, which has no end.
HELD = 0.99


def summary(values: Ints) -> Row:
    """`COLUMNS` of ``values``; a figure that does not exist is None, and ``note`` says why."""
    if not len(values):
        return dict.fromkeys(COLUMNS) | {"n": 0, "note": Reason.NOTHING_TO_MEASURE()}
    q1, median, q3 = (float(point) for point in np.quantile(values, [0.25, 0.5, 0.75]))
    return {
        "n": len(values),
        "mean": float(values.mean()),
        "sd": float(values.std(ddof=1)) if len(values) > 1 else None,
        "median": median,
        "q1": q1,
        "q3": q3,
        "minimum": int(values.min()),
        "maximum": int(values.max()),
        "note": "" if len(values) > 1 else Reason.SPREAD_OF_ONE(),
    }


def bins(values: Ints) -> list[tuple[int, int | None, int]]:
    """``(low, high, n)``: whole numbers from ``low`` to ``high``, both included, in at most `MAX_BINS` equal bins.

    Where some values are far above the others, the last bin has no end.
    """
    if not len(values):
        return []
    least, most = int(values.min()), int(values.max())
    held = int(np.quantile(values, HELD, method="higher"))
    step = _step(max(1, held - least + 1))
    low = least // step * step
    edges = np.arange(low, held + step, step)
    edges = edges[edges <= held]
    counts = np.bincount(np.searchsorted(edges, values, side="right") - 1, minlength=len(edges)).tolist()
    is_open = most >= int(edges[-1]) + step
    return [
        (start, None if is_open and i == len(edges) - 1 else start + step - 1, counts[i])
        for i, start in enumerate(edges.tolist())
    ]


def _step(extent: int) -> int:
    """1, 2 or 5 times a power of ten, so that at most `MAX_BINS` steps reach over ``extent``, wherever it begins."""
    power = 1
    while True:
        for factor in (1, 2, 5):
            if extent <= factor * power * (MAX_BINS - 1) or extent <= 1:
                return factor * power
        power *= 10
