"""The request that splits the criteria of a case. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from consilium.llm.prompts import Messages
from consilium.llm.staged import Fenced, NumberedItem, case_part, numbered, staged_messages
from validation.coverage.content import Point
from validation.models.splitting import SPLIT_POINTS

_SYSTEM = """\
CRITERIA is a numbered list of what physicians wrote down as mattering in an answer to the conversation in CASE. Split \
each criterion into points: single statements of which each can be met or missed by itself.

- One act, fact or piece of advice is one point. A condition stays with its act: "If she is pregnant, names the risk \
and advises a test" becomes two points, and each begins with "If she is pregnant".
- A prohibition is a point by itself. Examples and alternatives, joined by "or", "such as" or "e.g.", stay together.
- Each point can be read alone: put what they stand for in the place of pronouns and of words such as "this" or "the \
same". Keep numbers, units and how soon something is due.
- Add nothing, leave nothing out, and soften nothing. Keep the language of the criterion and, as far as you can, its \
words. A criterion that begins with negative points says what an answer does wrong; so does each of its points.
- A criterion that is a single statement becomes one point.

Answer with one JSON object and nothing else, in exactly this form:
{"points": [{"text": "<the statement>", "criterion": <number of its criterion in the list>}]}
Every criterion has at least one point."""


def splitting_messages(conversation: Sequence[Mapping[str, str]], criteria: Sequence[Point], *, nonce: str) -> Messages:
    """The request about the criteria of one case."""
    items = [NumberedItem(each.text, each.points, each.axis) for each in criteria]
    parts: list[Fenced | str] = [case_part(conversation), Fenced("CRITERIA", numbered(items))]
    return staged_messages(SPLIT_POINTS, _SYSTEM, parts, nonce)
