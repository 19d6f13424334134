"""Benchmarks and all that belongs to them, fetched for a user; forbidden and missing look the same (404)."""

from __future__ import annotations

from typing import TypeVar

from django.contrib.auth.models import AnonymousUser
from django.db.models import Model
from django.http import Http404
from django.shortcuts import get_object_or_404

from accounts.models import User
from consilium.core.compiled_queries import CompiledQuery
from rubrics.models import (
    AuthoringRole,
    Bank,
    Benchmark,
    BenchmarkRole,
    Candidate,
    Case,
    CodeBook,
    ImportJob,
    PrivacyWaiver,
    Response,
)

Row = TypeVar("Row", bound=Model)


# Every page begins with one of these.
_run = CompiledQuery(lambda user, slug: Benchmark.objects.run_by(user).filter(slug=slug))
_written = CompiledQuery(lambda user, slug: Benchmark.objects.written_by(user).filter(slug=slug))
_case = CompiledQuery(lambda benchmark, public_id: Case.objects.filter(benchmark=benchmark, public_id=public_id))


def _or_404(row: Row | None) -> Row:
    if row is None:
        raise Http404
    return row


def get_benchmark(user: User | AnonymousUser, slug: str) -> Benchmark:
    """The benchmark, for its admins and researchers."""
    return _or_404(_run.first(user=user.pk, slug=slug))


def get_administered_benchmark(user: User | AnonymousUser, slug: str) -> Benchmark:
    """The benchmark, for its admins alone."""
    return get_object_or_404(Benchmark.objects.administered_by(user), slug=slug)


def is_admin(user: User | AnonymousUser, benchmark: Benchmark) -> bool:
    """Whether ``user`` is an admin of ``benchmark``."""
    roles = BenchmarkRole.objects.filter(benchmark=benchmark.pk, user=user.pk, active=True)
    return roles.filter(role=BenchmarkRole.Role.ADMIN).exists()


def get_case(user: User | AnonymousUser, slug: str, public_id: str) -> Case:
    """A case of a benchmark that ``user`` runs."""
    return _case_in(get_benchmark(user, slug), public_id)


def _case_in(benchmark: Benchmark, public_id: str) -> Case:
    case = _or_404(_case.first(benchmark=benchmark.pk, public_id=public_id))
    case.benchmark = benchmark
    return case


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


def get_written_benchmark(user: User | AnonymousUser, slug: str) -> Benchmark:
    """The benchmark, for its authors and those who run it. The pages behind it show no candidate and no verdict."""
    return _or_404(_written.first(user=user.pk, slug=slug))


def get_case_to_write(user: User | AnonymousUser, slug: str, public_id: str) -> Case:
    """A case of a benchmark that ``user`` runs or is an author of."""
    return _case_in(get_written_benchmark(user, slug), public_id)


def get_case_to_time(user: User | AnonymousUser, slug: str, public_id: str) -> Case:
    """A case of a benchmark that ``user`` writes, runs or audits."""
    benchmarks = Benchmark.objects.written_by(user) | Benchmark.objects.audited_by(user)
    return get_object_or_404(Case.objects.filter(benchmark__in=benchmarks, benchmark__slug=slug), public_id=public_id)


def is_author(user: User | AnonymousUser, benchmark: Benchmark) -> bool:
    """Whether ``user`` may review: a physician who writes for the benchmark. Running it is not enough."""
    roles = AuthoringRole.objects.filter(benchmark=benchmark.pk, user=user.pk, active=True)
    return roles.filter(role=AuthoringRole.Role.AUTHOR).exists()


def may_see_grading_evidence(user: User | AnonymousUser, benchmark: Benchmark) -> bool:
    """Whether an author may read other physicians' decisions on a criterion or response.

    They may not while they belong to a group with a batch that is not closed: blinding and independence come first. The
    app of groups is a layer above this one, so the query names its relations and imports nothing.
    """
    if user.pk is None:
        return False
    groups_at_work = User.objects.filter(
        pk=user.pk,
        memberships__active=True,
        memberships__group__benchmark=benchmark.pk,
        memberships__group__batches__status__in=["open", "paused"],
    )
    return not groups_at_work.exists()


def get_authoring_role(user: User | AnonymousUser, slug: str, role: int) -> AuthoringRole:
    """Somebody's part as author or auditor of a benchmark that ``user`` administers."""
    roles = AuthoringRole.objects.select_related("benchmark", "user")
    return get_object_or_404(roles, benchmark=get_administered_benchmark(user, slug), pk=role)


def get_waiver(user: User | AnonymousUser, slug: str, public_id: str, waiver: int) -> PrivacyWaiver:
    """A waiver of a privacy finding in a case that ``user`` writes."""
    return get_object_or_404(PrivacyWaiver, case=get_case_to_write(user, slug, public_id), pk=waiver)


def get_administered_role(user: User | AnonymousUser, slug: str, role: int) -> BenchmarkRole:
    """Somebody's role in a benchmark that ``user`` administers."""
    roles = BenchmarkRole.objects.select_related("benchmark", "user")
    return get_object_or_404(roles, benchmark=get_administered_benchmark(user, slug), pk=role)


def get_bank(benchmark: Benchmark, bank: str) -> Bank:
    """A bank of a benchmark to which the caller has checked access; the bank may be out of use."""
    return get_object_or_404(Bank, benchmark=benchmark, slug=bank)


def get_code_book(user: User | AnonymousUser, slug: str, version: int) -> CodeBook:
    """A version of the code book of a benchmark that ``user`` runs."""
    return get_object_or_404(CodeBook, benchmark=get_benchmark(user, slug), version=version)
