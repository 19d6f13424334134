"""State changes as one conditional UPDATE that must hit exactly one row."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.db import models
from django.utils.translation import gettext as _

from consilium.core.errors import Conflict


def transition(
    row: models.Model, *, field: str = "status", source: Collection[str], target: str, **changes: Any
) -> None:
    """Move ``row`` from one of ``source`` to ``target`` and set ``changes``; `Conflict` if it has another status now.

    The instance ``row`` is updated as well, so that the caller may go on with it. Call it inside the transaction of the
    service that also writes what belongs to the change.
    """
    values = {field: target, **changes}
    manager = type(row)._default_manager
    hit = manager.filter(pk=row.pk, **{f"{field}__in": list(source)}).update(**values)
    if hit != 1:
        current = manager.filter(pk=row.pk).values_list(field, flat=True).first()
        raise Conflict(
            _("The status is now “%(current)s” and cannot change to “%(target)s”.")
            % {"current": _word(current) if current else _("gone"), "target": _word(target)}
        )
    for name, value in values.items():
        setattr(row, name, value)


def _word(status: str) -> str:
    """A stored status as people read it, such as “in check”: statuses are labelled by their own words.

    What is stored as ``done`` is *finished*, the word of the API.
    """
    status = "finished" if status == "done" else status
    return _(status.replace("_", " ").capitalize()).lower()
