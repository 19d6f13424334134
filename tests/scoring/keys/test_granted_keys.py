"""A benchmark uses the keys that it was granted, at the hosts that they are bound to; a listener sees no other key."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from consilium.core.errors import DomainError
from rubrics.models import Benchmark
from scoring.generation.due_responses import CaseFrame
from scoring.generation.runs import create_run as create_generation
from scoring.judges.config import InvalidConfig
from scoring.judges.services import create_chat_judge
from scoring.keys.grants import grant_key, withdraw_key
from scoring.models import GenerationRun, Judge, JudgeRun, KeyGrant, PipelineRun
from scoring.pipelines.runs import resume_run as resume_pipeline
from scoring.pipelines.working import work_on_run
from scoring.runs.services import RunFrame, create_run, resume_run
from scoring.work.slice import work_on_slice
from tests.factories import BenchmarkFactory, BenchmarkRoleFactory, CaseFactory, UserFactory
from tests.scoring.conftest import QUICK, grant
from tests.scoring.endpoint_trials.trials import answer_of
from tests.scoring.judges.test_keys import tables_that_hold
from tests.scoring.test_pages import chat_form

pytestmark = pytest.mark.django_db(transaction=True)

KEY, VALUE = "LOOPBACK_API_KEY", "canary-91c2-of-a-grant"
VERDICT = {"message": {"content": '{"explanation": "x", "criteria_met": true}'}, "finish_reason": "stop"}


class Listener:
    """Answers every chat request with a verdict, and keeps what each asked with."""

    def __init__(self) -> None:
        self.keys: list[str | None] = []
        listener = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                listener.keys.append(self.headers["Authorization"])
                self.rfile.read(int(self.headers["Content-Length"]))
                usage = {"prompt_tokens": 9, "completion_tokens": 9}
                body = json.dumps({"choices": [VERDICT], "usage": usage}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self) -> None:
                listener.keys.append(self.headers["Authorization"])
                self.send_error(404)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self.server.server_port}"
        self.url = f"http://{self.host}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def listener(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Listener]:
    """A listed host, and a key that is set and bound to it."""
    server = Listener()
    settings.JUDGE_ALLOWED_HOSTS = ["127.0.0.1"]
    settings.ENDPOINT_KEYS = [f"{KEY}@{server.host}"]
    monkeypatch.setenv(KEY, VALUE)
    yield server
    server.server.shutdown()
    server.server.server_close()


@pytest.fixture(autouse=True)
def enqueued(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks are not sent: these tests do the worker's part themselves."""
    from scoring import tasks

    for task in (tasks.judge_slice, tasks.work_on_pipeline):
        monkeypatch.setattr(task, "delay_on_commit", lambda *ids: None)


def judge_of(benchmark: Benchmark, listener: Listener) -> Judge:
    config = {"endpoint": listener.url, "model": "m", "key_env": KEY, **QUICK}
    return create_chat_judge(benchmark=benchmark, name="keyed", config=config, by=None)


def judge_run(benchmark: Benchmark, listener: Listener, judge: Judge | None = None) -> JudgeRun:
    judge = judge or judge_of(benchmark, listener)
    return create_run(benchmark=benchmark, judge=judge, frame=RunFrame(), by=None, at=timezone.now())


def generation_run(benchmark: Benchmark, listener: Listener) -> GenerationRun:
    CaseFactory(benchmark=benchmark, key="unanswered", rubric=0)
    return create_generation(
        benchmark=benchmark,
        candidate="asked",
        config={"endpoint": listener.url, "model": "m", "key_env": KEY, "attempts": 1, "pauses": 0},
        frame=CaseFrame(),
        samples=1,
        by=None,
        at=timezone.now(),
    )


def work(run: Any) -> Any:
    if isinstance(run, JudgeRun):
        for row in run.slices.all():
            work_on_slice(run.pk, row.number, clock=timezone.now)
    else:
        work_on_run(run.pk, clock=timezone.now)
    run.refresh_from_db()
    return run


def resume(run: Any) -> None:
    (resume_run if isinstance(run, JudgeRun) else resume_pipeline)(run=run, at=timezone.now())


RUNS = pytest.mark.parametrize("make_run", [judge_run, generation_run])
Make = Callable[[Benchmark, Listener], Any]


@RUNS
def test_a_granted_key_is_sent(answered: Benchmark, listener: Listener, make_run: Make) -> None:
    grant(answered)
    assert work(make_run(answered, listener)).status == "finished"
    assert set(listener.keys) == {f"Bearer {VALUE}"}
    assert tables_that_hold(VALUE) == []


@RUNS
def test_a_key_that_was_withdrawn_since_is_not_sent(answered: Benchmark, listener: Listener, make_run: Make) -> None:
    grant(answered)
    run = make_run(answered, listener)
    withdraw_key(name=KEY, benchmark=answered, by=None, at=timezone.now())
    assert work(run).status == "incomplete"
    assert f"{KEY} is not granted to this benchmark (answered)" in run.error
    with pytest.raises(DomainError, match="is not granted"):
        resume(run)
    assert listener.keys == []
    grant(None)
    resume(run)
    assert work(run).status == "finished"


@RUNS
def test_a_key_that_was_bound_elsewhere_since_is_not_sent(
    answered: Benchmark, listener: Listener, make_run: Make, settings: Any
) -> None:
    grant(answered)
    run = make_run(answered, listener)
    settings.ENDPOINT_KEYS = [f"{KEY}@api.example.com", f"OTHER_API_KEY@{listener.host}"]
    assert work(run).status == "incomplete"
    assert f"{KEY} is not bound to {listener.host} (now: api.example.com)" in run.error
    assert f"{KEY}@{listener.host} to ENDPOINT_KEYS" in run.error
    with pytest.raises(DomainError, match="is not bound"):
        resume(run)
    assert listener.keys == []


@RUNS
def test_a_key_of_another_benchmark_makes_no_run(answered: Benchmark, listener: Listener, make_run: Make) -> None:
    grant(BenchmarkFactory(slug="other"))
    with pytest.raises(InvalidConfig) as refused:
        make_run(answered, listener)
    assert list(refused.value.fields) == ["key_env"]
    assert not JudgeRun.objects.exists() and not PipelineRun.objects.exists() and not Judge.objects.exists()
    assert listener.keys == []


def test_a_judge_of_another_benchmark_brings_no_key(answered: Benchmark, listener: Listener) -> None:
    other = BenchmarkFactory(slug="other")
    grant(other)
    judge = judge_of(other, listener)
    with pytest.raises(DomainError, match=r"not granted to this benchmark \(answered\)"):
        judge_run(answered, listener, judge)
    with pytest.raises(CommandError, match="is not granted"):
        call_command("judge", benchmark="answered", judge="keyed")
    grant(answered)
    assert work(judge_run(answered, listener, judge)).status == "finished"


def keyed_form(listener: Listener, **changes: Any) -> dict[str, Any]:
    return chat_form(endpoint=listener.url, key_env=KEY, **{"unchecked": "", **changes})


NEW = "/b/answered/judges/new/chat/"


@pytest.fixture
def admin(answered: Benchmark) -> Client:
    client = Client()
    client.force_login(BenchmarkRoleFactory(benchmark=answered, role="admin").user)
    return client


@pytest.mark.parametrize("unchecked", ["", "on"])
def test_the_form_of_a_judge_names_the_key_and_sends_none(
    admin: Client, listener: Listener, settings: Any, unchecked: str
) -> None:
    assert "may not use any key yet" in admin.get(NEW).content.decode()
    refused = admin.post(NEW, keyed_form(listener, unchecked=unchecked))
    assert refused.status_code == 422
    assert f"{KEY} is not granted" in str(refused.context["form"].errors["key_env"])
    assert f"Grant {KEY}" not in refused.content.decode()  # an admin of a benchmark is no operator
    grant(None)
    page = admin.get(NEW).content.decode()
    assert f"{KEY} ({listener.host})" in page and f'<option value="{KEY}">' in page
    settings.ENDPOINT_KEYS = [f"{KEY}@api.example.com"]
    refused = admin.post(NEW, keyed_form(listener, unchecked=unchecked))
    assert f"{KEY}@{listener.host} to ENDPOINT_KEYS" in str(refused.context["form"].errors["key_env"])
    settings.ENDPOINT_KEYS = []
    refused = admin.post(NEW, keyed_form(listener, unchecked=unchecked))
    assert "ENDPOINT_KEYS" in str(refused.context["form"].errors["key_env"])
    assert listener.keys == [] and not Judge.objects.exists()
    settings.ENDPOINT_KEYS = [f"{KEY}@127.0.0.1"]
    assert admin.post(NEW, keyed_form(listener, unchecked=unchecked)).status_code == 302


def test_an_operator_grants_from_the_form_of_a_judge(answered: Benchmark, listener: Listener) -> None:
    operator = UserFactory(is_superuser=True)
    BenchmarkRoleFactory(benchmark=answered, role="admin", user=operator)
    client = Client()
    client.force_login(operator)
    refused = client.post(NEW, keyed_form(listener))
    assert refused.status_code == 422
    assert f"Grant {KEY} to this benchmark" in refused.content.decode()
    answer = client.post("/server/keys/grant/", {"name": KEY, "benchmark": "answered"}, headers={"HX-Request": "true"})
    assert answer.status_code == 200 and "Send the form again" in answer.content.decode()
    assert client.post(NEW, keyed_form(listener)).status_code == 302
    assert KeyGrant.objects.get().granted_by == operator


def test_the_api_names_the_field(answered: Benchmark, admin: Client, listener: Listener) -> None:
    api = APIClient()
    api.force_authenticate(answered.roles.get().user)
    config = {"endpoint": listener.url, "model": "m", "key_env": KEY}
    refused = api.post(
        "/api/v1/benchmarks/answered/judges/", {"name": "a", "kind": "chat", "config": config}, format="json"
    )
    assert refused.status_code == 400
    assert "is not granted" in refused.json()["config"]["key_env"][0]
    body = {"candidate": "asked", "config": config, "samples": 1}
    refused = api.post("/api/v1/benchmarks/answered/generation/", body, format="json")
    assert refused.status_code == 400
    assert "is not granted" in refused.json()["config"]["key_env"][0]
    assert not Judge.objects.exists() and not PipelineRun.objects.exists() and listener.keys == []


def test_a_public_host_is_not_called_by_http_even_without_a_key(admin: Client, settings: Any) -> None:
    settings.JUDGE_ALLOWED_HOSTS = ["api.example.com"]
    refused = admin.post(NEW, chat_form(endpoint="http://api.example.com/v1", unchecked="on"))
    assert refused.status_code == 422
    assert "must be called by https" in str(refused.context["form"].errors["endpoint"])
    assert admin.post(NEW, chat_form(endpoint="https://api.example.com/v1", unchecked="on")).status_code == 302


def test_a_try_of_one_criterion_sends_no_withdrawn_key(answered: Benchmark, admin: Client, listener: Listener) -> None:
    grant(answered)
    judge = judge_of(answered, listener)
    withdraw_key(name=KEY, benchmark=answered, by=None, at=timezone.now())
    address = reverse("scoring:judge-try", args=["answered", judge.public_id])
    page = answer_of(admin, address, {}).content.decode()
    assert "is not granted" in page
    assert listener.keys == []
    grant_key(name=KEY, benchmark=None, by=None, at=timezone.now())
    answer_of(admin, address, {})
    assert set(listener.keys) == {f"Bearer {VALUE}"}


# Without a rubric set there is no form yet.
NEED_A_SET = ("validation:splitting-new", "validation:coverage-new", "validation:trial-new")


@pytest.mark.parametrize(
    "page",
    [
        *("scoring:judge-new-chat", "scoring:judge-new-acuity", "scoring:generation-new", "scoring:classification-new"),
        *("validation:making-new", "validation:refinement-new", "drafting:recipe-new", *NEED_A_SET),
    ],
)
def test_every_form_with_a_key_offers_those_that_are_granted(
    answered: Benchmark, admin: Client, listener: Listener, settings: Any, page: str
) -> None:
    settings.ENDPOINT_KEYS = [*settings.ENDPOINT_KEYS, "MINE_API_KEY@api.example.com"]
    grant(answered, "MINE_API_KEY")
    address = reverse(page, args=["answered"])
    shown = admin.get(address).content.decode()
    assert ('<option value="MINE_API_KEY">' in shown) is (page not in NEED_A_SET)
    assert KEY not in shown
    refused = admin.post(address, {"endpoint": listener.url, "key_env": KEY, "shipped": "direct"})
    assert refused.status_code == 422
    assert f"{KEY} is not granted" in str(refused.context["form"].errors["key_env"])
    assert listener.keys == []
