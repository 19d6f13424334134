"""The codes of a decision or verdict on one criterion, as the pure modules take them in integer arrays."""

from enum import IntEnum


class Outcome(IntEnum):
    """NOT_MET and MET are answers. INVALID is a judge's broken answer, MISSING one that never came,
    CANNOT_ASSESS a physician's own statement that the criterion could not be judged.
    """

    NOT_MET = 0
    MET = 1
    INVALID = 2
    MISSING = 3
    CANNOT_ASSESS = 4
