"""Views for staff: the form of a writing batch with its preview, its tasks, and their handover."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_safe

from accounts.models import User
from annotation import access
from annotation.dashboard.names import People, Person, people_of
from annotation.dashboard.views import csv_file
from annotation.models import Batch, WritingTask, WritingTerms
from annotation.services import new_seed
from annotation.services.previews import AlreadyCreated
from annotation.views.case_handover import called, handover_dialog, handover_message, refuse_nobody, taker_of
from annotation.views.previews import checked_fields, errors_in_words, to_existing_batch
from annotation.writing import batches, selectors
from annotation.writing.forms import WritingBatchForm
from annotation.writing.writing_plan import plan_writing
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics.access import get_administered_benchmark
from rubrics.models import Benchmark, Candidate
from rubrics.selectors.lists import tag_counts

NEW = "annotation/writing/new_batch.html"
PER_PAGE = 50
NOBODY = "nobody"


def _form(benchmark: Benchmark, data: Any = None, **options: Any) -> WritingBatchForm:
    return WritingBatchForm(data, benchmark=benchmark, tags=tag_counts(benchmark), **options)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def new(request: SignedInRequest, slug: str) -> HttpResponse:
    """The form of a writing batch; POST gives the cases out."""
    benchmark = get_administered_benchmark(request.user, slug)
    if request.method != "POST":
        return _page(request, benchmark, _form(benchmark, initial={"seed": new_seed()}))
    form = _form(benchmark, request.POST)
    status = 422
    if form.is_valid():
        try:
            batch = batches.create_writing_batch(
                order=form.order(),
                filter=form.case_filter(),
                by=request.user,
                at=timezone.now(),
                digest=form.cleaned_data["digest"],
            )
        except AlreadyCreated as repeated:
            return to_existing_batch(request, slug, repeated)
        except DomainError as error:
            form.add_error(None, str(error))
            status = error.status_code
        else:
            messages.success(request, _("The cases were assigned. Their physicians can now see them."))
            return redirect("annotation:batch", slug, batch.public_id)
    return _page(request, benchmark, form, status)


def _page(request: SignedInRequest, benchmark: Benchmark, form: WritingBatchForm, status: int = 200) -> HttpResponse:
    physicians = benchmark.candidates.filter(kind=Candidate.Kind.PHYSICIAN)
    context = {
        "benchmark": benchmark,
        "form": form,
        "groups": benchmark.groups.count(),
        "cases": benchmark.cases.filter(excluded_at=None).count(),
        "physicians": physicians.values_list("name", flat=True),
    }
    return render(request, NEW, context, status=status)


@require_safe
@signed_in
def preview(request: SignedInRequest, slug: str) -> HttpResponse:
    """Preview of who would get which cases, and who is left out and why; nothing is written."""
    benchmark = get_administered_benchmark(request.user, slug)
    form = _form(benchmark, request.GET)
    form.fields["title"].required = False
    context: dict[str, Any] = {"benchmark": benchmark, "checked_fields": checked_fields(form)}
    if form.is_valid():
        try:
            context["plan"] = plan_writing(order=form.order(), filter=form.case_filter())
        except DomainError as refused:
            context["refused"] = refused
    else:
        context["invalid"] = errors_in_words(form)
    return render(request, f"{NEW}#preview", context)


# On the page of the batch ---------------------------------------------------------------------------------------------


def writing_context(request: HttpRequest, batch: Batch, people: People) -> dict[str, Any]:
    """Extra template context for the page of a writing batch; empty for other kinds of batches."""
    if batch.kind != Batch.Kind.WRITE:
        return {}
    terms = WritingTerms.objects.select_related("candidate").get(batch=batch)
    page = Paginator(selectors.batch_tasks(batch), PER_PAGE).get_page(request.GET.get("page"))
    released = WritingTask.objects.filter(batch=batch, release_reason=WritingTask.Release.HAS_READ)
    return {
        "writing_terms": terms,
        "writing_references": [reference.name for reference in terms.references.all()],
        "writing_page": page,
        "writing_lines": selectors.task_lines(list(page.object_list), people),
        "writing_lost": released.count(),
    }


@require_safe
@signed_in
def tasks_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """The tasks of a writing batch as CSV; writers by pseudonym."""
    batch = access.get_batch(request.user, slug, public_id)
    get_object_or_404(WritingTerms, batch=batch)
    people = people_of(batch.group.benchmark, names=False)
    return csv_file(
        f"writing-{batch.public_id}", selectors.TASK_COLUMNS, selectors.task_rows(batch, people), selectors.TASK_TEXT
    )


def hand_over(request: SignedInRequest, batch: Batch) -> HttpResponse:
    """Show which cases of ``physician`` (a pseudonym) would move and who may take them; POST moves them."""
    people = people_of(batch.group.benchmark, names=True)
    params = request.POST if request.method == "POST" else request.GET
    holder = called(people, params.get("physician", ""))
    tasks = batches.movable_tasks(batch=batch, holder=holder.user) if holder else []
    if request.method == "POST":
        try:
            messages.success(request, _moved(batch, refuse_nobody(holder), params.get("to", ""), people, len(tasks)))
        except DomainError as refused:
            messages.error(request, str(refused))
        return redirect("annotation:batch", batch.group.benchmark.slug, batch.public_id)
    return handover_dialog(
        request,
        "annotation/writing/handover.html",
        batch=batch,
        holder=holder,
        people=people,
        tasks=tasks,
        takers=batches.takers_of(batch=batch, tasks=tasks),
        load=batches.open_in(batch),
    )


def _moved(batch: Batch, holder: Person, to: str, people: People, n_tasks: int) -> str:
    """Move the work, and return the message about it."""
    user, at = User.objects.get(pk=holder.user), timezone.now()
    if to == NOBODY:
        number = batches.take_back(batch=batch, holder=user, at=at)
        words = ngettext("%(number)d case was withdrawn.", "%(number)d cases were withdrawn.", number)
        return words % {"number": number}
    number = batches.hand_over_writing(batch=batch, holder=user, to=taker_of(people, to), at=at)
    return handover_message(number, n_tasks - number)
