"""Readings of candidates in a few bytes each, so that millions of them take little memory.

They stand in the order of case, series and sample. Case and series of a reading follow from how many readings each
series has on each case; a level and the reason why there is none share one byte; confidences are codes of their
different values, of which there are few.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rubrics.parsing.acuity_levels import State

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# In the place of an escalation: nothing is advised under a condition; nothing says whether.
NO_ESCALATION, UNKNOWN_ESCALATION = -1, -2
BLOCK = 1 << 17  # readings that are unpacked at once
MAX_CODES = 1 << 16
N_REASONS = max(State)  # of which a reading has one where it is no level


@dataclass(frozen=True, eq=False)
class PackedNumbers:
    """A number for each reading, NaN for none: codes of ``values``, or the numbers themselves without these."""

    codes: NDArray[Any]
    values: Floats | None

    @classmethod
    def of(cls, numbers: Floats) -> PackedNumbers:
        if np.isnan(numbers).all():
            return cls(np.zeros(len(numbers), dtype=np.uint8), np.array([np.nan]))
        values, codes = np.unique(numbers, return_inverse=True)
        return cls(numbers, None) if len(values) > MAX_CODES else cls(_narrow(codes), values)

    def __getitem__(self, place: slice | Ints) -> Floats:
        codes = self.codes[place]
        return codes if self.values is None else self.values[codes]

    @classmethod
    def joined(cls, parts: Sequence[PackedNumbers]) -> PackedNumbers:
        """One after the other."""
        values = np.unique(np.concatenate([part.codes if part.values is None else part.values for part in parts]))
        if len(values) > MAX_CODES:
            return cls(np.concatenate([part[:] for part in parts]), None)
        return cls(np.concatenate([_narrow(np.searchsorted(values, part[:])) for part in parts]), values)


def _narrow(numbers: NDArray[Any]) -> NDArray[Any]:
    """The same whole numbers in the narrowest type that holds them."""
    ends = (np.min_scalar_type(int(end)) for end in (numbers.min(initial=0), numbers.max(initial=0)))
    return numbers.astype(np.result_type(*ends))


@dataclass(frozen=True, eq=False)
class Block:
    """Some readings in their order, unpacked: ``cell`` is case · number of series + series, ``place`` -1 if no level.

    ``start`` and ``end`` are their places among all readings.
    """

    start: int
    end: int
    cell: Ints
    sample: Ints
    state: Ints
    place: Ints


@dataclass(frozen=True, eq=False)
class SeriesReadings:
    """The readings of one series in the order of case and sample, unpacked; ``place`` is -1 where there is no level.

    ``escalation`` is the level that is advised under a condition, `NO_ESCALATION` or `UNKNOWN_ESCALATION`.
    """

    case: Ints
    sample: Ints
    state: Ints
    place: Ints
    escalation: Ints
    confidence: Floats
    share: Floats | None
    descending: Ints | None

    @property
    def usable(self) -> NDArray[np.bool_]:
        """Whether the reading says one level."""
        return np.asarray(self.place >= 0)


@dataclass(frozen=True, eq=False)
class PackedReadings:
    """``numbers`` (cases, series) says how many readings there are; the other fields have an entry for each of them.

    ``answer`` is the place of a level, or less than 0 the negative of a `State`. ``share`` is the probability of the
    level that was read, by log probabilities; ``descending`` whether the most urgent level was listed first, -1 where
    no run asked. Both are None where no run asked for any reading. ``escalation`` is as in `SeriesReadings`, and None
    where nothing says of any reading what is advised under a condition.
    """

    numbers: Ints
    sample: NDArray[Any]
    answer: NDArray[np.int8]
    confidence: PackedNumbers
    share: PackedNumbers | None = None
    descending: NDArray[np.int8] | None = None
    escalation: NDArray[np.int8] | None = None

    @classmethod
    def of(
        cls,
        shape: tuple[int, int],
        *,
        case: Ints,
        series: Ints,
        sample: Ints,
        answer: Ints,
        confidence: Floats,
        share: Floats | None = None,
        descending: Ints | None = None,
        escalation: Ints | None = None,
    ) -> PackedReadings:
        """Readings in any order, on so many cases by so many series."""
        order = np.lexsort((sample, series, case))
        flat = case * shape[1] + series
        sample = sample[order]
        has_escalations = escalation is not None and (escalation != UNKNOWN_ESCALATION).any()
        return cls(
            np.bincount(flat, minlength=shape[0] * shape[1]).reshape(shape),
            _narrow(sample),
            answer[order].astype(np.int8),
            PackedNumbers.of(confidence[order]),
            None if share is None else PackedNumbers.of(share[order]),
            None if descending is None else descending[order].astype(np.int8),
            escalation[order].astype(np.int8) if escalation is not None and has_escalations else None,
        )

    def __len__(self) -> int:
        return len(self.answer)

    @property
    def n_bytes(self) -> int:
        """What the readings take, but for ``numbers``."""
        columns = (self.confidence.codes, *(() if self.share is None else (self.share.codes,)))
        marks = sum(column.nbytes for column in (self.descending, self.escalation) if column is not None)
        return self.sample.nbytes + self.answer.nbytes + marks + sum(column.nbytes for column in columns)

    @cached_property
    def _starts(self) -> Ints:
        """The place of the first reading of each case and series, (cases, series)."""
        flat = self.numbers.ravel()
        return (np.cumsum(flat) - flat).reshape(self.numbers.shape)

    def blocks(self) -> Iterator[Block]:
        """All readings in their order, some at a time."""
        numbers = self.numbers.ravel()
        start = 0
        for first, last in _spans(numbers):
            end = start + int(numbers[first:last].sum())
            answer = self.answer[start:end].astype(np.int64)
            yield Block(
                start,
                end,
                np.repeat(np.arange(first, last), numbers[first:last]),
                self.sample[start:end].astype(np.int64),
                np.maximum(-answer, 0),
                np.maximum(answer, -1),
            )
            start = end

    def counts(self, n_levels: int) -> Ints:
        """Readings by case, series and answer: the states that are no level, highest first, then the levels."""
        n_codes = N_REASONS + n_levels
        counts = np.zeros(self.numbers.size * n_codes, dtype=np.int64)
        for block in self.blocks():
            code = np.where(block.place >= 0, block.place, -block.state) + N_REASONS
            first = int(block.cell[0]) * n_codes
            own = np.bincount((block.cell - block.cell[0]) * n_codes + code)
            counts[first : first + len(own)] += own
        return counts.reshape(*self.numbers.shape, n_codes)

    def sample_numbers(self) -> Ints:
        """The different numbers that samples have, in order."""
        return np.unique(self.sample).astype(np.int64)

    def of_series(self, series: int) -> SeriesReadings:
        """Those of one series."""
        numbers = self.numbers[:, series]
        places = _ranges(self._starts[:, series], numbers)
        answer = self.answer[places].astype(np.int64)
        return SeriesReadings(
            np.repeat(np.arange(len(numbers)), numbers),
            self.sample[places].astype(np.int64),
            np.maximum(-answer, 0),
            np.maximum(answer, -1),
            _escalation_of(self)[places].astype(np.int64),
            self.confidence[places],
            None if self.share is None else self.share[places],
            None if self.descending is None else self.descending[places].astype(np.int64),
        )

    @classmethod
    def joined(cls, parts: Sequence[PackedReadings]) -> PackedReadings:
        """The readings on some cases, then those on others, of the same series."""
        if len(parts) == 1:
            return parts[0]
        shares = [part.share for part in parts if part.share is not None]
        descending = [part.descending for part in parts if part.descending is not None]
        has_escalations = any(part.escalation is not None for part in parts)
        return cls(
            np.concatenate([part.numbers for part in parts]),
            np.concatenate([part.sample for part in parts]),
            np.concatenate([part.answer for part in parts]),
            PackedNumbers.joined([part.confidence for part in parts]),
            PackedNumbers.joined(shares) if shares else None,
            np.concatenate(descending) if descending else None,
            np.concatenate([_escalation_of(part) for part in parts]) if has_escalations else None,
        )

    def arranged(self, cases: Ints, series: Ints) -> PackedReadings:
        """The readings of these cases and series by their present numbers, in this order; -1 is a case without any."""
        shape = self.numbers.shape
        if np.array_equal(cases, np.arange(shape[0])) and np.array_equal(series, np.arange(shape[1])):
            return self
        numbers, starts = (rows_of(own, cases)[:, series] for own in (self.numbers, self._starts))
        columns = [self.sample, self.answer, self.confidence.codes]
        columns += [] if self.share is None else [self.share.codes]
        columns += [column for column in (self.descending, self.escalation) if column is not None]
        moved = [np.empty(int(numbers.sum()), dtype=column.dtype) for column in columns]
        until = 0
        for first, last in _spans(numbers.sum(axis=1)):
            places = _ranges(starts[first:last].ravel(), numbers[first:last].ravel())
            for column, target in zip(columns, moved, strict=True):
                target[until : until + len(places)] = column[places]
            until += len(places)
        sample, answer, confidence, *rest = moved
        return PackedReadings(
            numbers,
            sample,
            answer,
            PackedNumbers(confidence, self.confidence.values),
            None if self.share is None else PackedNumbers(rest.pop(0), self.share.values),
            None if self.descending is None else rest.pop(0),
            None if self.escalation is None else rest.pop(0),
        )


def _escalation_of(readings: PackedReadings) -> NDArray[np.int8]:
    if readings.escalation is None:
        return np.broadcast_to(np.int8(UNKNOWN_ESCALATION), len(readings))
    return readings.escalation


def rows_of(table: Ints, places: Ints) -> Ints:
    """The rows at these places; of zeros at -1."""
    return np.vstack([table, np.zeros((1, table.shape[1]), dtype=table.dtype)])[places]


def _ranges(starts: Ints, lengths: Ints) -> Ints:
    """The whole numbers from each start on, as many as its length, one range after the other."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))


def _spans(numbers: Ints) -> Iterator[tuple[int, int]]:
    """Places from a first to before a last, so that a span has about `BLOCK` readings, and one at least."""
    ends = np.cumsum(numbers)
    first = 0
    while first < len(numbers):
        before = int(ends[first] - numbers[first])
        last = max(int(np.searchsorted(ends, before + BLOCK, side="right")), first + 1)
        if ends[last - 1] > before:
            yield first, last
        first = last
