"""Writes to the roles of authors and auditors of a benchmark."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from accounts.services import invitations
from consilium.core.errors import DomainError
from rubrics.models import AuthoringRole, Benchmark


@transaction.atomic
def give_authoring_role(*, benchmark: Benchmark, user: User, role: str, at: datetime) -> AuthoringRole:
    """Make ``user`` an author or a senior auditor; a repetition changes nothing.

    A member of an expert group may be given either: the pages of these roles show no candidate and no decision.
    """
    if role not in AuthoringRole.Role.values:
        raise DomainError(_("The role must be author or auditor."))
    row, created = AuthoringRole.objects.select_for_update().get_or_create(
        benchmark=benchmark, user=user, role=role, defaults={"active": True}
    )
    if created:
        AuthoringRole.objects.filter(pk=row.pk).update(created_at=at)
    elif not row.active:
        row.active = True
        row.save(update_fields=["active"])
    return row


@transaction.atomic
def withdraw_authoring_role(*, role: AuthoringRole, at: datetime) -> None:
    """Withdraw the role of a person. Their texts and reviews stay, under their name."""
    if AuthoringRole.objects.filter(pk=role.pk, active=True).exists():
        role.active = False
        role.save(update_fields=["active"])
        invitations.withdraw_without_part(user=role.user, benchmark=role.benchmark, at=at)
