"""``kill -9`` in runs on near-miss pairs: no trial or pair lost or written twice, and no budget passed."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.utils import timezone

from rubrics.models import Benchmark
from scoring.generation.due_responses import CaseFrame
from scoring.models import PipelineRun
from tests.chaos import FULL, kills
from tests.chaos.killed_runs import CONCURRENCY, COST, LATENCY, PRICED, Workers, charges_of, kill_runs, outputs_of
from tests.factories import BenchmarkFactory, CaseFactory
from tests.scoring.conftest import Loopback, loopback, loopback_process  # noqa: F401  # fixtures
from tests.validation.coverage.coverage_world import QUICK
from tests.validation.files.made_up import PAIRS
from tests.validation.pairs.pair_world import NINE, PairWorld, make_world, scripted, work
from validation.making.services import create_run as create_making_run
from validation.models import NearMissPair

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

KILLS = kills(full=50, small=2)
# The seven pairs of the worked example, so many times; and cases in which a model makes a pair.
TIMES, MADE = (16, 1200) if FULL else (1, 90)
# Three trials of each pair in each order, by the set and without a rubric.
TRIALS = 7 * TIMES * 6 * 2


def sized(slug: str) -> PairWorld:
    """The worked example, so many times."""
    lines = [
        f"{line.split()[0]}-{time} {line.split(' ', 1)[1]}" for time in range(TIMES) for line in PAIRS.splitlines()
    ]
    world = make_world(slug, [scripted(line) for line in lines], {"A": {line.split()[0]: NINE for line in lines}})
    world.confirm_all()
    return world


def test_kills_lose_no_trial_and_pass_no_budget(workers: Workers, loopback: Loopback) -> None:  # noqa: F811
    loopback.start_afresh(LATENCY)
    world = sized("killed")

    def begin(number: int, budget: Decimal) -> PipelineRun:
        config = {"concurrency": CONCURRENCY, "no_rubric": True, "temperature": number / 100, **PRICED}
        return world.begin(loopback.url, config=config, budget=budget)

    killed = kill_runs(
        workers, begin=begin, check=lambda run: None, charges=lambda: charges_of(loopback), n_steps=TRIALS,
        budget=Decimal(str(TRIALS * COST / 2)), kills=KILLS,
    )  # fmt: skip
    loopback.start_afresh()
    config = {"no_rubric": True, "temperature": 0.0, **PRICED}
    assert outputs_of(killed) == outputs_of(work(sized("quiet").begin(loopback.url, config=config)))


def with_references(slug: str) -> Benchmark:
    """Cases whose reference answers name a dose."""
    benchmark = BenchmarkFactory(slug=slug)
    for number in range(MADE):
        CaseFactory(benchmark=benchmark, key=f"c{number}", rubric=0, reference_answer=f"Take {number + 11} mg.")
    return benchmark


def make_pairs(benchmark: Benchmark, url: str, number: int, budget: Decimal | None) -> PipelineRun:
    """A run that makes one pair a case, in a group of its own."""
    return create_making_run(
        benchmark=benchmark, group=f"G{number}", judgements_due=1, frame=CaseFrame(), by=None, at=timezone.now(),
        config={"endpoint": url, "model": "ok", "kinds": ["dose"], "temperature": number / 100, **QUICK, **PRICED,
                "concurrency": CONCURRENCY},
        budget=budget,
    )  # fmt: skip


def test_kills_make_no_pair_twice_and_pass_no_budget(workers: Workers, loopback: Loopback) -> None:  # noqa: F811
    loopback.start_afresh(LATENCY)
    benchmark = with_references("killed")

    def check(run: PipelineRun) -> None:
        pairs = NearMissPair.objects.filter(step__run=run)
        assert pairs.count() == MADE
        assert set(pairs.values_list("step", flat=True)) == set(run.steps.values_list("pk", flat=True))
        assert {pair.candidate for pair in pairs} == {f"Take {number + 11}0 mg." for number in range(MADE)}
        assert set(pairs.values_list("group__name", flat=True)) == {run.terms["group"]}

    killed = kill_runs(
        workers, begin=lambda number, budget: make_pairs(benchmark, loopback.url, number, budget), check=check,
        charges=lambda: charges_of(loopback), n_steps=MADE, budget=Decimal(str(MADE * COST / 2)), kills=KILLS,
    )  # fmt: skip
    groups = NearMissPair.objects.filter(group__benchmark=benchmark).values("group").distinct().count()
    assert NearMissPair.objects.filter(group__benchmark=benchmark).count() == groups * MADE
    loopback.start_afresh()
    assert outputs_of(killed) == outputs_of(work(make_pairs(with_references("quiet"), loopback.url, 0, None)))
