"""All coefficients of two raters for many slices, with intervals, from case-level counts."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, make_dataclass
from typing import TYPE_CHECKING, Any

from consilium.statistics.coefficient import Coefficient
from consilium.statistics.cohen_kappa import COHEN_KAPPA
from consilium.statistics.confusion import ConfusionCounts
from consilium.statistics.estimate import Figure
from consilium.statistics.gwet_ac1 import GWET_AC1
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.krippendorff_alpha import TWO_RATER_ALPHA
from consilium.statistics.macro_f1 import F1_MET, F1_NOT_MET, MACRO_F1, macro_f1_figures
from consilium.statistics.prevalence import PREVALENCE_A, PREVALENCE_B
from consilium.statistics.raw_agreement import RAW_AGREEMENT

# The registry, in the order of files and pages.
COEFFICIENTS: tuple[Coefficient, ...] = (
    MACRO_F1,
    F1_MET,
    F1_NOT_MET,
    RAW_AGREEMENT,
    COHEN_KAPPA,
    GWET_AC1,
    TWO_RATER_ALPHA,
    PREVALENCE_A,
    PREVALENCE_B,
)
_CONSERVATIVE = [coefficient for coefficient in COEFFICIENTS if coefficient.is_conservative]
_VALID_ONLY = [coefficient for coefficient in COEFFICIENTS if not coefficient.is_conservative]
WITH_INTERVAL = tuple(coefficient.key for coefficient in COEFFICIENTS if coefficient.has_interval)


@dataclass(frozen=True)
class _Pairs:
    """One slice. `n_pairs` counts the pairs behind MF1, `n_valid` those behind the others; `mf1_valid` is MF1 on valid
    pairs, the same as `mf1` where no verdict was invalid or missing.
    """

    n_pairs: int
    n_valid: int
    n_cases: int
    mf1_valid: Figure

    @property
    def n_invalid(self) -> int:
        """Pairs whose verdict was invalid or missing."""
        return self.n_pairs - self.n_valid

    @property
    def invalid_rate(self) -> float | None:
        return self.n_invalid / self.n_pairs if self.n_pairs else None


if TYPE_CHECKING:

    class TwoRaterAgreement(_Pairs):
        """One slice, with a figure of each coefficient by its key."""

        def __init__(self, **values: Any) -> None: ...

        def __getattr__(self, key: str) -> Figure: ...

else:
    TwoRaterAgreement = make_dataclass(
        "TwoRaterAgreement",
        [(coefficient.key, Figure) for coefficient in COEFFICIENTS],
        bases=(_Pairs,),
        namespace={"__module__": __name__, "__doc__": _Pairs.__doc__},
        frozen=True,
    )


def two_rater_agreement(
    valid: ConfusionCounts,
    *,
    counted: ConfusionCounts | None = None,
    rule: IntervalRule | None = None,
    intervals_for: Collection[str] = WITH_INTERVAL,
) -> list[TwoRaterAgreement]:
    """All figures of every slice from counts of shape (n_cases, slices).

    `counted` holds the counts in which invalid or missing verdicts stand as the opposite of the reference; without it
    there were none. With a `rule` the figures named in `intervals_for` carry intervals.
    """
    conservative = valid if counted is None else counted
    behind = (conservative.n > 0).sum(axis=0)
    figures_by_name: dict[str, list[Figure]] = {}
    for counts, coefficients in ((conservative, _CONSERVATIVE), (valid, _VALID_ONLY)):
        pooled = counts.pooled(axis=0)
        for coefficient in coefficients:
            figures_by_name[coefficient.key] = coefficient.figures(pooled)
    mf1_valid = macro_f1_figures(valid.pooled(axis=0)) if counted is not None else None
    if rule is not None:
        for counts, coefficients in ((conservative, _CONSERVATIVE), (valid, _VALID_ONLY)):
            for coefficient in coefficients:
                if coefficient.key in intervals_for:
                    # A case whose verdicts are all invalid counts for MF1, and for nothing else.
                    intervals = rule.intervals(coefficient.of_cases(counts))
                    figures_by_name[coefficient.key] = intervals.attach(figures_by_name[coefficient.key])
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
