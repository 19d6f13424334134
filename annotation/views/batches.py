"""Views of batches for staff: progress, next steps, and the form that creates one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation import access, services
from annotation.dashboard import boards, pieces
from annotation.dashboard.counts import STAGES
from annotation.dashboard.names import people_of
from annotation.dashboard.views import csv_file
from annotation.forms import BatchForm, BetweenForm, ExtendForm, PieceForm, RenameForm
from annotation.models import Adjudication, Batch
from annotation.selectors import review_rounds
from annotation.selectors.able_reviewers import stuck_checks
from annotation.selectors.progress import conflicts_by_groups, conflicts_of
from annotation.selectors.unread_work import unread_work
from annotation.services.adjudications import open_within
from annotation.services.batch_terms import is_past, warn_of_past
from annotation.services.batch_titles import candidate_in
from annotation.services.drawing import ResponseFilter
from annotation.services.slots import stuck_slots
from annotation.views.previews import checked_fields, errors_in_words, to_existing_batch
from annotation.writing.admin_views import writing_context
from consilium.core.commands import command_fields, form_field
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.core.languages import language_name
from rubrics.access import get_administered_benchmark, get_benchmark, is_admin
from rubrics.models import Benchmark, Candidate, Case

NEW = "annotation/batches/new.html"


@require_safe
@signed_in
def batches(request: SignedInRequest, slug: str) -> HttpResponse:
    """All batches of a benchmark, or those in one state, with their progress."""
    benchmark = get_benchmark(request.user, slug)
    lines = boards.by_attention(boards.batch_lines(benchmark, at=timezone.now()))
    state = request.GET.get("state", "")
    if state not in Batch.Status.values:
        state = ""
    context = {
        "benchmark": benchmark,
        "lines": [line for line in lines if not state or line.batch.status == state],
        "state": state,
        "states": [
            (value, label, sum(line.batch.status == value for line in lines)) for value, label in Batch.Status.choices
        ],
        "all": len(lines),
        "stages": STAGES,
        "groups": benchmark.groups.count(),
        "attempts": boards.attempts_in(benchmark),
        "administers": is_admin(request.user, benchmark),
    }
    return render(request, "annotation/batches/batches.html", context)


@require_safe
@signed_in
def batches_csv(request: SignedInRequest, slug: str) -> StreamingHttpResponse:
    """The table of batches as CSV, including imported batches."""
    benchmark = get_benchmark(request.user, slug)
    rows = boards.batch_rows(boards.batch_lines(benchmark, at=timezone.now()))
    return csv_file(f"{slug}-batches", boards.BATCH_COLUMNS, rows, ("batch", "group", "note"))


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def new(request: SignedInRequest, slug: str) -> HttpResponse:
    """The form for a new batch; POST makes the batch."""
    benchmark = get_administered_benchmark(request.user, slug)
    if request.method != "POST":
        form = BatchForm(benchmark=benchmark, initial={"seed": services.new_seed()})
        return _form(request, benchmark, form)
    form = BatchForm(request.POST, benchmark=benchmark)
    refused: DomainError | None = None
    if form.is_valid():
        try:
            batch, _plan = services.make_batch(
                group=form.cleaned_data["group"],
                terms=form.terms(),
                filter=form.response_filter(),
                by=request.user,
                at=timezone.now(),
                digest=form.cleaned_data["digest"],
            )
        except services.AlreadyCreated as repeated:
            return to_existing_batch(request, slug, repeated)
        except services.TitleRefused as error:
            form.add_error("title", str(error))
            refused = error
        except DomainError as error:
            form.add_error(None, str(error))
            refused = error
        else:
            messages.success(request, _("The batch is open. Its physicians can now see it."))
            for warning in warn_of_past(batch.due_date):
                messages.warning(request, warning)
            return redirect("annotation:batch", slug, batch.public_id)
    return _form(request, benchmark, form, refused.status_code if refused else 422)


def _form(request: SignedInRequest, benchmark: Benchmark, form: BatchForm, status: int = 200) -> HttpResponse:
    known = Case.objects.filter(benchmark=benchmark).values_list("tags", flat=True)
    tags = sorted({tag for row in known.iterator() for tag in row})
    context = {"benchmark": benchmark, "form": form, "tags": tags[:500], "groups": benchmark.groups.count()}
    return render(request, NEW, context, status=status)


@require_safe
@signed_in
def preview(request: SignedInRequest, slug: str) -> HttpResponse:
    """Preview of the batch: responses, load per physician, checks; nothing is written."""
    benchmark = get_administered_benchmark(request.user, slug)
    form = BatchForm(request.GET, benchmark=benchmark)
    form.fields["title"].required = False
    context: dict[str, Any] = {"benchmark": benchmark, "checked_fields": checked_fields(form)}
    if form.is_valid():
        context["named"] = candidate_in(form.cleaned_data["title"], benchmark=benchmark)
        try:
            group, filter = form.cleaned_data["group"], form.response_filter()
            context["not_included"] = filter.not_included(group)
            context["plan"] = services.plan_batch(group=group, terms=form.terms(), filter=filter)
        except DomainError as refused:
            context["refused"] = refused
    else:
        context["invalid"] = errors_in_words(form)
    return render(request, f"{NEW}#preview", context)


@require_safe
@signed_in
def batch(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """One batch: progress by stage and by physician, its pieces of work, and buttons to pause, reopen or close it."""
    return _page(request, access.get_batch(request.user, slug, public_id))


def _page(
    request: SignedInRequest, row: Batch, refused: DomainError | None = None, *, past_due: ExtendForm | None = None
) -> HttpResponse:
    """``past_due``: the form with a due date that has passed, which the admin has to confirm."""
    administers = is_admin(request.user, row.group.benchmark)
    people = people_of(row.group.benchmark, names=administers)
    line, physicians = boards.batch_board(row, people, at=timezone.now())
    form = PieceForm(request.GET, physicians=[physician.person for physician in physicians])
    chosen = form.chosen()
    stuck = stuck_slots(row)
    context = {
        "benchmark": row.group.benchmark,
        "batch": row,
        "line": line,
        "work": line.work,
        "stages": STAGES,
        "physicians": boards.ranked(physicians, request.GET.get("sort", "")),
        "sort": request.GET.get("sort", ""),
        "conflicts": conflicts_of(row),
        "frame": _frame(row),
        "stuck": stuck,
        "stuck_checks": [] if row.status == Batch.Status.CLOSED else stuck_checks([row.pk]),
        "unread": [(people[work.annotator], work) for work in unread_work([row.pk])]
        if row.status != Batch.Status.CLOSED
        else [],
        "page": pieces.page_of(row, chosen, people, number=request.GET.get("page"), stuck=stuck),
        "piece_form": form,
        "chosen": chosen,
        "rename_form": RenameForm(initial={"title": row.title}),
        "extend_form": past_due or ExtendForm(initial={"due_date": row.due_date}),
        "asks_about_past": past_due is not None,
        "administers": administers,
        "movable": administers and row.status != Batch.Status.CLOSED,
        "refused": refused,
        **writing_context(request, row, people),
    }
    status = refused.status_code if refused else 422 if past_due else 200
    return render(request, "annotation/batches/batch.html", context, status=status)


def _frame(row: Batch) -> list[tuple[str, str]]:
    """The filter by which the responses were chosen, with the labels of the form; candidates by name."""
    chosen: dict[str, Any] = row.frame.get("filter", {})
    lines = []
    for name in command_fields(ResponseFilter):
        if name == "skip_given" or not chosen.get(name):
            continue
        values = chosen[name] if isinstance(chosen[name], list) else [chosen[name]]
        field = form_field(ResponseFilter, name)
        shown = dict(getattr(field, "choices", ()))
        if name == "languages":
            shown = {tag: language_name(tag) for tag in values}
        if name == "candidates":
            shown = dict(Candidate.objects.filter(public_id__in=values).values_list("public_id", "name"))
        lines.append((str(field.label), ", ".join(str(shown.get(value, value)) for value in values)))
    other = row.frame.get("overlap")
    if other:
        words = _("%(shared)d of the %(held)d in “%(batch)s” of %(group)s, and %(fresh)d new ones of %(rest)d")
        values = {"shared": other["shared"], "held": other["of_shared"], "batch": other["title"],
                  "group": other["group"], "fresh": other["fresh"], "rest": other["of_fresh"]}  # fmt: skip
        lines.append((_("Overlap"), words % values))
    lines += _given_out(row)
    return lines


def _given_out(row: Batch) -> list[tuple[str, str]]:
    """How work is given out: settings that the page shows only where they are used."""
    lines = []
    if row.specialty_match != Batch.SpecialtyMatch.NONE:
        lines.append((_("Specialty"), str(row.get_specialty_match_display())))
    if row.match_languages:
        lines.append((_("Languages"), _("Only cases in languages they read")))
    if row.gold_per_annotator:
        lines.append((_("Gold items for each annotator"), str(row.gold_per_annotator)))
    if row.explain_cannot_assess:
        lines.append((_("“Can’t assess”"), _("needs a note")))
    return lines


@require_POST
@signed_in
def pause(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Take no work for now."""
    words = _("The batch is paused. No work can be claimed until you resume it.")
    return _switch(request, slug, public_id, lambda row: services.pause_batch(batch=row), words)


@require_POST
@signed_in
def reopen(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Take work again."""
    words = _("The batch is open again. Its physicians can continue where they stopped.")
    return _switch(request, slug, public_id, lambda row: services.open_batch(batch=row), words)


@require_POST
@signed_in
def close(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Close the batch."""
    words = _("The batch is closed permanently. Accepted work counts; conflicts can still be adjudicated.")
    return _switch(request, slug, public_id, lambda row: services.close_batch(batch=row, at=timezone.now()), words)


@require_POST
@signed_in
def extend(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Set another due date; one that has passed only after the admin has confirmed it."""
    form = ExtendForm(request.POST)
    if form.is_valid() and is_past(form.cleaned_data["due_date"]) and "anyway" not in request.POST:
        row = access.get_administered_batch(request.user, slug, public_id)
        if row.status != Batch.Status.CLOSED and row.due_date != form.cleaned_data["due_date"]:
            return _page(request, row, past_due=form)

    def change(row: Batch) -> None:
        if not form.is_valid():
            raise DomainError(_("Write the date as year-month-day."))
        services.extend_batch(batch=row, due_date=form.cleaned_data["due_date"], at=timezone.now())

    return _switch(request, slug, public_id, change, _("The due date is set."))


@require_POST
@signed_in
def rename(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Give the batch another title."""

    def change(row: Batch) -> None:
        services.rename_batch(batch=row, title=request.POST.get("title", ""))

    return _switch(request, slug, public_id, change, _("The batch is renamed."))


def _switch(
    request: SignedInRequest, slug: str, public_id: str, change: Callable[[Batch], None], words: str
) -> HttpResponse:
    row = access.get_administered_batch(request.user, slug, public_id)
    try:
        change(row)
    except DomainError as refused:
        row.refresh_from_db()
        return _page(request, row, refused)
    messages.success(request, words)
    return redirect("annotation:batch", slug, public_id)


@require_safe
@signed_in
def progress_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """The physicians of a batch by pseudonym as CSV, with the stages as columns."""
    row = access.get_batch(request.user, slug, public_id)
    people = people_of(row.group.benchmark, names=False)
    lines = boards.batch_board(row, people, at=timezone.now())[1]
    return csv_file(
        f"progress-{row.public_id}", boards.PHYSICIAN_COLUMNS, boards.physician_rows(lines), ("group", "physician")
    )


@require_safe
@signed_in
def pieces_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """The pieces that match the list's filter, as CSV; physicians by pseudonym."""
    row = access.get_batch(request.user, slug, public_id)
    people = people_of(row.group.benchmark, names=False)
    chosen = PieceForm(request.GET, physicians=list(people.values())).chosen()
    words = ("batch", "case", "candidate", "setting", "physician", "checker")
    return csv_file(f"pieces-{row.public_id}", pieces.PIECE_COLUMNS, pieces.piece_rows(row, chosen, people), words)


@require_safe
@signed_in
def reviewed_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """The criteria that checkers asked to review, with the annotators' answers, as CSV; physicians by pseudonym."""
    row = access.get_administered_batch(request.user, slug, public_id)
    rows = review_rounds.review_rows(row)
    return csv_file(f"reviewed-{row.public_id}", review_rounds.REVIEW_COLUMNS, rows, review_rounds.REVIEW_TEXT)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def conflicts(request: SignedInRequest, slug: str) -> HttpResponse:
    """Adjudications within and between groups; POST opens the conflicts between two groups."""
    benchmark = get_benchmark(request.user, slug)
    form = BetweenForm(benchmark=benchmark)
    status, unsettled = 200, 0
    if request.method == "POST":
        benchmark = get_administered_benchmark(request.user, slug)
        form, status = BetweenForm(request.POST, benchmark=benchmark), 422
        pair = (form.cleaned_data["group"], form.cleaned_data["other"]) if form.is_valid() else None
        unsettled = open_within(pair) if pair and "anyway" not in request.POST else 0
        if pair and not unsettled:
            try:
                n_opened = services.open_conflicts_between(at=timezone.now(), **form.cleaned_data)
            except DomainError as refused:
                form.add_error(None, str(refused))
                status = refused.status_code
            else:
                messages.success(
                    request,
                    ngettext(
                        "%(number)d response is in conflict. The groups’ adjudicators can now see it.",
                        "%(number)d responses are in conflict. The groups’ adjudicators can now see them.",
                        n_opened,
                    )
                    % {"number": n_opened}
                    if n_opened
                    else _("No new conflicts: the groups agree, or their conflicts have already been opened."),
                )
                return redirect("annotation:conflicts", slug)
    groups = list(benchmark.groups.all())
    state = request.GET.get("state", "")
    adjudications = _conflicts(benchmark).order_by("-status", "agreement", "pk")
    if state in Adjudication.Status.values:
        adjudications = adjudications.filter(status=state)
    page = Paginator(adjudications, pieces.PER_PAGE).get_page(request.GET.get("page"))
    people = people_of(benchmark, names=is_admin(request.user, benchmark))
    context = {
        "benchmark": benchmark,
        "rows": conflicts_by_groups(benchmark.pk),
        "page": page,
        "lines": [(row, people[row.adjudicator_id] if row.adjudicator_id else None) for row in page.object_list],
        "state": state,
        "form": form,
        "unsettled": unsettled,
        "groups": groups,
        "unclosed": Batch.objects.filter(group__in=groups)
        .exclude(kind=Batch.Kind.QUALIFY)
        .exclude(status=Batch.Status.CLOSED)
        .select_related("group"),
        "administers": is_admin(request.user, benchmark),
    }
    return render(request, "annotation/conflicts/conflicts.html", context, status=status)


def _conflicts(benchmark: Benchmark) -> QuerySet[Adjudication]:
    return Adjudication.objects.filter(group__benchmark=benchmark).select_related(
        "response__case", "response__candidate", "group", "other_group"
    )


CONFLICT_COLUMNS = ("case", "candidate", "setting", "sample", "group", "other_group", "criteria", "agreement", "state",
                    "adjudicator", "opened", "finished")  # fmt: skip


@require_safe
@signed_in
def conflicts_csv(request: SignedInRequest, slug: str) -> StreamingHttpResponse:
    """All conflicts as CSV; adjudicators by pseudonym."""
    benchmark = get_benchmark(request.user, slug)
    people = people_of(benchmark, names=False)
    rows = (
        {
            "case": row.response.case.key, "candidate": row.response.candidate.name, "setting": row.response.setting,
            "sample": row.response.sample, "group": row.group.name,
            "other_group": row.other_group.name if row.other_group else None, "criteria": len(row.criteria),
            "agreement": row.agreement, "state": row.status,
            "adjudicator": people[row.adjudicator_id].pseudonym if row.adjudicator_id else None,
            "opened": row.created_at.isoformat(),
            "finished": row.finished_at.isoformat() if row.finished_at else None,
        }
        for row in _conflicts(benchmark).order_by("pk").iterator()
    )  # fmt: skip
    words = ("case", "candidate", "setting", "group", "other_group", "adjudicator")
    return csv_file(f"{slug}-conflicts", CONFLICT_COLUMNS, rows, words)
