"""``kill -9`` in the middle of runs of steps, of any kind: what must hold of steps, answers and money.

Several processes wait for the lock of a run; at random moments (seeded) the one that holds it is killed, and another
goes on. `kill_runs` begins runs until enough processes were killed: one with a budget that suffices, then one with a
budget that does not, and which goes on with more. It checks what holds for every kind:

- each step is done once, from one stored answer, and no request has two good answers;
- the endpoint was asked at most so often again as requests were in flight or unwritten in the processes that died;
- what it charged for all requests, those of killed workers included, is within what the run notes as spent, and that is
  within the budget.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.db import connection
from django.db.models import Count
from django.utils import timezone

from consilium.core.locks import WorkerLock
from scoring.models import EndpointCall, PipelineRun
from scoring.pipelines.runs import resume_run
from scoring.work.turn import WRITE_EVERY_S
from tests.chaos import FULL, SEED
from tests.processes import ROOT
from tests.scoring.conftest import Loopback
from tests.waiting import wait_until

LATENCY, STANDBY, CONCURRENCY = (0.05 if FULL else 0.1), 3, 4
MIN_WORKERS = STANDBY - 1 if FULL else 1  # below it, another one is started
WITHIN_S = 300 if FULL else 60
AMPLE = Decimal(1000)
# Of an answer of `bench/loopback_judge.py`, which counts 20 tokens; at most as much again for each of five.
PRICED: dict[str, Any] = {"price_out": 1000.0, "price_in": 0.0, "currency": "USD", "max_tokens": 100}
COST = 0.02


class Workers:
    """Processes that work on runs; the one that holds a run's lock can be killed."""

    def __init__(self, environment: dict[str, str], count: int) -> None:
        self.processes: dict[str, int] = {}
        self.started = self.kills = 0
        self.origin = subprocess.Popen(
            [sys.executable, "-m", "tests.chaos.pipeline_worker"],
            cwd=ROOT,
            env={**environment, "JUDGE_ALLOWED_HOSTS": "127.0.0.1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(count):
            self.start()

    def start(self) -> None:
        assert self.origin.stdin and self.origin.stdout
        name = f"steps-{self.started}"
        self.started += 1
        self.origin.stdin.write(f"{name}\n")
        self.origin.stdin.flush()
        self.processes[name] = int(self.origin.stdout.readline())

    def kill(self, name: str) -> None:
        """Kill a process, and wait until it is gone."""
        pid = self.processes.pop(name)
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not Path(f"/proc/{pid}").exists(), within_s=60, message="the process is gone")

    def kill_holder(self, run: PipelineRun) -> bool:
        """Kill the process that works on the run; False where none does at the moment."""
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid)"
                " WHERE locktype = 'advisory' AND classid = %s AND objid = %s AND granted",
                [WorkerLock.PIPELINE << 16, run.pk],
            )
            names = [name for (name,) in cursor.fetchall() if name in self.processes]
        for name in names:
            self.kill(name)
            self.kills += 1
        return bool(names)

    def end(self) -> None:
        """End all of them; twice is once."""
        for name in list(self.processes):
            self.kill(name)
        assert self.origin.stdin and self.origin.stdout
        self.origin.stdin.close()
        self.origin.wait(60)
        self.origin.stdout.close()


def work_and_kill(workers: Workers, run: PipelineRun, kills: int, rng: random.Random) -> None:
    """Let the run come to its end, with so many kills on the way, if it lasts for so many."""

    def is_over() -> bool:
        run.refresh_from_db()
        return run.status not in PipelineRun.LIVE

    wait_until(
        lambda: EndpointCall.objects.filter(run=run).exists() or is_over(), within_s=WITHIN_S, message="it begins"
    )
    while kills and not is_over():
        time.sleep(rng.uniform(0, 2 * LATENCY))
        if workers.kill_holder(run):
            kills -= 1
            if len(workers.processes) < MIN_WORKERS:
                workers.start()
            calls = EndpointCall.objects.filter(run=run).count()
            # As a rule of five starts without an answer, a run must get on between two kills.
            wait_until(
                lambda calls=calls: EndpointCall.objects.filter(run=run).count() > calls or is_over(),
                within_s=WITHIN_S,
                message="another worker goes on",
            )
    wait_until(is_over, within_s=2 * WITHIN_S, message="the run ends")


@dataclass
class Charges:
    """Requests that an endpoint had, and what it charged for them."""

    requests: int
    money: float

    def since(self, earlier: Charges) -> Charges:
        return Charges(self.requests - earlier.requests, self.money - earlier.money)


def charges_of(loopback: Loopback) -> Charges:
    """Of all requests since it was started afresh, at the prices of `PRICED`."""
    requests = loopback.requests()
    return Charges(requests, requests * COST)


@dataclass
class Tally:
    """What happened in the runs of a test."""

    runs: int = 0
    steps: int = 0
    requests: int = 0
    doubled: int = 0
    charged: float = 0.0
    tight: list[str] = field(default_factory=list)  # charged, noted as spent, and budget, of each tight run


def outputs_of(run: PipelineRun) -> list[tuple[Any, ...]]:
    """Case, step, state, output and findings of each step."""
    steps = run.steps.order_by("case__key", "stage", "key", "round")
    return list(steps.values_list("case__key", "stage", "key", "round", "state", "output", "findings"))


def kill_runs(
    workers: Workers,
    *,
    begin: Callable[[int, Decimal], PipelineRun],
    check: Callable[[PipelineRun], None],
    charges: Callable[[], Charges],
    n_steps: int | None,
    budget: Decimal,
    kills: int,
    endpoints: int = 1,
) -> PipelineRun:
    """Run and kill until ``kills`` processes were killed; return the first run, which is finished. No worker is left.

    ``begin`` makes a run that has its own requests, by its number, with a budget; ``check`` says what holds of a
    finished run of this kind. A run has ``n_steps`` steps, where that is known beforehand, and ``budget`` does not
    suffice for them.
    """
    rng, tally, first = random.Random(SEED), Tally(), None
    in_flight = endpoints * CONCURRENCY * (1 + WRITE_EVERY_S * 1.5 / LATENCY)
    while workers.kills < kills:
        killed, before = workers.kills, charges()
        run = begin(tally.runs, AMPLE)
        work_and_kill(workers, run, min(kills - workers.kills, 20 if FULL else 1), rng)
        check_run(run, n_steps)
        check(run)
        own = charges().since(before)
        assert 0 <= own.requests - run.calls <= (workers.kills - killed) * in_flight
        assert own.money <= run.spent + 1e-9
        assert run.spent <= float(AMPLE)
        first = first or run
        count(tally, run, own)

        killed, before = workers.kills, charges()
        tight = begin(tally.runs, budget)
        work_and_kill(workers, tight, min(max(1, kills - workers.kills), 5 if FULL else 1), rng)
        own = charges().since(before)
        assert tight.status == "incomplete"
        assert "budget is used up" in tight.error
        assert own.money <= tight.spent + 1e-9
        assert tight.spent <= float(budget)
        assert own.requests > workers.kills - killed
        tally.tight.append(f"{own.money:.2f} of {tight.spent:.2f} within {budget}")
        # More money, and the run comes to its end: what it had is still there, and is not asked again.
        resume_run(run=tight, at=timezone.now(), budget=AMPLE)
        work_and_kill(workers, tight, 0, rng)
        check_run(tight, n_steps)
        check(tight)
        own = charges().since(before)
        assert 0 <= own.requests - tight.calls <= (workers.kills - killed) * in_flight
        assert own.money <= tight.spent + 1e-9
        count(tally, tight, own)
    print(
        f"{workers.kills} kills, {tally.runs} runs, {tally.steps} steps, {tally.requests} "
        f"requests, {tally.doubled} of them again, {tally.charged:.2f} charged; tight: {'; '.join(tally.tight)}"
    )
    workers.end()  # what is run after this is quiet
    assert first is not None
    return first


def count(tally: Tally, run: PipelineRun, own: Charges) -> None:
    """Add a finished run."""
    tally.runs += 1
    tally.steps += run.steps.filter(state="done").count()
    tally.requests += own.requests
    tally.doubled += own.requests - run.calls
    tally.charged += own.money


def check_run(run: PipelineRun, n_steps: int | None) -> None:
    """Every step is done, and every good answer is stored once."""
    assert (run.status, run.error) == ("finished", "")
    n_done = run.steps.filter(state="done").count()
    assert n_done == run.steps.count()
    assert n_steps in (None, n_done)
    calls = EndpointCall.objects.filter(run=run)
    assert calls.count() == run.calls
    assert not calls.exclude(error_kind="").exists()
    assert not calls.values("request_hash").annotate(n=Count("pk")).filter(n__gt=1).exists()
