"""Ends the access of an account and gives it back: for admins of a benchmark, and for those who run the server."""

from __future__ import annotations

import logging
from datetime import datetime

from django.db import transaction
from django.http import HttpRequest
from django.utils.translation import gettext as _

from accounts.models import Invitation, User
from accounts.services import invitations, security_log
from accounts.services.access_ends import end_sessions_and_tokens
from accounts.services.rights import refuse_without_operator
from annotation.models import Membership
from annotation.services.groups import set_member_active
from consilium.core.errors import Conflict, DomainError
from rubrics.models import AuthoringRole, Benchmark, BenchmarkRole
from rubrics.services import LastAdmin, withdraw_authoring_role, withdraw_role

logger = logging.getLogger(__name__)


def is_deactivatable(person: User, *, by: User) -> bool:
    """Whether ``by`` may create benchmarks and the account is somebody else's who may not; needs no query.

    The list of people asks this. `set_account_active` also refuses accounts with access to other benchmarks.
    """
    return by.is_staff and person.pk != by.pk and not (person.is_staff or person.is_superuser)


def is_activatable(person: User, *, benchmark: Benchmark, by: User) -> bool:
    """Whether an admin of this benchmark deactivated the account, and ``by`` may deactivate it; needs no query."""
    return is_deactivatable(person, by=by) and not person.is_active and person.deactivated_in == benchmark.slug


@transaction.atomic
def set_account_active(
    *,
    benchmark: Benchmark,
    person: User,
    active: bool,
    by: User,
    at: datetime,
    request: HttpRequest | None = None,
) -> None:
    """Deactivate an account, or activate it again, as an admin of its benchmark; what the person did stays on record.

    A deactivated account is signed out at once and cannot sign in, and its API tokens are revoked. All its parts in the
    benchmark are stopped, open work goes back, and its invitation is withdrawn. Parts stay stopped when the account is
    activated again, which is refused unless an admin of this benchmark deactivated it. An account with access elsewhere
    belongs to other admins, too; whoever runs the server can deactivate it (`deactivate_account`).
    """
    person = User.objects.select_for_update(no_key=True).get(pk=person.pk)
    if not is_deactivatable(person, by=by) or invitations.has_access_elsewhere(person, benchmark.slug):
        raise DomainError(
            _("This account has other roles, or you may not deactivate accounts. Ask the server administrator.")
        )
    if active and not person.is_active and not is_activatable(person, benchmark=benchmark, by=by):
        raise DomainError(
            _("This account was not deactivated by an admin of this benchmark. Ask the server administrator.")
        )
    if active:
        if not person.is_active:
            _activate(person, by=by, at=at, scope=benchmark.slug, request=request)
        return
    _stop_parts(person, by=by, at=at, benchmark=benchmark)
    if person.is_active:
        _deactivate(person, by=by, at=at, scope=benchmark.slug, request=request)
    else:  # somebody else's deactivation, which stays theirs
        end_sessions_and_tokens(user=person, by=by, at=at)


@transaction.atomic
def deactivate_account(
    *, person: User, reason: str, by: User | None, at: datetime, request: HttpRequest | None = None
) -> int:
    """Deactivate any account, as one who runs the server; ``by`` is None for a command.

    Does what `set_account_active` does, in all benchmarks, and withdraws all invitations. Returns in how many of them
    the person stays the only admin: nobody else could name a new one. `LastOperator` if nobody else runs the server.
    """
    refuse_without_operator(besides=person)
    person = User.objects.select_for_update(no_key=True).get(pk=person.pk)
    if by is not None and person.pk == by.pk:
        raise DomainError(_("You cannot deactivate your own account."))
    if not person.is_active and not person.deactivated_in:
        raise Conflict(_("This account is already deactivated."))
    kept = _stop_parts(person, by=by, at=at)
    # Locked, because one that is accepted at this moment could not be withdrawn.
    rows = Invitation.objects.filter(user=person, accepted_at=None, withdrawn_at=None).select_related("user")
    for invitation in rows.select_for_update(of=("self",)).order_by("pk"):
        invitations.withdraw(invitation=invitation, at=at)
    _deactivate(person, by=by, at=at, scope="", reason=reason, request=request)
    return kept


@transaction.atomic
def activate_account(
    *, person: User, by: User | None, at: datetime, reason: str = "", request: HttpRequest | None = None
) -> None:
    """Activate an account again, whoever deactivated it; its roles stay stopped until admins give them again."""
    person = User.objects.select_for_update(no_key=True).get(pk=person.pk)
    if person.is_active:
        raise Conflict(_("This account is active."))
    _activate(person, by=by, at=at, scope="", reason=reason, request=request)


def _stop_parts(person: User, *, by: User | None, at: datetime, benchmark: Benchmark | None = None) -> int:
    """Stop the roles of ``person`` in ``benchmark``, or in all; in how many they stay, because a benchmark needs one.

    With a benchmark, `LastAdmin` is raised instead.
    """
    memberships = Membership.objects.filter(user=person, active=True)
    roles = BenchmarkRole.objects.filter(user=person, active=True).order_by("pk")
    authorings = AuthoringRole.objects.filter(user=person, active=True)
    if benchmark is not None:
        memberships = memberships.filter(group__benchmark=benchmark)
        roles, authorings = roles.filter(benchmark=benchmark), authorings.filter(benchmark=benchmark)
    for membership in memberships.order_by("pk"):
        set_member_active(membership=membership, active=False, by=by, at=at)
    kept = 0
    for role in roles:
        try:
            withdraw_role(role=role, at=at)
        except LastAdmin:
            if benchmark is not None:
                raise
            kept += 1
    for authoring in authorings.order_by("pk"):
        withdraw_authoring_role(role=authoring, at=at)
    return kept


def _deactivate(
    person: User, *, by: User | None, at: datetime, scope: str, request: HttpRequest | None, reason: str = ""
) -> None:
    end_sessions_and_tokens(user=person, by=by, at=at)
    person.is_active, person.deactivated_in = False, scope
    person.save(update_fields=["is_active", "deactivated_in"])
    _log("account_deactivated", person, by=by, at=at, scope=scope, reason=reason, request=request)


def _activate(
    person: User, *, by: User | None, at: datetime, scope: str, request: HttpRequest | None, reason: str = ""
) -> None:
    # What was left by a sign-in at the moment of the deactivation does not work again.
    end_sessions_and_tokens(user=person, by=by, at=at)
    person.is_active = True
    person.save(update_fields=["is_active"])
    _log("account_activated", person, by=by, at=at, scope=scope, reason=reason, request=request)


def _log(
    kind: str, person: User, *, by: User | None, at: datetime, scope: str, reason: str, request: HttpRequest | None
) -> None:
    values = {"reason": reason} if reason else {}
    security_log.record(kind, at=at, user=person, by=by, scope=scope, request=request, **values)
    details = {"kind": kind, "user": person.pk, "by": by.pk if by else None, "scope": scope}
    logger.warning("An account was deactivated or activated", extra=details)
