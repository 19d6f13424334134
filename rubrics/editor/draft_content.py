"""Draft items of the rubric editor: parsed from JSON and validated.

A draft may be half done: texts may be empty and points 0. `unready` checks what must hold before it can be sent to
review; what a benchmark demands beyond that is in its rules (`rubrics.editor.rules`), and advice is in the lint.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from consilium.core.errors import LineError
from consilium.core.limits import (
    MAX_CRITERION_LENGTH,
    MAX_PUBLIC_ID_LENGTH,
    MAX_TAG_LENGTH,
    MAX_TRACEABILITY_LENGTHS,
)
from rubrics.editor.citation import Citation, citation_rows, citations_of, read_citations
from rubrics.editor.gaps import open_placeholders
from rubrics.models import Case, RubricItem

MAX_ITEMS = 500
MAX_TAGS = 50
LOWEST, HIGHEST = -10, 10


@dataclass(frozen=True, slots=True)
class DraftItem:
    """A criterion in the editor. ``id`` is the browser's name for it, unique within the draft.

    ``criterion`` is the row that it came from (`Criterion.pk`): where the text is still the same, that row is used
    again when the rubric is published, with all its decisions and verdicts.
    """

    id: str
    text: str = ""
    points: int = 0
    tags: tuple[str, ...] = ()
    source: str = ""  # the guideline or paper it rests on
    element: str = ""  # the element of the case that it refers to
    expectation: str = ""  # what the criterion checks
    bank: str = ""  # BANK/KEY of the bank item it was taken from
    citations: tuple[Citation, ...] = ()  # the passages it rests on
    suggestion: str = ""  # the public id of the suggestion that it began as
    criterion: int | None = None

    def as_json(self) -> dict[str, Any]:
        """As it is stored and sent to the browser."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**values, "tags": list(self.tags), "citations": citation_rows(self.citations)}


@dataclass(slots=True)
class ItemsInput:
    """The items of a draft, and what is wrong with what was sent; ``line`` is the place of an item, from 1."""

    items: list[DraftItem] = field(default_factory=list)
    faults: list[LineError] = field(default_factory=list)


TEXTS = {"text": MAX_CRITERION_LENGTH, **MAX_TRACEABILITY_LENGTHS, "suggestion": MAX_PUBLIC_ID_LENGTH}
KEYS = frozenset(DraftItem.__dataclass_fields__)


def read_items(value: Any) -> ItemsInput:
    """Items from JSON, strictly: types are not coerced, unknown keys are faults, nothing is dropped silently."""
    reading = ItemsInput()
    if not isinstance(value, list):
        reading.faults.append(LineError(0, "items", _("This must be a list of criteria.")))
        return reading
    if len(value) > MAX_ITEMS:
        message = _("A rubric can have at most %(n)d criteria.") % {"n": MAX_ITEMS}
        reading.faults.append(LineError(0, "items", message))
        return reading
    seen: set[str] = set()
    used: set[int] = set()
    for place, element in enumerate(value, start=1):
        item = _item(element, place, reading.faults)
        if item is None:
            continue
        if item.id in seen:
            reading.faults.append(LineError(place, "id", _("Two criteria have the same id.")))
        if item.criterion is not None and item.criterion in used:
            reading.faults.append(LineError(place, "criterion", _("The same criterion appears twice in the rubric.")))
        seen.add(item.id)
        if item.criterion is not None:
            used.add(item.criterion)
        reading.items.append(item)
    return reading


def _item(element: Any, place: int, faults: list[LineError]) -> DraftItem | None:
    if not isinstance(element, Mapping):
        faults.append(LineError(place, "", _("Each criterion must be an object.")))
        return None
    before = len(faults)
    faults += [LineError(place, str(key)[:80], _("This field does not exist.")) for key in element if key not in KEYS]
    values: dict[str, Any] = {}
    name = element.get("id")
    if isinstance(name, str) and 0 < len(name) <= 40:
        values["id"] = name
    else:
        faults.append(LineError(place, "id", _("Each criterion needs an id of at most 40 characters.")))
    for key, longest in TEXTS.items():
        text = element.get(key, "")
        if not isinstance(text, str):
            faults.append(LineError(place, key, _("This must be text.")))
        elif len(text) > longest:
            faults.append(LineError(place, key, _("This is longer than %(n)d characters.") % {"n": longest}))
        elif "\x00" in text or any("\ud800" <= character <= "\udfff" for character in text):
            faults.append(LineError(place, key, _("The text contains a character that cannot be stored.")))
        else:
            values[key] = text
    points = element.get("points", 0)
    if isinstance(points, bool) or not isinstance(points, int) or not LOWEST <= points <= HIGHEST:
        faults.append(LineError(place, "points", _("Points must be a whole number from -10 to 10.")))
    else:
        values["points"] = points
    tags = element.get("tags", [])
    if (
        not isinstance(tags, list)
        or len(tags) > MAX_TAGS
        or not all(
            isinstance(tag, str) and 0 < len(tag.strip()) <= MAX_TAG_LENGTH and "\x00" not in tag for tag in tags
        )
    ):
        message = _("Tags must be a list of at most %(n)d texts of at most %(length)d characters each.")
        faults.append(LineError(place, "tags", message % {"n": MAX_TAGS, "length": MAX_TAG_LENGTH}))
    else:
        values["tags"] = tuple(dict.fromkeys(tag.strip() for tag in tags))
    citations = read_citations(element.get("citations", []))
    if isinstance(citations, str):
        faults.append(LineError(place, "citations", citations))
    else:
        values["citations"] = citations
    criterion = element.get("criterion")
    if criterion is not None and (isinstance(criterion, bool) or not isinstance(criterion, int) or criterion < 1):
        faults.append(LineError(place, "criterion", _("This must be the number of a criterion, or empty.")))
    else:
        values["criterion"] = criterion
    return DraftItem(**values) if len(faults) == before else None


def items_of(content: Mapping[str, Any]) -> list[DraftItem]:
    """The items of a stored draft."""
    return [
        DraftItem(**{**row, "tags": tuple(row["tags"]), "citations": citations_of(row.get("citations", ()))})
        for row in content.get("items", [])
    ]


def from_rubric(items: Sequence[RubricItem]) -> list[DraftItem]:
    """A draft that begins as a copy of a published rubric; ``items`` with their criteria, in order."""
    return [
        DraftItem(
            id=f"c{item.criterion_id}",
            text=item.criterion.text,
            points=item.points,
            tags=tuple(item.tags),
            source=item.source_note,
            element=item.case_element,
            expectation=item.expectation,
            bank=item.bank_item,
            citations=citations_of(item.citations),
            suggestion=item.suggestion,
            criterion=item.criterion_id,
        )
        for item in items
    ]


def digest_of(items: Sequence[DraftItem]) -> str:
    """SHA-256 of all that would be published; ids of the browser are no part of it.

    Citations and suggestion are a part only where there are any: reviews from before they existed stay valid.
    """
    rows: list[list[Any]] = []
    for item in items:
        row = [item.text, item.points, list(item.tags), item.source, item.element, item.expectation, item.bank]
        later = {"citations": citation_rows(item.citations), "suggestion": item.suggestion}
        if given := {name: value for name, value in later.items() if value}:
            row.append(given)
        rows.append(row)
    return hashlib.sha256(json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()


def digest_for_review(items: Sequence[DraftItem], case: Case) -> str:
    """SHA-256 of all that a reviewer reads: the criteria, and the case that they are about.

    A case may change as long as nothing of it is published: an earlier approval of the same criteria was then given
    for a different case, and no longer counts.
    """
    read = [digest_of(items), case.conversation, case.reference_answer]
    return hashlib.sha256(json.dumps(read, ensure_ascii=False, sort_keys=True).encode()).hexdigest()


def unready(items: Sequence[DraftItem], rubric: int | None = None) -> list[LineError]:
    """What keeps these items from being a rubric, whatever the benchmark's rules are.

    ``rubric`` is the version (`Rubric.pk`) that they are the draft of: it may keep the placeholders of the version
    before it, and items of the benchmark's own banks may have placeholders of their own.
    """
    faults = []
    if not items:
        faults.append(LineError(0, "items", _("The rubric has no criteria yet.")))
    elif all(item.points <= 0 for item in items):
        # Rubric score, Rubric Accuracy and CACS divide by the positive ones.
        faults.append(LineError(0, "points", _("No criterion has positive points, so no score would be defined.")))
    gaps = open_placeholders([(item.text, item.bank) for item in items], rubric)
    for place, item in enumerate(items, start=1):
        if not item.text.strip():
            faults.append(LineError(place, "text", _("The criterion has no text.")))
        if place in gaps:
            message = (
                _("“%(quote)s” is a placeholder to fill in.")
                if item.bank
                else _("“%(quote)s” is a placeholder: fill it in, or write it without brackets.")
            )
            faults.append(LineError(place, "text", message % {"quote": gaps[place]}))
        if item.points == 0:
            faults.append(LineError(place, "points", _("A criterion must add or deduct at least one point.")))
    return faults
