"""How many cases figures take, by the simulations that `docs/statistics.md` names."""

from __future__ import annotations

import math

MINIMUM_EFFECTIVE_CASES = 5  # for an interval
MINIMUM_PILOT_CASES = 10  # for the variances that a plan rests on
CASES_FOR_A_CLAIM = 30
CASES_FOR_RARE_EVENTS = 100  # shares near 0 or 1, sparse CACS, rare failures
# The effective number of five equal cases may differ from 5 by rounding.
ROUNDING = 1e-9


def rounded_down(cases: float) -> str:
    """An effective number of cases for a reason, to one decimal and never up: 4.98 is not yet 5."""
    return f"{math.floor(10 * cases + ROUNDING) / 10:.1f}"
