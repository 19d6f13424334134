"""Mails: each is a text and a plain HTML page, in the reader's language and time zone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage, EmailMultiAlternatives
from django.template.loader import render_to_string
from django.utils import timezone, translation

from accounts.middleware import zone_of
from accounts.models import User
from consilium.core.jobs import enqueue

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


def leave_to_worker(mail: EmailMessage) -> None:
    """Let a worker send a mail that holds no secret: its text goes through the broker.

    It is lost where the broker is away. Nobody waits for the mail server in a web request.
    """
    pages = [str(content) for content, kind in getattr(mail, "alternatives", []) if kind == "text/html"]
    page = pages[0] if pages else ""
    enqueue("accounts.tasks.mail_account_notice", mail.subject, str(mail.body), page, list(mail.to))


def send_notice(*, subject: str, text: str, page: str, to: list[str]) -> None:
    """Send a mail that `leave_to_worker` was given."""
    mail = EmailMultiAlternatives(subject, text, to=to, headers={"Auto-Submitted": "auto-generated"})
    if page:
        mail.attach_alternative(page, "text/html")
    mail.send()
