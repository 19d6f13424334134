"""Raw agreement: the share of pairs with the same answer of both raters, (tp + tn) / n. Undefined with no pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from consilium.core.phrases import Phrase
from consilium.core.reasons import Reason
from consilium.statistics.coefficient import Coefficient
from consilium.statistics.confusion import ConfusionCounts
from consilium.statistics.estimate import Figure, figures


def raw_agreement_values(counts: ConfusionCounts) -> NDArray[np.float64]:
    """Share of agreeing pairs for each table; NaN where there is none."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.true_divide(counts.tp + counts.tn, counts.n))


def raw_agreement_figures(counts: ConfusionCounts) -> list[Figure]:
    return figures(raw_agreement_values(counts), counts.n, reason=lambda i: Reason.NO_PAIRS())


def raw_agreement(counts: ConfusionCounts) -> Figure:
    """Raw agreement of one table; n is the number of pairs."""
    return raw_agreement_figures(counts)[0]


RAW_AGREEMENT = Coefficient(
    key="raw",
    figures=raw_agreement_figures,
    values=raw_agreement_values,
    heading="Raw",
    plain_name="raw agreement",
    plain_heading="raw",
    symbol=Phrase("Raw"),
    name=Phrase("Raw agreement"),
    in_methods="raw agreement",
)
