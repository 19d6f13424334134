"""What handing the unsure cases to a person would have brought: a replay of stored readings; nobody is asked.

Of the panel cases with three votes and two usable readings, those on which a candidate's confidence lies below a
threshold are handed over. A case that stays is answered by the candidate's readings, one that is handed over by a
physician of its panel: by each vote in turn, which is measured against the other votes. Truth is drawn from the votes
in either case, so that both are wrong where physicians disagree. Thresholds are the values of the confidence; the last
row hands over everything.

The confidence of a case is the share of the mode among its usable readings (*samples*), or the mean of what was stated
with them or of the probabilities of their levels (*stated*, *logprobs*).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agreement.acuity.readings import AcuityData
from agreement.acuity.tables import SAMPLES, case_confidences, level_counts
from annotation.acuity.panel import PanelCase
from consilium.statistics.triage_cost import cost_of_cells

Row = dict[str, Any]
Array = NDArray[np.float64]

ROUTING_COLUMNS = (
    *("candidate", "format", "confidence_source", "threshold", "n_cases", "n_handed", "handed", "under", "over"),
    *("cost", "is_least"),
)
TEXT_COLUMNS = ("candidate", "format", "confidence_source")


def routing_rows(data: AcuityData, cases: Sequence[Row], *, ratio: float) -> Iterator[Row]:
    """Rows by candidate, format, source of confidence and threshold, of the ``cases`` of ``uncertainty_cases.csv``.

    Those of them whose distribution is that of readings.
    """
    cases = [row for row in cases if row["source"] == SAMPLES]
    counts = level_counts(data)
    number_of = {case: number for number, case in enumerate(data.cases)}
    for i, (candidate, format_) in enumerate(data.series_names):
        keys = [row["case"] for row in cases if (row["candidate"], row["format"]) == (candidate, format_)]
        if not keys:
            continue
        places = np.array([number_of[key] for key in keys])
        own = counts[places, i]
        shares = own / own.sum(axis=1, keepdims=True)
        # By case: too low, too high, cost; of the candidate and of a physician.
        kept = np.array([_rates(f[:, None] * data.panel[key].q, ratio) for f, key in zip(shares, keys, strict=True)])
        handed = np.array([_rates(physician_pairs(data.panel[key], data.n_levels), ratio) for key in keys])
        for source, confidence in _confidences(data, i, places, shares):
            known = ~np.isnan(confidence)
            if known.sum() < 2:
                continue
            name = {"candidate": candidate, "format": format_, "confidence_source": source}
            yield from _curve(name, confidence[known], kept[known], handed[known])


def physician_pairs(panel: PanelCase, n_levels: int) -> Array:
    """The share of each pair of a physician's level (rows) and another's (columns), over all pairs of votes, (L, L).

    A vote for two levels is half a vote for each.
    """
    levels = np.arange(n_levels)
    votes = ((levels >= panel.low[:, None]) & (levels <= panel.high[:, None])).astype(np.float64)
    votes /= votes.sum(axis=1, keepdims=True)
    total = votes.sum(axis=0)
    return np.asarray((np.outer(total, total) - votes.T @ votes) / (panel.m * (panel.m - 1)))


def _rates(shares: Array, ratio: float) -> tuple[float, float, float]:
    """Too low, too high and the cost, from the shares of answer (rows) and truth (columns)."""
    costs = cost_of_cells(len(shares), ratio).T  # of a truth in the rows
    return float(np.triu(shares, 1).sum()), float(np.tril(shares, -1).sum()), float((shares * costs).sum())


def _confidences(
    data: AcuityData, series: int, places: NDArray[np.int64], shares: Array
) -> Iterator[tuple[str, Array]]:
    yield SAMPLES, shares.max(axis=1)
    for source, means in case_confidences(data, series).items():
        yield source, means[places]


def _curve(name: Row, confidence: Array, kept: Array, handed: Array) -> Iterator[Row]:
    rows = []
    for threshold in [*np.unique(confidence).tolist(), None]:
        is_handed = np.ones(len(confidence), dtype=bool) if threshold is None else confidence < threshold
        under, over, cost = np.where(is_handed[:, None], handed, kept).mean(axis=0).tolist()
        rows.append(
            {
                **name,
                "threshold": threshold,
                "n_cases": len(confidence),
                "n_handed": int(is_handed.sum()),
                "handed": float(is_handed.mean()),
                "under": under,
                "over": over,
                "cost": cost,
                "is_least": False,
            }
        )
    # Of equal costs the one that hands over the least.
    min(rows, key=lambda row: (round(row["cost"], 12), row["n_handed"]))["is_least"] = True
    yield from rows
