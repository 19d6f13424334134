"""The input of each step of a case, made of the settings, the conversation and the outputs of earlier steps.

An input is JSON values alone. Of the request for it, `drafting.stages.requests` makes the numbered lists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drafting.recipes.content import RecipeContent
from drafting.runs.chain import CaseOutputs
from drafting.runs.config import CaseConfig, DraftingConfig
from drafting.runs.retrieval import query_of
from drafting.stages import names
from drafting.stages.answers import MAX_DRAFTED
from drafting.stages.audit import audit_by_code
from drafting.stages.finding_words import sentences
from drafting.stages.outputs import ground_of
from drafting.stages.prompts import StageTexts, default_texts
from drafting.stages.requests import numbers_of
from scoring.pipelines.kind import Output, StepName

Value = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Context:
    settings: DraftingConfig
    case: CaseConfig
    conversation: Sequence[Mapping[str, str]]
    name: StepName
    outputs: CaseOutputs

    @property
    def content(self) -> RecipeContent:
        return self.settings.content

    @property
    def basis(self) -> Value:
        """What criteria may rest on, and their axes."""
        return {
            "facts": self.outputs.usable_facts,
            "needs": self.outputs.usable_needs,
            "axes": self.settings.axes,
        }

    def criteria(self, number: int) -> Value:
        """The criteria before an audit, and what they are held against."""
        return {
            **self.basis,
            "conversation": self.conversation,
            "criteria": self.outputs.criteria_before(number),
            "sent": self.outputs.passages,
            "bank": self.case.bank,
            "limit": self.content.limits.criteria,
        }


def step_input(
    settings: DraftingConfig, name: StepName, material: Mapping[str, Any], done: Mapping[StepName, Output]
) -> Value:
    """The input of a step; ``material`` has the key of the case and its conversation."""
    case = settings.case_of[material["case"]]
    conversation = material["conversation"]
    context = _Context(settings, case, conversation, name, CaseOutputs(settings.content, done))
    return {"conversation": conversation, "language": case.language, **_INPUTS[name.stage](context)}


def texts_of(content: RecipeContent, stage: str, language: str) -> StageTexts:
    """The recipe's texts of a stage, or those of the product."""
    for name, prompt in content.stage(stage).prompts.items():
        if name == language:
            return StageTexts(prompt.system, prompt.user)
    return default_texts(stage, language)


def values_of(content: RecipeContent, stage: str) -> dict[str, int]:
    """The numbers that the texts of a stage may name."""
    limits = content.limits
    most = limits.criteria if stage == names.AUDIT else min(MAX_DRAFTED, limits.criteria)
    return {"keep": limits.passages, "most": most}


def _retrieve(context: _Context) -> Value:
    plan = context.outputs.of(names.PLAN) if context.content.has(names.PLAN) else None
    return query_of(context.content, context.case.language, plan, context.conversation)


def _quotes(context: _Context) -> Value:
    outputs = context.outputs
    return {
        "facts": outputs.stated_facts,
        "conflicts": outputs.of(names.EVIDENCE)["conflicts"],
        "passages": outputs.passages,
        "pool": outputs.pool,
    }


def _synthesis(context: _Context) -> Value:
    return {**context.basis, "most": values_of(context.content, context.name.stage)["most"]}


def _audit(context: _Context) -> Value:
    value = context.criteria(context.name.round)
    findings = audit_by_code(value["criteria"], ground_of(value))
    places = (numbers_of(value["facts"]), numbers_of(value["needs"]))
    return {**value, "findings": sentences(value["criteria"], findings.of_case, findings.of_criteria, *places)}


def _result(context: _Context) -> Value:
    outputs = context.outputs
    return {
        **context.criteria(len(outputs.audits)),
        "all_facts": outputs.facts,
        "all_needs": outputs.needs,
        "removed": outputs.removed,
        "conflicts": outputs.conflicts,
    }


_INPUTS: Mapping[str, Callable[[_Context], Value]] = {
    names.PLAN: lambda context: {},
    names.RETRIEVE: _retrieve,
    names.RANK: lambda context: {"passages": context.outputs.pool},
    names.EVIDENCE: lambda context: {"passages": context.outputs.passages},
    names.FACTS: lambda context: {"passages": context.outputs.passages, "statements": context.outputs.statements},
    names.RELEVANCE: lambda context: {"facts": context.outputs.stated_facts},
    names.QUOTES: _quotes,
    names.SUPPORT: lambda context: {"facts": context.outputs.to_be_checked},
    names.NEEDS: lambda context: {},
    names.SYNTHESIS: _synthesis,
    names.DIRECT: _synthesis,
    names.GENERIC: _synthesis,
    names.AUDIT: _audit,
    names.RESULT: _result,
}
