"""Judges and runs, fetched for a user; forbidden and missing look the same (404)."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.db.models import Exists, OuterRef, QuerySet
from django.shortcuts import get_object_or_404

from accounts.models import User
from rubrics.access import get_benchmark
from rubrics.models import Benchmark
from scoring.models import Judge, JudgeRun


def judges_for(user: User | AnonymousUser) -> QuerySet[Judge]:
    """Judges that ``user`` may look at and use: those at home in a benchmark that they run."""
    at_home = Benchmark.objects.run_by(user).filter(pk=OuterRef("benchmark"))
    return (
        Judge.objects.filter(Exists(at_home))
        .select_related("benchmark", "scale", "trained_model")
        .defer("trained_model__artifact")
    )


def get_judge(user: User | AnonymousUser, slug: str, public_id: str) -> tuple[Benchmark, Judge]:
    """The benchmark whose page it is, and a judge that can be used on it."""
    benchmark = get_benchmark(user, slug)
    return benchmark, get_object_or_404(judges_for(user), public_id=public_id)


def get_run(user: User | AnonymousUser, slug: str, public_id: str) -> JudgeRun:
    """A run on a benchmark that ``user`` runs."""
    runs = JudgeRun.objects.filter(benchmark=get_benchmark(user, slug)).select_related("judge", "benchmark")
    return get_object_or_404(runs, public_id=public_id)
