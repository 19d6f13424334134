"""Slices of decided suggestions, and sums over their cases. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agreement.drafted.inputs import DecidedSuggestion, DraftedInputs
from consilium.core.reasons import Reason
from consilium.statistics.case_numbers import MINIMUM_PILOT_CASES
from scoring.models import EndpointKind

ALL = "all"
Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# What makes slices, in the order of tables: a suggestion may be in several of a column.
SLICES: dict[str, Callable[[DecidedSuggestion], Collection[str]]] = {
    "recipe": lambda row: (row.recipe,),
    "kind": lambda row: row.kinds,
    "axis": lambda row: (row.axis,),
    "author": lambda row: (row.author,),
    "month": lambda row: (row.month,),
}


class SuggestionSums:
    """Suggestions in slices; ``columns`` are the names of `SLICES` that make some."""

    def __init__(self, inputs: DraftedInputs, columns: Sequence[str] = tuple(SLICES)) -> None:
        self.rows = inputs.suggestions
        place = {case.case: number for number, case in enumerate(inputs.cases)}
        case = np.array([place[row.case] for row in self.rows], dtype=np.int64)
        self._of_case = np.zeros((len(inputs.cases), len(self.rows)))
        self._of_case[case, np.arange(len(self.rows))] = 1.0
        masks: dict[str, Mask] = {ALL: np.ones(len(self.rows), dtype=bool)}
        for column in columns:
            values = [set(SLICES[column](row)) - {""} for row in self.rows]
            for value in sorted({value for own in values for value in own}):
                masks[f"{column}:{value}"] = np.array([value in own for own in values], dtype=bool)
        self.names = list(masks)
        self.member = np.stack(list(masks.values()), axis=1)

    def sums(self, values: ArrayLike) -> Array:
        """Sums of a value of each suggestion, (cases, slices)."""
        return self._of_case @ (self.member * np.asarray(values, dtype=np.float64)[:, None])

    def counted(self, has: Callable[[DecidedSuggestion], bool]) -> Array:
        """Numbers of suggestions with a property, (cases, slices)."""
        return self.sums([has(row) for row in self.rows])

    def within(self, place: int) -> list[DecidedSuggestion]:
        """The suggestions of a slice."""
        return [row for row, inside in zip(self.rows, self.member[:, place], strict=True) if inside]


def kind_of_rows(rows: Collection[DecidedSuggestion]) -> str:
    """Who drafted them: ``rules`` where rules drafted any of them."""
    by_rules = any(row.endpoint_kind == EndpointKind.RULES for row in rows)
    return str(EndpointKind.RULES if by_rules else EndpointKind.MODEL) if rows else ""


def few_cases(n_cases: int) -> str:
    """The remark on figures over too few cases for a claim; empty where there are enough."""
    few = 0 < n_cases < MINIMUM_PILOT_CASES
    return Reason.FEW_CASES(cases=n_cases, needed=MINIMUM_PILOT_CASES) if few else ""
