"""A trial is answered while every child of the worker is at a long task, which goes on as if there were none."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from rubrics.models import Benchmark
from scoring.models import EndpointTrial, JudgeRun, Verdict
from scoring.runs.services import RunFrame, create_run
from tests.factories import UserFactory
from tests.processes import Worker
from tests.scoring.conftest import Loopback, chat_judge
from tests.scoring.endpoint_trials.trials import address_of, generation_form, newest_trial
from tests.waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

SEATS = 2
LATENCY_S = 1.5  # each of two slices asks 18 times, once at a time: 27 s
HTMX = {"HX-Request": "true"}


def test_a_trial_is_answered_while_a_judge_run_holds_all_workers(
    answered: Benchmark, loopback: Loopback, start_worker: Callable[..., Worker]
) -> None:
    user = UserFactory()
    answered.roles.create(user=user, role="admin")
    admin = Client()
    admin.force_login(user)
    loopback.start_afresh(LATENCY_S)
    start_worker(concurrency=SEATS, JUDGE_ALLOWED_HOSTS="127.0.0.1", ENDPOINT_KEYS="LOOPBACK_API_KEY@127.0.0.1")
    judge = chat_judge(answered, loopback, slices=SEATS, concurrency=SEATS)
    run = create_run(benchmark=answered, judge=judge, frame=RunFrame(), by=None, at=timezone.now())

    def slices_at_work() -> int:
        return run.slices.filter(status="running").count()

    def statuses() -> set[str]:
        return set(EndpointTrial.objects.values_list("status", flat=True))

    wait_until(lambda: slices_at_work() == SEATS, message="every child has a slice")
    url = reverse("scoring:generation-trial", args=["answered"])
    for _number in range(2):
        assert "trial-waiting" in admin.post(url, generation_form(loopback), headers=HTMX).content.decode()
    wait_until(lambda: statuses() == {"done"}, within_s=20, message="the trials are answered")
    assert slices_at_work() == SEATS
    assert "Drink enough" in admin.get(address_of(newest_trial()), headers=HTMX).content.decode()

    def is_finished() -> bool:
        return JudgeRun.objects.get().status == "finished"

    wait_until(is_finished, within_s=90, message="the run ends")
    verdicts = Verdict.objects.filter(run=run)
    assert verdicts.count() == verdicts.values("response", "criterion").distinct().count() == 36
    assert loopback.requests() == 36 + 2
