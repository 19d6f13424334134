"""The lengths of responses."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from consilium.core.ratings import copy_columns
from rubrics.models import Benchmark

_LENGTHS = """
    SELECT r.id::int8, char_length(r.text)::int8
    FROM rubrics_response r JOIN rubrics_case c ON c.id = r.case_id
    WHERE c.benchmark_id = %(benchmark)s ORDER BY r.id
"""


def read_lengths(benchmark: Benchmark, response_ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """The length in code points of each of some responses of ``benchmark``, whose ids are in ascending order."""
    columns = copy_columns(_LENGTHS, {"benchmark": benchmark.pk}, types={"id": "int8", "length": "int8"})
    return np.asarray(columns["length"][np.searchsorted(columns["id"], response_ids)], dtype=np.int64)
