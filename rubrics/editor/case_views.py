"""Views of the case editor: a page with autosave that works as a plain form without scripts."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import messages
from django.db.models import Prefetch, prefetch_related_objects
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from accounts.identity import opaque_name
from consilium.core.clock import clock
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.languages import COMMON_LANGUAGES, language_choices
from consilium.core.strict_json import read_json
from consilium.core.versioning import StaleSave, saved_body, stale_body
from rubrics import access
from rubrics.editor import case_content
from rubrics.editor.case_content import CaseContent, ContentInput, Turn
from rubrics.editor.draft_content import DraftItem, from_rubric
from rubrics.editor.privacy import all_findings, waivers_of
from rubrics.forms import NewCaseForm
from rubrics.models import Benchmark, Case, Difficulty, Register, Rubric
from rubrics.selectors import lists
from rubrics.services import case_editing
from rubrics.services.privacy import draft_items

MAX_SUGGESTIONS = 200


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def new_case(request: SignedInRequest, slug: str) -> HttpResponse:
    """Begin a case: its key, and the audience that it is written for."""
    benchmark = access.get_written_benchmark(request.user, slug)
    initial = {"key": case_editing.suggested_key(benchmark), "language": _usual_language(benchmark)}
    form = NewCaseForm(request.POST if request.method == "POST" else None, initial=initial)
    form.offer_languages(_languages(benchmark))
    status = 422 if form.errors else 200
    if request.method == "POST" and form.is_valid():
        content = CaseContent(**form.cleaned_data)
        try:
            case = case_editing.create_case(benchmark=benchmark, content=content, by=request.user, at=timezone.now())
        except DomainError as refused:
            form.add_error("key", str(refused))
            status = refused.status_code
        else:
            return redirect("rubrics:write-case", slug, case.public_id)
    return render(request, "rubrics/writing/new.html", {"benchmark": benchmark, "form": form}, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def write_case(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """The editor. POST takes the form of a browser without scripts: it saves everything, and adds and moves turns."""
    case = access.get_case_to_write(request.user, slug, public_id)
    if request.method != "POST":
        return _page(request, case, case_content.content_of(case))
    reading = case_content.read_form(request.POST, stored=case_content.content_of(case))
    content = _as_typed(reading, case)
    if reading.errors:
        return _page(request, case, content, reading.errors, status=422)
    content, changed = _rearranged(content, request.POST)
    version = request.POST.get("version", "")
    try:
        case_editing.save_case(
            case=case,
            content=content,
            version=int(version) if version.isdecimal() and len(version) < 10 else 0,
            client_id=None,
            by=request.user,
            at=timezone.now(),
        )
    except DomainError as refused:
        name = "key" if isinstance(refused, case_editing.KeyTaken) else "case"
        return _page(request, case, content, {name: [str(refused)]}, status=refused.status_code)
    if not changed:
        messages.success(request, _("The case was saved."))
    return redirect("rubrics:write-case", slug, public_id)


def _as_typed(reading: ContentInput, case: Case) -> CaseContent:
    """The content to show again for a form with faults: valid fields as typed, the others as stored."""
    stands = case_content.content_of(case)
    return CaseContent(**{name: reading.values.get(name, getattr(stands, name)) for name in case_content.FIELDS})


def _rearranged(content: CaseContent, data: Any) -> tuple[CaseContent, bool]:
    """The content after a button that adds, removes or moves a turn, and whether one was pressed."""
    turns = list(content.conversation)

    def place(name: str) -> int:
        number = data.get(name, "")
        return int(number) if number.isdecimal() and len(number) < 5 and int(number) < len(turns) else -1

    if "add-turn" in data:
        last = turns[-1].role if turns else "assistant"
        turns.append(Turn("assistant" if last == "user" else "user", ""))
    elif (at := place("remove-turn")) >= 0:
        del turns[at]
    elif (at := place("turn-up")) > 0:
        turns[at - 1], turns[at] = turns[at], turns[at - 1]
    elif 0 <= (at := place("turn-down")) < len(turns) - 1:
        turns[at + 1], turns[at] = turns[at], turns[at + 1]
    else:
        return content, False
    return CaseContent(
        **{name: getattr(content, name) for name in case_content.FIELDS} | {"conversation": tuple(turns)}
    ), True


def _page(
    request: SignedInRequest,
    case: Case,
    content: CaseContent,
    errors: dict[str, list[str]] | None = None,
    *,
    erratum: dict[str, Any] | None = None,
    status: int = 200,
) -> HttpResponse:
    benchmark = case.benchmark
    prefetch_related_objects([case], Prefetch("rubrics", Rubric.objects.select_related("draft").order_by("version")))
    frozen = case_editing.why_frozen(case)
    rubrics = [rubric for rubric in case.rubrics.all() if rubric.track == "gold"]
    published = next((row for row in reversed(rubrics) if row.status == Rubric.Status.PUBLISHED), None)
    kinds = case_content.tags_by_kind(content.tags)
    known = case_content.tags_by_kind([tag for tag, _count in lists.tag_counts(benchmark, MAX_SUGGESTIONS)])
    context = {
        "benchmark": benchmark,
        "case": case,
        "content": content,
        "turns": _turns(content),
        "roles": _roles(),
        "frozen": frozen,
        "errors": errors or {},
        "tag_fields": [
            {"name": name, "label": label, "help": text, "values": kinds[name], "known": known[name]}
            for name, label, text in _tag_fields()
        ],
        "difficulties": Difficulty.choices,
        "registers": Register.choices,
        "languages": _languages(benchmark, content.language),
        "language_detected": case.language_detected and content.language == case.language,
        "published": published,
        "draft": next((row for row in rubrics if row.status in ("draft", "in_review")), None),
        "deletable": not frozen and case_editing.may_delete(request.user, case),
        "errata": list(case.errata.order_by("pk")),
        "erratum": erratum or {"key": case_editing.suggested_erratum_key(case), "error": ""} if frozen else None,
        "privacy": all_findings(case, draft_items(case)),
        "kept": waivers_of(case, _readable_items(case, published)) if frozen else [],
        "who": opaque_name(request.user),
        "back": request.path,
        "stored": {
            "version": case.edit_version,
            "edit_id": str(case.edit_id or ""),
            "case": case_content.content_of(case).as_json(),
        },
    }
    return render(request, "rubrics/writing/case.html", context, status=status)


def _readable_items(case: Case, published: Rubric | None) -> list[DraftItem]:
    """The criteria of the published version, and of the one that is being written or reviewed."""
    rows = published.items.select_related("criterion").order_by("position") if published is not None else ()
    return [*from_rubric(list(rows)), *draft_items(case)]


def _roles() -> list[tuple[str, str]]:
    return [
        ("user", _("Patient or user")),
        ("assistant", _("Assistant")),
        ("system", _("Instructions to the assistant")),
    ]


def _tag_fields() -> list[tuple[str, str, str]]:
    return [
        ("specialties", _("Specialties"), _("For example: neurology")),
        ("themes", _("Themes"), _("For example: emergency_referrals, hedging")),
        ("tasks", _("Tasks"), _("What the assistant is asked to do, for example: differential_diagnosis")),
        ("others", _("Other tags"), ""),
    ]


def _languages(benchmark: Benchmark, own: str = "") -> list[tuple[str, str]]:
    return language_choices(*lists.languages(benchmark), own)


def _usual_language(benchmark: Benchmark) -> str:
    """The language of the page if the benchmark has cases in it or no cases yet; else that of its latest case."""
    own = (get_language() or "").partition("-")[0]
    used = benchmark.cases.exclude(language="").order_by("-pk")
    if own in COMMON_LANGUAGES and (used.filter(language=own).exists() or not used.exists()):
        return own
    return used.values_list("language", flat=True).first() or ""


# What the page's script sends -------------------------------------------------------------------------------------


@require_POST
@signed_in
def save(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Save ``{"who", "version", "client_id", "case"}``: 200 with the new version and privacy findings.

    409 with the stored case where the version is stale; 422 with the faults by field.
    """
    case = access.get_case_to_write(request.user, slug, public_id)
    body = _body(request, {"who", "version", "client_id", "case"})
    if (
        body is None
        or type(body["version"]) is not int
        or not 0 <= body["version"] < 2**31
        or not _uuid(body["client_id"])
    ):
        return JsonResponse({"detail": _("The request does not match the page. Reload the page.")}, status=400)
    if body["who"] != opaque_name(request.user):
        return JsonResponse({"reason": "somebody-else"}, status=409)
    reading = case_content.read_content(body["case"], stored=case_content.content_of(case))
    if reading.errors:
        return JsonResponse(
            {"detail": _("Some content on this page cannot be saved."), "errors": reading.errors}, status=422
        )
    try:
        saved = case_editing.save_case(
            case=case,
            content=CaseContent(**reading.values),
            version=body["version"],
            client_id=uuid.UUID(body["client_id"]),
            by=request.user,
            at=timezone.now(),
        )
    except StaleSave as stale:
        row = stale.current
        current = {
            "case": case_content.content_of(row).as_json(),
            "client_id": str(row.edit_id or ""),
            "saved_at": _clock(row),
        }
        return JsonResponse(stale_body(public_id, stale, version=row.edit_version, current=current), status=409)
    except DomainError as refused:
        name = "key" if isinstance(refused, case_editing.KeyTaken) else "case"
        return JsonResponse({"detail": str(refused), "errors": {name: [str(refused)]}}, status=422)
    context = {
        "benchmark": case.benchmark,
        "case": saved,
        "privacy": all_findings(saved, draft_items(saved)),
        "back": reverse("rubrics:write-case", args=[slug, public_id]),
    }
    privacy = render_to_string("rubrics/writing/_privacy.html", context, request=request)
    current = {"saved_at": _clock(saved), "privacy": privacy}
    return JsonResponse(saved_body(public_id, version=saved.edit_version, current=current))


def _clock(case: Case) -> str:
    return clock(case.edited_at, seconds=False) if case.edited_at else ""


@require_POST
@signed_in
def preview(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Show the posted ``{"conversation", "reference_answer"}`` as readers will see them."""
    case = access.get_case_to_write(request.user, slug, public_id)
    body = _body(request, {"conversation", "reference_answer", "language"})
    if body is None:
        return JsonResponse({"detail": _("The request does not match the page. Reload the page.")}, status=400)
    stands = case_content.content_of(case)
    reading = case_content.read_content(body, stored=stands)
    content = CaseContent(**{name: reading.values.get(name, getattr(stands, name)) for name in case_content.FIELDS})
    context = {"content": content, "turns": _turns(content), "case": case}
    return render(request, "rubrics/writing/_preview.html", context)


def _turns(content: CaseContent) -> list[dict[str, Any]]:
    return [{"turn": turn, "number": number} for number, turn in enumerate(content.conversation, start=1)]


def _body(request: SignedInRequest, keys: set[str]) -> dict[str, Any] | None:
    try:
        body = read_json(request.body)
    except ValueError:
        return None
    return body if isinstance(body, dict) and set(body) == keys else None


def _uuid(value: Any) -> bool:
    try:
        return isinstance(value, str) and bool(uuid.UUID(value))
    except ValueError:
        return False


# Erratum and deletion ---------------------------------------------------------------------------------------------


@require_POST
@signed_in
def erratum(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """A new case that supersedes this one, under the key that was typed."""
    case = access.get_case_to_write(request.user, slug, public_id)
    reading = case_content.read_content({"key": request.POST.get("key", "")}, stored=case_content.content_of(case))
    problem = " ".join(reading.errors.get("key", []))
    if not problem:
        try:
            key = reading.values["key"]
            erratum = case_editing.make_erratum(case=case, key=key, by=request.user, at=timezone.now())
        except DomainError as refused:
            problem = str(refused)
        else:
            messages.success(request, _("This is the erratum of %(key)s. Correct what was wrong.") % {"key": case.key})
            return redirect("rubrics:write-case", slug, erratum.public_id)
    again = {"key": request.POST.get("key", ""), "error": problem}
    return _page(request, case, case_content.content_of(case), erratum=again, status=422)


@require_POST
@signed_in
def delete(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Throw the draft away."""
    case = access.get_case_to_write(request.user, slug, public_id)
    try:
        case_editing.delete_case(case=case, by=request.user)
    except DomainError as refused:
        messages.error(request, str(refused))
        return redirect("rubrics:write-case", slug, public_id)
    messages.success(request, _("%(key)s was deleted.") % {"key": case.key})
    return redirect("rubrics:write", slug)
