"""Whether mails that were due at once were sent. It does not connect to the mail server; `mail_server` does."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts.services.deliveries import unsent_since
from accounts.services.mails import has_mail_server
from operations.checks.check import Check, Result, State

# A sweep tries again every five minutes.
LATE_AFTER = timedelta(minutes=15)


def look() -> Result:
    """Count mails that a sweep should have sent."""
    if not has_mail_server():
        return Result(
            State.OK, _("No mail server is set (EMAIL_URL): admins hand on links themselves."), figures={"unsent": 0.0}
        )
    unsent = unsent_since(at=timezone.now() - LATE_AFTER)
    figures = {"unsent": float(len(unsent))}
    if unsent:
        return Result(
            State.WARNING,
            ngettext("%(count)s email could not be sent.", "%(count)s emails could not be sent.", len(unsent))
            % {"count": len(unsent)},
            _("Run manage.py doctor, which connects to the mail server; the log of the worker has its answers."),
            since=min(unsent),
            figures=figures,
        )
    return Result(State.OK, _("All emails that were due have been sent."), figures=figures)


CHECK = Check("mail", gettext_lazy("Email"), look, needs_database=True)
