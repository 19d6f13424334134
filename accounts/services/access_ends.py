"""Ends what lets a person in besides their password: sessions, tokens and second steps."""

from __future__ import annotations

from datetime import datetime

from allauth.mfa.models import Authenticator
from django.db import transaction

from accounts.models import User, UserSession
from accounts.services import security_log
from accounts.services.api_tokens import revoke_all_tokens
from accounts.services.mails import has_mail_server, send_mail
from accounts.services.second_factor import STEPS
from consilium.hosts import site_address


@transaction.atomic
def end_sessions_and_tokens(*, user: User, by: User | None, at: datetime) -> None:
    """Delete the sessions of ``user`` and revoke their API tokens: none works if the account is active again."""
    revoke_all_tokens(user=user, by=by, at=at)
    UserSession.objects.filter(user=user).delete()


@transaction.atomic
def remove_second_factor(*, user: User, at: datetime) -> int:
    """Remove every step and the recovery codes of somebody who lost them; returns how many steps there were.

    For whoever runs the server. Sessions and tokens end, because who found a lost device may use them. The owner gets
    a mail, because an attacker may have asked for it.
    """
    user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    rows = Authenticator.objects.filter(user=user)
    kinds = sorted(rows.filter(type__in=STEPS).values_list("type", flat=True))
    rows.delete()
    if kinds:
        end_sessions_and_tokens(user=user, by=None, at=at)
        security_log.record("factor_removed", at=at, user=user, kinds=kinds, by_command=True)
        if has_mail_server() and user.email:
            context = {"site": site_address(), "at": at}
            transaction.on_commit(lambda: send_mail(to=user, name="second_step_removed", context=context))
    return len(kinds)
