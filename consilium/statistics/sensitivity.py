"""Sensitivity of ranks to the threshold: ranks under other settings against CACS at the main k.

Settings: CACS and Pass at every k within `reach` of the main one, or at every k there is, and Rubric Accuracy. Each is
compared with CACS at the main k over the candidates that both can score: Spearman, Kendall's tau-b, top-3 and top-5
overlap (`rank_agreement`, where ties and undefined cases are explained). Source: the sensitivity analysis of Zheng et
al. 2026 (ClinConsensus v5).

`candidate_values` gives what the ranks are made of: the value of each candidate under each setting with its interval.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.statistics.cacs import cacs_at_k, cacs_values
from consilium.statistics.case_figures import case_ratio, sums_by_case
from consilium.statistics.estimate import Estimate, Figure
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.pass_at_k import pass_at_k
from consilium.statistics.rank_agreement import kendall_tau_b, spearman, top_k_overlap
from consilium.statistics.rubric_accuracy import rubric_accuracy

REACH = 3
CACS, PASS, ACCURACY = "cacs_at_k", "pass_at_k", "rubric_accuracy"

Setting = tuple[str, int | None]
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Sensitivity:
    """One setting: its name (`cacs_at_k`, `pass_at_k`, `rubric_accuracy`), its k (None for the last), the value of each
    candidate, and how its ranks compare with the main setting's.
    """

    setting: str
    k: int | None
    values: dict[str, Figure]
    spearman: Figure
    kendall: Figure
    top3: Figure
    top5: Figure


def settings(first: int, last: int) -> list[Setting]:
    """CACS and Pass at every k from `first` to `last`, then Rubric Accuracy."""
    every = range(first, last + 1)
    return [*((CACS, k) for k in every), *((PASS, k) for k in every), (ACCURACY, None)]


def sensitivity(
    responses: Mapping[str, tuple[ArrayLike, ArrayLike]], k: int, reach: int | None = REACH, *, largest: int = 0
) -> list[Sensitivity]:
    """`responses` gives, for each candidate, hits (s) and positive criteria (N) of its responses.

    The main setting itself is the row `cacs_at_k` with the same k: it agrees with itself wherever ranks are defined.
    k runs from 1 to the largest N, to `largest` or to the main k, whichever is most; with a `reach` no further than
    that from the main k.
    """
    most = max((int(np.max(present, initial=0)) for _, present in responses.values()), default=0)
    most = max(most, largest, k)
    selected = settings(1, most) if reach is None else settings(max(1, k - reach), min(most, k + reach))
    main = _values(responses, CACS, k)
    rows = []
    for setting, at in selected:
        values = _values(responses, setting, at)
        shared = [
            # Level candidates must not differ by the last bit of a float.
            (round(reference.value, 9), round(other.value, 9))
            for reference, other in ((main[name], values[name]) for name in responses)
            if isinstance(reference, Estimate) and isinstance(other, Estimate)
        ]
        a, b = np.array(shared, dtype=np.float64).reshape(-1, 2).T
        rows.append(
            Sensitivity(
                setting,
                at,
                values,
                spearman=spearman(a, b),
                kendall=kendall_tau_b(a, b),
                top3=top_k_overlap(a, b, 3),
                top5=top_k_overlap(a, b, 5),
            )
        )
    return rows


def _values(responses: Mapping[str, tuple[ArrayLike, ArrayLike]], setting: str, at: int | None) -> dict[str, Figure]:
    if at is None:
        return {name: rubric_accuracy(*arrays) for name, arrays in responses.items()}
    score = cacs_at_k if setting == CACS else pass_at_k
    return {name: score(*arrays, at) for name, arrays in responses.items()}


def candidate_values(
    responses: Mapping[str, tuple[ArrayLike, ArrayLike, ArrayLike]],
    rows: list[Sensitivity],
    *,
    rule: IntervalRule,
) -> list[dict[str, Figure]]:
    """The values of each of `rows` with their intervals, in the same order; `responses` gives, for each candidate,
    hits, positive criteria and the case of each response.
    """
    names = list(responses)
    columns = [[np.asarray(arrays[i]).ravel() for arrays in responses.values()] for i in range(3)]
    hits, present, labels = (np.concatenate([*column, np.array([], dtype=np.int64)]) for column in columns)
    owner = np.repeat(np.arange(len(names)), [len(array) for array in columns[0]])
    cases, case = np.unique(labels, return_inverse=True)
    results = []
    # A setting at a time: sums of all settings together would take cases x candidates x settings.
    for row in rows:
        above, below = _ratio(row.setting, row.k, hits.astype(np.int64), present.astype(np.int64))
        sums = [sums_by_case(part, case, len(cases), owner, len(names)) for part in (above, below)]
        # The values of Rubric Accuracy and CACS are up to 100.
        bounds = (0.0, 1.0 if row.setting == PASS else 100.0)
        intervals = rule.intervals(case_ratio(*sums, bounds=bounds, trials=row.setting == PASS))
        results.append(dict(zip(names, intervals.attach([row.values[name] for name in names]), strict=True)))
    return results


def _ratio(setting: str, k: int | None, hits: NDArray[np.int64], present: NDArray[np.int64]) -> tuple[Array, Array]:
    """Numerator and denominator of a setting's value, for each response."""
    if k is None:
        return (100 * hits).astype(np.float64), present.astype(np.float64)
    if setting == PASS:
        return (hits >= k).astype(np.float64), np.ones(len(hits))
    values = cacs_values(hits, present, k)
    scored = ~np.isnan(values)
    return np.where(scored, values, 0.0), scored.astype(np.float64)
