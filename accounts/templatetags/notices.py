"""Template tags for the notification menu of the top bar."""

from __future__ import annotations

from typing import Any

from django import template

from accounts.models import Notification, User
from consilium.core.compiled_queries import CompiledQuery

register = template.Library()
_unread = CompiledQuery(lambda user: Notification.objects.filter(user=user, read_at=None).order_by().values_list("pk"))


@register.simple_tag
def unread_notifications(user: Any) -> int:
    """How many notifications ``user`` has not read."""
    return _unread.count(user=user.pk) if isinstance(user, User) else 0
