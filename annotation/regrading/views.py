"""Views of regrading after new rubric versions: by group, as a preview, and as a batch."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from annotation.models import Batch, ExpertGroup
from annotation.regrading.forms import RegradingForm
from annotation.regrading.lacking import lacking_in, lacks_of
from annotation.regrading.regrading_plan import make_regrading, plan_regrading
from annotation.services.previews import AlreadyCreated
from annotation.views.previews import to_existing_batch
from consilium.core.csvfile import stream_csv
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics.access import get_administered_benchmark, get_benchmark, is_admin
from rubrics.models import Benchmark, Criterion, Response, Rubric, RubricItem
from rubrics.views.benchmarks import csv_response

CSV_COLUMNS = ("group", "case", "candidate", "setting", "sample", "version", "number", "criterion")
CSV_TEXT = ("group", "case", "candidate", "setting", "criterion")


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def regrading(request: SignedInRequest, slug: str) -> HttpResponse:
    """What each group lacks; for a chosen group a preview of the batch, which an admin can make."""
    benchmark = get_benchmark(request.user, slug)
    if request.method != "POST":
        return _page(request, benchmark)
    benchmark = get_administered_benchmark(request.user, slug)
    form = RegradingForm(request.POST, benchmark=benchmark)
    if not form.is_valid():
        return _page(request, benchmark, form, status=422)
    try:
        batch, _plan = make_regrading(
            group=form.cleaned_data["group"],
            terms=form.terms(),
            by=request.user,
            at=timezone.now(),
            digest=form.cleaned_data["digest"],
        )
    except AlreadyCreated as repeated:
        return to_existing_batch(request, slug, repeated)
    except DomainError as refused:
        return _page(request, benchmark, form, refused, status=refused.status_code)
    messages.success(request, _("The batch is open. Its physicians can now see it."))
    return redirect("annotation:batch", slug, batch.public_id)


def _page(
    request: SignedInRequest,
    benchmark: Benchmark,
    form: RegradingForm | None = None,
    refused: DomainError | None = None,
    status: int = 200,
) -> HttpResponse:
    lacks = lacks_of(benchmark)
    administers = is_admin(request.user, benchmark)
    chosen = next((row for row in lacks if row.group.public_id == request.GET.get("group")), None)
    context: dict[str, Any] = {
        "benchmark": benchmark,
        "lacks": lacks,
        "total": sum(row.decisions for row in lacks),
        "administers": administers,
        "refused": refused,
    }
    if form is None and chosen is not None and chosen.responses and administers:
        blank = RegradingForm(benchmark=benchmark)
        values = {name: blank.get_initial_for_field(field, name) for name, field in blank.fields.items()}
        values |= _as_before(chosen.group)
        values |= {name: request.GET[name] for name in blank.fields if name in request.GET}
        form = RegradingForm(values, benchmark=benchmark)
    if form is not None:
        context["form"] = form
        if form.is_valid():
            context["group"] = form.cleaned_data["group"]
            try:
                context["plan"] = plan_regrading(group=form.cleaned_data["group"], terms=form.terms())
            except DomainError as error:
                context["refused"] = refused or error
    return render(request, "annotation/regrading/regrading.html", context, status=status)


def _as_before(group: ExpertGroup) -> dict[str, Any]:
    """The secondary check of the group's latest batch, so that regrading is checked like the first grading."""
    batches = Batch.objects.filter(group=group, kind=Batch.Kind.GRADE, imported=False).order_by("-pk")
    latest = batches.values("check_policy", "check_fraction").first()
    if latest is None:
        return {}
    if latest["check_policy"] != Batch.CheckPolicy.SAMPLE:
        return {"check_policy": latest["check_policy"]}
    return {"check_policy": latest["check_policy"], "check_percent": round(100 * latest["check_fraction"], 4)}


@require_safe
@signed_in
def regrading_csv(request: SignedInRequest, slug: str) -> StreamingHttpResponse:
    """A CSV line for each response and lacking criterion of every group."""
    benchmark = get_benchmark(request.user, slug)
    return csv_response(f"{slug}-regrading.csv", stream_csv(CSV_COLUMNS, _rows(benchmark), text_columns=CSV_TEXT))


def _rows(benchmark: Benchmark) -> Any:
    for group in ExpertGroup.objects.filter(benchmark=benchmark).order_by("name", "pk"):
        rows = lacking_in(group)
        responses = Response.objects.select_related("case", "candidate").in_bulk([row.response for row in rows])
        versions = dict(Rubric.objects.filter(pk__in={row.rubric for row in rows}).values_list("pk", "version"))
        texts = dict(
            Criterion.objects.filter(pk__in={c for row in rows for c in row.criteria}).values_list("pk", "text")
        )
        numbers = {
            (rubric, criterion): position
            for rubric, criterion, position in RubricItem.objects.filter(rubric__in=versions).values_list(
                "rubric_id", "criterion_id", "position"
            )
        }
        for row in rows:
            response = responses[row.response]
            for criterion in row.criteria:
                yield (
                    *(group.name, response.case.key, response.candidate.name, response.setting, response.sample),
                    *(versions[row.rubric], numbers[row.rubric, criterion], texts[criterion]),
                )
