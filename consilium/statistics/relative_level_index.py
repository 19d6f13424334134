"""How well a candidate does where others fail: the relative level index of candidates on the same cases.

With c_i the share of a candidate's readings of case i that are right (0 or 1 for a single reading), and p_i the mean of
that share over all candidates, itself among them:

    x = (1/n) Σ [c_i · (1 - p_i) - (1 - c_i) · p_i] = (1/n) Σ (c_i - p_i),    index = (x + 1) / 2 · 100

A right answer to a case that few get right counts much, and a wrong one to a case that most get right counts against
the candidate. 50 is the mean of the candidates; the index lies between 0 and 100. It is relative to the candidates that
were compared, and means nothing beside one of other candidates or other cases.

Undefined: with one candidate, or without a case that every candidate has. Source: Kopka et al. 2023 (capability
comparison score).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from consilium.statistics.case_figures import CaseFigures, case_ratio

FEW_CANDIDATES = 4  # with fewer an index says little


def relative_level_index(right: NDArray[np.float64]) -> CaseFigures:
    """The index of each candidate, over the cases that all have.

    ``right`` (cases, candidates): the share of a candidate's readings of the case that are right, NaN without a
    reading. A slice of the result is a candidate; NaN throughout where there are fewer than two.
    """
    shared = ~np.isnan(right).any(axis=1) & (right.shape[1] > 1)
    share = np.where(shared[:, None], right, 0.0)
    apart = share - share.mean(axis=1, keepdims=True)
    counted = np.broadcast_to(shared[:, None].astype(np.float64), right.shape)
    return case_ratio(50.0 * (1.0 + apart) * counted, counted, bounds=(0.0, 100.0))
