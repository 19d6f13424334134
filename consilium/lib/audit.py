"""The audit trail: every insert and update of a tracked row becomes an event row that nobody can change.

The context (actor, address of the page) stands as JSON on the event row itself, under the same protection.
"""

from __future__ import annotations

from typing import TypeVar

import pghistory
import pgtrigger
from django.db import models

Model = TypeVar("Model", bound=type[models.Model])


def audited(model: Model) -> Model:
    """Track inserts and updates of ``model`` in an ``…Event`` table that refuses UPDATE, DELETE and TRUNCATE."""
    # `Protect` covers rows only; a TRUNCATE would empty the table without firing it.
    no_truncate = pgtrigger.Trigger(
        name="no_truncate",
        level=pgtrigger.Statement,
        when=pgtrigger.Before,
        operation=pgtrigger.Truncate,
        func="RAISE EXCEPTION 'The audit trail cannot be truncated';",
    )
    track = pghistory.track(
        pghistory.InsertEvent(),
        pghistory.UpdateEvent(),
        append_only=True,
        context_field=pghistory.ContextJSONField(),
        context_id_field=pghistory.ContextUUIDField(),
        meta={"triggers": [no_truncate]},
    )
    return track(model)
