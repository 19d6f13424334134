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
from consilium.statistics.jackknife import LEVEL, Ends, Jackknife, effective_cases, jackknife, logit_ends
from consilium.statistics.mover import changes_alike, correlations, difference_ends
from consilium.statistics.rank_ranges import paired_rank_ranges, rank_ranges
from consilium.statistics.unit_agreement import MINIMUM_APART, chance_corrected_ends

Array = NDArray[np.float64]


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
        single = np.asarray((figures.sizes <= 1).all(axis=0)) if figures.trials else None
        return self.of_jackknife(jackknife(figures), clip=figures.clip, chance=figures.chance, single=single)

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
        jacks = jackknife(first), jackknife(second)
        ends = [_ends(jack, part.chance) for jack, part in zip(jacks, (first, second), strict=True)]
        shown = [
            (_clip(jack.values, part.clip), _clip(own.low, part.clip), _clip(own.high, part.clip))
            for jack, part, own in zip(jacks, (first, second), ends, strict=True)
        ]
        without, others = (jack.deviations() for jack in jacks)
        low, high = difference_ends(shown[0], shown[1], correlations(without, others))
        alike = np.flatnonzero(changes_alike(without, others, jacks[0].high - jacks[0].low)).tolist()
        lacking: dict[int, str] = dict.fromkeys(alike, Reason.INTERVAL_CHANGES_ALIKE())
        lacking |= _lacking_in_one(*zip(jacks, (first.chance, second.chance), strict=True))
        at_edge = ends[0].at_edge | ends[1].at_edge
        return Intervals(
            *_shown(low, high, lacking),
            np.minimum(*(jack.effective for jack in jacks)),
            lambda i: lacking.get(i, ""),
            lambda i: Reason.EDGE_INTERVAL_OF_ONE() if at_edge[i] else "",
        )

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
        return self.of_replicates(self._replicates(figures), figures.behind.sum(axis=0), effective_cases(figures.sizes))

    def differences(self, first: CaseFigures, second: CaseFigures) -> Intervals:
        apart = self._replicates(first) - self._replicates(second)
        behind = np.minimum(first.behind.sum(axis=0), second.behind.sum(axis=0))
        effective = np.minimum(effective_cases(first.sizes), effective_cases(second.sizes))
        return self.of_replicates(apart, behind, effective)

    def ranks(self, candidates: CaseFigures) -> list[Figure]:
        values = [None if np.isnan(value) else float(value) for value in candidates.whole()]
        return rank_ranges(values, self._replicates(candidates), candidates.behind.sum(axis=0))

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


def _ends(jack: Jackknife, chance: Chance | None) -> Ends:
    if chance is None:
        return logit_ends(jack)
    return chance_corrected_ends(jack, np.where(chance.matters, chance.expected, 0.0))


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


def _lacking_in_one(*figures: tuple[Jackknife, Chance | None]) -> dict[int, str]:
    """The same of figures that are compared: what the figure with the fewest effective cases lacks, if any of them."""
    reasons: dict[int, tuple[float, str]] = {}
    for jack, chance in figures:
        for i, reason in _lacking(jack, chance).items():
            reasons[i] = min(reasons.get(i, (np.inf, "")), (float(jack.effective[i]), reason), key=lambda pair: pair[0])
    return {i: reason for i, (_effective, reason) in reasons.items()}
