"""Two responses, compared by criteria or without any, and one response by one criterion. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from consilium.llm.rules.stems import is_met, numbers, stems
from consilium.llm.staged import UnreadableRequest, read_numbered


def side_by_side(texts: Mapping[str, str]) -> dict[str, Any]:
    """Which criteria each response meets; the one with more points is better."""
    stems_a, numbers_a = stems(texts["A"]), numbers(texts["A"])
    stems_b, numbers_b = stems(texts["B"]), numbers(texts["B"])
    items = []
    total_a = total_b = 0
    for number, item in enumerate(read_numbered(texts["CRITERIA"]), 1):
        met_a, met_b = is_met(item.text, stems_a, numbers_a), is_met(item.text, stems_b, numbers_b)
        points = 1 if item.points is None else item.points
        total_a, total_b = total_a + points * met_a, total_b + points * met_b
        items.append({"criterion": number, "met_a": met_a, "met_b": met_b})
    return {"items": items, "decision": better(total_a, total_b)}


def no_rubric(texts: Mapping[str, str]) -> dict[str, Any]:
    """A score for each response from 0 to 10: how many tenths of the stems of the case it has."""
    case = stems(texts["CASE"])
    score_a, score_b = (10 * len(case & stems(texts[name])) // max(1, len(case)) for name in ("A", "B"))
    return {"score_a": score_a, "score_b": score_b, "decision": better(score_a, score_b)}


def better(first: int, second: int) -> str:
    """The answer that has more."""
    return "A" if first > second else "B" if second > first else "same"


def verdict(texts: Mapping[str, str]) -> dict[str, Any]:
    """A judge's question without a stage: does a response meet a criterion?"""
    response = next((texts[name] for name in ("REPLY", "RESPONSE", "TRANSCRIPT") if name in texts), None)
    criterion = texts.get("CRITERION", texts.get("ITEM"))
    if response is None or criterion is None:
        raise UnreadableRequest("the request has no stage, and no response and criterion either")
    met = is_met(criterion, stems(response), numbers(response))
    shared, own = len(stems(criterion) & stems(response)), len(stems(criterion))
    return {"explanation": f"The response has {shared} of {own} word stems of the criterion.", "criteria_met": met}
