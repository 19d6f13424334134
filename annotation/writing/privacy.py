"""Finds what in a written response may name a real person, to advise its writer before submission."""

from __future__ import annotations

from consilium.core.i18n import translate
from rubrics.parsing.privacy import findings

MAX_SHOWN = 10


def privacy_advice(text: str) -> list[str]:
    """The passages that look like a name, a number or an address of a person, and why; each once, the first ten."""
    lines = dict.fromkeys(f"“{finding.quote}”: {translate(finding.why)}" for finding in findings(text))
    return list(lines)[:MAX_SHOWN]
