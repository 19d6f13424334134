"""Finds passages of a written response that may identify a real person, to warn its writer before submission."""

from __future__ import annotations

from consilium.core.i18n import translate
from rubrics.parsing.privacy import findings

MAX_SHOWN = 10


def privacy_advice(text: str) -> list[str]:
    """The first ten distinct passages that look like a person's name, number or address, each with the reason."""
    lines = dict.fromkeys(f"“{finding.quote}”: {translate(finding.why)}" for finding in findings(text))
    return list(lines)[:MAX_SHOWN]
