"""The file of `coverage_file`: which gold points each set of criteria covers. Pure: a file in, arrays out.

A row is a gold point: ``case``, ``gold`` (its name within the case) and ``points``, then a column for each set with
``full``, ``partial``, ``none``, ``invalid`` or nothing. The columns ``axis``, ``sign`` and ``tag`` make slices.
"""

from __future__ import annotations

import math
import unicodedata
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from consilium.core.limits import MAX_KEY_LENGTH
from consilium.core.phrases import Phrase
from consilium.statistics.intent_alignment import Extent
from rubrics.parsing.faults import Faults
from rubrics.parsing.fields import Fields, Ids
from validation.files.table_rows import (
    ALL,
    TableRows,
    name_in,
    number_in,
    numbered,
    slice_masks,
    slices_in,
    with_missing,
)

COLUMNS = ("case", "gold", "points")
SLICES = ("axis", "sign", "tag")
IGNORED = ("endpoint_kind",)  # of a table that a report has written
EXTENTS = {"full": Extent.FULL, "partial": Extent.PARTIAL, "none": Extent.NONE, "invalid": Extent.INVALID}
SIGNS = {"positive": 1, "negative": -1}


@dataclass(frozen=True, eq=False)
class CoverageFile:
    """One entry for each gold point, sorted by case and name, so that the order of rows changes nothing.

    ``extent`` is (gold points, sets), ``points`` NaN where a gold point has none; ``slices`` are masks by name.
    """

    sets: list[str]
    case: NDArray[np.int64]
    n_cases: int
    points: NDArray[np.float64]
    extent: NDArray[np.int64]
    slices: dict[str, NDArray[np.bool_]]


@dataclass(frozen=True)
class _Row:
    case: str
    gold: str
    points: float | None
    extents: tuple[Extent, ...]
    slices: dict[str, str]


def read_coverage(path: Path) -> CoverageFile:
    """Read a file whole, or raise `ImportRefused` with its faults."""
    table, known, rows = TableRows(path, COLUMNS), Ids("gold point"), []
    columns: dict[str, str] | None = None
    for fields in table:
        if columns is None:
            columns = _sets(table.columns, table.faults)
        row = _row(fields, columns)
        if fields.sound:
            known.add(fields, "gold", row.case, row.gold)
        rows.append(row)
    rows.sort(key=lambda row: (row.case, row.gold))
    cases, case = numbered([row.case for row in rows])
    return CoverageFile(
        sets=list((columns or {}).values()),
        case=case,
        n_cases=len(cases),
        points=with_missing([row.points for row in rows]),
        extent=np.array([row.extents for row in rows], dtype=np.int64),
        slices=slice_masks([row.slices for row in rows], SLICES),
    )


def _sets(header: tuple[str, ...], faults: Faults) -> dict[str, str]:
    """The names of the sets by their columns."""
    columns = [name for name in header if name not in (*COLUMNS, *SLICES, *IGNORED)]
    names = {column: unicodedata.normalize("NFC", column) for column in columns}
    if not columns:
        faults.add(1, "", Phrase("The header has no set. Add a column for each set after case, gold and points."))
    for place, (column, name) in enumerate(names.items()):
        if not name:
            faults.add(1, "", Phrase("A column has no name."))
        elif name.casefold() == ALL:
            faults.add(1, column, Phrase("“%(name)s” is reserved for everything. Choose another name.", name=name))
        elif len(name) > MAX_KEY_LENGTH:
            faults.add(1, column, Phrase("This is longer than %(longest)s characters.", longest=MAX_KEY_LENGTH))
        elif name in list(names.values())[:place]:
            faults.add(1, column, Phrase("The header names this set twice."))
    return names


def _row(fields: Fields, columns: dict[str, str]) -> _Row:
    case, gold, points = name_in(fields, "case"), name_in(fields, "gold"), number_in(fields, "points")
    if points == 0:
        fields.fault("points", Phrase("A criterion must add or deduct at least one point."))
    slices = slices_in(fields, SLICES)
    sign = slices.get("sign")
    if sign is not None and sign not in SIGNS:
        fields.choice("sign", tuple(SIGNS))
    elif sign is not None and points and math.copysign(1, points) != SIGNS[sign]:
        fields.fault("sign", Phrase("The sign of the points is different."))
    extents = []
    for column in columns:
        cell = fields.choice(column, tuple(EXTENTS), required=False)
        extents.append(EXTENTS.get(cell, Extent.MISSING))
    return _Row(case, gold, points, tuple(extents), slices)
