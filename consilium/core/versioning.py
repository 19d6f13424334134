"""Saves of one row by several tabs, devices or people: none overwrites what its sender has not seen.

Such a row counts its saves in a version, and names the last one by the id that its sender gave it. A page sends the
version that its author saw and an id of its own (`static/js/core/save_queue.js`); a repeated save is recognised by the
id, a stale one by the version. Both are compared while the row is locked.

Decisions of annotators, which are saved many at a time, are compared in the statement that saves them instead
(`annotation/services/decisions.py`); they share the results below.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from django.utils.functional import Promise

from consilium.core.errors import Conflict

Status = Literal["saved", "stale", "refused"]


class StaleSave(Conflict):
    """The row was saved after the sender last saw it; ``current`` is the stored row, None where there is none."""

    def __init__(self, current: Any, message: str | Promise) -> None:
        self.current = current
        super().__init__(str(message))


def is_replay(client_id: UUID | None, *, stored: UUID | None) -> bool:
    """Whether a save with this id is the stored one, so that only the answer to it was lost."""
    return client_id is not None and client_id == stored


def refuse_stale(version: int | None, *, stored: int, current: Any, message: str | Promise) -> None:
    """`StaleSave` unless ``version`` is the stored one: 0 for no row, None to compare nothing."""
    if version is not None and version != stored:
        raise StaleSave(current, message)


@dataclass(frozen=True, slots=True)
class SaveResult:
    """What became of one save.

    saved: it is stored, as ``version``. stale: another version is stored, and nothing was overwritten. refused: it
    cannot be saved, for ``detail``, which is about ``field`` of what was sent. ``current`` is the stored row where it
    is stale.
    """

    id: int | str
    status: Status
    version: int | None = None
    saved_at: datetime | None = None
    current: Any = None
    detail: str = ""
    field: str = ""


def serialize_result(result: SaveResult, current: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """One entry of ``{"results": […]}``, the answer of every page that saves by itself.

    ``{"id", "status", "version", "current"}``, and ``detail`` where it is not saved. ``current`` is what the page shows
    of the stored row.
    """
    body = {"id": result.id, "status": result.status, "version": result.version, "current": current}
    return body | {"detail": result.detail} if result.detail else body


def saved_body(id: int | str, *, version: int, current: Mapping[str, Any]) -> dict[str, Any]:
    """The answer of a page to a request that saved one row."""
    return {"results": [serialize_result(SaveResult(id, "saved", version), current)]}


def stale_body(id: int | str, stale: StaleSave, *, version: int, current: Mapping[str, Any]) -> dict[str, Any]:
    """The answer of a page to a request that could not save one row, because another version is stored."""
    return {"results": [serialize_result(SaveResult(id, "stale", version, detail=str(stale)), current)]}
