"""What a physician has answered of the questions of a benchmark, and what waits for them: as the To do list counts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OwnCounts:
    """How many questions somebody has answered, how many wait for them, and how many they cannot read.

    ``unread`` are open questions on cases in languages that they do not read; they are in neither of the others.
    """

    answered: int
    waiting: int
    unread: int

    @property
    def total(self) -> int:
        """Those that they have answered, or may answer."""
        return self.answered + self.waiting
