"""Refinement: a plan that adds each criterion that is not met, and an edit that does what the plan says. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from consilium.llm.rules.stems import is_met, numbers, stems
from consilium.llm.staged import NumberedItem, read_numbered

HIGH, MEDIUM = 7, 4  # points from which an edit has this priority


def plan(texts: Mapping[str, str]) -> dict[str, Any]:
    """Adds the sentence of every criterion with positive points that the base does not meet.

    Those with negative points must not be met. Without criteria there is nothing to change.
    """
    base, base_numbers = stems(texts["BASE"]), numbers(texts["BASE"])
    status: list[dict[str, Any]] = []
    edits: list[dict[str, Any]] = []
    must_not: list[str] = []
    for number, item in enumerate(read_numbered(texts.get("CRITERIA", "")), 1):
        met = is_met(item.text, base, base_numbers)
        why = "The base has enough of its word stems." if met else "The base lacks its word stems or numbers."
        status.append({"criterion": number, "met": "yes" if met else "no", "why": why})
        if item.points is not None and item.points < 0:
            must_not.append(item.text)
        elif not met:
            edits.append(
                {
                    "number": len(edits) + 1,
                    "priority": _priority(item),
                    "action": "add",
                    "find": None,
                    "instruction": item.text,
                    "criteria": [number],
                }
            )
    return {"status": status, "edits": edits, "must_not": must_not}


def _priority(item: NumberedItem) -> str:
    points = item.points or 0
    return "high" if points >= HIGH else "medium" if points >= MEDIUM else "low"


def edit(texts: Mapping[str, str]) -> dict[str, Any]:
    """The base, and under it the sentence of every edit of the plan."""
    edits = read_numbered(texts.get("PLAN", ""))
    text = "\n\n".join([texts["BASE"], *([" ".join(item.text for item in edits)] if edits else [])])
    return {"edits_done": list(range(1, len(edits) + 1)), "edits_refused": [], "text": text}
