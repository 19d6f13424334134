"""Rubric sets, runs, pairs and decisions, fetched for a user; forbidden and missing look the same (404)."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.db.models import Exists, OuterRef, Q
from django.http import Http404
from django.shortcuts import get_object_or_404

from accounts.models import User
from annotation.models import Membership
from rubrics.access import get_benchmark, get_written_benchmark, is_author
from rubrics.models import AuthoringRole, Benchmark, Case
from validation.models import (
    CoverageDecision,
    CoverageRun,
    MakingRun,
    NearMissPair,
    PairJudgement,
    RefinementRun,
    RubricSet,
    SplittingRun,
    TrialRun,
)

AnyUser = User | AnonymousUser


def get_rubric_set(user: AnyUser, slug: str, public_id: str) -> RubricSet:
    """A set of a benchmark that ``user`` runs."""
    sets = RubricSet.objects.finished().filter(benchmark=get_benchmark(user, slug))
    return get_object_or_404(
        sets.select_related("benchmark", "created_by", "source", "split_run", "drafting_run"), public_id=public_id
    )


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
    """A benchmark in which ``user`` may decide about coverage and pairs."""
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


# Near-miss pairs ---------------------------------------------------------------------------------------------------


def get_pair(user: AnyUser, slug: str, public_id: str) -> NearMissPair:
    """A pair of a benchmark that ``user`` runs."""
    rows = NearMissPair.objects.filter(group__benchmark=get_benchmark(user, slug))
    pair: NearMissPair = get_object_or_404(rows.select_related("group__benchmark", "case"), public_id=public_id)
    return pair


def get_pair_to_judge(user: AnyUser, slug: str, public_id: str) -> NearMissPair:
    """A pair that needs a judgement, or that ``user`` has judged, on a case that counts."""
    rows = NearMissPair.objects.filter(group__benchmark=get_deciding_benchmark(user, slug)).on_cases_that_count()
    mine = PairJudgement.objects.filter(pair=OuterRef("pk"), physician=user.pk)
    rows = rows.filter(Q(state=NearMissPair.State.PROPOSED) | Exists(mine))
    pair: NearMissPair = get_object_or_404(rows.select_related("group__benchmark", "case"), public_id=public_id)
    return pair


def get_making_run(user: AnyUser, slug: str, public_id: str) -> MakingRun:
    """A run that makes pairs, on a benchmark that ``user`` runs."""
    runs = MakingRun.objects.filter(benchmark=get_benchmark(user, slug))
    return get_object_or_404(runs.select_related("benchmark", "created_by"), public_id=public_id)


def get_trial_run(user: AnyUser, slug: str, public_id: str) -> TrialRun:
    """A run of trials on a benchmark that ``user`` runs."""
    runs = TrialRun.objects.filter(benchmark=get_benchmark(user, slug))
    return get_object_or_404(runs.select_related("benchmark", "created_by"), public_id=public_id)


# Refinement --------------------------------------------------------------------------------------------------------


def get_refinement_run(user: AnyUser, slug: str, public_id: str) -> RefinementRun:
    """A run of refinement on a benchmark that ``user`` runs."""
    runs = RefinementRun.objects.filter(benchmark=get_benchmark(user, slug))
    return get_object_or_404(runs.select_related("benchmark", "created_by"), public_id=public_id)


def get_refined_case(user: AnyUser, slug: str, public_id: str, case: str) -> tuple[RefinementRun, Case]:
    """A case of a run of refinement on a benchmark that ``user`` runs."""
    run = get_refinement_run(user, slug, public_id)
    cases = Case.objects.filter(pk__in=run.steps.values("case"))
    return run, get_object_or_404(cases, public_id=case)


# Points of criteria ------------------------------------------------------------------------------------------------


def get_splitting_run(user: AnyUser, slug: str, public_id: str) -> SplittingRun:
    """A run that splits criteria, on a benchmark that ``user`` runs."""
    runs = SplittingRun.objects.filter(benchmark=get_benchmark(user, slug))
    return get_object_or_404(runs.select_related("benchmark", "created_by"), public_id=public_id)


def get_points_run(user: AnyUser, slug: str, public_id: str) -> SplittingRun:
    """A run whose points ``user``, an author or one who runs the benchmark, may correct: it has ended, and is no
    replay.
    """
    runs = SplittingRun.objects.filter(benchmark=get_written_benchmark(user, slug)).correctable()
    return get_object_or_404(runs.select_related("benchmark"), public_id=public_id)


def get_case_of_points(user: AnyUser, slug: str, public_id: str, case: str) -> tuple[SplittingRun, Case]:
    """A case of such a run."""
    run = get_points_run(user, slug, public_id)
    return run, get_object_or_404(Case.objects.filter(pk__in=run.steps.values("case")), public_id=case)
