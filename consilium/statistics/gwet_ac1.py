"""Gwet's AC1 of two raters: chance agreement from the mean prevalence, steady where one answer is rare.

    AC1 = (po - pe) / (1 - pe),   pe = 2·q·(1 - q),   q = mean of the two raters' prevalence of met

Source: Gwet 2008, British Journal of Mathematical and Statistical Psychology 61:29-48 (two raters, two categories).
Symmetric in the raters and in the classes. pe is at most 1/2, so AC1 is defined whenever there is a pair; where both
raters gave one and the same answer throughout it is 1 with a note, since nothing could have shown a disagreement.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from consilium.core.phrases import Phrase
from consilium.core.reasons import Reason
from consilium.statistics.coefficient import Coefficient
from consilium.statistics.confusion import ConfusionCounts
from consilium.statistics.estimate import Figure, figures


def gwet_ac1_values(counts: ConfusionCounts) -> NDArray[np.float64]:
    """AC1 for each table; NaN where there is no pair."""
    n = counts.n
    # pe = (met mentions · not-met mentions) / (2n²): kept in counts, so that the division comes last.
    chance = counts.met_mentions * counts.not_met_mentions
    with np.errstate(invalid="ignore"):
        return np.asarray(np.true_divide(2 * n * (counts.tp + counts.tn) - chance, 2 * n * n - chance))


def gwet_ac1_figures(counts: ConfusionCounts) -> list[Figure]:
    return figures(
        gwet_ac1_values(counts),
        counts.n,
        reason=lambda i: Reason.NO_PAIRS(),
        noted=(counts.met_mentions == 0) | (counts.not_met_mentions == 0),
        note=lambda i: Reason.AC1_ONE_CLASS(),
    )


def gwet_ac1(counts: ConfusionCounts) -> Figure:
    """AC1 of one table; n is the number of pairs."""
    return gwet_ac1_figures(counts)[0]


GWET_AC1 = Coefficient(
    key="ac1",
    figures=gwet_ac1_figures,
    values=gwet_ac1_values,
    heading="AC1",
    plain_name="Gwet's AC1",
    plain_heading="AC1",
    symbol="AC1",
    name=Phrase("Gwet’s AC1"),
    in_methods="Gwet’s AC1 (Gwet 2008)",
    sources={
        "Gwet 2008": "Gwet 2008: Computing inter-rater reliability and its variance in the presence of high agreement. "
        "British Journal of Mathematical and Statistical Psychology 61."
    },
    bounds=(-1.0, 1.0),
)
