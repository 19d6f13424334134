"""Cases in ClinConsensus' form. It has one turn, criteria worth one point each, and no negative ones.

A conversation of several turns is written in ``clinical_context``, each turn after the name of its speaker; the last
turn is the request, if it is the user's. Criteria with negative points are left out: no score of ClinConsensus uses
them, and a reader of the form would take them for something wanted. What is left out or changed is counted, for the
data card.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from releases.content.record import ReleasedCase
from rubrics.parsing import as_imported

KEYS = (
    *("case_id", "difficulty", "task", "task_labels", "subject", "subject_labels", "user_role"),
    *("clinical_context", "user_request", "rubrics"),
)
REFERENCE = "reference_answer"
SPEAKERS = {"user": "User", "assistant": "Assistant", "system": "System", "developer": "Developer", "tool": "Tool"}
# What the form had to leave out or change; the data card lists it in words.
NO_REQUEST, NOTHING_POSITIVE = "cases_without_a_request", "cases_without_positive_criteria"
FLATTENED, NEGATIVE = "cases_with_several_turns", "criteria_with_negative_points"
LEVELLED = "criteria_with_other_points"
NO_DIFFICULTY = "cases_without_difficulty"


def clinconsensus(case: ReleasedCase, *, reference_answer: bool, left_out: Counter[str]) -> dict[str, Any] | None:
    """A line of ``cases/clinconsensus.jsonl``; None where the case does not fit the form. Counts into ``left_out``."""
    criteria = [each for each in case.criteria if each.points > 0]
    parts = _context_and_request(case)
    if parts is None:
        left_out[NO_REQUEST] += 1
        return None
    if not criteria:
        left_out[NOTHING_POSITIVE] += 1
        return None
    left_out[FLATTENED] += len(case.conversation) > 1
    left_out[NEGATIVE] += len(case.criteria) - len(criteria)
    left_out[LEVELLED] += sum(each.points != 1 for each in criteria)
    left_out[NO_DIFFICULTY] += not case.difficulty
    task, task_labels = _labels(case, "task", "task", "task_labels")
    subject, subject_labels = _labels(case, "specialty", "subject", "subject_labels")
    context, request = parts
    own = case.is_clinconsensus
    record = {
        "case_id": case.kept.get("key", case.key) if own else case.key,
        "difficulty": case.difficulty,
        "task": task,
        "task_labels": task_labels,
        "subject": subject,
        "subject_labels": subject_labels,
        "user_role": case.metadata.get("user_role", "") if own else case.register,
        "clinical_context": context,
        "user_request": request,
        "rubrics": [
            as_imported.clinconsensus_criterion(each.text, each.tags, each.extras, each.kept) if own else each.text
            for each in criteria
        ],
    }
    if reference_answer and case.reference_answer:
        record[REFERENCE] = case.reference_answer
    return {**record, **_unknown(case, record)} if own else record


def _context_and_request(case: ReleasedCase) -> tuple[str, str] | None:
    turns = case.conversation
    if not turns or turns[-1]["role"] != "user" or not turns[-1]["content"].strip():
        return None
    request = turns[-1]["content"]
    if len(turns) == 1:
        length = case.metadata.get("context_length") if case.is_clinconsensus else 0
        if length and request[length : length + 2] == "\n\n":
            return request[:length], request[length + 2 :]
        return "", request
    before = [f"{SPEAKERS.get(turn['role'], turn['role'])}: {turn['content']}" for turn in turns[:-1]]
    return "\n\n".join(before), request


def _labels(case: ReleasedCase, prefix: str, singular: str, many: str) -> tuple[Any, Any]:
    """The labels word for word as imported; if the tags of the case were changed since, labels made from the tags."""
    now = case.labels(prefix)
    if case.is_clinconsensus:
        single, several = case.metadata.get(singular, ""), case.metadata.get(many, [])
        came = several or ([single] if isinstance(single, str) and single.strip() else [])
        if list(dict.fromkeys(came)) == now:
            return single, several
    return (now[0] if now else ""), now


def _unknown(case: ReleasedCase, record: dict[str, Any]) -> dict[str, Any]:
    """Fields that the product does not read, as imported."""
    placed = {*as_imported.RESERVED, *KEYS, REFERENCE}
    rest = {name: value for name, value in case.metadata.items() if name not in placed}
    fields = case.kept.get("fields")
    return {name: value for name, value in {**rest, **(fields or {})}.items() if name not in record}
