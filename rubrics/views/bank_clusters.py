"""Views of cluster criteria: cases that lack them, and adding them to many cases at once."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from consilium.core.errors import DomainError
from consilium.core.htmx import SignedInRequest, signed_in
from rubrics import access
from rubrics.bank import catalogue
from rubrics.bank.clusters import Lack, lacks, with_categories
from rubrics.models import Benchmark, Case
from rubrics.parsing.bank import BankEntry, in_language
from rubrics.services.banks import MAX_AT_ONCE, Added, add_clusters

PER_PAGE = 50
LOOKED_AT_ONCE = 500


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def bank_clusters(request: SignedInRequest, slug: str) -> HttpResponse:
    """A preview of what each case lacks; a POST adds it to the chosen cases (``case``), or to all (``all``)."""
    benchmark = access.get_written_benchmark(request.user, slug)
    entries = [entry for entry in catalogue.catalogue(benchmark) if entry.applies_to]
    added = problem = None
    if request.method == "POST":
        try:
            added = add_clusters(
                cases=_chosen(request, benchmark, entries), entries=entries, by=request.user, at=timezone.now()
            )
        except DomainError as error:
            problem = error
        else:
            _say(request, added)
    return _page(request, benchmark, entries, added, problem)


def _chosen(request: SignedInRequest, benchmark: Benchmark, entries: list[BankEntry]) -> list[Case]:
    if "all" in request.POST:
        return [lack.case for lack in _lacking(benchmark, entries) if lack.status != "in_review"][:MAX_AT_ONCE]
    names = [name.replace("\x00", "") for name in request.POST.getlist("case")]
    cases = list(with_categories(benchmark, entries).filter(public_id__in=names))
    if not cases:
        raise DomainError(_("Choose at least one case."))
    return cases


def _say(request: SignedInRequest, added: Added) -> None:
    text = _("Criteria added: %(items)d. Drafts that have them: %(cases)d.")
    messages.success(request, text % {"items": added.items, "cases": added.cases})


def _lacking(benchmark: Benchmark, entries: list[BankEntry]) -> list[Lack]:
    """All cases that lack something; texts of cases are not read."""
    cases = list(with_categories(benchmark, entries))
    lacking: list[Lack] = []
    for start in range(0, len(cases), LOOKED_AT_ONCE):
        lacking += [lack for lack in lacks(cases[start : start + LOOKED_AT_ONCE], entries) if lack.missing]
    return lacking


def _page(
    request: SignedInRequest,
    benchmark: Benchmark,
    entries: list[BankEntry],
    added: Added | None,
    problem: DomainError | None,
) -> HttpResponse:
    lacking = _lacking(benchmark, entries)
    page = Paginator(lacking, PER_PAGE).get_page(request.GET.get("page"))
    interface = get_language() or "en"
    lines = [
        {
            "lack": lack,
            "missing": [
                {"entry": entry, "text": in_language(entry.text, lack.case.language or interface)}
                for entry in lack.missing
            ],
        }
        for lack in page
    ]
    writable = sum(lack.status != "in_review" for lack in lacking)
    context = {
        "benchmark": benchmark,
        "lines": lines,
        "page_obj": page,
        "with_category": with_categories(benchmark, entries).count(),
        "writable": writable,
        "at_once": min(writable, MAX_AT_ONCE),
        "added": added,
        "problem": problem,
        "clusters": len(entries),
    }
    status = problem.status_code if problem else 200
    return render(request, "rubrics/bank/clusters.html", context, status=status)
