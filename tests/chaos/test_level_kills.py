"""``kill -9`` in the middle of runs that read levels: every reading is there once, whatever was killed."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from consilium.core import locked_jobs
from rubrics.models import Benchmark
from scoring.models import JudgeRun
from scoring.runs.services import RunFrame, create_run, resume_run
from tests.chaos import FULL
from tests.chaos.beat import Beat
from tests.factories import BenchmarkFactory, CandidateFactory, CaseFactory, ResponseFactory
from tests.processes import Worker
from tests.scoring.acuity.judging import ADVICE, level_judge
from tests.scoring.conftest import Loopback, loopback, loopback_process, start_judging  # noqa: F401  # fixtures
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

KILLS = 50 if FULL else 1
RESPONSES = 2_000 if FULL else 60
CONCURRENCY = 4
LATENCY = 0.1


@pytest.fixture
def many(db: None) -> Benchmark:
    """Responses to cases of their own, each with one of the known texts."""
    benchmark = BenchmarkFactory(slug="many")
    candidate = CandidateFactory(benchmark=benchmark)
    texts = list(ADVICE)
    for number in range(RESPONSES):
        ResponseFactory(case=CaseFactory(benchmark=benchmark), candidate=candidate, text=texts[number % len(texts)])
    return benchmark


def test_a_killed_worker_loses_no_reading_and_doubles_none(
    many: Benchmark,
    loopback: Loopback,  # noqa: F811
    start_judging: Callable[..., Worker],  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A task that went with its worker is enqueued again after this.
    monkeypatch.setattr(locked_jobs, "ENQUEUE_AGAIN_AFTER", timedelta(seconds=2))
    loopback.start_afresh(LATENCY)
    rng = random.Random(4)
    judge = level_judge(many, loopback, concurrency=CONCURRENCY)
    run = create_run(benchmark=many, judge=judge, frame=RunFrame(), by=None, at=timezone.now())
    kills = sorted(rng.sample(range(5, RESPONSES * 3 // 4), KILLS))

    def ended() -> bool:
        run.refresh_from_db()
        if run.status in ("failed", "incomplete"):
            resume_run(run=run, at=timezone.now())
        return run.status == JudgeRun.Status.FINISHED

    with Beat() as beat:
        for number in kills:
            worker = start_judging()
            reached = number
            wait_until(
                lambda: run.acuity_readings.count() >= reached,  # noqa: B023  # called at once
                within_s=90,
                message="readings are written",
            )
            worker.kill()
        start_judging()
        wait_until(ended, within_s=90 if not FULL else 900, message="the run ends")
    assert beat.errors == []
    readings = run.acuity_readings.all()
    assert readings.count() == run.expected == RESPONSES
    assert readings.values_list("response", "replicate").distinct().count() == RESPONSES
    assert {(row.response.text, row.level) for row in readings.select_related("response") if row.response} <= {
        (text, level) for text, (level, _escalation) in ADVICE.items()
    }
