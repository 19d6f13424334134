"""The smallest difference that a planned number of cases will show, with power 0.8 at a two-sided level of 0.05.

Of two means on the same cases, from a pilot's standard deviation s of the paired differences: the δ at which the paired
t test of n cases rejects with the given power,

    P(|T| > t(0.975, n − 1)) = 0.8,     T noncentral t with n − 1 degrees of freedom, noncentrality δ·√n / s

(Cohen 1988, chapter 2). Of two figures that are no means, as MF1: from the bootstrap standard error of their difference
over the pilot's cases, which shrinks with the root of their number,

    δ = (z(0.975) + z(0.8)) · SE · √(pilot's cases / planned cases)

Undefined: fewer than 10 cases in the pilot or planned; differences that are all alike.
"""

from __future__ import annotations

import math

from consilium.core.reasons import Reason
from consilium.statistics.bootstrap import MINIMUM_CASES
from consilium.statistics.estimate import Estimate, Figure, Undefined

POWER = 0.8
ALPHA = 0.05


def detectable_mean_difference(
    standard_deviation: float, n_pilot: int, n_planned: int, *, power: float = POWER, alpha: float = ALPHA
) -> Figure:
    """δ in the units of ``standard_deviation``, that of ``n_pilot`` paired differences; n is ``n_pilot``."""
    refused = _refused(standard_deviation, n_pilot, n_planned)
    if refused:
        return refused
    return Estimate(_noncentrality(n_planned - 1, power, alpha) * standard_deviation / math.sqrt(n_planned), n_pilot)


def detectable_from_standard_error(
    standard_error: float, n_pilot: int, n_planned: int, *, power: float = POWER, alpha: float = ALPHA
) -> Figure:
    """δ from the standard error of a difference over ``n_pilot`` cases; n is ``n_pilot``."""
    from scipy.special import ndtri

    refused = _refused(standard_error, n_pilot, n_planned)
    if refused:
        return refused
    reach = float(ndtri(1 - alpha / 2) + ndtri(power))
    return Estimate(reach * standard_error * math.sqrt(n_pilot / n_planned), n_pilot)


def _refused(spread: float, n_pilot: int, n_planned: int) -> Undefined | None:
    if spread < 0 or not math.isfinite(spread):
        raise ValueError("a standard deviation is not negative")
    if n_pilot < MINIMUM_CASES:
        return Undefined(Reason.PLAN_CASES_OF_BOTH(n=n_pilot, needed=MINIMUM_CASES), n_pilot)
    if n_planned < MINIMUM_CASES:
        return Undefined(Reason.PLAN_CASES(n=n_planned, needed=MINIMUM_CASES), n_pilot)
    if spread == 0:
        return Undefined(Reason.PLAN_DIFFERENCES_ALIKE(), n_pilot)
    return None


def _noncentrality(degrees: int, power: float, alpha: float) -> float:
    """By halving: the power grows with the noncentrality."""
    from scipy.special import nctdtr, stdtrit

    border = float(stdtrit(degrees, 1 - alpha / 2))
    low, high = 0.0, 20.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        reached = 1 - nctdtr(degrees, middle, border) + nctdtr(degrees, middle, -border)
        low, high = (middle, high) if reached < power else (low, middle)
    return high
