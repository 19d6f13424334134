"""Whether a worker makes progress, from what its event loop reports. Pure: the clock is passed in."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stall:
    """What has made no progress, and for how long."""

    reason: str
    seconds: float


class ProgressMonitor:
    """Watches two things: that the event loop runs, and that received tasks start where a seat of the pool is free.

    A seat is busy as long as a task runs on it; the time limits of tasks bound that. So two long tasks on two seats
    are no stall, however many tasks wait behind them. Times are seconds of a monotonic clock.
    """

    def __init__(self, *, at: float) -> None:
        self._loop_at = at
        # When each waiting task was first seen beside a free seat. A report without a free seat clears it.
        self._waiting_since: dict[str, float] = {}

    def report(self, *, at: float, waiting: Collection[str], active: int, seats: int) -> None:
        """The event loop runs: ``waiting`` are ids of tasks received and not started, ``active`` tasks run."""
        is_free = active < seats
        # A new dictionary, because the watching thread may be reading the old one.
        self._waiting_since = {task: self._waiting_since.get(task, at) for task in waiting} if is_free else {}
        self._loop_at = at

    def start_afresh(self, *, at: float) -> None:
        """Count from now on: earlier counts say nothing about this worker."""
        self._waiting_since = {}
        self._loop_at = at

    def stall(self, *, at: float) -> Stall:
        """What has made no progress for longest. Any worker stalls for moments: the caller compares with its limit."""
        stalls = [Stall("the event loop does not run", at - self._loop_at)]
        waiting_since = self._waiting_since
        if waiting_since:
            reason = f"a seat is free, and received tasks do not start: {len(waiting_since)}"
            stalls.append(Stall(reason, at - min(waiting_since.values())))
        return max(stalls, key=lambda stall: stall.seconds)
