"""``kill -9`` in the middle of a run, of a real worker: the run finishes with every verdict once."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from django.utils import timezone

from rubrics.models import Benchmark
from scoring.models import JudgeRun, Verdict
from scoring.services.runs import RunFrame, cancel_run, create_run, resume_run
from scoring.tasks import sweep_runs
from scoring.work.slice import WRITE_AT
from tests.factories import BenchmarkFactory, CandidateFactory, CaseFactory, ResponseFactory
from tests.processes import Worker
from tests.scoring.conftest import Loopback, chat_judge
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

CONCURRENCY = 8
LATENCY = 0.05


@pytest.fixture
def large(db: None) -> Benchmark:
    """12 cases × 15 criteria × 3 candidates: 540 verdicts."""
    benchmark = BenchmarkFactory(slug="large")
    candidates = [CandidateFactory(benchmark=benchmark) for _ in range(3)]
    for _ in range(12):
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


def finish(run: JudgeRun) -> None:
    """Wait for the end as beat would: ringing again for whatever nobody holds."""

    swept = 0.0

    def ended() -> bool:
        nonlocal swept
        if time.monotonic() - swept > 1:
            sweep_runs()
            swept = time.monotonic()
        return status(run) == "finished"

    wait_until(ended, within_s=60, message="the run is finished")


def children(worker: Worker) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{worker.pid}/task/{worker.pid}/children").read_text().split()]


def test_killed_workers_cost_calls_and_no_verdict(
    large: Benchmark, loopback: Loopback, start_judging: Callable[..., Worker]
) -> None:
    loopback.start_afresh(LATENCY)
    run = start(large, loopback)
    kills = 0
    for share in (0.1, 0.5):
        worker = start_judging()
        sweep_runs()
        wait_until(lambda share=share: written(run) > share * run.expected, within_s=60, message="some verdicts")  # type: ignore[misc]
        worker.kill()
        kills += 1
        assert status(run) == "running"
        assert written(run) < run.expected
    start_judging()
    finish(run)
    each = Counter(Verdict.objects.filter(run=run).values_list("response", "criterion", "replicate"))
    assert (len(each), set(each.values())) == (540, {1})
    in_a_second = int(CONCURRENCY / LATENCY)
    assert 540 <= loopback.requests() <= 540 + kills * (CONCURRENCY + WRITE_AT + in_a_second)


def test_a_killed_child_is_replaced_and_the_run_goes_on(
    large: Benchmark, loopback: Loopback, start_judging: Callable[..., Worker]
) -> None:
    loopback.start_afresh(LATENCY)
    worker = start_judging()
    run = start(large, loopback)
    wait_until(lambda: written(run) > 50, within_s=60, message="some verdicts")
    for child in children(worker):
        os.kill(child, signal.SIGKILL)
    finish(run)
    assert written(run) == 540


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
    assert 20 < kept < 540
    asked = loopback.requests()
    resume_run(run=run, at=timezone.now())
    wait_until(lambda: status(run) == "finished", within_s=60, message="the run is finished")
    assert written(run) == 540
    assert loopback.requests() - asked <= 540 - kept + CONCURRENCY


def test_a_worker_process_says_what_it_may_not_call(
    large: Benchmark, loopback: Loopback, start_judging: Callable[..., Worker]
) -> None:
    start_judging(JUDGE_ALLOWED_HOSTS="")
    run = start(large, loopback)  # allowed here, in the web process; not where the worker runs
    wait_until(lambda: status(run) == "incomplete", message="the worker refuses")
    assert "operator’s list" in run.error
    assert loopback.requests() == 0
