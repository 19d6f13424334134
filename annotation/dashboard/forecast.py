"""Forecasts when a batch will be complete, from the recent rate. Uses no Django model.

A working day is Monday to Friday; what is handed in at a weekend counts with the Monday after it. So no work is lost,
and days on which nobody is asked to work do not lower the rate. Today is left out: it is not over.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from statistics import median, quantiles

from consilium.core.reasons import Reason
from consilium.statistics.estimate import Undefined

WORKING_DAYS = 7
MIN_DAYS = 3
MAX_DAYS = 1000  # working days; a later end is shown as "not in sight" instead of a date
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Forecast:
    """Pieces a working day (median, 10th and 90th percentile of ``days`` days) and the dates that follow.

    The early and late dates assume the 90th and the 10th percentile on every day from now on. ``late`` is None where
    the work would never end at that rate.
    """

    left: int
    days: int
    rate: float
    slow: float
    fast: float
    early: date
    expected: date
    late: date | None

    def holds(self, due: date) -> str:
        """Whether ``due`` holds: ``yes``, ``likely``, ``unlikely`` or ``no``."""
        if self.late is not None and self.late <= due:
            return "yes"
        if self.expected <= due:
            return "likely"
        return "unlikely" if self.early <= due else "no"


def is_working_day(day: date) -> bool:
    """Monday to Friday."""
    return day.weekday() < 5


def after(day: date, working_days: int) -> date:
    """The date so many working days after ``day``."""
    weeks, rest = divmod(working_days, 5)
    end = day
    while not is_working_day(end):  # count from the Friday before, so that the first step is a Monday
        end -= DAY
    end += timedelta(weeks=weeks)
    while rest:
        end += DAY
        rest -= is_working_day(end)
    return end


def daily_rates(handed_in: Mapping[date, int], *, first: date, today: date) -> list[int]:
    """Pieces on each of the last working days before ``today``, the latest last; none before that of ``first``."""
    folded: dict[date, int] = {}
    for day, number in handed_in.items():
        folded[_folded(day)] = folded.get(_folded(day), 0) + number
    rates: list[int] = []
    begin, day = _folded(first), today - DAY
    while day >= begin and len(rates) < WORKING_DAYS:
        if is_working_day(day):
            rates.append(folded.get(day, 0))
        day -= DAY
    return rates[::-1]


def _folded(day: date) -> date:
    while not is_working_day(day):
        day += DAY
    return day


def forecast(handed_in: Mapping[date, int], *, first: date | None, left: int, today: date) -> Forecast | Undefined:
    """The forecast from the rate of the last working days. ``handed_in`` must reach two weeks back."""
    rates = daily_rates(handed_in, first=first, today=today) if first else []
    if len(rates) < MIN_DAYS:
        return Undefined(Reason.FORECAST_DAYS(), len(rates))
    rate = median(rates)
    if rate == 0:
        return Undefined(Reason.FORECAST_PACE(), len(rates))
    deciles = quantiles(rates, n=10, method="inclusive")
    slow, fast = deciles[0], deciles[-1]
    late = _end(today, left, slow)
    expected, early = _end(today, left, rate), _end(today, left, fast)
    if expected is None or early is None:
        return Undefined(Reason.FORECAST_OUT_OF_REACH(), len(rates))
    return Forecast(left, len(rates), rate, slow, fast, early, expected, late)


def _end(today: date, left: int, rate: float) -> date | None:
    if left == 0:
        return today
    if rate <= 0 or (days := math.ceil(left / rate)) > MAX_DAYS:
        return None
    return after(today, days)
