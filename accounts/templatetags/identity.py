"""Template tags that hand a person's pseudonymous key to scripts."""

from __future__ import annotations

from django import template

from accounts import identity
from accounts.models import User

register = template.Library()


@register.filter
def opaque_name(user: User) -> str:
    """``{{ user|opaque_name }}``: the key under which a browser keeps the person's unsent work."""
    return identity.opaque_name(user)
