"""The page of an author that says what the published rubric of a case lacks."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from consilium.core.htmx import SignedInRequest, signed_in
from rubrics.access import get_case_to_write
from rubrics.models import Benchmark
from validation import access
from validation.gaps.selectors import gaps_of


@require_safe
@signed_in
def rubric_gaps(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """What runs found that the rubric does not cover and does not notice, and which criteria never decided."""
    case = get_case_to_write(request.user, slug, public_id)
    shows_coverage = access.may_see_coverage_of(request.user, case)
    shows_trials = access.may_see_trials_of(request.user, case)
    context = {
        "benchmark": case.benchmark,
        "case": case,
        "gaps": gaps_of(case, with_coverage=shows_coverage, with_pairs=shows_trials),
        "hides_coverage": not shows_coverage,
        "hides_trials": not shows_trials,
        "question": None if shows_coverage else access.open_question_about(request.user, case),
        "pair": None if shows_trials else access.pair_to_judge_of(request.user, case),
        "is_staff": Benchmark.objects.run_by(request.user).filter(pk=case.benchmark_id).exists(),
    }
    return render(request, "validation/gaps/gaps.html", context)
