"""`/metrics`: for whoever has the token, in Prometheus' format (read by its own library), and quick."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from accounts.services import security_log
from consilium.core.heartbeat import WorkerHeartbeat
from tests.annotation.conftest import build_workshop
from tests.factories import JudgeRunFactory, VerdictFactory, decide
from tests.operations.server_state import WORKER, be_well, make_older

pytestmark = pytest.mark.django_db
TOKEN = "metrics-" + "0123456789" * 4
AUTHORIZATION = {"HTTP_AUTHORIZATION": f"Bearer {TOKEN}"}


@pytest.fixture(autouse=True)
def _token(settings: Any) -> None:
    settings.METRICS_TOKEN = TOKEN


def figures() -> dict[tuple[str, ...], float]:
    answer = Client().get("/metrics", **AUTHORIZATION)
    assert answer.status_code == 200
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(answer.content.decode())
        for sample in family.samples
    }


def test_without_the_token_there_is_no_such_page(settings: Any) -> None:
    assert Client().get("/metrics", **AUTHORIZATION).status_code == 200
    for header in ("", "Bearer ", f"Bearer {TOKEN}x", TOKEN):
        assert Client().get("/metrics", HTTP_AUTHORIZATION=header).status_code == 404
    settings.METRICS_TOKEN = ""
    for header in ("", "Bearer ", f"Bearer {TOKEN}"):
        assert Client().get("/metrics", HTTP_AUTHORIZATION=header).status_code == 404


def test_states_and_figures_of_the_parts() -> None:
    be_well()
    before = figures()
    assert before["consilium_part_state", "worker"] == 0
    assert before["consilium_worker_at_work",] == 1
    assert before["consilium_worker_waiting_tasks",] == 3
    assert before["consilium_jobs", "run_report", "waiting"] == 0
    assert before["consilium_disk_media_root_free_bytes",] > 0
    assert before["consilium_database_size_bytes",] > 1_000_000
    make_older(WorkerHeartbeat(pk=WORKER), 60)
    after = figures()
    assert after["consilium_part_state", "worker"] == 2
    assert after["consilium_worker_at_work",] == 0
    assert 60 <= after["consilium_worker_newest_heartbeat_age_seconds",] < 120


def test_each_save_of_a_decision_and_each_verdict_counts_once() -> None:
    assignment = build_workshop().queue()[0]
    before = figures()
    decide(assignment, "met", submit=False)
    criterion = assignment.rubric.items.first().criterion
    run = JudgeRunFactory(judge__benchmark=assignment.response.case.benchmark)
    VerdictFactory(run=run, response=assignment.response, criterion=criterion)
    after = figures()
    decisions = ("consilium_decisions_saved_total",)
    assert after[decisions] - before[decisions] == assignment.decisions.count() == 3
    assert after["consilium_verdicts_saved_total",] - before["consilium_verdicts_saved_total",] == 1


def test_failed_sign_ins_of_the_last_hour() -> None:
    be_well()
    assert figures()["consilium_sign_ins_failed_last_hour",] == 0
    security_log.record("sign_in_failed", at=timezone.now())
    security_log.record("sign_in_limited", at=timezone.now())
    security_log.record("signed_in", at=timezone.now())
    security_log.record("sign_in_failed", at=timezone.now() - timedelta(minutes=61))
    assert figures()["consilium_sign_ins_failed_last_hour",] == 2
