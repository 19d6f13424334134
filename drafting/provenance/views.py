"""The page of a suggestion that became a criterion: from it to its facts, their passages, documents and licences."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from consilium.core.htmx import SignedInRequest, signed_in
from drafting import access
from drafting.provenance import selectors
from drafting.provenance.graded import graded_responses
from rubrics.consequences import consequences


@require_safe
@signed_in
def origin(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """Where a criterion comes from, and which decisions and verdicts rest on its rubric."""
    suggestion = access.get_origin(request.user, slug, public_id)
    benchmark = suggestion.case.benchmark
    trail = selectors.trail_of(benchmark, suggestion)
    runs = access.may_order(request.user, benchmark)
    item = trail.criterion if runs else None  # whose decisions and verdicts are shown
    context = {
        "benchmark": benchmark,
        "case": suggestion.case,
        "suggestion": suggestion,
        "trail": trail,
        "runs": runs,
        "has_steps": runs and access.drafted_cases(request.user, suggestion.run).filter(pk=suggestion.case_id).exists(),
        "graded": graded_responses(suggestion.case, item.criterion) if item is not None else None,
        "consequences": consequences(suggestion.case, item.rubric) if item is not None else [],
    }
    return render(request, "drafting/provenance/origin.html", context)
