"""The interval rules that a report can be computed with, and how a figure gets its interval.

A caller says what its figures are (`CaseFigures`) and hands on a rule. `CaseJackknife` is the rule of every page and
file: leave one case out at a time, on the logit scale (`jackknife`), and differences from the two intervals (`mover`).
`PercentileBootstrap` draws cases (`bootstrap`); its intervals are too short with few cases, and it is there for whoever
must reproduce a figure that was published with it.

The jackknife gives an interval from 5 effective cases on: below that nothing is known of its coverage. An interval is
not yet a ground for a claim; `docs/statistics.md` says how many cases that takes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.core.reasons import Reason
from consilium.statistics.bootstrap import MINIMUM_CASES, RESAMPLES, CaseBootstrap, percentile_intervals, replicates
from consilium.statistics.case_figures import CaseFigures, Chance
from consilium.statistics.case_numbers import MINIMUM_EFFECTIVE_CASES, ROUNDING, in_reason
from consilium.statistics.estimate import Estimate, Figure, Undefined, with_interval, with_note
from consilium.statistics.jackknife import LEVEL, Ends, Jackknife, effective_cases_of, jackknife, logit_ends
from consilium.statistics.mover import changes_alike, correlations, difference_ends
from consilium.statistics.rank_ranges import paired_rank_ranges, rank_ranges
from consilium.statistics.unit_agreement import MINIMUM_APART, chance_corrected_ends

Array = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Intervals:
    """Intervals of several figures, in their order.

    ``low`` and ``high`` are NaN where a figure has none; ``reason(i)`` then says why. ``effective`` is the number of
    effective cases behind each. ``note(i)`` is what a reader must know of the i-th interval, or empty.
    """

    low: Array
    high: Array
    effective: Array
    reason: Callable[[int], str]
    note: Callable[[int], str]

    def without(self, hidden: NDArray[np.bool_], why: Callable[[int], str]) -> Intervals:
        """The same, with none where ``hidden``; a reason that was there before stays."""
        low, high = (np.where(hidden, np.nan, end) for end in (self.low, self.high))
        gone = hidden & ~np.isnan(self.low)
        return replace(self, low=low, high=high, reason=lambda i: why(i) if gone[i] else self.reason(i))

    def attach(self, estimates: Sequence[Figure]) -> list[Figure]:
        """The figures with their intervals; a figure without an interval has the reason in its note."""
        lows, highs, effective = (ends.tolist() for ends in (self.low, self.high, self.effective))
        attached: list[Figure] = []
        for i, figure in enumerate(estimates):
            if isinstance(figure, Undefined):
                attached.append(figure)
                continue
            counted = replace(figure, effective=effective[i])
            if lows[i] != lows[i]:
                attached.append(with_note(counted, self.reason(i)))
                continue
            noted = with_note(counted, self.note(i))
            assert isinstance(noted, Estimate)
            attached.append(with_interval(noted, lows[i], highs[i]))
        return attached


class IntervalRule(Protocol):
    """How intervals are made from sums over cases. ``key`` names the rule in parameters, files and commands."""

    @property
    def key(self) -> str: ...

    @property
    def in_words(self) -> str:
        """The rule as a line on a terminal."""

    def intervals(self, figures: CaseFigures) -> Intervals:
        """Of the figure of each slice."""

    def differences(self, first: CaseFigures, second: CaseFigures) -> Intervals:
        """Of the first figure less the second, slice by slice; row i of both is the same case."""

    def compared(self, figures: CaseFigures, first: Places, second: Places) -> tuple[Intervals, Intervals]:
        """Of the figure of each slice, and of the differences between slices: ``first`` less ``second``, by number."""

    def p_above(self, first: CaseFigures, second: CaseFigures, limit: float) -> Array:
        """One-sided p-values that the first figure less the second is above ``limit``, (slices,); row i of both is the
        same case. NaN where the difference has no interval.
        """

    def ranks(self, candidates: CaseFigures) -> list[Figure]:
        """The rank of each candidate, with its range; a slice of ``candidates`` is a candidate."""


@dataclass(frozen=True)
class CaseJackknife:
    """One case left out at a time, on the logit scale."""

    key: str = field(default="jackknife", init=False)

    @property
    def in_words(self) -> str:
        return f"{LEVEL:.0%}, jackknife over cases; from {MINIMUM_EFFECTIVE_CASES} effective cases on"

    def intervals(self, figures: CaseFigures) -> Intervals:
        return self._intervals(figures, jackknife(figures))

    def _intervals(self, figures: CaseFigures, jack: Jackknife) -> Intervals:
        single = np.asarray((figures.sizes <= 1).all(axis=0)) if figures.trials else None
        return self.of_jackknife(jack, clip=figures.clip, chance=figures.chance, single=single)

    def of_jackknife(
        self,
        jack: Jackknife,
        *,
        clip: tuple[float, float] | None = None,
        chance: Chance | None = None,
        n_cases: ArrayLike | None = None,
        single: NDArray[np.bool_] | None = None,
    ) -> Intervals:
        """Of figures that are known without each case, such as rank correlations, which are no function of sums.

        ``n_cases`` and ``single`` as in `logit_ends`.
        """
        ends = logit_ends(jack, n_cases=n_cases, single=single) if chance is None else _ends(jack, chance)
        low, high = (_clip(end, clip) for end in (ends.low, ends.high))
        clipped = (low != ends.low) | (high != ends.high)
        lacking = _lacking(jack, chance)

        def note(i: int) -> str:
            if clipped[i]:
                return Reason.CLIPPED_INTERVAL(low=f"{ends.low[i]:.6g}", high=f"{ends.high[i]:.6g}")
            if ends.alike[i]:
                return Reason.ALIKE_INTERVAL()
            return Reason.EDGE_INTERVAL() if ends.at_edge[i] else ""

        return Intervals(*_shown(low, high, lacking), jack.effective, lambda i: lacking.get(i, ""), note)

    def differences(self, first: CaseFigures, second: CaseFigures) -> Intervals:
        return _differences(*(_Sides.of(figures, jackknife(figures)) for figures in (first, second)))

    def compared(self, figures: CaseFigures, first: Places, second: Places) -> tuple[Intervals, Intervals]:
        jack = jackknife(figures)
        sides = _Sides.of(figures, jack)
        return self._intervals(figures, jack), _differences(sides.chosen(first), sides.chosen(second))

    def p_above(self, first: CaseFigures, second: CaseFigures, limit: float) -> Array:
        own, other = _EndsAtLevels(first), _EndsAtLevels(second)
        r = correlations(own.jack.deviations(), other.jack.deviations())
        apart = own.value - other.value

        def above(tail: Array) -> NDArray[np.bool_]:
            return difference_ends(own.shown(tail), other.shown(tail), r)[0] > limit

        def below(tail: Array) -> NDArray[np.bool_]:
            return difference_ends(own.shown(tail), other.shown(tail), r)[1] < limit

        p = np.where(apart > limit, least_tails(above, apart.size), 1 - least_tails(below, apart.size))
        return np.where(np.isnan(self.differences(first, second).low), np.nan, np.where(apart == limit, 0.5, p))

    def ranks(self, candidates: CaseFigures) -> list[Figure]:
        return paired_rank_ranges(candidates)

    def standard_errors(self, figures: CaseFigures) -> tuple[Array, Array]:
        """Of the figure of each slice, on its own scale, with the effective cases behind it; both (slices,)."""
        jack = jackknife(figures)
        return jack.standard_error(), jack.effective


@dataclass(frozen=True)
class PercentileBootstrap:
    """Percentile intervals over resamples of cases; figures on the same cases share their resamples."""

    seed: int
    resamples: int = RESAMPLES
    key: str = field(default="percentile", init=False)
    _drawn: dict[int, CaseBootstrap] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def in_words(self) -> str:
        return (
            f"{LEVEL:.0%}, percentile bootstrap over cases, {self.resamples} resamples, seed {self.seed}; "
            f"from {MINIMUM_CASES} cases on, where not all resamples agree"
        )

    def intervals(self, figures: CaseFigures) -> Intervals:
        return self.of_replicates(self._replicates(figures), figures.behind.sum(axis=0), effective_cases_of(figures))

    def differences(self, first: CaseFigures, second: CaseFigures) -> Intervals:
        apart = self._replicates(first) - self._replicates(second)
        behind = np.minimum(first.behind.sum(axis=0), second.behind.sum(axis=0))
        effective = np.minimum(effective_cases_of(first), effective_cases_of(second))
        return self.of_replicates(apart, behind, effective)

    def compared(self, figures: CaseFigures, first: Places, second: Places) -> tuple[Intervals, Intervals]:
        drawn, behind, effective = self._replicates(figures), figures.behind.sum(axis=0), effective_cases_of(figures)
        apart = drawn[first] - drawn[second]
        fewest = np.minimum(behind[first], behind[second]), np.minimum(effective[first], effective[second])
        return self.of_replicates(drawn, behind, effective), self.of_replicates(apart, *fewest)

    def p_above(self, first: CaseFigures, second: CaseFigures, limit: float) -> Array:
        apart = self._replicates(first) - self._replicates(second)
        kept = (~np.isnan(apart)).sum(axis=1)
        p = (1 + (apart <= limit).sum(axis=1)) / (1 + kept)
        return np.where(np.isnan(self.differences(first, second).low), np.nan, p)

    def ranks(self, candidates: CaseFigures) -> list[Figure]:
        values = [None if np.isnan(value) else float(value) for value in candidates.whole()]
        behind = candidates.behind.astype(np.int64)
        return rank_ranges(values, self._replicates(candidates), behind.sum(axis=0), behind.T @ behind)

    def _replicates(self, figures: CaseFigures) -> Array:
        n_cases = len(figures.sums)
        bootstrap = self._drawn.setdefault(n_cases, CaseBootstrap(n_cases, self.seed, self.resamples))
        return replicates(figures, bootstrap)

    def of_replicates(self, drawn: Array, behind: NDArray[np.int64], effective: Array) -> Intervals:
        """From figures in each resample, (slices, resamples); ``behind`` and ``effective`` are cases, (slices,)."""
        percentiles = percentile_intervals(drawn, behind)

        def reason(i: int) -> str:
            ends = percentiles.interval(i)
            return ends.reason if isinstance(ends, Undefined) else ""

        def note(i: int) -> str:
            return Reason.RESAMPLES_LEFT_OUT.counted(self.resamples - int(percentiles.kept[i]))

        return Intervals(percentiles.low, percentiles.high, effective, reason, note)


DEFAULT_RULE = CaseJackknife()
RULES = (CaseJackknife.key, PercentileBootstrap.key)


def interval_rule(key: str, *, seed: int, resamples: int = RESAMPLES) -> IntervalRule:
    """The rule called ``key``, one of `RULES`; ValueError on any other. Only resamples need the seed."""
    if key not in RULES:
        raise ValueError(f"there is no interval rule {key!r}: {', '.join(RULES)}")
    return CaseJackknife() if key == CaseJackknife.key else PercentileBootstrap(seed, resamples)


@dataclass(frozen=True, eq=False)
class _Sides:
    """Figures of several slices as one side of differences.

    ``shown`` are the figures with the ends of their intervals, clipped; ``deviations`` and ``effective`` are those of
    the jackknife, ``ranges`` the lengths between the bounds. ``lacking``: why a slice has no interval.
    """

    shown: tuple[Array, Array, Array]
    deviations: Array
    effective: Array
    ranges: Array
    at_edge: NDArray[np.bool_]
    lacking: dict[int, str]

    @classmethod
    def of(cls, figures: CaseFigures, jack: Jackknife) -> _Sides:
        ends = _ends(jack, figures.chance)
        value, low, high = (_clip(own, figures.clip) for own in (jack.values, ends.low, ends.high))
        lacking = _lacking(jack, figures.chance)
        return cls((value, low, high), jack.deviations(), jack.effective, jack.high - jack.low, ends.at_edge, lacking)

    def chosen(self, places: Places) -> _Sides:
        """The slices at ``places``, which may repeat."""
        value, low, high = (own[places] for own in self.shown)
        return _Sides(
            (value, low, high),
            np.take(self.deviations, places, axis=1),
            self.effective[places],
            self.ranges[places],
            self.at_edge[places],
            {i: self.lacking[place] for i, place in enumerate(places.tolist()) if place in self.lacking},
        )


def _differences(first: _Sides, second: _Sides) -> Intervals:
    """The intervals of the first figures less the second."""
    low, high = difference_ends(first.shown, second.shown, correlations(first.deviations, second.deviations))
    alike = np.flatnonzero(changes_alike(first.deviations, second.deviations, first.ranges)).tolist()
    lacking: dict[int, str] = dict.fromkeys(alike, Reason.INTERVAL_CHANGES_ALIKE())
    lacking |= _lacking_in_one(first, second)
    at_edge = first.at_edge | second.at_edge
    return Intervals(
        *_shown(low, high, lacking),
        np.minimum(first.effective, second.effective),
        lambda i: lacking.get(i, ""),
        lambda i: Reason.EDGE_INTERVAL_OF_ONE() if at_edge[i] else "",
    )


class _EndsAtLevels:
    """Figures, with the ends of their intervals at any level."""

    def __init__(self, figures: CaseFigures) -> None:
        self._figures = figures
        self.jack = jackknife(figures)
        self.value = _clip(self.jack.values, figures.clip)

    def shown(self, tail: Array) -> tuple[Array, Array, Array]:
        """The figures and their ends, clipped, each outside with ``tail`` on either side, (slices,)."""
        ends = _ends(self.jack, self._figures.chance, 1 - 2 * tail)
        low, high = (_clip(end, self._figures.clip) for end in (ends.low, ends.high))
        return self.value, low, high


HALVINGS, BISECTIONS = 40, 40


def least_tails(holds: Callable[[Array], NDArray[np.bool_]], size: int) -> Array:
    """The least tail of each slice down to which a condition on its interval holds at every tail from 0.5 down.

    ``holds`` takes tails (slices,) and says for each slice whether the interval with this tail on either side meets the
    condition. Tails are halved until it fails, then bisected. Where it never fails the tail is 2^-41.
    """
    good = np.full(size, 0.5)
    bad = np.zeros(size)
    searching = np.ones(size, dtype=bool)
    for _ in range(HALVINGS):
        tail = good / 2
        met = holds(np.where(searching, tail, 0.5))
        bad[searching & ~met] = tail[searching & ~met]
        searching &= met
        good[searching] = tail[searching]
        if not searching.any():
            break
    for _ in range(BISECTIONS):
        middle = np.where(searching, good, (good + bad) / 2)
        met = holds(middle)
        good, bad = np.where(met, middle, good), np.where(met, bad, middle)
    return good


def _ends(jack: Jackknife, chance: Chance | None, level: ArrayLike = LEVEL) -> Ends:
    if chance is None:
        return logit_ends(jack, level)
    return chance_corrected_ends(jack, np.where(chance.matters, chance.expected, 0.0), level)


def _clip(values: Array, clip: tuple[float, float] | None) -> Array:
    return values if clip is None else np.clip(values, *clip)


def _shown(low: Array, high: Array, lacking: Collection[int]) -> tuple[Array, Array]:
    """The ends, NaN in the slices that lack something and where one end is NaN."""
    hidden = np.isnan(low) | np.isnan(high)
    hidden[list(lacking)] = True
    return np.where(hidden, np.nan, low), np.where(hidden, np.nan, high)


def lacks_cases(effective: float) -> str:
    """Why a figure has no interval by leaving out cases: that so many effective cases are too few."""
    return Reason.INTERVAL_EFFECTIVE_CASES(cases=in_reason(effective), needed=MINIMUM_EFFECTIVE_CASES)


def _lacking(jack: Jackknife, chance: Chance | None) -> dict[int, str]:
    """The slices that rest on too little for an interval, and what they lack."""
    reasons: dict[int, str] = {}
    for i in np.flatnonzero(jack.effective < MINIMUM_EFFECTIVE_CASES - ROUNDING).tolist():
        reasons[i] = lacks_cases(float(jack.effective[i]))
    if chance is None:
        return reasons
    cases_behind = jack.behind.sum(axis=0)
    for i in np.flatnonzero(chance.matters).tolist():
        if cases_behind[i] < chance.minimum_cases:
            reasons[i] = Reason.INTERVAL_CASES(cases=int(cases_behind[i]), needed=chance.minimum_cases)
        elif chance.apart[i] < MINIMUM_APART:
            apart = Reason.INTERVAL_CASES_MOSTLY_APART if chance.by_most[i] else Reason.INTERVAL_CASES_APART
            reasons.setdefault(i, apart(cases=int(chance.apart[i]), needed=MINIMUM_APART))
    return reasons


def _lacking_in_one(*sides: _Sides) -> dict[int, str]:
    """The same of figures that are compared: what the figure with the fewest effective cases lacks, if any of them."""
    reasons: dict[int, tuple[float, str]] = {}
    for side in sides:
        for i, reason in side.lacking.items():
            reasons[i] = min(reasons.get(i, (np.inf, "")), (float(side.effective[i]), reason), key=lambda pair: pair[0])
    return {i: reason for i, (_effective, reason) in reasons.items()}
