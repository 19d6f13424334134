"""Rubric sets, runs of coverage and decisions, fetched for a user; forbidden and missing look the same (404)."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.db.models import Exists, OuterRef, Q
from django.http import Http404
from django.shortcuts import get_object_or_404

from accounts.models import User
from annotation.models import Membership
from rubrics.access import get_benchmark, is_author
from rubrics.models import AuthoringRole, Benchmark, Case
from validation.models import CoverageDecision, CoverageRun, RubricSet

AnyUser = User | AnonymousUser


def get_rubric_set(user: AnyUser, slug: str, public_id: str) -> RubricSet:
    """A set of a benchmark that ``user`` runs."""
    sets = RubricSet.objects.finished().filter(benchmark=get_benchmark(user, slug))
    return get_object_or_404(sets.select_related("benchmark", "created_by"), public_id=public_id)


# Coverage ----------------------------------------------------------------------------------------------------------


def get_coverage_run(user: AnyUser, slug: str, public_id: str) -> CoverageRun:
    """A run of coverage on a benchmark that ``user`` runs."""
    runs = CoverageRun.objects.filter(benchmark=get_benchmark(user, slug))
    return get_object_or_404(runs.select_related("benchmark", "created_by"), public_id=public_id)


def decides_in(user: AnyUser) -> Q:
    """A condition on benchmarks: ``user`` is a physician there, a member of an expert group or an author.

    Running the benchmark is not enough: who decides must not know which set is which.
    """
    members = Membership.objects.filter(user=user.pk, active=True, group__benchmark=OuterRef("pk"))
    authors = AuthoringRole.objects.filter(
        user=user.pk, active=True, role=AuthoringRole.Role.AUTHOR, benchmark=OuterRef("pk")
    )
    return Q(Exists(members)) | Q(Exists(authors))


def get_deciding_benchmark(user: AnyUser, slug: str) -> Benchmark:
    """A benchmark in which ``user`` may decide about coverage."""
    return get_object_or_404(Benchmark.objects.filter(decides_in(user)), slug=slug)


def get_coverage_decision(user: AnyUser, slug: str, public_id: str) -> CoverageDecision:
    """A decision that nobody has made, or that ``user`` has made, on a case that counts."""
    rows = CoverageDecision.objects.filter(run__benchmark=get_deciding_benchmark(user, slug))
    rows = rows.filter(Q(answer="") | Q(decided_by=user.pk), step__case__excluded_at=None)
    decision: CoverageDecision = get_object_or_404(rows.select_related("run__benchmark"), public_id=public_id)
    return decision


def get_covered_case(user: AnyUser, slug: str, public_id: str, case: str) -> tuple[CoverageRun, Case]:
    """A case of a run, for those who run the benchmark, and for authors once nothing about it waits for a decision."""
    try:
        run = get_coverage_run(user, slug, public_id)
    except Http404:
        benchmark = get_deciding_benchmark(user, slug)
        if not is_author(user, benchmark):
            raise
        runs = CoverageRun.objects.filter(benchmark=benchmark).select_related("benchmark")
        run = get_object_or_404(runs, public_id=public_id)
        if CoverageDecision.objects.filter(run__benchmark=benchmark, step__case__public_id=case, answer="").exists():
            raise
    return run, get_object_or_404(Case.objects.filter(benchmark=run.benchmark_id), public_id=case)
