"""Jobs: one worker at a time, lost workers, failed jobs, used up attempts. Reports serve as the rows."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone
from django.utils.translation import get_language
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from agreement.models import Report
from agreement.tasks import run_report
from consilium.core import jobs
from consilium.core.errors import Conflict, DomainError
from consilium.core.jobs import LOST_AFTER, MAX_ATTEMPTS, OPEN, TASK_LOST_AFTER, Attempt, JobKind, JobStatus, Superseded
from consilium.core.transitions import transition
from rubrics.models import Benchmark
from tests.factories import BenchmarkFactory, UserFactory
from tests.waiting import wait_until

TICK = timedelta(microseconds=1)
Work = Callable[[Attempt[Report]], None]


class Computing(JobKind[Report]):
    """Reports whose computation the test brings along."""

    model = Report
    task = "agreement.tasks.run_report"
    sweep_task = "agreement.tasks.sweep_reports"
    worker_lost = "lost %(times)s times"
    crashed = "crashed"

    def __init__(self, work: Work | None = None) -> None:
        self._work = work

    def work(self, attempt: Attempt[Report]) -> None:
        assert self._work is not None
        self._work(attempt)


@pytest.fixture
def benchmark(transactional_db: None) -> Benchmark:
    return BenchmarkFactory.create()


def make_report(benchmark: Benchmark, **values: Any) -> Report:
    return Report.objects.create(benchmark=benchmark, kind="agreement", **{"created_at": timezone.now(), **values})


def fail(report: Report, *, error: str, at: datetime) -> None:
    """End an open job while its worker may still run, as where its attempts are used up."""
    transition(report, source=OPEN, target=JobStatus.FAILED, finished_at=at, error=error)


class Thread(threading.Thread):
    """A worker of its own, with a connection of its own; what it raises is raised again by ``join``."""

    def __init__(self, target: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self._call = target
        self._error: BaseException | None = None
        self.start()

    def run(self) -> None:
        try:
            self._call()
        except BaseException as error:
            self._error = error
        finally:
            connection.close()

    def join(self, timeout: float | None = 120) -> None:
        super().join(timeout)
        assert not self.is_alive()
        if self._error is not None:
            raise self._error


@pytest.mark.slow
def test_of_two_workers_one_gets_each_job(benchmark: Benchmark) -> None:
    rows = [make_report(benchmark) for _number in range(20)]
    kind, start = Computing(), threading.Barrier(2)
    claimed: list[list[int]] = [[], []]

    def claim_all(own: list[int]) -> None:
        connection.ensure_connection()
        for row in rows:
            start.wait()
            if kind.claim(job_id=row.pk, at=timezone.now()) is not None:
                own.append(row.pk)

    threads = [Thread(lambda own=own: claim_all(own)) for own in claimed]  # type: ignore[misc]
    for thread in threads:
        thread.join()
    assert sorted(claimed[0] + claimed[1]) == [row.pk for row in rows]
    assert set(Report.objects.values_list("status", "attempts")) == {("running", 1)}


def test_a_heartbeat_is_seen_while_the_work_is_one_transaction(benchmark: Benchmark) -> None:
    report, go_on = make_report(benchmark), threading.Event()

    def work(attempt: Attempt[Report]) -> None:
        with transaction.atomic():
            attempt.progress(0.25)
            assert go_on.wait(120)
            attempt.finish(progress=1.0, result={"n": 1})

    worker = Thread(lambda: Computing(work).run(job_id=report.pk, clock=timezone.now))

    def is_seen() -> bool:
        report.refresh_from_db()
        return report.progress == 0.25

    wait_until(is_seen)
    assert report.started_at is not None and report.heartbeat_at is not None
    assert report.heartbeat_at > report.started_at
    Computing().run(job_id=report.pk, clock=timezone.now)  # a task that came twice finds nothing to do
    go_on.set()
    worker.join()
    report.refresh_from_db()
    assert (report.status, report.attempts, report.progress, report.result) == ("done", 1, 1.0, {"n": 1})
    assert report.finished_at is not None


def test_a_lost_worker_is_replaced_and_writes_nothing_more(benchmark: Benchmark) -> None:
    report, go_on, waits = make_report(benchmark), threading.Event(), threading.Event()

    def slow(attempt: Attempt[Report]) -> None:
        waits.set()
        assert go_on.wait(120)
        with transaction.atomic():
            Benchmark.objects.filter(pk=benchmark.pk).update(title="of the lost worker")
            attempt.finish(result={"worker": "lost"})

    lost = Thread(lambda: Computing(slow).run(job_id=report.pk, clock=timezone.now))
    assert waits.wait(120)
    later = timezone.now() + timedelta(hours=1)
    assert Computing().unfinished(at=later) == [report.pk]

    def quick(attempt: Attempt[Report]) -> None:
        attempt.finish(result={"worker": "second"})

    Computing(quick).run(job_id=report.pk, clock=lambda: later)
    go_on.set()
    lost.join()
    report.refresh_from_db()
    benchmark.refresh_from_db()
    assert (report.status, report.attempts, report.result) == ("done", 2, {"worker": "second"})
    assert benchmark.title != "of the lost worker"


@pytest.mark.slow
def test_an_old_worker_does_not_write_into_a_restarted_job(benchmark: Benchmark) -> None:
    kind, now = Computing(), timezone.now()
    report = make_report(benchmark)
    first = kind.claim(job_id=report.pk, at=now)
    fail(report, error="No longer needed.", at=now)
    with transaction.atomic():
        kind.restart(report)
    second = kind.claim(job_id=report.pk, at=now + TICK)
    assert first is not None and second is not None
    assert first.attempts == second.attempts == 1  # the number alone does not tell them apart
    with pytest.raises(Superseded):
        Attempt(kind, first, timezone.now).finish(result={"worker": "first"})
    Attempt(kind, second, timezone.now).finish(result={"worker": "second"})
    report.refresh_from_db()
    assert (report.status, report.result) == ("done", {"worker": "second"})


@pytest.mark.parametrize(("silence", "is_lost"), [(LOST_AFTER, False), (LOST_AFTER + TICK, True)])
def test_a_worker_is_lost_after_the_limit_and_no_sooner(
    benchmark: Benchmark, silence: timedelta, is_lost: bool
) -> None:
    now = timezone.now()
    report = make_report(benchmark, status="running", attempts=1, heartbeat_at=now - silence)
    assert Computing().unfinished(at=now) == ([report.pk] if is_lost else [])
    assert (Computing().claim(job_id=report.pk, at=now) is not None) == is_lost


def test_a_kind_may_have_a_limit_of_its_own(benchmark: Benchmark) -> None:
    class Impatient(Computing):
        lost_after = timedelta(seconds=5)

    now = timezone.now()
    report = make_report(benchmark, status="running", attempts=1, heartbeat_at=now - timedelta(seconds=6))
    assert Computing().unfinished(at=now) == []
    assert Impatient().unfinished(at=now) == [report.pk]
    assert Impatient().claim(job_id=report.pk, at=now) is not None


@pytest.mark.parametrize(("waited", "is_lost"), [(TASK_LOST_AFTER, False), (TASK_LOST_AFTER + TICK, True)])
def test_a_task_is_lost_after_the_limit_and_no_sooner(
    benchmark: Benchmark, waited: timedelta, is_lost: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = timezone.now()
    report = make_report(benchmark, created_at=now - waited)
    for status in ("done", "refused", "failed"):
        make_report(benchmark, status=status, created_at=now - timedelta(days=1))
    sent: list[int] = []
    monkeypatch.setattr(run_report, "delay", sent.append)
    assert Computing().sweep(at=now) == len(sent)
    assert sent == ([report.pk] if is_lost else [])


@pytest.mark.slow
def test_a_job_that_fails_ends_its_worker(benchmark: Benchmark) -> None:
    report, waits = make_report(benchmark), threading.Event()

    def work(attempt: Attempt[Report]) -> None:
        while True:
            attempt.progress(0.5)
            waits.set()
            waits.wait(0.01)

    worker = Thread(lambda: Computing(work).run(job_id=report.pk, clock=timezone.now))
    assert waits.wait(120)
    fail(report, error="No longer needed.", at=timezone.now())
    worker.join()  # within the limit of the test: by its next heartbeat
    report.refresh_from_db()
    assert (report.status, report.error, report.result) == ("failed", "No longer needed.", {})
    with pytest.raises(Conflict):
        fail(report, error="Again.", at=timezone.now())
    Computing().run(job_id=report.pk, clock=timezone.now)  # its task, late
    report.refresh_from_db()
    assert (report.attempts, report.error) == (1, "No longer needed.")


def test_a_job_that_failed_before_its_worker_finished_keeps_no_result(benchmark: Benchmark) -> None:
    report = make_report(benchmark)

    def work(attempt: Attempt[Report]) -> None:
        fail(Report.objects.get(pk=report.pk), error="No longer needed.", at=timezone.now())
        attempt.finish(result={"n": 1})

    Computing(work).run(job_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert (report.status, report.result) == ("failed", {})


def test_used_up_attempts_end_the_job(benchmark: Benchmark) -> None:
    report, now = make_report(benchmark), timezone.now()
    for attempt in range(1, MAX_ATTEMPTS + 1):
        row = Computing().claim(job_id=report.pk, at=now)
        assert row is not None and row.attempts == attempt
        now += LOST_AFTER + TICK
    assert Computing().claim(job_id=report.pk, at=now) is None
    report.refresh_from_db()
    assert (report.status, report.attempts, report.error) == ("failed", MAX_ATTEMPTS, f"lost {MAX_ATTEMPTS} times")
    assert report.finished_at == now
    assert Computing().unfinished(at=now + timedelta(days=1)) == []


def test_a_restarted_job_is_as_new_and_only_an_ended_one_is_restarted(benchmark: Benchmark) -> None:
    now = timezone.now()
    report = make_report(
        benchmark, status="failed", attempts=3, error="lost", progress=0.4, started_at=now, heartbeat_at=now,
        finished_at=now,
    )  # fmt: skip
    with transaction.atomic():
        Computing().restart(report)
    report.refresh_from_db()
    values = report.status, report.attempts, report.error, report.progress, report.started_at, report.finished_at
    assert values == ("pending", 0, "", 0.0, None, None)
    with pytest.raises(Conflict), transaction.atomic():
        Computing().restart(report)


def test_what_a_job_says_is_in_the_language_of_its_creator(benchmark: Benchmark) -> None:
    report = make_report(benchmark, created_by=UserFactory.create(language="zh-hans"))

    def work(_attempt: Attempt[Report]) -> None:
        raise DomainError(f"refused in {get_language()}")

    Computing(work).run(job_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert (report.status, report.error) == ("failed", "refused in zh-hans")


def test_a_fault_leaves_nothing_and_is_raised(benchmark: Benchmark) -> None:
    report = make_report(benchmark)

    def work(attempt: Attempt[Report]) -> None:
        with transaction.atomic():
            attempt.finish(result={"n": 1})
            raise RuntimeError("a bug")

    with pytest.raises(RuntimeError, match="a bug"):
        Computing(work).run(job_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert (report.status, report.error, report.result) == ("failed", "crashed", {})


def test_work_that_does_not_finish_is_a_fault(benchmark: Benchmark) -> None:
    report = make_report(benchmark)
    with pytest.raises(RuntimeError, match="finish"):
        Computing(lambda attempt: attempt.progress(1.0)).run(job_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "failed"


# Tasks ----------------------------------------------------------------------------------------------------------------


def test_a_task_is_sent_after_the_commit_and_only_then(benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch) -> None:
    report = make_report(benchmark)
    sent: list[int] = []
    monkeypatch.setattr(run_report, "delay", sent.append)
    with transaction.atomic():
        Computing().enqueue(report)
        transaction.set_rollback(True)
    assert sent == []
    with transaction.atomic():
        Computing().enqueue(report)
        assert sent == []
    assert sent == [report.pk]


def test_a_task_that_is_not_there_cannot_be_enqueued() -> None:
    with pytest.raises(KeyError):
        jobs.enqueue("agreement.tasks.run_nothing", 1)


def test_every_kind_has_its_tasks(settings: Any) -> None:
    assert jobs.check_kinds() == []
    settings.CELERY_BEAT_SCHEDULE = {}
    assert {error.obj.task for error in jobs.check_kinds()} == {
        "agreement.tasks.run_replication",
        "agreement.tasks.run_report",
        "documents.tasks.build_generation",
        "operations.tasks.run_backup",
        "releases.tasks.run_release",
        "rubrics.tasks.run_import",
        "scoring.tasks.ask_on_trial",
        "scoring.tasks.judge_slice",
        "scoring.tasks.train_judge",
        "scoring.tasks.work_on_pipeline",
    }


def test_a_kind_without_tasks_is_found_and_a_task_has_one_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "_kinds", {})

    class Unknown(Computing):
        task = "agreement.tasks.run_nothing"
        sweep_task = "agreement.tasks.sweep_nothing"

    jobs.register(Unknown())
    assert [error.id for error in jobs.check_kinds()] == ["consilium.E002", "consilium.E002", "consilium.E003"]
    with pytest.raises(ValueError, match="run_nothing"):
        jobs.register(Unknown())


# Any order of claims, heartbeats, losses, failures and restarts -------------------------------------------------------


class Jobs(RuleBasedStateMachine):
    """One job and all workers that ever claimed it, beside a model of what the row must say."""

    benchmark: Benchmark

    @initialize()
    def begin(self) -> None:
        self.kind = Computing()
        self.now = datetime(2026, 1, 1, tzinfo=timezone.get_current_timezone())
        self.row = make_report(self.benchmark, created_at=self.now)
        self.status, self.attempts = "pending", 0
        self.result: dict[str, int] = {}
        self.heartbeat_at = self.now
        self.workers: list[Attempt[Report]] = []

    def is_claimable(self) -> bool:
        silence = self.now - self.heartbeat_at
        return self.status == "pending" or (self.status == "running" and silence > LOST_AFTER)

    def is_latest(self, worker: Attempt[Report]) -> bool:
        return self.status == "running" and worker is self.workers[-1] and worker.job.attempts == self.attempts

    @rule(seconds=st.sampled_from([1, 11, LOST_AFTER.seconds, LOST_AFTER.seconds + 1]))
    def time_passes(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @rule()
    def claim(self) -> None:
        is_claimable = self.is_claimable()
        row = self.kind.claim(job_id=self.row.pk, at=self.now)
        is_used_up = is_claimable and self.attempts >= MAX_ATTEMPTS
        assert (row is not None) == (is_claimable and not is_used_up)
        if is_used_up:
            self.status = "failed"
        if row is not None:
            self.status, self.heartbeat_at = "running", self.now
            self.attempts += 1
            self.workers.append(Attempt(self.kind, row, lambda: self.now))

    @precondition(lambda self: self.workers)
    @rule(number=st.integers(0, 9))
    def beat(self, number: int) -> None:
        worker = self.workers[number % len(self.workers)]
        if self.is_latest(worker):
            worker.progress(0.5)
            self.heartbeat_at = self.now
        else:
            with pytest.raises(Superseded):
                worker.progress(0.5)

    @precondition(lambda self: self.workers)
    @rule(number=st.integers(0, 9))
    def finish(self, number: int) -> None:
        number %= len(self.workers)
        if self.is_latest(self.workers[number]):
            self.workers[number].finish(result={"worker": number})
            self.status, self.result = "done", {"worker": number}
        else:
            with pytest.raises(Superseded):
                self.workers[number].finish(result={"worker": number})

    @rule()
    def fail(self) -> None:
        if self.status in ("pending", "running"):
            fail(self.row, error="given up", at=self.now)
            self.status = "failed"
        else:
            with pytest.raises(Conflict):
                fail(self.row, error="given up", at=self.now)

    @rule()
    def restart(self) -> None:
        self.now += TICK  # no two claims of one number are at the same moment
        if self.status == "failed":
            self.kind.restart(self.row)
            self.status, self.attempts = "pending", 0
        else:
            with pytest.raises(Conflict):
                self.kind.restart(self.row)

    @invariant()
    def row_is_as_the_model_says(self) -> None:
        row = Report.objects.get(pk=self.row.pk)
        assert (row.status, row.attempts, row.result) == (self.status, self.attempts, self.result)
        waits = self.status == "pending" and self.now - row.created_at > TASK_LOST_AFTER
        is_due = waits or (self.status == "running" and self.is_claimable())
        assert (row.pk in self.kind.unfinished(at=self.now)) == is_due


@pytest.mark.slow
@pytest.mark.django_db
def test_any_order_of_events_keeps_one_worker_and_one_result() -> None:
    Jobs.benchmark = BenchmarkFactory.create()
    run_state_machine_as_test(
        Jobs,
        settings=settings(
            max_examples=25, stateful_step_count=30, deadline=None, database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )  # fmt: skip
