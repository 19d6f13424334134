"""How many cases physicians must grade for a half-width h, with a judge on all cases and without.

With N judged cases of which physicians grade n, v the variance of the physicians' scores between cases and e that of
what the judge leaves of them (y − λ·f), both from a pilot (`prediction_powered.Powered`):

    half-width with the judge     t(0.975, n* − 1) · √(v/N + (1/n − 1/N)·e)
    half-width without            t(0.975, n* − 1) · √(v/n)

with n* = G*/m · n effective cases, where G* of the m labelled cases of the pilot are effective: the planned cases are
as unequal as the pilot's. The least n whose half-width is at most h, found by trying, since t depends on n; whole
cases, at least 5 effective ones (below that no interval is given). At n = N the judge is idle and both are the same:
what labels of all N cases give. A smaller h is out of reach with any number of labels and undefined; the reason says
how many cases it takes, all of them labelled. λ does not depend on n. The pilot's variances are taken as they are, and
are themselves uncertain: those of a pilot of 10 effective cases, the least, may be off by a factor of two. Intervals
are made on the logit scale; the half-width here is theirs on the scale of the score, so that near 0 and 1 it is a rough
one.

Source: the variance of PPI++ (Angelopoulos, Duchi and Zrnic 2023) for a random sample of n of N.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.core.reasons import Reason
from consilium.statistics.case_numbers import MINIMUM_EFFECTIVE_CASES, MINIMUM_PILOT_CASES, ROUNDING, in_reason
from consilium.statistics.estimate import Estimate, Figure, Undefined
from consilium.statistics.jackknife import LEVEL


@dataclass(frozen=True)
class Pilot:
    """What a plan needs of a pilot: variances per case, and how many cases stand behind them and are judged.

    ``effective_share`` is the effective number of labelled cases over their number, 1 where all are equally large.
    """

    label_variance: float
    residual_variance: float
    n_labelled_cases: int
    n_cases: int
    effective_share: float = 1.0

    def __post_init__(self) -> None:
        if min(self.label_variance, self.residual_variance) < 0 or not 1 <= self.n_labelled_cases <= self.n_cases:
            raise ValueError("variances are not negative, and no more cases are labelled than judged")
        if not 0 < self.effective_share <= 1 + ROUNDING:
            raise ValueError("no more cases are effective than there are")


def half_widths(pilot: Pilot, n: ArrayLike, *, with_judge: bool) -> NDArray[np.float64]:
    """Half-width of the 95% interval with ``n`` labelled cases each (3 to ``pilot.n_cases``)."""
    from scipy.special import stdtrit

    cases = np.asarray(n, dtype=np.float64)
    if cases.size and (cases.min() < 3 or cases.max() > pilot.n_cases):
        raise ValueError(f"a plan is for 3 to {pilot.n_cases} cases")
    if with_judge:
        all_cases = pilot.n_cases
        variance = pilot.label_variance / all_cases + (1 / cases - 1 / all_cases) * pilot.residual_variance
    else:
        variance = pilot.label_variance / cases
    free = np.maximum(pilot.effective_share * cases - 1, 1)
    return np.asarray(stdtrit(free, (1 + LEVEL) / 2) * np.sqrt(variance))


def cases_needed(pilot: Pilot, half_width: float, *, with_judge: bool) -> Figure:
    """The number of cases to label for an interval of at most ± ``half_width``; n is that of the pilot's cases."""
    if not half_width > 0:
        raise ValueError("a half-width is above 0")
    behind = pilot.n_labelled_cases
    effective = pilot.effective_share * behind
    if effective < MINIMUM_PILOT_CASES - ROUNDING:
        return Undefined(Reason.PLAN_LABELLED_CASES(n=in_reason(effective), needed=MINIMUM_PILOT_CASES), behind)
    if pilot.label_variance == 0:
        return Undefined(Reason.PLAN_LABELLED_CASES_ALIKE(), behind)
    tried = np.arange(least_cases(pilot), pilot.n_cases + 1)
    reached = np.flatnonzero(half_widths(pilot, tried, with_judge=with_judge) <= half_width)
    if not len(reached):
        best = float(half_widths(pilot, [pilot.n_cases], with_judge=False)[0])
        more = _cases_in_all(pilot, half_width)
        return Undefined(Reason.PLAN_OUT_OF_REACH(n=pilot.n_cases, width=f"{best:.4g}", more=more), behind)
    return Estimate(float(tried[reached[0]]), behind)


def least_cases(pilot: Pilot) -> int:
    """The least number of cases for an interval: those that are 5 effective ones."""
    return math.ceil(MINIMUM_EFFECTIVE_CASES / pilot.effective_share - ROUNDING)


def _cases_in_all(pilot: Pilot, half_width: float) -> int:
    """The least number of cases that, all labelled, reach the half-width."""
    from scipy.special import ndtri, stdtrit

    share, variance = (1 + LEVEL) / 2, pilot.label_variance
    n = max(least_cases(pilot), math.ceil(float(ndtri(share)) ** 2 * variance / half_width**2))
    while float(stdtrit(pilot.effective_share * n - 1, share)) * math.sqrt(variance / n) > half_width:
        n += 1
    return n
