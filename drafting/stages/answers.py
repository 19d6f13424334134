"""The forms of the answers of each stage, and the rules that go beyond a form. Pure.

Numbers in an answer are those of the numbered lists of its request. A number that no list has, and one that stands
twice in a list, are faults: the stage is asked again, and the request says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

from pydantic import Field

from consilium.core.limits import MAX_CRITERION_LENGTH
from consilium.llm.errors import ContentError
from consilium.llm.structured import StructuredAnswer, parse_structured
from drafting.stages import names

MIN_QUERIES, MAX_QUERIES = 3, 5
MAX_DRAFTED = 15  # criteria of one synthesis
MAX_POINTS = 10


class Query(StructuredAnswer):
    text: str
    looking_for: Literal["recommendation", "dose", "red_flag", "contraindication", "patient_advice", "background"]


class PlanAnswer(StructuredAnswer):
    intent: str
    queries: list[Query]


class Ranked(StructuredAnswer):
    passage: int
    why: str


class RankAnswer(StructuredAnswer):
    order: list[Ranked]


class Statement(StructuredAnswer):
    text: str
    passage: int
    quote: str


class Side(StructuredAnswer):
    passage: int
    quote: str
    says: str


class SourceConflict(StructuredAnswer):
    about: str
    sides: list[Side]


class EvidenceAnswer(StructuredAnswer):
    statements: list[Statement]
    red_flags: list[Statement]
    conflicts: list[SourceConflict]


class StatedFact(StructuredAnswer):
    kind: Literal["statement", "number", "condition", "prohibition", "red_flag"]
    text: str
    passage: int
    quote: str


class FactsAnswer(StructuredAnswer):
    facts: list[StatedFact]


class Dropped(StructuredAnswer):
    fact: int
    why: str


class RelevanceAnswer(StructuredAnswer):
    drop: list[Dropped]


class SupportCheck(StructuredAnswer):
    fact: int
    support: Literal["entails", "partly", "does_not"]
    why: str


class SupportAnswer(StructuredAnswer):
    checks: list[SupportCheck]


class QuotedNeed(StructuredAnswer):
    text: str
    quote: str


class MissingContext(StructuredAnswer):
    question: str
    why: str


class NeedsAnswer(StructuredAnswer):
    register_: Literal["lay", "professional"] = Field(alias="register")
    state: str
    asks: list[QuotedNeed]
    missing: list[MissingContext]
    tone: list[str]
    form: list[QuotedNeed]


class DraftedCriterion(StructuredAnswer):
    text: str
    points: int
    axis: str
    facts: list[int]
    needs: list[int]
    why: str


class CriteriaAnswer(StructuredAnswer):
    criteria: list[DraftedCriterion]


class Doubted(StructuredAnswer):
    criterion: int
    why: str


class Contradiction(StructuredAnswer):
    criterion: int
    with_criterion: int | None
    with_fact: int | None
    why: str


class Merge(StructuredAnswer):
    criteria: list[int]
    into: DraftedCriterion


class Split(StructuredAnswer):
    criterion: int
    into: list[DraftedCriterion]


class Reword(StructuredAnswer):
    criterion: int
    into: DraftedCriterion
    why: str


class AuditAnswer(StructuredAnswer):
    add: list[DraftedCriterion]
    unsupported: list[Doubted]
    irrelevant: list[Doubted]
    contradicts: list[Contradiction]
    merge: list[Merge]
    split: list[Split]
    reword: list[Reword]


FORMS: Mapping[str, type[StructuredAnswer]] = {
    names.PLAN: PlanAnswer,
    names.RANK: RankAnswer,
    names.EVIDENCE: EvidenceAnswer,
    names.FACTS: FactsAnswer,
    names.RELEVANCE: RelevanceAnswer,
    names.SUPPORT: SupportAnswer,
    names.NEEDS: NeedsAnswer,
    names.SYNTHESIS: CriteriaAnswer,
    names.DIRECT: CriteriaAnswer,
    names.AUDIT: AuditAnswer,
}


@dataclass(frozen=True, slots=True)
class Lists:
    """How long the numbered lists of a request are, its axes, and how many criteria an answer may have."""

    passages: int = 0
    facts: int = 0
    needs: int = 0
    criteria: int = 0
    axes: tuple[str, ...] = ()
    most: int = MAX_DRAFTED


def read_answer(stage: str, text: str, lists: Lists) -> dict[str, Any]:
    """The answer of a stage as JSON values; `ContentError`, with its kind and the text, for everything else."""
    answer = parse_structured(text, FORMS[stage])
    try:
        _RULES[stage](answer, lists)
    except ContentError as error:
        error.raw = text
        raise
    return answer.model_dump(by_alias=True)


def _fail(kind: str, message: str) -> NoReturn:
    raise ContentError(kind, message)


def _known(numbers: Iterable[int], count: int, what: str, *, once: bool = True) -> None:
    """Each number is one of a list with ``count`` items, and, with ``once``, stands there once."""
    seen: set[int] = set()
    for number in numbers:
        if not 1 <= number <= count:
            _fail("wrong_numbers", f"there is no {what} {str(number)[:20]}")
        if once and number in seen:
            _fail("wrong_numbers", f"{what} {number} is there twice")
        seen.add(number)


def _written(texts: Iterable[str], what: str) -> None:
    if not all(text.strip() for text in texts):
        _fail("empty_text", f"{what} is empty")


def _plan(answer: PlanAnswer, lists: Lists) -> None:
    if not MIN_QUERIES <= len(answer.queries) <= MAX_QUERIES:
        _fail("wrong_count", f"there are {len(answer.queries)} queries, not {MIN_QUERIES} to {MAX_QUERIES}")
    _written((query.text for query in answer.queries), "the text of a query")


def _rank(answer: RankAnswer, lists: Lists) -> None:
    _known((each.passage for each in answer.order), lists.passages, "passage")


def _statements(statements: Sequence[Statement | StatedFact], lists: Lists, what: str) -> None:
    _known((each.passage for each in statements), lists.passages, "passage", once=False)
    _written((each.text for each in statements), f"the text of {what}")


def _evidence(answer: EvidenceAnswer, lists: Lists) -> None:
    _statements(answer.statements, lists, "a statement")
    _statements(answer.red_flags, lists, "a red flag")
    for conflict in answer.conflicts:
        _known((side.passage for side in conflict.sides), lists.passages, "passage", once=False)
        if len(conflict.sides) < 2:
            _fail("wrong_count", "a conflict has fewer than two sides")


def _facts(answer: FactsAnswer, lists: Lists) -> None:
    _statements(answer.facts, lists, "a fact")


def _relevance(answer: RelevanceAnswer, lists: Lists) -> None:
    _known((each.fact for each in answer.drop), lists.facts, "fact")


def _support(answer: SupportAnswer, lists: Lists) -> None:
    _known((check.fact for check in answer.checks), lists.facts, "fact")
    if missing := lists.facts - len(answer.checks):
        _fail("wrong_numbers", f"{missing} of {lists.facts} facts have no check")


def _needs(answer: NeedsAnswer, lists: Lists) -> None:
    texts = [*(each.text for each in (*answer.asks, *answer.form)), *(each.question for each in answer.missing)]
    _written([*texts, *answer.tone], "the text of a need")


def _criteria(criteria: Sequence[DraftedCriterion], lists: Lists) -> None:
    _written((each.text for each in criteria), "the text of a criterion")
    for each in criteria:
        if len(each.text) > MAX_CRITERION_LENGTH:
            _fail("too_large", f"a criterion has more than {MAX_CRITERION_LENGTH} characters")
        if not each.points or abs(each.points) > MAX_POINTS:
            _fail("wrong_points", f"a criterion has {str(each.points)[:20]} points, not -10 to 10 without 0")
        if each.axis not in lists.axes:
            _fail("wrong_axis", f"there is no axis “{each.axis[:60]}”")
        _known(each.facts, lists.facts, "fact")
        _known(each.needs, lists.needs, "need")


def _drafted(answer: CriteriaAnswer, lists: Lists) -> None:
    if len(answer.criteria) > lists.most:
        _fail("wrong_count", f"there are {len(answer.criteria)} criteria; at most {lists.most} were asked for")
    _criteria(answer.criteria, lists)


def _audit(answer: AuditAnswer, lists: Lists) -> None:
    for entries in (answer.unsupported, answer.irrelevant, answer.split, answer.reword):
        _known((each.criterion for each in entries), lists.criteria, "criterion")
    for each in answer.contradicts:
        _known((each.criterion,), lists.criteria, "criterion")
        if each.with_criterion is None and each.with_fact is None:
            _fail("wrong_numbers", "a contradiction names neither a criterion nor a fact")
        if each.with_criterion is not None:
            _known((each.criterion, each.with_criterion), lists.criteria, "criterion")
        if each.with_fact is not None:
            _known((each.with_fact,), lists.facts, "fact")
    for merge in answer.merge:
        _known(merge.criteria, lists.criteria, "criterion")
        if len(merge.criteria) < 2:
            _fail("wrong_numbers", "a merge names fewer than two criteria")
    if any(len(split.into) < 2 for split in answer.split):
        _fail("wrong_count", "a split has fewer than two parts")
    _criteria(answer.add, lists)
    _criteria([merge.into for merge in answer.merge], lists)
    _criteria([part for split in answer.split for part in split.into], lists)
    _criteria([reword.into for reword in answer.reword], lists)


_RULES: Mapping[str, Callable[[Any, Lists], None]] = {
    names.PLAN: _plan,
    names.RANK: _rank,
    names.EVIDENCE: _evidence,
    names.FACTS: _facts,
    names.RELEVANCE: _relevance,
    names.SUPPORT: _support,
    names.NEEDS: _needs,
    names.SYNTHESIS: _drafted,
    names.DIRECT: _drafted,
    names.AUDIT: _audit,
}
