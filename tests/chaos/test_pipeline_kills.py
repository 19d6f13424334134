"""``kill -9`` in the middle of runs of steps: no step lost or done twice, and no budget passed.

Several processes wait for the lock of a run; at random moments (seeded) the one that holds it is killed, and another
goes on. In the end every step that the plan names is done once, from one stored answer; the endpoint was asked at most
so often again as requests were in flight or unwritten; and what it charged for all requests, those of killed workers
included, is within the budget.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from decimal import Decimal

import pytest
from django.db import connection
from django.db.models import Count

from consilium.core.locks import WorkerLock
from rubrics.models import Benchmark, Case
from scoring.models import EndpointCall, PipelineRun
from scoring.pipelines.settling import name_of
from scoring.work.turn import WRITE_EVERY_S
from tests.chaos import FULL
from tests.factories import BenchmarkFactory
from tests.processes import ROOT
from tests.scoring.conftest import Loopback, loopback, loopback_process  # noqa: F401  # fixtures
from tests.scoring.pipelines.verdict_chain import KIND, begin
from tests.waiting import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

SEED = int(os.environ.get("CONSILIUM_CHAOS_SEED", "4"))
KILLS, CASES, LATENCY, STANDBY = (100, 60, 0.05, 3) if FULL else (2, 8, 0.1, 3)
CONCURRENCY, ENDPOINTS = 4, 2
PRICE, COST, MOST = 1000.0, 0.02, 0.1  # of a million tokens; of an answer of 20 tokens; of one of 100


class Workers:
    """Processes that work on runs; the one that holds a run's lock can be killed."""

    def __init__(self, environment: dict[str, str], count: int) -> None:
        self.environment = environment
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.started = self.kills = 0
        for _ in range(count):
            self.start()

    def start(self) -> None:
        name = f"steps-{self.started}"
        self.started += 1
        self.processes[name] = subprocess.Popen(
            [sys.executable, "-m", "tests.chaos.pipeline_worker"],
            cwd=ROOT,
            env={**self.environment, "JUDGE_ALLOWED_HOSTS": "127.0.0.1", "PGAPPNAME": name},
            stdout=subprocess.DEVNULL,
        )

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
            process = self.processes.pop(name)
            process.kill()
            process.wait()
            self.kills += 1
        return bool(names)

    def end(self) -> None:
        for process in self.processes.values():
            process.kill()
            process.wait()


@pytest.fixture
def workers(process_environment: dict[str, str]) -> Iterator[Workers]:
    fleet = Workers(process_environment, STANDBY)
    yield fleet
    fleet.end()


def make_cases(slug: str, sore: str) -> Benchmark:
    benchmark = BenchmarkFactory(slug=slug)
    Case.objects.bulk_create(
        Case(benchmark=benchmark, key=f"c-{n}", conversation=[{"role": "user", "content": f"{sore} {n} days."}])
        for n in range(CASES)
    )
    return benchmark


def work_and_kill(workers: Workers, run: PipelineRun, kills: int, rng: random.Random) -> None:
    """Let the run come to its end, with so many kills on the way, if it lasts for so many."""

    def is_over() -> bool:
        run.refresh_from_db()
        return run.status not in PipelineRun.LIVE

    wait_until(lambda: EndpointCall.objects.filter(run=run).exists() or is_over(), within_s=60, message="it begins")
    while kills and not is_over():
        time.sleep(rng.uniform(0, 2 * LATENCY))
        if workers.kill_holder(run):
            kills -= 1
            if len(workers.processes) < STANDBY - 1:
                workers.start()
            calls = EndpointCall.objects.filter(run=run).count()
            # As a rule of five starts without an answer, a run must get on between two kills.
            wait_until(
                lambda calls=calls: EndpointCall.objects.filter(run=run).count() > calls or is_over(),
                within_s=60,
                message="another worker goes on",
            )
    wait_until(is_over, within_s=120, message="the run ends")


def check_steps(run: PipelineRun) -> None:
    """Every step of the plan is there once, and done from one stored answer."""
    settings = KIND.settings_of(run, may_call=False)
    n_requests = 0
    for case in Case.objects.filter(benchmark=run.benchmark):
        steps = {name_of(step): step for step in run.steps.filter(case=case)}
        done = {name: step.output for name, step in steps.items() if step.output is not None}
        assert {planned.name for planned in KIND.plan(settings, done)} == set(steps) == set(done)
        n_requests += sum(name.stage != "sum" for name in steps)
    assert EndpointCall.objects.filter(run=run).count() == n_requests == run.calls
    twice = EndpointCall.objects.filter(run=run).values("request_hash").annotate(n=Count("pk")).filter(n__gt=1)
    assert not twice.exists()


def test_kills_lose_no_step_and_pass_no_budget(workers: Workers, loopback: Loopback) -> None:  # noqa: F811
    rng = random.Random(SEED)
    loopback.start_afresh(LATENCY)
    earlier_requests = number = 0
    while workers.kills < KILLS:
        # A budget that suffices for all steps, and what kills may lose of it; then one that does not.
        benchmark = make_cases(f"killed-{number}", f"Sore {number} for")
        least = workers.kills
        run = begin(benchmark, loopback.url, concurrency=CONCURRENCY, price=PRICE, budget=Decimal(1000))
        work_and_kill(workers, run, min(KILLS - workers.kills, 1 if not FULL else 20), rng)
        assert (run.status, run.error) == ("finished", "")
        check_steps(run)
        requests = loopback.requests() - earlier_requests
        in_flight = ENDPOINTS * CONCURRENCY * (1 + WRITE_EVERY_S * 1.5 / LATENCY)
        assert 0 <= requests - run.calls <= (workers.kills - least) * in_flight
        assert requests * COST <= run.spent + 1e-9
        earlier_requests += requests

        least = workers.kills
        budget = Decimal("0.9") if not FULL else Decimal(3)
        tight = begin(benchmark, loopback.url, concurrency=CONCURRENCY, price=PRICE, budget=budget, temperature=0.5)
        work_and_kill(workers, tight, min(max(1, KILLS - workers.kills), 1 if not FULL else 5), rng)
        requests = loopback.requests() - earlier_requests
        earlier_requests += requests
        assert tight.status == "incomplete" and "budget is spent" in tight.error
        assert requests * COST <= tight.spent + 1e-9 and tight.spent <= float(budget)
        assert requests > (workers.kills - least)
        number += 1
    print(f"{workers.kills} kills, {number} pairs of runs, {earlier_requests} requests")
