"""Decisions as the panel of the editor sends them: several at once, each with its own result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction

from accounts.models import User
from consilium.core.errors import DomainError
from drafting.models import Suggestion
from drafting.suggestions import services

MAX_DECISIONS = 100
REJECTED, OPEN, ASIDE, READ = "rejected", "open", "aside", "read"
DECISIONS = (REJECTED, OPEN, ASIDE, READ)


def decide(
    *,
    suggestion: Suggestion,
    decision: str,
    by: User,
    at: datetime,
    reason: int | None = None,
    note: str = "",
    seconds: int = 0,
) -> Suggestion:
    """One decision: *rejected*, *open* (undone), *aside*, or *read*, which decides nothing and adds seconds."""
    if decision == REJECTED:
        return services.reject(suggestion=suggestion, reason=reason, note=note, by=by, at=at, seconds=seconds)
    if decision == OPEN:
        return services.reopen(suggestion=suggestion, by=by, at=at, seconds=seconds)
    if decision == ASIDE:
        return services.put_aside(suggestion=suggestion, by=by, at=at, seconds=seconds)
    return services.read(suggestion=suggestion, by=by, at=at, seconds=seconds)


def decide_many(
    *, suggestions: Mapping[str, Suggestion], decisions: Sequence[Mapping[str, Any]], by: User, at: datetime
) -> list[dict[str, Any]]:
    """A result for each decision, in their order: *saved*, or *refused* with the reason. One does not stop others."""
    results = []
    for sent in decisions:
        name, decision, reason, seconds = (sent.get(key) for key in ("id", "decision", "reason", "seconds"))
        note = sent.get("note") or ""
        suggestion = suggestions.get(name) if isinstance(name, str) else None
        is_typed = (reason is None or type(reason) is int) and isinstance(note, str) and "\x00" not in note
        if suggestion is None or decision not in DECISIONS or not is_typed:
            results.append({"id": name, "status": "refused", "detail": ""})
            continue
        try:
            with transaction.atomic():
                row = decide(
                    suggestion=suggestion,
                    decision=str(decision),
                    reason=reason,
                    note=note,
                    seconds=0 if seconds is None else seconds,
                    by=by,
                    at=at,
                )
        except DomainError as refused:
            results.append({"id": name, "status": "refused", "detail": str(refused)})
        else:
            current = {"state": row.state, "aside": row.put_aside, "reason": row.reason, "version": 0}
            results.append({"id": name, "status": "saved", "version": 0, "current": current})
    return results
