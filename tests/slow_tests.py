"""The marker ``slow``: `make check` leaves such tests out, and a test without the marker may use little CPU time."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

# Tests above a third of this carry the marker, so that a test beside the limit does not fail by chance.
LIMIT_S = 0.3
# A test above the limit runs again: what is imported, compiled or rendered for the first time counts only once.
REPEATS = 2
# CPU seconds of ``reference_work`` on the machine where the tests were measured, with Python 3.11.
REFERENCE_S = 0.021
# Such a test needs a program or a process that `make check` does without.
SLOW_FIXTURES = frozenset({"chromium", "redis_url", "start_worker"})


def reference_work() -> int:
    """Take ``REFERENCE_S`` of pure Python."""
    return sum(number * number for number in range(500_000))


def cpu_seconds() -> float:
    """CPU time of this process so far, with that of its children that have ended."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def slowness() -> float:
    """How many times slower than the reference this machine is now; at least 1."""
    durations = []
    for _ in range(3):
        start = time.process_time()
        reference_work()
        durations.append(time.process_time() - start)
    return max(1.0, min(durations) / REFERENCE_S)


class SlowTests:
    """Marks tests by their fixtures, and fails a test without the marker that uses more than ``limit_s`` of CPU time.

    Counted is the set-up and the call of the test. Not counted are fixtures of a wider scope, which whichever test
    comes first sets up, and the teardown, in which theirs falls.
    """

    def __init__(self, limit_s: float = LIMIT_S) -> None:
        self._limit_s = limit_s
        self._used = 0.0
        self._depth_of_shared = 0

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Mark what needs a browser, a worker or Redis."""
        if not SLOW_FIXTURES.isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker("slow")

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        """Leave out what the fixtures of a wider scope use."""
        if fixturedef.scope == "function":
            return (yield)
        start = cpu_seconds()
        self._depth_of_shared += 1
        try:
            return (yield)
        finally:
            self._depth_of_shared -= 1
            if not self._depth_of_shared:
                self._used -= cpu_seconds() - start

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self) -> Iterator[None]:
        """Count the set-up."""
        self._used = 0.0
        return (yield from self._counted())

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        """Count the call."""
        return (yield from self._counted())

    def _counted(self) -> Iterator[None]:
        start = cpu_seconds()
        try:
            return (yield)
        finally:
            self._used += cpu_seconds() - start

    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """Run a test without the marker as pytest does, and fail it where it stays above the limit."""
        if item.get_closest_marker("slow"):
            return None
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        if self._used > self._limit_s and all(report.passed for report in reports):
            used, limit = self._used, self._limit_s * slowness()
            for _ in range(REPEATS):
                if used > limit:
                    runtestprotocol(item, log=False, nextitem=nextitem)
                    used = min(used, self._used)
            if used > limit:
                call = next(report for report in reports if report.when == "call")
                call.outcome = "failed"
                call.longrepr = (
                    f"{item.nodeid} used {used:.2f} s of CPU time; the limit without the marker is {limit:.2f} s. "
                    "Make it faster, or mark it slow: @pytest.mark.slow."
                )
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True
