"""Comments on a piece of work: the thread for annotator and checker, and all threads for the admin."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from accounts.identity import opaque_name
from accounts.models import Notification
from accounts.services.notifications import mark_read
from annotation import access
from annotation.allocation.specialties import case_specialty
from annotation.dashboard.views import csv_file
from annotation.models import Assignment, Comment, Physician
from annotation.selectors import comment_threads, reading_pages
from annotation.services.comments import add_comment
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics.access import get_administered_benchmark

A_PAGE = 30
COLUMNS = ("batch", "case", "annotator", "state", "voice", "author", "written", "text")


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@signed_in
def comments(request: SignedInRequest, public_id: str) -> HttpResponse:
    """The comments of annotator, checker and admins on this work; POST adds one."""
    assignment, author_role = comment_threads.get_own_thread(request.user, public_id)
    here = reverse("annotation:comments", args=[public_id])
    more = {} if request.htmx else _about_work(request, assignment, author_role)
    return _thread(request, assignment, author_role, here, more)


def _about_work(request: SignedInRequest, assignment: Assignment, author_role: Comment.AuthorRole) -> dict[str, Any]:
    """What the page shows of the response and leads to, as the reader's own lists and pages show it."""
    slug, public_id = assignment.batch.group.benchmark.slug, assignment.public_id
    if author_role == Comment.AuthorRole.ANNOTATOR:
        return {
            "work": reverse("annotation:grade", args=[public_id]),
            "list_url": reverse("annotation:work-in", args=[slug]),
            "place": reading_pages.queue_place(assignment),
        }
    held = access.held_checks(request.user).filter(pk=assignment.pk)
    done = access.done_checks(request.user).filter(assignment=assignment)
    return {
        "work": reverse("annotation:check", args=[public_id]) if held.exists() or done.exists() else "",
        "list_url": reverse("annotation:checks-in", args=[slug]),
        "specialty": case_specialty(assignment.case.tags),
        "language": assignment.case.language,
    }


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@signed_in
def comments_of(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """The comments on a piece of work for an admin; POST adds one."""
    assignment = comment_threads.get_administered_thread(request.user, slug, public_id)
    benchmark = assignment.batch.group.benchmark
    annotator = Physician.objects.filter(benchmark=benchmark, user=assignment.annotator_id).first()
    here = reverse("annotation:comments-of", args=[slug, public_id])
    return _thread(request, assignment, Comment.AuthorRole.ADMIN, here, {"for_admin": True, "annotator": annotator})


def _thread(
    request: SignedInRequest, assignment: Assignment, author_role: Comment.AuthorRole, here: str, more: dict[str, Any]
) -> HttpResponse:
    if request.method != "HEAD":
        # Whoever has the thread in sight has read what their notification is about, wherever they opened it.
        mark_read(notifications=Notification.objects.filter(user=request.user, url=here), at=timezone.now())
    refused, text = None, ""
    if request.method == "POST":
        text = request.POST.get("text", "")[: 5 * comment_threads.MAX_COMMENT_LENGTH]
        try:
            add_comment(
                assignment=assignment, author=request.user, author_role=author_role, text=text, at=timezone.now()
            )
        except DomainError as error:
            refused = error
        else:
            text = ""
            if not request.htmx:
                return redirect(here)
    context = {
        "benchmark": assignment.batch.group.benchmark,
        "batch": assignment.batch,
        "assignment": assignment,
        "lines": comment_threads.thread_of(assignment, request.user, author_role),
        "writable": comment_threads.writable(assignment),
        "max_length": comment_threads.MAX_COMMENT_LENGTH,
        "here": here,
        "refused": refused,
        "text": text,
        "who": opaque_name(request.user),
        **more,
    }
    template = "annotation/comments/_thread.html" if request.htmx else "annotation/comments/comments.html"
    return render(request, template, context, status=refused.status_code if refused else 200)


@require_safe
@signed_in
def threads(request: SignedInRequest, slug: str) -> HttpResponse:
    """Every piece of work with comments, that with the latest comment first."""
    benchmark = get_administered_benchmark(request.user, slug)
    page = Paginator(comment_threads.discussed(benchmark), A_PAGE).get_page(request.GET.get("page"))
    rows = list(page)
    people = Physician.objects.filter(benchmark=benchmark, user__in={row.annotator_id for row in rows})
    names = dict(people.values_list("user_id", "pseudonym"))
    last = {
        row.assignment_id: row
        for row in Comment.objects.filter(assignment__in=rows).order_by("assignment_id", "-created_at", "-pk").distinct(
            "assignment_id"
        )
    }  # fmt: skip
    context = {
        "benchmark": benchmark,
        "page_obj": page,
        "threads": [(row, names.get(row.annotator_id, ""), last[row.pk]) for row in rows],
    }
    return render(request, "annotation/comments/list.html", context)


@require_safe
@signed_in
def comments_csv(request: SignedInRequest, slug: str) -> StreamingHttpResponse:
    """Every comment of the benchmark as CSV; physicians by pseudonym."""
    benchmark = get_administered_benchmark(request.user, slug)
    names = dict(Physician.objects.filter(benchmark=benchmark).values_list("user_id", "pseudonym"))
    queryset = Comment.objects.filter(assignment__batch__group__benchmark=benchmark)
    queryset = queryset.select_related("assignment__batch", "assignment__case").order_by(
        "assignment", "created_at", "pk"
    )
    rows = (
        (
            row.assignment.batch.title, row.assignment.case.key, names.get(row.assignment.annotator_id, ""),
            row.assignment.status, row.author_role, names.get(row.author_id, ""), row.created_at.isoformat(), row.text,
        )
        for row in queryset.iterator()
    )  # fmt: skip
    return csv_file(f"{slug}-comments", COLUMNS, rows, ("batch", "case", "annotator", "author", "text"))
