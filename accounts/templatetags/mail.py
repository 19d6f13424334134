"""Template tags for whether the server can send mail."""

from __future__ import annotations

from django import template

from accounts.services.mails import has_mail_server

register = template.Library()
register.simple_tag(has_mail_server)
