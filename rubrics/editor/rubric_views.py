"""Views of the rubric editor: the page, and the endpoints of its script."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, BinaryIO, cast

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.identity import opaque_name
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.i18n import translate
from consilium.core.strict_json import read_json
from consilium.core.versioning import StaleSave, saved_body, stale_body
from rubrics import access, beside, cited
from rubrics.axes import AXES, axis_word
from rubrics.editor import editing
from rubrics.editor.draft_content import DraftItem, items_of, read_items
from rubrics.editor.rules import rules_of
from rubrics.hooks import DraftRefused
from rubrics.models import Case, Rubric, RubricReview
from rubrics.parsing.faults import Faults
from rubrics.selectors.axes import used_axes
from rubrics.selectors.conversation import turns_of
from rubrics.services.drafts import open_draft, refuse_another, save_draft, save_first
from rubrics.tables import COLUMNS, ZIP, read_pasted, read_table, rows_of_file
from rubrics.versions.grading_evidence import evidence_for, requests_for_the_whole
from rubrics.waiting import waiting_for

MAX_UPLOAD_BYTES = 16 << 20


@require_safe
@signed_in
def write_rubric(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """The case beside its criteria; read-only while the rubric is in review or published."""
    case = access.get_case_to_write(request.user, slug, public_id)
    rubric, items = editing.current_rubric(case)
    writable = case.excluded_at is None and (rubric is None or rubric.status == Rubric.Status.DRAFT)
    draft = rubric.draft if rubric is not None and rubric.status != Rubric.Status.PUBLISHED else None
    evidence = evidence_for(request.user, case)
    stands = editing.nothing_yet(case.benchmark)
    if draft is not None:
        stands = editing.draft_json(draft, case=case, reader=request.user)
    rules = rules_of(case.benchmark)
    returned = _returned(rubric) if draft and rubric else None
    is_published = rubric is not None and rubric.status == Rubric.Status.PUBLISHED
    panels = beside.panels_for(request.user, case) if writable else []
    return render(
        request,
        "rubrics/editor/editor.html",
        {
            "benchmark": case.benchmark,
            "case": case,
            "turns": turns_of(case),
            "rubric": rubric,
            "draft": draft,
            "items": items,
            "writable": writable,
            "rules": rules,
            "waiting": waiting_for(request.user, case.benchmark, case) if is_published else [],
            "missing": stands["missing"],
            "columns": COLUMNS,
            "panels": [panel for panel in panels if panel.side is None],
            "sides": [panel for panel in panels if panel.side is not None],
            "cited": cited.describe(case.benchmark, (citation for item in items for citation in item.citations)),
            "returned": returned,
            "commented": _commented(returned, items),
            "whole": requests_for_the_whole(request.user, case),
            "shown_items": [(item, evidence.get(item.criterion or 0, [])) for item in items],
            "start": {
                **stands,
                "who": opaque_name(request.user),
                "name": str(request.user),
                "rules": rules.as_json(),
                "axes": AXES,
                "axis_words": {axis: translate(axis_word(axis)) for axis in AXES},
                "comments": returned.item_comments if returned else {},
                "comment_texts": _wordings(returned),
                "evidence": {str(key): [entry.reason for entry in entries] for key, entries in evidence.items()},
            },
        },
    )


def _returned(rubric: Rubric) -> RubricReview | None:
    """The last reviewer's reason for returning this draft."""
    last = rubric.reviews.select_related("reviewer").first()
    return last if last and last.outcome == RubricReview.Outcome.RETURNED else None


def _commented(returned: RubricReview | None, items: Sequence[DraftItem]) -> list[tuple[DraftItem, str]]:
    """The criteria on which the last reviewer commented, in their order, with the comments."""
    comments = returned.item_comments if returned else {}
    return [(item, comments[item.id]) for item in items if comments.get(item.id)]


def _wordings(returned: RubricReview | None) -> dict[str, str]:
    """The texts of the criteria on which a reviewer commented, as they were read; by item."""
    read = items_of(returned.content or {}) if returned else []
    return {item.id: item.text for item in read if returned and item.id in returned.item_comments}


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def rubric_draft(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """The stored draft, or a save of the whole list: 409 with the stored draft where another save came first."""
    case = access.get_case_to_write(request.user, slug, public_id)
    if request.method == "POST":
        return _save(request, case)
    rubric, _items = editing.current_rubric(case)
    if rubric is None:
        return JsonResponse({**editing.nothing_yet(case.benchmark), "status": ""})
    if rubric.status == Rubric.Status.PUBLISHED:
        return JsonResponse({"status": rubric.status})
    seen = request.GET.get("version"), request.GET.get("draft", str(rubric.pk))
    if seen == (str(rubric.draft.version), str(rubric.pk)) and rubric.status == Rubric.Status.DRAFT:
        return HttpResponse(status=204)  # nothing new
    stands = editing.draft_json(rubric.draft, case=case, reader=request.user)
    return JsonResponse({**stands, "status": rubric.status})


def _save(request: SignedInRequest, case: Case) -> JsonResponse:
    sent = _json(request)
    version, name = sent.get("version"), sent.get("client_id")
    try:
        client_id = uuid.UUID(name) if isinstance(name, str) else None
    except ValueError:
        client_id = None
    if sent.get("who") != opaque_name(request.user):
        return JsonResponse(
            {"detail": _("Someone else is now signed in to this browser, so nothing is saved.")}, status=403
        )
    reading = read_items(sent.get("items"))
    if isinstance(version, bool) or not isinstance(version, int) or client_id is None:
        return JsonResponse({"detail": _("The page is out of date. Reload it.")}, status=400)
    if reading.faults:
        return JsonResponse(
            {"detail": _("Some criteria cannot be saved."), "errors": _fault_rows(reading.faults)}, status=422
        )
    options: dict[str, Any] = {
        "items": reading.items,
        "client_id": client_id,
        "by": request.user,
        "at": timezone.now(),
        "in_editor": True,
    }
    try:
        rubric, _items = editing.current_rubric(case)
        if version == 0:
            draft = save_first(case=case, **options)
        elif rubric is None or rubric.status == Rubric.Status.PUBLISHED:
            detail = _("This draft no longer exists: it was published or discarded.")
            return JsonResponse({"detail": detail, "gone": True}, status=409)
        else:
            seen = sent.get("draft")
            refuse_another(rubric, seen if type(seen) is int else None)
            draft = save_draft(rubric=rubric, version=version, **options)
    except StaleSave as stale:
        current = editing.draft_json(stale.current, case=case, reader=request.user)
        body = stale_body(case.public_id, stale, version=current["version"], current=current)
        return JsonResponse(body, status=stale.status_code)
    except DraftRefused as refused:
        body = {"detail": _("Some criteria cannot be saved."), "errors": _fault_rows(refused.errors)}
        return JsonResponse(body, status=refused.status_code)
    except DomainError as refused:
        return JsonResponse({"detail": str(refused), "gone": refused.status_code == 409}, status=refused.status_code)
    current = editing.saved_json(draft, case=case)  # the page has the items
    return JsonResponse(saved_body(case.public_id, version=current["version"], current=current))


def _json(request: SignedInRequest) -> dict[str, Any]:
    """The JSON object that was sent; empty where the body is not an object."""
    try:
        sent = read_json(request.body)
    except ValueError:
        return {}
    return sent if isinstance(sent, dict) else {}


def _fault_rows(faults: Any) -> list[dict[str, Any]]:
    return [{"line": fault.line, "field": fault.field, "message": translate(fault.message)} for fault in faults]


@require_POST
@signed_in
def rubric_lint(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Remarks on items as they are being written; nothing is kept."""
    case = access.get_case_to_write(request.user, slug, public_id)
    reading = read_items(_json(request).get("items"))
    if reading.faults:
        return JsonResponse({"errors": _fault_rows(reading.faults)}, status=422)
    return JsonResponse({"remarks": editing.remarks(reading.items, case)})


@require_POST
@signed_in
def rubric_paste(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """What a pasted text or a file holds: guessed columns, criteria, faults by line and field. Nothing is kept."""
    case = access.get_case_to_write(request.user, slug, public_id)
    faults = Faults()
    column_names = request.POST.get("columns")
    columns = column_names.split(",") if column_names else None
    upload = request.FILES.get("file")
    if upload is None:
        table = read_pasted(request.POST.get("text", ""), faults, columns=columns, own_axes=used_axes(case.benchmark))
    elif (upload.size or 0) > MAX_UPLOAD_BYTES:
        faults.add(0, "", _("The file is larger than %(n)s MiB.") % {"n": MAX_UPLOAD_BYTES >> 20})
        table = read_table([], faults)
    else:
        exact = upload.read(4) == ZIP
        upload.seek(0)
        cells = rows_of_file(cast(BinaryIO, upload), faults)
        table = read_table(cells, faults, columns=columns, exact=exact, own_axes=used_axes(case.benchmark))
    cited.resolve_rows(case.benchmark, table.rows, faults)
    return JsonResponse(
        {
            "columns": table.columns,
            "has_heading": table.has_heading,
            "rows": [row.as_json() for row in table.rows],
            "cited": editing.cited_json((citation for row in table.rows for citation in row.citations), case.benchmark),
            "faults": _fault_rows(sorted(faults.first, key=lambda fault: fault.line)),
            "fault_total": faults.total,
        }
    )


@require_safe
@signed_in
def tag_suggestions(request: SignedInRequest, slug: str) -> JsonResponse:
    """Axes and tags that the benchmark uses, for the fields of the editor."""
    return JsonResponse(editing.tag_suggestions(access.get_written_benchmark(request.user, slug)))


@require_POST
@signed_in
def begin_version(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """A new version, a copy of the published rubric; the open one, if there is one."""
    case = access.get_case_to_write(request.user, slug, public_id)
    try:
        open_draft(case=case, by=request.user, at=timezone.now())
    except DomainError as refused:
        messages.error(request, str(refused))
    return redirect("rubrics:write-rubric", slug, public_id)
