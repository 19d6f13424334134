"""Reference sets: the list, signing a new set after a look at it, and one set with its cases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from accounts.confirming import confirmed, record_signature
from annotation import access
from annotation.acuity import selectors, services
from annotation.acuity.forms import ROUND_LABELS, RULE_LABELS, ReferenceSetForm
from annotation.acuity.panel import AmbiguousBy, AmbiguousRule
from annotation.acuity.references import counts_of, digest_of, references_of
from annotation.acuity.votes import questions_on
from annotation.dashboard.views import csv_file
from annotation.models import ReferenceItem, ReferenceSet
from annotation.views.previews import errors_in_words
from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics.access import get_administered_benchmark, get_benchmark, is_admin
from rubrics.acuity.stored import scale_of
from rubrics.models import Benchmark
from rubrics.selectors.case_links import case_urls

LIST, NEW, DETAIL = (
    "annotation/acuity/reference_sets.html",
    "annotation/acuity/new_reference_set.html",
    "annotation/acuity/reference_set.html",
)
PER_PAGE = 50
MAX_DIFFERENCES = 50
_STATUSES, _SOURCES = dict(ReferenceItem.Status.choices), dict(ReferenceItem.Source.choices)


@require_safe
@signed_in
def reference_sets(request: SignedInRequest, slug: str) -> HttpResponse:
    """The reference sets of a benchmark, the newest first."""
    benchmark = get_benchmark(request.user, slug)
    sets = [(own, in_words(own.ambiguous)) for own in selectors.listed_sets(benchmark)]
    context = {
        "benchmark": benchmark,
        "sets": sets,
        "administers": is_admin(request.user, benchmark),
        "has_scale": benchmark.acuity_scales.exists(),
    }
    return render(request, LIST, context)


@require_safe
@signed_in
def reference_sets_csv(request: SignedInRequest, slug: str) -> StreamingHttpResponse:
    """The list as CSV."""
    benchmark = get_benchmark(request.user, slug)
    return csv_file(f"{slug}-reference-sets", selectors.SET_COLUMNS, selectors.set_rows(benchmark), selectors.SET_TEXT)


def in_words(rule: AmbiguousRule) -> str:
    """An ambiguity rule in the reader's language."""
    label = str(RULE_LABELS[rule.by])
    return label if rule.by is AmbiguousBy.FLAG else f"{label} {rule.threshold:g}"


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
@confirmed("reference_set")
def new(request: SignedInRequest, slug: str) -> HttpResponse:
    """The form, and signing the set that it describes."""
    benchmark = get_administered_benchmark(request.user, slug)
    form = ReferenceSetForm(benchmark, request.POST if request.method == "POST" else None)
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                with transaction.atomic():  # no signature without its line in the security log
                    reference_set = services.sign_reference_set(
                        **form.chosen,
                        minimum_votes=form.cleaned_data["minimum_votes"],
                        note=form.cleaned_data["note"],
                        seen=form.cleaned_data["seen"],
                        by=request.user,
                        at=timezone.now(),
                    )
                    number, at = reference_set.number, reference_set.signed_at
                    record_signature(request, kind="reference_set", scope=slug, target=number, at=at)
            except DomainError as error:
                form.add_error(None, str(error))
                status = error.status_code
            else:
                messages.success(request, _("Reference set %(number)s is signed.") % {"number": reference_set.number})
                return redirect("annotation:reference-set", slug, reference_set.number)
    return render(request, NEW, {"benchmark": benchmark, "form": form}, status=status)


@require_safe
@signed_in
def preview(request: SignedInRequest, slug: str) -> HttpResponse:
    """What the form would sign now; nothing is written."""
    benchmark = get_administered_benchmark(request.user, slug)
    form = ReferenceSetForm(benchmark, request.GET)
    context: dict[str, Any] = {"benchmark": benchmark}
    if form.is_valid():
        context |= _preview(benchmark, form)
    else:
        context["problems"] = errors_in_words(form)
    return render(request, f"{NEW}#preview", context)


def _preview(benchmark: Benchmark, form: ReferenceSetForm) -> dict[str, Any]:
    chosen, minimum = form.chosen, form.cleaned_data["minimum_votes"]
    try:
        references = references_of(benchmark, **chosen, minimum=minimum)
    except DomainError as refused:
        return {"problems": [str(refused)]}
    levels = scale_of(chosen["scale"])
    counts = counts_of(references)
    rules = selectors.compared_rules(references, len(levels), chosen["ambiguous"], minimum)
    n_votes_missing, n_rulings_missing = selectors.count_outstanding(questions_on(benchmark, chosen["scale"]))
    return {
        "references": references,
        "counts": [(status.label, counts[status.value]) for status in ReferenceItem.Status],
        "n_panel": sum(reference.source == ReferenceItem.Source.PANEL for reference in references),
        "n_direct": sum(reference.source == ReferenceItem.Source.DIRECT for reference in references),
        "n_ruled": sum(reference.source == ReferenceItem.Source.RULING for reference in references),
        "n_votes_missing": n_votes_missing,
        "n_rulings_missing": n_rulings_missing,
        "n_later": sum(bool(reference.later_votes) for reference in references),
        "n_differing": sum(reference.label_differs for reference in references),
        "rules": [(in_words(own.rule), own) for own in rules] if any(own.votes for own in references) else [],
        "digest": digest_of(chosen["scale"], references),
    }


@require_safe
@signed_in
def reference_set(request: SignedInRequest, slug: str, number: int) -> HttpResponse:
    """One set: what it was signed by, its cases, and how it differs from the set before it on the same scale."""
    reference_set = access.get_reference_set(request.user, slug, number)
    status = request.GET.get("status", "")
    rows = list(selectors.item_rows(reference_set))
    shown = [row for row in rows if row["status"] == status] if status in ReferenceItem.Status.values else rows
    earlier = _earlier(reference_set)
    differences = list(selectors.difference_rows(earlier, reference_set)) if earlier else []
    page = Paginator(shown, PER_PAGE).get_page(request.GET.get("page"))
    names = level_names(reference_set)
    keys = [str(row["case"]) for row in (*page.object_list, *differences[:MAX_DIFFERENCES])]
    urls = case_urls(reference_set.benchmark, keys)
    for row in page.object_list:
        row |= {
            "url": urls.get(str(row["case"]), ""),
            "status_label": _STATUSES[str(row["status"])],
            "source_label": _SOURCES[str(row["source"])] if row["source"] else "",
            "reference": _reference(row["low"], row["high"], names),
        }
    context = {
        "benchmark": reference_set.benchmark,
        "set": reference_set,
        "rule": in_words(reference_set.ambiguous),
        "round_label": dict(ROUND_LABELS)[reference_set.round],
        "ruled": [row["case"] for row in rows if row["source"] == ReferenceItem.Source.RULING],
        "status": status if status in ReferenceItem.Status.values else "",
        "n_cases": len(rows),
        "statuses": [
            (own.value, own.label, sum(row["status"] == own.value for row in rows)) for own in ReferenceItem.Status
        ],
        "page_obj": page,
        "earlier": earlier,
        "differences": [
            {
                "case": row["case"],
                "url": urls.get(str(row["case"]), ""),
                "before": _state(row["first_status"], row["first_low"], row["first_high"], names),
                "now": _state(row["second_status"], row["second_low"], row["second_high"], names),
            }
            for row in differences[:MAX_DIFFERENCES]
        ],
        "n_differences": len(differences),
    }
    return render(request, DETAIL, context)


def level_names(reference_set: ReferenceSet) -> dict[str, str]:
    """The labels of the levels by value, in the reader's language."""
    language = "zh" if (get_language() or "").startswith("zh") else "en"
    return {level["value"]: level[f"label_{language}"] for level in reference_set.scale.levels}


def _reference(low: object, high: object, names: Mapping[str, str]) -> str:
    if not low:
        return ""
    return names[str(low)] if low == high else f"{names[str(low)]} – {names[str(high)]}"


def _state(status: object, low: object, high: object, names: Mapping[str, str]) -> str:
    if not status:
        return _("Not in the set")
    reference = _reference(low, high, names)
    return f"{_STATUSES[str(status)]}: {reference}" if reference else str(_STATUSES[str(status)])


def _earlier(reference_set: ReferenceSet) -> ReferenceSet | None:
    """The set before it with the same levels."""
    sets = ReferenceSet.objects.filter(benchmark=reference_set.benchmark, number__lt=reference_set.number)
    return sets.filter(scale=reference_set.scale_id).select_related("scale").order_by("-number").first()


@require_safe
@signed_in
def items_csv(request: SignedInRequest, slug: str, number: int) -> StreamingHttpResponse:
    """The cases of a set as CSV."""
    reference_set = access.get_reference_set(request.user, slug, number)
    columns = selectors.item_columns(scale_of(reference_set.scale))
    return csv_file(f"{slug}-reference-{number}", columns, selectors.item_rows(reference_set), selectors.ITEM_TEXT)


@require_safe
@signed_in
def difference_csv(request: SignedInRequest, slug: str, number: int, earlier: int) -> StreamingHttpResponse:
    """The cases whose reference differs between two sets, as CSV."""
    sets = [access.get_reference_set(request.user, slug, own) for own in (earlier, number)]
    rows = selectors.difference_rows(sets[0], sets[1])
    return csv_file(f"{slug}-reference-{earlier}-{number}", selectors.DIFFERENCE_COLUMNS, rows, ("case",))
