"""Views of imports: upload a file, see its progress and its faults."""

from __future__ import annotations

from typing import BinaryIO, cast

from django.core.files.uploadedfile import UploadedFile
from django.core.paginator import Paginator
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from consilium.core.csvfile import stream_csv
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.jobs import JobStatus
from consilium.core.languages import language_name
from rubrics import access, services
from rubrics.acuity.schemes import BY_LABELS
from rubrics.forms import ImportForm
from rubrics.imports import LISTS, kinds
from rubrics.imports.examples import examples_of
from rubrics.imports.previews import PREVIEW, PREVIEWED
from rubrics.models import Candidate, ImportJob
from rubrics.services import import_previews
from rubrics.tables.table import is_table
from rubrics.views.benchmarks import csv_response
from rubrics.views.import_previews import posted_changes, preview_context

PER_PAGE = 25


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def imports(request: SignedInRequest, slug: str) -> HttpResponse:
    """The imports of a benchmark, and a form for the next."""
    benchmark = access.get_benchmark(request.user, slug)
    status = 200
    if request.method == "POST":
        form = ImportForm(request.POST, request.FILES, benchmark=benchmark)
        if form.is_valid():
            upload = cast(UploadedFile, form.cleaned_data["file"])
            kind, options = form.cleaned_data["kind"], form.options()
            if kind in PREVIEWED and ("preview" in request.POST or _is_table(upload, kind)):
                options[PREVIEW] = "1"
            try:
                job = services.create_import(
                    benchmark=benchmark,
                    kind=kind,
                    file=upload,
                    file_name=upload.name or "",
                    options=options,
                    by=request.user,
                )
            except DomainError as error:
                form.add_error(None, str(error))
                form.ask_for_the_file_again()
                status = error.status_code
            else:
                return redirect("rubrics:import", slug, job.public_id)
        else:
            status = 422
    else:
        form = ImportForm(initial={"kind": request.GET.get("kind", "")}, benchmark=benchmark)
    jobs = ImportJob.objects.filter(benchmark=benchmark).select_related("created_by")
    return render(
        request,
        "rubrics/imports/imports.html",
        {
            "benchmark": benchmark,
            "form": form,
            "page_obj": Paginator(jobs, PER_PAGE).get_page(request.GET.get("page")),
            "own_pages": [(kind.label, reverse(kind.page, args=[slug])) for kind in kinds() if kind.page],
            "examples": [(kind.kind, kind.label, examples_of(kind)) for kind in kinds() if not kind.page],
            "previewed": " ".join(PREVIEWED),
        },
        status=status,
    )


def _is_table(upload: UploadedFile, kind: str) -> bool:
    """Whether a file is a table, which is shown before it is imported."""
    return is_table(cast(BinaryIO, upload), PREVIEWED[kind][0], {"file_name": upload.name or ""})


# In the order of the page, since JSON in the database keeps no order.
COUNTED = {
    "cases": _("Cases"),
    "stubs": _("Cases without a text"),
    "scales": _("Scales"),
    "schemes": _("Label schemes"),
    "labels": _("Labels"),
    "drafts": _("Drafts of rubrics"),
    "rubric sets": _("Rubric sets"),
    "pairs": pgettext_lazy("number of", "Near-miss pairs"),
    "criteria": _("Criteria"),
    "mends": _("Fixes"),
    "candidates": _("Candidates"),
    "attributes": _("Candidates’ attributes"),
    "responses": _("Responses"),
    "readings": pgettext_lazy("of a candidate", "Readings"),
    "missing readings": _("Missing readings"),
    "groups": _("Expert groups"),
    "physicians": _("Physicians"),
    "decisions": _("Decisions"),
    "conflicts": _("Conflicts"),
    "judges": _("Judges"),
    "runs": _("Runs"),
    "verdicts": _("Verdicts"),
    "questions": _("Questions"),
    "votes": _("Votes"),
    "rulings": _("Rulings"),
    "reference sets": _("Reference sets"),
    "responses read": _("Responses read by physicians"),
    "banks": _("Banks"),
    "bank items": _("Criteria of the bank"),
    "documents": _("Documents"),
    "new editions": _("New editions among them"),
    "passages": _("Passages"),
}

OPTIONS = {
    "name": _("Name"),
    "collection": _("Collection"),
    "key": _("Key"),
    "title": _("Title"),
    "dataset": _("Dataset"),
    "scale": _("Scale"),
    "scheme": _("Label scheme"),
    "candidate": _("Candidate"),
    "candidate_kind": _("Kind of candidate"),
    "reading_format": _("Format of readings"),
    "format": _("Shape of the file"),
    "group": _("Expert group"),
    "judge": _("Judge"),
    "replicate": _("Replicate"),
    "learned": _("Candidates that the judge learned from"),
    "bank": _("Bank"),
    "licence": _("Licence"),
    "author": _("Written by"),
    "criteria": _("Number of criteria"),
    "axes": _("Number of axes"),
    "language": _("Language"),
    "tags": _("Tags of the case"),
    "mend": _("Fixed"),
    "judgements": _("Physicians per pair"),
}
VALUES = {
    ("format", "auto"): _("Detect from the beginning of the file"),
    ("scheme", BY_LABELS): _("Detect from the labels of the file"),
    ("mend", "1"): _("Yes"),
    ("reading_format", "qa"): _("Forced choice"),
    ("reading_format", "chat"): _("Advice to a patient"),
    **{("candidate_kind", value): label for value, label in Candidate.Kind.choices},
}


def _options(job: ImportJob) -> list[tuple[object, object]]:
    """What was chosen with the file, in words."""
    return [
        (label, language_name(job.options[name]) if name == "language" else _value(name, job.options[name]))
        for name, label in OPTIONS.items()
        if name in job.options
    ]


def _value(name: str, value: str) -> object:
    return VALUES.get((name, value), value)


def import_context(job: ImportJob) -> dict[str, object]:
    """What the page of an import needs."""
    names = [*(name for name in COUNTED if name in job.counts), *(set(job.counts) - {*COUNTED, *LISTS})]
    counts = [(COUNTED.get(name, name), job.counts[name]) for name in names]
    new = sum(count.get("created", 0) + count.get("changed", 0) for _label, count in counts)
    return {
        **preview_context(job),
        "benchmark": job.benchmark,
        "job": job,
        "counts": counts,
        "any_changed": any("changed" in count for _label, count in counts),
        "options": _options(job),
        "warnings": job.counts.get("warnings", []),
        "editions": job.counts.get("editions", []),
        "is_preview": "preview" in job.options,
        "previews": job.counts.get("previews", []),
        "confirmed": job.repetition if job.counts.get("previews") else None,
        "nothing_new": job.status == JobStatus.DONE and not new,
        "is_open": job.status in (JobStatus.PENDING, JobStatus.RUNNING),
        "may_restart": job.status in (JobStatus.REFUSED, JobStatus.FAILED),
        "all_read": job.bytes_read >= job.bytes_total,
    }


@require_safe
@signed_in
def import_job(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """One import."""
    job = access.get_import(request.user, slug, public_id)
    return render(request, "rubrics/imports/import.html", import_context(job))


@require_safe
@signed_in
def import_state(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """The part of the page that changes while the import runs; it reloads itself until the import ends."""
    job = access.get_import(request.user, slug, public_id)
    return render(request, "rubrics/imports/import.html#import-state", import_context(job))


@require_POST
@signed_in
def import_restart(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Try a refused or failed import again."""
    job = access.get_import(request.user, slug, public_id)
    try:
        services.restart_import(job=job)
    except DomainError as error:
        return render(
            request,
            "rubrics/imports/import.html",
            {**import_context(job), "problem": str(error)},
            status=error.status_code,
        )
    return redirect("rubrics:import", slug, public_id)


@require_POST
@signed_in
def import_preview(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Import what a preview shows, or preview it with other columns; changed columns are always previewed first."""
    job = access.get_import(request.user, slug, public_id)
    changes = posted_changes(request, job)
    try:
        if request.POST.get("action") == "import" and not import_previews.is_other_reading(job=job, changes=changes):
            next_job = import_previews.confirm_preview(job=job, by=request.user)
        else:
            next_job = import_previews.change_preview(job=job, changes=changes, by=request.user)
    except DomainError as error:
        context = {**import_context(job), "problem": str(error)}
        return render(request, "rubrics/imports/import.html", context, status=error.status_code)
    return redirect("rubrics:import", slug, next_job.public_id)


@require_safe
@signed_in
def import_errors_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """The faults of a refused file."""
    job = access.get_import(request.user, slug, public_id)
    columns = ("line", "field", "message")
    return csv_response(
        f"{slug}-import-{public_id}-faults.csv", stream_csv(columns, job.errors, text_columns=("field", "message"))
    )
