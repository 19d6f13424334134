"""What an answer of a stage comes to, what a stage comes to that asks nobody, and what code finds in either. Pure.

Outputs, by stage: *draft_plan*, *rank*, *evidence* and *relevance* as answered; *facts* with their numbers within the
case, from which on every output has the numbers of the case; *quotes* where the quotations stand; *support* as
answered; *needs* with their numbers; *synthesis*, *direct* and *generic* criteria (`drafting.stages.criteria`); *audit*
the criteria after its operations; *result* as `drafting.stages.result` describes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from drafting.stages import findings as codes
from drafting.stages import names
from drafting.stages.audit import Ground, audit_by_code
from drafting.stages.criteria import drafted
from drafting.stages.facts import (
    MOVED,
    SUPPORT_REASONS,
    check_conflicts,
    check_quotes,
    drops_of,
    numbered_facts,
    reason_against,
    with_red_flags,
)
from drafting.stages.findings import Finding, finding, gravest_first
from drafting.stages.needs import is_usable, needs_of
from drafting.stages.operations import carry_out
from drafting.stages.requests import numbers_of
from drafting.stages.result import result_of
from rubrics.generic import GenericCriterion, generic_criteria

Value = Mapping[str, Any]
Output = dict[str, Any]

NO_EVIDENCE: Output = {"statements": [], "red_flags": [], "conflicts": []}
NO_OPERATIONS: Output = {
    name: [] for name in ("add", "unsupported", "irrelevant", "contradicts", "merge", "split", "reword")
}
# What a stage comes to that has nothing to ask about, by the name of the list that is empty then.
NOTHING_TO_ASK: Mapping[str, tuple[str, Output]] = {
    names.RANK: ("passages", {"order": []}),
    names.EVIDENCE: ("passages", NO_EVIDENCE),
    names.FACTS: ("statements", {"facts": []}),
    names.RELEVANCE: ("facts", {"drop": []}),
    names.SUPPORT: ("facts", {"checks": []}),
}


def computed_output(stage: str, value: Value) -> Output | None:
    """The output of a stage that asks nobody, or has nothing to ask about; None where a model is asked."""
    if stage in NOTHING_TO_ASK:
        empty, output = NOTHING_TO_ASK[stage]
        return None if value[empty] else output
    compute = _COMPUTED.get(stage)
    return None if compute is None else compute(value)


def answered_output(stage: str, value: Value, given: Output) -> Output:
    """The output that a checked answer of a stage comes to."""
    read = _OUTPUTS.get(stage)
    return given if read is None else read(value, given)


def findings_of(stage: str, value: Value, output: Output) -> list[Finding]:
    """What code finds in the output of a stage, kept with the step."""
    look = _CHECKS.get(stage)
    return [] if look is None else gravest_first(look(value, output))


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


def _quotes(value: Value) -> Output:
    return {
        "quotes": check_quotes(value["facts"], value["passages"], value["pool"]),
        "conflicts": check_conflicts(value["conflicts"], value["passages"], value["pool"]),
    }


def _no_synthesis(value: Value) -> Output | None:
    return None if value["facts"] or value["needs"] else {"criteria": []}


def _no_audit(value: Value) -> Output | None:
    is_empty = not (value["facts"] or value["needs"] or value["criteria"])
    return _audited(value, NO_OPERATIONS) if is_empty else None


def _all_generic(value: Value) -> Output:
    return {"criteria": [_generic(each, value["axes"]) for each in generic_criteria(value["language"])]}


def _generic(each: GenericCriterion, axes: Sequence[str]) -> Output:
    axis = each.axis if each.axis in axes else ""
    return {"text": each.text, "points": each.points, "axis": axis, "facts": [], "needs": [], "why": "", "marks": []}


def _result(value: Value) -> Output:
    return result_of(
        value["criteria"],
        value["all_facts"],
        value["all_needs"],
        ground_of(value),
        conflicts=value["conflicts"],
        removed=value["removed"],
        axes=value["axes"],
    )


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
    audit = audit_by_code(audited.criteria, ground)
    return {
        "operations": operations,
        "criteria": audited.criteria,
        "removed": audited.removed,
        "refused": audited.refused,
        "of_case": audit.of_case,
        "of_criteria": audit.of_criteria,
        "open": len(audit.open_problems(ground)),
    }


_COMPUTED: Mapping[str, Callable[[Value], Output | None]] = {
    names.QUOTES: _quotes,
    names.SYNTHESIS: _no_synthesis,
    names.GENERIC: _all_generic,
    names.AUDIT: _no_audit,
    names.RESULT: _result,
}
_OUTPUTS: Mapping[str, Callable[[Value, Output], Output]] = {
    names.FACTS: _facts_output,
    names.SUPPORT: _support_output,
    names.NEEDS: _needs_output,
    names.SYNTHESIS: _criteria_output,
    names.DIRECT: _criteria_output,
    names.AUDIT: _audited,
}


def _check_facts(value: Value, output: Output) -> list[Finding]:
    return [finding(codes.RESTORED, fact=fact["number"]) for fact in output["facts"] if fact["restored"]]


def _check_relevance(value: Value, output: Output) -> list[Finding]:
    _drops, ignored = drops_of(output, value["facts"])
    return [finding(codes.DROP_IGNORED, **drop) for drop in ignored]


def _check_quotes(value: Value, output: Output) -> list[Finding]:
    findings = []
    for quote in output["quotes"]:
        if reason := reason_against({**quote, "dropped_because": "", "support": ""}):
            findings.append(finding(codes.FACT_NOT_USABLE, fact=quote["number"], reason=reason))
        elif quote["quote_state"] == MOVED:
            findings.append(finding(codes.MOVED_QUOTE, fact=quote["number"]))
    return findings


def _check_support(value: Value, output: Output) -> list[Finding]:
    return [
        finding(codes.FACT_NOT_USABLE, fact=check["fact"], reason=SUPPORT_REASONS[check["support"]])
        for check in output["checks"]
        if check["support"] in SUPPORT_REASONS
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
