"""Whether the clocks of this machine and of the database agree: due dates and sweeps use both."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from operations.checks import database
from operations.checks.check import Check, Result, State

WARNING_AFTER_S = 2.0
FAILED_AFTER_S = 30.0


def look() -> Result:
    """Ask the database between two looks at the own clock."""
    with database.connect() as connection:
        before = timezone.now()
        row = connection.execute("SELECT clock_timestamp()").fetchone()
        after = timezone.now()
    assert row is not None
    difference_s = (row[0] - (before + (after - before) / 2)) / timedelta(seconds=1)
    message = f"The database’s clock differs by {difference_s:+.1f} s from this machine’s."
    if abs(difference_s) < WARNING_AFTER_S:
        return Result(State.OK, message)
    state = State.WARNING if abs(difference_s) < FAILED_AFTER_S else State.FAILED
    return Result(state, message, "Have both machines set their clocks by NTP.")


CHECK = Check("clock", "Clock", look, needs_database=True)
