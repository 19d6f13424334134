"""Each case's votes, and what status they give it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from consilium.statistics import panel_votes
from consilium.statistics.estimate import Figure
from consilium.statistics.krippendorff_alpha import Level, krippendorff_alpha, value_counts
from consilium.statistics.set_distance_alpha import set_distance_alpha
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
    FLAG = "flag"  # the data call the case ambiguous; there is no threshold

    @property
    def most(self) -> float:
        """The largest threshold that means anything."""
        return {AmbiguousBy.DISPERSION: 25.0, AmbiguousBy.FLAG: 0.0}.get(self, 1.0)


@dataclass(frozen=True)
class AmbiguousRule:
    """When a case is ambiguous."""

    by: AmbiguousBy = AmbiguousBy.DISPERSION
    threshold: float = 0.75

    @classmethod
    def of(cls, text: str) -> AmbiguousRule:
        """The rule of an option such as ``dispersion:0.75`` or ``flag``; ValueError names the rules."""
        if text == AmbiguousBy.FLAG:
            return cls(AmbiguousBy.FLAG, 0.0)
        name, _colon, number = text.partition(":")
        try:
            rule = cls(AmbiguousBy(name), float(number))
        except ValueError:
            rule = None
        if rule is None or rule.by is AmbiguousBy.FLAG or not 0 <= rule.threshold <= rule.by.most:
            measured = ", ".join(f"{by}:X (0 to {by.most:g})" for by in AmbiguousBy if by.most)
            names = f"{measured}, {AmbiguousBy.FLAG}"
            raise ValueError(f"{text!r} is none of: {names}")
        return rule

    @property
    def in_words(self) -> str:
        """The rule as options and files name it."""
        return str(self.by) if self.by is AmbiguousBy.FLAG else f"{self.by}:{self.threshold:g}"

    def holds(self, case: PanelCase) -> bool:
        """Whether the case is ambiguous by its votes of round 1, or by the flag that came with it."""
        if self.by is AmbiguousBy.FLAG:
            return case.is_flagged
        if self.by is AmbiguousBy.DISPERSION:
            return case.dispersion > self.threshold + EXACT
        if self.by is AmbiguousBy.ENTROPY:
            return case.entropy >= self.threshold - EXACT
        return float(case.q.max()) < self.threshold - EXACT


@dataclass(frozen=True, eq=False)
class PanelCase:
    """The votes of one case that say a level, from ``low`` to ``high`` each (votes,), and their figures.

    ``n_cannot_tell`` votes are apart. ``q`` (levels,) is their distribution, NaN without a vote; ``reference_low`` and
    ``reference_high`` are -1 then. ``is_flagged``: the data call the case ambiguous. ``is_ambiguous_in_set``: so does
    the set that froze its votes, by its rule or for a ruling.
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
    is_flagged: bool = False
    is_ambiguous_in_set: bool = False

    @property
    def m(self) -> int:
        return len(self.low)

    def status(self, rule: AmbiguousRule, minimum: int = MINIMUM_VOTES) -> PanelStatus:
        """The panel status by the votes; a case is set aside only where a panel of ``minimum`` physicians voted."""
        if self.m + self.n_cannot_tell < minimum:
            return PanelStatus.TOO_FEW
        if self.n_cannot_tell > (self.m + self.n_cannot_tell) / 2:
            return PanelStatus.SET_ASIDE
        if self.m < minimum:
            return PanelStatus.TOO_FEW
        if self.is_ambiguous_in_set or rule.holds(self):
            return PanelStatus.AMBIGUOUS
        return PanelStatus.CLEAR if self.reference_low == self.reference_high else PanelStatus.BOUNDARY


def panel_cases(votes: Iterable[Vote], n_levels: int, flags: Mapping[str, bool] | None = None) -> dict[str, PanelCase]:
    """The votes of round 1 by case, sorted by name; later rounds are not independent. ``flags`` are by case."""
    by_case: dict[str, list[tuple[int | None, int | None]]] = {}
    for vote in votes:
        if vote.round == 1:
            by_case.setdefault(vote.case, []).append((vote.low, vote.high))
    flagged = flags or {}
    return {
        case: panel_case(case, by_case[case], n_levels, is_flagged=flagged.get(case, False)) for case in sorted(by_case)
    }


def panel_case(
    case: str, votes: Sequence[tuple[int | None, int | None]], n_levels: int, *, is_flagged: bool = False
) -> PanelCase:
    """The figures of one case from the low and the high level of each vote, both None where somebody cannot tell."""
    levels = sorted((low, high) for low, high in votes if low is not None and high is not None)
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
        is_flagged=is_flagged,
    )


@dataclass(frozen=True, slots=True)
class PanelAgreement:
    """How far the physicians agree over all cases: alpha of the votes for a single level, and of all votes."""

    n_votes: int
    n_boundary_votes: int
    single: Figure  # ordinal
    sets: Figure  # by the distance of the nearest levels


def panel_agreement(cases: Collection[PanelCase], n_levels: int) -> PanelAgreement:
    """The agreement over cases; votes that name no level are no votes here."""
    votes = [
        (number, low, high)
        for number, case in enumerate(cases)
        for low, high in zip(case.low.tolist(), case.high.tolist(), strict=True)
    ]
    columns = np.array(votes, dtype=np.int64).reshape(-1, 3)
    single = columns[columns[:, 1] == columns[:, 2]]
    counts = value_counts(single[:, 0], single[:, 1], len(cases), n_levels)
    return PanelAgreement(
        n_votes=len(columns),
        n_boundary_votes=len(columns) - len(single),
        single=krippendorff_alpha(counts, Level.ORDINAL),
        sets=set_distance_alpha(columns[:, 0], columns[:, 1], columns[:, 2]),
    )
