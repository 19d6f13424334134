"""Each case's votes, and what status they give it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from consilium.statistics import panel_votes
from rubrics.parsing.acuity_files import Vote

MINIMUM_VOTES = 3
EXACT = 1e-9  # a dispersion of 0.75 is not above 0.75


class PanelStatus(StrEnum):
    """What a case's votes say about it."""

    CLEAR = "clear"
    BOUNDARY = "boundary"
    AMBIGUOUS = "ambiguous"
    SET_ASIDE = "set-aside"
    TOO_FEW = "too-few"


class AmbiguousBy(StrEnum):
    """The figure by which a case is ambiguous."""

    DISPERSION = "dispersion"  # above the threshold
    ENTROPY = "entropy"  # at least the threshold
    MAJORITY = "majority"  # no level has that share of the votes


@dataclass(frozen=True)
class AmbiguousRule:
    """When a case is ambiguous."""

    by: AmbiguousBy = AmbiguousBy.DISPERSION
    threshold: float = 0.75

    @property
    def in_words(self) -> str:
        """The rule as options and files name it."""
        return f"{self.by}:{self.threshold:g}"

    def holds(self, case: PanelCase) -> bool:
        """Whether the case is ambiguous by its votes of round 1."""
        if self.by is AmbiguousBy.DISPERSION:
            return case.dispersion > self.threshold + EXACT
        if self.by is AmbiguousBy.ENTROPY:
            return case.entropy >= self.threshold - EXACT
        return float(case.q.max()) < self.threshold - EXACT


@dataclass(frozen=True, eq=False)
class PanelCase:
    """The votes of one case that say a level, from ``low`` to ``high`` each (votes,), and their figures.

    ``n_cannot_tell`` votes are apart. ``q`` (levels,) is their distribution, NaN without a vote; ``reference_low`` and
    ``reference_high`` are -1 then.
    """

    case: str
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    n_cannot_tell: int
    q: NDArray[np.float64]
    reference_low: int
    reference_high: int
    dispersion: float
    entropy: float

    @property
    def m(self) -> int:
        return len(self.low)

    def status(self, rule: AmbiguousRule, minimum: int = MINIMUM_VOTES) -> PanelStatus:
        """The panel status by the votes."""
        if self.n_cannot_tell > (self.m + self.n_cannot_tell) / 2:
            return PanelStatus.SET_ASIDE
        if self.m < minimum:
            return PanelStatus.TOO_FEW
        if rule.holds(self):
            return PanelStatus.AMBIGUOUS
        return PanelStatus.CLEAR if self.reference_low == self.reference_high else PanelStatus.BOUNDARY


def panel_cases(votes: Iterable[Vote], n_levels: int) -> dict[str, PanelCase]:
    """The votes of round 1 by case, sorted by name; later rounds are not independent."""
    by_case: dict[str, list[Vote]] = {}
    for vote in votes:
        if vote.round == 1:
            by_case.setdefault(vote.case, []).append(vote)
    return {case: _panel_case(case, by_case[case], n_levels) for case in sorted(by_case)}


def _panel_case(case: str, votes: list[Vote], n_levels: int) -> PanelCase:
    levels = sorted((vote.low, vote.high) for vote in votes if vote.low is not None and vote.high is not None)
    low, high = (np.array([level[place] for level in levels], dtype=np.int64) for place in (0, 1))
    q = panel_votes.distribution(low, high, n_levels)
    reference = panel_votes.reference(low, high) if levels else (-1, -1)
    return PanelCase(
        case=case,
        low=low,
        high=high,
        n_cannot_tell=len(votes) - len(levels),
        q=q,
        reference_low=reference[0],
        reference_high=reference[1],
        dispersion=panel_votes.dispersion(low, high),
        entropy=panel_votes.uncertainty(q),
    )
