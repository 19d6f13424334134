"""The file of `refinement_file`: scores of responses before and after they were refined. Pure: a file in, arrays out.

A row is a case in an arm: ``case``, ``base`` and ``refined`` (scores times 100; a case without both is left out), and
optional ``arm``, ``length_base`` and ``length_refined``. The column ``tag`` makes slices.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from consilium.core.phrases import Phrase
from consilium.statistics.relative_gain import FULL_SCORE
from rubrics.parsing.fields import Fields, Ids
from validation.files.table_rows import (
    TableRows,
    name_in,
    number_in,
    set_name_in,
    slice_masks,
    slices_in,
    with_missing,
)

COLUMNS = ("case", "base", "refined")
LENGTHS = ("length_base", "length_refined")
SLICES = ("tag",)


@dataclass(frozen=True, eq=False)
class Arm:
    """One entry for each case, sorted by name; NaN where a score or a length is missing."""

    name: str
    cases: list[str]
    base: NDArray[np.float64]
    refined: NDArray[np.float64]
    length_base: NDArray[np.float64]
    length_refined: NDArray[np.float64]
    slices: dict[str, NDArray[np.bool_]]
    # Numbers with units that nothing accounts for, in each refined text; None where the texts are not known.
    new_numbers: NDArray[np.int64] | None = None

    @property
    def has_scores(self) -> NDArray[np.bool_]:
        """Which cases have both scores."""
        return ~np.isnan(self.base) & ~np.isnan(self.refined)


@dataclass(frozen=True)
class RefinementFile:
    """The arms by name; ``unused`` are the columns that were not read."""

    arms: list[Arm]
    unused: list[str]


@dataclass(frozen=True)
class _Row:
    arm: str
    case: str
    numbers: dict[str, float | None]
    slices: dict[str, str]


def read_refinement(path: Path) -> RefinementFile:
    """Read a file whole, or raise `ImportRefused` with its faults."""
    table, known, rows = TableRows(path, COLUMNS), Ids("case"), []
    for fields in table:
        row = _row(fields, table.columns)
        if fields.sound:
            known.add(fields, "case", row.arm, row.case)
        rows.append(row)
    rows.sort(key=lambda row: (row.arm, row.case))
    arms = [_arm(name, [row for row in rows if row.arm == name]) for name in sorted({row.arm for row in rows})]
    return RefinementFile(arms, table.unused(*COLUMNS, *LENGTHS, *SLICES, "arm"))


def _row(fields: Fields, columns: tuple[str, ...]) -> _Row:
    arm = set_name_in(fields, "arm") if "arm" in columns else ""
    case = name_in(fields, "case")
    numbers = {column: number_in(fields, column) for column in ("base", "refined", *LENGTHS)}
    for column in ("base", "refined"):
        score = numbers[column]
        if score is not None and score > FULL_SCORE:
            fields.fault(column, Phrase("A score cannot exceed 100."))
    for column in LENGTHS:
        length = numbers[column]
        if length is not None and length < 0:
            fields.fault(column, Phrase("A length cannot be negative."))
    return _Row(arm, case, numbers, slices_in(fields, SLICES))


def _arm(name: str, rows: list[_Row]) -> Arm:
    base, refined, length_base, length_refined = (
        with_missing([row.numbers[column] for row in rows]) for column in ("base", "refined", *LENGTHS)
    )
    slices = slice_masks([row.slices for row in rows], SLICES)
    return Arm(name, [row.case for row in rows], base, refined, length_base, length_refined, slices)
