"""What in a written response may name a real person: advice to its writer before it is handed in."""

from __future__ import annotations

MOST_SHOWN = 10


def privacy_advice(text: str) -> list[str]:
    """The passages that look like a name, a number or an address of a person; each once, the first ten."""
    return []
