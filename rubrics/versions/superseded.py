"""Criteria that only superseded versions hold: their decisions and verdicts stay on record but count in no figure."""

from __future__ import annotations

import numpy as np
from django.db import connection
from numpy.typing import NDArray

_GONE = """
    SELECT DISTINCT i.criterion_id
    FROM rubrics_rubric u
    JOIN rubrics_case c ON c.id = u.case_id AND c.benchmark_id = %s
    JOIN rubrics_rubricitem i ON i.rubric_id = u.id
    WHERE u.status = 'superseded' AND NOT EXISTS (
        SELECT 1 FROM rubrics_rubricitem k JOIN rubrics_rubric p ON p.id = k.rubric_id AND p.status = 'published'
        WHERE k.criterion_id = i.criterion_id
    )
    ORDER BY 1
"""


def superseded_criteria(benchmark: int) -> NDArray[np.int64]:
    """Ids of criteria of a benchmark (by its id) that no published rubric holds any more, ascending."""
    with connection.cursor() as cursor:
        cursor.execute(_GONE, [benchmark])
        return np.array([row[0] for row in cursor.fetchall()], dtype=np.int64)


def marked(criteria: NDArray[np.int64], benchmark: int) -> NDArray[np.bool_] | None:
    """Which of ``criteria`` (ids) only superseded versions hold; None where there are none in the benchmark."""
    gone = superseded_criteria(benchmark)
    if not len(gone):
        return None
    place = np.minimum(np.searchsorted(gone, criteria), len(gone) - 1)
    return np.asarray(gone[place] == criteria, dtype=bool)
