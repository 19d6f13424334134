"""Cohen's kappa of two raters: agreement beyond what each rater's own prevalence would give by chance.

    kappa = (po - pe) / (1 - pe),   pe = a1·b1 + a0·b0   with the raters' shares of met (1) and not met (0)

which for a 2x2 table is 2(tp·tn - fp·fn) / (A1·B0 + A0·B1) in counts, the form computed here because it is exact in
integers. Source: Cohen 1960. Symmetric in the raters. Undefined: no pairs; a rater who gave one answer throughout. With
both constant and alike it is 0/0; with one constant the formula gives 0 whatever the other did, a number that says
nothing about agreement. A bootstrap resample in which that happens by chance counts with its 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from consilium.core.phrases import Phrase
from consilium.core.reasons import Reason
from consilium.statistics.coefficient import Coefficient
from consilium.statistics.confusion import ConfusionCounts
from consilium.statistics.estimate import Figure, figures


def cohen_kappa_values(counts: ConfusionCounts) -> NDArray[np.float64]:
    """Kappa for each table; NaN where undefined."""
    tp, fp, fn, tn = counts.tp, counts.fp, counts.fn, counts.tn
    a_met, b_met, a_not, b_not = tp + fn, tp + fp, fp + tn, fn + tn
    with np.errstate(invalid="ignore"):
        return np.asarray(np.true_divide(2 * (tp * tn - fp * fn), a_met * b_not + a_not * b_met))


def cohen_kappa_figures(counts: ConfusionCounts) -> list[Figure]:
    sizes = counts.n.ravel()
    a_constant = ((counts.tp + counts.fn == 0) | (counts.fp + counts.tn == 0)).ravel()
    b_constant = ((counts.tp + counts.fp == 0) | (counts.fn + counts.tn == 0)).ravel()

    def reason(i: int) -> str:
        if not sizes[i]:
            return Reason.NO_PAIRS()
        if a_constant[i] and b_constant[i]:
            return Reason.CONSTANT_BOTH_RATERS()
        return Reason.CONSTANT_RATER(rater="A" if a_constant[i] else "B")

    values = np.where(a_constant | b_constant, np.nan, cohen_kappa_values(counts).ravel())
    return figures(values, sizes, reason=reason)


def cohen_kappa(counts: ConfusionCounts) -> Figure:
    """Kappa of one table; n is the number of pairs."""
    return cohen_kappa_figures(counts)[0]


def cohen_kappa_expected(counts: ConfusionCounts) -> NDArray[np.float64]:
    """De of kappa for each table: the share of pairs on which the raters would differ by chance, 1 - pe."""
    n = np.maximum(counts.n, 1).astype(np.float64)
    first, second = (counts.tp + counts.fn) / n, (counts.tp + counts.fp) / n
    return np.asarray(first * (1 - second) + second * (1 - first))


COHEN_KAPPA = Coefficient(
    key="kappa",
    figures=cohen_kappa_figures,
    values=cohen_kappa_values,
    heading="Cohen’s κ",
    plain_name="Cohen's kappa",
    plain_heading="kappa",
    symbol="κ",
    name=Phrase("Cohen’s κ"),
    in_methods="Cohen’s κ (Cohen 1960)",
    sources={
        "Cohen 1960": "Cohen 1960: A coefficient of agreement for nominal scales. Educational and Psychological "
        "Measurement 20."
    },
    needs_variety=True,
    bounds=(-1.0, 1.0),
    expected=cohen_kappa_expected,
)
