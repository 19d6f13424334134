"""Whether the mail server can be reached and takes the login. Nothing is sent."""

from __future__ import annotations

import smtplib
from contextlib import closing

from django.conf import settings
from django.core.mail import get_connection
from django.core.mail.backends.smtp import EmailBackend

from accounts.services.mails import has_mail_server
from operations.checks.check import Check, Result, State, one_line


def look() -> Result:
    """Connect, greet (EHLO), begin TLS and log in, as each mail does."""
    if not has_mail_server():
        return Result(
            State.WARNING,
            "No mail server is set: admins hand on links themselves, and nobody is notified.",
            "Set EMAIL_URL and DEFAULT_FROM_EMAIL, for web and worker.",
        )
    connection = get_connection()
    if not isinstance(connection, EmailBackend):
        return Result(State.OK, f"Mails go to {settings.EMAIL_BACKEND}.")
    server = f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}"
    try:
        with closing(connection):
            connection.open()
            assert connection.connection is not None
            connection.connection.noop()
    except (OSError, smtplib.SMTPException) as error:
        return Result(
            State.FAILED,
            f"The mail server {server} refuses: {one_line(error)}",
            "Check EMAIL_URL: host, port, smtp+tls or smtp+ssl, user and password.",
        )
    if not (settings.EMAIL_USE_TLS or settings.EMAIL_USE_SSL) and settings.EMAIL_HOST not in ("localhost", "127.0.0.1"):
        return Result(
            State.WARNING,
            f"Mails go to {server} without encryption.",
            "Use smtp+tls:// or smtp+ssl:// in EMAIL_URL.",
        )
    return Result(State.OK, f"The mail server {server} takes the login.")


CHECK = Check("mail_server", "Mail server", look)
