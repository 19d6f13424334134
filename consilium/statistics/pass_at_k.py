"""Pass@k: the share of responses that meet at least k positive criteria, s >= k.

Source: Zheng et al. 2026 (ClinConsensus v5). A response with fewer than k positive criteria cannot pass; it counts as
not passing, and the note says how many there were. Undefined with no responses.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from consilium.core.reasons import Reason
from consilium.statistics.estimate import Estimate, Figure, Undefined


def pass_at_k(hits: ArrayLike, n_criteria: ArrayLike, k: int) -> Figure:
    """From the positive criteria met (s) and present (N) of each response; k >= 1; n is the number of responses."""
    if k < 1:
        raise ValueError("k is at least 1")
    met, present = np.asarray(hits, dtype=np.int64), np.asarray(n_criteria, dtype=np.int64)
    if not met.size:
        return Undefined(Reason.NO_RESPONSES())
    short = int((present < k).sum())
    note = Reason.SHORT_RESPONSES_CANNOT_PASS(n=short, k=k) if short else ""
    return Estimate(int((met >= k).sum()) / met.size, met.size, note=note)
