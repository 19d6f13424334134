"""``kill -9`` in a run of coverage: every answer is there once, and the figures are those of a quiet run."""

from __future__ import annotations

import random

import pytest

from scoring.models import EndpointCall
from tests.chaos.test_pipeline_kills import CONCURRENCY, LATENCY, SEED, Workers, work_and_kill, workers  # noqa: F401
from tests.scoring.conftest import Loopback, loopback, loopback_process  # noqa: F401  # fixtures
from tests.validation.coverage.coverage_world import worked_example
from validation.coverage.inputs import read_coverage
from validation.models import CoverageRun

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def test_a_kill_loses_no_answer(workers: Workers, loopback: Loopback) -> None:  # noqa: F811
    loopback.start_afresh(LATENCY)
    world = worked_example()
    run = world.begin(loopback.url, config={"concurrency": CONCURRENCY})
    work_and_kill(workers, run, 1, random.Random(SEED))
    run = CoverageRun.objects.get(pk=run.pk)
    assert (run.status, run.error, workers.kills) == ("finished", "", 1)
    # 25 gold points against A, B, themselves, and A and B of the next case; 25 criteria of A and of B.
    assert run.steps.filter(state="done").count() == run.steps.count() == 25 * 7
    # The same criterion stands in both sets, so that some requests are the same; no answer is stored without a step.
    assert EndpointCall.objects.filter(run=run, error_kind="").count() <= 25 * 7
    after_kill = read_coverage(run)
    quiet = world.begin(loopback.url, config={"concurrency": CONCURRENCY})
    work_and_kill(workers, quiet, 0, random.Random(SEED))
    assert quiet.status == "finished"
    assert read_coverage(CoverageRun.objects.get(pk=quiet.pk)).digest == after_kill.digest
