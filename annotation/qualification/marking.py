"""Marks decisions against a key, for qualification and for gold items.

Only pairs whose key is met or not met are compared. A *cannot assess* against such a key counts as the opposite of the
key, since the author of the key could assess the criterion: nobody passes by leaving hard criteria open. A judge's
invalid verdict is treated the same way. Pairs whose key is *cannot assess* are left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import numpy as np
import numpy.typing as npt

from annotation.models import Outcome
from annotation.models.outcomes import outcome_code_sql
from consilium.core.ratings import copy_columns
from consilium.statistics.confusion import ConfusionCounts
from consilium.statistics.estimate import Figure
from consilium.statistics.macro_f1 import macro_f1

# Annotators' own decisions of round 1 on gold items that were handed in and whose key is active.
_GOLD = f"""
    SELECT a.annotator_id::int8, a.response_id::int8,
           ({outcome_code_sql("d.outcome")})::int2, ({outcome_code_sql("k.outcome")})::int2
    FROM annotation_assignment a
    JOIN annotation_batch b ON b.id = a.batch_id
    JOIN annotation_expertgroup g ON g.id = b.group_id
    JOIN annotation_decision d ON d.assignment_id = a.id AND d.round = 1 AND d.outcome IS NOT NULL
    JOIN annotation_keyedresponse r ON r.response_id = a.response_id AND r.active
    JOIN annotation_keyeddecision k ON k.keyed_id = r.id AND k.criterion_id = d.criterion_id
    WHERE g.benchmark_id = %(benchmark)s AND a.purpose = 'gold' AND a.submitted_at IS NOT NULL
      AND a.status <> 'released'
      AND (%(user)s::int8 IS NULL OR a.annotator_id = %(user)s)
      AND (%(since)s::timestamptz IS NULL OR a.started_at > %(since)s)
      AND (%(until)s::timestamptz IS NULL OR a.submitted_at <= %(until)s)
    ORDER BY 1, 2, d.criterion_id
"""

Codes = npt.NDArray[np.int64]


def against_key(decisions: npt.ArrayLike, key: npt.ArrayLike) -> tuple[Codes, Codes, npt.NDArray[np.bool_]]:
    """Codes of key and decisions (met or not met) of the compared pairs, and a mask of the pairs that are compared."""
    theirs, known = np.asarray(decisions, np.int64), np.asarray(key, np.int64)
    compared = (known == Outcome.MET.code) | (known == Outcome.NOT_MET.code)
    theirs, known = theirs[compared], known[compared]
    return known, np.where(theirs == Outcome.CANNOT_ASSESS.code, 1 - known, theirs), compared


def mark(pairs: Iterable[tuple[str, str]]) -> Figure:
    """MF1 of (decision, key) pairs; its n is the number of pairs compared."""
    rows = [(Outcome(decision).code, Outcome(key).code) for decision, key in pairs]
    known, theirs, _compared = against_key([decision for decision, _ in rows], [key for _, key in rows])
    return macro_f1(ConfusionCounts.from_cells(_cells(known, theirs)))


def _cells(known: Codes, theirs: Codes) -> Codes:
    return np.array(
        [
            ((known == 1) & (theirs == 1)).sum(),
            ((known == 0) & (theirs == 1)).sum(),
            ((known == 1) & (theirs == 0)).sum(),
            ((known == 0) & (theirs == 0)).sum(),
        ]
    )


def gold_pairs(
    benchmark: int, *, user: int | None = None, since: datetime | None = None, until: datetime | None = None
) -> dict[str, npt.NDArray[np.int64]]:
    """Columns user, response, outcome, key: decisions on gold items, of all annotators or of one.

    Only items begun after ``since`` and handed in by ``until`` are included.
    """
    return copy_columns(
        _GOLD,
        {"benchmark": benchmark, "user": user, "since": since, "until": until},
        types={"user": "int8", "response": "int8", "outcome": "int2", "key": "int2"},
    )


def gold_mark(benchmark: int, user: int, *, since: datetime | None, until: datetime) -> Figure:
    """MF1 of one annotator on their gold decisions in the benchmark in that time; n is the number of decisions."""
    pairs = gold_pairs(benchmark, user=user, since=since, until=until)
    known, theirs, _compared = against_key(pairs["outcome"], pairs["key"])
    return macro_f1(ConfusionCounts.from_cells(_cells(known, theirs)))
