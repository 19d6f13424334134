"""Figures that are functions of sums over cases, as every interval rule takes them.

Criteria of one case, and responses to one case, are not independent, so that a figure's uncertainty is that of its
cases. A figure f(T) of sums T over the cases that stand behind it says here what its sums are, how large each case is,
and between which bounds it lies. `jackknife` leaves one case out at a time, `bootstrap` draws cases; neither knows what
the figure means.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.statistics.confusion import ConfusionCounts

Array = NDArray[np.float64]
Values = Callable[[Array], Array]
# With so many pairs a case the rarer class is in nearly every case, and the edge needs no account of chance.
MANY_PAIRS = 10
# With fewer pairs a case the rarer class must be said by both raters: said by one of them, it may be an error.
SEVERAL_PAIRS = 2


@dataclass(frozen=True, eq=False)
class Chance:
    """What the interval of agreement beyond chance, 1 - Do/De, needs where a case has few pairs (`unit_agreement`).

    ``expected`` (slices,) is De in parts of the largest distance, 0 to 1; ``apart`` (slices,) counts the cases with a
    rating outside the most frequent category, or, where ``by_most`` (slices,), with most ratings of a unit outside it.
    ``matters`` (slices,) marks the slices whose cases have few pairs. ``minimum_cases``: there is no interval with
    fewer.
    """

    expected: Array
    apart: NDArray[np.int64]
    matters: NDArray[np.bool_]
    by_most: NDArray[np.bool_]
    minimum_cases: int = 0


@dataclass(frozen=True, eq=False)
class CaseFigures:
    """The same figure of several slices.

    ``sums`` (cases, slices, channels): what each case adds. ``values`` maps sums of shape (..., channels) to figures of
    shape (...), NaN where a figure is undefined. ``sizes`` (cases, slices): how large each case is in each slice, 0
    where it does not stand behind it; only their proportions matter. ``low`` and ``high``, numbers or (slices,), are
    the bounds between which the figure can lie. ``clip`` bounds the figure and its interval once they are computed.
    ``chance`` belongs to agreement beyond chance. ``trials``: the figure is a share of events among as many trials as
    its cases are large. ``effective`` (slices,): the number of effective cases, where ``sizes`` do not give it.
    """

    sums: NDArray[np.float64] | NDArray[np.int64]
    values: Values
    sizes: Array
    low: ArrayLike = 0.0
    high: ArrayLike = 1.0
    clip: tuple[float, float] | None = None
    chance: Chance | None = None
    trials: bool = False
    effective: Array | None = None

    def __post_init__(self) -> None:
        sums, sizes = np.asarray(self.sums), np.asarray(self.sizes, dtype=np.float64)
        if sums.ndim != 3 or sizes.shape != sums.shape[:2]:
            raise ValueError("sums need the shape (cases, slices, channels), and sizes (cases, slices)")
        if (sizes < 0).any():
            raise ValueError("a case is not smaller than nothing")
        object.__setattr__(self, "sums", sums)
        object.__setattr__(self, "sizes", sizes)

    @property
    def n_slices(self) -> int:
        return self.sums.shape[1]

    @property
    def behind(self) -> NDArray[np.bool_]:
        """(cases, slices): whether the case stands behind the slice."""
        return np.asarray(self.sizes > 0)

    @property
    def bounds(self) -> tuple[Array, Array]:
        """The lower and the upper bound of each slice, (slices,)."""
        low, high = (np.broadcast_to(np.asarray(end, dtype=np.float64), self.n_slices) for end in (self.low, self.high))
        return low, high

    def unclipped(self) -> Array:
        """The figure of each slice over all of its cases, (slices,)."""
        return self.values(np.where(self.behind[..., None], self.sums, 0).sum(axis=0))

    def whole(self) -> Array:
        """The same, clipped."""
        return self.unclipped() if self.clip is None else np.clip(self.unclipped(), *self.clip)

    def scaled(self, factor: float) -> CaseFigures:
        """The figures times ``factor``, which is above 0."""
        return replace(
            self,
            values=lambda sums: factor * self.values(sums),
            low=factor * np.asarray(self.low, dtype=np.float64),
            high=factor * np.asarray(self.high, dtype=np.float64),
            clip=None if self.clip is None else (factor * self.clip[0], factor * self.clip[1]),
        )

    def negated(self) -> CaseFigures:
        """The figures times -1, so that the lowest ranks first."""
        low, high = self.bounds
        return replace(
            self,
            values=lambda sums: -self.values(sums),
            low=-high,
            high=-low,
            clip=None if self.clip is None else (-self.clip[1], -self.clip[0]),
        )

    def of_slices(self, chosen: ArrayLike) -> CaseFigures:
        """The figures of some slices, by their numbers or by a mask."""
        where = np.asarray(chosen)
        low, high = (end[where] for end in self.bounds)
        chance = self.chance and replace(
            self.chance,
            expected=self.chance.expected[where],
            apart=self.chance.apart[where],
            matters=self.chance.matters[where],
            by_most=self.chance.by_most[where],
        )
        return replace(
            self,
            sums=self.sums[:, where],
            sizes=self.sizes[:, where],
            low=low,
            high=high,
            chance=chance,
            effective=None if self.effective is None else self.effective[where],
        )


def case_table(
    values: Callable[[ConfusionCounts], Array],
    counts: ConfusionCounts,
    *,
    sizes: ArrayLike | None = None,
    bounds: tuple[float, float] = (0.0, 1.0),
    expected: Callable[[ConfusionCounts], Array] | None = None,
) -> CaseFigures:
    """A coefficient of two raters, from their tables by case and slice, shape (cases, slices).

    ``sizes`` are the pairs by default. ``expected``, of a coefficient 1 - Do/De, gives De for each table.
    """
    return CaseFigures(
        np.moveaxis(counts.cells(), 0, -1),
        lambda sums: values(ConfusionCounts.from_cells(np.moveaxis(sums, -1, 0))),
        np.asarray(counts.n if sizes is None else sizes, dtype=np.float64),
        *bounds,
        chance=None if expected is None else _chance(counts, expected),
    )


def _chance(counts: ConfusionCounts, expected: Callable[[ConfusionCounts], Array]) -> Chance:
    pairs, cases = counts.n.sum(axis=0), (counts.n > 0).sum(axis=0)
    by_one, by_both = (
        np.minimum(*((mentions > 0).sum(axis=0) for mentions in classes))
        for classes in ((counts.met_mentions, counts.not_met_mentions), (counts.tp, counts.tn))
    )
    single = pairs < SEVERAL_PAIRS * cases
    return Chance(
        expected=expected(counts.pooled(axis=0)),
        apart=np.where(single, by_both, by_one),
        matters=pairs < MANY_PAIRS * cases,
        by_most=single,
    )


def case_ratio(
    numerator: ArrayLike,
    denominator: ArrayLike,
    *,
    scale: float = 1.0,
    bounds: tuple[ArrayLike, ArrayLike] = (0.0, 1.0),
    clip: tuple[float, float] | None = None,
    sizes: ArrayLike | None = None,
    trials: bool = False,
) -> CaseFigures:
    """scale · (sum of numerator) / (sum of denominator), both of shape (cases, slices): means and pooled shares.

    ``bounds`` are those of the ratio before it is scaled, and ``sizes`` the denominators by default. ``trials``: the
    numerator counts events among the trials of the denominator.
    """
    above, below = np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)

    def ratio(sums: Array) -> Array:
        return scale * np.divide(
            sums[..., 0], sums[..., 1], out=np.full(sums.shape[:-1], np.nan), where=sums[..., 1] > 0
        )

    low, high = (scale * np.asarray(end, dtype=np.float64) for end in bounds)
    sums = np.stack([above, below], axis=-1)
    own_sizes = sums[..., 1] if sizes is None else np.asarray(sizes, dtype=np.float64)  # a view, since there are many
    return CaseFigures(sums, ratio, own_sizes, low, high, clip, trials=trials)


def case_joint(values: Values, *parts: CaseFigures, bounds: tuple[float, float]) -> CaseFigures:
    """A figure of several figures on the same cases and slices, such as a mean of two Macro-F1.

    ``values`` maps figures of shape (..., parts) to figures of shape (...). The size of a case is the sum of its sizes
    in the parts.
    """
    ends = np.cumsum([part.sums.shape[2] for part in parts])
    starts = [0, *ends[:-1]]

    def of_all(sums: Array) -> Array:
        own = [part.values(sums[..., start:end]) for part, start, end in zip(parts, starts, ends, strict=True)]
        return values(np.stack(own, axis=-1))

    sums = np.concatenate([np.where(part.behind[..., None], part.sums, 0) for part in parts], axis=2)
    return CaseFigures(sums, of_all, np.sum([part.sizes for part in parts], axis=0), *bounds)


def case_mean(*parts: CaseFigures) -> CaseFigures:
    """The mean of figures on the same cases and slices, each of which lies between 0 and 1.

    A mean of several 1 - Do/De has their mean as its De, and rests on the rarer class of all of them.
    """
    mean = case_joint(lambda figures: figures.mean(axis=-1), *parts, bounds=(0.0, 1.0))
    chances = [part.chance for part in parts if part.chance is not None]
    if len(chances) < len(parts):
        return mean
    chance = Chance(
        expected=np.mean([chance.expected for chance in chances], axis=0),
        apart=np.min([chance.apart for chance in chances], axis=0),
        matters=np.any([chance.matters for chance in chances], axis=0),
        by_most=np.any([chance.by_most for chance in chances], axis=0),
        minimum_cases=max(chance.minimum_cases for chance in chances),
    )
    return replace(mean, chance=chance)


def sums_by_case(
    values: ArrayLike, case: ArrayLike, n_cases: int, slice_of: ArrayLike | None = None, n_slices: int = 1
) -> NDArray[np.float64]:
    """Sum of `values` for each case and slice, shape (n_cases, n_slices), from one row per response or pair."""
    cases = np.asarray(case, dtype=np.int64).ravel()
    slices = np.zeros_like(cases) if slice_of is None else np.asarray(slice_of, dtype=np.int64).ravel()
    weights = np.asarray(values, dtype=np.float64).ravel()
    summed = np.bincount(cases * n_slices + slices, weights=weights, minlength=n_cases * n_slices)
    return np.asarray(summed.reshape(n_cases, n_slices))


def sums_by_case_and_slice(
    values: ArrayLike, case: ArrayLike, n_cases: int, member: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """The same where a row may be in several slices: ``member`` (rows, slices) says in which."""
    cases, weights = np.asarray(case, dtype=np.int64).ravel(), np.asarray(values, dtype=np.float64).ravel()
    sums = np.empty((n_cases, member.shape[1]))
    for place, own in enumerate(member.T):
        sums[:, place] = np.bincount(cases[own], weights=weights[own], minlength=n_cases)
    return sums
