"""Views for many rubrics: send drafts to review with one note, and approve those whose changes were seen."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.limits import MAX_REVIEW_COMMENT_LENGTH
from rubrics import access, cited
from rubrics.editor.draft_content import items_of
from rubrics.models import Benchmark, Rubric
from rubrics.services import publishing_many
from rubrics.services.publishing import what_is_in_the_way
from rubrics.versions import selectors

PER_PAGE = 50
DRAFTS_PER_PAGE = 200


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def reviews(request: SignedInRequest, slug: str) -> HttpResponse:
    """Rubrics that wait for this reader, each with what changed in it; those ticked are approved together."""
    benchmark = access.get_written_benchmark(request.user, slug)
    if request.method != "POST":
        return _queue(request, benchmark)
    ticked = {}
    for value in request.POST.getlist("rubric")[: publishing_many.MAX_AT_ONCE + 1]:
        case, _colon, digest = value.replace("\x00", "").partition(":")
        ticked[case] = digest
    try:
        outcome = publishing_many.approve_many(
            benchmark=benchmark,
            reviewer=request.user,
            digests=ticked,
            comment=request.POST.get("comment", "").replace("\x00", ""),
            at=timezone.now(),
        )
    except DomainError as refused:
        return _queue(request, benchmark, refused)
    if outcome.published:
        _say(
            request,
            ngettext("%(n)d rubric is published.", "%(n)d rubrics are published.", len(outcome.published)),
            len(outcome.published),
        )
    if outcome.done:
        text = ngettext(
            "%(n)d rubric is approved and is waiting for another physician.",
            "%(n)d rubrics are approved and are waiting for another physician.",
            len(outcome.done),
        )
        _say(request, text, len(outcome.done))
    if outcome.refused:
        return _queue(request, benchmark, not_done=outcome.refused)
    return redirect(request.get_full_path())


def _say(request: SignedInRequest, text: str, count: int) -> None:
    messages.success(request, text % {"n": count})


def _queue(
    request: SignedInRequest,
    benchmark: Benchmark,
    refused: DomainError | None = None,
    not_done: list[tuple[Rubric, DomainError]] | None = None,
) -> HttpResponse:
    is_author = access.is_author(request.user, benchmark)
    rows = (
        selectors.reviewable_by(request.user, benchmark)
        if is_author
        else selectors.open_rubrics(benchmark, Rubric.Status.IN_REVIEW)
    )
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    waiting: list[dict[str, Any]] = [
        {"rubric": rubric, "diff": selectors.difference(rubric.based_on, rubric)} for rubric in page
    ]
    in_review = selectors.open_rubrics(benchmark, Rubric.Status.IN_REVIEW).count()
    context: dict[str, Any] = {
        "benchmark": benchmark,
        "page_obj": page,
        "shown": waiting,
        "suggested": None,  # reviewers decide without knowing
        "cited": cited.describe(benchmark, (citation for row in waiting for citation in row["diff"].citations)),
        "is_author": is_author,
        # A single rubric is read beside its case before it is approved.
        "many": is_author and (page.paginator.count > 1 or bool(refused or not_done)),
        "in_review": in_review,
        "drafts": selectors.open_rubrics(benchmark, Rubric.Status.DRAFT).count(),
        "refused": refused,
        "not_done": not_done or [],
        "comment": request.POST.get("comment", ""),
    }
    status = refused.status_code if refused else 409 if not_done else 200
    return render(request, "rubrics/reviews/reviews.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def drafts(request: SignedInRequest, slug: str) -> HttpResponse:
    """All drafts of the benchmark, what is in the way of each, and one note for those that are sent to review."""
    benchmark = access.get_written_benchmark(request.user, slug)
    if request.method != "POST":
        return _drafts(request, benchmark)
    ticked = [value.replace("\x00", "") for value in request.POST.getlist("case")]
    note = request.POST.get("note", "").replace("\x00", "")[:MAX_REVIEW_COMMENT_LENGTH]
    try:
        outcome = publishing_many.send_many(
            benchmark=benchmark, cases=ticked, note=note, by=request.user, at=timezone.now()
        )
    except DomainError as refused:
        return _drafts(request, benchmark, refused, note=note)
    sent = len(outcome.done) + len(outcome.published)
    if sent:
        _say(request, ngettext("%(n)d rubric is in review now.", "%(n)d rubrics are in review now.", sent), sent)
    if outcome.refused:
        return _drafts(request, benchmark, not_done=outcome.refused, note=note)
    return redirect("rubrics:reviews", slug)


def _drafts(
    request: SignedInRequest,
    benchmark: Benchmark,
    refused: DomainError | None = None,
    not_done: list[tuple[Rubric, DomainError]] | None = None,
    note: str = "",
) -> HttpResponse:
    rows = selectors.open_rubrics(benchmark, Rubric.Status.DRAFT)
    page = Paginator(rows, DRAFTS_PER_PAGE).get_page(request.GET.get("page"))
    shown = []
    for rubric in page:
        items = items_of(rubric.draft.content)
        shown.append(
            {
                "rubric": rubric,
                "diff": selectors.difference(rubric.based_on, rubric),
                "faults": what_is_in_the_way(rubric, items, privacy=False),
            }
        )
    context = {
        "benchmark": benchmark,
        "page_obj": page,
        "shown": shown,
        "ready": sum(not row["faults"] for row in shown),
        "refused": refused,
        "not_done": [(rubric, error, getattr(error, "errors", [])) for rubric, error in not_done or []],
        "note": note,
    }
    status = refused.status_code if refused else 422 if not_done else 200
    return render(request, "rubrics/reviews/drafts.html", context, status=status)
