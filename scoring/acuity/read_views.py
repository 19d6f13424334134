"""Views with which staff have physicians check what a judge read in responses."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from annotation.services import new_seed
from annotation.services.previews import AlreadyCreated
from annotation.views.previews import to_existing_batch
from consilium.core.csvfile import stream_csv
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics.access import get_administered_benchmark
from scoring import access
from scoring.acuity.read_advice import ANSWER_COLUMNS, ANSWER_TEXT, answer_rows, make_read_batch, plan_read_batch
from scoring.acuity.read_forms import ReadBatchForm
from scoring.generation.views import problems_of
from scoring.models import JudgeRun

NEW = "scoring/acuity/read_batch.html"


def _administered_run(request: SignedInRequest, slug: str, public_id: str) -> JudgeRun:
    get_administered_benchmark(request.user, slug)
    run = access.get_run(request.user, slug, public_id)
    if run.purpose != JudgeRun.Purpose.ACUITY:
        raise Http404
    return run


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def read_batch_new(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """The form, and giving the responses out."""
    run = _administered_run(request, slug, public_id)
    if request.method != "POST":
        return _page(request, run, ReadBatchForm(benchmark=run.benchmark, initial={"seed": new_seed()}))
    form = ReadBatchForm(request.POST, benchmark=run.benchmark)
    status = 422
    if form.is_valid():
        try:
            batch = make_read_batch(
                group=form.cleaned_data["group"],
                run=run,
                terms=form.terms(),
                by=request.user,
                at=timezone.now(),
                digest=form.cleaned_data["digest"],
            )
        except AlreadyCreated as repeated:
            return to_existing_batch(request, slug, repeated)
        except DomainError as refused:
            form.add_error(None, str(refused))
            status = refused.status_code
        else:
            messages.success(request, _("The responses have been assigned; the physicians can now see them."))
            return redirect("annotation:batch", slug, batch.public_id)
    return _page(request, run, form, status)


def _page(request: SignedInRequest, run: JudgeRun, form: ReadBatchForm, status: int = 200) -> HttpResponse:
    context = {"benchmark": run.benchmark, "run": run, "form": form, "groups": run.benchmark.groups.count()}
    return render(request, NEW, context, status=status)


@require_safe
@signed_in
def read_batch_preview(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Which responses would be given to whom by the form; nothing is written."""
    run = _administered_run(request, slug, public_id)
    form = ReadBatchForm(request.GET, benchmark=run.benchmark)
    form.fields["title"].required = False
    context: dict[str, Any] = {"benchmark": run.benchmark, "run": run}
    if form.is_valid():
        try:
            group, terms = form.cleaned_data["group"], form.terms()
            context["plan"], context["sample"] = plan_read_batch(group=group, run=run, terms=terms)
        except DomainError as refused:
            context["refused"] = refused
    else:
        context["invalid"] = problems_of(form)
    return render(request, f"{NEW}#preview", context)


@require_safe
@signed_in
def read_answers_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """What physicians marked on the responses of a run, under their pseudonyms."""
    run = access.get_run(request.user, slug, public_id)
    if run.purpose != JudgeRun.Purpose.ACUITY:
        raise Http404
    pieces = stream_csv(ANSWER_COLUMNS, answer_rows(run), text_columns=ANSWER_TEXT)
    response = StreamingHttpResponse(pieces, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-run-{run.public_id}-physicians.csv"'
    return response
