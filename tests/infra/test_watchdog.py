"""A worker that makes no progress ends itself and logs why; one that is busy, idle or without its broker does not."""

from __future__ import annotations

import os
import re
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.db import connection, connections
from django.utils import timezone
from kombu import Connection

from consilium.core.heartbeat import WorkerHeartbeat, workers_seen
from consilium.core.watchdog import EXIT_CODE, Watchdog
from consilium.tasks import clear_expired_sessions
from rubrics.models import Benchmark
from scoring.models import JudgeRun
from scoring.runs.services import RunFrame, create_run
from scoring.tasks import judge_slice
from tests.factories import BenchmarkFactory, CaseFactory, ResponseFactory
from tests.processes import Worker, redis_server
from tests.scoring.conftest import Loopback, chat_judge, loopback, loopback_process  # noqa: F401  # fixtures
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

LIMIT_S = 5.0  # a busy machine can keep a worker from running for seconds
SEATS = 2
QUEUE = "watched"


@pytest.fixture(scope="module")
def worker(new_worker: Callable[..., Worker]) -> Iterator[Worker]:
    """One worker for these tests; the last of them ends it."""
    watched = new_worker(
        concurrency=SEATS, queue=QUEUE, WORKER_STALL_LIMIT=str(LIMIT_S), JUDGE_ALLOWED_HOSTS="127.0.0.1"
    )
    yield watched
    watched.kill()


@pytest.fixture
def benchmark(db: None) -> Benchmark:
    benchmark = BenchmarkFactory(slug="small")
    ResponseFactory(case=CaseFactory(benchmark=benchmark, rubric=1))
    return benchmark


def heartbeat(worker: Worker) -> WorkerHeartbeat | None:
    return workers_seen(within_s=LIMIT_S).filter(pid=worker.pid).first()


def watch_for(worker: Worker, seconds: float) -> WorkerHeartbeat:
    """The row that ``worker`` still writes after so long."""
    row = wait_until(lambda: heartbeat(worker), message="the worker writes its row")
    until = row.beat_at.timestamp() + seconds

    def is_later() -> WorkerHeartbeat | None:
        assert worker.process.poll() is None, worker.log.read_text()[-4000:]
        row = heartbeat(worker)
        return row if row is not None and row.beat_at.timestamp() > until else None

    return wait_until(is_later, within_s=seconds + 60, message="the worker goes on writing its row")


def test_its_thread_keeps_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy server may have no connection left to give in place of one that was closed by its age."""
    monkeypatch.setitem(connections.settings["default"], "CONN_MAX_AGE", 60)
    watchdog = Watchdog(SimpleNamespace())
    watchdog.interval_s = 0.01
    ends: list[float | None] = []

    def look() -> None:
        connection.ensure_connection()
        ends.append(connection.close_at)
        watchdog._ended.set()

    monkeypatch.setattr(watchdog, "_look", look)
    thread = threading.Thread(target=watchdog._run)
    thread.start()
    thread.join(60)
    assert ends == [None]


@pytest.mark.slow
def test_an_idle_worker_is_no_stall(worker: Worker) -> None:
    row = watch_for(worker, 2 * LIMIT_S)
    assert (row.state, row.active_tasks, row.waiting_tasks) == ("working", [], 0)


@pytest.mark.slow
def test_long_tasks_on_every_seat_with_others_waiting_are_no_stall(
    worker: Worker,
    benchmark: Benchmark,
    loopback: Loopback,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(judge_slice, "delay", lambda *ids: judge_slice.apply_async(ids, queue=QUEUE))
    loopback.start_afresh(2 * LIMIT_S)
    judge = chat_judge(benchmark, loopback, slices=1, timeout_s=60.0)
    for _ in range(SEATS + 1):
        create_run(benchmark=benchmark, judge=judge, frame=RunFrame(), by=None, at=timezone.now())

    def is_full() -> bool:
        row = heartbeat(worker)
        return row is not None and (row.active_tasks, row.waiting_tasks) == (["scoring.tasks.judge_slice"] * SEATS, 1)

    wait_until(is_full, message="the row says what the worker does")
    wait_until(lambda: set(JudgeRun.objects.values_list("status", flat=True)) == {"finished"}, within_s=60)
    assert worker.process.poll() is None
    assert "made no progress" not in worker.log.read_text()


@pytest.mark.slow
def test_children_that_hang_end_the_worker_which_says_why(worker: Worker) -> None:
    children = worker.children()
    assert len(children) == SEATS
    for child in children:
        os.kill(child, signal.SIGSTOP)
    clear_expired_sessions.apply_async(queue=QUEUE)
    assert worker.process.wait(timeout=LIMIT_S + 60) == EXIT_CODE
    log = worker.log.read_text()
    reason = f"worker made no progress for {LIMIT_S:g} s and ends, to be started again: "
    assert f"{reason}a seat is free, and received tasks do not start: 1" in log
    (line,) = [line for line in log.splitlines() if reason in line]
    assert re.search(rf'"pid": {worker.pid}\b', line), line
    named = re.search(r'"children": \[([\d, ]+)\]', line)
    assert named is not None, line
    assert sorted(map(int, named[1].split(", "))) == sorted(children)
    assert '"waiting_tasks": 1' in line
    assert 'celery/worker/loops.py", line' in log  # where each thread was
    wait_until(lambda: not worker.children(), message="its children are gone, though they could not end themselves")


def test_a_broker_that_is_away_is_no_stall(start_worker: Callable[..., Worker], tmp_path: Path) -> None:
    with redis_server(tmp_path) as address:
        worker = start_worker(REDIS_URL=address, WORKER_STALL_LIMIT=str(LIMIT_S))
        watch_for(worker, 0)
    row = watch_for(worker, LIMIT_S + 1)
    assert row.state == "connecting"
    port = int(address.rpartition(":")[2].partition("/")[0])
    with redis_server(tmp_path, port=port):
        wait_until(lambda: (row := heartbeat(worker)) is not None and row.state == "working", within_s=60)
        with Connection(address) as connection:
            clear_expired_sessions.apply_async(connection=connection)
        wait_until(lambda: " succeeded in " in worker.log.read_text(), message="the worker goes on")
        worker.stop()
    # Ended in good order, it has no row.
    assert heartbeat(worker) is None
