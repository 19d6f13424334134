"""The chain of the stages of a recipe: the steps of a case, and what the outputs of its steps come to.

Nothing here reads a database, a clock or a random number. Facts and needs have their numbers within the case from the
stages *facts* and *needs* on; requests number their own lists, and an output has the numbers of the case again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from drafting.recipes.content import RecipeContent
from drafting.stages import names
from drafting.stages.criteria import unmarked
from drafting.stages.facts import (
    checked_facts,
    drops_of,
    numbered_facts,
    statements_of,
    to_be_checked,
    with_prohibitions,
)
from drafting.stages.needs import is_usable
from scoring.pipelines.kind import Output, PlannedStep, StepName

Row = Mapping[str, Any]


def steps_of(content: RecipeContent, done: Mapping[StepName, Output]) -> list[PlannedStep]:
    """The steps of a case. A further audit is planned once the one before has changed criteria and left problems."""
    steps: list[PlannedStep] = []
    if content.form == "evidence":
        steps = list(_evidence_steps(content))
    else:
        steps = [PlannedStep(StepName(names.DIRECT if content.form == "direct" else names.GENERIC))]
    last = steps[-1].name
    for audit in _audits(content, done):
        steps.append(PlannedStep(audit, (last,)))
        last = audit
    return [*steps, PlannedStep(StepName(names.RESULT), (last,))]


def _evidence_steps(content: RecipeContent) -> Iterator[PlannedStep]:
    last: tuple[StepName, ...] = ()
    always = {names.RETRIEVE, names.EVIDENCE, names.QUOTES}
    order = (
        *(names.PLAN, names.RETRIEVE, names.RANK, names.EVIDENCE, names.FACTS, names.RELEVANCE, names.QUOTES),
        names.SUPPORT,
    )  # fmt: skip
    for stage in order:
        if stage in always or content.has(stage):
            yield PlannedStep(StepName(stage), last)
            last = (StepName(stage),)
    if content.has(names.NEEDS):
        yield PlannedStep(StepName(names.NEEDS))
        last = (*last, StepName(names.NEEDS))
    yield PlannedStep(StepName(names.SYNTHESIS), last)


def _audits(content: RecipeContent, done: Mapping[StepName, Output]) -> Iterator[StepName]:
    if not content.has(names.AUDIT):
        return
    for number in range(content.limits.audit_rounds):
        yield StepName(names.AUDIT, round=number)
        output = done.get(StepName(names.AUDIT, round=number))
        if output is None or not output["open"] or not _has_changed(content, done, number):
            return


def _has_changed(content: RecipeContent, done: Mapping[StepName, Output], number: int) -> bool:
    """Whether an audit has changed a criterion; a further one would send the same request again if it has not."""
    outputs = CaseOutputs(content, done)
    before, after = (outputs.criteria_before(each) for each in (number, number + 1))
    return [unmarked(row) for row in before] != [unmarked(row) for row in after]


class CaseOutputs:
    """What the finished steps of a case come to. Each value may be read once the steps that it is made of are done."""

    def __init__(self, content: RecipeContent, done: Mapping[StepName, Output]) -> None:
        self.content = content
        self.done = done

    def of(self, stage: str, number: int = 0) -> Output:
        """The output of a step."""
        return self.done[StepName(stage, round=number)]

    @cached_property
    def has_evidence(self) -> bool:
        """Whether the recipe drafts from passages."""
        return self.content.form == "evidence"

    @cached_property
    def pool(self) -> list[Row]:
        """The passages that were found."""
        return list(self.of(names.RETRIEVE)["passages"]) if self.has_evidence else []

    @cached_property
    def passages(self) -> list[Row]:
        """The passages that facts are taken from, in the order of the list PASSAGES."""
        if not self.has_evidence:
            return []
        if self.content.has(names.RANK):
            ranked = [self.pool[entry["passage"] - 1] for entry in self.of(names.RANK)["order"]]
        else:
            # The place after fusion times the tier: a second place of tier 1 is before a first one of tier 3.
            places = sorted(enumerate(self.pool, 1), key=lambda entry: (entry[0] * entry[1]["tier"], entry[0]))
            ranked = [passage for _place, passage in places]
        return ranked[: self.content.limits.passages]

    @cached_property
    def statements(self) -> list[dict[str, Any]]:
        """Statements and red flags of the passages."""
        return statements_of(self.of(names.EVIDENCE))

    @cached_property
    def stated_facts(self) -> list[Row]:
        """The facts with their numbers, nothing checked."""
        if self.content.has(names.FACTS):
            return list(self.of(names.FACTS)["facts"])
        return [*numbered_facts(with_prohibitions(self.statements))]

    @cached_property
    def drops(self) -> dict[int, str]:
        """Why facts are dropped, by number."""
        if not self.content.has(names.RELEVANCE):
            return {}
        return drops_of(self.of(names.RELEVANCE), self.stated_facts)[0]

    @cached_property
    def to_be_checked(self) -> list[dict[str, Any]]:
        """The facts that a model compares with their quotations."""
        return to_be_checked(self.stated_facts, self.of(names.QUOTES)["quotes"], self.drops)

    @cached_property
    def facts(self) -> list[dict[str, Any]]:
        """All facts, checked."""
        if not self.has_evidence:
            return []
        checks = self.of(names.SUPPORT)["checks"] if self.content.has(names.SUPPORT) else []
        quotes = self.of(names.QUOTES)["quotes"]
        by_number = {check["fact"]: check for check in checks}
        return checked_facts(self.stated_facts, quotes, self.drops, by_number, self.pool)

    @cached_property
    def needs(self) -> list[Row]:
        """All needs."""
        return list(self.of(names.NEEDS)["needs"]) if self.content.has(names.NEEDS) else []

    @cached_property
    def usable_facts(self) -> list[dict[str, Any]]:
        """The facts that criteria may rest on."""
        return [fact for fact in self.facts if fact["is_usable"]]

    @cached_property
    def usable_needs(self) -> list[Row]:
        """The needs that criteria may rest on."""
        return [need for need in self.needs if is_usable(need)]

    @cached_property
    def conflicts(self) -> list[Row]:
        """The conflicts between passages."""
        return list(self.of(names.QUOTES)["conflicts"]) if self.has_evidence else []

    @cached_property
    def audits(self) -> list[Output]:
        """The audits that are done, in their order."""
        rounds = (self.done.get(StepName(names.AUDIT, round=number)) for number in range(2))
        return [audit for audit in rounds if audit is not None]

    def criteria_before(self, number: int) -> Sequence[Row]:
        """The criteria that an audit gets; with the number of audits, those of the result."""
        if number:
            return list(self.audits[number - 1]["criteria"])
        drafting = {"evidence": names.SYNTHESIS, "direct": names.DIRECT, "generic": names.GENERIC}
        return list(self.of(drafting[self.content.form])["criteria"])

    @cached_property
    def removed(self) -> list[Row]:
        """The criteria that audits took out."""
        return [row for audit in self.audits for row in audit["removed"]]
