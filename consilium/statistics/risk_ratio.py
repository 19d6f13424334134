"""How much more frequent an event is in one group of units than in another: risk ratio and odds ratio, over cases.

    risk ratio = p1 / p0,    odds ratio = [p1 / (1 − p1)] / [p0 / (1 − p0)]    with the shares p1 and p0 of the event

Both are positive, and are x / (1 − x) of the share x = p1 / (p1 + p0), or of the same share of the odds, which lies
between 0 and 1: its logit is the logarithm of the ratio. So its interval on the logit scale is that of the ratio on the
scale of logarithms, where intervals of ratios are made (Katz et al. 1978; Woolf 1955), over cases.

The ratio is known no better than the rate of the group with fewer cases, so its effective cases are the smaller of both
numbers. Counted together, they gave intervals that held 62-79% with 2 to 5 cases on one side. There is none below 10 on
a side, none where the event is in all units of a side, and none by the number of cases alone, where leaving out a case
makes the ratio 0 or infinite.

Undefined: one of the groups is empty; the event is in no unit of one of them (the ratio is 0 or infinite, and has no
interval on this scale), or, of odds, in all units of one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.core.reasons import Reason
from consilium.statistics.case_figures import CaseFigures
from consilium.statistics.case_numbers import MINIMUM_CASES_OF_A_SIDE, ROUNDING, in_reason
from consilium.statistics.estimate import Estimate, Figure, Undefined, with_note
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.jackknife import effective_cases, jackknife, logit_ends

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Ratios:
    """Both ratios of one event; n is the number of units of both groups."""

    risk: Figure
    odds: Figure


def ratio_figures_of_groups(
    events: ArrayLike, units: ArrayLike, events_rest: ArrayLike, units_rest: ArrayLike, *, rule: IntervalRule
) -> list[Ratios]:
    """The ratios of several events (slices): numbers by case, each of shape (cases, slices)."""
    sums = np.stack([np.asarray(each, dtype=np.float64) for each in (events, units, events_rest, units_rest)], axis=-1)
    risks, odds = (_figures(sums, share, rule) for share in (_risk_share, _odds_share))
    return [Ratios(*both) for both in zip(risks, odds, strict=True)]


def _figures(sums: Array, share: Callable[[Array], Array], rule: IntervalRule) -> list[Figure]:
    whole = sums.sum(axis=0)
    values = share(whole)
    n = (whole[:, 1] + whole[:, 3]).astype(int)
    estimates: list[Figure] = [
        Undefined(_reason(whole[i]), int(n[i])) if not 0 < values[i] < 1 else Estimate(float(values[i]), int(n[i]))
        for i in range(len(values))
    ]
    if not estimates:
        return []
    effective = np.minimum(*(effective_cases(sums[..., side]) for side in (1, 3)))
    figures = CaseFigures(sums, share, sums[..., 1] + sums[..., 3], effective=effective)
    lacking = _lacking(figures, effective)
    intervals = rule.intervals(figures)
    low, high = (end.copy() for end in (intervals.low, intervals.high))
    for end in (low, high):
        end[list(lacking)] = np.nan
    shown = replace(intervals, low=low, high=high, reason=lambda i: lacking.get(i) or intervals.reason(i))
    return [_as_ratio(figure) for figure in shown.attach(estimates)]


def _lacking(figures: CaseFigures, effective: Array) -> dict[int, str]:
    """The slices that have no interval, and why."""
    ends = logit_ends(jackknife(figures))
    whole = (np.stack(_rates(figures.sums.sum(axis=0))) == 1).any(axis=0)
    reasons: dict[int, str] = {}
    for i in range(figures.n_slices):
        if effective[i] < MINIMUM_CASES_OF_A_SIDE - ROUNDING:
            cases = in_reason(float(effective[i]))
            reasons[i] = Reason.INTERVAL_CASES_OF_A_SIDE(cases=cases, needed=MINIMUM_CASES_OF_A_SIDE)
        elif whole[i]:
            reasons[i] = Reason.INTERVAL_RATE_WHOLE()
        elif ends.at_edge[i]:
            reasons[i] = Reason.INTERVAL_RATIO_ALIKE() if ends.alike[i] else Reason.INTERVAL_RATIO_AT_EDGE()
    return reasons


def _as_ratio(figure: Figure) -> Figure:
    if isinstance(figure, Undefined):
        return figure
    ratio = replace(figure, value=figure.value / (1 - figure.value), low=None, high=None)
    if figure.low is None or figure.high is None:
        return ratio
    if figure.high >= 1:  # infinity is no number that a table can hold
        return with_note(ratio, Reason.INTERVAL_INFINITE_END())
    return replace(ratio, low=figure.low / (1 - figure.low), high=figure.high / (1 - figure.high))


def _reason(sums: Array) -> str:
    events, units, events_rest, units_rest = sums
    if not units or not units_rest:
        return Reason.NOTHING_COUNTED()
    return Reason.RATIO_WITHOUT_EVENT() if not events or not events_rest else Reason.RATIO_ALL_EVENTS()


def _share(first: Array, second: Array) -> Array:
    both = first + second
    return np.divide(first, both, out=np.full(both.shape, np.nan), where=both > 0)


def _rates(sums: Array) -> tuple[Array, Array]:
    first, second = (
        np.divide(sums[..., at], sums[..., at + 1], out=np.full(sums.shape[:-1], np.nan), where=sums[..., at + 1] > 0)
        for at in (0, 2)
    )
    return first, second


def _risk_share(sums: Array) -> Array:
    return _share(*_rates(sums))


def _odds_share(sums: Array) -> Array:
    """o1 / (o1 + o0), in the form a·d / (a·d + b·c) of the fourfold table, so that no odds is infinite."""
    a, c = sums[..., 0], sums[..., 2]
    b, d = sums[..., 1] - a, sums[..., 3] - c
    return _share(a * d, b * c)
