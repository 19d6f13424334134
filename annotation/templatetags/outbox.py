"""Template tag that tells the outbox script whose unsent decisions it may send, and to which URL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import template

from accounts.identity import opaque_name

if TYPE_CHECKING:
    from django.template import Context

register = template.Library()


@register.inclusion_tag("annotation/shared/_outbox.html", takes_context=True)
def outbox(context: Context) -> dict[str, Any]:
    """``{% outbox %}``: what ``outbox.js`` needs, on every page that sends what another one left behind."""
    return _who(context)


@register.inclusion_tag("annotation/labels/_unsent.html", takes_context=True)
def labels_left(context: Context) -> dict[str, Any]:
    """``{% labels_left %}``: where ``labels_left.js`` shows answers about cases that could not be sent."""
    return _who(context)


def _who(context: Context) -> dict[str, Any]:
    user = context["request"].user
    return {"who": opaque_name(user) if user.is_authenticated else ""}
