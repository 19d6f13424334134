"""The audit trail: every insert and update of a tracked row becomes an event row that nobody can change.

The context (actor, address of the page) stands as JSON on the event row itself, under the same protection.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import pghistory
import pgtrigger
from django.contrib.postgres.indexes import BrinIndex
from django.db import models

Model = TypeVar("Model", bound=type[models.Model])


def audited(model: Model) -> Model:
    """Track inserts and updates of ``model`` in an ``…Event`` table that refuses UPDATE, DELETE and TRUNCATE."""
    return _tracking()(model)


def audited_fields(event: str, *fields: str) -> Callable[[Model], Model]:
    """The same of some fields only, in a table named ``event``."""
    return _tracking(fields=fields, model_name=event, obj_field=pghistory.ObjForeignKey(related_name="events"))


def _tracking(**options: Any) -> Callable[[Model], Model]:
    # `Protect` covers rows only; a TRUNCATE would empty the table without firing it.
    no_truncate = pgtrigger.Trigger(
        name="no_truncate",
        level=pgtrigger.Statement,
        when=pgtrigger.Before,
        operation=pgtrigger.Truncate,
        func="RAISE EXCEPTION 'The audit trail cannot be truncated';",
    )
    track: Callable[[Model], Model] = pghistory.track(
        pghistory.InsertEvent(),
        pghistory.UpdateEvent(),
        append_only=True,
        context_field=pghistory.ContextJSONField(),
        context_id_field=pghistory.ContextUUIDField(),
        # Rows come in the order of time: a few bytes for each block of them find what was recorded since a moment.
        meta={"triggers": [no_truncate], "indexes": [BrinIndex(fields=["pgh_created_at"])]},
        **options,
    )
    return track
