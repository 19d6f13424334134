"""The smallest difference that a planned number of cases will show, with power 0.8 at a two-sided level of 0.05.

Of two means on the same cases, from a pilot's standard deviation s of the paired differences: the δ at which the paired
t test of n cases rejects with the given power,

    P(|T| > t(0.975, n − 1)) = 0.8,     T noncentral t with n − 1 degrees of freedom, noncentrality δ·√n / s

(Cohen 1988, chapter 2). Of two figures that are no means, as MF1: from the jackknife standard error of their difference
over the G cases of the pilot, which shrinks with the root of their number. δᵢ is what the difference would be without
case i, less the mean of these:

    SE = √((G − 1)/G · Σ δᵢ²)            in place of s / √n:  SE · √(G / n)

with G*/G · n − 1 degrees of freedom, where G* is the pilot's effective number of cases (`jackknife`). The planned cases
are then as unequal as the pilot's. Of a mean of equal cases both are the same.

Undefined: a pilot of fewer than 10 (effective) cases, whose standard deviation may be off by a factor of two; fewer
than 5 (effective) cases planned, as there is no interval then; differences that are all alike.
"""

from __future__ import annotations

import math

from consilium.core.reasons import Reason
from consilium.statistics.case_numbers import MINIMUM_EFFECTIVE_CASES, MINIMUM_PILOT_CASES, ROUNDING, in_reason
from consilium.statistics.estimate import Estimate, Figure, Undefined

POWER = 0.8
ALPHA = 0.05


def detectable_mean_difference(
    standard_deviation: float, n_pilot: int, n_planned: int, *, power: float = POWER, alpha: float = ALPHA
) -> Figure:
    """δ in the units of ``standard_deviation``, that of ``n_pilot`` paired differences; n is ``n_pilot``."""
    refused = _refused(standard_deviation, n_pilot, n_planned, effective=1.0)
    if refused:
        return refused
    return Estimate(_noncentrality(n_planned - 1, power, alpha) * standard_deviation / math.sqrt(n_planned), n_pilot)


def detectable_from_standard_error(
    standard_error: float,
    n_pilot: int,
    n_planned: int,
    *,
    effective: float,
    power: float = POWER,
    alpha: float = ALPHA,
) -> Figure:
    """δ from the jackknife standard error of a difference over ``n_pilot`` cases, ``effective`` of them; n is
    ``n_pilot``.
    """
    share = effective / n_pilot if n_pilot else 1.0
    refused = _refused(standard_error, n_pilot, n_planned, effective=share)
    if refused:
        return refused
    reach = _noncentrality(share * n_planned - 1, power, alpha)
    return Estimate(reach * standard_error * math.sqrt(n_pilot / n_planned), n_pilot)


def _refused(spread: float, n_pilot: int, n_planned: int, *, effective: float) -> Undefined | None:
    """``effective`` is the share of effective cases among the cases."""
    if spread < 0 or not math.isfinite(spread):
        raise ValueError("a standard deviation is not negative")
    if effective * n_pilot < MINIMUM_PILOT_CASES - ROUNDING:
        cases = in_reason(effective * n_pilot)
        return Undefined(Reason.PLAN_CASES_OF_BOTH(n=cases, needed=MINIMUM_PILOT_CASES), n_pilot)
    if effective * n_planned < MINIMUM_EFFECTIVE_CASES - ROUNDING:
        cases = in_reason(effective * n_planned)
        return Undefined(Reason.PLAN_CASES(n=cases, needed=MINIMUM_EFFECTIVE_CASES), n_pilot)
    if spread == 0:
        return Undefined(Reason.PLAN_DIFFERENCES_ALIKE(), n_pilot)
    return None


def _noncentrality(degrees: float, power: float, alpha: float) -> float:
    """By halving: the power grows with the noncentrality."""
    from scipy.special import nctdtr, stdtrit

    border = float(stdtrit(degrees, 1 - alpha / 2))
    low, high = 0.0, 20.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        reached = 1 - nctdtr(degrees, middle, border) + nctdtr(degrees, middle, -border)
        low, high = (middle, high) if reached < power else (low, middle)
    return high
