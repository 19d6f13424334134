"""Stops the processes that ``manage.py up`` leaves behind when it ends or is killed.

``up`` starts this first and holds the other end of its standard input. It writes one process number per line for
each process it starts, and the same with a minus sign for each that ended and is stopped: some other program may get
that number. When the pipe closes, because ``up`` ended or was killed, the reaper stops those processes that are left,
then gives up its share of the embedded server, which stops the server unless somebody else uses it.

    python -m standalone.reaper [HOME OF THE EMBEDDED SERVER]
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterable
from pathlib import Path

# The first signal asks for an end in good order, the second for a quick end. SIGKILL follows.
STEPS: tuple[tuple[signal.Signals, float], ...] = ((signal.SIGTERM, 8.0), (signal.SIGQUIT, 3.0))
# How long killed processes may take to disappear and release their locks.
KILLED_WITHIN_S = 10.0
PAUSE_S = 0.05


def group_lives(leader: int) -> bool:
    """Whether any process of the group of ``leader`` still runs (a dead one that nobody waited for does not count)."""
    try:
        os.killpg(leader, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return not _only_zombies(leader)


def _only_zombies(leader: int) -> bool:
    # Where `up` was killed, nobody reaps in time; on Linux the state is in /proc. It is that of a process's first
    # thread: as long as another one lives, the process holds its files and locks.
    try:
        numbers = [name for name in os.listdir("/proc") if name.isdigit()]
    except FileNotFoundError:
        return False
    for number in numbers:
        with contextlib.suppress(OSError, IndexError):
            state, _parent, group = Path("/proc", number, "stat").read_text().rpartition(")")[2].split()[:3]
            if int(group) == leader and (state != "Z" or len(os.listdir(f"/proc/{number}/task")) > 1):
                return False
    return True


def stop_groups(leaders: Iterable[int]) -> None:
    """End the process groups of ``leaders``: ask each leader twice, then kill what is left of its group.

    Where the leader has ended, it passes no signal on, so the others of its group get the signal themselves.
    """
    left = [leader for leader in leaders if group_lives(leader)]
    for step, patience_s in STEPS:
        for leader in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                _signal(leader, step)
        left = _wait_for(left, patience_s)
    for leader in left:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, signal.SIGKILL)
    # The process that stops the embedded server must be its last user, so the killed ones must have disappeared.
    _wait_for(left, KILLED_WITHIN_S)


def _signal(leader: int, step: signal.Signals) -> None:
    """Signal the leader, or its group where the leader has ended."""
    try:
        os.kill(leader, step)
    except ProcessLookupError:
        os.killpg(leader, step)


def _wait_for(leaders: list[int], patience_s: float) -> list[int]:
    """Wait until all groups have ended or the time is over; returns the leaders of groups that still live."""
    until = time.monotonic() + patience_s
    left = leaders
    while left and time.monotonic() < until:
        time.sleep(PAUSE_S)
        left = [leader for leader in left if group_lives(leader)]
    return left


def main(arguments: list[str]) -> None:
    """Hold the embedded server, if any, until standard input closes; then stop the processes named there."""
    # `up` reacts to Ctrl-C and to a closed terminal; this process only follows it.
    for ignored in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(ignored, signal.SIG_IGN)
    server = None
    if arguments:
        from standalone.embedded import ensure

        server = ensure(Path(arguments[0]))
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.write("ready\n")
        sys.stdout.flush()
    leaders: set[int] = set()
    for number in map(int, sys.stdin):
        if number > 0:
            leaders.add(number)
        else:
            leaders.discard(-number)
    stop_groups(leaders)
    if server is not None:
        server.leave()


if __name__ == "__main__":
    main(sys.argv[1:])
