"""Writes to the roles of a benchmark's staff."""

from __future__ import annotations

from datetime import datetime

from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.models import User
from accounts.services import invitations, person_of
from consilium.core.errors import DomainError
from rubrics.models import Benchmark, BenchmarkRole


class LastAdmin(DomainError):
    """Nobody would be left who can add people."""


@transaction.atomic
def grant_role(*, benchmark: Benchmark, user: User, role: str) -> BenchmarkRole:
    """Let a person run the benchmark as admin or researcher, or change their role.

    `DomainError` for a member of one of its expert groups, past or present: they must not see candidates' names.
    """
    if role not in BenchmarkRole.Role.values:
        raise DomainError(_("The role must be admin or researcher."))
    Benchmark.objects.select_for_update().get(pk=benchmark.pk)
    if role != BenchmarkRole.Role.ADMIN:
        _refuse_without_admin(benchmark, besides=user)
    try:
        with transaction.atomic():
            row, _created = BenchmarkRole.objects.update_or_create(
                benchmark=benchmark, user=user, defaults={"role": role, "active": True}
            )
    except IntegrityError as error:
        diagnosis = getattr(error.__cause__, "diag", None)
        if diagnosis is None or diagnosis.constraint_name != "rubrics_role_not_group_member":
            raise
        raise DomainError(
            _(
                "%(person)s is or was a member of an expert group of this benchmark, so its candidates stay "
                "hidden from them."
            )
            % {"person": user}
        ) from error
    return row


@transaction.atomic
def invite_to_run(
    *, benchmark: Benchmark, email: str, name: str = "", role: str, by: User, at: datetime
) -> tuple[BenchmarkRole, invitations.IssuedInvitation | None]:
    """`grant_role`, and notify the person: by an invitation if they have never signed in, otherwise by a notice."""
    person = person_of(email=email, name=name)
    row = grant_role(benchmark=benchmark, user=person, role=role)
    slug = benchmark.slug
    url = reverse("rubrics:overview", args=[slug])
    issued = invitations.invite(user=person, scope=slug, title=benchmark.title, part=role, by=by, at=at, url=url)
    return row, issued


@transaction.atomic
def withdraw_role(*, role: BenchmarkRole, at: datetime) -> None:
    """Withdraw a person's role. The row stays, since they have seen who answered and must not grade in it."""
    Benchmark.objects.select_for_update().get(pk=role.benchmark_id)
    _refuse_without_admin(role.benchmark, besides=role.user)
    role.active = False
    role.save(update_fields=["active"])
    invitations.withdraw_without_part(user=role.user, benchmark=role.benchmark, at=at)


def _refuse_without_admin(benchmark: Benchmark, *, besides: User) -> None:
    admins = BenchmarkRole.objects.filter(benchmark=benchmark, role=BenchmarkRole.Role.ADMIN, active=True)
    if admins.filter(user=besides).exists() and not admins.exclude(user=besides).exists():
        raise LastAdmin(_("A benchmark needs at least one admin. Make someone else an admin first."))
