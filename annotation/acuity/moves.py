"""How the votes on a case moved from round 1 to round 2."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from annotation.acuity.panel import PanelCase
from annotation.acuity.votes import CastVote, panels_of
from annotation.models import FIRST_ROUND, LAST_ROUND
from rubrics.acuity.scales import Scale


class Move(StrEnum):
    """What became of a physician's vote of round 1 in round 2, by the median of round 1."""

    KEPT = "kept"  # the same level or levels
    TOWARDS = "towards"  # nearer to the median than before
    AWAY = "away"  # farther from it
    ACROSS = "across"  # another vote, as far from it on the other side
    CANNOT_TELL = "cannot-tell"  # one of the two votes names no level


def move_of(before: CastVote, after: CastVote, panel: PanelCase) -> Move:
    """The move from one vote to the other. Distances are counted in half levels, on which votes and median lie."""
    if before.low is None or before.high is None or after.low is None or after.high is None:
        return Move.CANNOT_TELL
    median = panel.reference_low + panel.reference_high
    first, second = before.low + before.high, after.low + after.high
    if first == second:
        return Move.KEPT
    distance, later = abs(first - median), abs(second - median)
    if distance == later:
        return Move.ACROSS
    return Move.TOWARDS if later < distance else Move.AWAY


@dataclass(frozen=True, slots=True)
class CaseMoves:
    """How the votes on a case moved, and its references by round 1 and by round 2 alone."""

    case: str
    moves: Counter[Move]
    first: PanelCase
    last: PanelCase

    @property
    def n_votes(self) -> int:
        """Physicians who voted in both rounds."""
        return self.moves.total()

    @property
    def counts(self) -> list[int]:
        """How many votes made each move, in the order of `Move`."""
        return [self.moves[move] for move in Move]


def moves_of(votes: Sequence[CastVote], later_votes: Iterable[CastVote], n_levels: int) -> list[CaseMoves]:
    """The moves on each case with a vote of round 2, by key."""
    before = {(vote.case_id, vote.physician): vote for vote in votes}
    first = panels_of(votes, n_levels, FIRST_ROUND)
    by_case: dict[int, list[CastVote]] = {}
    for vote in later_votes:
        by_case.setdefault(vote.case_id, []).append(vote)
    moves = []
    for case_id, own in by_case.items():
        pairs = [(before[case_id, vote.physician], vote) for vote in own if (case_id, vote.physician) in before]
        counts = Counter(move_of(earlier, vote, first[case_id]) for earlier, vote in pairs)
        last = panels_of(own, n_levels, LAST_ROUND)[case_id]
        moves.append(CaseMoves(own[0].case, counts, first[case_id], last))
    return sorted(moves, key=lambda case: case.case)


def total_of(moves: Iterable[CaseMoves]) -> Mapping[Move, int]:
    """The moves over all cases."""
    total: Counter[Move] = Counter()
    for case in moves:
        total += case.moves
    return {move: total[move] for move in Move}


MOVE_COLUMNS = (
    *("case", "n_votes", "kept", "towards", "away", "across", "cannot_tell"),
    *("low", "high", "last_low", "last_high", "dispersion", "last_dispersion"),
)
MOVE_TEXT = ("case", "low", "high", "last_low", "last_high")


def move_rows(moves: Iterable[CaseMoves], scale: Scale) -> Iterator[Sequence[object]]:
    """Rows of `MOVE_COLUMNS`, one a case."""
    for case in moves:
        yield (
            *(case.case, case.n_votes, *case.counts),
            *_levels(case.first, scale),
            *_levels(case.last, scale),
            *(panel.dispersion if panel.m > 1 else None for panel in (case.first, case.last)),
        )


def _levels(panel: PanelCase, scale: Scale) -> tuple[str, str]:
    if not panel.m:
        return "", ""
    return scale.values[panel.reference_low], scale.values[panel.reference_high]
