"""Which lines of the security log a reader sees: `docs/security.md`, "On record", says why."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet

from accounts.models import SecurityEvent, User
from annotation.models import Membership
from operations.security_log.words import kinds_of
from rubrics.models import AuthoringRole, Benchmark, BenchmarkRole

OWN_DAYS = 90
# What admins of a benchmark see of people who have a part in it and nowhere else.
OF_MEMBERS = (
    *("signed_in", "sign_in_failed", "sign_in_limited", "factor_added", "factor_removed"),
    *("recovery_codes_made", "recovery_code_used"),
)


def whole_log() -> QuerySet[SecurityEvent]:
    """Every line, for operators."""
    return SecurityEvent.objects.select_related("user", "by")


def log_of_person(user: User, at: datetime) -> QuerySet[SecurityEvent]:
    """The lines about the account of ``user`` of the last 90 days, for themselves."""
    return whole_log().filter(user=user, at__gt=at - timedelta(days=OWN_DAYS))


def log_of_benchmark(benchmark: Benchmark) -> QuerySet[SecurityEvent]:
    """The lines of the benchmark, and how people sign in who have no part elsewhere, for its admins."""
    of_members = Q(kind__in=OF_MEMBERS, scope="", user__in=people_of_this_benchmark_alone(benchmark))
    return whole_log().filter(Q(scope=benchmark.slug) | of_members)


def people_of_this_benchmark_alone(benchmark: Benchmark) -> QuerySet[User]:
    """People with an active part in the benchmark, who never had one in another, and no rights on the server."""
    here: dict[type[Any], tuple[Q, Q]] = {
        BenchmarkRole: (Q(benchmark=benchmark), Q(active=True)),
        AuthoringRole: (Q(benchmark=benchmark), Q(active=True)),
        Membership: (Q(group__benchmark=benchmark), Q(active=True)),
    }
    rows = User.objects.filter(is_staff=False, is_superuser=False)
    parts = Q()
    for model, (inside, active) in here.items():
        parts |= Q(pk__in=model.objects.filter(inside & active).values("user"))
        rows = rows.exclude(pk__in=model.objects.exclude(inside).values("user"))
    return rows.filter(parts)


def filter_events(rows: QuerySet[SecurityEvent], chosen: Mapping[str, Any]) -> QuerySet[SecurityEvent]:
    """The rows that the cleaned fields of a form of `operations.security_log.forms` leave."""
    if group := chosen.get("group"):
        rows = rows.filter(kind__in=kinds_of(group))
    if person := (chosen.get("person") or "").strip():
        people = User.objects.filter(Q(name__icontains=person) | Q(email__icontains=person))
        rows = rows.filter(Q(user__in=people) | Q(by__in=people))
    if address := chosen.get("address"):
        rows = rows.filter(address=address)
    if since := chosen.get("since"):
        rows = rows.filter(at__gte=since)
    if until := chosen.get("until"):
        rows = rows.filter(at__lte=until)
    return rows
