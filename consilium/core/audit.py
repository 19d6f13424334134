"""The audit trail: every insert and update of a tracked row becomes an event row that nobody can change.

The context (actor, address of the page) is stored as JSON on the event row itself, under the same protection.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import pghistory
import pgtrigger
from django.db import models
from pghistory.trigger import Event

Model = TypeVar("Model", bound=type[models.Model])


def audited(model: Model) -> Model:
    """Track inserts and updates of ``model`` in an ``…Event`` table that refuses UPDATE, DELETE and TRUNCATE."""
    return _tracking(pghistory.InsertEvent())(model)


def audited_in_bulk(model: Model) -> Model:
    """As `audited`, for rows that files bring in thousands: one statement writes the events of all inserted rows."""
    return _tracking(_InsertsTogether())(model)


def audited_fields(
    event: str, *fields: str, in_bulk: bool = False, later: Mapping[str, models.Field[Any, Any]] | None = None
) -> Callable[[Model], Model]:
    """As `audited`, for some fields only, in a table named ``event``.

    ``later``: columns of fields that are tracked since an upgrade, NULL in the events before it.
    """
    inserts = _InsertsTogether() if in_bulk else pghistory.InsertEvent()
    obj_field = pghistory.ObjForeignKey(related_name="events")
    return _tracking(inserts, fields=fields, model_name=event, obj_field=obj_field, attrs=dict(later or {}))


class _EventsTogether(Event):
    """pghistory's trigger for a statement, without its write to the table of contexts, which is unused here."""

    def get_func(self, model: models.Model) -> pgtrigger.Func:
        sql = super().get_func(model).func
        plain = sql.replace("WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) ", "")
        plain = plain.replace(", _pgh_attached_context;", ";")
        if "_pgh_attach" in plain:
            raise RuntimeError(
                "pghistory's trigger for a statement is not that of 3.9: see what it writes beside events"
            )
        return pgtrigger.Func(plain)


class _InsertsTogether(pghistory.InsertEvent):
    def add_event_trigger(self, event_model: type[Any]) -> None:
        trigger = _EventsTogether(
            event_model=event_model,
            label=self.label,
            name=self.trigger_name,
            operation=self.operation,
            level=pgtrigger.Statement,
        )
        pgtrigger.register(trigger)(event_model.pgh_tracked_model)


def _tracking(inserts: pghistory.InsertEvent, **options: Any) -> Callable[[Model], Model]:
    # `Protect` covers rows only; a TRUNCATE would empty the table without firing it.
    no_truncate = pgtrigger.Trigger(
        name="no_truncate",
        level=pgtrigger.Statement,
        when=pgtrigger.Before,
        operation=pgtrigger.Truncate,
        func="RAISE EXCEPTION 'The audit trail cannot be truncated';",
    )
    track: Callable[[Model], Model] = pghistory.track(
        inserts,
        pghistory.UpdateEvent(),
        append_only=True,
        context_field=pghistory.ContextJSONField(),
        context_id_field=pghistory.ContextUUIDField(),
        # The order of the trail, also within the moment of one import, which may have written millions of rows.
        meta={"triggers": [no_truncate], "indexes": [models.Index(fields=["pgh_created_at", "pgh_id"])]},
        **options,
    )
    return track
