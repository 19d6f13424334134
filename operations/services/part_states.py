"""Keeps since when each part of the server is in its state."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction

from operations.models import PartState


@transaction.atomic
def record_states(*, states: Mapping[str, str], at: datetime) -> dict[str, datetime]:
    """Store the states that are new at ``at``, and return since when each part is in its state."""
    known = {row.name: row for row in PartState.objects.filter(name__in=states)}
    new = [
        PartState(name=name, state=state, since=at)
        for name, state in states.items()
        if name not in known or known[name].state != state
    ]
    if new:
        PartState.objects.bulk_create(
            new, update_conflicts=True, unique_fields=["name"], update_fields=["state", "since"]
        )
    return {name: row.since for name, row in known.items()} | {row.name: row.since for row in new}


def known_since(*, states: Mapping[str, str], at: datetime) -> dict[str, datetime]:
    """Since when each part is in its state, as far as that is stored, else ``at``; stores nothing."""
    stored = {(row.name, row.state): row.since for row in PartState.objects.filter(name__in=states)}
    return {name: stored.get((name, str(state)), at) for name, state in states.items()}
