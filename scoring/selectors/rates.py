"""How many results a run writes a second, from those of the last half minute."""

from __future__ import annotations

from datetime import datetime, timedelta

RATE_WINDOW = timedelta(seconds=30)


def window_start(started_at: datetime | None, *, at: datetime) -> datetime:
    """The time from which results count for the rate at ``at``: `RATE_WINDOW` before, or the start of a younger run."""
    since = at - RATE_WINDOW
    return since if started_at is None else max(since, started_at)


def rate_of(recent: int, *, since: datetime, at: datetime) -> float | None:
    """Results a second, of ``recent`` results between ``since`` and ``at``.

    None in the first second, and while a run younger than `RATE_WINDOW` has no result: it needs a moment to begin.
    """
    elapsed = (at - since).total_seconds()
    is_known = elapsed >= 1 and (recent > 0 or elapsed >= RATE_WINDOW.total_seconds())
    return recent / elapsed if is_known else None
