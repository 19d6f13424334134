"""Tables of reference by level read, for each case and series, in three ways over the samples of a case.

*pooled*: each usable reading counts 1. *expected*: each case counts 1, spread evenly over its usable readings. *mode*:
each case counts 1, for the most frequent of its usable levels; of several the more urgent one.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from agreement.acuity.readings import AcuityData, CaseStatus
from rubrics.parsing.acuity_levels import State

Array = NDArray[np.float64]


class Aggregate(StrEnum):
    """How the samples of a case count."""

    EXPECTED = "expected"
    MODE = "mode"
    POOLED = "pooled"


def level_counts(data: AcuityData) -> Array:
    """Usable readings by case, series and level, (cases, series, L)."""
    n_series, n_levels = len(data.series_names), data.n_levels
    usable = data.usable
    flat = (data.case[usable] * n_series + data.series[usable]) * n_levels + data.place[usable]
    counts = np.bincount(flat, minlength=len(data.cases) * n_series * n_levels)
    return counts.reshape(len(data.cases), n_series, n_levels).astype(np.float64)


def weighed(counts: Array, aggregate: Aggregate) -> Array:
    """The weight of each level by case and series, (cases, series, L), from counts of that shape."""
    if aggregate is Aggregate.POOLED:
        return counts
    n = counts.sum(axis=-1, keepdims=True)
    if aggregate is Aggregate.EXPECTED:
        return np.divide(counts, n, out=np.zeros_like(counts), where=n > 0)
    # Of several levels as frequent, argmax from above gives the more urgent one.
    top = counts.shape[-1] - 1 - np.argmax(counts[..., ::-1], axis=-1)
    return np.where(n > 0, np.eye(counts.shape[-1])[top], 0.0)


@dataclass(frozen=True, eq=False)
class Slice:
    """The clear cases of a slice, by number: those of the main figures."""

    name: str
    cases: NDArray[np.int64]


def everything(data: AcuityData) -> Slice:
    """The slice of all cases with a clear reference."""
    return Slice("all", np.flatnonzero(data.status == int(CaseStatus.CLEAR)))


@dataclass(frozen=True, eq=False)
class CaseTables:
    """One row for each case of a slice: ``tables`` (cases, series, L, L), ``low`` their reference (cases,).

    ``planned`` and ``usable`` (cases, series) are numbers of readings; of the mode each case has one. ``single``: a
    case with one reading is a single trial, as it is not where readings are weighted.
    """

    tables: Array
    low: NDArray[np.int64]
    planned: Array
    usable: Array
    single: bool

    @property
    def n_levels(self) -> int:
        return self.tables.shape[-1]

    def of_series(self, place: NDArray[np.int64], kept: NDArray[np.bool_]) -> CaseTables:
        """The series at ``place``, with nothing in the cases that are not ``kept`` (cases, series chosen)."""
        tables = np.where(kept[..., None, None], self.tables[:, place], 0.0)
        planned, usable = (np.where(kept, counts[:, place], 0.0) for counts in (self.planned, self.usable))
        return CaseTables(tables, self.low, planned, usable, self.single)

    @property
    def unusable(self) -> Array:
        """Readings that were refused, said no one level, were invalid or are missing, (cases, series)."""
        return self.planned - self.usable


def case_tables(data: AcuityData, part: Slice, aggregate: Aggregate) -> CaseTables:
    """The tables of a slice; the series of ``data`` come in their order."""
    counts = level_counts(data)[part.cases]
    weights = weighed(counts, aggregate)
    low = data.low[part.cases]
    at_reference = np.eye(data.n_levels)[low]
    tables = at_reference[:, None, :, None] * weights[:, :, None, :]
    planned = np.where(data.is_asked()[part.cases], data.samples(), 0).astype(np.float64)
    usable = data.readings_of(State.LEVEL)[part.cases].astype(np.float64)
    if aggregate is Aggregate.MODE:
        planned, usable = (planned > 0).astype(np.float64), (usable > 0).astype(np.float64)
    return CaseTables(tables, low, planned, usable, single=aggregate is not Aggregate.EXPECTED)


def over_candidates(parts: CaseTables, chosen: NDArray[np.int64], aggregate: Aggregate) -> CaseTables:
    """One series that pools those ``chosen``; of `Aggregate.EXPECTED` a case is the mean of their means."""
    tables = parts.tables[:, chosen]
    if aggregate is Aggregate.EXPECTED:
        n = (tables.sum(axis=(2, 3)) > 0).sum(axis=1)
        pooled = tables.sum(axis=1) / np.maximum(n, 1)[:, None, None]
    else:
        pooled = tables.sum(axis=1)
    planned, usable = (counts[:, chosen].sum(axis=1, keepdims=True) for counts in (parts.planned, parts.usable))
    return CaseTables(pooled[:, None], parts.low, planned, usable, parts.single)
