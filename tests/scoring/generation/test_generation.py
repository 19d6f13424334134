"""Responses asked of an endpoint: each (case, sample) once, with what it depended on, whatever the endpoint does."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable
from datetime import datetime
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from consilium.core.errors import DomainError
from rubrics.models import Benchmark, Case, Response
from scoring.generation.config import generation_config
from scoring.generation.due_responses import CaseFrame, cases_in
from scoring.generation.runs import create_run
from scoring.judges.config import InvalidConfig
from scoring.models import GenerationRun
from scoring.pipelines.runs import PIPELINES, cancel_run, resume_run
from scoring.pipelines.working import work_on_run
from scoring.tasks import work_on_pipeline
from tests.chaos import FULL
from tests.factories import BenchmarkFactory, CandidateFactory, CaseFactory, ResponseFactory, UserFactory
from tests.processes import Worker
from tests.scoring.conftest import Loopback, grant
from tests.scoring.endpoint_trials.trials import answer_of
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db

QUICK = {"attempts": 2, "first_wait_s": 0.01, "longest_wait_s": 0.02, "timeout_s": 60.0, "pauses": 0}


@pytest.fixture
def cases(db: None) -> Benchmark:
    benchmark = BenchmarkFactory(slug="asked")
    for number in range(4):
        CaseFactory(benchmark=benchmark, key=f"case-{number}", rubric=0)
    return benchmark


def start(
    benchmark: Benchmark,
    loopback: Loopback,
    model: str = "prose",
    *,
    candidate: str = "asked model",
    frame: CaseFrame | None = None,
    samples: int = 1,
    **config: Any,
) -> GenerationRun:
    return create_run(
        benchmark=benchmark,
        candidate=candidate,
        config={"endpoint": loopback.url, "model": model, **QUICK, **config},
        frame=frame or CaseFrame(),
        samples=samples,
        by=None,
        at=timezone.now(),
    )


def work(run: GenerationRun, at: datetime | None = None) -> GenerationRun:
    work_on_run(run.pk, clock=timezone.now if at is None else lambda: at)
    run.refresh_from_db()
    return run


def last_request(loopback: Loopback) -> dict[str, Any]:
    with urllib.request.urlopen(loopback.url.removesuffix("/v1") + "/last") as answer:
        return dict(json.load(answer))


@pytest.mark.slow
def test_each_sample_once_with_what_it_depended_on(cases: Benchmark, loopback: Loopback) -> None:
    Case.objects.filter(key="case-3").update(excluded_at=timezone.now(), exclusion="decision", exclusion_reason="r")
    sampled = {"temperature": 0.5, "seed": 7, "stop": ["END"], "extra": {"top_k": 3}, "system_prompt": "Be brief."}
    run = work(start(cases, loopback, samples=2, **sampled))
    assert run.status == "finished"
    assert sorted(run.steps.values_list("case__key", "key", "state")) == [
        (f"case-{case}", str(sample), "done") for case in range(3) for sample in range(2)
    ]
    response = Response.objects.get(case__key="case-1", sample=1)
    kept = response.metadata["generation"]
    digest = "213c22ed7234eb11116e1e88f314c73cb3a019b5c87fe224b6ce5665bd9ec50e"  # printf "Be brief." | sha256sum
    assert kept["model"] == "prose-2026"
    assert kept["finish_reason"] == "stop"
    assert (kept["tokens_in"], kept["tokens_out"], kept["seed"]) == (400, 20, 8)
    sent = {"model": "prose", "max_tokens": 4096, "temperature": 0.5, "seed": 7, "stop": ["END"], "top_k": 3}
    assert kept["settings"] == {**sent, "system_prompt_sha256": digest}
    assert response.candidate.metadata["system_prompts"] == {digest: "Be brief."}
    payload = last_request(loopback)
    assert payload["messages"][0] == {"role": "system", "content": "Be brief."}
    assert payload["seed"] in (7, 8) and payload["top_k"] == 3 and "top_p" not in payload
    # Three samples now: those that stand are not asked for again.
    before = loopback.requests()
    more = work(start(cases, loopback, samples=3))
    assert set(more.steps.values_list("key", flat=True)) == {"2"}
    assert loopback.requests() - before == 3
    with pytest.raises(DomainError, match="There is nothing to run"):
        start(cases, loopback, samples=3)


@pytest.mark.slow
def test_what_is_cut_refused_or_names_its_maker_is_kept_and_marked(cases: Benchmark, loopback: Loopback) -> None:
    frame = CaseFrame(cases=1)
    cut = work(start(cases, loopback, "prose-cut", candidate="cut", frame=frame))
    refused = work(start(cases, loopback, "refusal", candidate="refused", frame=frame))
    named = work(start(cases, loopback, "prose-maker", candidate="named", frame=frame))
    assert {run.status for run in (cut, refused, named)} == {"finished"}
    responses = {row.candidate.name: row for row in Response.objects.select_related("candidate")}
    assert responses["cut"].metadata["generation"]["truncated"] is True
    assert responses["cut"].metadata["generation"]["finish_reason"] == "length"
    assert responses["refused"].text == "I cannot help with that."
    assert responses["refused"].metadata["generation"]["refused"] is True
    assert responses["named"].metadata["self_identification"] == "trained by OpenAI"
    assert "truncated" not in responses["named"].metadata["generation"]


@pytest.mark.parametrize(
    ("model", "kind"),
    [("500", "http_5xx"), ("html", "envelope"), ("empty", "empty"), ("cut", "disconnected"), ("slow", "timeout")],
)
def test_failures_are_counted_by_kind_and_requested_again(
    cases: Benchmark, loopback: Loopback, model: str, kind: str
) -> None:
    # The endpoint that is to time out never answers.
    run = work(start(cases, loopback, model, timeout_s=0.3 if kind == "timeout" else 60))
    assert run.status == "incomplete"
    assert set(run.steps.values_list("state", "error_kind")) == {("failed", kind)}
    assert not Response.objects.exists()
    # Fails once, then answers, in whatever time a busy machine takes.
    GenerationRun.objects.filter(pk=run.pk).update(config={**run.config, "model": "429", "timeout_s": 60})
    run.refresh_from_db()
    resume_run(run=run, at=timezone.now())
    assert work(run).status == "finished"
    assert Response.objects.count() == 4


@pytest.mark.slow
def test_an_endpoint_that_is_down_is_left_alone_for_longer_each_time(cases: Benchmark, loopback: Loopback) -> None:
    for number in range(4, 30):
        CaseFactory(benchmark=cases, key=f"case-{number}", rubric=0)
    run = start(cases, loopback, "500", pauses=2, attempts=1)
    at = timezone.now()
    rests = []
    for _ in range(2):
        assert work(run, at).status == "paused", run.error
        assert run.resume_at is not None
        rests.append((run.resume_at - at).total_seconds())
        # Nothing failed for good while the endpoint was down.
        assert set(run.steps.values_list("state", flat=True)) == {"ready"}
        request_count = loopback.requests()
        work(run, at)  # a task that comes early
        assert loopback.requests() == request_count
        at = run.resume_at
    assert rests == [60, 300]
    assert work(run, at).status == "incomplete"


def test_a_wrong_key_stops_the_run(cases: Benchmark, loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4, 12):
        CaseFactory(benchmark=cases, key=f"case-{number}", rubric=0)
    grant(cases, "SOME_API_KEY")
    monkeypatch.setenv("SOME_API_KEY", "sk-very-secret")
    run = work(start(cases, loopback, "echo-key", key_env="SOME_API_KEY", concurrency=1, pauses=3))
    assert run.status == "incomplete"
    assert loopback.requests() == 3
    text = json.dumps([run.error, run.config, list(run.steps.values_list("error", flat=True))])
    assert "401" in text and "sk-very-secret" not in text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("endpoint", "http://169.254.169.254/v1"),
        ("key_env", "SECRET_KEY"),
        ("extra", {"messages": []}),
        ("extra", {"top_k": float("nan")}),
        ("temperature", 3),
        ("stop", ["a"] * 5),
        ("n", 2),
    ],
)
def test_settings_that_must_not_be_sent(loopback: Loopback, name: str, value: Any) -> None:
    with pytest.raises(InvalidConfig) as refused:
        generation_config({"endpoint": loopback.url, "model": "m", name: value})
    assert set(refused.value.fields) == {name}


def test_the_draw_goes_by_keys(cases: Benchmark) -> None:
    def keys(frame: CaseFrame) -> list[str]:
        cases_by_id = Case.objects.in_bulk(cases_in(cases, frame))
        return [cases_by_id[pk].key for pk in cases_in(cases, frame)]

    assert len(keys(CaseFrame(cases=2, seed=5))) == 2
    assert keys(CaseFrame()) == ["case-0", "case-1", "case-2", "case-3"]
    drawn = {tuple(keys(CaseFrame(cases=2, seed=seed))) for seed in range(20)}
    assert len(drawn) > 1


def test_no_place_is_taken_twice(cases: Benchmark, loopback: Loopback) -> None:
    run = start(cases, loopback)
    with pytest.raises(DomainError, match="There is nothing to run"):  # the first run is about to ask for all of them
        start(cases, loopback)
    imported = ResponseFactory(case=Case.objects.get(key="case-2"), candidate=run.candidate, text="From a file.")
    assert work(run).status == "incomplete"
    assert list(run.steps.filter(state="failed").values_list("case__key", "error_kind")) == [("case-2", "taken")]
    imported.refresh_from_db()
    assert imported.text == "From a file."
    assert Response.objects.count() == 4
    with pytest.raises(DomainError, match="There is nothing left to request"):
        resume_run(run=run, at=timezone.now())
    CandidateFactory(benchmark=cases, name="Dr A", kind="physician")
    with pytest.raises(DomainError, match="is not a model"):
        start(cases, loopback, candidate="Dr A")


@pytest.mark.slow
def test_the_pages_count_try_and_begin(cases: Benchmark, loopback: Loopback, client: Client) -> None:
    staff = UserFactory()
    cases.roles.create(user=staff, role="researcher")
    client.force_login(staff)
    form = {
        "candidate": "asked model", "endpoint": loopback.url, "model": "prose-maker", "samples": "2",
        "max_tokens": "100", "concurrency": "2", "timeout_s": "60", "attempts": "1", "pauses": "0",
    }  # fmt: skip
    size = client.post(reverse("scoring:generation-size", args=["asked"]), form).content.decode()
    assert "at most 800" in size  # 4 cases × 2 samples × 100 tokens
    trial = answer_of(client, reverse("scoring:generation-trial", args=["asked"]), form).content.decode()
    assert "Drink enough" in trial and "trained by OpenAI" in trial
    assert not Response.objects.exists()
    wrong = client.post(reverse("scoring:generation-new", args=["asked"]), {**form, "extra": '{"stream": true}'})
    assert wrong.status_code == 422
    assert "“stream” cannot be set here" in wrong.content.decode()
    response = client.post(reverse("scoring:generation-new", args=["asked"]), form)
    run = work(GenerationRun.objects.get())
    page = client.get(response["Location"]).content.decode()
    assert "8 responses seem to reveal their author" in page
    rows = b"".join(client.get(reverse("scoring:generation-csv", args=["asked", run.public_id]))).decode().splitlines()  # type: ignore[arg-type]
    assert len(rows) == 9
    assert rows[1].startswith("case-0,asked model,chat,0,done,,,")
    api = client.get(reverse("api:api-generation-run", args=["asked", run.public_id])).json()
    assert (api["candidate"], api["status"]) == ("asked model", "finished")
    assert api["progress"] == {
        "total": 8, "done": 8, "failed": 0, "due": 0, "truncated": 0, "refused": 0, "names_its_author": 8,
        "tokens_in": 3200, "tokens_out": 160, "failures": [],
    }  # fmt: skip


def test_the_command_asks_and_says_what_came(cases: Benchmark, loopback: Loopback, monkeypatch: Any) -> None:
    monkeypatch.setattr("scoring.management.asking.WORKER_HAS_S", 0.0)
    options = ["--benchmark", "asked", "--candidate", "c", "--endpoint", loopback.url, "--model", "prose", "--wait"]
    out = StringIO()
    call_command("generate", *options, "--cases", "2", "--samples", "2", stdout=out)
    assert "Finished: 4 of 4 responses, 0 failed" in out.getvalue()
    with pytest.raises(CommandError, match="extra"):
        call_command("generate", *options, "--extra", '{"tools": []}')


KILLS = 50 if FULL else 1


@pytest.mark.django_db(transaction=True)
def test_killed_workers_leave_each_response_once(
    loopback: Loopback, start_worker: Callable[..., Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_on_pipeline, "delay", lambda *ids: work_on_pipeline.apply_async(ids, queue="generating"))
    benchmark = BenchmarkFactory(slug="killed")
    n_cases, samples, concurrency = 16 * KILLS, 2, 4
    for number in range(n_cases):
        CaseFactory(benchmark=benchmark, key=f"case-{number}", rubric=0)
    loopback.start_afresh(0.5)
    run = start(benchmark, loopback, samples=samples, concurrency=concurrency)
    for _kill in range(KILLS):
        before = Response.objects.count()
        worker = start_worker(queue="generating", JUDGE_ALLOWED_HOSTS="127.0.0.1")
        wait_until(lambda before=before: Response.objects.count() > before, within_s=60, message="responses")
        worker.kill()
        assert 0 < Response.objects.count() < n_cases * samples
        # The lock ends with the worker's connection; then the sweep enqueues, and another worker goes on.
        wait_until(lambda: PIPELINES.sweep(at=timezone.now()) == 1, message="the sweep finds the run")
    assert work(run).status == "finished"
    pairs = list(Response.objects.values_list("case__key", "sample"))
    assert len(pairs) == len(set(pairs)) == n_cases * samples
    # At most what was in the air, and what came in the second or so before it would have been written.
    assert loopback.requests() <= n_cases * samples + concurrency * 8 * KILLS


def test_a_cancelled_run_goes_on_where_it_was(cases: Benchmark, loopback: Loopback) -> None:
    run = start(cases, loopback)
    cancel_run(run=run, at=timezone.now())
    assert work(run).status == "cancelled"
    assert loopback.requests() == 0
    resume_run(run=run, at=timezone.now())
    assert work(run).status == "finished"
