"""A worker over PostgreSQL whose connections are cut, and one that is asked to end while it works."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable, Iterator

import psycopg
import pytest
from django.conf import settings
from django.utils import timezone

from consilium.tasks import clear_expired_sessions
from rubrics.models import Benchmark
from scoring.models import JudgeRun, Verdict
from scoring.runs.services import RunFrame, create_run
from scoring.tasks import judge_slice
from tests.factories import BenchmarkFactory, CaseFactory, ResponseFactory
from tests.processes import Worker
from tests.scoring.conftest import Loopback, chat_judge, loopback, loopback_process  # noqa: F401  # fixtures
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

LIMIT_S = 5.0
BROKER = f"{settings.TEST_DATABASE}_broker"


def connect(name: str) -> psycopg.Connection:
    """To a database of the test server; autocommits."""
    database = settings.DATABASES["default"]
    return psycopg.connect(
        host=database["HOST"],
        port=database.get("PORT") or None,
        user=database["USER"],
        password=database.get("PASSWORD") or None,
        dbname=name,
        autocommit=True,
    )


def polls_per_second(connection: psycopg.Connection, seconds: float) -> float:
    """Transactions of everybody who uses the broker's database, of which an idle worker makes all but a few.

    A connection reports its transactions about once a second, so a count over few seconds is off by up to a half.
    """

    def count() -> int:
        row = connection.execute("SELECT xact_commit FROM pg_stat_database WHERE datname = %s", [BROKER]).fetchone()
        return int(row[0])  # type: ignore[index]

    began, before = time.monotonic(), count()
    time.sleep(seconds)
    return (count() - before) / (time.monotonic() - began)


@contextlib.contextmanager
def broker_away(connection: psycopg.Connection) -> Iterator[None]:
    """Nobody is connected to the broker's database, and nobody can be."""
    connection.execute(f'ALTER DATABASE "{BROKER}" ALLOW_CONNECTIONS false')
    try:
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [BROKER])
        yield
    finally:
        connection.execute(f'ALTER DATABASE "{BROKER}" ALLOW_CONNECTIONS true')


def test_a_broker_that_goes_away_and_comes_back_costs_no_task_and_polls_do_not_add_up(
    start_worker: Callable[..., Worker],
) -> None:
    worker = start_worker(queue="away", WORKER_STALL_LIMIT=str(LIMIT_S))

    def worker_attempts() -> int:
        return worker.log.read_text().count("Trying to re-establish the connection")

    def wait_for_log(text: str, times: int) -> None:
        wait_until(lambda: worker.log.read_text().count(text) >= times, within_s=60, message=text)

    with connect("postgres") as connection:
        before = polls_per_second(connection, 6)
        for number in range(1, 4):
            with broker_away(connection):
                wait_for_log("Trying to re-establish the connection", worker_attempts() + 1)
                if number == 1:
                    time.sleep(LIMIT_S + 2)  # longer than the limit, but no stall: each attempt is a loop that runs
            clear_expired_sessions.apply_async(queue="away")
            wait_for_log(" succeeded in ", number)
        after = polls_per_second(connection, 6)
        worker.stop()
        if after >= 1.6 * before:  # the machine was busier at first: a worker that begins now is the measure
            fresh = start_worker(queue="away", WORKER_STALL_LIMIT=str(LIMIT_S))
            before = max(before, polls_per_second(connection, 6))
            fresh.stop()
    assert 0 < after < 1.6 * before, (before, after)
    assert "Error in timer" not in worker.log.read_text()


def waiting(connection: psycopg.Connection, queue: str) -> int:
    """Messages that no worker holds."""
    row = connection.execute(
        "SELECT count(*) FROM kombu_message m JOIN kombu_queue q ON q.id = m.queue_id WHERE q.name = %s", [queue]
    ).fetchone()
    return int(row[0])  # type: ignore[index]


@pytest.fixture
def benchmark(db: None) -> Benchmark:
    benchmark = BenchmarkFactory(slug="small")
    ResponseFactory(case=CaseFactory(benchmark=benchmark, rubric=1))
    return benchmark


def start_run(benchmark: Benchmark, loopback: Loopback, *, latency: float) -> JudgeRun:  # noqa: F811
    loopback.start_afresh(latency)
    judge = chat_judge(benchmark, loopback, slices=1, timeout_s=120.0)
    run = create_run(benchmark=benchmark, judge=judge, frame=RunFrame(), by=None, at=timezone.now())
    wait_until(loopback.requests, within_s=60, message="the worker asks the judge")
    return run


@pytest.mark.parametrize(
    ("step", "latency", "ends_within_s"),
    [(signal.SIGTERM, 8.0, 60.0), (signal.SIGQUIT, 100.0, 60.0)],
    ids=["warm: what runs is finished", "cold: what runs has the time of the soft shutdown"],
)
def test_a_worker_that_is_asked_to_end_does_and_puts_back_what_it_did_not_begin(
    step: signal.Signals,
    latency: float,
    ends_within_s: float,
    benchmark: Benchmark,
    loopback: Loopback,  # noqa: F811
    start_worker: Callable[..., Worker],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    queue = f"ends by {step.name}"
    monkeypatch.setattr(judge_slice, "delay", lambda *ids: judge_slice.apply_async(ids, queue=queue))
    worker = start_worker(queue=queue, JUDGE_ALLOWED_HOSTS="127.0.0.1")
    run = start_run(benchmark, loopback, latency=latency)
    for _ in range(2):
        clear_expired_sessions.apply_async(queue=queue)
    with connect(BROKER) as connection:
        wait_until(lambda: waiting(connection, queue) == 0, message="the worker has received all")
        worker.process.send_signal(step)
        exit_code = worker.process.wait(timeout=ends_within_s)
        put_back = waiting(connection, queue)
        connection.execute("DELETE FROM kombu_message")
    verdicts = Verdict.objects.filter(run=run).count()
    assert (exit_code, verdicts, put_back) == ((0, 1, 2) if step == signal.SIGTERM else (0, 0, 3))
    assert worker.children() == []
    assert "Restoring" in worker.log.read_text()
