"""Views of releases: the list, the form, and the page of one."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Paginator
from django.db import transaction
from django.http import FileResponse, Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.confirming import confirmed, record_signature
from consilium.core.csvfile import stream_csv
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.jobs import OPEN, JobStatus
from releases import access, services
from releases.content.code_files import COUNTED
from releases.forms import ReleaseForm
from releases.models import Release
from releases.selectors import archive as archive_selectors
from releases.selectors.preview import preview_of
from rubrics.access import get_administered_benchmark, get_benchmark, is_admin
from rubrics.views.benchmarks import csv_response

PER_PAGE = 25


@require_safe
@signed_in
def releases(request: SignedInRequest, slug: str) -> HttpResponse:
    """The releases of a benchmark, the newest first."""
    benchmark = get_benchmark(request.user, slug)
    rows = Release.objects.filter(benchmark=benchmark).select_related("created_by")
    context = {
        "benchmark": benchmark,
        "page_obj": Paginator(rows, PER_PAGE).get_page(request.GET.get("page")),
        "administers": is_admin(request.user, benchmark),
    }
    return render(request, "releases/releases.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
@confirmed("release")
def new_release(request: SignedInRequest, slug: str) -> HttpResponse:
    """Request a release; the form shows counts of what it would contain."""
    benchmark = get_administered_benchmark(request.user, slug)
    preview = preview_of(benchmark)
    status = 200
    if request.method == "POST":
        form = ReleaseForm(benchmark, preview, request.POST)
        status = 422
        if form.is_valid():
            at = timezone.now()
            try:
                with transaction.atomic():  # no release without its line in the security log
                    if form.cleaned_data["licence"] != benchmark.licence:
                        services.set_licence(benchmark=benchmark, licence=form.cleaned_data["licence"])
                    release = services.create_release(
                        benchmark=benchmark,
                        version=form.cleaned_data["version"],
                        notes=form.cleaned_data["notes"],
                        options=form.options(),
                        by=request.user,
                        at=at,
                    )
                    record_signature(request, kind="release", scope=slug, target=release.version, at=at)
            except DomainError as error:
                form.add_error(None, str(error))
                status = error.status_code
            else:
                return redirect("releases:release", slug, release.public_id)
    else:
        form = ReleaseForm(benchmark, preview, initial={"version": services.next_version(benchmark)})
    context = {"benchmark": benchmark, "form": form, "preview": preview}
    return render(request, "releases/new.html", context, status=status)


def _context(request: SignedInRequest, release: Release) -> dict[str, Any]:
    return {
        "benchmark": release.benchmark,
        "release": release,
        "is_open": release.status in OPEN,
        "administers": is_admin(request.user, release.benchmark),
    }


@require_safe
@signed_in
def release(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """One release: its progress, or its content."""
    row = access.get_release(request.user, slug, public_id)
    context = _context(request, row)
    if row.status == JobStatus.DONE:
        line, bibtex = archive_selectors.citation_of(row)
        changes, counts = row.facts.get("changes", {}), row.facts.get("counts", {})
        context |= {
            "card": archive_selectors.card_of(row),
            "citation": line,
            "bibtex": bibtex,
            "files": list(archive_selectors.file_rows(row)),
            "archive_name": services.archive_name(row),
            "counts": counts,
            "codes": sum(counts.get(name, 0) for name in COUNTED.values()),
            "changes": changes,
            "changed_cases": archive_selectors.change_rows(row)[:PER_PAGE],
        }
    return render(request, "releases/release.html", context)


@require_safe
@signed_in
def progress(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """The progress of a release, requested every second while it is open; then the page is reloaded."""
    row = access.get_release(request.user, slug, public_id)
    context = _context(request, row)
    response = render(request, "releases/_progress.html", context)
    if not context["is_open"]:
        response["HX-Refresh"] = "true"
    return response


@require_POST
@signed_in
def restart(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Try a failed release again."""
    row = access.get_administered_release(request.user, slug, public_id)
    try:
        services.restart_release(release=row, at=timezone.now())
    except DomainError as error:
        context = {**_context(request, row), "problem": str(error)}
        return render(request, "releases/release.html", context, status=error.status_code)
    return redirect("releases:release", slug, public_id)


def archive_response(row: Release) -> FileResponse:
    """The ZIP; 404 until it is made, or if it was lost."""
    if row.status != JobStatus.DONE:
        raise Http404
    try:
        file = row.archive.open("rb")
    except FileNotFoundError:
        raise Http404 from None
    name = f"{services.archive_name(row)}.zip"
    return FileResponse(file, as_attachment=True, filename=name, content_type="application/zip")


@require_safe
@signed_in
def archive(request: SignedInRequest, slug: str, public_id: str) -> FileResponse:
    """The release as a ZIP."""
    return archive_response(access.get_release(request.user, slug, public_id))


@require_safe
@signed_in
def files_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """The files of a release with their sums."""
    row = access.get_release(request.user, slug, public_id)
    rows = stream_csv(archive_selectors.FILE_COLUMNS, archive_selectors.file_rows(row), text_columns=("path",))
    return csv_response(f"{services.archive_name(row)}-files.csv", rows)


@require_safe
@signed_in
def changes_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """The cases that differ from the release before, as CSV."""
    row = access.get_release(request.user, slug, public_id)
    rows = stream_csv(archive_selectors.CHANGE_COLUMNS, archive_selectors.change_rows(row), text_columns=("case",))
    return csv_response(f"{services.archive_name(row)}-changes.csv", rows)
