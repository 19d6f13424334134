"""Tables of reference by level read, for each case and series, in three ways over the samples of a case.

*pooled*: each usable reading counts 1. *expected*: each case counts 1, spread evenly over its usable readings. *mode*:
each case counts 1, for the most frequent of its usable levels; of several the more urgent one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from agreement.acuity.readings import AcuityData
from rubrics.parsing.acuity_files import ALL

Array = NDArray[np.float64]

# Sources of a candidate's distribution, and of its confidence.
SAMPLES, LOGPROBS, STATED = "samples", "logprobs", "stated"


class Aggregate(StrEnum):
    """How the samples of a case count."""

    EXPECTED = "expected"
    MODE = "mode"
    POOLED = "pooled"


def level_counts(data: AcuityData) -> Array:
    """Usable readings by case, series and level, (cases, series, L)."""
    return data.level_counts.astype(np.float64)


def case_confidences(data: AcuityData, series: int) -> dict[str, Array]:
    """By source of confidence the mean over the usable readings of each case that have one, NaN where none has.

    *stated*: what was stated with a reading. *logprobs*: the probability of the level that was read.
    """
    readings = data.readings.of_series(series)
    means = {}
    for source, values in ((STATED, readings.confidence), (LOGPROBS, readings.share)):
        if values is None:
            continue
        own = readings.usable & ~np.isnan(values)
        totals = np.bincount(readings.case[own], weights=values[own], minlength=len(data.cases))
        numbers = np.bincount(readings.case[own], minlength=len(data.cases))
        means[source] = np.full(len(data.cases), np.nan)
        np.divide(totals, numbers, out=means[source], where=numbers > 0)
    return means


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
    """The cases of a slice that are in the main figures, by number in ascending order."""

    name: str
    cases: NDArray[np.int64]


def everything(data: AcuityData) -> Slice:
    """The slice of all cases of the main figures."""
    return Slice(ALL, np.flatnonzero(data.counts))


def parts_of(data: AcuityData) -> list[Slice]:
    """The slices of ``data`` that hold a case of the main figures, by name."""
    whole = everything(data).cases
    parts = [Slice(name, whole[mask[whole]]) for name, mask in data.slices.items()]
    return [part for part in parts if len(part.cases)]


def series_of(data: AcuityData, part: Slice, format_: str) -> NDArray[np.int64]:
    """The series of one format that were asked about a case of the slice, by number; of all cases all of them."""
    has_case = data.is_asked[part.cases].max(axis=0, initial=False)
    return np.array(
        [
            i
            for i, (_candidate, own) in enumerate(data.series_names)
            if own == format_ and (part.name == ALL or has_case[i])
        ],
        dtype=np.int64,
    )


@dataclass(frozen=True, eq=False)
class CaseTables:
    """One row for each case of a slice: ``tables`` (cases, series, L, L), ``low`` and ``high`` its reference (cases,).

    A reading of a boundary case stands in the row of the nearer of its two levels, so that both are right.

    ``readings``, of the same shape as ``tables``, counts usable readings, whatever their weight in ``tables``;
    ``planned`` and ``usable`` (cases, series) are numbers of readings. ``single``: a case with one reading is a single
    trial, as it is not where readings are weighted.
    """

    tables: Array
    readings: Array
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    planned: Array
    usable: Array
    single: bool

    @property
    def n_levels(self) -> int:
        return self.tables.shape[-1]

    def of_series(self, place: NDArray[np.int64], kept: NDArray[np.bool_]) -> CaseTables:
        """The series at ``place``, with nothing in the cases that are not ``kept`` (cases, series chosen)."""
        own = [counts[:, place] for counts in (self.tables, self.readings, self.planned, self.usable)]
        for counts in own:
            counts[~kept] = 0.0
        tables, readings, planned, usable = own
        return CaseTables(tables, readings, self.low, self.high, planned, usable, self.single)

    def of_cases(self, kept: NDArray[np.bool_]) -> CaseTables:
        """The cases that are ``kept`` (cases,)."""
        tables, readings, planned, usable = (
            counts[kept] for counts in (self.tables, self.readings, self.planned, self.usable)
        )
        return CaseTables(tables, readings, self.low[kept], self.high[kept], planned, usable, self.single)

    @property
    def is_clear(self) -> NDArray[np.bool_]:
        """(cases,): whether the reference is one level."""
        return np.asarray(self.low == self.high)

    def clear(self) -> CaseTables:
        """The cases whose reference is one level."""
        return self.of_cases(self.is_clear)

    @property
    def unusable(self) -> Array:
        """Readings that were refused, said no one level, were invalid or are missing, (cases, series)."""
        return self.planned - self.usable


def case_tables(data: AcuityData, part: Slice, aggregate: Aggregate) -> CaseTables:
    """The tables of a slice; the series of ``data`` come in their order."""
    counts = level_counts(data)[part.cases]
    low, high = data.low[part.cases], data.high[part.cases]
    places = np.arange(data.n_levels)
    nearest = np.clip(places, low[:, None], high[:, None])  # the reference level of each reading, (cases, L)
    at_reference = (places[:, None] == nearest[:, None, :]).astype(np.float64)[:, None]
    return CaseTables(
        at_reference * weighed(counts, aggregate)[:, :, None, :],
        at_reference * counts[:, :, None, :],
        low,
        high,
        data.n_planned()[part.cases].astype(np.float64),
        counts.sum(axis=-1),
        single=aggregate is not Aggregate.EXPECTED,
    )


@dataclass(frozen=True, eq=False)
class PairedTables:
    """Pairs of series, each on the cases that both have: ``n_cases`` (pairs,).

    ``first`` and ``second`` (pairs,) are the places of their series in ``parts``, which holds a series once for all
    pairs in which it has the same cases.
    """

    parts: CaseTables
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    n_cases: NDArray[np.int64]


def paired(parts: CaseTables, pairs: Sequence[tuple[int, int]], has: NDArray[np.bool_]) -> PairedTables:
    """The series of ``pairs``, each pair on the cases that both of its series have; ``has`` is (cases, series)."""
    number_of: dict[tuple[int, bytes], int] = {}
    places: list[int] = []
    kept: list[NDArray[np.bool_]] = []
    numbers: list[list[int]] = []
    n_cases: list[int] = []
    for pair in pairs:
        shared = has[:, pair[0]] & has[:, pair[1]]
        keys = [(place, shared.tobytes()) for place in pair]
        for key in keys:
            if key not in number_of:
                number_of[key] = len(places)
                places.append(key[0])
                kept.append(shared)
        numbers.append([number_of[key] for key in keys])
        n_cases.append(int(shared.sum()))
    first, second = np.array(numbers, dtype=np.int64).T
    chosen = parts.of_series(np.array(places), np.array(kept).T)
    return PairedTables(chosen, first, second, np.array(n_cases, dtype=np.int64))


def pair_groups(
    pairs: Sequence[tuple[int, int]], has: NDArray[np.bool_], most: int
) -> Iterator[Sequence[tuple[int, int]]]:
    """The pairs in their order, in groups for which `paired` makes about ``most`` series at once.

    Where every series has every case, all pairs share a few series and are one group. Where readings are missing, each
    pair has its own cases, and all pairs at once would take many times the memory of the tables.
    """
    group: list[tuple[int, int]] = []
    series: set[tuple[int, bytes]] = set()
    for pair in pairs:
        shared = (has[:, pair[0]] & has[:, pair[1]]).tobytes()
        group.append(pair)
        series.update((place, shared) for place in pair)
        if len(series) >= most:
            yield group
            group, series = [], set()
    if group:
        yield group


def over_candidates(parts: CaseTables, chosen: NDArray[np.int64], aggregate: Aggregate) -> CaseTables:
    """One series that pools those ``chosen``; of `Aggregate.EXPECTED` a case is the mean of their means."""
    tables, readings = (own[:, chosen].sum(axis=1) for own in (parts.tables, parts.readings))
    if aggregate is Aggregate.EXPECTED:
        n = (parts.tables[:, chosen].sum(axis=(2, 3)) > 0).sum(axis=1)
        tables = tables / np.maximum(n, 1)[:, None, None]
    planned, usable = (counts[:, chosen].sum(axis=1, keepdims=True) for counts in (parts.planned, parts.usable))
    return CaseTables(tables[:, None], readings[:, None], parts.low, parts.high, planned, usable, parts.single)
