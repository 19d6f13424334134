"""The answer of a page that saves one thing by itself."""

from __future__ import annotations

from typing import Any


def result_of(answer: Any) -> dict[str, Any]:
    """The one result of an answer, or of its body: id, status, version and what is stored."""
    body = answer if isinstance(answer, dict) else answer.json()
    [result] = body["results"]
    return dict(result)
