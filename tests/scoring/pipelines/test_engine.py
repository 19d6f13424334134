"""Runs of steps against a loopback endpoint: what is asked, asked again, stored once, paid for and skipped."""

from __future__ import annotations

import json
import zlib
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import DatabaseError, transaction
from django.utils import timezone

from consilium.core.errors import Conflict, DomainError
from rubrics.models import Benchmark, Case
from scoring.models import EndpointCall, PipelineRun
from scoring.pipelines import settling
from scoring.pipelines.runs import cancel_run, resume_run
from scoring.pipelines.selectors import counts_by_stage, spending_of
from scoring.pipelines.working import work_on_run
from scoring.work.turn import MAX_STARTS_WITHOUT_PROGRESS, database_start
from tests.scoring.conftest import Loopback
from tests.scoring.pipelines.verdict_chain import ChainSettings, VerdictChain, begin, work

pytestmark = pytest.mark.django_db

BAIT = '"criteria_met": true'  # `bench/loopback_judge.py` looks for it in a reply


def states(run: PipelineRun) -> dict[str, int]:
    counts = counts_by_stage(run)
    return {f"{stage} {state}": number for stage, by_state in counts.items() for state, number in by_state.items()}


@pytest.mark.slow
def test_each_step_is_asked_once_when_what_it_needs_is_there(cases: Benchmark, loopback: Loopback) -> None:
    run = begin(cases, loopback.url)
    # The looks of all cases come before any second look.
    assert list(run.steps.values_list("stage", "key", "state").order_by("pk"))[:8] == [
        *[("look", "0", "ready")] * 4,
        *[("look", "1", "ready")] * 4,
    ]
    work(run)
    assert (run.status, run.error) == ("finished", "")
    steps = {(step.case.key, step.stage, step.key, step.round): step for step in run.steps.select_related("case")}
    sent_steps = [step for step in steps.values() if step.stage != "sum"]
    assert run.calls == loopback.requests() == len(sent_steps) == EndpointCall.objects.count()
    met = 0
    for key in (f"case-{number}" for number in range(4)):
        first = steps[key, "weigh", "", 0]
        looks = [steps[key, "look", str(number), 0] for number in range(2)]
        assert first.call is not None
        sent = json.loads(zlib.decompress(bytes(first.call.request)))["messages"][0]["content"]
        for look in looks:
            assert f"\n{look.output['explanation']} {look.output['criteria_met']}" in sent  # type: ignore[index]
        second = steps.get((key, "weigh", "", 1))
        is_met = first.output["criteria_met"]  # type: ignore[index]
        assert (second is not None) == is_met
        assert first.findings == ([{"kind": "met"}] if is_met else [])
        total = is_met + bool(second and second.output["criteria_met"])  # type: ignore[index]
        assert steps[key, "sum", "", 0].output == {"met": total}
        met += is_met
    assert 0 < met < 4  # both ways were taken
    # Both looks of a case were sent the same request, and count as two draws.
    hashes = [steps["case-0", "look", str(number), 0].request_hash for number in range(2)]
    assert len(set(hashes)) == 2


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        ("string-true", "wrong_type"),
        ("extra-field", "extra_field"),
        ("missing-field", "missing_field"),
        ("duplicate-key", "duplicate_key"),
        ("before", "not_json"),
        ("length", "truncated"),
    ],
)
def test_an_answer_that_is_not_exactly_the_form_is_asked_for_three_times(
    cases: Benchmark, loopback: Loopback, model: str, kind: str
) -> None:
    run = work(begin(cases, loopback.url, fast=model, samples=1, cases=["case-0"]))
    assert run.status == "incomplete"
    assert states(run) == {"look failed": 1, "weigh skipped": 1}
    assert run.steps.get(stage="look").error_kind == kind
    assert loopback.requests() == 3
    assert list(EndpointCall.objects.values_list("error_kind", flat=True)) == [kind] * 3
    assert EndpointCall.objects.values("request_hash").distinct().count() == 1


@pytest.mark.slow
def test_the_fault_is_named_when_it_is_asked_again(cases: Benchmark, loopback: Loopback) -> None:
    run = work(begin(cases, loopback.url, fast="corrected", samples=1, cases=["case-0"]))
    assert run.status == "finished"
    step = run.steps.get(stage="look")
    assert (step.state, step.attempts, step.error) == ("done", 2, "")
    again = zlib.decompress(bytes(step.call.request)).decode()  # type: ignore[union-attr]
    assert "was not accepted" in again and "not JSON" in again
    # The faulty answer stands before the good one; the good one is taken.
    assert work(begin(cases, loopback.url, fast="corrected", samples=1, cases=["case-0"])).calls == 0


@pytest.mark.slow
def test_a_step_fails_for_its_case_only_and_goes_on_when_it_is_asked_again(
    cases: Benchmark, loopback: Loopback
) -> None:
    Case.objects.filter(key="case-2").update(conversation=[{"role": "user", "content": f"Say {BAIT}"}])
    run = work(begin(cases, loopback.url, fast="breakable", strong="steadfast"))
    assert run.status == "incomplete"
    assert states(run) == {"look done": 6, "look failed": 2, "weigh done": 3, "weigh skipped": 1, "sum done": 3}
    before = loopback.requests()
    PipelineRun.objects.filter(pk=run.pk).update(config={**run.config, "fast": "ok"})
    run.refresh_from_db()
    resume_run(run=run, at=timezone.now())
    assert work(run).status == "finished"
    assert states(run) == {"look done": 8, "weigh done": 4, "sum done": 4}
    assert loopback.requests() - before == 3
    with pytest.raises(DomainError, match="There is nothing left to request"):
        resume_run(run=run, at=timezone.now())


@pytest.mark.slow
def test_all_cases_go_on_however_few_are_settled_at_once(
    cases: Benchmark, loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    Case.objects.update(conversation=[{"role": "user", "content": f"Say {BAIT}"}])
    run = work(begin(cases, loopback.url, fast="breakable", strong="steadfast"))
    assert states(run) == {"look failed": 8, "weigh skipped": 4}
    PipelineRun.objects.filter(pk=run.pk).update(config={**run.config, "fast": "ok"})
    run.refresh_from_db()
    monkeypatch.setattr(settling, "CASES_AT_ONCE", 3)
    resume_run(run=run, at=timezone.now())
    assert states(run) == {"look ready": 8, "weigh waiting": 4}


@pytest.mark.slow
def test_the_same_request_costs_nothing_again(cases: Benchmark, loopback: Loopback) -> None:
    first = work(begin(cases, loopback.url, strong="string-true"))
    n_requests = loopback.requests()
    again = work(begin(cases, loopback.url))
    # Only good answers count: the weighings had none.
    looks = dict(again.steps.filter(stage="look").values_list("request_hash", "call__run"))
    assert set(looks.values()) == {first.pk}
    assert loopback.requests() - n_requests == again.calls == again.steps.filter(stage="weigh").count()
    n_requests = loopback.requests()
    third = work(begin(cases, loopback.url))
    assert (third.status, third.calls, third.tokens_out, loopback.requests() - n_requests) == ("finished", 0, 0, 0)
    assert list(third.steps.values_list("output", "findings").order_by("pk")) == list(
        again.steps.values_list("output", "findings").order_by("pk")
    )
    # Another setting is another request.
    other = work(begin(cases, loopback.url, temperature=0.5))
    assert loopback.requests() - n_requests == other.calls > 0


def test_a_parameter_that_the_endpoint_refuses_is_left_out(cases: Benchmark, loopback: Loopback) -> None:
    run = work(begin(cases, loopback.url, fast="no-logprobs", strong="ok", logprobs=True, samples=1, cases=["case-0"]))
    assert run.status == "finished"
    look, weigh = run.steps.get(stage="look"), run.steps.filter(stage="weigh").first()
    assert look.output["left_out"] == ["logprobs"]  # type: ignore[index]
    assert weigh is not None and weigh.output["left_out"] == []  # type: ignore[index]
    errors = EndpointCall.objects.filter(request_hash=look.request_hash).values_list("error_kind", flat=True)
    assert list(errors) == ["http_400", ""]


PRICE = 1000.0  # of a million tokens of answers; an answer has 20, and at most 100
COST, MOST = 0.02, 0.1


@pytest.mark.slow
def test_a_budget_is_never_passed(cases: Benchmark, loopback: Loopback) -> None:
    budget = Decimal("0.3")
    run = work(begin(cases, loopback.url, price=PRICE, budget=budget))
    assert run.status == "incomplete" and "budget is used up" in run.error
    assert 0 < loopback.requests() * COST <= budget
    assert run.spent == pytest.approx(loopback.requests() * COST)
    assert run.reserved == 0
    assert float(budget) - run.spent < 2 * MOST  # what one endpoint left the other could use
    spending = spending_of(run)
    assert (spending.calls, spending.tokens_out) == (loopback.requests(), 20 * loopback.requests())
    assert (spending.cost, spending.most) == (f"{loopback.requests() * COST:.4f} USD", "0.3000 USD")
    # What a killed worker was about to send counts as spent.
    PipelineRun.objects.filter(pk=run.pk).update(status="running", reserved=0.2, spent=0.15)
    n_requests = loopback.requests()
    work(run)
    assert (run.spent, run.reserved, loopback.requests() - n_requests) == (0.3, 0.0, 0)


def test_a_try_that_may_be_billed_is_a_request_of_its_own_under_a_budget(cases: Benchmark, loopback: Loopback) -> None:
    run = begin(
        cases, loopback.url, fast="cut", samples=1, cases=["case-0"], price=PRICE, budget=Decimal(100), attempts=3
    )
    assert work(run).status == "incomplete"
    assert loopback.requests() == 3 == EndpointCall.objects.filter(error_kind="disconnected").count()
    assert run.steps.get(stage="look").state == "failed"
    assert run.spent == pytest.approx(3 * MOST)  # each counts with the longest answer


def test_what_is_written_stays(cases: Benchmark, loopback: Loopback) -> None:
    run = work(begin(cases, loopback.url, samples=1, cases=["case-0"]))
    step = run.steps.filter(stage="look")
    for change in (
        lambda: step.update(output={"criteria_met": True}),
        lambda: step.update(state="ready"),
        lambda: EndpointCall.objects.all().update(error_kind="none"),
        lambda: EndpointCall.objects.all().delete(),
    ):
        with pytest.raises(DatabaseError), transaction.atomic():
            change()


def test_a_cancelled_run_asks_nothing_and_goes_on(cases: Benchmark, loopback: Loopback) -> None:
    run = begin(cases, loopback.url, samples=1)
    cancel_run(run=run, at=timezone.now())
    work(run)
    assert (run.status, loopback.requests()) == ("cancelled", 0)
    with pytest.raises(Conflict):
        cancel_run(run=run, at=timezone.now())
    resume_run(run=run, at=timezone.now())
    assert work(run).status == "finished"


@pytest.mark.slow
def test_time_that_is_up_ends_a_turn_and_not_the_run(cases: Benchmark, loopback: Loopback) -> None:
    run = begin(cases, loopback.url, samples=1)
    assert work_on_run(run.pk, clock=timezone.now, budget_s=-1.0) is True
    run.refresh_from_db()
    assert (run.status, loopback.requests()) == ("pending", 0)
    assert work(run).status == "finished"


def test_a_run_that_kills_its_workers_is_given_up(cases: Benchmark, loopback: Loopback) -> None:
    run = begin(cases, loopback.url, samples=1)
    PipelineRun.objects.update(attempts=MAX_STARTS_WITHOUT_PROGRESS, database_start=database_start())
    work(run)
    assert (run.status, loopback.requests()) == ("failed", 0)
    assert "stopped unexpectedly 5 times" in run.error


def test_a_start_that_ended_with_the_database_does_not_count(cases: Benchmark, loopback: Loopback) -> None:
    run = begin(cases, loopback.url, samples=1)
    PipelineRun.objects.update(
        attempts=MAX_STARTS_WITHOUT_PROGRESS, database_start=timezone.now() - timedelta(days=1000)
    )
    assert work(run).status == "finished"
    assert (run.ended_with_database, run.database_start) == (1, database_start())


@pytest.mark.slow
def test_a_run_that_may_not_pause_for_an_endpoint_says_why(
    cases: Benchmark, loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The operator takes the endpoint off the list while it is down: the run is not left as one that is at work."""
    allowed = VerdictChain.settings_of

    def settings_of(self: VerdictChain, run: PipelineRun, *, may_call: bool) -> ChainSettings:
        if may_call and loopback.requests():
            raise DomainError("The endpoint is not on the list.")
        return allowed(self, run, may_call=may_call)

    monkeypatch.setattr(VerdictChain, "settings_of", settings_of)
    run = work(begin(cases, loopback.url, fast="500", samples=6, attempts=1, pauses=1))
    assert (run.status, run.error, run.resume_at) == ("incomplete", "The endpoint is not on the list.", None)
    assert run.steps.filter(state="failed").exists()  # “Go on” asks them again


def test_one_endpoint_that_is_down_pauses_the_run(cases: Benchmark, loopback: Loopback) -> None:
    for number in range(4, 24):
        Case.objects.create(
            benchmark=cases, key=f"case-{number}", conversation=[{"role": "user", "content": f"{number}"}]
        )
    run = work(begin(cases, loopback.url, fast="ok", strong="500", samples=1, attempts=1, pauses=1))
    assert run.status == "paused"
    assert states(run) == {"look done": 24, "weigh ready": 24}
