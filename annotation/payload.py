"""Decisions as the grading page sends and gets them: JSON in, JSON out, without a form or a template."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from django.utils.translation import gettext as _

from annotation.models import Decision
from annotation.services import DecisionInput
from consilium.core.active_time import check_reported_seconds
from consilium.core.clock import clock
from consilium.core.errors import DomainError
from consilium.core.strict_json import read_json
from consilium.core.versioning import SaveResult, serialize_result

MAX_DECISIONS = 500
LARGEST_ID = 2**63 - 1
LARGEST_VERSION = 2**31 - 2
HALVES = re.compile("[\x00\ud800-\udfff]")
REQUIRED = {"criterion": int, "outcome": str, "version": int, "client_id": str}
OPTIONAL = {"borderline": bool, "note": str, "evidence": list, "answer": str}


class Malformed(DomainError):
    """The request is not what the page sends."""

    status_code = 400


def body_of(request: HttpRequest, *, required: set[str]) -> dict[str, Any]:
    """The JSON object in the body with exactly the keys named; `Malformed` otherwise."""
    try:
        body = read_json(request.body)
    except ValueError:
        body = None
    if not isinstance(body, dict) or set(body) != required:
        raise Malformed(_("The request does not match the page. Reload the page."))
    return body


def reported_seconds(request: HttpRequest) -> int:
    """The ``{"seconds"}`` of a time report; a `DomainError` (400) where no page would send that value."""
    return check_reported_seconds(body_of(request, required={"seconds"})["seconds"])


def changes_of(rows: Any) -> list[DecisionInput]:
    """The decisions of a request; `Malformed` at the first decision that no page would send."""
    if not isinstance(rows, list) or len(rows) > MAX_DECISIONS:
        raise Malformed(_("The request does not match the page. Reload the page."))
    return [_change(row) for row in rows]


def _change(row: Any) -> DecisionInput:
    try:
        return _checked(row)
    except (KeyError, TypeError, ValueError):
        raise Malformed(_("The request does not match the page. Reload the page.")) from None


def _checked(row: Mapping[str, Any]) -> DecisionInput:
    values = dict(row)
    types = REQUIRED | OPTIONAL
    if not set(REQUIRED) <= set(values) <= set(types) or any(type(values[key]) is not types[key] for key in values):
        raise ValueError
    evidence = values.get("evidence", [])
    if not all(isinstance(span, dict) and set(span) <= {"start", "end", "quote"} for span in evidence):
        raise ValueError
    if not 0 < values["criterion"] <= LARGEST_ID or not 0 <= values["version"] <= LARGEST_VERSION:
        raise ValueError
    return DecisionInput(
        criterion=values["criterion"],
        outcome=values["outcome"] or None,
        borderline=values.get("borderline", False),
        note=note_of(values.get("note", "")),
        evidence=evidence,
        answer=note_of(values.get("answer", "")),
        version=values["version"],
        client_id=UUID(values["client_id"]),
    )


def note_of(text: str) -> str:
    """A note in a form that can be stored.

    Characters that a page may send but the database cannot store become U+FFFD: NUL, and half of a surrogate pair whose
    other half a text box has cut off. To refuse them would block the outcome in the same save as well.
    """
    return HALVES.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n")).strip()


def serialize_decision(result: SaveResult) -> dict[str, Any]:
    """The result of saving one decision; with the stored decision where the sent one is stale."""
    if result.status == "saved":
        return serialize_result(result, {"at": clock(result.saved_at) if result.saved_at else ""})
    if result.current is None:
        return serialize_result(result)
    return serialize_result(result, serialize_stored(result.current))


def serialize_stored(decision: Decision) -> dict[str, Any]:
    """A decision as it is stored, for a page that shows another one."""
    return {
        "outcome": decision.outcome or "",
        "borderline": decision.borderline,
        "note": decision.note,
        "evidence": decision.evidence,
        "answer": decision.answer,
        "version": decision.version,
        "client_id": str(decision.client_id or ""),
        "at": clock(decision.updated_at),
    }
