"""All coefficients of two raters for many slices, with intervals, from case-level counts."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from consilium.statistics.bootstrap import MINIMUM_CASES, CaseBootstrap, percentile_intervals
from consilium.statistics.cohen_kappa import cohen_kappa_figures, cohen_kappa_values
from consilium.statistics.confusion import ConfusionCounts
from consilium.statistics.estimate import Figure
from consilium.statistics.gwet_ac1 import gwet_ac1_figures, gwet_ac1_values
from consilium.statistics.krippendorff_alpha import two_rater_alpha_figures, two_rater_alpha_values
from consilium.statistics.macro_f1 import (
    f1_met_figures,
    f1_met_values,
    f1_not_met_figures,
    f1_not_met_values,
    macro_f1_figures,
    macro_f1_values,
)
from consilium.statistics.prevalence import (
    prevalence_a_figures,
    prevalence_a_values,
    prevalence_b_figures,
    prevalence_b_values,
)
from consilium.statistics.raw_agreement import raw_agreement_figures, raw_agreement_values

Values = Callable[[ConfusionCounts], NDArray[np.float64]]
Figures = Callable[[ConfusionCounts], list[Figure]]

# The figures that take an invalid verdict as the opposite of the reference; all others use valid pairs only.
CONSERVATIVE: dict[str, tuple[Figures, Values]] = {
    "mf1": (macro_f1_figures, macro_f1_values),
    "f1_met": (f1_met_figures, f1_met_values),
    "f1_not_met": (f1_not_met_figures, f1_not_met_values),
}
VALID_ONLY: dict[str, tuple[Figures, Values]] = {
    "raw": (raw_agreement_figures, raw_agreement_values),
    "kappa": (cohen_kappa_figures, cohen_kappa_values),
    "ac1": (gwet_ac1_figures, gwet_ac1_values),
    "alpha": (two_rater_alpha_figures, two_rater_alpha_values),
    "prevalence_a": (prevalence_a_figures, prevalence_a_values),
    "prevalence_b": (prevalence_b_figures, prevalence_b_values),
}
FIVE = ("mf1", "raw", "kappa", "ac1", "alpha")


@dataclass(frozen=True)
class TwoRaterAgreement:
    """One slice. `n_pairs` counts the pairs behind MF1, `n_valid` those behind the others; `mf1_valid` is MF1 on valid
    pairs, the same as `mf1` where no verdict was invalid or missing.
    """

    n_pairs: int
    n_valid: int
    n_cases: int
    mf1: Figure
    mf1_valid: Figure
    f1_met: Figure
    f1_not_met: Figure
    raw: Figure
    kappa: Figure
    ac1: Figure
    alpha: Figure
    prevalence_a: Figure
    prevalence_b: Figure

    @property
    def n_invalid(self) -> int:
        """Pairs whose verdict was invalid or missing."""
        return self.n_pairs - self.n_valid

    @property
    def invalid_rate(self) -> float | None:
        return self.n_invalid / self.n_pairs if self.n_pairs else None


def two_rater_agreement(
    valid: ConfusionCounts,
    *,
    counted: ConfusionCounts | None = None,
    bootstrap: CaseBootstrap | None = None,
    intervals_for: Collection[str] = FIVE,
) -> list[TwoRaterAgreement]:
    """All figures of every slice from counts of shape (n_cases, slices).

    `counted` holds the counts in which invalid or missing verdicts stand as the opposite of the reference; without it
    there were none. With a `bootstrap` the figures named in `intervals_for` carry
    intervals.
    """
    conservative = valid if counted is None else counted
    behind = (conservative.n > 0).sum(axis=0)
    figures_by_name: dict[str, list[Figure]] = {}
    for counts, table in ((conservative, CONSERVATIVE), (valid, VALID_ONLY)):
        pooled = counts.pooled(axis=0)
        for name, (to_figures, _) in table.items():
            figures_by_name[name] = to_figures(pooled)
    mf1_valid = macro_f1_figures(valid.pooled(axis=0)) if counted is not None else None
    if bootstrap is not None:
        for counts, table in ((conservative, CONSERVATIVE), (valid, VALID_ONLY)):
            values_by_name = {name: values for name, (_, values) in table.items() if name in intervals_for}
            # A case whose verdicts are all invalid counts for MF1, and for nothing else.
            _attach(figures_by_name, values_by_name, counts, (counts.n > 0).sum(axis=0), bootstrap)
    n_pairs = conservative.n.sum(axis=0).tolist()
    n_valid = valid.n.sum(axis=0).tolist()
    return [
        TwoRaterAgreement(
            n_pairs=int(n_pairs[i]),
            n_valid=int(n_valid[i]),
            n_cases=int(behind[i]),
            mf1_valid=mf1_valid[i] if mf1_valid is not None else figures_by_name["mf1"][i],
            **{name: column[i] for name, column in figures_by_name.items()},
        )
        for i in range(len(n_pairs))
    ]


def _attach(
    figures_by_name: dict[str, list[Figure]],
    values_by_name: dict[str, Values],
    counts: ConfusionCounts,
    behind: NDArray[np.int64],
    bootstrap: CaseBootstrap,
) -> None:
    """Give the wanted figures their intervals. Slices with too few cases are left out of the product, and their
    notes give the reason.
    """
    if not values_by_name:
        return
    due = np.flatnonzero(behind >= MINIMUM_CASES)
    resampled = bootstrap.confusion(counts[:, due])
    for name, values in values_by_name.items():
        intervals = percentile_intervals(values(resampled), behind[due])
        figures_by_name[name] = intervals.spread_over(due, behind).attach(figures_by_name[name])


def attach_intervals(
    estimates: list[Figure],
    values: Values,
    counts: ConfusionCounts,
    bootstrap: CaseBootstrap,
    *,
    behind: NDArray[np.int64] | None = None,
) -> list[Figure]:
    """Intervals for any one coefficient: `values` maps tables to numbers, `counts` has shape (n_cases, slices).

    `behind` (slices,) is how many cases stand behind the coefficient, by default those with a pair.
    """
    figures_by_name = {"it": estimates}
    _attach(
        figures_by_name, {"it": values}, counts, (counts.n > 0).sum(axis=0) if behind is None else behind, bootstrap
    )
    return figures_by_name["it"]
