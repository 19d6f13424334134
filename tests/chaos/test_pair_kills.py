"""``kill -9`` in runs on near-miss pairs: every trial and every pair is there once, and figures are of a quiet run."""

from __future__ import annotations

import random

import pytest
from django.db.models import Count
from django.utils import timezone

from rubrics.models import Case
from scoring.generation.due_responses import CaseFrame
from scoring.models import EndpointCall
from tests.chaos.test_pipeline_kills import CONCURRENCY, LATENCY, SEED, Workers, work_and_kill, workers  # noqa: F401
from tests.factories import BenchmarkFactory, CaseFactory
from tests.scoring.conftest import Loopback, loopback, loopback_process  # noqa: F401  # fixtures
from tests.validation.coverage.coverage_world import QUICK
from tests.validation.pairs.pair_world import worked_example
from validation.making.services import create_run as create_making_run
from validation.models import MakingRun, NearMissPair, TrialRun
from validation.trials.inputs import read_trials

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def test_a_kill_loses_no_trial(workers: Workers, loopback: Loopback) -> None:  # noqa: F811
    loopback.start_afresh(LATENCY)
    world = worked_example()
    world.confirm_all()
    run = world.begin(loopback.url, config={"concurrency": CONCURRENCY, "no_rubric": True})
    work_and_kill(workers, run, 1, random.Random(SEED))
    run = TrialRun.objects.get(pk=run.pk)
    assert (run.status, run.error, workers.kills) == ("finished", "", 1)
    # Seven pairs, three trials in each order, by the set and without a rubric.
    assert run.steps.filter(state="done").count() == run.steps.count() == 7 * 6 * 2
    answered = EndpointCall.objects.filter(run=run, error_kind="").values("request_hash").annotate(n=Count("pk"))
    assert not answered.filter(n__gt=1).exists()
    quiet = world.begin(loopback.url, config={"concurrency": CONCURRENCY, "no_rubric": True})
    work_and_kill(workers, quiet, 0, random.Random(SEED))  # the workers that are left work on it, too
    assert quiet.status == "finished"
    assert read_trials(run).digest == read_trials(TrialRun.objects.get(pk=quiet.pk)).digest


def test_a_kill_makes_no_pair_twice(workers: Workers, loopback: Loopback) -> None:  # noqa: F811
    loopback.start_afresh(LATENCY)
    benchmark = BenchmarkFactory(slug="made")
    for number in range(90):
        CaseFactory(benchmark=benchmark, key=f"c{number}", rubric=0, reference_answer=f"Take {number + 11} mg.")
    run = create_making_run(
        benchmark=benchmark, group="G", judgements_due=1, frame=CaseFrame(), by=None, at=timezone.now(),
        config={"endpoint": loopback.url, "model": "ok", "kinds": ["dose"], **QUICK, "concurrency": CONCURRENCY},
    )  # fmt: skip
    work_and_kill(workers, run, 1, random.Random(SEED))
    run = MakingRun.objects.get(pk=run.pk)
    assert (run.status, run.error, workers.kills) == ("finished", "", 1)
    pairs = NearMissPair.objects.filter(group__benchmark=benchmark)
    assert pairs.count() == Case.objects.filter(benchmark=benchmark).count() == 90
    assert set(pairs.values_list("step", flat=True)) == set(run.steps.values_list("pk", flat=True))
    assert {pair.candidate for pair in pairs} == {f"Take {number + 11}0 mg." for number in range(90)}
