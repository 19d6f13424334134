"""Which benchmarks demand a second step of somebody, and who of a benchmark has none."""

from __future__ import annotations

from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from accounts.models import User
from accounts.services.second_factor import STEPS, Demand
from consilium.core.compiled_queries import CompiledQuery
from rubrics.models import AuthoringRole, Benchmark, BenchmarkRole


def demanding(user: Any) -> QuerySet[Benchmark, Any]:
    """(slug, title, from when) of the benchmarks that demand a second step of the user with that id.

    They are those in which the user has a role or is a member of a group. The app of groups is a layer above this one,
    so the query names its relations and imports nothing.
    """
    here = {"benchmark": OuterRef("pk"), "user": user, "active": True}
    member = User.objects.filter(pk=user, memberships__active=True, memberships__group__benchmark=OuterRef("pk"))
    is_of_user = Exists(BenchmarkRole.objects.filter(**here)) | Exists(AuthoringRole.objects.filter(**here))
    rows = Benchmark.objects.filter(Q(is_of_user) | Q(Exists(member)), second_step_from__isnull=False)
    return rows.order_by("title", "pk").values_list("slug", "title", "second_step_from")


_demanding = CompiledQuery(lambda user: demanding(user))


def demands_of(user: User) -> list[Demand]:
    """What the benchmarks of ``user`` demand, also those that begin later; `accounts.services.second_factor` asks."""
    return [Demand(slug, title, since) for slug, title, since in _demanding.rows(user=user.pk)]


def people_without(benchmark: Benchmark) -> tuple[int, int]:
    """How many people of the benchmark have no second step, and how many people it has.

    People who have not opened their account yet are not counted.
    """
    people = User.objects.filter(
        Q(benchmark_roles__benchmark=benchmark.pk, benchmark_roles__active=True)
        | Q(authoring_roles__benchmark=benchmark.pk, authoring_roles__active=True)
        | Q(memberships__group__benchmark=benchmark.pk, memberships__active=True),
        is_active=True,
    ).exclude(User.INVITED)
    total = people.distinct().count()
    return total - people.filter(authenticator__type__in=STEPS).distinct().count(), total
