"""Ends what lets a person in besides their password."""

from __future__ import annotations

from datetime import datetime

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.db import transaction

from accounts.models import User
from accounts.services.api_tokens import revoke_all_tokens


@transaction.atomic
def end_sessions_and_tokens(*, user: User, by: User | None, at: datetime) -> None:
    """Delete the sessions of ``user`` and revoke their API tokens, so that none works if the account is active again.

    Reads every session: only the data of a session names its user.
    """
    revoke_all_tokens(user=user, by=by, at=at)
    number = str(user.pk)
    own = [row.pk for row in Session.objects.iterator() if row.get_decoded().get(SESSION_KEY) == number]
    Session.objects.filter(pk__in=own).delete()
