"""``kill -9`` and emptied brokers in the middle of judge runs: every verdict once, and few calls twice.

Two real workers over a real Redis share each run. At random moments (seeded) one of them loses its main process or
the child that works, in turn, or Redis forgets everything it held. What was killed is started again, as a supervisor
would; the sweep runs every second, as with beat every few. What must hold in the end: each verdict is there once,
from one stored call, and the endpoint was asked at most so often again as calls were in the air or unwritten in the
processes that were killed.
"""

from __future__ import annotations

import math
import os
import random
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
import redis
from django.utils import timezone
from kombu import Connection

from consilium.core import locked_jobs
from rubrics.models import Benchmark
from scoring.models import JudgeCall, JudgeRun, Verdict
from scoring.runs.services import RunFrame, create_run, resume_run
from scoring.tasks import judge_slice
from scoring.work.dispatcher import MAX_UNWRITTEN
from scoring.work.turn import WRITE_AT, WRITE_EVERY_S
from tests.chaos import FULL, SEED, kills
from tests.chaos.beat import Beat
from tests.factories import BenchmarkFactory, CandidateFactory, CaseFactory, ResponseFactory
from tests.processes import Worker
from tests.scoring.conftest import Loopback, chat_judge, loopback, loopback_process  # noqa: F401  # fixtures
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

KILLS = kills(full=200, small=3)
FLUSHES = 20 if FULL else 1
CASES, CRITERIA, CANDIDATES = (50, 20, 5) if FULL else (14, 20, 5)  # 5,000 or 1,400 verdicts to a run
CONCURRENCY, WORKERS = 16, 2
LATENCY = 0.03 if FULL else 0.1
# Long enough in full size for several runs to come to their end in between; in small size for a process to have
# answers to lose, were they not written.
PAUSE_S = (0.0, 4.0) if FULL else (1.9, 2.4)
IN_FLIGHT = CONCURRENCY // WORKERS
# In full size there is time for writing to fall behind as far as it may. In small size it is by far less than there are
# verdicts: what the requests in the air can bring until the next writing is due and done.
WRITTEN_WITHIN_S = 0.75
UNWRITTEN = (
    MAX_UNWRITTEN if FULL else min(WRITE_AT, math.ceil(IN_FLIGHT / LATENCY * (WRITE_EVERY_S + WRITTEN_WITHIN_S)))
)


@pytest.fixture
def large(db: None) -> Benchmark:
    benchmark = BenchmarkFactory(slug="large")
    candidates = [CandidateFactory(benchmark=benchmark) for _ in range(CANDIDATES)]
    for _ in range(CASES):
        case = CaseFactory(benchmark=benchmark, rubric=CRITERIA)
        for candidate in candidates:
            ResponseFactory(case=case, candidate=candidate)
    return benchmark


@dataclass
class Fleet:
    """The workers, and what happened to them."""

    start: Callable[[], Worker]
    broker: redis.Redis
    rng: random.Random
    workers: list[Worker] = field(default_factory=list)
    ever: list[Worker] = field(default_factory=list)  # those too whose main process was killed
    hiring: list[threading.Thread] = field(default_factory=list)
    kills: list[str] = field(default_factory=list)
    flushes: int = 0

    def hire(self) -> None:
        """Begin to start a worker; the others go on meanwhile."""

        def start() -> None:
            worker = self.start()
            self.ever.append(worker)
            self.workers.append(worker)

        self.hiring.append(threading.Thread(target=start))
        self.hiring[-1].start()

    def dismiss(self) -> None:
        """Kill them all."""
        for thread in self.hiring:
            thread.join()
        for worker in self.ever:
            worker.kill()

    def children(self) -> list[int]:
        """Living processes below the workers, those too whose main process was killed."""
        return [child for worker in self.ever for child in worker.children()]

    def strike(self, what: str) -> None:
        """Do one thing that a run must survive."""
        if what == "flush":
            self.broker.flushall()
            self.flushes += 1
            return
        if what == "child":
            os.kill(self.rng.choice(wait_until(self.children, within_s=60, message="a child lives")), signal.SIGKILL)
        else:
            wait_until(lambda: self.workers, within_s=60, message="a worker is there")
            worker = self.workers.pop(self.rng.randrange(len(self.workers)))
            worker.process.kill()
            worker.process.wait()
            self.hire()
        self.kills.append(what)


def test_kills_and_emptied_brokers_cost_calls_and_no_verdict(
    large: Benchmark,
    loopback: Loopback,  # noqa: F811
    redis_url: str,
    start_worker: Callable[..., Worker],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def send(*ids: int) -> None:
        with Connection(redis_url) as broker:
            judge_slice.apply_async(ids, connection=broker)

    monkeypatch.setattr(judge_slice, "delay", send)
    # A task lost with an emptied broker is enqueued again after this.
    monkeypatch.setattr(locked_jobs, "ENQUEUE_AGAIN_AFTER", timedelta(seconds=2))
    loopback.start_afresh(LATENCY)
    rng = random.Random(SEED)
    strikes = ["main" if number % 2 else "child" for number in range(KILLS)]
    for _ in range(FLUSHES):
        strikes.insert(rng.randrange(len(strikes) + 1), "flush")
    judge = chat_judge(large, loopback, concurrency=CONCURRENCY, slices=WORKERS)
    fleet = Fleet(
        lambda: start_worker(REDIS_URL=redis_url, JUDGE_ALLOWED_HOSTS="127.0.0.1"), redis.Redis.from_url(redis_url), rng
    )
    runs: list[JudgeRun] = []
    resumed = 0

    def live() -> bool:
        nonlocal resumed
        runs[-1].refresh_from_db()
        if runs[-1].status in ("failed", "incomplete"):
            resume_run(run=runs[-1], at=timezone.now())
            resumed += 1
        return runs[-1].status in JudgeRun.LIVE

    try:
        for _ in range(WORKERS):
            fleet.hire()
        wait_until(lambda: fleet.workers, within_s=60, message="the first worker is there")
        with Beat() as beat:
            while strikes or not runs:
                runs.append(create_run(benchmark=large, judge=judge, frame=RunFrame(), by=None, at=timezone.now()))
                while strikes and live():
                    time.sleep(rng.uniform(*PAUSE_S))
                    if live():
                        fleet.strike(strikes.pop(0))
                wait_until(lambda: not live(), within_s=300, message="the run ends")
        assert beat.errors == []
    finally:
        fleet.dismiss()

    expected = CASES * CRITERIA * CANDIDATES
    for run in runs:
        verdicts = Verdict.objects.filter(run=run)
        once = verdicts.values_list("response", "criterion", "replicate").distinct().count()
        assert (run.status, run.expected, verdicts.count(), once) == ("finished", expected, expected, expected)
        assert set(verdicts.values_list("outcome", flat=True)) == {"met", "not_met"}
        # A verdict that was asked for twice and written once would leave a call that no verdict came of.
        assert JudgeCall.objects.filter(run=run).count() == expected
    extra = loopback.requests() - expected * len(runs)
    bound = len(fleet.kills) * (IN_FLIGHT + UNWRITTEN)
    print(
        f"{len(fleet.kills)} kills, {fleet.flushes} flushes, {len(runs)} runs of {expected} verdicts, "
        f"{loopback.requests()} calls, {extra} of them extra (at most {bound}), {resumed} resumed by hand"
    )
    assert (len(fleet.kills), fleet.flushes) == (KILLS, FLUSHES)
    assert 0 <= extra <= bound
