"""The bell of the top bar."""

from __future__ import annotations

from typing import Any

from django import template

from accounts.models import Notification, User

register = template.Library()


@register.simple_tag
def unread_notifications(user: Any) -> int:
    """How many notifications ``user`` has not read."""
    return Notification.objects.filter(user=user, read_at=None).count() if isinstance(user, User) else 0
