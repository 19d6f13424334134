"""Taking records out of the server is itself a line of the security log."""

from __future__ import annotations

from datetime import datetime

from django import forms
from django.http import HttpRequest

from accounts.models import User
from accounts.services.security_log import record


def record_export(
    *, what: str, file_format: str, filters: forms.Form, scope: str, by: User, at: datetime, request: HttpRequest
) -> None:
    """Add to the log that ``by`` takes the security log or the trail; ``filters`` are checked.

    What somebody typed into a filter may be an address: the log keeps only which filters were used.
    """
    used = sorted(field for field in filters.fields if filters.cleaned_data.get(field))
    record("log_exported", at=at, by=by, scope=scope, request=request, what=what, format=file_format, filters=used)
