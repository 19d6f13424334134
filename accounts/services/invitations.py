"""Invitations: a link that works once, for two weeks, and lets its reader set a password.

It is sent by mail. Where no mail server is set, one response shows it to the admin who invites, to pass on.

The signed token names its invitation and carries a secret; a token without our signature is not looked up at all. The
table holds only a hash of the secret, so that reading the table lets nobody in.
"""

from __future__ import annotations

import hashlib
import logging
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.core import signing
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import translation
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _

from accounts.models import Invitation, PasswordLink, PhysicianProfile, User
from accounts.notices import PARTS
from accounts.services.mails import has_mail_server, send_mail
from accounts.services.notifications import Kind, notify
from accounts.services.security_log import record
from consilium.core import navigation
from consilium.core.errors import Conflict, DomainError
from consilium.core.jobs import TASK_LOST_AFTER, enqueue
from consilium.hosts import site_address

logger = logging.getLogger(__name__)
VALID_FOR = timedelta(days=14)
BETWEEN_TWO = timedelta(minutes=5)
MAILED_WITHIN = timedelta(days=1)  # a later mail would come as a surprise; the admin can send one again
MAX_MAILS_PER_DAY = 300  # mails of one inviter: enough for a large study, too few for a nuisance
SALT = "accounts.invitation"
PHYSICIANS = frozenset({"annotator", "checker", "adjudicator", "author", "auditor"})


@dataclass(frozen=True, slots=True)
class InvitationState:
    """How far a person has come: ``state`` is none, unsent, sent, shown, expired, withdrawn or accepted."""

    user_id: int
    state: str
    invitation: Invitation | None = None
    password_link: PasswordLink | None = None


@dataclass(frozen=True, slots=True)
class IssuedInvitation:
    """An invitation and how its link reaches the person.

    ``way`` is mail, link, link_before, operator or link_elsewhere.

    ``link`` is set where the inviter has to hand it on. link_before: a link that was handed on earlier still works.
    operator: the account has access to more than this benchmark, so whoever runs the server makes the link
    (``password_link``). link_elsewhere: no link is needed, but the account was opened with a link that another admin
    passed on, or has got a link to a new password from one; ``invitation`` is the row of that link, for another
    benchmark, and `warning` says so.
    """

    invitation: Invitation | PasswordLink
    way: str
    link: str = ""

    @property
    def warning(self) -> str:
        """What the inviter must know about the account; empty for most accounts."""
        if self.way != "link_elsewhere":
            return ""
        row = self.invitation
        if isinstance(row, PasswordLink):
            text = _(
                "%(email)s: for %(title)s, %(admin)s was shown a link to set a new password for this "
                "account. The person who opened that link chose the password. Keep this person only if "
                "you know that they chose it themselves."
            )
        else:
            text = _(
                "%(email)s: this account was opened with an invitation link that %(admin)s passed on for "
                "%(title)s. The person who opened the link chose the password. Keep this person only if "
                "you are sure that they chose it themselves."
            )
        admin = row.link_shown_to or _("an admin")
        return text % {"email": row.user.email, "admin": admin, "title": row.title}


class LinkUnusable(DomainError):
    """The link lets nobody in; ``reason`` is unknown, used, expired, withdrawn, replaced or more_access."""

    status_code = 410

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@transaction.atomic
def invite(
    *, user: User, scope: str, title: str, part: str, by: User, at: datetime, url: str = "/"
) -> IssuedInvitation | None:
    """Tell ``user`` that ``by`` added them to ``title`` as ``part``.

    A person who has never signed in is invited, by mail or by a link that is returned; anybody else gets a notification
    that leads to ``url``. If somebody else may have the password, the result has the way ``link_elsewhere``. ``scope``
    is the benchmark's slug: a person has one invitation to it, however many parts they have.
    """
    if user.pk == by.pk or not user.is_active:
        return None
    if user.last_login is not None:
        notify(user=user, kind=Kind.INVITATION, benchmark_title=title, url=url, at=at, part=part)
        earlier = _opened_by_a_link_of_others(user, scope, by)
        if earlier is not None:
            logger.warning(
                "A person was added whose account was opened with a link that another admin passed on",
                extra={"link": str(earlier), "scope": scope, "by": by.pk, "user": user.pk},
            )
        return IssuedInvitation(earlier, "link_elsewhere") if earlier is not None else None
    if not user.email:
        return None
    _refuse_a_flood(by, at)
    invitation, created = Invitation.objects.select_for_update().get_or_create(
        user=user,
        scope=scope,
        defaults={
            "title": title,
            "part": part,
            "invited_by": by,
            "created_at": at,
            "expires_at": at + VALID_FOR,
        },
    )
    just_sent = invitation.sent_at is not None and invitation.sent_at > at - BETWEEN_TWO
    # A link that was handed on may be used at any moment: a second part must not make it useless.
    handed_on = invitation.link_shown_at is not None and invitation.expires_at > at and not has_mail_server()
    if not created and (just_sent or handed_on) and invitation.withdrawn_at is None:
        # A second part in the same minute needs no second mail.
        return IssuedInvitation(invitation, "mail" if just_sent else "link_before")
    if not has_mail_server() and _has_other_access(user, scope):
        return IssuedInvitation(invitation, "operator")
    return _issue(invitation, by=by, part=part, at=at)


@transaction.atomic
def send_again(*, invitation: Invitation, by: User, at: datetime) -> IssuedInvitation:
    """Issue a new link; the one before no longer works. `Conflict` where it was accepted or sent a moment ago."""
    row = Invitation.objects.select_for_update(of=("self",)).select_related("user").get(pk=invitation.pk)
    if row.accepted_at is not None or row.user.last_login is not None:
        raise Conflict(_("This person has already signed in."))
    if row.sent_at is not None and row.sent_at > at - BETWEEN_TWO and row.withdrawn_at is None:
        raise Conflict(_("An email was sent less than five minutes ago. Please wait before you send another."))
    if not has_mail_server() and _has_other_access(row.user, row.scope):
        raise Conflict(
            _("This account already has a password or another role. Ask the server administrator for a link.")
        )
    _refuse_a_flood(by, at)
    return _issue(row, by=by, part=row.part, at=at)


@transaction.atomic
def withdraw(*, invitation: Invitation, at: datetime) -> None:
    """Make the link useless. The person keeps their part, which is withdrawn where parts are given."""
    hit = Invitation.objects.filter(pk=invitation.pk, accepted_at=None, withdrawn_at=None).update(withdrawn_at=at)
    if hit != 1:
        raise Conflict(_("This invitation has already been accepted or withdrawn."))
    record("invitation_withdrawn", at=at, user=invitation.user, scope=invitation.scope)


@transaction.atomic
def withdraw_without_part(*, user: User, benchmark: navigation.BenchmarkLike, at: datetime) -> bool:
    """Withdraw the open invitation of somebody who has no part in ``benchmark`` any more; whether there was one.

    Whoever takes the last part from a person calls it: their link would still make an account.
    """
    if navigation.roles_in(user, benchmark):
        return False
    rows = Invitation.objects.filter(user=user, scope=benchmark.slug, accepted_at=None, withdrawn_at=None)
    withdrawn = bool(rows.update(withdrawn_at=at))
    if withdrawn:
        record("invitation_withdrawn", at=at, user=user, scope=str(benchmark.slug))
    return withdrawn


def _refuse_a_flood(by: User, at: datetime) -> None:
    if Invitation.objects.filter(invited_by=by, sent_at__gt=at - timedelta(days=1)).count() >= MAX_MAILS_PER_DAY:
        raise DomainError(_("You have reached today’s limit for invitations. Continue tomorrow."))


def _issue(row: Invitation, *, by: User, part: str, at: datetime) -> IssuedInvitation:
    secret = secrets.token_urlsafe(24)
    by_mail = has_mail_server()
    # Empty: a worker has to make the link and to mail it. So the link is nowhere but in the mail, not in the broker.
    row.token_hash = "" if by_mail else _hash(secret)
    row.part, row.invited_by = part, by
    row.expires_at, row.withdrawn_at = at + VALID_FOR, None
    row.sent_at = at if by_mail else None
    row.link_shown_at, row.link_shown_to = (None, None) if by_mail else (at, by)
    row.save(
        update_fields=[
            *("token_hash", "part", "invited_by", "expires_at", "withdrawn_at"),
            *("sent_at", "link_shown_at", "link_shown_to"),
        ]
    )
    record("invited", at=at, user=row.user, by=by, scope=row.scope, part=part, way="mail" if by_mail else "link")
    if not by_mail:
        record("invitation_link_shown", at=at, user=row.user, by=by, scope=row.scope)
        return IssuedInvitation(row, "link", _link(row, secret))
    enqueue("accounts.tasks.mail_invitation", row.pk)
    return IssuedInvitation(row, "mail")


def _link(row: Invitation, secret: str) -> str:
    token = signing.Signer(salt=SALT).sign_object([row.public_id, secret])
    return site_address() + reverse("accounts:welcome", args=[token])


def _has_other_access(user: User, scope: str) -> bool:
    """Whether the account has a password, or access to more than an admin of ``scope`` gave it."""
    return user.has_usable_password() or has_access_elsewhere(user, scope)


def has_access_elsewhere(user: User, scope: str) -> bool:
    """Whether the account has access to more than an admin of ``scope`` gave it.

    Whoever holds a link chooses the password. A mailed link reaches the owner of the address; a link that an admin
    hands on would give that admin everything else that the account may do.
    """
    elsewhere = {card.key for card in navigation.home_cards(user)} - {scope}
    invited_elsewhere = Invitation.objects.filter(user=user).exclude(scope=scope).exists()
    return bool(user.is_staff or user.is_superuser or elsewhere or invited_elsewhere)


def _opened_by_a_link_of_others(user: User, scope: str, by: User) -> Invitation | PasswordLink | None:
    """The newest link that an admin other than ``by`` passed on for another benchmark: to the account, or to a new
    password.

    That admin may have opened the link and chosen the password.
    """
    invited = Invitation.objects.filter(accepted_at__isnull=False, link_shown_at__isnull=False)
    for rows in (PasswordLink.objects.all(), invited):
        rows = rows.filter(user=user).exclude(scope=scope).exclude(link_shown_to=by)
        row = rows.select_related("user", "link_shown_to").order_by("-link_shown_at", "-pk").first()
        if row is not None:
            return row
    return None


def _without_link() -> QuerySet[Invitation]:
    """Invitations whose mail no worker has begun to send."""
    return Invitation.objects.filter(token_hash="", sent_at__isnull=False, accepted_at=None, withdrawn_at=None)


def mail_invitation(*, invitation_id: int) -> None:
    """Make the link of an invitation, and mail it, unless another worker does.

    A worker that dies in between loses the mail rather than sending two links. Where the mail server refuses, the admin
    sees beside the person that nothing was sent.
    """
    secret = secrets.token_urlsafe(24)
    if not _without_link().filter(pk=invitation_id).update(token_hash=_hash(secret)):
        return
    row = Invitation.objects.select_related("user", "invited_by").get(pk=invitation_id)
    by = row.invited_by
    language = by.language if by is not None else row.user.language
    with translation.override(language):
        part = str(PARTS.get(row.part, row.part))
    context = {"invitation": row, "by": by, "part": part, "link": _link(row, secret), "days": VALID_FOR.days}
    try:
        # Nobody knows the reader's language yet; whoever invites them is the best guess.
        send_mail(to=row.user, name="invitation", context=context, language=language)
    except Exception:  # any error of the mail server; the admin sees it beside the person and sends again
        logger.exception("An invitation was not sent", extra={"invitation": row.public_id})
        Invitation.objects.filter(pk=row.pk, sent_at=row.sent_at).update(sent_at=None)


def sweep_invitations(*, at: datetime) -> int:
    """Mail invitations whose task was lost; returns their number."""
    rows = _without_link().filter(sent_at__lt=at - TASK_LOST_AFTER, sent_at__gt=at - MAILED_WITHIN)
    waiting = list(rows.values_list("pk", flat=True))
    for invitation_id in waiting:
        mail_invitation(invitation_id=invitation_id)
    return len(waiting)


def _hash(secret: str) -> str:
    # A random secret of 192 bits needs no slow hash.
    return hashlib.sha256(secret.encode()).hexdigest()


# What the invited person does -----------------------------------------------------------------------------------------


def invitation_of(*, token: str, at: datetime) -> Invitation:
    """The invitation of the token; `LinkUnusable` gives the reason if there is none."""
    return _opened(token, at)


def _opened(token: str, at: datetime, *, lock: bool = False) -> Invitation:
    try:
        public_id, secret = signing.Signer(salt=SALT).unsign_object(token)
    except (signing.BadSignature, ValueError) as error:
        raise LinkUnusable("unknown") from error
    rows = Invitation.objects.select_related("user", "invited_by")
    if lock:
        rows = rows.select_for_update(of=("self", "user"), no_key=True)
    row = rows.filter(public_id=public_id).first()
    if row is None or not row.user.is_active:
        raise LinkUnusable("unknown")
    if row.accepted_at is not None or row.user.last_login is not None:
        raise LinkUnusable("used")
    if row.withdrawn_at is not None:
        raise LinkUnusable("withdrawn")
    if not constant_time_compare(row.token_hash, _hash(secret)):
        raise LinkUnusable("replaced")
    if row.expires_at <= at:
        raise LinkUnusable("expired")
    if row.link_shown_at is not None and _has_other_access(row.user, row.scope):
        raise LinkUnusable("more_access")
    return row


def invites_physician(invitation: Invitation) -> bool:
    """Whether the person is to grade, check or adjudicate in any benchmark that they are invited to."""
    parts = Invitation.objects.filter(user=invitation.user_id).values_list("part", flat=True)
    return bool(PHYSICIANS.intersection(parts))


@transaction.atomic
def accept(
    *, token: str, at: datetime, name: str, password: str, language: str, time_zone: str, profile: Mapping[str, Any]
) -> Invitation:
    """Give the account its password and what its owner says about themselves; the form validated the fields.

    ``profile``: fields of `PhysicianProfile`, empty for those who run a benchmark. All links of the person are used up.
    """
    invitation = _opened(token, at, lock=True)
    user = invitation.user
    user.name, user.language, user.time_zone, user.last_login = name, language, time_zone, at
    user.set_password(password)
    user.save(update_fields=["name", "language", "time_zone", "last_login", "password"])
    if profile:
        PhysicianProfile.objects.update_or_create(user=user, defaults=dict(profile))
    Invitation.objects.filter(user=user, accepted_at=None).update(accepted_at=at)
    record("invitation_accepted", at=at, user=user, by=user, scope=invitation.scope)
    return invitation


# What an admin sees ---------------------------------------------------------------------------------------------------


def states_of(*, scope: str, users: Iterable[User], at: datetime) -> dict[int, InvitationState]:
    """User → how far they have come with their invitation to ``scope``; two queries for all of ``users``."""
    people = list(users)
    rows = Invitation.objects.filter(scope=scope, user__in=people).select_related("link_shown_to")
    known = {row.user_id: row for row in rows}
    links = PasswordLink.objects.filter(scope=scope, user__in=people).select_related("link_shown_to")
    newest = {link.user_id: link for link in reversed(links)}
    return {user.pk: _state(user, known.get(user.pk), newest.get(user.pk), at) for user in people}


def _state(user: User, row: Invitation | None, link: PasswordLink | None, at: datetime) -> InvitationState:
    if user.last_login is not None:
        state = "accepted"
    elif row is None:
        state = "none"
    elif row.withdrawn_at is not None:
        state = "withdrawn"
    elif row.sent_at is None and row.link_shown_at is None:
        state = "unsent"
    elif row.expires_at <= at:
        state = "expired"
    else:
        state = "shown" if row.sent_at is None else "sent"
    return InvitationState(user.pk, state, row, link)
