"""The readings behind a cell of a confusion matrix: which cases of a reference level a candidate sent to a level."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from agreement.acuity.inputs import read_inputs
from annotation.models import ReferenceSet


@dataclass(frozen=True, slots=True)
class CellCase:
    """A case with the number of readings in the cell, of so many that name one level."""

    key: str
    n: int
    n_usable: int


def cases_in_cell(
    reference_set: ReferenceSet,
    candidates: list[str],
    series: tuple[str, str],
    *,
    reference: int,
    level: int,
    judge: str = "",
) -> list[CellCase]:
    """The clear cases of a reference level of which readings of ``series`` name ``level``, as they stand now.

    Those with the most such readings come first. ``candidates`` are those whose series has that name.
    """
    data = read_inputs(reference_set, candidates, judge=judge).data
    if series not in data.series_names:
        return []
    readings = data.readings.of_series(data.series_names.index(series))
    own = readings.usable & (data.is_clear & (data.low == reference))[readings.case]
    usable = Counter(readings.case[own].tolist())
    inside = Counter(readings.case[own & np.asarray(readings.place == level)].tolist())
    cases = [CellCase(data.cases[case], n, usable[case]) for case, n in inside.items()]
    return sorted(cases, key=lambda case: (-case.n, case.key))
