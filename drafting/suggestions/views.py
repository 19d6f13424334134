"""The panel of suggestions beside the rubric editor."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from accounts.identity import opaque_name
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.strict_json import read_json
from documents.access import may_manage_documents
from drafting import access
from drafting.models import DraftingRun, RejectionReason, SuggestionsOpened
from drafting.recipes.content import recipe_content
from drafting.recipes.selectors import terms_of
from drafting.suggestions import selectors
from drafting.suggestions.asking import ask_for_drafts, documents_left_out, may_ask
from drafting.suggestions.decisions import MAX_DECISIONS, decide_many
from drafting.suggestions.opening import NotOpen, open_suggestions, opening_for
from rubrics.models import Case
from scoring.models import EndpointKind


@require_safe
@signed_in
def panel(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """The suggestions, once they have opened to the reader; before that, what they wait for."""
    case = access.get_case_to_decide(request.user, slug, public_id)
    return render(request, "drafting/suggestions/panel.html", _context(request, case))


@require_POST
@signed_in
def open_panel(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Open the suggestions to the reader, if their own list is long enough, and show the panel."""
    case = access.get_case_to_decide(request.user, slug, public_id)
    with suppress(NotOpen):  # the panel says how much is missing
        open_suggestions(case=case, author=request.user, at=timezone.now())
    return render(request, "drafting/suggestions/panel.html", _context(request, case))


@require_POST
@signed_in
def ask(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Order drafts for the case, and show the panel with what became of that."""
    case = access.get_case_to_decide(request.user, slug, public_id)
    refusal = ""
    try:
        ask_for_drafts(case=case, by=request.user, at=timezone.now())
    except DomainError as refused:
        refusal = str(refused)
    return render(request, "drafting/suggestions/panel.html", {**_context(request, case), "refusal": refusal})


@require_POST
@signed_in
def decide(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Decisions that no save of the draft makes, as ``{"who", "decisions"}``."""
    case = access.get_case_to_decide(request.user, slug, public_id)
    sent = _json(request)
    if sent.get("who") != opaque_name(request.user):
        detail = _("Someone else is now signed in to this browser, so nothing is saved.")
        return JsonResponse({"detail": detail, "reason": "somebody-else"}, status=403)
    decisions = sent.get("decisions")
    if not isinstance(decisions, list) or not all(isinstance(row, dict) for row in decisions[:MAX_DECISIONS]):
        return JsonResponse({"detail": _("The page is out of date. Reload it.")}, status=400)
    opened = selectors.open_to(request.user, case.benchmark).filter(case=case)
    suggestions = {row.public_id: row for row in opened}
    decisions = decisions[:MAX_DECISIONS]
    results = decide_many(suggestions=suggestions, decisions=decisions, by=request.user, at=timezone.now())
    return JsonResponse({"results": results})


def _context(request: SignedInRequest, case: Case) -> dict[str, Any]:
    is_open = SuggestionsOpened.objects.filter(case=case, author=request.user).exists()
    rows = selectors.panel_rows(case) if is_open else []
    runs = selectors.runs_for(case)
    recipe = terms_of(case.benchmark).recipe
    asks = access.may_ask_for_draft(request.user, case.benchmark) and may_ask(case, recipe)
    return {
        "benchmark": case.benchmark,
        "case": case,
        "is_open": is_open,
        "opening": None if is_open else opening_for(case, request.user),
        "has_any": bool(rows) or selectors.in_panel(case).exists(),
        "rows": rows,
        "runs": selectors.runs_of(rows),
        "result": selectors.latest_result(case, runs),
        "known": [row.as_json() for row in rows],
        "by_rules": any(row.suggestion.run.endpoint_kind == EndpointKind.RULES for row in rows),
        "reasons": RejectionReason.choices,
        "may_ask": asks,
        "left_out": documents_left_out(case.benchmark) if asks else [],
        "may_license": asks and may_manage_documents(request.user, case.benchmark),
        "recipe": recipe,
        "models": sorted({model.model for model in recipe_content(recipe.content).models.values()}) if recipe else [],
        "is_under_way": any(run.status in DraftingRun.LIVE for run in runs),
    }


def _json(request: SignedInRequest) -> dict[str, Any]:
    try:
        sent = read_json(request.body)
    except ValueError:
        return {}
    return sent if isinstance(sent, dict) else {}
