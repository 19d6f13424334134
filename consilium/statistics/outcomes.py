"""The codes of a decision or verdict on one criterion in integer arrays, and their words in files and the database."""

from enum import IntEnum


class Outcome(IntEnum):
    """NOT_MET and MET are answers; they alone enter an agreement table. The codes are never changed: numbers depend on
    their order.
    """

    NOT_MET = 0
    MET = 1
    CANNOT_ASSESS = 2  # a physician's own statement that the criterion could not be judged
    INVALID = 3  # a judge's broken answer
    UNDECIDED = 4  # not settled: a tie within a group, or open work
    FAULTY = 5  # an adjudicator found the criterion itself at fault
    MISSING = 6  # a verdict that was due and never came

    @property
    def word(self) -> str:
        """How the outcome is written in the database, in files and in the API: ``not_met`` for NOT_MET."""
        return self.name.lower()
