"""Those who run a benchmark are notified of the end of judge runs, runs of steps and trainings."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Notification, User
from rubrics.models import Benchmark
from scoring.models import JudgeRun, PipelineRun
from scoring.run_notices import notify_of_pipeline
from scoring.runs.services import RunFrame, create_run
from scoring.work.slice import work_on_slice
from tests.factories import UserFactory
from tests.scoring.conftest import Loopback, chat_judge

pytestmark = pytest.mark.slow


@pytest.fixture
def admin(answered: Benchmark) -> User:
    user: User = UserFactory()
    answered.roles.create(user=user, role="admin")
    return user


def ended(benchmark: Benchmark, loopback: Loopback, by: User, model: str, *, seconds: int, **terms: Any) -> JudgeRun:
    """A run that has ended so many seconds after its start, whatever it took on a busy machine."""
    judge = chat_judge(benchmark, loopback, model, name="grader", price_in=1.0, price_out=1.0)
    now = timezone.now()
    at = now - timedelta(seconds=seconds)
    run = create_run(benchmark=benchmark, judge=judge, frame=RunFrame(candidates=("alpha",)), by=by, at=at, **terms)
    while work_on_slice(run.pk, 0, clock=lambda: now):
        pass
    run.refresh_from_db()
    return run


def page_of(user: User) -> str:
    client = Client()
    client.force_login(user)
    return " ".join(client.get("/notifications/").content.decode().split())


def test_a_finished_run_tells_who_started_it(answered: Benchmark, admin: User, loopback: Loopback) -> None:
    researcher = UserFactory()
    answered.roles.create(user=researcher, role="researcher")
    run = ended(answered, loopback, researcher, "ok", seconds=60)
    notice = Notification.objects.get()
    assert (notice.user, notice.kind) == (researcher, "job_done")
    assert "The run of judge grader is finished." in page_of(researcher)
    client = Client()
    client.force_login(researcher)
    assert notice.url == f"/b/answered/judges/runs/{run.public_id}/"
    assert client.get(notice.url).status_code == 200


def test_a_dead_endpoint_reaches_all_admins_at_once(answered: Benchmark, admin: User, loopback: Loopback) -> None:
    starter = UserFactory()
    answered.roles.create(user=starter, role="admin")
    assert ended(answered, loopback, starter, "401", seconds=0).status == "incomplete"
    notices = Notification.objects.values_list("user", "kind")
    assert sorted(notices) == sorted([(admin.pk, "job_failed"), (starter.pk, "job_failed")])
    assert "The run of judge grader ended incomplete." in page_of(admin)


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_a_budget_that_is_used_up_has_a_notice_of_its_own(
    answered: Benchmark, admin: User, loopback: Loopback, language: str
) -> None:
    starter = UserFactory(language=language)  # the run's reason is in this language
    answered.roles.create(user=starter, role="researcher")
    run = ended(answered, loopback, starter, "ok", seconds=60, budget=Decimal("0.0001"))
    assert run.status == "incomplete"
    notices = Notification.objects.values_list("user", "kind")
    assert sorted(notices) == sorted([(admin.pk, "budget"), (starter.pk, "budget")])
    assert "The run of judge grader stopped because its budget is used up." in page_of(admin)


@pytest.mark.parametrize(
    ("kind", "page"),
    [
        ("responses", "generation"),
        ("classify", "case-acuity/runs"),
        ("drafting", "drafting"),
        ("coverage", "rubric-coverage"),
        ("near_miss", "pair-making"),
        ("trials", "pair-runs"),
        ("splitting", "point-splitting"),
        ("refinement", "refinement"),
    ],
)
def test_every_kind_of_run_of_steps_has_words_and_a_page(
    answered: Benchmark, admin: User, kind: str, page: str
) -> None:
    now = timezone.now()
    run = PipelineRun(
        benchmark=answered, kind=kind, created_by=admin, created_at=now - timedelta(minutes=1), public_id="canary0001"
    )
    notify_of_pipeline(run, status="failed", at=now)
    notify_of_pipeline(run, status="cancelled", at=now)
    assert Notification.objects.get().url == f"/b/answered/{page}/canary0001/"
    assert "Run failed: " in page_of(admin)
