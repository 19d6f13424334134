"""The state of a suggestion as it follows from a list of criteria, and the criterion that it becomes."""

from __future__ import annotations

import hashlib
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from consilium.statistics.edit_distance import edit_distance
from drafting.models import Suggestion
from rubrics.editor.draft_content import DraftItem

AXIS = "axis:"  # what the tag that names the axis of a criterion begins with


def axis_of(tags: Iterable[str]) -> str:
    """The axis that a criterion's tags name; empty where they name none."""
    return next((tag.removeprefix(AXIS) for tag in tags if tag.startswith(AXIS)), "")


def words_of(text: str) -> str:
    """A text without what nobody sees: NFC, and one blank for each run of white space."""
    return unicodedata.normalize("NFC", " ".join(text.split()))


def tags_of(suggestion: Suggestion) -> list[str]:
    """The tags of the criterion that a suggestion becomes: its axis first."""
    others = [tag for tag in suggestion.tags if not tag.startswith(AXIS)]
    return [*([AXIS + suggestion.axis] if suggestion.axis else []), *others]


def item_of(suggestion: Suggestion) -> dict[str, Any]:
    """The criterion that a suggestion becomes when it is taken, as `DraftItem.as_json` writes one.

    Its id is the same in every browser, so that two pages that take a suggestion make one criterion of it. It looks
    like those that browsers give (`newItemId` in `rubric_model.js`): it does not tell a reviewer what was suggested.
    """
    name = hashlib.sha256(f"criterion of suggestion {suggestion.public_id}".encode()).hexdigest()
    return {
        "id": f"n{name[:16]}",
        "text": suggestion.text,
        "points": suggestion.points,
        "tags": tags_of(suggestion),
        "source": suggestion.source,
        "element": "",
        "expectation": "",
        "bank": "",
        "citations": suggestion.citations,
        "suggestion": suggestion.public_id,
        "criterion": None,
    }


def by_suggestion(items: Iterable[DraftItem]) -> dict[str, list[DraftItem]]:
    """The criteria that began as each suggestion, by its public id."""
    carried: defaultdict[str, list[DraftItem]] = defaultdict(list)
    for item in items:
        if item.suggestion:
            carried[item.suggestion].append(item)
    return dict(carried)


def nearest(suggestion: Suggestion, items: Sequence[DraftItem]) -> tuple[DraftItem, float]:
    """The criterion that is nearest to the suggestion that it began as, and the distance of their texts, 0 to 1.

    There are several where one was duplicated or split.
    """
    distances = [(edit_distance(suggestion.text, item.text), place) for place, item in enumerate(items)]
    distance, place = min(distances)
    return items[place], distance


def state_of(suggestion: Suggestion, items: Sequence[DraftItem]) -> str:
    """The state of a suggestion that stands in a list as ``items``: accepted, or edited.

    Words and points decide, and the axis where an item names one: an item that a client sends without the tag of its
    axis, as the API gives a suggestion, is no other criterion for that.
    """
    is_kept = any(
        words_of(item.text) == words_of(suggestion.text)
        and item.points == suggestion.points
        and axis_of(item.tags) in ("", suggestion.axis)
        for item in items
    )
    return Suggestion.State.ACCEPTED if is_kept else Suggestion.State.EDITED
