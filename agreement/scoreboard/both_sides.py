"""Cases with a response that reaches the threshold k and one that does not: the two nearest to k of each.

Such a pair shows what CACS@k tells apart and partial credit does not.
"""

from __future__ import annotations

import numpy as np

from agreement.reports.tables import Row
from consilium.statistics.cacs import cacs_values
from rubrics.models import Response
from scoring.scores.scored import Scored

SIDES = ("above", "below")
COLUMNS = (
    *("case", "candidate_above", "sample_above", "hits_above", "candidate_below", "sample_below", "hits_below"),
    *("n_criteria", "k", "distance", "rubric_accuracy_above", "rubric_accuracy_below", "rubric_accuracy_difference"),
    *("cacs_at_k_above", "cacs_at_k_below", "cacs_at_k_difference", "n_above", "n_below"),
    *("response_above", "response_below"),
)
TEXT = ("case", "candidate_above", "candidate_below", "response_above", "response_below")


def pair_rows(scored: Scored) -> list[Row]:
    """`COLUMNS`, the pair with the least ``distance`` (difference in hits) first; equal ones by the key of the case.

    Above is the response with the fewest hits from k on, below that with the most under k; of equal ones the first by
    the name of its candidate and its sample. All responses are those of `read_scored`, physicians' too.
    """
    sheet, grid, k = scored.sheet, scored.grid, scored.k
    hits, n_positive = grid.hits[0], grid.n_positive[0]
    usable = grid.has_hits[0] & (n_positive >= k)
    cacs = cacs_values(hits, np.where(usable, n_positive, 0), k)
    by_case: dict[int, list[int]] = {}
    for place in np.flatnonzero(usable).tolist():
        by_case.setdefault(int(sheet.response_case[place]), []).append(place)
    chosen: list[tuple[int, dict[str, int], dict[str, int]]] = []
    for case, places in by_case.items():
        above, below = ([place for place in places if (hits[place] >= k) == reached] for reached in (True, False))
        if not above or not below:
            continue

        def order(place: int) -> tuple[str, int]:
            return scored.names[sheet.response_candidate[place]], int(sheet.response_sample[place])

        nearest = {
            "above": min(above, key=lambda place: (hits[place], order(place))),
            "below": min(below, key=lambda place: (-hits[place], order(place))),
        }
        chosen.append((case, nearest, {"above": len(above), "below": len(below)}))
    ids = [int(sheet.response_ids[place]) for _case, nearest, _counts in chosen for place in nearest.values()]
    public_ids = dict(Response.objects.filter(pk__in=ids).values_list("pk", "public_id"))
    rows = []
    for case, nearest, counts in chosen:
        row: Row = {"case": scored.keys[case], "k": k, "n_criteria": int(n_positive[nearest["above"]])}
        for side, place in nearest.items():
            row |= {
                f"candidate_{side}": scored.names[sheet.response_candidate[place]],
                f"sample_{side}": int(sheet.response_sample[place]),
                f"hits_{side}": int(hits[place]),
                f"rubric_accuracy_{side}": 100 * int(hits[place]) / int(n_positive[place]),
                f"cacs_at_k_{side}": float(cacs[place]),
                f"n_{side}": counts[side],
                f"response_{side}": public_ids[int(sheet.response_ids[place])],
            }
        row["distance"] = row["hits_above"] - row["hits_below"]
        for name in ("rubric_accuracy", "cacs_at_k"):
            row[f"{name}_difference"] = row[f"{name}_above"] - row[f"{name}_below"]
        rows.append(row)
    return sorted(rows, key=lambda row: (row["distance"], str(row["case"])))
