"""How many cases figures take, by the simulations that `docs/statistics.md` names."""

from __future__ import annotations

import math

MINIMUM_EFFECTIVE_CASES = 5  # for an interval
MINIMUM_PILOT_CASES = 10  # for the variances that a plan rests on
MINIMUM_CASES_OF_A_SIDE = 10  # for an interval of a ratio of rates, on each of its two sides
CASES_FOR_A_CLAIM = 30
CASES_FOR_RARE_EVENTS = 100  # shares near 0 or 1, sparse CACS, rare failures
# The effective number of five equal cases may differ from 5 by rounding.
ROUNDING = 1e-9


MINIMUM_RESAMPLED_CASES = 10  # for a percentile interval

_BORDERS = (MINIMUM_EFFECTIVE_CASES, MINIMUM_PILOT_CASES, CASES_FOR_A_CLAIM, CASES_FOR_RARE_EVENTS)


def rounded(cases: float) -> float:
    """An effective number of cases to one decimal; never up to a number that is asked for: 4.98 is not yet 5."""
    nearest = round(cases, 1)
    return math.floor(10 * cases) / 10 if nearest in _BORDERS and cases < nearest - ROUNDING else nearest


def in_reason(cases: float) -> str:
    """The same as reasons have it: ``4.0``."""
    return f"{rounded(cases):.1f}"


def in_words(cases: float) -> str:
    """The same as sentences have it: ``4``, ``4.9``."""
    return f"{rounded(cases):g}"
