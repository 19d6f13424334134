"""Keeps the details of a case file that the tables do not hold, so that a release writes cases as they were imported.

A case keeps them in its metadata under `KEY`, and only where its line differs from the usual form: an id that is a
number, a repeated tag, an absent list, completions in another shape, a criterion that is an object with another name
for its text, a field of the file whose name means something else in the metadata.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from consilium.core.limits import (
    MAX_CITATIONS,
    MAX_LOCATOR_LENGTH,
    MAX_PUBLIC_ID_LENGTH,
    MAX_TRACEABILITY_LENGTHS,
)

KEY = "as_imported"
CITATIONS = "citations"  # the field of ``traceability`` with the locators of the passages that a criterion cites
# Names that the metadata uses itself; a field of the file with such a name is kept under ``fields``.
RESERVED = frozenset({KEY, "criterion_extras", "context_length"})
# Of a case that came in the form of HealthBench Professional, under `KEY`; its labels become tags.
FORM, PROFESSIONAL = "form", "healthbench_professional"
PROFESSIONAL_LABELS = ("use_case", "type", "difficulty", "specialty")
COMPLETIONS = ("ideal_completion", "ideal_completions_group", "ideal_completions_ref_completions")


def unknown_fields(rest: Mapping[str, Any], kept: dict[str, Any]) -> dict[str, Any]:
    """The fields that nobody reads, for the metadata; those with a reserved name go into ``kept``."""
    if taken := {name: value for name, value in rest.items() if name in RESERVED}:
        kept["fields"] = taken
    return {name: value for name, value in rest.items() if name not in RESERVED}


def ideal_completions(
    ideal: str, group: str, references: Sequence[str], rest: Mapping[str, Any]
) -> dict[str, Any] | None:
    """``ideal_completions_data`` in HealthBench's form; None where nothing came with the case."""
    if not ideal and not references and not rest:
        return None
    completions = dict(zip(COMPLETIONS, (ideal or None, group or None, list(references)), strict=True))
    return {**completions, **rest}


_LENGTHS = {**MAX_TRACEABILITY_LENGTHS, "suggestion": MAX_PUBLIC_ID_LENGTH}


def traceability_of(value: Any) -> dict[str, Any] | None:
    """What a criterion rests on, if ``value`` has the form in which a release writes it; None for anything else."""
    if not isinstance(value, Mapping) or not value or not value.keys() <= {*_LENGTHS, CITATIONS}:
        return None
    texts = {name: text for name, text in value.items() if name != CITATIONS}
    if not all(_is_text(text, _LENGTHS[name]) for name, text in texts.items()):
        return None
    if CITATIONS not in value:
        return texts
    locators = value[CITATIONS]
    if not isinstance(locators, list) or not 0 < len(locators) <= MAX_CITATIONS:
        return None
    if not all(_is_text(name, MAX_LOCATOR_LENGTH) for name in locators):
        return None
    return {**texts, CITATIONS: tuple(locators)}


def _is_text(value: Any, longest: int) -> bool:
    return isinstance(value, str) and 0 < len(value) <= longest


def healthbench_criterion(
    text: str,
    points: int,
    tags: Sequence[str],
    extras: Mapping[str, Any],
    kept: Mapping[str, Any] | None = None,
    rests_on: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """An element of ``rubrics``; ``kept`` says so where its tags were null or missing.

    ``rests_on`` (source, element, expectation, bank, citations, suggestion) is a field beside HealthBench's own, where
    any of it is given.
    """
    record = {"criterion": text, "points": points, "tags": list(tags)}
    if given := {name: text for name, text in (rests_on or {}).items() if text}:
        record["traceability"] = given
    record |= extras
    if kept is not None and not tags:
        record.pop("tags")
        record |= kept["rest"]
    return record


def professional_criterion(
    text: str, points: int, tags: Sequence[str], extras: Mapping[str, Any], rests_on: Mapping[str, Any]
) -> dict[str, Any]:
    """An element of ``rubric_items``: the form has no tags and no sources, so that these are there only if given."""
    record = healthbench_criterion(text, points, tags, extras, None, rests_on)
    own = {"criterion_text": record.pop("criterion"), **record}
    if not tags and "tags" not in extras:
        own.pop("tags")
    return own


def clinconsensus_criterion(
    text: str, tags: Sequence[str], extras: Mapping[str, Any], kept: Mapping[str, Any] | None = None
) -> str | dict[str, Any]:
    """An element of ``rubrics``: a text, or an object where it came as one or with something beside the text."""
    if kept is None:
        return {"criterion": text, **extras} if extras else text
    record = {kept["text"]: text, **kept["rest"], **extras}
    return {**record, "tags": list(tags)} if tags else record


def clinconsensus_criterion_kept(element: Any, extras: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    """What to keep of an element that is an object: the name of its text, and all but its tags and unknown fields."""
    if not isinstance(element, Mapping):
        return None
    rest = {key: value for key, value in element.items() if key != name and key not in extras}
    if rest.get("tags"):  # the rubric has them
        rest.pop("tags")
    return {"text": name, "rest": rest}
