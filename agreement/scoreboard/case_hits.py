"""Hits of each response by case: how they spread around the threshold k, and which cases are shown.

Two rules choose cases: the *hardest* have the least mean share of positive criteria met over the responses of all
candidates but physicians; the *most varied* have the largest standard deviation of that share. Cases with fewer than k
positive criteria, where no response can reach k, are not compared. Ties are broken by the key of the case.
"""

from __future__ import annotations

import numpy as np

from agreement.reports.tables import Row
from rubrics.models import Candidate
from scoring.scores.scored import Scored

COLUMNS = (
    *("case", "n_criteria", "k", "n", "n_reached", "mean", "sd", "least", "q1", "median", "q3", "most"),
    *("n_physician", "physician_mean", "n_unscored", "hardest", "most_varied"),
)
TEXT = ("case",)


def case_rows(scored: Scored) -> list[Row]:
    """`COLUMNS` of each case with a response whose positive criteria are all decided, in the order of their keys.

    ``n`` counts responses that no physician wrote; the other figures but those of ``physician`` are theirs. ``sd`` has
    the divisor n - 1. ``hardest`` and ``most_varied`` are places from 1, empty where a case is not
    compared.
    """
    sheet, grid = scored.sheet, scored.grid
    has_hits = grid.has_hits[0]
    by_physician = np.array([kind == Candidate.Kind.PHYSICIAN for kind in scored.kinds], dtype=bool)
    written = by_physician[sheet.response_candidate] if len(scored.kinds) else np.zeros(0, dtype=bool)
    by_case = np.argsort(sheet.response_case, kind="stable")
    ends = np.searchsorted(sheet.response_case[by_case], np.arange(len(scored.keys)), side="right")
    rows: list[Row] = []
    for inside, key in zip(np.split(by_case, ends[:-1]), scored.keys, strict=True) if scored.keys else ():
        settled = inside[has_hits[inside]]
        if not len(settled):
            continue
        own, physician = settled[~written[settled]], settled[written[settled]]
        hits = grid.hits[0, own].astype(np.float64)
        most = int(grid.n_positive[0, settled].max())
        row: Row = {
            **dict.fromkeys(COLUMNS),
            "case": key,
            "n_criteria": most,
            "k": scored.k,
            "n": len(hits),
            "n_reached": int((hits >= scored.k).sum()),
            "n_physician": len(physician),
            "n_unscored": len(inside) - len(settled),
        }
        if len(hits):
            q1, median, q3 = np.quantile(hits, [0.25, 0.5, 0.75]).tolist()
            row |= {"mean": float(hits.mean()), "least": int(hits.min()), "most": int(hits.max())}
            row |= {"q1": q1, "median": median, "q3": q3, "sd": float(hits.std(ddof=1)) if len(hits) > 1 else None}
        if len(physician):
            row["physician_mean"] = float(grid.hits[0, physician].mean())
        rows.append(row)
    compared = [row for row in rows if row["n"] > 1 and row["n_criteria"] >= scored.k]
    for place, row in enumerate(sorted(compared, key=lambda row: (row["mean"] / row["n_criteria"], row["case"])), 1):
        row["hardest"] = place
    for place, row in enumerate(sorted(compared, key=lambda row: (-row["sd"] / row["n_criteria"], row["case"])), 1):
        row["most_varied"] = place
    return sorted(rows, key=lambda row: str(row["case"]))
