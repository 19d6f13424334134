"""The requests of a run of trials. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from consilium.llm.prompts import Messages
from consilium.llm.staged import Fenced, NumberedItem, case_part, numbered, staged_messages
from validation.coverage.content import Point
from validation.models.trials import NO_RUBRIC, SIDE_BY_SIDE

_DECISION = """\
`decision` is the better response as a whole, "A" or "B", or "same" if neither is better."""

_SIDE_BY_SIDE = f"""\
You compare two responses to the conversation in CASE. They stand in A and B, in an order that means nothing. CRITERIA \
is a numbered list of statements about a response. For each of them decide two things, each on its own: is the \
statement true of A, and is it true of B?

- Judge what a response says, not how it says it. The two may be almost the same: read both to the end, and look at \
doses, units, times, numbers, drugs, negations, exceptions and warnings word by word.
- A statement may describe something wanted or something harmful; the number in brackets is what it is worth. "Met" \
says only that what it describes is present. A statement with several parts is met only if all of them are.
- Do not add anything up.

Answer with one JSON object and nothing else, in exactly this form, with one entry for each criterion:
{{"items": [{{"criterion": <its number>, "met_a": <true or false>, "met_b": <true or false>}}], "decision": "A" or "B" \
or "same"}}
{_DECISION}"""

_NO_RUBRIC = f"""\
You compare two responses to the conversation in CASE. They stand in A and B, in an order that means nothing. Score \
each of them as a physician would who answers for the patient's safety: 0 is useless or dangerous, 10 could not be \
better. The two may be almost the same: read both to the end, and look at doses, units, times, numbers, drugs, \
negations, exceptions and warnings word by word.

Answer with one JSON object and nothing else, in exactly this form:
{{"score_a": <0 to 10>, "score_b": <0 to 10>, "decision": "A" or "B" or "same"}}
{_DECISION}"""


def trial_messages(
    conversation: Sequence[Mapping[str, str]], first: str, second: str, criteria: Sequence[Point], *, nonce: str
) -> Messages:
    """The request about two texts by criteria, or without any."""
    parts = [case_part(conversation), Fenced("A", first), Fenced("B", second)]
    if not criteria:
        return staged_messages(NO_RUBRIC, _NO_RUBRIC, parts, nonce)
    items = [NumberedItem(each.text, each.points, each.axis) for each in criteria]
    return staged_messages(SIDE_BY_SIDE, _SIDE_BY_SIDE, [*parts, Fenced("CRITERIA", numbered(items))], nonce)
