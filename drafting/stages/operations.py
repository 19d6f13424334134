"""What an audit asks for, carried out by code. Pure.

A model names operations; code does them, each within its limits:

- nothing that an operation touches loses a number, a medicine or a time, nor a fact or need;
- no operation joins two red flags or prohibitions, or turns the sign of what it merges or splits;
- a criterion is taken out only if every red flag, prohibition and missing context stays under another one.

An operation that would break this is refused, which the criteria concerned say from then on. *unsupported* and
*contradicts* change nothing: they mark the criterion for the physician. One criterion is changed once in a round.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from drafting.stages.criteria import (
    Criterion,
    drafted,
    lost_details,
    must_be_covered,
    protected_of,
    texts_behind,
    unmarked,
    with_mark,
)
from drafting.stages.findings import (
    CONTRADICTS,
    NOTE,
    OPERATION_REFUSED,
    REMOVED,
    UNSUPPORTED,
    Finding,
    finding,
)

Row = Mapping[str, Any]

# Why an operation is refused.
CHANGED, JOINS, SIGNS, LOSES, UNCOVERS, FULL = "changed", "joins", "signs", "loses", "uncovers", "full"


@dataclass(slots=True)
class Audited:
    """The criteria after the operations of a round, those that were taken out, and the operations that were refused."""

    criteria: list[Criterion]
    removed: list[dict[str, Any]] = field(default_factory=list)
    refused: list[Finding] = field(default_factory=list)


def carry_out(
    operations: Row, criteria: Sequence[Row], facts: Sequence[Row], needs: Sequence[Row], *, limit: int
) -> Audited:
    """Do the operations of an answer on ``criteria``.

    ``facts`` and ``needs`` are the usable ones, in the order of the lists of the request.
    """
    round_ = _Round(criteria, facts, needs)
    for merge in operations["merge"]:
        round_.merge(merge["criteria"], merge["into"])
    for split in operations["split"]:
        round_.split(split["criterion"], split["into"])
    for reword in operations["reword"]:
        round_.reword(reword["criterion"], reword["into"])
    round_.add(operations["add"], limit)
    for doubt in operations["irrelevant"]:
        round_.take_out(doubt["criterion"], doubt["why"])
    for doubt in operations["unsupported"]:
        round_.mark(doubt["criterion"], finding(UNSUPPORTED, why=doubt["why"]))
    for each in operations["contradicts"]:
        round_.contradict(each)
    return round_.result()


class _Round:
    def __init__(self, criteria: Sequence[Row], facts: Sequence[Row], needs: Sequence[Row]) -> None:
        self.facts, self.needs = facts, needs
        self.fact_numbers = [fact["number"] for fact in facts]
        self.need_numbers = [need["number"] for need in needs]
        self.before: list[Criterion] = [{**criterion, "marks": list(criterion["marks"])} for criterion in criteria]
        self.places = [[criterion] for criterion in self.before]  # what stands in the place of each
        self.now = [[criterion] for criterion in self.before]  # what became of each
        self.changed: set[int] = set()
        self.added: list[Criterion] = []
        self.removed: list[dict[str, Any]] = []
        self.refused: list[Finding] = []

    def result(self) -> Audited:
        return Audited(self.all(), self.removed, self.refused)

    def all(self) -> list[Criterion]:
        """All criteria in their order. What was merged stands where its first part stood."""
        return [criterion for place in self.places for criterion in place] + self.added

    def drafted(self, answer: Row) -> Criterion:
        return drafted(answer, self.fact_numbers, self.need_numbers)

    def change(self, numbers: Sequence[int], criteria: list[Criterion]) -> None:
        """Put ``criteria`` in the place of the first of ``numbers``."""
        marks = _earlier([self.before[number - 1] for number in numbers])
        for criterion in criteria:
            criterion["marks"] = list(marks)
        for number in numbers:
            self.places[number - 1], self.now[number - 1] = [], criteria
        self.places[min(numbers) - 1] = criteria
        self.changed.update(numbers)

    def merge(self, numbers: Sequence[int], into: Row) -> None:
        parts = [self.before[number - 1] for number in numbers]
        whole = self.drafted(into)
        whole["facts"], whole["needs"] = _union(parts, "facts"), _union(parts, "needs")
        lost = lost_details([part["text"] for part in parts], whole["text"])
        if not self.changed.isdisjoint(numbers):
            self.refuse("merge", CHANGED, numbers)
        elif self.joins(parts, [whole]):
            self.refuse("merge", JOINS, numbers)
        elif _turns([*parts, whole]):
            self.refuse("merge", SIGNS, numbers)
        elif lost:
            self.refuse("merge", LOSES, numbers, lost)
        else:
            self.change(numbers, [whole])

    def split(self, number: int, into: Sequence[Row]) -> None:
        whole = self.before[number - 1]
        parts = [self.drafted(part) for part in into]
        lost = lost_details([whole["text"]], "\n".join(part["text"] for part in parts))
        lost += [f"fact {each}" for each in whole["facts"] if each not in _union(parts, "facts")]
        lost += [f"need {each}" for each in whole["needs"] if each not in _union(parts, "needs")]
        if number in self.changed:
            self.refuse("split", CHANGED, [number])
        elif self.joins([whole], parts):
            self.refuse("split", JOINS, [number])
        elif _turns([whole, *parts]):
            self.refuse("split", SIGNS, [number])
        elif lost:
            self.refuse("split", LOSES, [number], lost)
        else:
            self.change([number], parts)

    def reword(self, number: int, into: Row) -> None:
        old, new = self.before[number - 1], self.drafted(into)
        new["facts"], new["needs"] = _union([old, new], "facts"), _union([old, new], "needs")
        # A number that no source has may be put right; where there is no source, every number stays.
        behind = texts_behind(old, self.facts, self.needs)
        lost = lost_details([old["text"]], new["text"], within=behind or None)
        if number in self.changed:
            self.refuse("reword", CHANGED, [number])
        elif self.joins([old], [new]):
            self.refuse("reword", JOINS, [number])
        elif lost:
            self.refuse("reword", LOSES, [number], lost)
        else:
            self.change([number], [new])

    def joins(self, before: Iterable[Row], after: Iterable[Row]) -> bool:
        """Whether a criterion has several red flags or prohibitions, and more of them than each had before."""
        most = max(len(protected_of(criterion["facts"], self.facts)) for criterion in after)
        return most > 1 and most > max(len(protected_of(criterion["facts"], self.facts)) for criterion in before)

    def add(self, answers: Sequence[Row], limit: int) -> None:
        """Add criteria up to the limit; one that carries what nothing else carries is added beyond it."""
        for answer in answers:
            criterion = self.drafted(answer)
            if len(self.all()) < limit or self._uncovered(self.all()) > self._uncovered([*self.all(), criterion]):
                self.added.append(criterion)
            else:
                self.refused.append(
                    finding(OPERATION_REFUSED, operation="add", reason=FULL, texts=[criterion["text"]], lost=[], why="")
                )

    def take_out(self, number: int, why: str) -> None:
        criterion = self.before[number - 1]
        if number in self.changed:
            self.refuse("irrelevant", CHANGED, [number], why=why)
            return
        left = [each for each in self.all() if each is not criterion]
        if uncovered := self._uncovered(left) - self._uncovered(self.all()):
            self.refuse("irrelevant", UNCOVERS, [number], sorted(uncovered), why=why)
            return
        self.change([number], [])
        self.removed.append({**unmarked(criterion), "code": REMOVED, "reason": why})

    def _uncovered(self, criteria: Iterable[Row]) -> set[str]:
        facts, needs = must_be_covered(self.facts, self.needs)
        for criterion in criteria:
            facts -= set(criterion["facts"])
            needs -= set(criterion["needs"])
        return {f"fact {number}" for number in facts} | {f"need {number}" for number in needs}

    def mark(self, number: int, mark: Finding) -> None:
        for criterion in self.now[number - 1]:
            with_mark(criterion, mark)

    def contradict(self, each: Row) -> None:
        other, fact = each["with_criterion"], each["with_fact"]
        mark = finding(
            CONTRADICTS,
            other=self.before[other - 1]["text"] if other else "",
            fact=self.fact_numbers[fact - 1] if fact else None,
            why=each["why"],
        )
        self.mark(each["criterion"], mark)

    def refuse(
        self, operation: str, reason: str, numbers: Iterable[int], lost: Sequence[str] = (), *, why: str = ""
    ) -> None:
        numbers = list(numbers)
        mark = finding(
            OPERATION_REFUSED,
            operation=operation,
            reason=reason,
            texts=[self.before[number - 1]["text"] for number in numbers],
            lost=list(lost),
            why=why,
        )
        self.refused.append(mark)
        for number in numbers:
            self.mark(number, mark)


def _turns(criteria: Iterable[Row]) -> bool:
    """Whether some have positive and others negative points."""
    return len({criterion["points"] > 0 for criterion in criteria}) > 1


def _union(criteria: Iterable[Row], name: str) -> list[int]:
    return sorted({number for criterion in criteria for number in criterion[name]})


def _earlier(criteria: Iterable[Row]) -> list[Finding]:
    """The marks of criteria that were changed: they are about the wording before."""
    marks: list[Finding] = []
    for criterion in criteria:
        for mark in criterion["marks"]:
            earlier = {**mark, "severity": NOTE, "earlier": True}
            if earlier not in marks:
                marks.append(earlier)
    return marks
