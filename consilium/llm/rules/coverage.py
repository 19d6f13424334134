"""Coverage: is what a point asks for in one of the criteria? Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from consilium.llm.rules.stems import stems
from consilium.llm.staged import read_numbered

FULL, PARTLY = 3, 5  # a criterion holds at least one of so many of the point's stems


def coverage(texts: Mapping[str, str]) -> dict[str, Any]:
    """How far the criterion with the most of the point's stems covers it; of equals the first one."""
    point = stems(texts["POINT"])
    shared = [len(point & stems(item.text)) for item in read_numbered(texts["CRITERIA"])]
    most = max(shared, default=0)
    extent = "none"
    if most:
        extent = "full" if FULL * most >= len(point) else "partly" if PARTLY * most >= len(point) else "none"
    if extent == "none":
        return {"extent": extent, "by": [], "why": f"No criterion has enough of the {len(point)} word stems."}
    number = shared.index(most) + 1
    return {
        "extent": extent,
        "by": [number],
        "why": f"Criterion {number} has {most} of the {len(point)} word stems of the point.",
    }
