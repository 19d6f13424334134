"""Views of reviews: send a rubric to review, read it as a second physician, approve or return it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.limits import MAX_REVIEW_COMMENT_LENGTH
from rubrics import access
from rubrics.models import Case, Rubric
from rubrics.services import publishing
from rubrics.versions import reviewing, selectors


def editor_address(case: Case) -> str:
    """The page where the rubric is written."""
    try:
        return reverse("rubrics:write-rubric", args=[case.benchmark.slug, case.public_id])
    except NoReverseMatch:
        return reverse("rubrics:history", args=[case.benchmark.slug, case.public_id])


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def review(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """The rubric to review, and the reviewer's decision on it."""
    case = access.get_case_to_write(request.user, slug, public_id)
    rubric = _open_rubric(case)
    if request.method != "POST" or rubric is None:
        return _page(request, case, rubric)
    comment = _text(request, "comment")
    comments = {name.removeprefix("item-"): _text(request, name) for name in request.POST if name.startswith("item-")}
    at = timezone.now()
    try:
        if request.POST.get("outcome") == "approved":
            approved = publishing.approve(
                rubric=rubric,
                reviewer=request.user,
                digest=_text(request, "digest"),
                comment=comment,
                item_comments=comments,
                at=at,
            )
            message = _("Version %(n)d of %(case)s is published.") if approved.status == Rubric.Status.PUBLISHED else ""
            message = message or _("You approved version %(n)d of %(case)s; it is waiting for another physician.")
        else:
            publishing.return_draft(
                rubric=rubric, reviewer=request.user, comment=comment, item_comments=comments, at=at
            )
            message = _("Version %(n)d of %(case)s was returned to its authors.")
    except DomainError as refused:
        return _page(request, case, _open_rubric(case), refused, comment, comments)
    messages.success(request, message % {"n": rubric.version, "case": case.key})
    following = reviewing.next_to_review(request.user, case)
    if following is not None:
        return redirect("rubrics:review", slug, following.public_id)
    return redirect("rubrics:reviews", slug)


def _open_rubric(case: Case) -> Rubric | None:
    return selectors.versions_of(case).filter(status__in=["draft", "in_review"], draft__isnull=False).first()


def _page(
    request: SignedInRequest,
    case: Case,
    rubric: Rubric | None,
    refused: DomainError | None = None,
    comment: str = "",
    comments: dict[str, str] | None = None,
) -> HttpResponse:
    context: dict[str, Any] = {
        "benchmark": case.benchmark,
        "case": case,
        "rubric": rubric,
        "editor": editor_address(case),
        "refused": refused,
        "errors": getattr(refused, "errors", []),
        "comment": comment,
    }
    if rubric is not None:
        context |= reviewing.sheet(request.user, case, rubric, comments or {})
    return render(request, "rubrics/reviews/review.html", context, status=refused.status_code if refused else 200)


def _text(request: SignedInRequest, name: str) -> str:
    return request.POST.get(name, "").replace("\x00", "").strip()[:MAX_REVIEW_COMMENT_LENGTH]


# The ways of a draft --------------------------------------------------------------------------------------------------


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def send_to_review(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Ask other physicians to read the draft; what is in the way is listed."""
    case = access.get_case_to_write(request.user, slug, public_id)
    if request.method != "POST":  # the address of a refusal, opened anew
        return redirect("rubrics:review", slug, public_id)
    rubric = get_object_or_404(
        Rubric.objects.filter(case=case, track=selectors.TRACK, draft__isnull=False, status="draft")
    )
    note = _text(request, "note")
    try:
        sent = publishing.send_to_review(rubric=rubric, note=note, by=request.user, at=timezone.now())
    except DomainError as refused:
        return _page(request, case, _open_rubric(case), refused, note)
    if sent.status == Rubric.Status.PUBLISHED:
        messages.success(request, _("Version %(n)d of %(case)s is published.") % {"n": sent.version, "case": case.key})
    else:
        messages.success(request, _("%(case)s is now in review. The other authors were notified.") % {"case": case.key})
    return redirect("rubrics:history", slug, public_id)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def take_back(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Make the rubric a draft again."""
    case = access.get_case_to_write(request.user, slug, public_id)
    if request.method != "POST":  # the address of a refusal, opened anew
        return redirect("rubrics:review", slug, public_id)
    rubric = get_object_or_404(Rubric, case=case, track=selectors.TRACK, status=Rubric.Status.IN_REVIEW)
    try:
        publishing.take_back(rubric=rubric, by=request.user, at=timezone.now())
    except DomainError as refused:
        return _page(request, case, _open_rubric(case), refused)
    messages.success(request, _("%(case)s is a draft again.") % {"case": case.key})
    return redirect(editor_address(case))


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def discard_draft(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Throw the draft away; the published version stays."""
    case = access.get_case_to_write(request.user, slug, public_id)
    if request.method != "POST":  # the address of a refusal, opened anew
        return redirect("rubrics:review", slug, public_id)
    rubric = get_object_or_404(
        Rubric, case=case, track=selectors.TRACK, status=Rubric.Status.DRAFT, draft__isnull=False
    )
    try:
        seen = request.POST.get("version", "")
        version = int(seen) if seen.isdecimal() and len(seen) < 10 else None
        publishing.discard_draft(rubric=rubric, by=request.user, at=timezone.now(), version=version)
    except DomainError as refused:
        return _page(request, case, _open_rubric(case), refused)
    messages.success(request, _("The draft of %(case)s was discarded.") % {"case": case.key})
    return redirect("rubrics:history", slug, public_id)
