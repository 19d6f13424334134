"""Runs that draft criteria from evidence: the kind *drafting* of `scoring.pipelines`.

The pure part of each stage is in `drafting.stages`; here it is put together: what a step's input is, which model it is
asked of, and what its output becomes. Reference answers and rubrics of a case are never read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from documents.models import Document
from drafting.models.runs import DRAFTING
from drafting.recipes.content import RecipeContent
from drafting.runs.chain import NO_EVIDENCE, NO_OPERATIONS, CaseOutputs, steps_of
from drafting.runs.config import DraftingConfig, drafting_config
from drafting.runs.retrieval import found_passages, query_of, sent_passages
from drafting.runs.storing import store_drafts
from drafting.stages import findings as codes
from drafting.stages import names
from drafting.stages.answers import MAX_DRAFTED, read_answer
from drafting.stages.audit import Ground, audit_by_code
from drafting.stages.criteria import drafted
from drafting.stages.facts import (
    STANDS,
    check_conflicts,
    check_quotes,
    drops_of,
    numbered_facts,
    reason_against,
    with_red_flags,
)
from drafting.stages.finding_words import sentences
from drafting.stages.findings import Finding, finding, gravest_first
from drafting.stages.needs import is_usable, needs_of
from drafting.stages.operations import carry_out
from drafting.stages.prompts import StageTexts, default_texts, prompt_language, stage_messages
from drafting.stages.requests import lists_of, material_of, numbers_of
from drafting.stages.result import result_of
from rubrics.editor.privacy import cases_with_open_findings
from rubrics.generic import generic_criteria
from rubrics.models import Case
from scoring.models import PipelineRun
from scoring.pipelines.kind import (
    Answer,
    Computed,
    EndpointUse,
    FinishedStep,
    LookUp,
    Output,
    PipelineKind,
    PlannedStep,
    StepFault,
    StepName,
    StepRequest,
    register_kind,
)

Value = Mapping[str, Any]

# What a stage comes to that has nothing to ask about, by the name of the list that is empty then.
NOTHING_TO_ASK: Mapping[str, tuple[str, Output]] = {
    names.RANK: ("passages", {"order": []}),
    names.EVIDENCE: ("passages", NO_EVIDENCE),
    names.FACTS: ("statements", {"facts": []}),
    names.RELEVANCE: ("facts", {"drop": []}),
    names.SUPPORT: ("facts", {"checks": []}),
}


class DraftingKind(PipelineKind[DraftingConfig]):
    """A step whose answer stays faulty fails, and with it its case; others go on."""

    name = DRAFTING
    stages = names.STAGES

    def settings_of(self, run: PipelineRun, *, may_call: bool) -> DraftingConfig:
        """Its settings, with all texts."""
        return drafting_config(run.config, may_call=may_call)

    def endpoints(self, settings: DraftingConfig) -> Mapping[str, EndpointUse]:
        """The models that a stage of the recipe asks, by their roles."""
        content = settings.content
        roles = {content.stage(stage).model for stage in names.ASKING if content.has(stage)}
        return {
            role: EndpointUse(model.for_client(), model.allowance)
            for role, model in content.models.items()
            if role in roles
        }

    def plan(self, settings: DraftingConfig, done: Mapping[StepName, Output]) -> Sequence[PlannedStep]:
        """The stages of the recipe, and a second audit where the first leaves problems."""
        return steps_of(settings.content, done)

    def materials(self, settings: DraftingConfig, run: PipelineRun, cases: Collection[int]) -> Mapping[int, Any]:
        """Key and conversation, and nothing else about a case.

        Left out are cases that were excluded meanwhile or have an open privacy finding, and those for which a passage
        was found that may not be sent any more.
        """
        rows = Case.objects.filter(pk__in=cases, key__in=settings.case_of)
        if not run.replay:  # what was answered once may be read again
            withheld = cases_with_withheld_passages(run, cases)
            rows = rows.included().exclude(pk__in=cases_with_open_findings(cases)).exclude(pk__in=withheld)
        known = rows.values_list("pk", "key", "conversation")
        return {pk: {"case": key, "conversation": conversation} for pk, key, conversation in known}

    def input_of(self, settings: DraftingConfig, name: StepName, material: Any, done: Mapping[StepName, Output]) -> Any:
        """What the stage is about: the conversation and what earlier stages came to."""
        case = settings.case_of[material["case"]]
        outputs = CaseOutputs(settings.content, done)
        value = {"conversation": material["conversation"], "language": case.language}
        return {**value, **_INPUTS[name.stage](settings, material["case"], name, outputs, material["conversation"])}

    def request(
        self, settings: DraftingConfig, name: StepName, value: Any, nonce: str
    ) -> StepRequest | Computed | LookUp:
        """The request of the stage, with all texts from outside in fences."""
        if name.stage == names.RETRIEVE:
            return LookUp({key: value[key] for key in ("queries", "filters", "limits")})
        if (computed := _computed(name.stage, value)) is not None:
            return Computed(computed)
        content = settings.content
        language = prompt_language(value["language"])
        messages = stage_messages(
            name.stage,
            language,
            texts_of(content, name.stage, language),
            material_of(name.stage, value),
            nonce,
            values=values_of(content, name.stage),
        )
        role = content.stage(name.stage).model
        return StepRequest(role, messages, content.models[role].parameters(0))

    def output(self, settings: DraftingConfig, name: StepName, value: Any, answer: Answer) -> Output:
        """The answer, strictly in the form of its stage, with the numbers of the case."""
        given = read_answer(name.stage, answer.usable(), lists_of(value))
        read = _OUTPUTS.get(name.stage)
        return given if read is None else read(value, given)

    def check(self, settings: DraftingConfig, name: StepName, value: Any, output: Output) -> list[Output]:
        """What code finds in the output of the stage."""
        look = _CHECKS.get(name.stage)
        return [] if look is None else gravest_first(look(value, output))

    def look_up(
        self, settings: DraftingConfig, run: PipelineRun, queries: Mapping[int, Output], *, at: datetime
    ) -> Mapping[int, Output]:
        """The passages that documents of the benchmark have for the queries of each step."""
        return found_passages(run.benchmark_id, queries, at=at)

    def keep(
        self, settings: DraftingConfig, run: PipelineRun, steps: Sequence[FinishedStep], *, at: datetime
    ) -> Mapping[int, StepFault]:
        """Store facts, needs and suggestions of the cases that have their result."""
        results = {step.case: step.output for step in steps if step.name.stage == names.RESULT}
        store_drafts(run, settings, results, at=at)
        return {}


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


def cases_with_withheld_passages(run: PipelineRun, cases: Collection[int]) -> set[int]:
    """The cases for which the run found a passage of a document that may not be sent any more."""
    passages_of = sent_passages(run, cases)
    ids = {passage for own in passages_of.values() for passage in own}
    withheld = Document.objects.filter(passages__public_id__in=ids, may_send=False)
    refused = set(withheld.values_list("passages__public_id", flat=True)) if ids else set()
    return {case for case, own in passages_of.items() if not refused.isdisjoint(own)}


# Inputs --------------------------------------------------------------------------------------------------------------


def _retrieve(
    settings: DraftingConfig, key: str, name: StepName, outputs: CaseOutputs, conversation: Sequence[Mapping[str, str]]
) -> dict[str, Any]:
    plan = outputs.of(names.PLAN) if settings.content.has(names.PLAN) else None
    return query_of(settings.content, settings.case_of[key].language, plan, conversation)


def _of_case(settings: DraftingConfig, key: str, name: StepName, outputs: CaseOutputs, conversation: Any) -> Value:
    return {}


def _rank(settings: DraftingConfig, key: str, name: StepName, outputs: CaseOutputs, conversation: Any) -> Value:
    return {"passages": outputs.pool}


def _evidence(settings: DraftingConfig, key: str, name: StepName, outputs: CaseOutputs, conversation: Any) -> Value:
    return {"passages": outputs.passages}


def _facts(settings: DraftingConfig, key: str, name: StepName, outputs: CaseOutputs, conversation: Any) -> Value:
    return {"passages": outputs.passages, "statements": outputs.statements}


def _relevance(settings: DraftingConfig, key: str, name: StepName, outputs: CaseOutputs, conversation: Any) -> Value:
    return {"facts": outputs.stated_facts}


def _quotes(settings: DraftingConfig, key: str, name: StepName, outputs: CaseOutputs, conversation: Any) -> Value:
    return {
        "facts": outputs.stated_facts,
        "conflicts": outputs.of(names.EVIDENCE)["conflicts"],
        "passages": outputs.passages,
        "pool": outputs.pool,
    }


def _support(settings: DraftingConfig, key: str, name: StepName, outputs: CaseOutputs, conversation: Any) -> Value:
    return {"facts": outputs.to_be_checked}


def _synthesis(settings: DraftingConfig, key: str, name: StepName, outputs: CaseOutputs, conversation: Any) -> Value:
    return {
        "facts": outputs.usable_facts,
        "needs": outputs.usable_needs,
        "axes": settings.axes,
        "most": values_of(settings.content, name.stage)["most"],
    }


def _audit(settings: DraftingConfig, key: str, name: StepName, outputs: CaseOutputs, conversation: Any) -> Value:
    value = {
        "facts": outputs.usable_facts,
        "needs": outputs.usable_needs,
        "axes": settings.axes,
        "criteria": outputs.criteria_before(name.round),
        "bank": settings.case_of[key].bank,
        "limit": settings.content.limits.criteria,
    }
    value["sent"] = outputs.passages
    ground = ground_of({**value, "conversation": conversation})
    found = audit_by_code(value["criteria"], ground)
    places = (numbers_of(value["facts"]), numbers_of(value["needs"]))
    value["findings"] = sentences(value["criteria"], found.of_case, found.of_criteria, *places)
    return value


def _result(settings: DraftingConfig, key: str, name: StepName, outputs: CaseOutputs, conversation: Any) -> Value:
    return {
        "all_facts": outputs.facts,
        "all_needs": outputs.needs,
        "facts": outputs.usable_facts,
        "needs": outputs.usable_needs,
        "axes": settings.axes,
        "criteria": outputs.criteria_before(len(outputs.audits)),
        "removed": outputs.removed,
        "conflicts": outputs.conflicts,
        "sent": outputs.passages,
        "bank": settings.case_of[key].bank,
        "limit": settings.content.limits.criteria,
    }


_INPUTS: Mapping[str, Callable[..., Value]] = {
    names.PLAN: _of_case,
    names.RETRIEVE: _retrieve,
    names.RANK: _rank,
    names.EVIDENCE: _evidence,
    names.FACTS: _facts,
    names.RELEVANCE: _relevance,
    names.QUOTES: _quotes,
    names.SUPPORT: _support,
    names.NEEDS: _of_case,
    names.SYNTHESIS: _synthesis,
    names.DIRECT: _synthesis,
    names.GENERIC: _synthesis,
    names.AUDIT: _audit,
    names.RESULT: _result,
}


# Outputs -------------------------------------------------------------------------------------------------------------


def ground_of(value: Value) -> Ground:
    """What the criteria of an audit or a result are held against."""
    return Ground(
        facts=value["facts"],
        needs=value["needs"],
        conversation=value["conversation"],
        passages=value["sent"],
        bank=value["bank"],
        limit=value["limit"],
    )


def _computed(stage: str, value: Value) -> Output | None:
    """The output of a stage that asks nobody, or has nothing to ask about."""
    if stage in NOTHING_TO_ASK:
        empty, output = NOTHING_TO_ASK[stage]
        return None if value[empty] else output
    if stage == names.QUOTES:
        return {
            "quotes": check_quotes(value["facts"], value["passages"], value["pool"]),
            "conflicts": check_conflicts(value["conflicts"], value["passages"], value["pool"]),
        }
    if stage == names.SYNTHESIS and not value["facts"] and not value["needs"]:
        return {"criteria": []}
    if stage == names.GENERIC:
        return {"criteria": [_generic(each, value["axes"]) for each in generic_criteria(value["language"])]}
    if stage == names.AUDIT and not value["facts"] and not value["needs"] and not value["criteria"]:
        return _audited(value, NO_OPERATIONS)
    if stage == names.RESULT:
        return result_of(
            value["criteria"],
            value["all_facts"],
            value["all_needs"],
            ground_of(value),
            conflicts=value["conflicts"],
            removed=value["removed"],
            axes=value["axes"],
        )
    return None


def _generic(each: Any, axes: Sequence[str]) -> Output:
    axis = each.axis if each.axis in axes else ""
    return {"text": each.text, "points": each.points, "axis": axis, "facts": [], "needs": [], "why": "", "marks": []}


def _facts_output(value: Value, given: Output) -> Output:
    return {"facts": numbered_facts(with_red_flags(given["facts"], value["statements"], value["passages"]))}


def _support_output(value: Value, given: Output) -> Output:
    numbers = numbers_of(value["facts"])
    return {"checks": [{**check, "fact": numbers[check["fact"] - 1]} for check in given["checks"]]}


def _needs_output(value: Value, given: Output) -> Output:
    return {
        "register": given["register"],
        "state": given["state"],
        "needs": needs_of(given, value["conversation"]),
    }


def _criteria_output(value: Value, given: Output) -> Output:
    facts, needs = numbers_of(value["facts"]), numbers_of(value["needs"])
    return {"criteria": [drafted(each, facts, needs) for each in given["criteria"]]}


def _audited(value: Value, operations: Output) -> Output:
    """The criteria after the operations, with what code finds then; ``open`` is how many problems could be solved."""
    audited = carry_out(operations, value["criteria"], value["facts"], value["needs"], limit=value["limit"])
    ground = ground_of(value)
    found = audit_by_code(audited.criteria, ground)
    return {
        "operations": operations,
        "criteria": audited.criteria,
        "removed": audited.removed,
        "refused": audited.refused,
        "of_case": found.of_case,
        "of_criteria": found.of_criteria,
        "open": len(found.open_problems(ground)),
    }


_OUTPUTS: Mapping[str, Callable[[Value, Output], Output]] = {
    names.FACTS: _facts_output,
    names.SUPPORT: _support_output,
    names.NEEDS: _needs_output,
    names.SYNTHESIS: _criteria_output,
    names.DIRECT: _criteria_output,
    names.AUDIT: _audited,
}


# Findings ------------------------------------------------------------------------------------------------------------


def _check_facts(value: Value, output: Output) -> list[Finding]:
    return [finding(codes.RESTORED, fact=fact["number"]) for fact in output["facts"] if fact["restored"]]


def _check_relevance(value: Value, output: Output) -> list[Finding]:
    _drops, ignored = drops_of(output, value["facts"])
    return [finding(codes.DROP_IGNORED, **drop) for drop in ignored]


def _check_quotes(value: Value, output: Output) -> list[Finding]:
    found = []
    for quote in output["quotes"]:
        if quote["quote_state"] not in STANDS or not quote["numbers_agree"]:
            reason = reason_against({**quote, "dropped_because": "", "support": ""})
            found.append(finding(codes.FACT_NOT_USABLE, fact=quote["number"], reason=reason))
        elif quote["quote_state"] == "moved":
            found.append(finding(codes.MOVED_QUOTE, fact=quote["number"]))
    return found


def _check_support(value: Value, output: Output) -> list[Finding]:
    reasons = {"partly": "supported_partly", "does_not": "not_supported"}
    return [
        finding(codes.FACT_NOT_USABLE, fact=check["fact"], reason=reasons[check["support"]])
        for check in output["checks"]
        if check["support"] in reasons
    ]


def _check_needs(value: Value, output: Output) -> list[Finding]:
    unusable = [need for need in output["needs"] if not is_usable(need)]
    return [
        finding(codes.NEED_NOT_USABLE, need=need["number"], quote_state=need["quote_state"]) for need in unusable
    ]  # fmt: skip


def _check_audit(value: Value, output: Output) -> list[Finding]:
    removed = [finding(codes.REMOVED, text=each["text"], why=each["reason"]) for each in output["removed"]]
    return [*output["of_case"], *output["refused"], *removed]


def _check_result(value: Value, output: Output) -> list[Finding]:
    return list(output["findings"])


_CHECKS: Mapping[str, Callable[[Value, Output], list[Finding]]] = {
    names.FACTS: _check_facts,
    names.RELEVANCE: _check_relevance,
    names.QUOTES: _check_quotes,
    names.SUPPORT: _check_support,
    names.NEEDS: _check_needs,
    names.AUDIT: _check_audit,
    names.RESULT: _check_result,
}

KIND = register_kind(DraftingKind())
