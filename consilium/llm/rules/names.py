"""How the endpoint names itself, and how a run sees that rules answered and no language model. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

OWNER = "consilium-rules"
MODEL = "rules (no language model)"
PREFIX = "rules-"  # of its other models
INSTRUCTIONS = "instructions"  # among the texts of a request: what its system message says; no fence is named so


def is_rules(model: str) -> bool:
    """Whether an answer that names this model came from rules."""
    return model == MODEL or model.startswith(PREFIX)


def listing(models: Iterable[str]) -> dict[str, Any]:
    """The answer to ``GET /v1/models``."""
    entries = [{"id": model, "object": "model", "created": 0, "owned_by": OWNER} for model in models]
    return {"object": "list", "data": entries}


def listed_as_rules(listing: Any, model: str) -> bool:
    """Whether a list of models (``GET /v1/models``) says that rules answer for ``model``."""
    entries = listing.get("data") if isinstance(listing, dict) else None
    return isinstance(entries, list) and any(
        isinstance(entry, dict) and entry.get("id") == model and entry.get("owned_by") == OWNER for entry in entries
    )
