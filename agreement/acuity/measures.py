"""The measures of a candidate's readings against clear references, in the order of ``acuity.csv``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agreement.acuity.tables import Aggregate, CaseTables
from consilium.core.reasons import Reason
from consilium.statistics import ordinal_confusion as confusion
from consilium.statistics.case_figures import CaseFigures, case_ratio
from consilium.statistics.estimate import Figure, figures
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.multiclass_f1 import multiclass_f1_values
from consilium.statistics.ordinal_alpha import ordinal_alpha_values
from consilium.statistics.triage_cost import (
    EXPONENT,
    RATIO,
    cost_values,
    normalised_cost_values,
    powered,
    worst_costs,
)
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


@dataclass(frozen=True)
class Measure:
    """A measure as a function of tables (..., L, L); ``bounds`` are those between which it lies.

    ``is_share``: it is a share of the readings. ``of_counts``: it takes numbers of readings, no weights.
    """

    key: str
    values: Callable[[Array, Price], Array]
    bounds: Callable[[int, Price], tuple[float, float]] = lambda n_levels, price: (0.0, 1.0)
    is_share: bool = False
    of_counts: bool = False


def _both_signs(n_levels: int, price: Price) -> tuple[float, float]:
    return -1.0, 1.0


def _in_levels(n_levels: int, price: Price) -> tuple[float, float]:
    return -(n_levels - 1.0), n_levels - 1.0


def _in_costs(n_levels: int, price: Price) -> tuple[float, float]:
    return 0.0, price.most(n_levels)


def _share(key: str, values: Callable[[Array], Array]) -> Measure:
    return Measure(key, lambda tables, price: values(tables), is_share=True)


MEASURES = (
    _share("accuracy", confusion.accuracy_values),
    Measure("macro_f1", lambda tables, price: multiclass_f1_values(tables)),
    Measure("qwk", lambda tables, price: weighted_kappa_values(tables), _both_signs),
    Measure("alpha", lambda tables, price: ordinal_alpha_values(tables), _both_signs, of_counts=True),
    _share("over", confusion.over_values),
    _share("under", confusion.under_values),
    _share("severe_over", confusion.severe_over_values),
    _share("severe_under", confusion.severe_under_values),
    _share("within_one", confusion.within_one_values),
    _share("safety", confusion.safety_values),
    Measure("bias", lambda tables, price: confusion.bias_values(tables), _in_levels),
    Measure("inclination", lambda tables, price: confusion.inclination_values(tables)),
    Measure("cost", lambda tables, price: cost_values(tables, price.ratio, price.exponent), _in_costs),
    Measure("cost_normalised", lambda tables, price: normalised_cost_values(tables, price.ratio, price.exponent)),
)
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
        results[measure.key] = _with_intervals(own, values, n, _reason(parts, measure, undefined=undefined), rule)
    asked = np.rint(parts.asked.sum(axis=0)).astype(np.int64)
    for key, own in _of_everything(parts, price):
        results[key] = _with_intervals(own, own.whole(), asked, lambda i: Reason.NO_CASE_ASKED(), rule)
    return results


def case_figures(parts: CaseTables, measure: Measure, price: Price) -> CaseFigures:
    """A measure of each series as a function of sums over cases."""
    n_cases, n_series, n_levels = parts.tables.shape[:3]
    sizes = parts.tables.sum(axis=(2, 3))
    return CaseFigures(
        parts.tables.reshape(n_cases, n_series, n_levels * n_levels),
        lambda sums: measure.values(sums.reshape(*sums.shape[:-1], n_levels, n_levels), price),
        sizes,
        *measure.bounds(n_levels, price),
        trials=measure.is_share and parts.single,
    )


def _of_everything(parts: CaseTables, price: Price) -> Iterator[tuple[str, CaseFigures]]:
    """The measures over everything asked, where an answer without a level is the worst that could be given."""
    # Weights of a case add up to its usable readings, whatever the aggregate: a case of `expected` weighs 1.
    weight = parts.tables.sum(axis=(2, 3))
    readings = np.divide(parts.usable, weight, out=np.zeros_like(weight), where=weight > 0)
    apart = confusion.steps(parts.n_levels)
    cost = price.ratio * powered(np.maximum(-apart, 0), price.exponent) + powered(np.maximum(apart, 0), price.exponent)
    right, under, costs = (
        readings * (parts.tables * of_cell).sum(axis=(2, 3)) for of_cell in (apart == 0, apart < 0, cost)
    )
    worst = worst_costs(parts.low, parts.low, parts.n_levels, price.ratio, price.exponent)[:, None]
    all_under = under + parts.unusable * (parts.low > 0)[:, None]
    yield "comprehensiveness", case_ratio(parts.usable, parts.asked, trials=parts.single)
    yield "accuracy_all", case_ratio(right, parts.asked, trials=parts.single)
    yield "safety_all", case_ratio(parts.asked - all_under, parts.asked, trials=parts.single)
    yield "under_all", case_ratio(all_under, parts.asked, trials=parts.single)
    yield (
        "cost_all",
        case_ratio(costs + parts.unusable * worst, parts.asked, bounds=(0.0, price.most(parts.n_levels))),
    )


def _reason(parts: CaseTables, measure: Measure, *, undefined: bool) -> Callable[[int], str]:
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


def _with_intervals(
    own: CaseFigures, values: Array, n: NDArray[np.int64], reason: Callable[[int], str], rule: IntervalRule | None
) -> list[Figure]:
    estimates = figures(values, n, reason=reason)
    return estimates if rule is None or not estimates else rule.intervals(own).attach(estimates)
