"""Mails: each is a text and a plain HTML page, in the reader's language and time zone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string
from django.utils import timezone, translation

from accounts.middleware import zone_of
from accounts.models import User

NO_MAIL_SERVER = frozenset(
    {"django.core.mail.backends.console.EmailBackend", "django.core.mail.backends.dummy.EmailBackend"}
)


def has_mail_server() -> bool:
    """Whether mails reach people: without EMAIL_URL they are written to the log."""
    return settings.EMAIL_BACKEND not in NO_MAIL_SERVER


def send_mail(
    *, to: User, name: str, context: Mapping[str, Any], body: str = "", language: str = "", unsubscribe: str = ""
) -> None:
    """Send ``emails/<name>_subject.txt`` with ``emails/<body>.txt`` and ``.html``; raises the mail server's errors.

    ``unsubscribe`` is the address of a page that ends such mails; mail programs offer it beside the mail.
    """
    with translation.override(language or to.language), timezone.override(zone_of(to.time_zone)):
        values = {**context, "reader": to, "unsubscribe": unsubscribe}
        subject = " ".join(render_to_string(f"emails/{name}_subject.txt", values).split())
        mail = EmailMultiAlternatives(
            subject, render_to_string(f"emails/{body or name}.txt", values).strip() + "\n", to=[to.email]
        )
        mail.attach_alternative(render_to_string(f"emails/{body or name}.html", values), "text/html")
    # No reply is expected: the header asks automatic responders not to send one.
    mail.extra_headers["Auto-Submitted"] = "auto-generated"
    if unsubscribe:
        mail.extra_headers["List-Unsubscribe"] = f"<{unsubscribe}>"
        mail.extra_headers["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    mail.send()
