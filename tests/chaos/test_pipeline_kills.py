"""``kill -9`` in runs of a kind that has chains, rounds and two endpoints: see `tests.chaos.killed_runs`."""

from __future__ import annotations

from decimal import Decimal

import pytest

from rubrics.models import Benchmark, Case
from scoring.models import EndpointCall, PipelineRun
from scoring.pipelines.settling import name_of
from tests.chaos import FULL, kills
from tests.chaos.killed_runs import CONCURRENCY, LATENCY, PRICED, Workers, charges_of, kill_runs
from tests.factories import BenchmarkFactory
from tests.scoring.conftest import Loopback, loopback, loopback_process  # noqa: F401  # fixtures
from tests.scoring.pipelines.verdict_chain import KIND, begin

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

KILLS, CASES, BUDGET = kills(full=100, small=2), *((60, "3") if FULL else (8, "0.3"))
ENDPOINTS = 2


def make_cases(slug: str) -> Benchmark:
    benchmark = BenchmarkFactory(slug=slug)
    Case.objects.bulk_create(
        Case(benchmark=benchmark, key=f"c-{n}", conversation=[{"role": "user", "content": f"Sore for {n} days."}])
        for n in range(CASES)
    )
    return benchmark


def check_steps(run: PipelineRun) -> None:
    """Every step of the plan is there, and done; each but the computed one has its answer."""
    settings = KIND.settings_of(run, may_call=False)
    n_requests = 0
    for case in Case.objects.filter(benchmark=run.benchmark):
        steps = {name_of(step): step for step in run.steps.filter(case=case)}
        done = {name: step.output for name, step in steps.items() if step.output is not None}
        assert {planned.name for planned in KIND.plan(settings, done)} == set(steps) == set(done)
        n_requests += sum(name.stage != "sum" for name in steps)
    assert EndpointCall.objects.filter(run=run).count() == n_requests


def test_kills_lose_no_step_and_pass_no_budget(workers: Workers, loopback: Loopback) -> None:  # noqa: F811
    loopback.start_afresh(LATENCY)
    benchmark = make_cases("killed")

    def begin_chain(number: int, budget: Decimal) -> PipelineRun:
        prices = {"concurrency": CONCURRENCY, "price": PRICED["price_out"], "temperature": 0.5 + number / 100}
        return begin(benchmark, loopback.url, budget=budget, **prices)

    kill_runs(
        workers, begin=begin_chain, check=check_steps, charges=lambda: charges_of(loopback), n_steps=None,
        budget=Decimal(BUDGET), kills=KILLS, endpoints=ENDPOINTS,
    )  # fmt: skip
