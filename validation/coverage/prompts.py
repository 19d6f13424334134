"""The requests of a run of coverage. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from consilium.llm.prompts import Messages, turns_text
from consilium.llm.staged import Fenced, NumberedItem, numbered, staged_messages
from validation.coverage.content import Point
from validation.models.coverage import BACK

_FORM = """\
Answer with one JSON object and nothing else, in exactly this form:
{"extent": "full" or "partly" or "none", "by": [<numbers from the list>], "why": "<one sentence>"}
For full and partly, `by` names the entries that cover it, as few as will do; for none it is empty. Judge the content \
alone, not the wording, the language or the number of points."""

_FORWARD = f"""\
Physicians wrote down what matters in a good answer to the conversation in CASE. POINT is one of these things. \
CRITERIA is a list of criteria that somebody else wrote for grading answers to the same conversation. How far do the \
criteria cover the point?

- full: an answer that does all that the named criteria reward, and nothing that they penalise, would have to do what \
the point asks for, or to avoid what it warns of. A criterion that is only broader is not enough.
- partly: the named criteria ask for a part of it, or for a weaker form.
- none: no criterion asks for any of it.

Each criterion begins with its points: a positive number rewards the act, a negative one penalises it. To reward an \
act and to penalise leaving it out is the same intent.

{_FORM}"""

_BACK = f"""\
CRITERIA is a list of what physicians wrote down as mattering in a good answer to the conversation in CASE. POINT is a \
criterion that somebody else wrote for grading answers to the same conversation. How far does the list cover the \
criterion?

- full: an answer that does all that the named entries reward, and nothing that they penalise, would have to do what \
the criterion asks for, or to avoid what it penalises. An entry that is only broader is not enough.
- partly: the named entries ask for a part of it, or for a weaker form.
- none: no entry asks for any of it.

Each entry begins with its points: a positive number rewards the act, a negative one penalises it. To reward an act \
and to penalise leaving it out is the same intent.

{_FORM}"""


def coverage_messages(
    stage: str, conversation: Sequence[Mapping[str, str]], point: Point, criteria: Sequence[Point], *, nonce: str
) -> Messages:
    """The request about a point and a list of criteria."""
    effect = "An answer gains" if point.points > 0 else "An answer loses"
    items = [NumberedItem(each.text, each.points, each.axis) for each in criteria]
    parts: list[Fenced | str] = [
        Fenced("CASE", turns_text(conversation)),
        Fenced("POINT", point.text),
        f"{effect} {abs(point.points)} points by doing what POINT says.",
        Fenced("CRITERIA", numbered(items)),
    ]
    return staged_messages(stage, _BACK if stage == BACK else _FORWARD, parts, nonce)
