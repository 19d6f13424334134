"""Rubric Accuracy: 100 · (criteria met) / (criteria), pooled over the positive criteria of all responses.

Source: Zheng et al. 2026 (ClinConsensus v5). Only criteria with points above 0 count. Undefined with no such criterion.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from consilium.core.reasons import Reason
from consilium.statistics.estimate import Estimate, Figure, Undefined


def rubric_accuracy(hits: ArrayLike, n_criteria: ArrayLike) -> Figure:
    """From the positive criteria met (s) and present (N) of each response; n is the number of responses with N > 0."""
    met, present = np.asarray(hits, dtype=np.int64), np.asarray(n_criteria, dtype=np.int64)
    total = int(present.sum())
    if not total:
        return Undefined(Reason.NO_POSITIVE_CRITERIA())
    return Estimate(100 * int(met.sum()) / total, int((present > 0).sum()))
