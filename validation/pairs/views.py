"""Pages of near-miss pairs, for those who run the benchmark; and the page on which physicians judge them."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics.access import get_benchmark
from rubrics.models import Benchmark, Case, ImportJob
from rubrics.selectors.conversation import turns_of
from rubrics.services import create_import
from validation import access
from validation.models import ErrorKind, NearMissPair, PairJudgement
from validation.pairs import selectors, services
from validation.pairs.forms import GroupForm, JudgementForm, PairFileForm, PairForm
from validation.skipping import is_from_script, next_page, refusal, skip_pair

PER_PAGE = 50
MAX_LISTED_KEYS = 1000  # of cases that the browser offers
STATUS_LABELS = {
    "open": _("Awaiting physicians"),
    "disputed": _("Physicians disagree"),
    **{str(grade.value): grade.label for grade in NearMissPair.Grade},
}


@require_safe
@signed_in
def pairs(request: SignedInRequest, slug: str) -> HttpResponse:
    """The groups of a benchmark and their pairs."""
    benchmark = get_benchmark(request.user, slug)
    chosen = {name: request.GET.get(name, "").replace("\x00", "") for name in ("group", "status", "kind")}
    rows = selectors.pairs_of(benchmark, **chosen)
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    groups = list(selectors.groups_of(benchmark))
    context = {
        "benchmark": benchmark,
        "groups": groups,
        "page_obj": page,
        "rows": [(pair, STATUS_LABELS[pair.grade_now]) for pair in page],
        "chosen": chosen,
        "statuses": [(name, STATUS_LABELS[name]) for name in selectors.STATUSES],
        "kinds": ErrorKind.choices,
        "filtered": any(chosen.values()),
    }
    return render(request, "validation/pairs/pairs.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def new_pair(request: SignedInRequest, slug: str) -> HttpResponse:
    """A pair by hand; ``case`` fills in the key of a case."""
    benchmark = get_benchmark(request.user, slug)
    if request.method != "POST":
        form = PairForm(benchmark=benchmark, initial={"case": request.GET.get("case", "")})
        return _form_page(request, benchmark, form, "validation/pairs/new.html")
    form = PairForm(request.POST, benchmark=benchmark)
    status = 422
    if form.is_valid():
        values = form.cleaned_data
        at = timezone.now()
        try:
            pair = services.add_pair_to(
                benchmark=benchmark,
                group=values["group"],
                judgements_due=values["judgements"],
                case=values["case"],
                reference=values["reference"],
                change=form.change(),
                by=request.user,
                at=at,
            )
        except DomainError as error:
            form.add_error(None, str(error))
            status = error.status_code
        else:
            return redirect("validation:pair", slug, pair.public_id)
    return _form_page(request, benchmark, form, "validation/pairs/new.html", status)


def _form_page(
    request: SignedInRequest, benchmark: Benchmark, form: GroupForm, template: str, status: int = 200
) -> HttpResponse:
    keys = Case.objects.filter(benchmark=benchmark).included().order_by("pk").values_list("key", flat=True)
    context = {"benchmark": benchmark, "form": form, "keys": keys[:MAX_LISTED_KEYS], "kinds": ErrorKind.values}
    return render(request, template, context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def import_page(request: SignedInRequest, slug: str) -> HttpResponse:
    """A file of pairs; a worker reads it."""
    benchmark = get_benchmark(request.user, slug)
    template = "validation/pairs/import.html"
    if request.method != "POST":
        return _form_page(request, benchmark, PairFileForm(benchmark=benchmark), template)
    form = PairFileForm(request.POST, request.FILES, benchmark=benchmark)
    if not form.is_valid():
        return _form_page(request, benchmark, form, template, 422)
    values = form.cleaned_data
    job = create_import(
        benchmark=benchmark,
        kind=ImportJob.Kind.PAIRS,
        file=values["file"],
        file_name=values["file"].name or "",
        options={"group": values["group"], "judgements": str(values["judgements"])},
        by=request.user,
    )
    return redirect("rubrics:import", slug, job.public_id)


@require_safe
@signed_in
def pair(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """One pair: both texts with the change marked, where it came from, and what physicians say."""
    row = access.get_pair(request.user, slug, public_id)
    reference, candidate = selectors.sides_of(row)
    grades = dict(NearMissPair.Grade.choices)
    context = {
        "benchmark": row.group.benchmark,
        "pair": row,
        "status": STATUS_LABELS[row.grade_now],
        "reference": reference,
        "candidate": candidate,
        "turns": turns_of(row.case),
        "skips": row.skips.select_related("physician"),
        "judgements": [
            (judgement, grades[judgement.grade]) for judgement in row.judgements.select_related("physician")
        ],
    }
    return render(request, "validation/pairs/pair.html", context)


# Physicians --------------------------------------------------------------------------------------------------------


@require_safe
@signed_in
def queue(request: SignedInRequest, slug: str) -> HttpResponse:
    """The next pair, or why there is none."""
    benchmark = access.get_deciding_benchmark(request.user, slug)
    first = selectors.open_pairs(benchmark, request.user).first()
    if first is not None:
        return redirect("validation:pair-judge", slug, first.public_id)
    judgements = selectors.own_judgements(benchmark, request.user)
    context = {
        "benchmark": benchmark,
        "counts": selectors.own_counts(benchmark, request.user),
        "last": judgements.first(),
    }
    return render(request, "validation/pairs/queue.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def judge(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """One pair to a physician; a POST stores the answers and goes on to the next."""
    row = access.get_pair_to_judge(request.user, slug, public_id)
    own = PairJudgement.objects.filter(pair=row, physician=request.user).first()
    if request.method != "POST":
        return _judge_page(request, row, own, JudgementForm.of(own))
    form = JudgementForm(request.POST)
    if not form.is_valid():
        if is_from_script(request):
            errors = {name: str(errors[0]) for name, errors in form.errors.items()}
            return JsonResponse({"detail": "", "fields": errors}, status=422)
        return _judge_page(request, row, own, form, 422)
    try:
        services.judge(pair=row, answers=form.answers(), by=request.user, at=timezone.now())
    except DomainError as error:
        if (response := refusal(request, error, "validation:pair-queue", slug)) is not None:
            return response
        form.add_error(None, str(error))
        return _judge_page(request, row, own, form, error.status_code)
    return next_page(request, "validation:pair-queue", slug)


@require_POST
@signed_in
def skip(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Leave a pair to others; it does not come back to this physician."""
    row = access.get_pair_to_judge(request.user, slug, public_id)
    reason = request.POST.get("reason", "").replace("\x00", "")
    try:
        skip_pair(pair=row, reason=reason, by=request.user, at=timezone.now())
    except DomainError as error:
        if (response := refusal(request, error, "validation:pair-queue", slug)) is not None:
            return response
        form = JudgementForm(request.POST)
        form.add_error(None, str(error))
        return _judge_page(request, row, None, form, error.status_code)
    return next_page(request, "validation:pair-queue", slug)


# The keys of the answers, one after the other over all questions.
KEYS = {"single": ("1", "2"), "harm": ("3", "4", "5"), "flaw": ("6", "7")}


def _judge_page(
    request: SignedInRequest,
    row: NearMissPair,
    own: PairJudgement | None,
    form: JudgementForm,
    status: int = 200,
) -> HttpResponse:
    benchmark = row.group.benchmark
    earlier = selectors.own_judgements(benchmark, request.user).exclude(pair=row)
    if own is not None:
        earlier = earlier.filter(judged_at__lt=own.judged_at)
    reference, candidate = selectors.sides_of(row)
    questions: list[Any] = [(form[name], list(zip(form[name], keys, strict=True))) for name, keys in KEYS.items()]
    context = {
        "benchmark": benchmark,
        "pair": row,
        "judged": own is not None,
        "judged_at": own.judged_at if own is not None else None,
        "reference": reference,
        "candidate": candidate,
        "turns": turns_of(row.case),
        "form": form,
        "questions": questions,
        "counts": selectors.own_counts(benchmark, request.user),
        "earlier": earlier.first(),
    }
    return render(request, "validation/pairs/judge.html", context, status=status)
