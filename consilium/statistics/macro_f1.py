"""F1 of met, F1 of not met, and their mean: Macro-F1 (MF1) of two raters.

    F1(met) = 2tp / (2tp + fp + fn)      F1(not met) = 2tn / (2tn + fp + fn)      MF1 = mean of the two

Source: the agreement measure of HealthBench (Arora et al. 2025), as ClinConsensus (Zheng et al. 2026) uses it between
two raters. Symmetric in the raters. Undefined: with no pairs nothing is defined; a class that neither rater used has no
F1, and MF1 is then the F1 of the other class alone, and says so. A class that only one of them used has F1 = 0.

Only tables arrive here. How invalid and missing verdicts count is settled before (`agreement/counting/pairs.py`).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilium.core.phrases import Phrase
from consilium.core.reasons import Reason
from consilium.statistics.coefficient import Coefficient
from consilium.statistics.confusion import ConfusionCounts
from consilium.statistics.estimate import Figure, figures

NO_PAIRS = Reason.NO_PAIRS()


class UnusedClass(StrEnum):
    """What a class that neither rater used contributes to MF1."""

    LEAVE_OUT = "omit"
    AS_ZERO = "zero"
    AS_ONE = "one"


def _class_f1(hits: NDArray[Any], mentions: NDArray[Any]) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore"):
        return np.asarray(np.true_divide(2 * hits, mentions))


def f1_met_values(counts: ConfusionCounts) -> NDArray[np.float64]:
    """F1 of met for each table; NaN where neither rater said met."""
    return _class_f1(counts.tp, counts.met_mentions)


def f1_not_met_values(counts: ConfusionCounts) -> NDArray[np.float64]:
    """F1 of not met for each table; NaN where neither rater said not met."""
    return _class_f1(counts.tn, counts.not_met_mentions)


def macro_f1_values(
    counts: ConfusionCounts, unused_class: UnusedClass | str = UnusedClass.LEAVE_OUT
) -> NDArray[np.float64]:
    """MF1 for each table; NaN where there is no pair."""
    rule = UnusedClass(unused_class)
    met, not_met = counts.met_mentions, counts.not_met_mentions
    has_met, has_not_met = met > 0, not_met > 0
    # An unused class has no hits, so its quotient is 0 whatever the denominator; the rule then decides.
    total = 2 * counts.tp / np.maximum(met, 1) + 2 * counts.tn / np.maximum(not_met, 1)
    classes = has_met.astype(np.float64) + has_not_met
    with np.errstate(invalid="ignore", divide="ignore"):
        if rule is UnusedClass.LEAVE_OUT:
            return np.asarray(total / classes)
        if rule is UnusedClass.AS_ONE:
            total = total + (2 - classes)
        return np.where(classes > 0, total / 2, np.nan)


def f1_met(counts: ConfusionCounts) -> Figure:
    """F1 of met of one table; n is the number of pairs."""
    return f1_met_figures(counts)[0]


def f1_not_met(counts: ConfusionCounts) -> Figure:
    """F1 of not met of one table; n is the number of pairs."""
    return f1_not_met_figures(counts)[0]


def macro_f1(counts: ConfusionCounts, unused_class: UnusedClass | str = UnusedClass.LEAVE_OUT) -> Figure:
    """MF1 of one table; n is the number of pairs."""
    return macro_f1_figures(counts, unused_class)[0]


def f1_met_figures(counts: ConfusionCounts) -> list[Figure]:
    sizes = counts.n.ravel()
    return figures(f1_met_values(counts), counts.n, reason=lambda i: Reason.NEITHER_MET() if sizes[i] else NO_PAIRS)


def f1_not_met_figures(counts: ConfusionCounts) -> list[Figure]:
    sizes = counts.n.ravel()
    return figures(
        f1_not_met_values(counts), counts.n, reason=lambda i: Reason.NEITHER_NOT_MET() if sizes[i] else NO_PAIRS
    )


def macro_f1_figures(counts: ConfusionCounts, unused_class: UnusedClass | str = UnusedClass.LEAVE_OUT) -> list[Figure]:
    rule = UnusedClass(unused_class)
    no_met = (counts.met_mentions == 0).ravel()
    no_not_met = (counts.not_met_mentions == 0).ravel()

    def note(i: int) -> str:
        if rule is UnusedClass.LEAVE_OUT:
            return Reason.MF1_WITHOUT_MET() if no_met[i] else Reason.MF1_WITHOUT_NOT_MET()
        taken_as = Reason.F1_MET_TAKEN_AS if no_met[i] else Reason.F1_NOT_MET_TAKEN_AS
        return taken_as(value=0 if rule is UnusedClass.AS_ZERO else 1)

    return figures(
        macro_f1_values(counts, rule), counts.n, reason=lambda i: NO_PAIRS, noted=no_met | no_not_met, note=note
    )


def macro_f1_expected(counts: ConfusionCounts) -> NDArray[np.float64]:
    """De of MF1 = 1 - Do/De for each table: M·N / n² with M mentions of met and N of not met in n pairs."""
    n = np.maximum(counts.n, 1).astype(np.float64)
    return np.asarray((counts.met_mentions / n) * (counts.not_met_mentions / n))


MACRO_F1 = Coefficient(
    key="mf1",
    figures=macro_f1_figures,
    values=macro_f1_values,
    heading="MF1",
    plain_name="MF1",
    plain_heading="MF1",
    symbol="MF1",
    name=Phrase("Macro-F1"),
    is_conservative=True,
    expected=macro_f1_expected,
)
F1_MET = Coefficient(
    key="f1_met",
    figures=f1_met_figures,
    values=f1_met_values,
    heading="F1 met",
    plain_name="F1 met",
    is_conservative=True,
    has_interval=False,
)
F1_NOT_MET = Coefficient(
    key="f1_not_met",
    figures=f1_not_met_figures,
    values=f1_not_met_values,
    heading="F1 not met",
    plain_name="F1 not met",
    is_conservative=True,
    has_interval=False,
)
