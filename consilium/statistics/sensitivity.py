"""Would another threshold rank the candidates otherwise? Ranks under nearby settings against CACS at the main k.

Settings: CACS and Pass at every k within `reach` of the main one (inside 1..N), and Rubric Accuracy. Each is compared
with CACS at the main k over the candidates that both can score: Spearman, top-3 and top-5 overlap (`rank_agreement`,
where ties are explained). Source: the sensitivity analysis of Zheng et al. 2026 (ClinConsensus v5).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from consilium.statistics.cacs import cacs_at_k
from consilium.statistics.estimate import Estimate, Figure
from consilium.statistics.pass_at_k import pass_at_k
from consilium.statistics.rank_agreement import spearman, top_k_overlap
from consilium.statistics.rubric_accuracy import rubric_accuracy

REACH = 3


@dataclass(frozen=True)
class Sensitivity:
    """One setting: its name (`cacs_at_k`, `pass_at_k`, `rubric_accuracy`), its k (None for the last), the value of each
    candidate, and how its ranks compare with the main setting's.
    """

    setting: str
    k: int | None
    values: dict[str, Figure]
    spearman: Figure
    top3: Figure
    top5: Figure


def sensitivity(responses: Mapping[str, tuple[ArrayLike, ArrayLike]], k: int, reach: int = REACH) -> list[Sensitivity]:
    """`responses` gives, for each candidate, hits (s) and positive criteria (N) of its responses.

    The main setting itself is the row `cacs_at_k` with the same k: it agrees with itself wherever ranks are defined.
    """
    largest = max((int(np.max(present, initial=0)) for _, present in responses.values()), default=0)
    nearby = [near for near in range(k - reach, k + reach + 1) if 1 <= near <= max(largest, k)]

    def scores(setting: str, at: int | None) -> dict[str, Figure]:
        if at is None:
            return {name: rubric_accuracy(*one) for name, one in responses.items()}
        score = cacs_at_k if setting == "cacs_at_k" else pass_at_k
        return {name: score(*one, at) for name, one in responses.items()}

    main = scores("cacs_at_k", k)
    settings: list[tuple[str, int | None]] = [("cacs_at_k", near) for near in nearby]
    settings += [("pass_at_k", near) for near in nearby]
    settings.append(("rubric_accuracy", None))
    rows = []
    for setting, at in settings:
        values = scores(setting, at)
        shared = [
            (one.value, other.value)
            for one, other in ((main[name], values[name]) for name in responses)
            if isinstance(one, Estimate) and isinstance(other, Estimate)
        ]
        a, b = np.array(shared, dtype=np.float64).reshape(-1, 2).T
        rows.append(Sensitivity(setting, at, values, spearman(a, b), top_k_overlap(a, b, 3), top_k_overlap(a, b, 5)))
    return rows
