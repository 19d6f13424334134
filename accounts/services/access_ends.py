"""Ends what lets a person in besides their password."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from accounts.models import User, UserSession
from accounts.services.api_tokens import revoke_all_tokens


@transaction.atomic
def end_sessions_and_tokens(*, user: User, by: User | None, at: datetime) -> None:
    """Delete the sessions of ``user`` and revoke their API tokens: none works if the account is active again."""
    revoke_all_tokens(user=user, by=by, at=at)
    UserSession.objects.filter(user=user).delete()
