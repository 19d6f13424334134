"""Forced choices asked of an endpoint: each (case, sample) has one reading, and no answer is a level by default."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from consilium.core.errors import DomainError
from rubrics.models import Benchmark, Case, Response
from scoring.classification.config import classification_config
from scoring.classification.runs import create_run, resume_run
from scoring.generation.due_responses import CaseFrame
from scoring.judges.config import InvalidConfig
from scoring.models import AcuityReading, ClassificationRun, JudgeRunItem, PipelineStep
from scoring.pipelines.runs import PIPELINES, cancel_run, replay_run
from scoring.pipelines.working import work_on_run
from scoring.tasks import work_on_pipeline
from tests.chaos import FULL
from tests.factories import BenchmarkFactory, CandidateFactory, CaseFactory
from tests.processes import Worker
from tests.scoring.conftest import Loopback
from tests.scoring.generation.test_generation import QUICK, last_request
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db

VALUES = {"self-care", "primary-care", "urgent-care", "emergency"}


@pytest.fixture
def cases(db: None) -> Benchmark:
    benchmark = BenchmarkFactory(slug="asked")
    for number in range(4):
        CaseFactory(benchmark=benchmark, key=f"case-{number}", rubric=0)
    return benchmark


def start(
    benchmark: Benchmark, loopback: Loopback, model: str = "choice", *, candidate: str = "asked model", **given: Any
) -> ClassificationRun:
    own = {name: given.pop(name) for name in ("samples", "frame", "scale", "budget") if name in given}
    return create_run(
        benchmark=benchmark,
        candidate=candidate,
        config={"endpoint": loopback.url, "model": model, **QUICK, **given},
        by=None,
        at=timezone.now(),
        **{"scale": "four", "samples": 1, "frame": CaseFrame(), **own},
    )


def work(run: ClassificationRun) -> ClassificationRun:
    work_on_run(run.pk, clock=timezone.now)
    run.refresh_from_db()
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # a test ends without a commit
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
    return run


@pytest.mark.slow
@pytest.mark.parametrize("confidence", [False, True])
@pytest.mark.parametrize("ask", ["letter", "schema", "reasons"])
def test_each_sample_has_one_reading(cases: Benchmark, loopback: Loopback, ask: str, confidence: bool) -> None:
    CaseFactory(benchmark=cases, key="stub", rubric=0, conversation=[], is_stub=True)
    Case.objects.filter(key="case-3").update(excluded_at=timezone.now(), exclusion="decision", exclusion_reason="r")
    run = work(start(cases, loopback, ask=ask, confidence=confidence, samples=3))
    assert run.status == "finished"
    readings = list(AcuityReading.objects.select_related("case"))
    assert sorted((row.case.key, row.sample) for row in readings) == [
        (f"case-{n}", s) for n in range(3) for s in range(3)
    ]
    assert {(row.source, row.format, row.state, row.pipeline_run_id) for row in readings} == {
        ("parsed", "qa", "level", run.pk)
    }
    for row in readings:
        # What was said is the level that is stored, in each form.
        letter = "ABCD"[row.level or 0]
        value = sorted(VALUES, key=["self-care", "primary-care", "urgent-care", "emergency"].index)[row.level or 0]
        assert (
            f'"{value}"' in row.text
            if ask == "schema"
            else row.text.split("\n")[0 if ask == "letter" else -1][-1] == letter
        )
        if confidence:
            percentage = json.loads(row.text)["confidence"] if ask == "schema" else row.text
            assert row.confidence is not None
            assert str(round(100 * row.confidence)) in str(percentage)
        else:
            assert row.confidence is None
    # The order of the options comes from a coin for each case and sample, and both sides come up.
    assert {row.descending for row in readings} == {False, True}
    # Nothing else has heard of it.
    assert not Response.objects.exists() and not JudgeRunItem.objects.exists()
    with pytest.raises(DomainError, match="There is nothing to run"):
        start(cases, loopback, ask=ask, samples=3)


def test_the_most_urgent_level_is_first_where_the_reading_says_so(cases: Benchmark, loopback: Loopback) -> None:
    for seed in range(2):
        run = work(start(cases, loopback, candidate=f"m{seed}", frame=CaseFrame(cases=1), order_seed=seed))
        system = last_request(loopback)["messages"][0]["content"]
        reading = AcuityReading.objects.get(pipeline_run=run)
        assert (system.index("emergency (") < system.index("self-care (")) == reading.descending


@pytest.mark.parametrize(
    ("model", "state"),
    [
        ("choice-refuses", "refused"), ("choice-two", "several"), ("choice-asks", "no-level"),
        ("choice-prose", "invalid"), ("choice-quoted", "invalid"), ("refusal", "refused"), ("empty", "invalid"),
        pytest.param("huge", "invalid", marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_what_is_no_level_is_a_state_and_no_failure(
    cases: Benchmark, loopback: Loopback, model: str, state: str
) -> None:
    run = work(start(cases, loopback, model, ask="reasons" if model == "choice-quoted" else "letter"))
    assert run.status == "finished"
    assert set(run.steps.values_list("state", "error_kind")) == {("done", "")}
    assert set(AcuityReading.objects.values_list("state", "level")) == {(state, None)}
    # What cannot be read is asked again twice, with the fault named; anything else is an answer.
    assert loopback.requests() == 4 * (3 if state == "invalid" else 1)
    assert ("was not accepted" in json.dumps(last_request(loopback))) == (state == "invalid")


def test_an_answer_in_the_second_try_counts(cases: Benchmark, loopback: Loopback) -> None:
    work(start(cases, loopback, "choice-second-time"))
    assert set(AcuityReading.objects.values_list("state", flat=True)) == {"level"}
    assert loopback.requests() == 8


def test_log_probabilities_give_a_distribution(cases: Benchmark, loopback: Loopback) -> None:
    run = work(start(cases, loopback, "choice-logprobs", logprobs=True))
    sent = last_request(loopback)
    assert (sent["logprobs"], sent["top_logprobs"]) == (True, 20)
    for reading in AcuityReading.objects.all():
        assert reading.source == "logprobs"
        # 0.7 and 0.2 of the letters, 0.1 of another word: 7/9 and 2/9.
        shares = [0.0] * 4
        shares[reading.level or 0], shares[1 if reading.level == 0 else 0] = 7 / 9, 2 / 9
        assert reading.distribution == pytest.approx(shares)
    assert [step.output["outside"] for step in run.steps.all()] == pytest.approx([0.1] * 4)


def test_an_endpoint_that_refuses_them_is_asked_without(cases: Benchmark, loopback: Loopback) -> None:
    run = work(start(cases, loopback, "choice-no-logprobs", logprobs=True))
    assert run.status == "finished"
    assert loopback.requests() == 8
    assert set(AcuityReading.objects.values_list("source", "state")) == {("parsed", "level")}
    assert [step.output["left_out"] for step in run.steps.all()] == [["logprobs", "top_logprobs"]] * 4


@pytest.mark.parametrize(("model", "kind"), [("500", "http_5xx"), ("html", "envelope"), ("slow", "timeout")])
def test_what_never_answers_has_no_reading_and_is_asked_again(
    cases: Benchmark, loopback: Loopback, model: str, kind: str
) -> None:
    run = work(start(cases, loopback, model, timeout_s=0.3 if kind == "timeout" else 60))
    assert run.status == "incomplete"
    assert set(run.steps.values_list("state", "error_kind")) == {("failed", kind)}
    assert not AcuityReading.objects.exists()
    ClassificationRun.objects.filter(pk=run.pk).update(config={**run.config, "model": "choice", "timeout_s": 60})
    run.refresh_from_db()
    resume_run(run=run, at=timezone.now())
    assert work(run).status == "finished"
    assert AcuityReading.objects.count() == 4


@pytest.mark.slow
def test_late_answers_are_taken(cases: Benchmark, loopback: Loopback) -> None:
    loopback.start_afresh(0.4)
    assert work(start(cases, loopback)).status == "finished"
    assert AcuityReading.objects.count() == 4


def test_a_budget_is_not_passed_and_can_be_raised(cases: Benchmark, loopback: Loopback) -> None:
    # 400 tokens in and 20 out are counted for each answer: 0.00042 at a price of 1; at most about 0.002 is reserved.
    priced = {"price_in": 1.0, "price_out": 1.0, "max_tokens": 100, "concurrency": 1}
    run = work(start(cases, loopback, budget="0.0015", **priced))
    assert run.status == "incomplete"
    done = AcuityReading.objects.count()
    assert 0 < done < 4
    assert run.spent <= 0.0015
    resume_run(run=run, at=timezone.now(), budget="1")  # type: ignore[arg-type]
    run = work(run)
    assert run.status == "finished"
    assert run.spent == pytest.approx(4 * 0.00042)
    with pytest.raises(DomainError, match="prices"):
        start(cases, loopback, candidate="other", budget="1")


def test_a_cancelled_run_goes_on_where_it_was(cases: Benchmark, loopback: Loopback) -> None:
    run = start(cases, loopback)
    cancel_run(run=run, at=timezone.now())
    assert work(run).status == "cancelled"
    assert loopback.requests() == 0
    resume_run(run=run, at=timezone.now())
    assert work(run).status == "finished"


@pytest.mark.slow
def test_a_replay_finds_the_same_and_writes_no_reading(cases: Benchmark, loopback: Loopback) -> None:
    run = work(start(cases, loopback, "choice-prose"))
    before = loopback.requests()
    replay = replay_run(run=ClassificationRun.objects.get(pk=run.pk), by=None, at=timezone.now())
    work(ClassificationRun.objects.get(pk=replay.pk))
    replay.refresh_from_db()
    assert replay.status == "finished", replay.error
    outputs = [list(own.steps.order_by("case", "key").values_list("output", flat=True)) for own in (run, replay)]
    assert outputs[0] == outputs[1]
    assert {output["state"] for output in outputs[0]} == {"invalid"}
    assert loopback.requests() == before
    assert AcuityReading.objects.count() == 4


def test_a_done_choice_has_exactly_one_reading(cases: Benchmark, loopback: Loopback) -> None:
    run = work(start(cases, loopback))
    reading = AcuityReading.objects.first()
    assert reading is not None
    own = {
        name: getattr(reading, name) for name in ("scale", "case", "candidate", "format", "source", "state", "level")
    }
    own |= {"pipeline_run": run, "descending": False, "created_at": timezone.now()}
    with pytest.raises(IntegrityError, match="classified"), transaction.atomic():
        AcuityReading.objects.create(**own, sample=reading.sample)
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    with pytest.raises(IntegrityError, match="one of its steps"), transaction.atomic():
        AcuityReading.objects.create(**own, sample=7)
    waiting = start(cases, loopback, candidate="nobody")
    with pytest.raises(IntegrityError, match="has a reading"), transaction.atomic():
        PipelineStep.objects.filter(run=waiting).update(state="done", output={})


def test_settings_that_are_refused(loopback: Loopback) -> None:
    for name, value in (("ask", "poem"), ("price_in", -1), ("currency", "usd"), ("system_prompt", "Be brief.")):
        with pytest.raises(InvalidConfig) as refused:
            classification_config({"endpoint": loopback.url, "model": "m", name: value})
        assert set(refused.value.fields) == {name}


def test_a_physician_is_not_asked(cases: Benchmark, loopback: Loopback) -> None:
    CandidateFactory(benchmark=cases, name="Dr House", kind="physician")
    with pytest.raises(DomainError, match="is not a model"):
        start(cases, loopback, candidate="Dr House")
    with pytest.raises(DomainError, match="no scale"):
        start(cases, loopback, scale="nine")


def test_what_another_run_has_stored_is_not_asked_for_again(cases: Benchmark, loopback: Loopback) -> None:
    first = start(cases, loopback)
    cancel_run(run=first, at=timezone.now())
    second = work(start(cases, loopback, frame=CaseFrame(cases=3)))
    n_requests = loopback.requests()
    resume_run(run=first, at=timezone.now())
    assert work(first).status == "incomplete"
    assert loopback.requests() == n_requests + 1
    assert dict(Counter(first.steps.values_list("state", "error_kind"))) == {("failed", "taken"): 3, ("done", ""): 1}
    assert second.acuity_readings.count() == 3 and AcuityReading.objects.count() == 4
    with pytest.raises(DomainError, match="There is nothing left to request"):
        resume_run(run=first, at=timezone.now())


def test_of_two_runs_that_answer_at_once_one_stores_the_reading(cases: Benchmark, loopback: Loopback) -> None:
    first = start(cases, loopback)
    cancel_run(run=first, at=timezone.now())
    second = start(cases, loopback)
    resume_run(run=first, at=timezone.now())  # both are about to ask for the same
    assert work(second).status == "finished"
    assert work(first).status == "incomplete"
    assert set(first.steps.values_list("state", "error_kind")) == {("failed", "taken")}
    assert Counter(AcuityReading.objects.values_list("case", "sample")).most_common(1)[0][1] == 1


KILLS = 50 if FULL else 1


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_killed_workers_leave_each_reading_once(
    loopback: Loopback, start_worker: Callable[..., Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_on_pipeline, "delay", lambda *ids: work_on_pipeline.apply_async(ids, queue="choosing"))
    benchmark = BenchmarkFactory(slug="killed")
    n_cases, samples, concurrency = 16 * KILLS if FULL else 16, 2, 4
    for number in range(n_cases):
        CaseFactory(benchmark=benchmark, key=f"case-{number}", rubric=0)
    loopback.start_afresh(0.2)
    run = start(benchmark, loopback, samples=samples, concurrency=concurrency)
    for _kill in range(KILLS):
        before = AcuityReading.objects.count()
        worker = start_worker(queue="choosing", JUDGE_ALLOWED_HOSTS="127.0.0.1")
        wait_until(lambda before=before: AcuityReading.objects.count() > before, within_s=60, message="readings")
        worker.kill()
        wait_until(lambda: PIPELINES.sweep(at=timezone.now()) == 1, message="the sweep finds the run")
    assert AcuityReading.objects.count() < n_cases * samples or FULL
    work_on_run(run.pk, clock=timezone.now)
    run.refresh_from_db()
    assert run.status == "finished"
    pairs = Counter(AcuityReading.objects.values_list("case__key", "sample"))
    assert len(pairs) == n_cases * samples
    assert set(pairs.values()) == {1}
    assert loopback.requests() <= n_cases * samples + concurrency * 8 * KILLS
