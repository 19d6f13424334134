"""Whether the order in which the levels are listed moves what a candidate chooses.

Of series that runs asked for: a keyed coin lists the most urgent level first or last, for each case and sample. The
shift is the mean level where it was listed first less that where it was listed last, over the cases with a usable
reading in both orders, each case counting 1. It needs no reference.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from agreement.acuity.readings import AcuityData
from consilium.core.reasons import Reason
from consilium.statistics.case_figures import case_ratio
from consilium.statistics.estimate import figures
from consilium.statistics.intervals import IntervalRule

POSITION_COLUMNS = (
    *("candidate", "format", "source", "n_first", "n_last", "n_cases", "mean_first", "mean_last"),
    *("shift", "shift_low", "shift_high", "note"),
)
TEXT_COLUMNS = ("candidate", "format", "source", "note")


def position_rows(data: AcuityData, *, rule: IntervalRule) -> Iterator[dict[str, Any]]:
    """A row for each series of which the order of the options is known; ``n_first``, ``n_last``: usable readings."""
    if data.readings.descending is None:
        return
    most = data.n_levels - 1.0
    for i, (candidate, format_) in enumerate(data.series_names):
        readings = data.readings.of_series(i)
        assert readings.descending is not None
        own = readings.usable & (readings.descending >= 0)
        if not own.any():
            continue
        # Sums of levels and numbers of readings, (cases, 2): the most urgent level last, then first.
        flat = readings.case[own] * 2 + readings.descending[own]
        size = len(data.cases) * 2
        counts = np.bincount(flat, minlength=size).reshape(-1, 2)
        sums = np.bincount(flat, weights=readings.place[own].astype(np.float64), minlength=size).reshape(-1, 2)
        means = sums / np.maximum(counts, 1)
        has_both = np.asarray((counts > 0).all(axis=1))
        n_cases = int(has_both.sum())
        shift = case_ratio(
            np.where(has_both, means[:, 1] - means[:, 0], 0.0)[:, None], has_both[:, None], bounds=(-most, most)
        )
        estimates = figures(shift.whole(), [n_cases], reason=lambda _i: Reason.NO_SHARED_CASE())
        (figure,) = rule.intervals(shift).attach(estimates)
        yield {
            "candidate": candidate,
            "format": format_,
            "source": data.source_of(i),
            "n_first": int(counts[:, 1].sum()),
            "n_last": int(counts[:, 0].sum()),
            "n_cases": n_cases,
            "mean_first": float(means[has_both, 1].mean()) if n_cases else None,
            "mean_last": float(means[has_both, 0].mean()) if n_cases else None,
            "shift": figure.value,
            "shift_low": figure.low,
            "shift_high": figure.high,
            "note": figure.note,
        }
