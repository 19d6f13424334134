"""The codes of a decision or verdict on one criterion, as the pure modules take them in integer arrays."""

from enum import IntEnum


class Outcome(IntEnum):
    """NOT_MET and MET are answers. The same numbers as `consilium.lib.ratings.Outcome`, which reads them from the
    database, and MISSING, which no row of a database can say.
    """

    NOT_MET = 0
    MET = 1
    CANNOT_ASSESS = 2  # a physician's own statement that the criterion could not be judged
    INVALID = 3  # a judge's broken answer
    UNDECIDED = 4  # not settled: a tie within a group, or open work
    FAULTY = 5  # an adjudicator found the criterion itself at fault
    MISSING = 6  # a verdict that was due and never came
