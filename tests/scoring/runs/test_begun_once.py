"""A run, a measurement, a report, an audit: sent many times at once, it begins once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from agreement.models import Report
from rubrics.models import Benchmark, CaseAudit
from scoring.judges.services import create_chat_judge
from scoring.models import Judge, JudgeRun
from scoring.runs.services import cancel_run
from tests.factories import (
    BenchmarkFactory,
    BenchmarkRoleFactory,
    CandidateFactory,
    CaseFactory,
    ResponseFactory,
    UserFactory,
)
from tests.posting import AT_ONCE, at_once
from tests.processes import web_server
from tests.scoring.conftest import QUICK, decide

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture(scope="module")
def port(process_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    environment = {**process_environment, "JUDGE_ALLOWED_HOSTS": "127.0.0.1"}
    with web_server(environment, tmp_path_factory.mktemp("uploads")) as number:
        yield number


@pytest.fixture
def benchmark(transactional_db: None, settings: Any) -> Benchmark:
    """Two cases that a model answered, and a group that found every second criterion not met."""
    settings.SESSION_ENGINE = "accounts.sessions"  # where the web server looks for them
    settings.JUDGE_ALLOWED_HOSTS = ["127.0.0.1"]
    row = BenchmarkFactory(slug="answered")
    candidate = CandidateFactory(benchmark=row, name="alpha")
    for key in ("a", "b"):
        ResponseFactory(case=CaseFactory(benchmark=row, key=key, rubric=2), candidate=candidate)
    for group in ("A", "B"):
        decide(row, group, {(key, "alpha"): ["met", "not_met"] for key in ("a", "b")})
    return row


@pytest.fixture
def admin(benchmark: Benchmark) -> User:
    user = UserFactory()
    BenchmarkRoleFactory(benchmark=benchmark, user=user)
    return user


@pytest.fixture
def judge(benchmark: Benchmark) -> Judge:
    config = {"endpoint": "http://127.0.0.1:9/v1", "model": "m", **QUICK}
    return create_chat_judge(benchmark=benchmark, name="judge", config=config, by=None)


def test_a_run_begins_once(port: int, judge: Judge, admin: User) -> None:
    payload = {"judge": judge.public_id, "frame": {"candidates": ["alpha"]}}
    answers = at_once(port, admin, "/api/v1/benchmarks/answered/runs/", payload, as_json=True)
    assert Counter(status for status, _text in answers) == {201: 1, 200: AT_ONCE - 1}
    run = JudgeRun.objects.get()
    form = {"judge": judge.public_id, "candidates": ["alpha"], "replicates": 1}
    client = Client()
    client.force_login(admin)
    again = client.post("/b/answered/judges/runs/new/", {**form, "sample": "", "seed": ""}, follow=True)
    assert JudgeRun.objects.get() == run
    assert "already in progress" in again.content.decode()


def test_another_run_begins_where_something_else_is_asked_or_the_first_has_ended(judge: Judge, admin: User) -> None:
    client = Client()
    client.force_login(admin)

    def begin(**options: Any) -> int:
        body = {"judge": judge.public_id, **options}
        return client.post("/api/v1/benchmarks/answered/runs/", body, "application/json").status_code

    assert [begin(), begin(), begin(replicates=2), begin(frame={"sample": 1})] == [201, 200, 201, 201]
    cancel_run(run=JudgeRun.objects.order_by("pk")[0], at=timezone.now())
    assert begin() == 201


ALL, ALPHA, BOTH = {}, {"candidates": ["alpha"]}, {"candidates": ["alpha", "beta"]}


@pytest.mark.parametrize("first", [ALL, ALPHA, BOTH])
def test_a_run_over_other_candidates_is_another_run(judge: Judge, admin: User, first: dict[str, Any]) -> None:
    """A run over one candidate is not the run over all of them, nor the other way round."""
    CandidateFactory(benchmark=judge.benchmark, name="beta")
    client = Client()
    client.force_login(admin)

    def begin(frame: dict[str, Any]) -> tuple[int, str]:
        body = {"judge": judge.public_id, "frame": frame}
        answer = client.post("/api/v1/benchmarks/answered/runs/", body, "application/json")
        return answer.status_code, answer.json()["id"]

    frames = [first, *(frame for frame in (ALL, ALPHA, BOTH) if frame != first)]
    answers = [begin(frame) for frame in frames]
    assert [status for status, _run in answers] == [201, 201, 201]
    assert [begin(frame) for frame in frames] == [(200, run) for _status, run in answers]


@pytest.mark.parametrize("other", [{"pairs": 1}, {"seed": 1}])
def test_another_measurement_is_another_run(judge: Judge, admin: User, other: dict[str, int]) -> None:
    client = Client()
    client.force_login(admin)
    form = {"reference": "group:A@checked", "pairs": 2, "seed": 0}
    path = f"/b/answered/judges/{judge.public_id}/susceptibility/"
    addresses = [client.post(path, sent).headers["Location"] for sent in (form, form | other, form, form | other)]
    assert addresses[:2] == addresses[2:]
    assert addresses[0] != addresses[1]


def test_a_measurement_begins_once(port: int, judge: Judge, admin: User) -> None:
    form = {"reference": "group:A@checked", "pairs": 2, "seed": 0}
    path = f"/b/answered/judges/{judge.public_id}/susceptibility/"
    answers = at_once(port, admin, path, form)
    assert {*answers} == {(302, f"/b/answered/judges/runs/{JudgeRun.objects.get().public_id}/")}


def test_a_report_begins_once(port: int, admin: User) -> None:
    payload = {"kind": "agreement", "parameters": {"rater_a": "group:A@checked", "rater_b": "group:B@checked"}}
    answers = at_once(port, admin, "/api/v1/benchmarks/answered/reports/", payload, as_json=True)
    assert Counter(status for status, _text in answers) == {201: 1, 200: AT_ONCE - 1}
    assert Report.objects.count() == 1


def test_an_audit_is_drawn_once(port: int, admin: User) -> None:
    payload = {"title": "Spring", "share": 1, "seed": 4}
    answers = at_once(port, admin, "/api/v1/benchmarks/answered/audits/", payload, as_json=True)
    assert Counter(status for status, _text in answers) == {201: 1, 200: AT_ONCE - 1}
    assert CaseAudit.objects.count() == 1
