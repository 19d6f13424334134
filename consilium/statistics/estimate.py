"""The result of a statistic: a value with its n, or the reason why there is none."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.core.phrases import joined, once, parts_of
from consilium.core.reasons import Reason


@dataclass(frozen=True)
class Estimate:
    """A defined figure.

    `n` is the number of units that the figure rests on (pairs, responses, cases: its function says which); `low` and
    `high` are the ends of its 95% interval, None where none is given. `effective` is the number of effective cases
    behind a figure over cases: fewer than there are where some cases are larger than others. `note` says what a reader
    must know: a reason, or several that `joined` made one.
    """

    value: float
    n: int
    low: float | None = None
    high: float | None = None
    note: str = ""
    effective: float | None = None

    def __post_init__(self) -> None:
        for number in (self.value, self.low, self.high):
            if number is not None and not math.isfinite(number):
                raise ValueError(f"an estimate must be finite, not {number}")
        if self.n < 1:
            raise ValueError(f"an estimate needs something to rest on: n is {self.n}")

    @property
    def defined(self) -> bool:
        return True


@dataclass(frozen=True)
class Undefined:
    """No figure, and why: `Undefined(Reason.NO_PAIRS(), n)`. It answers to the attributes of an `Estimate`, so that a
    table can be written without asking.
    """

    reason: str
    n: int = 0

    @property
    def defined(self) -> bool:
        return False

    @property
    def value(self) -> None:
        return None

    @property
    def low(self) -> None:
        return None

    @property
    def high(self) -> None:
        return None

    @property
    def note(self) -> str:
        return self.reason

    @property
    def effective(self) -> None:
        return None


Figure = Estimate | Undefined

# Ends and values this close together differ by rounding alone.
ROUNDING = 1e-10


def with_note(figure: Figure, note: str) -> Figure:
    """The figure with one more remark; its value is untouched."""
    if not note:
        return figure
    notes = joined(figure.note, note)
    if isinstance(figure, Undefined):
        return replace(figure, reason=notes)
    return replace(figure, note=notes)


def notes_of(figures_by_name: Mapping[str, Figure]) -> str:
    """The notes of figures, ``mf1, kappa: …``: a note that several figures share comes once, with all of their names.

    A note is compared as a whole; `each_note_of` takes its parts one by one.
    """
    return once((name, figure.note) for name, figure in figures_by_name.items())


def each_note_of(figures_by_name: Mapping[str, Figure]) -> str:
    """As `notes_of`, with every part of a note for itself."""
    return once((name, part) for name, figure in figures_by_name.items() for part in parts_of(figure.note))


def nearly_equal(a: ArrayLike, b: ArrayLike) -> NDArray[np.bool_]:
    """Where two numbers differ by rounding alone; NaN equals nothing."""
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    return np.asarray(np.abs(first - second) <= ROUNDING * np.maximum(1.0, np.abs(first)))


def with_interval(figure: Estimate, low: float, high: float) -> Estimate:
    """The figure with its interval; without one, and with the reason, where the interval misses the figure's value.

    Small samples and skewed statistics bring that about, and such an interval says nothing about the value beside it.
    An end that misses the value by rounding alone is put on it.
    """
    # Plain numbers: this runs once for each figure of thousands of slices.
    slack = ROUNDING * max(1.0, abs(figure.value))
    low, high = (figure.value if abs(end - figure.value) <= slack else end for end in (low, high))
    if low <= figure.value <= high:
        return replace(figure, low=low, high=high)
    noted = with_note(figure, Reason.INTERVAL_MISSES_VALUE())
    assert isinstance(noted, Estimate)
    return noted


def figures(
    values: ArrayLike,
    n: ArrayLike,
    *,
    reason: Callable[[int], str],
    noted: ArrayLike | None = None,
    note: Callable[[int], str] | None = None,
) -> list[Figure]:
    """One figure per entry of `values`, flattened; NaN there means undefined, and `reason(i)` gives the reason.

    `noted` marks the entries that carry a remark, `note(i)` words it; both are asked only where they are needed, so
    that thousands of slices stay cheap.
    """
    numbers = np.asarray(values, dtype=float).ravel().tolist()
    sizes = np.broadcast_to(np.asarray(n), np.shape(values)).ravel().tolist()
    marks = [False] * len(numbers) if noted is None else np.asarray(noted).ravel().tolist()
    estimates: list[Figure] = []
    for i, (number, size, marked) in enumerate(zip(numbers, sizes, marks, strict=True)):
        if number != number:
            estimates.append(Undefined(reason(i), int(size)))
        else:
            estimates.append(Estimate(number, int(size), note=note(i) if marked and note else ""))
    return estimates
