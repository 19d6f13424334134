"""CACS@k, the Clinician-Anchored Coverage Score: how far a response goes beyond the threshold k.

    CACS@k = 100 · mean over responses of max(0, s - k + 1) / (N - k + 1)

with s of the N positive criteria met. Where N is constant it equals 100/(N-k+1) · sum over t = k..N of P(s >= t), the
mean of Pass@t over all thresholds from k up. Source: Zheng et al. 2026 (ClinConsensus v5). A response with N < k is
left out, and the note says how many there were. Undefined where none is left.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.core.reasons import Reason
from consilium.statistics.estimate import Estimate, Figure, Undefined


def cacs_values(hits: ArrayLike, n_criteria: ArrayLike, k: int) -> NDArray[np.float64]:
    """100 · max(0, s - k + 1) / (N - k + 1) of each response; NaN where N < k. k >= 1."""
    if k < 1:
        raise ValueError("k is at least 1")
    met, present = np.asarray(hits, dtype=np.int64), np.asarray(n_criteria, dtype=np.int64)
    span = present - k + 1
    return np.where(span > 0, 100 * np.maximum(0, met - k + 1) / np.maximum(span, 1), np.nan)


def cacs_at_k(hits: ArrayLike, n_criteria: ArrayLike, k: int) -> Figure:
    """CACS@k of a set of responses; n is the number of responses that are scored."""
    values = cacs_values(hits, n_criteria, k)
    scored = values[~np.isnan(values)]
    left_out = values.size - scored.size
    if not scored.size:
        return Undefined(Reason.TOO_FEW_POSITIVE_CRITERIA(k=k) if values.size else Reason.NO_RESPONSES())
    note = Reason.SHORT_RESPONSES_LEFT_OUT(n=left_out, k=k) if left_out else ""
    return Estimate(float(scored.mean()), int(scored.size), note=note)
