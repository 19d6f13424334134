"""What a run may use: requests and tokens a minute, money, patience with an endpoint that is down."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from threading import Thread
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from consilium.core.errors import DomainError
from rubrics.models import Benchmark
from scoring.models import JudgeCall, JudgeRun, RunSlice, Verdict
from scoring.runs.services import SLICES, RunFrame, cancel_run, create_run, frame_size, resume_run
from scoring.runs.spending import estimate, spending_of
from scoring.work.slice import work_on_slice
from tests.factories import CaseFactory, ResponseFactory
from tests.scoring.conftest import Loopback, chat_judge
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

# The loopback endpoint counts 400 tokens in and 20 out for every answer: at these prices 0.0006 each.
PRICES = {"price_in": 1.0, "price_out": 10.0, "max_tokens": 100}
COST = 400 * 1.0 / 1e6 + 20 * 10.0 / 1e6


@pytest.fixture(autouse=True)
def enqueued(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Tasks are counted and not sent: these tests do the worker's part themselves."""
    from scoring import tasks

    sent: list[tuple[int, int]] = []
    monkeypatch.setattr(tasks.judge_slice, "delay_on_commit", lambda *ids: sent.append(ids))
    return sent


def start(benchmark: Benchmark, judge: Any, frame: RunFrame | None = None, **more: Any) -> JudgeRun:
    return create_run(benchmark=benchmark, judge=judge, frame=frame or RunFrame(), by=None, at=timezone.now(), **more)


def work(run: JudgeRun, clock: Any = timezone.now) -> JudgeRun:
    for row in run.slices.all():
        work_on_slice(run.pk, row.number, clock=clock)
    run.refresh_from_db()
    return run


def in_a_thread(work: Callable[[], Any]) -> None:
    """Work with a connection of its own, and close it."""
    try:
        work()
    finally:
        connection.close()


@pytest.mark.slow
def test_a_budget_stops_the_run_before_it_is_passed(answered: Benchmark, loopback: Loopback) -> None:
    judge = chat_judge(answered, loopback, concurrency=8, **PRICES)
    run = work(start(answered, judge, budget=Decimal("0.0100")))
    assert run.status == "incomplete"
    assert "budget is used up" in run.error
    spent = spending_of([run])[run.pk]
    written = Verdict.objects.filter(run=run).count()
    assert (spent.calls, spent.tokens_in, spent.tokens_out) == (written, 400 * written, 20 * written)
    assert spent.money == pytest.approx(COST * written)
    # Never above; and no further below than the most that one request could have cost.
    assert spent.money <= 0.01
    assert written >= 10
    assert loopback.requests() == written
    with pytest.raises(DomainError, match="must be greater than zero"):
        resume_run(run=run, at=timezone.now(), budget=Decimal(0))
    with pytest.raises(DomainError, match="the total that the run may spend"):
        resume_run(run=run, at=timezone.now(), budget=Decimal("0.005"))
    resume_run(run=run, at=timezone.now(), budget=Decimal("1"))
    assert work(run).status == "finished"
    assert loopback.requests() == 36
    assert spending_of([run])[run.pk].money == pytest.approx(COST * 36)


def test_a_budget_needs_prices(answered: Benchmark, loopback: Loopback) -> None:
    with pytest.raises(DomainError, match="no prices"):
        start(answered, chat_judge(answered, loopback), budget=Decimal(1))
    assert not JudgeRun.objects.exists()


@pytest.mark.slow
def test_what_an_endpoint_does_not_count_is_estimated_and_marked_so(answered: Benchmark, loopback: Loopback) -> None:
    run = work(start(answered, chat_judge(answered, loopback, "uncounted", **PRICES)))
    assert run.status == "finished"
    spent = spending_of([run])[run.pk]
    assert (spent.calls, spent.estimated_calls) == (36, 36)
    assert 36 * 300 < spent.tokens_in < 36 * 1500
    assert not JudgeCall.objects.filter(run=run, tokens_in__isnull=False).exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limits", "seconds"),
    [
        ({"requests_per_minute": 60 * 40}, 35 / 40),
        # 420 tokens are counted for each; the first estimates are a little above.
        ({"tokens_per_minute": 60 * 420 * 50}, 35 / 50),
    ],
)
def test_a_run_keeps_to_what_a_minute_allows(
    answered: Benchmark, loopback: Loopback, limits: dict[str, float], seconds: float
) -> None:
    run = start(answered, chat_judge(answered, loopback, concurrency=8, **limits))
    began = time.monotonic()
    assert work(run).status == "finished"
    # A floor on time: the only thing about time that a busy machine cannot break.
    assert time.monotonic() - began >= seconds * 0.9
    assert loopback.requests() == 36


@pytest.mark.slow
def test_an_endpoint_that_is_down_pauses_the_run_and_is_tried_again(
    answered: Benchmark, loopback: Loopback, enqueued: Any
) -> None:
    judge = chat_judge(answered, loopback, "500", attempts=1, concurrency=1, pauses=2)
    run = work(start(answered, judge))
    assert run.status == "paused"
    assert "is not responding" in run.error
    assert loopback.requests() == 20
    enqueued.clear()
    row = run.slices.get()
    assert row.resume_at is not None
    now = timezone.now()
    assert timedelta(seconds=50) < row.resume_at - now <= timedelta(minutes=1)
    # A task that comes early, and a sweep before its time, do nothing.
    assert work(run).status == "paused"
    assert SLICES.sweep(at=now + timedelta(seconds=30)) == 0
    later = now + timedelta(seconds=61)
    assert SLICES.sweep(at=later) == 1
    assert enqueued == [(run.pk, 0)]
    # One request finds out that it is still down; the second pause is longer.
    assert work(run, lambda: later).status == "paused"
    assert loopback.requests() == 21
    assert run.slices.get().resume_at == later + timedelta(minutes=5)
    last = later + timedelta(minutes=6)
    assert work(run, lambda: last).status == "incomplete"
    assert loopback.requests() == 22
    assert not Verdict.objects.filter(run=run).exists()


@pytest.mark.slow
def test_a_paused_run_goes_on_when_the_endpoint_is_back_or_somebody_says_so(
    answered: Benchmark, loopback: Loopback
) -> None:
    # Each request fails once and then succeeds.
    judge = chat_judge(answered, loopback, "500-once", attempts=1, concurrency=1, pauses=1)
    run = work(start(answered, judge))
    assert (run.status, loopback.requests()) == ("paused", 20)
    resume_run(run=run, at=timezone.now())
    for _ in range(3):  # a later pass begins anywhere
        run = work(run)
        if run.status == "finished":
            break
        resume_run(run=run, at=timezone.now())
    assert run.status == "finished"
    assert Verdict.objects.filter(run=run).count() == 36
    assert loopback.requests() == 36 + 36  # each once in vain and once not


@pytest.mark.slow
def test_a_paused_run_can_be_cancelled(answered: Benchmark, loopback: Loopback) -> None:
    run = work(start(answered, chat_judge(answered, loopback, "500", attempts=1, concurrency=1, pauses=2)))
    cancel_run(run=run, at=timezone.now())
    assert run.status == "cancelled"


@pytest.mark.slow
def test_a_wrong_key_is_not_waited_for(answered: Benchmark, loopback: Loopback) -> None:
    run = work(start(answered, chat_judge(answered, loopback, "401", concurrency=1, pauses=2)))
    assert run.status == "incomplete"
    assert run.error.startswith("The endpoint refuses requests: 3 requests")
    assert "http_401" in run.error
    assert loopback.requests() == 3


@pytest.mark.slow
def test_workers_share_what_an_endpoint_allows(answered: Benchmark, loopback: Loopback) -> None:
    from scoring.work.slice_turn import begin as _begin

    first, second = (start(answered, chat_judge(answered, loopback, slices=2)) for _ in range(2))
    other = start(answered, chat_judge(answered, loopback, "gullible"))
    RunSlice.objects.filter(run__in=[first, second, other]).update(enqueued_at=timezone.now() - timedelta(minutes=1))
    worker = _begin(first.pk, 0, timezone.now, random.Random(0))
    assert worker is not None
    worker.count_active_workers()
    assert worker.active_workers == 1  # what waits for a worker takes nothing
    RunSlice.objects.filter(run=second).update(status="running", heartbeat_at=timezone.now())
    RunSlice.objects.filter(run=other).update(status="running", heartbeat_at=timezone.now())
    worker.count_active_workers()
    assert worker.active_workers == 3  # itself and the two slices of the other run; another model is another matter
    RunSlice.objects.filter(run=second).update(heartbeat_at=timezone.now() - timedelta(minutes=1))
    worker.count_active_workers()
    assert worker.active_workers == 1  # the dead take nothing


@pytest.mark.slow
def test_all_criteria_in_one_request(answered: Benchmark, loopback: Loopback) -> None:
    judge = chat_judge(answered, loopback, criteria_per_request="all")
    run = work(start(answered, judge, replicates=2))
    assert (run.status, loopback.requests()) == ("finished", 24)  # 12 responses, twice
    verdicts = Verdict.objects.filter(run=run)
    assert verdicts.count() == 72
    assert verdicts.values("call").distinct().count() == 24
    one_by_one = work(start(answered, chat_judge(answered, loopback, name="one by one")))
    assert one_by_one.prompt_hash != run.prompt_hash
    # What is missing of a response is asked about alone.
    assert spending_of([run])[run.pk].calls == 24


@pytest.mark.slow
def test_an_answer_that_lacks_a_criterion_is_no_verdict_on_any(answered: Benchmark, loopback: Loopback) -> None:
    judge = chat_judge(answered, loopback, "string-true", criteria_per_request="all")
    run = work(start(answered, judge, RunFrame(candidates=("alpha",))))
    assert run.status == "finished"
    assert set(Verdict.objects.filter(run=run).values_list("outcome", flat=True)) == {"invalid"}
    assert loopback.requests() == 8  # four responses, asked once and once again


def test_a_sample_is_drawn_by_its_seed(answered: Benchmark, loopback: Loopback) -> None:
    judge = chat_judge(answered, loopback)
    drawn = [
        set(start(answered, judge, RunFrame(sample=5, seed=seed)).items.values_list("response", flat=True))
        for seed in (1, 1, 2)
    ]
    assert [len(sample) for sample in drawn] == [5, 5, 5]
    assert drawn[0] == drawn[1] != drawn[2]
    assert frame_size(benchmark=answered, frame=RunFrame(sample=5)).verdicts == 15


@pytest.mark.slow
def test_an_estimate_comes_from_lengths_and_then_from_calls(answered: Benchmark, loopback: Loopback) -> None:
    loopback.start_afresh(latency=0.05)
    judge = chat_judge(answered, loopback, concurrency=4, **PRICES)
    frame = RunFrame()
    size = frame_size(benchmark=answered, frame=frame)
    before = estimate(benchmark=answered, judge=judge, frame=frame, size=size)
    assert before is not None
    assert (before.calls, before.sampled, before.requests, before.seconds) == (0, 12, 36, None)
    assert before.money is not None
    work(start(answered, judge, RunFrame(sample=4)))
    after = estimate(benchmark=answered, judge=judge, frame=frame, size=size)
    assert after is not None
    assert (after.calls, after.requests, after.tokens_in, after.tokens_out) == (12, 36, 36 * 400, 36 * 20)
    assert after.money == pytest.approx(36 * COST)
    assert after.seconds is not None
    assert after.seconds >= 36 * 0.05 / 4


@pytest.mark.slow
def test_a_task_whose_time_is_up_tries_nothing_again_and_a_run_without_any_answer_ends(
    answered: Benchmark, loopback: Loopback
) -> None:
    judge = chat_judge(answered, loopback, "slow", timeout_s=1.0, attempts=10, concurrency=2, pauses=0)
    run = start(answered, judge)
    assert not work_on_slice(run.pk, 0, clock=timezone.now, budget_s=-1)  # nothing to be gained by enqueueing again
    run.refresh_from_db()
    assert run.status == "incomplete"
    assert "timeout" in run.error
    assert loopback.requests() == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "status", "concurrency"), [("picky", 400, 1), ("picky", 400, 8), ("picky-filter", 403, 8)]
)
def test_a_response_that_the_endpoint_cannot_take_does_not_stop_the_others(
    answered: Benchmark, loopback: Loopback, model: str, status: int, concurrency: int
) -> None:
    case = CaseFactory(benchmark=answered, rubric=[1] * 30)
    ResponseFactory(case=case, candidate=answered.candidates.get(name="alpha"), text="POISON")
    healthy = CaseFactory(benchmark=answered, rubric=[1] * 4)
    ResponseFactory(case=healthy, candidate=answered.candidates.get(name="alpha"))
    run = work(start(answered, chat_judge(answered, loopback, model, attempts=1, concurrency=concurrency, pauses=2)))
    assert run.status == "incomplete"
    assert run.error.startswith("30 requests failed")
    assert f"http_{status}" in run.error
    assert Verdict.objects.filter(run=run).count() == 36 + 4


@pytest.mark.slow
def test_a_judge_that_never_gives_a_verdict_is_not_taken_for_an_endpoint_that_is_down(
    answered: Benchmark, loopback: Loopback
) -> None:
    run = start(answered, chat_judge(answered, loopback, "cut-json", re_asks=5, concurrency=24, pauses=2))
    while work_on_slice(run.pk, 0, clock=timezone.now, budget_s=0.05):
        continue
    run.refresh_from_db()
    assert (run.status, run.error) == ("finished", "")
    assert set(Verdict.objects.filter(run=run).values_list("outcome", flat=True)) == {"invalid"}


@pytest.mark.slow
def test_what_is_in_the_air_when_a_run_is_cancelled_is_kept_and_counted(
    answered: Benchmark, loopback: Loopback
) -> None:
    loopback.start_afresh(latency=1)  # time to cancel it before all have been asked
    run = start(answered, chat_judge(answered, loopback, concurrency=6, **PRICES))
    thread = Thread(target=in_a_thread, args=(lambda: work_on_slice(run.pk, 0, clock=timezone.now),))
    thread.start()
    wait_until(lambda: loopback.requests() >= 6, message="six requests are in the air")
    cancel_run(run=run, at=timezone.now())
    thread.join()
    run.refresh_from_db()
    assert run.status == "cancelled"
    request_count = loopback.requests()
    assert Verdict.objects.filter(run=run).count() == request_count == spending_of([run])[run.pk].calls


@pytest.mark.slow
def test_answers_without_a_verdict_in_their_envelope_are_paid_too(answered: Benchmark, loopback: Loopback) -> None:
    judge = chat_judge(answered, loopback, "choiceless", concurrency=4, attempts=5, **PRICES)
    run = work(start(answered, judge, budget=Decimal("0.0100")))
    assert run.status == "incomplete"
    spent = spending_of([run])[run.pk]
    assert (spent.tokens_in, spent.tokens_out) == (400 * loopback.requests(), 20 * loopback.requests())
    assert spent.money is not None
    assert spent.money <= 0.01


@pytest.mark.slow
def test_requests_that_time_out_are_charged_at_their_most(answered: Benchmark, loopback: Loopback) -> None:
    judge = chat_judge(answered, loopback, "slow", timeout_s=1.0, attempts=2, concurrency=36, **PRICES)
    run = work(start(answered, judge, budget=Decimal("0.05")))
    spent = spending_of([run])[run.pk]
    assert spent.tokens_out == 100 * loopback.requests()
    assert spent.money is not None
    assert spent.money <= 0.05


@pytest.mark.slow
def test_the_last_worker_may_spend_what_the_others_left(answered: Benchmark, loopback: Loopback) -> None:
    run = start(answered, chat_judge(answered, loopback, concurrency=2, slices=2, **PRICES), budget=Decimal("0.045"))
    # 18 verdicts each cost 0.0108; half of the budget each would do, but the first found little to ask.
    RunSlice.objects.filter(run=run, number=0).update(status="done")
    rows = run.items.order_by("pk")
    rows.filter(pk__in=[row.pk for row in rows if row.pk % 2 == 0]).delete()
    JudgeRun.objects.filter(pk=run.pk).update(expected=18, budget=Decimal("0.0150"))
    work_on_slice(run.pk, 1, clock=timezone.now)
    run.refresh_from_db()
    assert run.status == "finished"


def test_a_run_is_paused_once_the_last_slice_that_works_has_ended(answered: Benchmark, loopback: Loopback) -> None:
    run = start(answered, chat_judge(answered, loopback, slices=2))
    JudgeRun.objects.update(status="running")
    RunSlice.objects.filter(number=0).update(resume_at=timezone.now() + timedelta(minutes=5), reason="It is down.")
    work_on_slice(run.pk, 1, clock=timezone.now)
    run.refresh_from_db()
    assert (run.status, run.error) == ("paused", "It is down.")


@pytest.mark.slow
def test_claims_never_exceed_the_budget_however_unevenly_it_was_spent(answered: Benchmark, loopback: Loopback) -> None:
    judge = chat_judge(answered, loopback, concurrency=3, slices=3, **PRICES)
    run = start(answered, judge, budget=Decimal(10))
    # Nine and one of ten are spent (a million tokens in cost one), and all are opened again.
    for number, millions in ((0, 9), (1, 1)):
        RunSlice.objects.filter(run=run, number=number).update(tokens_in=millions * 1_000_000, calls=1)
    from scoring.work.slice_turn import begin as _begin

    for number in range(3):
        assert _begin(run.pk, number, timezone.now, random.Random(0)) is not None
    assert list(run.slices.order_by("number").values_list("claim", flat=True)) == pytest.approx([9, 1, 0])


def test_waiting_slices_keep_their_part_and_the_last_gets_what_is_left(answered: Benchmark, loopback: Loopback) -> None:
    from scoring.work.slice_turn import begin as _begin

    run = start(answered, chat_judge(answered, loopback, concurrency=3, slices=3, **PRICES), budget=Decimal(9))
    assert _begin(run.pk, 0, timezone.now, random.Random(0)) is not None
    assert run.slices.get(number=0).claim == pytest.approx(3)
    assert _begin(run.pk, 1, timezone.now, random.Random(0)) is not None
    assert run.slices.get(number=1).claim == pytest.approx(3)
    RunSlice.objects.filter(run=run, number__lt=2).update(status="done", tokens_in=500_000)
    assert _begin(run.pk, 2, timezone.now, random.Random(0)) is not None
    assert run.slices.get(number=2).claim == pytest.approx(8)


@pytest.mark.parametrize("amount", ["NaN", "Infinity", "1e20", "0.00001", "-1", "0"])
def test_an_amount_that_is_no_budget_is_refused(answered: Benchmark, loopback: Loopback, amount: str) -> None:
    with pytest.raises(DomainError, match="budget"):
        start(answered, chat_judge(answered, loopback, **PRICES), budget=Decimal(amount))
    with pytest.raises(CommandError, match="udget"):
        call_command("judge", benchmark="answered", judge="judge ok", budget=Decimal(amount))
