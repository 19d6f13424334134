"""What code finds in drafted criteria, in every round and whoever drafted them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations
from typing import Any

from consilium.llm.quantities import missing_numbers
from consilium.llm.rules.stems import stems
from drafting.stages.criteria import is_negated, must_be_covered, protected_of, texts_behind
from drafting.stages.findings import (
    BANK_DUPLICATE,
    CAUTION,
    INSTRUCTION,
    JOINED,
    LINT,
    LOW_POINTS,
    NO_NEGATIVE,
    NUMBERS_DIFFER,
    OPPOSITE,
    TOO_MANY,
    UNCOVERED,
    UNGROUNDED,
    Finding,
    finding,
    gravest_first,
    is_problem,
)
from drafting.stages.instructions import instruction_in
from rubrics.lint import PROBLEM as LINT_PROBLEM
from rubrics.lint import Remark, lint
from rubrics.lint.likeness import similarities

Row = Mapping[str, Any]

GRAVE_POINTS = 8  # what endangers the patient has at least as many points, in size
SAME = 0.9  # cosine from which a criterion says what a bank item says, as in `rubrics.lint`
SHARED_ACT = 1 / 2  # of the stems of the shorter of two criteria about the same act


@dataclass(frozen=True, slots=True)
class Ground:
    """What criteria are held against: usable facts and needs, conversation, passages that were sent, and the bank."""

    facts: Sequence[Row]
    needs: Sequence[Row]
    conversation: Sequence[Mapping[str, str]]
    passages: Sequence[Row] = ()
    bank: Sequence[str] = ()
    limit: int = 20


@dataclass(slots=True)
class Findings:
    """Findings about the case as a whole, and about each criterion, by its place."""

    of_case: list[Finding] = field(default_factory=list)
    of_criteria: list[list[Finding]] = field(default_factory=list)

    def open_problems(self, ground: Ground) -> list[Finding]:
        """The problems that another round could solve."""
        problems = [each for each in chain(self.of_case, *self.of_criteria) if is_problem(each)]
        unsolvable = {INSTRUCTION} if ground.facts or ground.needs else {INSTRUCTION, UNGROUNDED}
        return [each for each in problems if each["code"] not in unsolvable]


def audit_by_code(criteria: Sequence[Row], ground: Ground) -> Findings:
    """All that code finds; marks of criteria are not repeated."""
    findings = Findings(list(_of_case(criteria, ground)), [list(_of_one(each, ground)) for each in criteria])
    for place, each in (*_opposites(criteria), *_lint_problems(criteria), *_bank(criteria, ground.bank)):
        findings.of_criteria[place].append(each)
    for place, each in _instructions(criteria, ground):
        findings.of_criteria[place].append(each)
    findings.of_criteria = [gravest_first(each) for each in findings.of_criteria]
    findings.of_case = gravest_first(findings.of_case)
    return findings


def _of_case(criteria: Sequence[Row], ground: Ground) -> Iterator[Finding]:
    facts, needs = must_be_covered(ground.facts, ground.needs)
    for fact in ground.facts:
        if fact["number"] in facts and not any(fact["number"] in each["facts"] for each in criteria):
            yield finding(UNCOVERED, fact=fact["number"], need=None, kind=fact["kind"], text=fact["text"])
    for need in ground.needs:
        if need["number"] in needs and not any(need["number"] in each["needs"] for each in criteria):
            yield finding(UNCOVERED, fact=None, need=need["number"], kind=need["kind"], text=need["text"])
    if criteria and not any(each["points"] < 0 for each in criteria):
        yield finding(NO_NEGATIVE)
    if len(criteria) > ground.limit:
        yield finding(TOO_MANY, count=len(criteria), limit=ground.limit)
    for passage in ground.passages:
        if words := instruction_in(passage["text"]):
            yield finding(INSTRUCTION, passage=passage["passage"], locator=passage["locator"], words=words)


def _of_one(criterion: Row, ground: Ground) -> Iterator[Finding]:
    facts = [fact for fact in ground.facts if fact["number"] in criterion["facts"]]
    if not facts and not any(need["number"] in criterion["needs"] for need in ground.needs):
        yield finding(UNGROUNDED)
    protected = protected_of(criterion["facts"], facts)
    if len(protected) > 1:
        yield finding(JOINED, facts=protected)
    if protected and abs(criterion["points"]) < GRAVE_POINTS:
        kind = next(fact["kind"] for fact in facts if fact["number"] == protected[0])
        yield finding(LOW_POINTS, fact=protected[0], kind=kind, points=criterion["points"])
    sources = texts_behind(criterion, ground.facts, ground.needs) + [turn["content"] for turn in ground.conversation]
    if numbers := missing_numbers(criterion["text"], sources):
        yield finding(NUMBERS_DIFFER, numbers=numbers, facts=[fact["number"] for fact in facts])


def _opposites(criteria: Sequence[Row]) -> Iterator[tuple[int, Finding]]:
    """Pairs about the same act of the same fact, of which one rewards what the other punishes, or both count it."""
    stems_of = [stems(each["text"]) for each in criteria]
    for first, second in combinations(range(len(criteria)), 2):
        earlier, other = criteria[first], criteria[second]
        shared = sorted(set(earlier["facts"]) & set(other["facts"]))
        shorter = min(len(stems_of[first]), len(stems_of[second]))
        if not shared or len(stems_of[first] & stems_of[second]) < SHARED_ACT * shorter:
            continue
        signs = [each["points"] > 0 for each in (earlier, other)]
        directions = [sign != is_negated(each["text"]) for sign, each in zip(signs, (earlier, other), strict=True)]
        if directions[0] != directions[1]:
            yield second, finding(OPPOSITE, criterion=first + 1, fact=shared[0], contradicts=True)
        elif signs[0] != signs[1]:
            yield second, finding(OPPOSITE, CAUTION, criterion=first + 1, fact=shared[0], contradicts=False)


def _lint_problems(criteria: Sequence[Row]) -> Iterator[tuple[int, Finding]]:
    for remark in lint([(str(place), each["text"], each["points"], ()) for place, each in enumerate(criteria)]):
        if remark.severity == LINT_PROBLEM:
            other = int(remark.other) + 1 if remark.other else None
            yield (
                int(remark.item),
                finding(LINT, rule=remark.rule, quote=_words(criteria, remark), other=other),
            )


def _words(criteria: Sequence[Row], remark: Remark) -> str:
    return str(criteria[int(remark.item)]["text"][remark.start : remark.end])


def _bank(criteria: Sequence[Row], bank: Sequence[str]) -> Iterator[tuple[int, Finding]]:
    if not criteria or not bank:
        return
    likeness = similarities([*(each["text"] for each in criteria), *bank])[: len(criteria), len(criteria) :]
    for place, row in enumerate(likeness):
        nearest = int(row.argmax())
        if row[nearest] >= SAME:
            yield place, finding(BANK_DUPLICATE, bank=bank[nearest])


def _instructions(criteria: Sequence[Row], ground: Ground) -> Iterator[tuple[int, Finding]]:
    """Marks what rests on a passage that addresses a model, and, more mildly, all else that was drafted beside it."""
    addressed = {}
    for passage in ground.passages:
        if words := instruction_in(passage["text"]):
            addressed[passage["passage"]] = (passage["locator"], words)
    if not addressed:
        return
    passage_of = {fact["number"]: fact["passage"] for fact in ground.facts}
    for place, criterion in enumerate(criteria):
        own = [passage_of[number] for number in criterion["facts"] if passage_of.get(number) in addressed]
        passage = own[0] if own else next(iter(addressed))
        locator, words = addressed[passage]
        yield (
            place,
            finding(
                INSTRUCTION, "" if own else CAUTION, passage=passage, locator=locator, words=words, rests_on=bool(own)
            ),
        )
