"""The page of the server: its parts, processes and background work, on a page, in parts for htmx, and as files."""

from __future__ import annotations

import csv
import io
import re
from datetime import timedelta

import pytest
from celery import current_app
from django.test import Client
from django.utils import timezone

from accounts.models import User
from agreement.models import Report
from consilium.core import jobs
from consilium.core.heartbeat import BeatHeartbeat, WorkerHeartbeat, record_heartbeat
from consilium.core.jobs import Backlog, kinds
from operations.selectors.background_work import LABELS, open_work, task_in_words
from operations.services.backups import BACKUPS
from scoring.judges.services import TRAININGS
from scoring.models import TrainedModel
from tests.factories import BenchmarkFactory, JudgeFactory, UserFactory
from tests.operations.server_state import WORKER, be_well, make_older

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator() -> User:
    return UserFactory(is_superuser=True)


@pytest.fixture
def client(operator: User) -> Client:
    client = Client()
    client.force_login(operator)
    return client


def text_of(client: Client, **headers: str) -> str:
    page = client.get("/server/", **headers)
    assert page.status_code == 200
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.content.decode()))


def rows_of(client: Client, table: str) -> list[dict[str, str]]:
    answer = client.get(f"/server/state/{table}.csv")
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    return list(csv.DictReader(io.StringIO(answer.getvalue().decode().removeprefix("\ufeff"))))


def test_every_kind_of_background_work_has_a_name() -> None:
    tasks = {kind.task for kind in kinds()}
    assert "scoring.tasks.ask_on_trial" in tasks, "kinds() loads those of every app"
    assert tasks == set(LABELS)


def test_a_kind_without_a_name_does_not_take_the_page_down(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    new = type("NewJobs", (type(BACKUPS),), {"task": "operations.tasks.run_something"})()
    monkeypatch.setattr(jobs, "_kinds", {new.task: new, **jobs._kinds})
    be_well()
    assert "run_something" in text_of(client)
    assert [work.label for work in open_work(at=timezone.now())][-1] == "run_something"


def test_tasks_that_run_are_named_in_words(client: Client) -> None:
    be_well()
    running = ["scoring.tasks.ask_on_trial", "rubrics.tasks.sweep_imports", "scoring.tasks.ask_on_trial"]
    record_heartbeat(worker=WORKER, host="alpha", pid=7, state="working", active_tasks=running, waiting_tasks=3)
    text = text_of(client)
    assert re.search(r"Requests to try an endpoint × 2 ?, Sweeps 3", text)
    assert "ask_on_trial" not in text
    current_app.loader.import_default_modules()
    tasks = [name for name in current_app.tasks if not name.startswith("celery.")]
    assert len(tasks) > 20
    assert [name for name in tasks if task_in_words(name) == name.rpartition(".")[2]] == []


def test_the_page_shows_parts_processes_and_work(client: Client) -> None:
    be_well()
    text = text_of(client)
    assert "Database Ok" in text
    assert "1 worker is at work." in text
    assert "Worker alpha, 7 at work" in text
    assert "judge" in text
    assert "Beat alpha, 8 at work" in text
    assert "Reports 0 0 0" in text
    assert "PostgreSQL" in text
    make_older(WorkerHeartbeat(pk=WORKER), 60)
    text = text_of(client)
    assert re.search(r"No worker has made progress for 6\d s\.", text)
    assert "Start the worker again" in text
    assert "Worker alpha, 7 silent" in text
    assert (
        "<button"
        not in client.get("/server/").content.decode().partition('id="server-state"')[2].partition("</main>")[0]
    )


def test_without_processes_the_page_says_so(client: Client) -> None:
    WorkerHeartbeat.objects.all().delete()
    BeatHeartbeat.objects.all().delete()
    text = text_of(client)
    assert "No worker and no beat was seen." in text
    assert "No beat has been seen." in text


def test_htmx_gets_the_part_that_it_swaps(client: Client) -> None:
    be_well()
    page = client.get("/server/", HTTP_HX_REQUEST="true").content.decode()
    assert page.lstrip().startswith("<div")
    assert 'hx-trigger="every 10s"' in page
    assert "<html" not in page


def test_the_page_in_chinese(client: Client, operator: User) -> None:
    be_well()
    User.objects.filter(pk=operator.pk).update(language="zh-hans")
    text = text_of(client)
    for words in ("数据库", "1 个工作进程正在工作。", "后台处理"):
        assert words in text
    assert "is at work" not in text


def test_the_tables_as_files(client: Client) -> None:
    be_well()
    parts = {row["part"]: row for row in rows_of(client, "parts")}
    assert parts["worker"]["state"] == "ok"
    processes = rows_of(client, "processes")
    assert [(row["process"], row["host"], row["pid"], row["state"], row["waiting_tasks"]) for row in processes] == [
        ("worker", "alpha", "7", "working", "3"),
        ("beat", "alpha", "8", "working", "0"),
    ]
    assert {row["kind"]: row["waiting"] for row in rows_of(client, "work")}["run_report"] == "0"
    assert client.get("/server/state/secrets.csv").status_code == 404


def test_work_that_has_not_moved_is_counted() -> None:
    """A report that waits for 2 min may still be enqueued again; after 2 min 10 s the sweep has not done its part."""
    at = timezone.now()
    benchmark = BenchmarkFactory()

    def report(status: str, **values: object) -> None:
        Report.objects.create(benchmark=benchmark, kind="agreement", status=status, **values)

    report("pending", created_at=at - timedelta(seconds=60))
    report("pending", created_at=at - timedelta(seconds=200))
    report("running", created_at=at - timedelta(hours=1), heartbeat_at=at - timedelta(seconds=100))
    report("running", created_at=at - timedelta(hours=1), heartbeat_at=at - timedelta(seconds=300))
    report("done", created_at=at - timedelta(hours=5))
    backlog = {work.name: work.backlog for work in open_work(at=at)}["run_report"]
    assert (backlog.waiting, backlog.running, backlog.stalled) == (2, 2, 2)
    assert backlog.stalled_since == at - timedelta(seconds=300)


def test_a_running_row_that_a_worker_holds_has_not_stalled() -> None:
    at = timezone.now()
    row = TrainedModel.objects.create(judge=JudgeFactory(), status="running", heartbeat_at=at - timedelta(minutes=4))
    TrainedModel.objects.create(judge=JudgeFactory(), status="pending", heartbeat_at=at - timedelta(minutes=2))
    TrainedModel.objects.create(judge=JudgeFactory(), status="done", heartbeat_at=at - timedelta(days=2))

    def backlog() -> Backlog:
        return {work.name: work.backlog for work in open_work(at=at)}["train_judge"]

    assert backlog() == Backlog(waiting=1, running=1, stalled=1, stalled_since=at - timedelta(minutes=4))
    with TRAININGS.hold(row.pk) as is_held:
        assert is_held
        assert backlog() == Backlog(waiting=1, running=1)
