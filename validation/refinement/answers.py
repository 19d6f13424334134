"""The forms of the answers of a run of refinement, and what their numbers and words must hold to. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from consilium.llm.errors import ContentError
from consilium.llm.structured import StructuredAnswer, parse_structured
from validation.pairs.reading import MAX_TEXT_LENGTH

MAX_EDITS = 100
Output = dict[str, Any]


class CriterionStatus(StructuredAnswer):
    """Whether the base meets a criterion."""

    criterion: int
    met: Literal["yes", "partly", "no"]
    why: str


class PlannedEdit(StructuredAnswer):
    """One change to the base."""

    number: int
    priority: Literal["high", "medium", "low"]
    action: Literal["add", "remove", "change"]
    find: str | None
    instruction: str
    criteria: list[int]


class PlanAnswer(StructuredAnswer):
    """What is to be changed."""

    status: list[CriterionStatus]
    edits: list[PlannedEdit]
    must_not: list[str]


class RefusedEdit(StructuredAnswer):
    """An edit that was not carried out."""

    number: int
    why: str


class EditAnswer(StructuredAnswer):
    """The refined text."""

    edits_done: list[int]
    edits_refused: list[RefusedEdit]
    text: str


def read_plan(text: str, base: str, n_criteria: int) -> Output:
    """A plan; `ContentError` where its numbers are wrong, or words that it names do not occur in the base."""
    plan = parse_structured(text, PlanAnswer)
    known = list(range(1, n_criteria + 1))
    if sorted(row.criterion for row in plan.status) != known:
        raise ContentError("wrong_numbers", f"status needs each criterion from 1 to {n_criteria} once", text)
    if [edit.number for edit in plan.edits] != list(range(1, len(plan.edits) + 1)):
        raise ContentError("wrong_numbers", "edits are numbered 1, 2, and so on", text)
    if len(plan.edits) > MAX_EDITS:
        raise ContentError("too_many_edits", f"a plan has at most {MAX_EDITS} edits", text)
    for edit in plan.edits:
        if not set(edit.criteria) <= set(known):
            raise ContentError("wrong_numbers", f"edit {edit.number} names a criterion that is not in the list", text)
        if not edit.instruction.strip():
            raise ContentError("empty_instruction", f"edit {edit.number} says nothing", text)
        if not edit.find and (edit.action != "add" or edit.find is not None):
            raise ContentError("find_absent", f"edit {edit.number} names no words of BASE in find", text)
        if edit.find and edit.find not in base:
            raise ContentError("find_absent", f"the words in find of edit {edit.number} do not occur in BASE", text)
    return plan.model_dump()


def read_edit(text: str, plan: Output) -> Output:
    """The refined text; `ContentError` where an edit is neither done nor refused, or both, or there is no text."""
    edit = parse_structured(text, EditAnswer)
    numbers = [*edit.edits_done, *(row.number for row in edit.edits_refused)]
    if sorted(numbers) != list(range(1, len(plan["edits"]) + 1)):
        raise ContentError("wrong_numbers", "each edit of PLAN is either done or refused, once", text)
    if not edit.text.strip():
        raise ContentError("empty", "the text is empty", text)
    if len(edit.text) > MAX_TEXT_LENGTH:
        raise ContentError("too_long", f"the text is longer than {MAX_TEXT_LENGTH} characters", text)
    return {**edit.model_dump(), "edits_done": sorted(edit.edits_done)}


def done_edits(plan: Output, output: Output) -> Iterable[Output]:
    """The edits of a plan that were carried out."""
    done = set(output["edits_done"])
    return [edit for edit in plan["edits"] if edit["number"] in done]
