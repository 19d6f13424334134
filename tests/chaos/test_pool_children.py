"""``kill -9`` of a worker's children, idle and busy, over both brokers: the worker goes on, and nothing is lost.

Small judge runs flow through one real worker of two seats. In turn one of its idle children is killed, or both, and
then one that works. Each run must end with each of its verdicts, once.
"""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable, Iterable
from datetime import datetime

import pytest
from django.utils import timezone
from kombu import Connection

from rubrics.models import Benchmark
from scoring.models import JudgeRun, Verdict
from scoring.runs.services import RunFrame, create_run
from scoring.tasks import judge_slice
from tests.chaos import FULL, SEED
from tests.chaos.beat import Beat
from tests.factories import BenchmarkFactory, CaseFactory, ResponseFactory
from tests.processes import Worker
from tests.scoring.conftest import Loopback, chat_judge, loopback, loopback_process  # noqa: F401  # fixtures
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

KILLS = 50 if FULL else 3  # of idle children, and as many of busy ones
SEATS = 2
CRITERIA = 4
LATENCY_S = 0.4
RUNS_PER_KILL = 3
MAX_SILENCE_S = 60.0


@pytest.fixture
def small(db: None) -> Benchmark:
    benchmark = BenchmarkFactory(slug="small")
    ResponseFactory(case=CaseFactory(benchmark=benchmark, rubric=CRITERIA))
    return benchmark


def longest_silence(runs: Iterable[tuple[datetime, datetime]]) -> float:
    """Longest time without an end while a run waited, in seconds; ``runs`` are times of creation and end."""
    by_end = sorted(runs, key=lambda run: run[1])
    silences = [
        (end - max(min(created for created, _ in by_end[number:]), by_end[number - 1][1] if number else created_first))
        for number, (created_first, end) in enumerate(by_end)
    ]
    return max(silence.total_seconds() for silence in silences)


@pytest.mark.parametrize("broker", ["postgresql", "redis"])
def test_killed_children_cost_no_run_and_no_silence(
    broker: str,
    request: pytest.FixtureRequest,
    small: Benchmark,
    loopback: Loopback,  # noqa: F811
    start_worker: Callable[..., Worker],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    environment = {"JUDGE_ALLOWED_HOSTS": "127.0.0.1"}
    if broker == "redis":
        address = environment["REDIS_URL"] = request.getfixturevalue("redis_url")

        def send(*ids: int) -> None:
            with Connection(address) as connection:
                judge_slice.apply_async(ids, connection=connection)

        monkeypatch.setattr(judge_slice, "delay", send)
    loopback.start_afresh(LATENCY_S)
    judge = chat_judge(small, loopback, slices=1)
    rng = random.Random(SEED)
    kills = {"idle": 0, "busy": 0}
    runs: list[JudgeRun] = []
    worker = start_worker(concurrency=SEATS, **environment)

    def create_runs() -> None:
        for _ in range(RUNS_PER_KILL):
            runs.append(create_run(benchmark=small, judge=judge, frame=RunFrame(), by=None, at=timezone.now()))

    def count(*statuses: str) -> int:
        return JudgeRun.objects.filter(status__in=statuses).count()

    def is_busy() -> bool:
        if count(*JudgeRun.LIVE) < SEATS:  # one child did them all before the other had been replaced
            create_runs()
        return count("running") >= SEATS

    def kill(kind: str, number: int) -> None:
        children = wait_until(
            lambda: pids if len(pids := worker.children()) == SEATS else [], within_s=60, message="each seat is filled"
        )
        for child in rng.sample(children, number):
            os.kill(child, signal.SIGKILL)
            kills[kind] += 1

    def wait_until_done() -> None:
        wait_until(lambda: not count(*JudgeRun.LIVE), within_s=MAX_SILENCE_S, message="all runs have ended")

    with Beat() as beat:
        while kills["idle"] < KILLS or kills["busy"] < KILLS:
            if kills["idle"] < KILLS:
                # Both, and one, in turn: of two idle children only one would hold a lock that they share.
                kill("idle", min(SEATS if kills["idle"] % 3 == 0 else 1, KILLS - kills["idle"]))
            create_runs()
            if kills["busy"] < KILLS:
                wait_until(is_busy, within_s=MAX_SILENCE_S, message="each seat has a run")
                kill("busy", 1)
            wait_until_done()
    worker.stop()
    assert beat.errors == []

    for run in runs:
        run.refresh_from_db()
        verdicts = Verdict.objects.filter(run=run)
        once = verdicts.values_list("response", "criterion", "replicate").distinct().count()
        assert (run.status, run.expected, verdicts.count(), once) == ("finished", CRITERIA, CRITERIA, CRITERIA)
    silence = longest_silence((run.created_at, run.finished_at) for run in runs if run.finished_at is not None)
    extra = loopback.requests() - CRITERIA * len(runs)
    print(
        f"{broker}: {kills['idle']} idle and {kills['busy']} busy children killed, {len(runs)} runs, 0 lost, "
        f"0 double, {extra} calls asked again, longest silence {silence:.1f} s"
    )
    assert kills == {"idle": KILLS, "busy": KILLS}
    assert 0 <= extra <= CRITERIA * kills["busy"]
    assert silence < MAX_SILENCE_S
