"""Cases in the form of HealthBench Professional, for those that came in it."""

from __future__ import annotations

from typing import Any

from releases.content.healthbench import rests_on, turns_of
from releases.content.record import ReleasedCase
from rubrics.parsing import as_imported

PATH = "cases/healthbench_professional.jsonl"
_PLACED = frozenset({*as_imported.RESERVED, *as_imported.PROFESSIONAL_LABELS})


def healthbench_professional(case: ReleasedCase) -> dict[str, Any]:
    """A line of `PATH`: the form's keys, then other fields of the source file as they came."""
    kept = case.kept
    record: dict[str, Any] = {
        "id": kept.get("key", case.key),
        "conversation": {"messages": turns_of(case, kept.get("messages")), **kept.get("conversation", {})},
        "rubric_items": [
            as_imported.professional_criterion(each.text, each.points, each.tags, each.extras, rests_on(each))
            for each in case.criteria
        ],
    }
    for name in as_imported.PROFESSIONAL_LABELS:
        label = _label(case, name)
        if label is not None or name in case.metadata:
            record[name] = label
    if case.completions.ideal:
        record["physician_response"] = case.completions.ideal
    elif "physician_response" in kept:
        record["physician_response"] = kept["physician_response"]
    more = {name: value for name, value in case.metadata.items() if name not in _PLACED} | kept.get("fields", {})
    return {**record, **{name: value for name, value in more.items() if name not in record}}


def _label(case: ReleasedCase, name: str) -> Any:
    """A label word for word as imported; if the tags of the case have changed since, the first of its kind."""
    now = case.labels(name)
    came = case.metadata.get(name)
    own = [came.strip()] if isinstance(came, str) and came.strip() else []
    if now == own:
        return came
    return now[0] if now else None
