"""The request for a near miss. Pure: it holds the question and the reference, and never a rubric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from consilium.llm.prompts import Messages
from consilium.llm.staged import Fenced, case_part, staged_messages
from validation.models.pairs import MAKING

_KINDS = {
    "dose": "a dose that is too high or too low to be right",
    "unit": "another unit, such as g for mg or hours for days",
    "timing": "when, how often or for how long something is done",
    "number": "a threshold, an age or another number",
    "drug": "another drug or test that is wrong here",
    "contraindication": "a contraindication or an interaction that is turned round or left out",
    "urgency": "how soon care is needed",
    "red_flag": "a warning sign that is left out",
    "negation": "a not that is added or taken away",
    "modality": "must for may, or may for must",
    "exception": "an exception that is dropped or turned round",
    "population": "another group of people, or the other side of the body",
}

_SYSTEM = """\
REFERENCE is a good response to the conversation in CASE. Make a near miss of it: change one place so that it holds \
exactly one error, which a physician would call dangerous for this patient. Everything else stays as it is, so the \
text still reads well and the error is easy to overlook.

Name words of REFERENCE in `find`, word for word, at most 200 characters, long enough that they occur only once; and \
in `replace` what stands in their place (nothing, to leave something out). Do not announce the error, do not weaken \
the text around it, and change nothing that is already wrong.

Kinds of errors:
{kinds}

Answer with one JSON object and nothing else, in exactly this form:
{{"kind": "<one of the names above>", "find": "<words>", "replace": "<words>", "why": "<one sentence: what may happen \
to the patient>"}}"""


def making_messages(
    conversation: Sequence[Mapping[str, str]], reference: str, kind: str, number: int, *, nonce: str
) -> Messages:
    """The request for pair ``number`` of a reference, counted from 0, best with an error of ``kind``."""
    listed = "\n".join(f"- {name}: {words}" for name, words in _KINDS.items())
    ask = f"Make an error of the kind {kind} if the reference allows one; if not, of another kind."
    if number:
        ask += f" Others have made {number} of this reference before: do not take the first place that offers itself."
    parts: list[Fenced | str] = [case_part(conversation), Fenced("REFERENCE", reference), ask]
    return staged_messages(MAKING, _SYSTEM.format(kinds=listed), parts, nonce)
