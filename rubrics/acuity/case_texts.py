"""The text of a case, and its digest, by which files that leave the text out name it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any


def conversation_text(conversation: Sequence[Mapping[str, Any]]) -> str:
    """The texts of the turns, with a blank line between two."""
    return "\n\n".join(str(turn.get("content", "")) for turn in conversation)


def text_digest(text: str) -> str:
    """SHA-256 of a text in UTF-8; empty for an empty text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() if text else ""
