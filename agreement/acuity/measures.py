"""The measures of a candidate's readings against clear references, in the order of ``acuity.csv``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agreement.acuity.tables import Aggregate, CaseTables, PairedTables
from consilium.core.reasons import Reason
from consilium.statistics import ordinal_confusion as confusion
from consilium.statistics.case_figures import CaseFigures, case_ratio
from consilium.statistics.estimate import Figure, figures
from consilium.statistics.intervals import IntervalRule, Intervals
from consilium.statistics.multiclass_f1 import multiclass_f1_values
from consilium.statistics.ordinal_alpha import ordinal_alpha_values
from consilium.statistics.triage_cost import EXPONENT, RATIO, cost_of_cells, powered, worst_costs
from consilium.statistics.weighted_kappa import weighted_kappa_values

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Price:
    """What errors cost: a level too low ``ratio`` times a level too high, to the power of ``exponent``."""

    ratio: float = RATIO
    exponent: float = EXPONENT

    def most(self, n_levels: int) -> float:
        """The cost of the dearest error."""
        return max(self.ratio, 1.0) * float(powered(n_levels - 1, self.exponent))


Bounds = Callable[[int, Price], tuple[float, float]]


def _in_shares(n_levels: int, price: Price) -> tuple[float, float]:
    return 0.0, 1.0


def _both_signs(n_levels: int, price: Price) -> tuple[float, float]:
    return -1.0, 1.0


def _in_levels(n_levels: int, price: Price) -> tuple[float, float]:
    return -(n_levels - 1.0), n_levels - 1.0


def _in_costs(n_levels: int, price: Price) -> tuple[float, float]:
    return 0.0, price.most(n_levels)


@dataclass(frozen=True)
class Measure:
    """A measure as a function of tables (..., L, L); ``bounds`` are those between which it lies.

    It is a ratio of two sums of weighted cells, ``above`` and ``below`` (L, L), or else ``of_tables``. ``is_share``:
    above are some of the readings below. ``of_counts``: it takes numbers of readings, no weights. ``of_levels``: it
    weighs levels alike, whatever their number of cases. ``of_clear``: it takes cases with one level alone.
    ``below_worst``: below are not cells, but the worst cost of each case.
    """

    key: str
    bounds: Bounds = _in_shares
    above: Callable[[int, Price], Array] | None = None
    below: Callable[[int, Price], Array] = lambda n_levels, price: confusion.every(n_levels)
    of_tables: Callable[[Array], Array] | None = None
    is_share: bool = False
    of_counts: bool = False
    of_levels: bool = False
    of_clear: bool = False
    below_worst: bool = False


def _share(key: str, above: Callable[[int], Array], below: Callable[[int], Array] = confusion.every) -> Measure:
    return Measure(
        key,
        above=lambda n_levels, price: above(n_levels),
        below=lambda n_levels, price: below(n_levels),
        is_share=True,
    )


def _costs(n_levels: int, price: Price) -> Array:
    return cost_of_cells(n_levels, price.ratio, price.exponent)


MEASURES = (
    _share("accuracy", confusion.right),
    Measure("macro_f1", of_tables=multiclass_f1_values, of_levels=True),
    Measure("qwk", _both_signs, of_tables=weighted_kappa_values),
    Measure("alpha", _both_signs, of_tables=ordinal_alpha_values, of_counts=True),
    _share("over", confusion.over),
    _share("under", confusion.under),
    _share("severe_over", confusion.severe_over),
    _share("severe_under", confusion.severe_under),
    _share("within_one", confusion.within_one),
    _share("safety", confusion.safe),
    Measure("bias", _in_levels, above=lambda n_levels, price: confusion.steps(n_levels), of_clear=True),
    _share("inclination", confusion.over, confusion.error),
    Measure("cost", _in_costs, above=_costs),
    Measure("cost_normalised", above=_costs, below_worst=True),
)
MINIMUM_OF_LEVEL = 5  # cases, for an interval of macro-F1
OF_EVERYTHING = ("comprehensiveness", "accuracy_all", "safety_all", "under_all", "cost_all")
KEYS = (*(measure.key for measure in MEASURES), *OF_EVERYTHING)


def measured(
    parts: CaseTables, aggregate: Aggregate, price: Price, *, rule: IntervalRule | None
) -> dict[str, list[Figure]]:
    """Every measure of every series, with its interval by ``rule``; n is the number of usable readings."""
    n = np.rint(parts.usable.sum(axis=0)).astype(np.int64)
    results: dict[str, list[Figure]] = {}
    for measure in MEASURES:
        own = case_figures(parts, measure, price)
        undefined = measure.of_counts and aggregate is Aggregate.EXPECTED
        values = np.full(own.n_slices, np.nan) if undefined else own.whole()
        estimates = figures(values, n, reason=reason_of(parts, measure, undefined=undefined))
        results[measure.key] = estimates if rule is None else intervals_of(parts, measure, own, rule).attach(estimates)
    planned = np.rint(parts.planned.sum(axis=0)).astype(np.int64)
    # A case whose mode is right may hold refusals, which then would not count.
    of_mode = aggregate is Aggregate.MODE
    why = Reason.MODE_OF_USABLE() if of_mode else Reason.NO_CASE_ASKED()
    for key, own in everything_figures(parts, price):
        values = np.full(own.n_slices, np.nan) if of_mode else own.whole()
        estimates = figures(values, planned, reason=lambda i: why)
        results[key] = estimates if rule is None else rule.intervals(own).attach(estimates)
    return results


def intervals_of(parts: CaseTables, measure: Measure, own: CaseFigures, rule: IntervalRule) -> Intervals:
    """The intervals of a measure of each series, as they are shown."""
    return _shown(parts, measure, rule.intervals(own))


def _shown(parts: CaseTables, measure: Measure, intervals: Intervals) -> Intervals:
    """The same, with none of macro-F1 where a level in use has fewer than 5 cases of that reference.

    Macro-F1 weighs such a level as much as any other: with 10 cases of four levels its intervals held the truth in 86
    to 93% (`bench/acuity_coverage.py`).
    """
    if not measure.of_levels:
        return intervals
    used = parts.tables.sum(axis=0)
    in_use = used.sum(axis=-1) + used.sum(axis=-2) > 0  # (series, levels)
    cases = (parts.tables.sum(axis=3) > 0).sum(axis=0)
    least = np.where(in_use, cases, np.iinfo(np.int64).max).min(axis=-1)
    return intervals.without(
        least < MINIMUM_OF_LEVEL,
        lambda i: Reason.INTERVAL_CASES_OF_LEVEL(cases=int(least[i]), needed=MINIMUM_OF_LEVEL),
    )


def compared(both: PairedTables, measure: Measure, price: Price, rule: IntervalRule) -> tuple[Array, Intervals]:
    """A measure of each series of ``both.parts``, and the intervals of the first less the second of each pair.

    There is none where one of the two has none.
    """
    own = case_figures(both.parts, measure, price)
    intervals, apart = rule.compared(own, both.first, both.second)
    ends = _shown(both.parts, measure, intervals)
    hidden = np.isnan(ends.low[both.first]) | np.isnan(ends.low[both.second])
    return own.whole(), apart.without(
        hidden, lambda i: ends.reason(int(both.first[i])) or ends.reason(int(both.second[i]))
    )


def case_figures(parts: CaseTables, measure: Measure, price: Price) -> CaseFigures:
    """A measure of each series as a function of sums over cases.

    A case is as large as its readings, those that count in the measure.
    """
    n_cases, n_series, n_levels = parts.tables.shape[:3]
    bounds = measure.bounds(n_levels, price)
    if measure.above is None:
        values = measure.of_tables
        assert values is not None
        return CaseFigures(
            parts.tables.reshape(n_cases, n_series, n_levels * n_levels),
            lambda sums: values(sums.reshape(*sums.shape[:-1], n_levels, n_levels)),
            parts.tables.sum(axis=(2, 3)),
            *bounds,
        )
    above = np.einsum("csij,ij->cs", parts.tables, measure.above(n_levels, price))
    if measure.below_worst:
        worst = worst_costs(parts.low, parts.high, n_levels, price.ratio, price.exponent)[:, None]
        weight = parts.tables.sum(axis=(2, 3))
        below, counted = weight * worst, weight * (worst > 0)
    else:
        cells = measure.below(n_levels, price)
        below = np.einsum("csij,ij->cs", parts.tables, cells)
        counted = np.einsum("csij,ij->cs", parts.tables, (cells > 0).astype(np.float64))
    if measure.of_clear:
        above, below, counted = (np.where(parts.is_clear[:, None], own, 0.0) for own in (above, below, counted))
    return case_ratio(above, below, bounds=bounds, sizes=counted, trials=measure.is_share and parts.single)


def everything_figures(parts: CaseTables, price: Price) -> Iterator[tuple[str, CaseFigures]]:
    """The measures over everything asked, where an answer without a level is the worst that could be given."""
    n_levels = parts.n_levels
    right, under, costs = (
        np.einsum("csij,ij->cs", parts.readings, cells)
        for cells in (confusion.right(n_levels), confusion.under(n_levels), _costs(n_levels, price))
    )
    worst = worst_costs(parts.low, parts.high, n_levels, price.ratio, price.exponent)[:, None]
    all_under = under + parts.unusable * (parts.low > 0)[:, None]
    yield "comprehensiveness", case_ratio(parts.usable, parts.planned, trials=parts.single)
    yield "accuracy_all", case_ratio(right, parts.planned, trials=parts.single)
    yield "safety_all", case_ratio(parts.planned - all_under, parts.planned, trials=parts.single)
    yield "under_all", case_ratio(all_under, parts.planned, trials=parts.single)
    bounds = (0.0, price.most(n_levels))
    yield "cost_all", case_ratio(costs + parts.unusable * worst, parts.planned, bounds=bounds)


def reason_of(parts: CaseTables, measure: Measure, *, undefined: bool) -> Callable[[int], str]:
    """Why a series has no figure of the measure; ``undefined``: the measure takes no weighted readings."""
    weight = parts.tables.sum(axis=(0, 2, 3))

    def reason(i: int) -> str:
        if undefined:
            return Reason.WEIGHTED_READINGS()
        if not weight[i]:
            return Reason.NO_USABLE_READING()
        return {
            "severe_over": Reason.TWO_LEVELS_ONLY,
            "severe_under": Reason.TWO_LEVELS_ONLY,
            "inclination": Reason.NO_TRIAGE_ERROR,
            "cost_normalised": Reason.NOTHING_TO_LOSE,
        }.get(measure.key, Reason.ONE_LEVEL_THROUGHOUT)()

    return reason
