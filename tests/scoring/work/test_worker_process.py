"""Runs in a real worker: stopped and gone on with, and refused there what it may not call.

What ``kill -9`` does to them stands in `tests/chaos/test_kills.py`.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.utils import timezone

from rubrics.models import Benchmark
from scoring.models import JudgeRun, Verdict
from scoring.runs.services import RunFrame, cancel_run, create_run, resume_run
from tests.factories import BenchmarkFactory, CandidateFactory, CaseFactory, ResponseFactory
from tests.processes import Worker
from tests.scoring.conftest import Loopback, chat_judge
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

CONCURRENCY = 8
LATENCY = 0.3  # nine seconds for all, of which the cancelling needs one


@pytest.fixture
def large(db: None) -> Benchmark:
    """8 cases × 15 criteria × 2 candidates: 240 verdicts."""
    benchmark = BenchmarkFactory(slug="large")
    candidates = [CandidateFactory(benchmark=benchmark) for _ in range(2)]
    for _ in range(8):
        case = CaseFactory(benchmark=benchmark, rubric=15)
        for candidate in candidates:
            ResponseFactory(case=case, candidate=candidate)
    return benchmark


def start(benchmark: Benchmark, loopback: Loopback) -> JudgeRun:
    judge = chat_judge(benchmark, loopback, concurrency=CONCURRENCY)
    return create_run(benchmark=benchmark, judge=judge, frame=RunFrame(), by=None, at=timezone.now())


def written(run: JudgeRun) -> int:
    return Verdict.objects.filter(run=run).count()


def status(run: JudgeRun) -> str:
    run.refresh_from_db()
    return run.status


def test_cancel_and_resume_over_a_real_worker(
    large: Benchmark, loopback: Loopback, start_judging: Callable[..., Worker]
) -> None:
    loopback.start_afresh(LATENCY)
    start_judging()
    run = start(large, loopback)
    wait_until(lambda: written(run) > 20, within_s=60, message="some verdicts")
    cancel_run(run=run, at=timezone.now())
    wait_until(lambda: status(run) == "cancelled", message="the worker lets go")
    kept = written(run)
    assert 20 < kept < 240
    loopback.start_afresh()  # the rest comes without latency
    requests_before = loopback.requests()
    resume_run(run=run, at=timezone.now())
    wait_until(lambda: status(run) == "finished", within_s=60, message="the run is finished")
    assert written(run) == 240
    assert loopback.requests() - requests_before <= 240 - kept + CONCURRENCY


def test_a_worker_process_says_what_it_may_not_call(
    large: Benchmark, loopback: Loopback, start_judging: Callable[..., Worker]
) -> None:
    start_judging(JUDGE_ALLOWED_HOSTS="")
    run = start(large, loopback)  # allowed here, in the web process; not where the worker runs
    wait_until(lambda: status(run) == "incomplete", message="the worker refuses")
    assert "operator’s list" in run.error
    assert loopback.requests() == 0
