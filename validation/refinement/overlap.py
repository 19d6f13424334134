"""Teaching to the test: which guiding criteria the gold rubric has as well, and halves of which one alone grades. Pure.

A guiding criterion *overlaps* with a gold one if both are the same row, have the same text, or are alike: a cosine of
at least `ALIKE` (`rubrics.lint.likeness`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rubrics.lint.likeness import similarities
from validation.coverage.content import Point

ALIKE = 0.9


@dataclass(frozen=True, slots=True)
class Row:
    """A criterion with the id of the row that it is, or was copied from; None where it came from a file."""

    point: Point
    criterion: int | None = None


def overlapping(guiding: Sequence[Row], gold: Sequence[Row]) -> list[bool]:
    """Which of the guiding criteria of a case overlap with one of its gold criteria."""
    if not guiding or not gold:
        return [False] * len(guiding)
    rows = {row.criterion for row in gold if row.criterion is not None}
    texts = {row.point.text.strip() for row in gold}
    alike = similarities([row.point.text for row in (*guiding, *gold)])[: len(guiding), len(guiding) :]
    near: list[bool] = np.any(alike >= ALIKE - 1e-6, axis=1).tolist()  # the matrix is of single precision
    return [
        row.criterion in rows or row.point.text.strip() in texts or is_near
        for row, is_near in zip(guiding, near, strict=True)
    ]


def halves(key: str, gold: Sequence[Row], seed: int) -> tuple[list[Row], list[Row]]:
    """The gold criteria of a case that guide, and those that grade, each in their order.

    Drawn by the case's key, the text and the seed, so that every database draws the same. Criteria with positive points
    are drawn apart from the others; of an odd number the one left grades among the positive ones, and guides otherwise.
    """

    def drawn(positive: bool) -> list[Row]:
        own = [row for row in gold if (row.point.points > 0) == positive]
        return sorted(own, key=lambda row: hashlib.sha256(f"{seed}\x1f{key}\x1f{row.point.text}".encode()).digest())

    positive, negative = drawn(True), drawn(False)
    guide = [*positive[: len(positive) // 2], *negative[: (len(negative) + 1) // 2]]
    chosen = {id(row) for row in guide}
    return [row for row in gold if id(row) in chosen], [row for row in gold if id(row) not in chosen]
