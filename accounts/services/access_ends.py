"""Ends what lets a person in besides their password."""

from __future__ import annotations

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.db import transaction

from accounts.models import User
from accounts.services.api_tokens import revoke_token


@transaction.atomic
def end_sessions_and_token(*, user: User) -> None:
    """Delete the sessions of ``user`` and revoke their API token, so that neither works if the account is active again.

    Reads every session: only the data of a session names its user.
    """
    revoke_token(user=user)
    number = str(user.pk)
    own = [row.pk for row in Session.objects.iterator() if row.get_decoded().get(SESSION_KEY) == number]
    Session.objects.filter(pk__in=own).delete()
