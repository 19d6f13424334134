"""Benchmarks and what hangs on them, fetched for a user; forbidden and missing look the same (404)."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.shortcuts import get_object_or_404

from accounts.models import User
from rubrics.models import Benchmark, BenchmarkRole, Candidate, Case, ImportJob, Response


def get_benchmark(user: User | AnonymousUser, slug: str) -> Benchmark:
    """The benchmark, for its admins and researchers."""
    return get_object_or_404(Benchmark.objects.run_by(user), slug=slug)


def get_administered_benchmark(user: User | AnonymousUser, slug: str) -> Benchmark:
    """The benchmark, for its admins alone."""
    return get_object_or_404(Benchmark.objects.administered_by(user), slug=slug)


def get_case(user: User | AnonymousUser, slug: str, public_id: str) -> Case:
    """A case of a benchmark that ``user`` runs."""
    return get_object_or_404(Case.objects.filter(benchmark=get_benchmark(user, slug)), public_id=public_id)


def get_candidate(user: User | AnonymousUser, slug: str, public_id: str) -> Candidate:
    """A candidate of a benchmark that ``user`` runs."""
    return get_object_or_404(Candidate.objects.filter(benchmark=get_benchmark(user, slug)), public_id=public_id)


def get_import(user: User | AnonymousUser, slug: str, public_id: str) -> ImportJob:
    """An import into a benchmark that ``user`` runs."""
    return get_object_or_404(ImportJob.objects.filter(benchmark=get_benchmark(user, slug)), public_id=public_id)


def get_response(user: User | AnonymousUser, slug: str, public_id: str) -> Response:
    """A response of a benchmark that ``user`` runs."""
    responses = Response.objects.filter(case__benchmark=get_benchmark(user, slug)).select_related("case", "candidate")
    return get_object_or_404(responses, public_id=public_id)


def get_administered_role(user: User | AnonymousUser, slug: str, role: int) -> BenchmarkRole:
    """Somebody's role in a benchmark that ``user`` administers."""
    roles = BenchmarkRole.objects.select_related("benchmark", "user")
    return get_object_or_404(roles, benchmark=get_administered_benchmark(user, slug), pk=role)
