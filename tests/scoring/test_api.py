"""The API endpoints of judges, runs and verdicts."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from rubrics.models import Benchmark, Candidate
from scoring.models import Judge, JudgeRun, TrainedModel
from scoring.steps import steps
from scoring.work.slice import work_on_slice
from tests.factories import (
    BenchmarkRoleFactory,
    ExpertGroupFactory,
    JudgeFactory,
    JudgeRunFactory,
    UserFactory,
    member,
)
from tests.scoring.conftest import QUICK, Loopback

pytestmark = pytest.mark.django_db(transaction=True)
BASE = "/api/v1/benchmarks/answered/"


@pytest.fixture
def api(answered: Benchmark) -> APIClient:
    user = UserFactory()
    BenchmarkRoleFactory(benchmark=answered, user=user, role="researcher")
    client = APIClient()
    client.force_authenticate(user)
    return client


@pytest.fixture(autouse=True)
def enqueued(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Tasks are counted and not sent."""
    from scoring import tasks

    sent: list[Any] = []
    for task in (tasks.judge_slice, tasks.train_judge):
        monkeypatch.setattr(task, "delay_on_commit", lambda *ids: sent.append(ids))
    return sent


@pytest.mark.slow
def test_a_judge_is_made_runs_and_its_verdicts_are_read(
    api: APIClient, loopback: Loopback, enqueued: list[Any]
) -> None:
    config = {"endpoint": loopback.url, "model": "ok", **QUICK}
    response = api.post(f"{BASE}judges/", {"name": "grader", "kind": "chat", "config": config}, format="json")
    assert response.status_code == 201, response.json()
    assert response.json()["training"] is None
    judge = response.json()["id"]
    assert api.get(f"{BASE}judges/{judge}/").json()["config"]["model"] == "ok"
    assert [row["name"] for row in api.get(f"{BASE}judges/").json()["results"]] == ["grader"]

    begun = api.post(
        f"{BASE}runs/", {"judge": judge, "frame": {"candidates": ["alpha", "beta"]}, "replicates": 2}, format="json"
    )
    assert begun.status_code == 201, begun.json()
    assert begun.json()["expected"] == 48  # 2 candidates × 4 cases × 3 criteria × 2
    assert begun.json()["progress"]["missing"] == 48
    url = f"{BASE}runs/{begun.json()['id']}/"
    assert api.post(f"{url}cancel/").json()["status"] == "cancelled"
    assert api.post(f"{url}cancel/").status_code == 409
    assert api.post(f"{url}resume/").json()["status"] == "pending"
    run = JudgeRun.objects.get()
    assert enqueued == [(run.pk, 0)] * 2
    work_on_slice(run.pk, 0, clock=timezone.now)
    ended = api.get(url).json()
    assert (ended["status"], ended["progress"]["done"], ended["progress"]["missing"]) == ("finished", 48, 0)
    assert ended["progress"]["per_minute"] is None
    assert ended["snapshot"]["config"]["model"] == "ok"

    seen: list[dict[str, Any]] = []
    following = f"{url}verdicts/?limit=20"
    pages = 0
    while following:
        page = api.get(following).json()
        seen += page["results"]
        following, pages = page["next"], pages + 1
    assert pages == 3
    assert len({(row["response"], row["criterion"], row["replicate"]) for row in seen}) == 48
    assert {row["candidate"] for row in seen} == {"alpha", "beta"}
    counts = Counter(row["outcome"] for row in seen)
    assert counts["met"] == ended["progress"]["met"]
    assert len(api.get(f"{url}verdicts/?outcome=met").json()["results"]) == counts["met"]
    alpha = Candidate.objects.get(name="alpha").public_id
    for name in ("alpha", alpha):  # an id is accepted in place of a name
        assert len(api.get(f"{url}verdicts/?candidate={name}").json()["results"]) == 24


def test_a_trained_judge_is_made_with_its_training(api: APIClient, answered: Benchmark, enqueued: list[Any]) -> None:
    ExpertGroupFactory(benchmark=answered, name="A")
    payload = {"name": "learned", "kind": "trained", "config": {"group": "A", "held_out": ["beta"], "seed": 5}}
    response = api.post(f"{BASE}judges/", payload, format="json")
    assert response.status_code == 201, response.json()
    assert response.json()["training"]["status"] == "pending"
    assert response.json()["config"] == {"group": "A", "held_out": ["beta"], "seed": 5}
    assert enqueued == [(Judge.objects.get().trained_model.pk,)]


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("judges/", {"name": "a", "kind": "chat", "config": {}, "version": 7}, "version"),
        ("judges/", {"name": "a", "kind": "imported", "config": {}}, "kind"),
        ("judges/", {"name": "a", "kind": "chat", "config": {"endpoint": "http://evil.example/v1", "model": "m"}},
         "config"),
        ("judges/", {"name": "a", "kind": "trained", "config": {"endpoint": "x"}}, "config"),
        ("judges/", {"name": "a", "kind": "trained", "config": {"seed": -1}}, "config"),
        ("runs/", {"judge": "nobody"}, "judge"),
        ("runs/", {"judge": "x", "frame": {"case": "y"}}, "frame"),
        ("runs/", {"judge": "x", "replicates": 21}, "replicates"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_by_field(
    api: APIClient, settings: Any, path: str, body: dict[str, Any], field: str
) -> None:
    settings.JUDGE_ALLOWED_HOSTS = ["127.0.0.1"]
    refused = api.post(f"{BASE}{path}", body, format="json")
    assert refused.status_code == 400
    assert list(refused.json()) == [field]
    assert not Judge.objects.exists()


def test_a_domain_refusal_has_its_detail(api: APIClient, answered: Benchmark, settings: Any) -> None:
    settings.JUDGE_ALLOWED_HOSTS = []
    judge = JudgeFactory(benchmark=answered)
    refused = api.post(f"{BASE}runs/", {"judge": judge.public_id}, format="json")
    assert 400 <= refused.status_code < 500
    assert "operator’s list" in refused.json()["detail"]
    assert not JudgeRun.objects.exists()


def test_a_wrong_choice_is_refused_with_the_choices(api: APIClient) -> None:
    refused = api.post(f"{BASE}judges/", {"name": "a", "kind": "zzz", "config": {}}, format="json")
    assert refused.json() == {"kind": ['"zzz" is not a valid choice. One of: chat, trained, jury.']}


def test_an_empty_setting_is_called_missing(api: APIClient, settings: Any) -> None:
    settings.JUDGE_ALLOWED_HOSTS = ["127.0.0.1"]
    config = {"endpoint": "http://127.0.0.1:9/v1", "model": ""}
    refused = api.post(f"{BASE}judges/", {"name": "a", "kind": "chat", "config": config}, format="json")
    assert refused.json() == {"config": {"model": ["This is required."]}}


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        ("pending", "“learned” is not trained yet. Wait until its training is finished."),
        ("failed", "The training of “learned” failed, so it cannot run: There are only 2 candidates."),
    ],
)
def test_a_judge_that_is_not_trained_says_why_it_cannot_run(
    api: APIClient, answered: Benchmark, status: str, reason: str
) -> None:
    judge = JudgeFactory(benchmark=answered, name="learned", kind="trained", config={})
    TrainedModel.objects.create(judge=judge, status=status, error="There are only 2 candidates." * (status == "failed"))
    refused = api.post(f"{BASE}runs/", {"judge": judge.public_id}, format="json")
    fault = {"line": 0, "field": "judge", "message": reason}
    assert (refused.status_code, refused.json()["detail"], refused.json()["errors"]) == (422, reason, [fault])
    by_name = api.post(f"{BASE}runs/", {"judge": "learned"}, format="json")
    assert by_name.json() == {"judge": ["No benchmark that you administer has a judge with this id."]}


@pytest.mark.slow
def test_the_overview_counts_the_finished_runs_that_the_list_of_runs_has(api: APIClient, answered: Benchmark) -> None:
    JudgeRunFactory(benchmark=answered)
    JudgeRunFactory(benchmark=answered, frame={"derived": True})
    JudgeRunFactory(benchmark=answered, status="cancelled")
    listed = [run["status"] for run in api.get(f"{BASE}runs/").json()["results"]]
    assert sorted(listed) == ["cancelled", "finished", "finished"]
    [step] = [step for step in steps(answered) if step.view == "scoring:judges"]
    assert (step.done, step.detail) == (True, "2 finished runs")


def test_unknown_filters_are_refused(api: APIClient, answered: Benchmark) -> None:
    run = JudgeRunFactory(judge=JudgeFactory(benchmark=answered))
    url = f"{BASE}runs/{run.public_id}/verdicts/"
    assert api.get(f"{url}?outcme=met").status_code == 400
    assert api.get(f"{url}?outcome=maybe").status_code == 400
    unknown = api.get(f"{url}?candidate=nobody")
    assert (unknown.status_code, list(unknown.json())) == (400, ["candidate"])


@pytest.mark.slow
def test_nobody_else_gets_in(answered: Benchmark) -> None:
    run = JudgeRunFactory(judge=JudgeFactory(benchmark=answered))
    group = ExpertGroupFactory(benchmark=answered)
    for user in (UserFactory(), member(group), member(group, "adjudicator"), UserFactory(is_superuser=True)):
        client = APIClient()
        client.force_authenticate(user)
        for path in (
            "judges/", f"judges/{run.judge.public_id}/", "runs/", f"runs/{run.public_id}/",
            f"runs/{run.public_id}/verdicts/",
        ):  # fmt: skip
            assert client.get(f"{BASE}{path}").status_code == 404, path
        for path in ("judges/", "runs/", f"runs/{run.public_id}/cancel/", f"runs/{run.public_id}/resume/"):
            assert client.post(f"{BASE}{path}", {}, format="json").status_code == 404, path
    assert APIClient().get(f"{BASE}judges/").status_code in (401, 403)
