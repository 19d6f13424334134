"""The requests of a run of refinement. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from consilium.llm.prompts import Messages, turns_text
from consilium.llm.staged import Fenced, NumberedItem, numbered, staged_messages
from validation.coverage.content import Points
from validation.models.refinement import EDIT, PLAN

_PLAN_FORM = """\
Answer with one JSON object and nothing else, in exactly this form:
{"status": [{"criterion": <number>, "met": "yes" or "partly" or "no", "why": "<one sentence>"}], \
"edits": [{"number": <1, 2, …>, "priority": "high" or "medium" or "low", "action": "add" or "remove" or "change", \
"find": "<words of BASE>" or null, "instruction": "<what to do>", "criteria": [<numbers>]}], \
"must_not": ["<what the new answer must not say>"]}
`find` is copied from BASE word for word: the words to remove or to change, or those beside which something is added; \
null where an addition has no place of its own. Each edit does one thing. Plan as few edits as will do, and none where \
BASE is good as it is. Never plan a diagnosis as certain that BASE does not give."""

_PLAN_GUIDED = f"""\
BASE is an answer to the conversation in CASE. CRITERIA is a list of what a good answer does. Each criterion begins \
with its points: a positive number rewards what it says, a negative one penalises it. Say of each criterion whether \
BASE meets it, each exactly once, and plan edits that make BASE better by the criteria.

{_PLAN_FORM}"""

_PLAN_SELF = f"""\
BASE is an answer to the conversation in CASE. Look for what is wrong, missing, unclear or needless in it, and plan \
edits that make it better. There is no list of criteria: `status` and every `criteria` are empty.

{_PLAN_FORM}"""

_EDIT = """\
BASE is an answer to the conversation in CASE. PLAN is a numbered list of edits to it. FIND has for each edit the \
words of BASE that it is about, empty where it names none. MUST_NOT lists what the new answer must not say.

Carry out the plan and nothing else. All that no edit is about stays word for word. Write no medical fact that is \
neither in BASE nor in PLAN nor in CASE, and no diagnosis as certain that BASE does not give. Refuse an edit that \
would make the answer wrong or dangerous.

Answer with one JSON object and nothing else, in exactly this form:
{"edits_done": [<numbers>], "edits_refused": [{"number": <number>, "why": "<one sentence>"}], "text": "<the whole new \
answer>"}
Each edit is either done or refused."""

_ACTIONS = {"add": "adds to the answer", "remove": "removes the words in FIND", "change": "changes the words in FIND"}


def plan_messages(
    conversation: Sequence[Mapping[str, str]], base: str, criteria: Points | None, *, nonce: str
) -> Messages:
    """The request for a plan; without criteria the model is its own critic."""
    parts: list[Fenced | str] = [Fenced("CASE", turns_text(conversation)), Fenced("BASE", base)]
    if criteria is not None:
        items = [NumberedItem(each.text, each.points, each.axis) for each in criteria]
        parts.append(Fenced("CRITERIA", numbered(items)))
    return staged_messages(PLAN, _PLAN_SELF if criteria is None else _PLAN_GUIDED, parts, nonce)


def edit_messages(
    conversation: Sequence[Mapping[str, str]], base: str, plan: Mapping[str, Any], *, nonce: str
) -> Messages:
    """The request for the new text. What an edit does stands outside the fences: it is one of three fixed phrases."""
    edits = plan["edits"]
    what = [f"Edit {edit['number']} ({edit['priority']} priority) {_ACTIONS[edit['action']]}." for edit in edits]
    parts: list[Fenced | str] = [
        Fenced("CASE", turns_text(conversation)),
        Fenced("BASE", base),
        Fenced("PLAN", numbered(NumberedItem(edit["instruction"]) for edit in edits)),
        Fenced("FIND", numbered(NumberedItem(edit["find"] or "") for edit in edits)),
        Fenced("MUST_NOT", numbered(NumberedItem(text) for text in plan["must_not"])),
        " ".join(what),
    ]
    return staged_messages(EDIT, _EDIT, parts, nonce)
