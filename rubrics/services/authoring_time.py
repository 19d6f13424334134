"""Authoring time of authors, reviewers and auditors: what the page counts, capped by the server's clock.

A report is never worth more than the time since the one before it, so that two tabs, a replay or a tampered page cannot
claim a time that was not there. The first report of a day's work only starts the clock.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from accounts.models import User
from rubrics.models import AuthoringTime, Case

MAX_REPORT_S = 3600


@transaction.atomic
def record_time(*, case: Case, user: User, activity: str, seconds: int, at: datetime) -> int:
    """Add what the page counted since its last report; returns the seconds that were believed."""
    AuthoringTime.objects.bulk_create(
        [AuthoringTime(case=case, user=user, activity=activity, reported_at=at)], ignore_conflicts=True
    )
    row = AuthoringTime.objects.select_for_update().get(case=case, user=user, activity=activity)
    believed = max(0, min(seconds, int((at - row.reported_at).total_seconds())))
    if at > row.reported_at:
        AuthoringTime.objects.filter(pk=row.pk).update(seconds=row.seconds + believed, reported_at=at)
    return believed
