"""What one answer about a level says: a level, or why it is none. Pure.

Nothing is read as a default level. An answer is exactly one level or it has a state of its own, and what is no answer
at all (empty, ``NA``, ``nan``) is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from consilium.llm.refusals import begins_with_refusal
from rubrics.acuity.scales import Scale, folded
from rubrics.acuity.schemes import How, Scheme

NOT_GIVEN = {"", "na", "nan"}


class State(IntEnum):
    """What a reading is. Only `LEVEL` is usable; missing readings have no row."""

    LEVEL = 0
    REFUSED = 1
    NO_LEVEL = 2
    SEVERAL = 3
    INVALID = 4

    @property
    def word(self) -> str:
        return _WORDS[self]


_WORDS = ("level", "refused", "no-level", "several", "invalid")  # by number
_STATE_OF = {state.word: state for state in State if state is not State.LEVEL}


@dataclass(frozen=True, slots=True)
class Answer:
    """``place`` is the level's place on the scale, -1 in any other state than `State.LEVEL`."""

    state: State
    place: int = -1


def answer_of(text: str | None, scale: Scale, scheme: Scheme) -> Answer | None:
    """What a candidate's answer says; None where nothing was given.

    A label that the scheme sends to several levels, or to the physicians, is `State.SEVERAL`: it is no one level. So
    are levels, or labels of the scheme, joined by ``|``.
    """
    if text is None or folded(text) in NOT_GIVEN:
        return None
    state = _STATE_OF.get(folded(text).replace("_", "-"))
    if state is not None:
        return Answer(state)
    mapped = scheme.mapped(text)
    if mapped is not None and mapped.how is How.DIRECT and mapped.low is not None:
        return Answer(State.LEVEL, mapped.low)
    if mapped is not None and mapped.how is not How.EXCLUDE:
        return Answer(State.SEVERAL)
    place = scale.place(text)
    if place is not None:
        return Answer(State.LEVEL, place)
    parts = [part for part in text.split("|") if part.strip()]
    if len(parts) > 1 and all(scale.place(part) is not None or scheme.mapped(part) is not None for part in parts):
        return Answer(State.SEVERAL)
    return Answer(State.REFUSED if begins_with_refusal(text) else State.INVALID)
