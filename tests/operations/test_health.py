"""`healthz?deep=1`: who may ask, and what it says of each part."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
import redis
from django.core import mail
from django.db import connection
from django.test import Client
from django.utils import timezone
from kombu import Connection

from accounts.models import Notification, NotificationSetting
from consilium.core.heartbeat import BeatHeartbeat, WorkerHeartbeat, record_beat, record_heartbeat
from consilium.tasks import clear_expired_sessions
from operations.checks import disk
from operations.models import Backup
from tests.factories import UserFactory
from tests.operations.server_state import BEAT, ELSEWHERE, WORKER, ask, be_well, make_older
from tests.processes import ROOT, Worker
from tests.waiting import wait_until

TOKEN = "operator-" + "0123456789" * 4
PLAIN = (200, b"ok\n")
PARTS = ["database", "worker", "beat", "broker", "disk", "migrations", "mail", "backups"]


def answer(client: Client | None = None, **extra: Any) -> tuple[int, bytes]:
    response = (client or Client(HTTP_HOST="localhost")).get("/healthz?deep=1", **extra)
    return response.status_code, response.content


def is_deep(client: Client | None = None, **extra: Any) -> bool:
    return answer(client, **extra)[1].startswith(b"{")


# Who may ask ------------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_others_get_the_plain_answer(settings: Any) -> None:
    settings.OPERATOR_TOKEN = TOKEN
    assert answer(REMOTE_ADDR=ELSEWHERE) == PLAIN
    for header in ("", TOKEN, f"Basic {TOKEN}", f"Bearer {TOKEN}0", f"Bearer {TOKEN[:-1]}", "Bearer ", "Bearer é"):
        assert answer(REMOTE_ADDR=ELSEWHERE, HTTP_AUTHORIZATION=header) == PLAIN
    # A proxy on this machine asks for somebody else.
    for header in ("X_FORWARDED_FOR", "X_FORWARDED_PROTO", "FORWARDED", "X_REAL_IP", "VIA"):
        assert answer(REMOTE_ADDR="127.0.0.1", **{f"HTTP_{header}": ELSEWHERE}) == PLAIN
    client = Client(REMOTE_ADDR=ELSEWHERE)
    client.force_login(UserFactory(is_staff=True))
    assert answer(client) == PLAIN


@pytest.mark.django_db
def test_who_comes_through_a_proxy_that_adds_no_header_gets_the_plain_answer(settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["study.example.org", "localhost", "127.0.0.1", "[::1]"]
    for host in ("localhost", "localhost:8000", "127.0.0.1:8000", "[::1]:8000"):
        assert is_deep(REMOTE_ADDR="127.0.0.1", HTTP_HOST=host)
        assert answer(REMOTE_ADDR=ELSEWHERE, HTTP_HOST=host) == PLAIN
    assert answer(REMOTE_ADDR="127.0.0.1", HTTP_HOST="study.example.org") == PLAIN
    settings.BEHIND_PROXY = True
    assert answer(REMOTE_ADDR="127.0.0.1", HTTP_HOST="localhost:8000") == PLAIN


@pytest.mark.django_db
def test_without_a_token_in_the_settings_no_token_lets_in(settings: Any) -> None:
    settings.OPERATOR_TOKEN = ""
    for header in ("Bearer ", "Token", "Bearer x"):
        assert answer(REMOTE_ADDR=ELSEWHERE, HTTP_AUTHORIZATION=header) == PLAIN


@pytest.mark.django_db
def test_this_machine_the_token_and_operators_get_the_parts(settings: Any) -> None:
    settings.OPERATOR_TOKEN = TOKEN
    for address in ("127.0.0.1", "127.8.8.8", "::1"):
        assert is_deep(REMOTE_ADDR=address)
    assert is_deep(REMOTE_ADDR=ELSEWHERE, HTTP_AUTHORIZATION=f"Bearer {TOKEN}")
    assert is_deep(REMOTE_ADDR="127.0.0.1", HTTP_X_FORWARDED_FOR=ELSEWHERE, HTTP_AUTHORIZATION=f"token {TOKEN}")
    client = Client(REMOTE_ADDR=ELSEWHERE)
    client.force_login(UserFactory(is_superuser=True))
    assert is_deep(client)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["OPERATOR_TOKEN", "METRICS_TOKEN"])
def test_a_short_token_is_refused_at_the_start(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "status"],
        cwd=ROOT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings", name: "x" * 31},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert f"Error: {name} must have at least 32 characters, and has 31." in done.stderr


# What it says -----------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_each_part_has_its_state_since_when_and_what_to_do() -> None:
    be_well()
    body = ask(200)
    assert list(body["parts"]) == PARTS
    for part in body["parts"].values():
        assert set(part) == {"state", "since", "message", "advice"}
        assert datetime.fromisoformat(part["since"]) <= timezone.now()
        assert (part["advice"] == "") == (part["state"] == "ok")
    assert {name: part["state"] for name, part in body["parts"].items()} == dict.fromkeys(PARTS, "ok")
    assert body["state"] == "ok"


@pytest.mark.django_db
def test_an_old_backup_has_failed_and_the_server_has_not() -> None:
    be_well()
    old = timezone.now() - timedelta(days=2, minutes=1)
    Backup.objects.update(created_at=old, started_at=old, finished_at=old)
    body = ask(200)
    assert body["state"] == "warning"
    assert body["parts"]["backups"]["state"] == "failed"
    assert "more than two days ago" in body["parts"]["backups"]["message"]
    Backup.objects.all().delete()
    assert ask(200)["parts"]["backups"]["message"] == "No backups are made: BACKUP_DIR is not set."


@pytest.mark.django_db
def test_no_worker_is_a_failure_since_it_was_last_seen() -> None:
    be_well()
    make_older(WorkerHeartbeat(pk=WORKER), 16)  # half the limit of 30 s is 15 s
    last = WorkerHeartbeat.objects.get().beat_at
    body = ask(503)
    worker = body["parts"]["worker"]
    assert (body["state"], worker["state"], worker["message"]) == (
        "failed",
        "failed",
        "No worker has made progress for 16 s.",
    )
    assert datetime.fromisoformat(worker["since"]) == last.replace(microsecond=0)
    assert "Start the worker again" in worker["advice"]
    WorkerHeartbeat.objects.all().delete()
    assert ask(503)["parts"]["worker"]["message"] == "No worker has been seen."


@pytest.mark.django_db
def test_one_silent_worker_among_several_is_a_warning_unless_it_was_replaced() -> None:
    be_well()
    silent = uuid.UUID(int=3)
    record_heartbeat(worker=silent, host="beta", pid=9, state="working", active_tasks=[], waiting_tasks=0)
    make_older(WorkerHeartbeat(pk=silent), 40)
    worker = ask(200)["parts"]["worker"]
    assert (worker["state"], worker["message"]) == ("warning", "A worker on beta makes no progress.")
    WorkerHeartbeat.objects.filter(pk=silent).update(host="alpha")  # where another was started since
    assert ask(200)["parts"]["worker"]["state"] == "ok"


@pytest.mark.django_db
def test_a_worker_without_its_broker_is_a_warning() -> None:
    be_well()
    record_heartbeat(worker=WORKER, host="alpha", pid=7, state="connecting", active_tasks=[], waiting_tasks=0)
    assert ask(200)["parts"]["worker"]["state"] == "warning"


@pytest.mark.django_db
def test_beat_that_enqueues_nothing_for_two_rounds_is_a_failure() -> None:
    be_well()
    make_older(BeatHeartbeat(pk=BEAT), 20)  # two rounds are 30 s
    assert ask(200)["parts"]["beat"]["state"] == "ok"
    make_older(BeatHeartbeat(pk=BEAT), 11)
    message = ask(503)["parts"]["beat"]["message"]
    assert re.fullmatch(r"Beat has enqueued nothing for 3\d s\.", message)


@pytest.mark.django_db
def test_a_second_beat_is_a_warning_and_a_replaced_one_is_not() -> None:
    be_well()
    other = uuid.UUID(int=4)
    record_beat(beat=other, host="beta", pid=9)
    make_older(BeatHeartbeat(pk=other), 10)  # killed 10 s ago, and started again as BEAT
    assert ask(200)["parts"]["beat"]["state"] == "ok"
    now = BeatHeartbeat.objects.get(pk=BEAT).beat_at
    for row in BeatHeartbeat.objects.all():  # both go on for a minute
        BeatHeartbeat.objects.filter(pk=row.pk).update(started_at=now - timedelta(seconds=60), beat_at=now)
    assert ask(200)["parts"]["beat"]["message"] == "More than one beat runs, on alpha, beta."


@pytest.mark.django_db
def test_a_full_disk_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    be_well()
    monkeypatch.setattr(disk, "WARNING_BELOW", 1 << 62)
    assert ask(200)["parts"]["disk"]["state"] == "warning"
    monkeypatch.setattr(disk, "FAILED_BELOW", 1 << 62)
    assert ask(503)["parts"]["disk"]["state"] == "failed"


@pytest.mark.django_db
def test_a_full_temporary_folder_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    be_well()
    monkeypatch.setattr(disk, "TEMPORARY_WARNING_BELOW", 1 << 62)
    part = ask(200)["parts"]["disk"]
    assert (part["state"], part["message"].endswith("are free in TMPDIR.")) == ("warning", True)
    monkeypatch.setattr(disk, "TEMPORARY_FAILED_BELOW", 1 << 62)
    part = ask(503)["parts"]["disk"]
    assert (part["state"], part["message"].endswith("are free in TMPDIR.")) == ("failed", True)


@pytest.mark.django_db
def test_a_missing_migration_is_named() -> None:
    be_well()
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'releases' AND name LIKE '0001%'")
    migrations = ask(200)["parts"]["migrations"]
    assert migrations["state"] == "warning"
    assert "1 migration is missing: releases.0001_" in migrations["message"]


@pytest.mark.django_db
def test_a_mail_that_could_not_be_sent_for_a_quarter_of_an_hour_is_a_warning() -> None:
    be_well()
    reader = UserFactory(last_login=timezone.now())
    NotificationSetting.objects.create(user=reader, kind="budget", delivery="at_once")
    row = Notification(user=reader, kind="budget", benchmark_title="B", url="/", created_at=timezone.now())
    row.save()
    assert ask(200)["parts"]["mail"]["state"] == "ok"
    written = timezone.now() - timedelta(minutes=16)
    Notification.objects.filter(pk=row.pk).update(created_at=written)
    part = ask(200)["parts"]["mail"]
    assert (part["state"], part["message"]) == ("warning", "1 email could not be sent.")
    assert datetime.fromisoformat(part["since"]) == written.replace(microsecond=0)
    assert mail.outbox == []


@pytest.mark.django_db
def test_since_is_when_the_state_was_first_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    be_well()
    ask(200)
    first = ask(200)["parts"]["disk"]["since"]
    with connection.cursor() as cursor:
        cursor.execute("UPDATE operations_partstate SET since = since - interval '1 hour' WHERE name = 'disk'")
    earlier = ask(200)["parts"]["disk"]["since"]
    assert datetime.fromisoformat(first) - datetime.fromisoformat(earlier) == timedelta(hours=1)
    monkeypatch.setattr(disk, "WARNING_BELOW", 1 << 62)
    assert ask(200)["parts"]["disk"]["since"] >= first


@pytest.mark.django_db
def test_a_database_that_is_away_is_reported_with_what_cannot_be_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection of the test goes on, as one of a pool might; a new one is refused."""
    be_well()
    monkeypatch.setitem(connection.settings_dict, "PORT", "1")
    body = ask(503)
    assert body["state"] == "failed"
    assert body["parts"]["database"]["message"].startswith("The database does not answer: ")
    states = {name: part["state"] for name, part in body["parts"].items()}
    assert states["database"] == "failed"
    assert [states[name] for name in ("worker", "beat", "migrations", "mail")] == ["warning"] * 4
    assert body["parts"]["worker"]["message"] == "Not known while the database does not answer."


# The broker -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.django_db
def test_messages_of_the_broker_over_postgresql(settings: Any) -> None:
    be_well()
    clear_expired_sessions.delay()
    part = ask(200)["parts"]["broker"]
    assert part["state"] == "ok"
    assert int(part["message"].split()[0]) >= 1
    # Nothing is left of the message that was tried.
    assert ask(200)["parts"]["broker"]["message"] == part["message"]
    settings.CELERY_BROKER_URL = "sqla+postgresql+psycopg://nobody@127.0.0.1:1/none"
    part = ask(503)["parts"]["broker"]
    assert part["state"] == "failed"
    assert part["message"].startswith("The broker takes no messages: ")


@pytest.mark.django_db
def test_messages_of_the_broker_over_redis(redis_url: str, settings: Any) -> None:
    be_well()
    settings.REDIS_URL = settings.CELERY_BROKER_URL = redis_url
    assert ask(200)["parts"]["broker"]["message"] == "No message waits."
    with Connection(redis_url) as broker:
        clear_expired_sessions.apply_async(connection=broker)
        clear_expired_sessions.apply_async(connection=broker, headers={"enqueued_at": 1_000_000_000.0})
    client = redis.Redis.from_url(redis_url)
    newest = client.lpop("celery")
    client.rpush("celery", newest)  # the one that says it was sent in 2001 is now the next
    part = ask(200)["parts"]["broker"]
    assert (part["state"], part["message"]) == ("warning", "2 messages wait.")
    assert part["since"] == "2001-09-09T01:46:40+00:00"
    client.rpop("celery")
    assert ask(200)["parts"]["broker"]["message"] == "1 message waits."
    client.config_set("maxmemory", 1)
    part = ask(503)["parts"]["broker"]
    assert part["message"].startswith("The broker takes no messages: ")
    assert client.keys("consilium*") == []


# Real processes ---------------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_a_frozen_worker_shows_within_its_limit(start_worker: Callable[..., Worker], settings: Any) -> None:
    settings.WORKER_STALL_LIMIT_S = 10.0
    record_beat(beat=BEAT, host="alpha", pid=8)
    worker = start_worker(queue="frozen", WORKER_STALL_LIMIT="10")

    def state() -> str:
        return str(Client(HTTP_HOST="localhost").get("/healthz?deep=1").json()["parts"]["worker"]["state"])

    WorkerHeartbeat.objects.exclude(pid=worker.pid).delete()
    wait_until(lambda: state() == "ok", message="the worker is seen")
    os.kill(worker.pid, signal.SIGSTOP)
    frozen_at = time.monotonic()
    wait_until(lambda: state() == "failed", within_s=20, message="the freeze shows")
    assert time.monotonic() - frozen_at < 10
    assert Client(HTTP_HOST="localhost").get("/healthz?deep=1").status_code == 503
    worker.kill()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_beat_writes_its_row_when_it_has_enqueued(process_environment: dict[str, str], tmp_path: Any) -> None:
    BeatHeartbeat.objects.all().delete()
    with (tmp_path / "beat.log").open("wb") as log:
        beat = subprocess.Popen(
            [sys.executable, "-m", "celery", "--app", "config", "beat", "--pidfile=", "-s", str(tmp_path / "schedule")],
            cwd=ROOT,
            env=process_environment,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        row = wait_until(lambda: BeatHeartbeat.objects.first(), within_s=60, message="beat has written its row")
        assert row.pid == beat.pid
        first = row.beat_at
        wait_until(lambda: BeatHeartbeat.objects.get().beat_at > first, within_s=60, message="it goes on")
        assert BeatHeartbeat.objects.get().started_at == row.started_at
    finally:
        beat.kill()
        beat.wait()
