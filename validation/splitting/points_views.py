"""The points of a run by case, and the page that corrects those of a case and saves itself; for authors and staff."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.strict_json import read_json
from consilium.core.versioning import StaleSave, saved_body, stale_body
from rubrics.selectors.conversation import turns_of
from validation import access
from validation.models import PointsCorrection
from validation.splitting import selectors, services
from validation.splitting.content import Statement
from validation.splitting.services import PointsInput


@require_safe
@signed_in
def points(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """The cases of a run, and how far each is split. Nothing says which set they come from."""
    run = access.get_points_run(request.user, slug, public_id)
    cases = selectors.points_of_run(run)
    context = {
        "benchmark": run.benchmark,
        "run": run,
        "cases": cases,
        "point_counts": selectors.counts_of_points(cases),
    }
    return render(request, "validation/splitting/points.html", context)


@require_safe
@signed_in
def case_points(request: SignedInRequest, slug: str, public_id: str, case: str) -> HttpResponse:
    """The criteria of a case, and beneath each its points. A page that is only opened stores nothing."""
    run, own = access.get_case_of_points(request.user, slug, public_id, case)
    all_points = selectors.points_of_run(run)
    place = next((place for place, each in enumerate(all_points) if each.case.pk == own.pk), None)
    if place is None:
        raise Http404
    around = {name: all_points[at].case for name, at in (("before", place - 1), ("after", place + 1))
              if 0 <= at < len(all_points)}  # fmt: skip
    context = {
        "benchmark": run.benchmark,
        "run": run,
        "case": own,
        "own": all_points[place],
        "turns": turns_of(own),
        "place": place + 1,
        "n_cases": len(all_points),
        **around,
    }
    return render(request, "validation/splitting/case.html", context)


@require_POST
@signed_in
def save(request: SignedInRequest, slug: str, public_id: str, case: str) -> JsonResponse:
    """Save ``{"points": [{"criterion", "text"}], "version", "client_id"}``, all points of the case."""
    run, own = access.get_case_of_points(request.user, slug, public_id, case)
    try:
        change = _read(request.body)
    except (ValueError, KeyError, TypeError, AttributeError):
        return JsonResponse({"detail": _("The request does not match the page. Reload the page.")}, status=400)
    try:
        row = services.save_points(run=run, case=own, change=change, by=request.user, at=timezone.now())
    except StaleSave as stale:
        current = stored_points(stale.current)
        body = stale_body(own.public_id, stale, version=current["version"], current=current)
        return JsonResponse(body, status=stale.status_code)
    except DomainError as refused:
        return JsonResponse({"detail": str(refused)}, status=422)
    return JsonResponse(saved_body(own.public_id, version=row.version, current=stored_points(row)))


def _read(body: bytes) -> PointsInput:
    payload = read_json(body)
    statements = []
    for entry in payload["points"]:
        criterion, text = entry["criterion"], entry["text"]
        if type(criterion) is not int or type(text) is not str:
            raise ValueError("a field is not of its kind")
        text.encode()  # a lone surrogate cannot be stored
        statements.append(Statement(criterion, text.replace("\x00", "")))
    if type(payload["version"]) is not int:
        raise ValueError("a field is not of its kind")
    return PointsInput(statements, payload["version"], UUID(payload["client_id"]))


def stored_points(row: PointsCorrection | None) -> dict[str, Any]:
    """What the page shows of the stored correction."""
    if row is None:
        return {"version": 0, "points": [], "client_id": ""}
    points = [{"criterion": criterion, "text": text} for criterion, text in row.points]
    return {"version": row.version, "points": points, "client_id": str(row.client_id or "")}
