"""The accounts of the server: who they are and how they sign in, and of benchmarks only the number."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from allauth.mfa.models import Authenticator
from django.db.models import Q, QuerySet
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from annotation.models import Membership
from rubrics.models import AuthoringRole, BenchmarkRole

STATES = {
    "active": _("Active"),
    "invited": _("Invited"),
    "deactivated": _("Deactivated"),
    "operators": _("Operators"),
}
COLUMNS = ("name", "email", "state", "operator", "creates_benchmarks", "last_sign_in", "second_step", "benchmarks")
TEXT_COLUMNS = ("name", "email")


@dataclass(frozen=True, slots=True)
class AccountRow:
    """An account; ``benchmarks`` is in how many it has an active role."""

    user: User
    second_step: bool
    benchmarks: int

    @property
    def state(self) -> str:
        """``deactivated``, ``invited`` (never opened) or ``active``."""
        if not self.user.is_active:
            return "deactivated"
        return "invited" if self.user.is_invited else "active"


def accounts(*, q: str = "", state: str = "") -> QuerySet[User]:
    """The accounts whose name or address contains ``q``, in this one of `STATES`; imported raters have no address."""
    rows = User.objects.exclude(email="").order_by(Lower("email"))
    if q:
        rows = rows.filter(Q(name__icontains=q) | Q(email__icontains=q))
    if state == "active":
        rows = rows.filter(is_active=True).exclude(User.INVITED)
    elif state == "invited":
        rows = rows.filter(User.INVITED, is_active=True)
    elif state == "deactivated":
        rows = rows.filter(is_active=False)
    elif state == "operators":
        rows = rows.filter(is_superuser=True, is_active=True)
    return rows


def rows_of(users: Iterable[User]) -> list[AccountRow]:
    """The rows of ``users``; four queries, however many there are."""
    people = list(users)
    factors = Authenticator.objects.filter(user__in=people).exclude(type=Authenticator.Type.RECOVERY_CODES)
    with_factor = set(factors.values_list("user_id", flat=True))
    benchmarks: dict[int, set[int]] = defaultdict(set)
    for user, benchmark in (
        *BenchmarkRole.objects.filter(user__in=people, active=True).values_list("user_id", "benchmark_id"),
        *AuthoringRole.objects.filter(user__in=people, active=True).values_list("user_id", "benchmark_id"),
        *Membership.objects.filter(user__in=people, active=True).values_list("user_id", "group__benchmark_id"),
    ):
        benchmarks[user].add(benchmark)
    return [AccountRow(user, user.pk in with_factor, len(benchmarks[user.pk])) for user in people]


def csv_rows(rows: Iterable[AccountRow]) -> Iterator[dict[str, Any]]:
    """A line for each account."""
    for row in rows:
        yield {
            "name": row.user.name,
            "email": row.user.email,
            "state": row.state,
            "operator": row.user.is_superuser,
            "creates_benchmarks": row.user.is_staff,
            "last_sign_in": row.user.last_login.isoformat() if row.user.last_login else None,
            "second_step": row.second_step,
            "benchmarks": row.benchmarks,
        }
