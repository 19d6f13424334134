"""What judgements of a pair come to. Pure.

A judgement is a *grade*: no error unless there is exactly one error and it may do harm; else flawed where the reference
has another flaw; else dangerous or minor. A pair is settled by the grade that as many physicians give as its group asks
for. Until then it is open, and disputed where two grades were given; then one more physician is asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

NO_ERROR, FLAWED = "no_error", "flawed"
NO_HARM = "none"
PROPOSED, CONFIRMED, REJECTED = "proposed", "confirmed", "rejected"


@dataclass(frozen=True, slots=True)
class Settlement:
    """The state of a pair, its grade where it is settled, and whether physicians disagree about an open one."""

    state: str
    grade: str
    is_disputed: bool


def grade_of(*, is_single: bool, harm: str, has_other_flaw: bool) -> str:
    """The grade that the answers of one physician come to."""
    if not is_single or harm == NO_HARM:
        return NO_ERROR
    return FLAWED if has_other_flaw else harm


def settlement(grades: Sequence[str], n_due: int) -> Settlement:
    """The settlement of a pair by the grades of its judgements, the earliest first.

    Where two grades have enough judgements, which changing one's mind can bring about, neither settles it.
    """
    counts = Counter(grades)
    enough = [grade for grade, number in counts.items() if number >= n_due]
    if len(enough) != 1:
        return Settlement(PROPOSED, "", len(counts) > 1)
    grade = enough[0]
    return Settlement(REJECTED if grade == NO_ERROR else CONFIRMED, grade, False)
