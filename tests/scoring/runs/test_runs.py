"""A run from its making to its end, against an endpoint that may misbehave."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from consilium.core.errors import Conflict, DomainError
from rubrics.models import Benchmark, Response
from scoring.models import JudgeCall, JudgeRun, RunSlice, Verdict
from scoring.runs.services import SLICES, RunFrame, cancel_run, create_run, frame_size, resume_run
from scoring.work import slice_turn, turn
from scoring.work.slice import work_on_slice
from tests.scoring.conftest import Loopback, chat_judge, grant

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def enqueued(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Tasks are counted and not sent: these tests do the worker's part themselves."""
    from scoring import tasks

    sent: list[tuple[int, int]] = []
    monkeypatch.setattr(tasks.judge_slice, "delay_on_commit", lambda *ids: sent.append(ids))
    return sent


def start(benchmark: Benchmark, judge: Any, frame: RunFrame | None = None, **more: Any) -> JudgeRun:
    return create_run(benchmark=benchmark, judge=judge, frame=frame or RunFrame(), by=None, at=timezone.now(), **more)


def work(run: JudgeRun, **more: Any) -> JudgeRun:
    for row in run.slices.all():
        work_on_slice(run.pk, row.number, clock=timezone.now, **more)
    run.refresh_from_db()
    return run


@pytest.mark.slow
def test_a_run_gives_every_pair_one_verdict(answered: Benchmark, loopback: Loopback, enqueued: Any) -> None:
    run = start(answered, chat_judge(answered, loopback))
    assert (run.status, run.expected, run.items.count()) == ("pending", 36, 12)
    assert enqueued == [(run.pk, 0)]
    work(run)
    assert (run.status, run.error) == ("finished", "")
    assert Verdict.objects.filter(run=run).count() == 36
    assert set(Verdict.objects.filter(run=run).values_list("outcome", flat=True)) == {"met", "not_met"}
    assert JudgeCall.objects.filter(run=run, verdicts__isnull=False).count() == 36
    assert loopback.requests() == 36
    work_on_slice(run.pk, 0, clock=timezone.now)  # a task that comes twice
    assert loopback.requests() == 36


@pytest.mark.slow
def test_replicates_are_verdicts_of_their_own(answered: Benchmark, loopback: Loopback) -> None:
    run = work(start(answered, chat_judge(answered, loopback, seed=3), replicates=3))
    assert (run.status, run.expected) == ("finished", 108)
    assert Counter(Verdict.objects.filter(run=run).values_list("replicate", flat=True)) == {0: 36, 1: 36, 2: 36}


@pytest.mark.slow
def test_slices_share_a_run(answered: Benchmark, loopback: Loopback, enqueued: Any) -> None:
    run = start(answered, chat_judge(answered, loopback, slices=3))
    assert sorted(enqueued) == [(run.pk, 0), (run.pk, 1), (run.pk, 2)]
    work_on_slice(run.pk, 1, clock=timezone.now)
    run.refresh_from_db()
    done = Verdict.objects.filter(run=run)
    assert run.status == "running"
    items = dict(run.items.values_list("response", "pk"))
    assert {items[response] % 3 for response in done.values_list("response", flat=True)} == {1}
    assert work(run).status == "finished"
    assert done.count() == 36
    assert loopback.requests() == 36


def test_a_frame_chooses_responses(answered: Benchmark, loopback: Loopback) -> None:
    judge = chat_judge(answered, loopback)
    assert frame_size(benchmark=answered, frame=RunFrame()).verdicts == 36
    alpha = RunFrame(candidates=("alpha",))
    size = frame_size(benchmark=answered, frame=alpha, replicates=2)
    assert (size.responses, size.verdicts) == (4, 24)
    run = start(answered, judge, alpha)
    assert set(Response.objects.filter(pk__in=run.items.values("response")).values_list("candidate__name")) == {
        ("alpha",)
    }
    assert start(answered, judge, RunFrame(kinds=("physician",))).expected == 12
    with pytest.raises(DomainError, match="“gamma”"):
        start(answered, judge, RunFrame(candidates=("gamma",)))
    with pytest.raises(DomainError, match="No response"):
        start(answered, judge, RunFrame(kinds=("reference",)))
    assert JudgeRun.objects.count() == 2  # what was refused left nothing behind


@pytest.mark.slow
@pytest.mark.parametrize("model", ["string-true", "cut-json", "two-objects", "nul", "empty", "refusal"])
def test_content_that_is_no_verdict_becomes_invalid_and_is_kept(
    answered: Benchmark, loopback: Loopback, model: str
) -> None:
    run = work(start(answered, chat_judge(answered, loopback, model), RunFrame(candidates=("alpha",))))
    assert run.status == "finished"
    assert Counter(Verdict.objects.filter(run=run).values_list("outcome", flat=True)) == {"invalid": 12}
    calls = JudgeCall.objects.filter(run=run)
    assert calls.count() == 24  # asked once, and once again
    assert model == "empty" or not calls.filter(raw="").exists()
    assert not calls.filter(error_kind="").exists()


@pytest.mark.slow
@pytest.mark.parametrize(("model", "kind"), [("500", "http_5xx"), ("html", "envelope"), ("cut", "disconnected")])
def test_an_endpoint_that_fails_leaves_verdicts_missing(
    answered: Benchmark, loopback: Loopback, model: str, kind: str
) -> None:
    run = work(start(answered, chat_judge(answered, loopback, model, concurrency=1), replicates=8))
    assert run.status == "incomplete"
    assert "is not responding" in run.error
    assert loopback.requests() < 36 * 8  # it gave up before it had asked for everything
    assert kind in run.error
    assert not Verdict.objects.filter(run=run).exists()
    assert set(JudgeCall.objects.filter(run=run).values_list("error_kind", flat=True)) == {kind}


@pytest.mark.slow
def test_what_is_missing_and_nothing_else_is_asked_when_it_goes_on(
    answered: Benchmark, loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = chat_judge(answered, loopback, "flaky", attempts=1, concurrency=1)
    run = work(start(answered, judge))
    assert run.status == "incomplete"
    assert run.error.startswith("12 requests failed")
    before = Verdict.objects.filter(run=run).count()
    assert before == 24
    for _ in range(4):
        if run.status == "incomplete":
            resume_run(run=run, at=timezone.now())
            work(run)
    assert run.status == "finished"
    assert run.error == ""
    assert Verdict.objects.filter(run=run).count() == 36
    assert loopback.requests() == 36 + 12 + 4 + 1


@pytest.mark.slow
def test_a_mixed_endpoint_gives_met_not_met_and_invalid(answered: Benchmark, loopback: Loopback) -> None:
    run = work(start(answered, chat_judge(answered, loopback, "mixed", re_asks=0)))
    count = Counter(Verdict.objects.filter(run=run).values_list("outcome", flat=True))
    assert run.status in ("finished", "incomplete")
    assert sum(count.values()) <= 36
    assert count["met"] > 0
    assert count["not_met"] > 0


@pytest.mark.slow
def test_a_cancelled_run_keeps_what_it_has_and_goes_on(answered: Benchmark, loopback: Loopback) -> None:
    run = start(answered, chat_judge(answered, loopback))
    cancel_run(run=run, at=timezone.now())
    assert run.status == "cancelled"
    work(run)
    assert loopback.requests() == 0
    with pytest.raises(Conflict):
        cancel_run(run=run, at=timezone.now())
    resume_run(run=run, at=timezone.now())
    assert work(run).status == "finished"
    with pytest.raises(Conflict):
        resume_run(run=run, at=timezone.now())


@pytest.mark.slow
def test_a_worker_sees_the_cancellation_between_writes(
    answered: Benchmark, loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turn, "WRITE_AT", 5)
    monkeypatch.setattr(turn, "WRITE_EVERY_S", 600.0)  # not before there are five, however slow the machine is
    monkeypatch.setattr(turn, "COLLECT_WITHIN_S", 0.01)
    loopback.start_afresh(latency=0.1)  # not all of them come while the first are written
    run = start(answered, chat_judge(answered, loopback, concurrency=1))
    store = slice_turn.store_results

    def cancel_then_store(the_run: JudgeRun, results: Any, **more: Any) -> None:
        store(the_run, results, **more)
        if run.status == "pending":
            cancel_run(run=run, at=timezone.now())
            assert run.status == "cancelling"

    monkeypatch.setattr(slice_turn, "store_results", cancel_then_store)
    work(run)
    assert run.status == "cancelled"
    assert 5 <= Verdict.objects.filter(run=run).count() < 36
    monkeypatch.setattr(slice_turn, "store_results", store)
    resume_run(run=run, at=timezone.now())
    assert work(run).status == "finished"
    assert Verdict.objects.filter(run=run).count() == 36


@pytest.mark.slow
def test_a_task_whose_time_is_up_is_enqueued_again_and_loses_nothing(answered: Benchmark, loopback: Loopback) -> None:
    loopback.start_afresh(latency=0.02)
    run = start(answered, chat_judge(answered, loopback, concurrency=2))
    rounds = 0
    while work_on_slice(run.pk, 0, clock=timezone.now, budget_s=-1):
        rounds += 1
        run.refresh_from_db()
        assert run.status == "running"
        assert run.slices.get().status == "pending"
        assert rounds < 40
    run.refresh_from_db()
    assert run.status == "finished"
    assert rounds > 1
    assert loopback.requests() == 36


def test_two_workers_never_do_the_same_slice(answered: Benchmark, loopback: Loopback) -> None:
    from threading import Thread

    from django.db import connection

    run = start(answered, chat_judge(answered, loopback))
    seen: list[bool] = []

    def other_worker() -> None:
        with SLICES.hold(run.pk, 0) as held:
            seen.append(held)
        work_on_slice(run.pk, 0, clock=timezone.now)
        connection.close()

    with SLICES.hold(run.pk, 0) as held:
        assert held
        thread = Thread(target=other_worker)
        thread.start()
        thread.join()
    assert seen == [False]
    assert loopback.requests() == 0
    run.refresh_from_db()
    assert run.status == "pending"


@pytest.mark.slow
def test_the_sweep_enqueues_what_was_left_behind(answered: Benchmark, loopback: Loopback, enqueued: Any) -> None:
    run = start(answered, chat_judge(answered, loopback))
    enqueued.clear()
    now = timezone.now()
    assert SLICES.sweep(at=now) == 0  # the task may still be on its way
    assert SLICES.sweep(at=now + timedelta(seconds=61)) == 1
    # As a worker leaves it that was killed: running, and nobody holds its lock.
    JudgeRun.objects.update(status="running")
    RunSlice.objects.update(status="running")
    assert SLICES.sweep(at=now) == 1
    assert enqueued == [(run.pk, 0)] * 2
    assert work(run).status == "finished"
    assert SLICES.sweep(at=now + timedelta(days=1)) == 0


def test_the_sweep_ends_a_cancelled_run_whose_worker_died(answered: Benchmark, loopback: Loopback) -> None:
    run = start(answered, chat_judge(answered, loopback))
    JudgeRun.objects.update(status="running")
    RunSlice.objects.update(status="running")
    cancel_run(run=run, at=timezone.now())
    assert run.status == "cancelling"
    SLICES.sweep(at=timezone.now())
    run.refresh_from_db()
    assert run.status == "cancelled"


@pytest.mark.slow
def test_a_slice_that_kills_its_workers_is_given_up(answered: Benchmark, loopback: Loopback) -> None:
    run = start(answered, chat_judge(answered, loopback))
    RunSlice.objects.update(
        status="running",
        starts_without_progress=turn.MAX_STARTS_WITHOUT_PROGRESS,
        database_start=turn.database_start(),
    )
    work(run)
    assert run.status == "failed"
    assert "stopped unexpectedly 5 times" in run.error
    resume_run(run=run, at=timezone.now())
    assert work(run).status == "finished"


@pytest.mark.slow
def test_a_start_that_ended_with_the_database_does_not_count(answered: Benchmark, loopback: Loopback) -> None:
    run = start(answered, chat_judge(answered, loopback))
    RunSlice.objects.update(
        status="running",
        starts_without_progress=turn.MAX_STARTS_WITHOUT_PROGRESS,
        database_start=timezone.now() - timedelta(days=1000),
    )
    assert work(run).status == "finished"
    row = run.slices.first()
    assert row is not None
    assert (row.ended_with_database, row.database_start) == (1, turn.database_start())


def test_a_slice_with_which_the_database_always_ends_is_given_up(answered: Benchmark, loopback: Loopback) -> None:
    run = start(answered, chat_judge(answered, loopback))
    RunSlice.objects.update(
        status="running",
        starts_without_progress=turn.MAX_STARTS_IN_ALL,
        ended_with_database=turn.MAX_STARTS_IN_ALL - 1,
        database_start=timezone.now() - timedelta(days=1000),
    )
    assert work(run).status == "failed"
    assert "stopped unexpectedly 20 times" in run.error


@pytest.mark.slow
def test_a_fault_of_our_own_has_its_own_kind(
    answered: Benchmark, loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(slice_turn, "store_results", fail)
    run = work(start(answered, chat_judge(answered, loopback)))
    assert run.status == "failed"
    assert "ZeroDivisionError" in run.error
    assert "secret detail" not in run.error


def test_a_host_that_left_the_operators_list_is_not_called(
    answered: Benchmark, loopback: Loopback, settings: Any
) -> None:
    judge = chat_judge(answered, loopback)
    run = start(answered, judge)
    settings.JUDGE_ALLOWED_HOSTS = []
    work(run)
    assert run.status == "incomplete"
    assert "operator’s list" in run.error
    assert loopback.requests() == 0
    with pytest.raises(DomainError, match="operator’s list"):
        start(answered, judge)
    with pytest.raises(DomainError, match="operator’s list"):
        resume_run(run=run, at=timezone.now())


def test_a_key_that_is_not_set_is_named_and_nothing_is_called(answered: Benchmark, loopback: Loopback) -> None:
    grant(answered, "ABSENT_API_KEY")
    run = work(start(answered, chat_judge(answered, loopback, key_env="ABSENT_API_KEY")))
    assert run.status == "incomplete"
    assert "ABSENT_API_KEY is not set" in run.error
    assert loopback.requests() == 0


def test_a_run_keeps_the_judge_as_it_was(answered: Benchmark, loopback: Loopback) -> None:
    judge = chat_judge(answered, loopback)
    run = start(answered, judge)
    first = run.prompt_hash
    assert run.snapshot["config"]["model"] == "ok"
    assert run.snapshot["rule_sheet"] == answered.rule_sheet
    answered.rule_sheet = "Another rule."
    answered.save()
    assert start(answered, judge).prompt_hash != first
    run.refresh_from_db()
    assert run.prompt_hash == first
    newer = chat_judge(answered, loopback, temperature=1.0)
    assert (newer.version, newer.name) == (2, judge.name)


@pytest.mark.slow
def test_rubrics_superseded_during_a_run_do_not_change_it(answered: Benchmark, loopback: Loopback) -> None:
    from rubrics.models import Rubric

    run = start(answered, chat_judge(answered, loopback))
    Rubric.objects.filter(case__benchmark=answered).update(status="superseded")
    assert work(run).status == "finished"
    assert Verdict.objects.filter(run=run).count() == 36
