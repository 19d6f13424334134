"""Cases in HealthBench's form: its keys in its order, then other metadata of the case's source file."""

from __future__ import annotations

from typing import Any

from releases.content.record import ReleasedCase, ReleasedCriterion
from rubrics.parsing import as_imported

KEYS = ("example_tags", "ideal_completions_data", "prompt", "prompt_id", "rubrics", "canary")
# Metadata that the importer reads, or that has a place of its own in the form.
_PLACED = frozenset({*as_imported.RESERVED, "prompt", "ideal_completions_data", "canary"})
# Labels of ClinConsensus: here they are tags.
_LABELS = frozenset({"task", "task_labels", "subject", "subject_labels", "user_role"})


def healthbench(case: ReleasedCase, canary: str) -> dict[str, Any]:
    """A line of ``cases/healthbench.jsonl``. ``canary`` is written into cases that were written here."""
    kept = case.kept
    absent = kept.get("absent", ())
    record: dict[str, Any] = {}
    tags = _tags(case)
    if tags or "example_tags" not in absent:
        record["example_tags"] = tags
    completions = _completions(case)
    if completions is not None or "ideal_completions_data" not in absent:
        record["ideal_completions_data"] = completions
    record["prompt"] = turns_of(case, case.metadata.get("prompt"))
    record["prompt_id"] = kept.get("key", case.key)
    record["rubrics"] = [
        as_imported.healthbench_criterion(
            each.text,
            each.points,
            each.tags,
            {} if case.is_clinconsensus else each.extras,
            _unusual(case, each.kept),
            rests_on(each),
        )
        for each in case.criteria
    ]
    if "canary" in case.metadata:
        record["canary"] = case.metadata["canary"]
    elif case.is_professional and "canary_string" in case.metadata:
        record["canary"] = case.metadata["canary_string"]
    elif canary and case.written_here:
        record["canary"] = canary
    return {**record, **_unknown(case, record)}


def rests_on(criterion: ReleasedCriterion) -> dict[str, Any]:
    """What a criterion rests on, for `as_imported.healthbench_criterion`."""
    return {
        "source": criterion.source,
        "element": criterion.element,
        "expectation": criterion.expectation,
        "bank": criterion.bank,
        as_imported.CITATIONS: [place.locator for place in criterion.cited],
        "suggestion": criterion.suggestion,
    }


def _tags(case: ReleasedCase) -> Any:
    """The tags as they were in the file, with repetitions or null, if they have not changed since."""
    if "example_tags" in case.kept and case.tags == case.own_tags:
        raw = case.kept["example_tags"]
        if tuple(dict.fromkeys(raw or ())) == case.own_tags:
            return raw
    return list(case.tags)


def _completions(case: ReleasedCase) -> Any:
    if "ideal_completions_data" in case.kept:
        return case.kept["ideal_completions_data"]
    rest = case.metadata.get("ideal_completions_data")
    completions = case.completions
    return as_imported.ideal_completions(
        completions.ideal, completions.group, completions.references, rest if isinstance(rest, dict) else {}
    )


def turns_of(case: ReleasedCase, whole: Any) -> list[dict[str, Any]]:
    """The conversation, with all fields of its turns where the file had further fields: ``whole`` are its turns."""
    turns = [{"content": turn["content"], "role": turn["role"]} for turn in case.conversation]
    if case.is_clinconsensus or not isinstance(whole, list) or len(whole) != len(turns):
        return turns
    merged = [{**turn, **more} for turn, more in zip(turns, whole, strict=True) if isinstance(more, dict)]
    # The conversation may have been edited since the import.
    pairs = [(turn["content"], turn["role"]) for turn in turns]
    return merged if [(turn["content"], turn["role"]) for turn in merged] == pairs else turns


def _unusual(case: ReleasedCase, kept: dict[str, Any] | None) -> dict[str, Any] | None:
    return None if case.is_clinconsensus else kept


def _unknown(case: ReleasedCase, record: dict[str, Any]) -> dict[str, Any]:
    """Fields that the product does not read, as imported."""
    hidden = _PLACED | _LABELS if case.is_clinconsensus else _PLACED
    rest = {name: value for name, value in case.metadata.items() if name not in hidden}
    fields = case.kept.get("fields")
    return {name: value for name, value in {**rest, **(fields or {})}.items() if name not in record}
