"""What is known of a coefficient of two raters: how it is computed, and what files, pages and methods call it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from consilium.statistics.case_figures import CaseFigures, case_table
from consilium.statistics.confusion import ConfusionCounts
from consilium.statistics.estimate import Figure

Values = Callable[[ConfusionCounts], NDArray[np.float64]]
Figures = Callable[[ConfusionCounts], list[Figure]]


@dataclass(frozen=True)
class Coefficient:
    """A figure of two raters, computed from the four cells of their table.

    The module of a coefficient ends in such an object, and `COEFFICIENTS` in `two_raters` lists them. ``figures``
    gives tables and pages their figures, ``values`` gives numbers (NaN where undefined) to the interval rules.
    """

    key: str  # the field of `TwoRaterAgreement`, and the column of files
    figures: Figures
    values: Values
    heading: str  # of its column in printed tables
    plain_name: str  # on a terminal, with its author
    plain_heading: str = ""  # of its column on a terminal; empty: none
    symbol: str = ""  # of its column on pages, a phrase or a sign; empty: none
    name: str = ""  # of its tile on the page of a report, a phrase; empty: none
    in_methods: str = ""  # with its source, in a sentence for a paper
    sources: Mapping[str, str] = field(default_factory=dict)  # in full, by author and year
    is_conservative: bool = False  # an invalid verdict counts as the opposite; all others use valid pairs only
    bounds: tuple[float, float] = (0.0, 1.0)  # between which it lies
    expected: Values | None = None  # of a coefficient 1 - Do/De: De, the disagreement by chance, 0 to 1
    has_interval: bool = True  # in reports of two raters
    needs_variety: bool = False  # undefined where the ratings are constant
    beside_reports: bool = True  # in tables of label files and in model cards, too

    def of_cases(self, counts: ConfusionCounts) -> CaseFigures:
        """The coefficient of each slice for an interval rule, from tables of shape (cases, slices)."""
        return case_table(self.values, counts, bounds=self.bounds, expected=self.expected)
