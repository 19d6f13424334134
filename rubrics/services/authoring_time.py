"""Active time of authors, reviewers and auditors (`consilium.core.active_time`)."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from accounts.models import User
from consilium.core import active_time
from rubrics.models import AuthoringTime, Case


@transaction.atomic
def record_time(*, case: Case, user: User, activity: str, seconds: int, at: datetime) -> int:
    """Add what the page counted since its last report; returns the seconds that count.

    The first report of an activity on a case only starts the clock.
    """
    return active_time.record_time(AuthoringTime, seconds=seconds, at=at, case=case, user=user, activity=activity)
