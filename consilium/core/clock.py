"""When something was, in few words and in the reader's time zone."""

from __future__ import annotations

from datetime import datetime

from django.utils import timezone
from django.utils.formats import date_format


def clock(moment: datetime, *, seconds: bool = True) -> str:
    """A time of day in the reader's zone, such as ``10:05:00``; with its date if that is not today."""
    local = timezone.localtime(moment)
    time = local.strftime("%H:%M:%S" if seconds else "%H:%M")
    return time if local.date() == timezone.localdate() else f"{date_format(local, 'DATE_FORMAT')} {time}"


def day(moment: datetime) -> str:
    """The day in the reader's zone: 21 Nov 2026."""
    return date_format(timezone.localtime(moment), "DATE_FORMAT")
