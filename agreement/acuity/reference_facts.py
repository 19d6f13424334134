"""What a report says of its reference set where it is not as usual: references from the last round, and rulings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.models import LAST_ROUND, ReferenceItem, ReferenceSet


def reference_facts(reference_set: ReferenceSet) -> dict[str, Any]:
    """``round`` is ``last`` where panels' references come from their last round; ``ruled`` names cases with a ruling.

    Each is left out where there is none.
    """
    rows = ReferenceItem.objects.filter(reference_set=reference_set, source=ReferenceItem.Source.RULING)
    ruled = list(rows.order_by("case__key").values_list("case__key", flat=True))
    facts: dict[str, Any] = {"round": "last"} if reference_set.round == LAST_ROUND else {}
    return facts | ({"ruled": ruled} if ruled else {})


def reference_methods(facts: Mapping[str, Any]) -> list[str]:
    """The same as sentences of the methods."""
    sentences = []
    if facts.get("round") == "last":
        sentences.append(
            "References of panels come from the last round of votes on each case, in which physicians had seen the "
            "votes of the first; whether a case is ambiguous, agreement and distributions come from the first round."
        )
    if facts.get("ruled"):
        sentences.append(
            f"Adjudicators who did not vote ruled on {len(facts['ruled'])} ambiguous cases "
            f"({', '.join(facts['ruled'])}); these cases stay ambiguous and count in no main figure."
        )
    return sentences
