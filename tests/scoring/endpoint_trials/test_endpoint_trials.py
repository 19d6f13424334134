"""No web request asks an endpoint: a worker does, within a minute, and the page waits and shows what came."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from consilium.core.heartbeat import WorkerHeartbeat
from rubrics.models import Benchmark
from scoring.endpoint_trials.jobs import TRIALS
from scoring.models import EndpointTrial, Judge
from tests.factories import UserFactory
from tests.scoring.conftest import Loopback, chat_judge
from tests.scoring.endpoint_trials.trials import address_of, generation_form, newest_trial
from tests.scoring.test_pages import chat_form

pytestmark = pytest.mark.slow
HTMX = {"HX-Request": "true"}


@pytest.fixture
def admin(answered: Benchmark) -> Client:
    user = UserFactory()
    answered.roles.create(user=user, role="admin")
    client = Client()
    client.force_login(user)
    return client


def begin(client: Client, loopback: Loopback) -> Any:
    return client.post(reverse("scoring:generation-trial", args=["answered"]), generation_form(loopback), headers=HTMX)


def test_no_web_request_asks_the_endpoint(admin: Client, answered: Benchmark, loopback: Loopback) -> None:
    judge = chat_judge(answered, loopback)
    assert "Waiting for a worker." in begin(admin, loopback).content.decode()
    tried = admin.post(reverse("scoring:judge-try", args=["answered", judge.public_id]), headers=HTMX)
    assert "Waiting for a worker." in tried.content.decode()
    for key in ("chat", "acuity"):
        admin.post(reverse(f"scoring:judge-new-{key}", args=["answered"]), chat_form(endpoint=loopback.url))
    created = admin.post(reverse("scoring:judge-new-chat", args=["answered"]), chat_form(
        endpoint=loopback.url, unchecked=""
    ))  # fmt: skip
    assert created["Location"] == address_of(newest_trial())
    for trial in EndpointTrial.objects.all():
        assert "trial-waiting" in admin.get(address_of(trial)).content.decode()
    assert loopback.requests() == 0


def test_the_values_of_the_form_are_kept_without_its_token(admin: Client, loopback: Loopback) -> None:
    url = reverse("scoring:generation-trial", args=["answered"])
    admin.post(url, {**generation_form(loopback), "csrfmiddlewaretoken": "canary"}, headers=HTMX)
    assert "asked+model" in newest_trial().form
    assert "canary" not in newest_trial().form


def test_a_page_without_script_goes_to_the_page_of_the_trial(admin: Client, loopback: Loopback) -> None:
    begun = admin.post(reverse("scoring:generation-trial", args=["answered"]), generation_form(loopback))
    trial = newest_trial()
    assert begun["Location"] == address_of(trial)
    TRIALS.run(job_id=trial.pk, clock=timezone.now)
    page = admin.get(address_of(trial)).content.decode()
    assert "Drink enough" in page
    assert "<h1" in page
    assert "trial-waiting" not in page


@pytest.mark.parametrize(
    ("status", "age_s", "words", "waits"),
    [
        ("pending", 59, "No worker is running.", True),
        ("pending", 61, "No worker was free within a minute.", False),
        ("running", 59, "Waiting for the endpoint", True),
        ("running", 61, "No answer within a minute.", False),
    ],
)
def test_the_page_gives_up_after_a_minute(
    admin: Client,
    loopback: Loopback,
    time_machine: Any,
    status: str,
    age_s: int,
    words: str,
    waits: bool,
) -> None:
    WorkerHeartbeat.objects.all().delete()  # a worker of an earlier test may have left its row
    begin(admin, loopback)
    trial = newest_trial()
    EndpointTrial.objects.update(status=status)
    time_machine.move_to(trial.created_at + timedelta(seconds=age_s), tick=False)
    part = admin.get(address_of(trial), headers=HTMX).content.decode()
    assert words in part
    assert ("trial-waiting" in part) is waits


def test_a_worker_sends_nothing_after_a_minute(admin: Client, loopback: Loopback) -> None:
    begin(admin, loopback)
    trial = newest_trial()

    def late() -> datetime:
        return trial.created_at + timedelta(seconds=60)

    TRIALS.run(job_id=trial.pk, clock=late)
    assert loopback.requests() == 0
    assert "No request was sent." in admin.get(address_of(trial), headers=HTMX).content.decode()


def test_the_request_ends_with_the_minute(admin: Client, loopback: Loopback) -> None:
    loopback.start_afresh(latency=5.0)
    begin(admin, loopback)
    trial = newest_trial()
    began = timezone.now()
    TRIALS.run(job_id=trial.pk, clock=lambda: trial.created_at + timedelta(seconds=58.5))
    assert timezone.now() - began < timedelta(seconds=4)
    assert "no answer in time" in admin.get(address_of(trial), headers=HTMX).content.decode().lower()


def test_the_sixth_request_at_once_waits(admin: Client, loopback: Loopback) -> None:
    for _number in range(5):
        assert "trial-waiting" in begin(admin, loopback).content.decode()
    assert "Several of your requests are still waiting" in begin(admin, loopback).content.decode()
    judge = chat_form(endpoint=loopback.url, unchecked="")
    refused = admin.post(reverse("scoring:judge-new-chat", args=["answered"]), judge)
    assert refused.status_code == 429
    assert not Judge.objects.exists()
    EndpointTrial.objects.order_by("pk").filter(pk=newest_trial().pk).update(status="failed")
    assert "trial-waiting" in begin(admin, loopback).content.decode()


def test_a_trial_is_deleted_after_an_hour(admin: Client, loopback: Loopback) -> None:
    begin(admin, loopback)
    trial = newest_trial()
    TRIALS.sweep(at=trial.created_at + timedelta(minutes=60))
    assert EndpointTrial.objects.exists()
    TRIALS.sweep(at=trial.created_at + timedelta(minutes=60, seconds=1))
    assert not EndpointTrial.objects.exists()
    assert admin.get(address_of(trial)).status_code == 404


def test_a_judge_that_cannot_be_created_leaves_no_judge_and_shows_the_form(admin: Client, loopback: Loopback) -> None:
    form = chat_form(endpoint=loopback.url, unchecked="", model="401")
    admin.post(reverse("scoring:judge-new-chat", args=["answered"]), form)
    trial = newest_trial()
    TRIALS.run(job_id=trial.pk, clock=timezone.now)
    led = admin.get(address_of(trial), headers=HTMX)
    assert led["HX-Redirect"] == f"/b/answered/judges/new/chat/?check={trial.public_id}"
    page = admin.get(led["HX-Redirect"]).content.decode()
    assert "The endpoint requires a key." in page
    assert form["name"] in page
    stranger = UserFactory()
    Benchmark.objects.get().roles.create(user=stranger, role="admin")
    admin.force_login(stranger)
    assert "The endpoint requires a key." not in admin.get(led["HX-Redirect"]).content.decode()
