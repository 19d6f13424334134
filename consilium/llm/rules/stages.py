"""The stages that the endpoint knows, each with its rule. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from consilium.llm.rules.coverage import coverage
from consilium.llm.rules.drafting.criteria import audit, direct, synthesis
from consilium.llm.rules.drafting.facts import evidence, facts, relevance, support
from consilium.llm.rules.drafting.needs import needs
from consilium.llm.rules.drafting.queries import draft_plan, rank
from consilium.llm.rules.near_miss import near_miss
from consilium.llm.rules.refining import edit, plan
from consilium.llm.rules.side_by_side import no_rubric, side_by_side, verdict
from consilium.llm.rules.splitting import split_points
from consilium.llm.staged import UnreadableRequest

Rule = Callable[[Mapping[str, str]], dict[str, Any]]

VERDICT = ""  # a request without a stage is a judge's
STAGES: Mapping[str, Rule] = {
    VERDICT: verdict,
    "split_points": split_points,
    "coverage": coverage,
    "coverage_back": coverage,
    "near_miss": near_miss,
    "side_by_side": side_by_side,
    "no_rubric": no_rubric,
    "plan": plan,
    "edit": edit,
    "draft_plan": draft_plan,
    "rank": rank,
    "evidence": evidence,
    "facts": facts,
    "relevance": relevance,
    "support": support,
    "needs": needs,
    "synthesis": synthesis,
    "direct": direct,
    "audit": audit,
}


def answer_of(stage: str, texts: Mapping[str, str]) -> dict[str, Any]:
    """What the rule of a stage answers; `UnreadableRequest` where there is no rule, or a text is missing."""
    rule = STAGES.get(stage)
    if rule is None:
        raise UnreadableRequest(f"there is no rule for the stage “{stage[:40]}”")
    try:
        return rule(texts)
    except KeyError as missing:
        raise UnreadableRequest(f"the stage “{stage}” needs the text {missing.args[0]}") from None
