"""When a worker makes no progress: at the mark, and never where its seats are busy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilium.core.progress import ProgressMonitor


def test_a_loop_that_runs_with_nothing_to_do_is_no_stall() -> None:
    monitor = ProgressMonitor(at=0.0)
    for second in range(1, 200):
        monitor.report(at=float(second), waiting=[], active=0, seats=2)
        assert monitor.stall(at=second + 0.5).seconds == 0.5


def test_a_loop_that_does_not_run_is_a_stall_from_its_last_report() -> None:
    monitor = ProgressMonitor(at=0.0)
    monitor.report(at=10.0, waiting=[], active=0, seats=2)
    stall = monitor.stall(at=40.0)
    assert (stall.reason, stall.seconds) == ("the event loop does not run", 30.0)


def test_a_task_that_waits_beside_a_free_seat_is_a_stall_from_when_it_was_first_seen_so() -> None:
    monitor = ProgressMonitor(at=0.0)
    for second in range(5, 36):
        monitor.report(at=float(second), waiting=["a", "b"], active=1, seats=2)
    stall = monitor.stall(at=35.0)
    assert (stall.reason, stall.seconds) == ("a seat is free, and received tasks do not start: 2", 30.0)


def test_a_seat_that_hangs_is_seen_while_the_other_one_works() -> None:
    monitor = ProgressMonitor(at=0.0)
    for second in range(31):
        monitor.report(at=float(second), waiting=["stuck", f"new {second}"], active=second % 2, seats=2)
    assert monitor.stall(at=30.0).seconds == 30.0


def test_busy_seats_are_no_stall_however_long_others_wait() -> None:
    monitor = ProgressMonitor(at=0.0)
    for second in range(2000):
        monitor.report(at=float(second), waiting=["a", "b"], active=2, seats=2)
    assert monitor.stall(at=1999.5).seconds == 0.5


def test_time_beside_a_free_seat_does_not_add_up_over_times_when_all_were_busy() -> None:
    monitor = ProgressMonitor(at=0.0)
    for second in range(100):
        monitor.report(at=float(second), waiting=["a"], active=2 if second % 10 == 0 else 1, seats=2)
    assert monitor.stall(at=99.0).seconds == 8.0  # seen so from 91 on


@pytest.mark.parametrize("waiting", [[], ["a"]])
def test_what_was_before_a_fresh_start_does_not_count(waiting: list[str]) -> None:
    monitor = ProgressMonitor(at=0.0)
    for second in range(29):
        monitor.report(at=float(second), waiting=waiting, active=0, seats=2)
    monitor.start_afresh(at=100.0)
    assert monitor.stall(at=110.0).seconds == 10.0


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=40))
def test_tasks_that_each_start_within_the_limit_are_no_stall(steps: list[tuple[int, int]]) -> None:
    """Received in turn, started in turn, none waits for more than five reports: whatever is active, no stall of six."""
    monitor, received, started, ages = ProgressMonitor(at=0.0), 0, 0, {}
    for at, (new, active) in enumerate(steps):
        ages |= {received + number: at for number in range(new)}
        received += new
        while started < received and at - ages[started] >= 5:
            started += 1
        waiting = [str(number) for number in range(started, received)]
        monitor.report(at=float(at), waiting=waiting, active=active, seats=2)
        assert monitor.stall(at=float(at)).seconds < 5
