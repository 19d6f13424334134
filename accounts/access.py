"""Querysets of the rows of accounts that a user may see: their own notifications and API tokens."""

from __future__ import annotations

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404

from accounts.models import ApiToken, Invitation, Notification, User


def own_notifications(user: User) -> QuerySet[Notification]:
    """All notifications of the reader, the latest first."""
    return Notification.objects.filter(user=user)


def get_own_notification(user: User, public_id: str) -> Notification:
    """One of the reader's own notifications."""
    return get_object_or_404(own_notifications(user), public_id=public_id)


def own_tokens(user: User) -> QuerySet[ApiToken]:
    """All API tokens of the reader, the newest first."""
    return ApiToken.objects.filter(user=user)


def get_own_token(user: User, public_id: str) -> ApiToken:
    """One of the reader's own API tokens."""
    return get_object_or_404(own_tokens(user).select_related("user"), public_id=public_id)


def get_invitation(scope: str, public_id: str) -> Invitation:
    """An invitation to ``scope``; the caller has checked before that the user has access to ``scope``."""
    return get_object_or_404(Invitation.objects.select_related("user"), scope=scope, public_id=public_id)
