"""Backups by schedule and by the page: one a day, tested, kept for a time, and operators who are told."""

from __future__ import annotations

import hashlib
import io
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from accounts.models import Notification, SecurityEvent, User
from accounts.notices import words_of
from operations.backups import programs, restoring
from operations.models import Backup
from operations.services import backups
from operations.tasks import run_backup
from tests.factories import UserFactory
from tests.operations.test_backup_and_restore import Elsewhere, elsewhere
from tests.waiting import wait_until

__all__ = ["elsewhere"]

NIGHT = datetime(2026, 3, 4, 2, 30, tzinfo=UTC)


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Path:
    settings.BACKUP_DIR, settings.BACKUP_HOUR = str(tmp_path / "backups"), 2
    settings.BACKUP_KEEP_DAYS, settings.BACKUP_KEEP_WEEKS, settings.BACKUP_TEST_DAYS = 7, 4, 7
    return tmp_path / "backups"


@pytest.fixture(autouse=True)
def _no_worker(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "start_worker" not in request.fixturenames:
        monkeypatch.setattr(run_backup, "_exec_options", {**run_backup._get_exec_options(), "queue": "no-worker"})


@pytest.fixture
def operator(db: None) -> User:
    return UserFactory(is_superuser=True)


def good(at: datetime, folder: Path, **values: Any) -> Backup:
    """A backup that succeeded then, with a file."""
    folder.mkdir(exist_ok=True)
    path = folder / f"consilium-{at:%Y%m%dT%H%M%SZ}.tar"
    path.write_text("x")
    times = {"created_at": at, "started_at": at, "heartbeat_at": at, "finished_at": at}
    return Backup.objects.create(source="schedule", status="done", **times, file=str(path), size=1, **values)


@pytest.mark.django_db
def test_one_backup_a_day_is_requested_when_its_hour_has_come(folder: Path, settings: Any) -> None:
    assert backups.schedule(at=NIGHT.replace(hour=1, minute=59)) is None
    row = backups.schedule(at=NIGHT.replace(hour=2, minute=0))
    assert row is not None and (row.status, row.due_on) == ("pending", NIGHT.date())
    assert backups.schedule(at=NIGHT + timedelta(minutes=5)) is None
    # Beat was away at the hour: it is requested as soon as beat is back.
    late = backups.schedule(at=datetime(2026, 3, 5, 17, 0, tzinfo=UTC))
    assert late is not None
    settings.BACKUP_DIR = ""
    assert backups.schedule(at=datetime(2026, 3, 6, 3, 0, tzinfo=UTC)) is None


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_requests_at_once_make_one(folder: Path) -> None:
    rows: list[Backup | None] = []

    def request() -> None:
        try:
            rows.append(backups.schedule(at=NIGHT))
        finally:
            connection.close()

    threads = [threading.Thread(target=request) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(rows) == 8
    assert len([row for row in rows if row is not None]) == 1 == Backup.objects.count()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_worker_makes_and_tests_it(folder: Path, operator: User, start_worker: Any) -> None:
    start_worker(BACKUP_DIR=str(folder))
    # A worker that was killed in the middle of a test left its database.
    with connection.cursor() as cursor:
        cursor.execute(f'CREATE DATABASE "{connection.settings_dict["NAME"]}_test_restore_left"')
    row = backups.request_backup(by=operator, at=timezone.now())
    wait_until(
        lambda: Backup.objects.get(pk=row.pk).status not in ("pending", "running"),
        within_s=120,
        message="the backup has ended",
    )
    row.refresh_from_db()
    assert row.status == "done", row.error
    path = Path(row.file)
    assert path.parent == folder
    assert (path.stat().st_mode & 0o777, folder.stat().st_mode & 0o777) == (0o600, 0o700)
    assert (row.size, row.sha256) == (path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest())
    assert row.test_ok is True
    assert list(folder.iterdir()) == [path]
    event = SecurityEvent.objects.get(kind="backup_made")
    assert (event.by, event.values["backup"]) == (operator, row.public_id)
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_database WHERE datname LIKE '%%_test_restore_%%'")
        assert cursor.fetchone() == (0,)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_restored_database_does_not_go_on_with_its_own_backup(folder: Path, elsewhere: Elsewhere) -> None:
    row = backups.back_up_to_folder(clock=timezone.now)
    assert row.status == "done"
    restored = elsewhere.run("restore", row.file)
    assert restored.returncode == 0, restored.stdout + restored.stderr
    with elsewhere.session() as session:
        # In the file the backup was still being made: it did not fail, and today's is still to be made.
        assert session.execute("SELECT status, due_on FROM operations_backup").fetchall() == []


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_test_that_cannot_be_done_leaves_the_backup(folder: Path, operator: User) -> None:
    # A database that cannot be dropped is in the way of the scratch database.
    left = f"{connection.settings_dict['NAME']}_test_restore_left"
    with psycopg.connect(programs.conninfo(), autocommit=True) as session:
        session.execute(f'CREATE DATABASE "{left}" IS_TEMPLATE true')
        try:
            row = backups.back_up_to_folder(clock=timezone.now)
            with pytest.raises(CommandError, match="cannot drop a template database"):
                call_command("backup", str(folder / "mine.tar"), test_restore=True, stdout=io.StringIO())
        finally:
            session.execute(f'ALTER DATABASE "{left}" IS_TEMPLATE false')
            session.execute(f'DROP DATABASE "{left}"')
    assert (row.status, row.test_ok) == ("done", False)
    assert "cannot drop a template database" in row.test_error
    assert hashlib.sha256(Path(row.file).read_bytes()).hexdigest() == row.sha256
    assert "could not be restored for a test" in words_of(Notification.objects.get(user=operator)).text
    mine = Backup.objects.get(file=str(folder / "mine.tar"))
    assert (mine.status, mine.test_ok) == ("done", False)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_file_of_a_worker_that_was_lost_during_its_test_is_kept(folder: Path, settings: Any) -> None:
    settings.BACKUP_TEST_DAYS = 0
    row = backups.back_up_to_folder(clock=timezone.now)
    content = Path(row.file).read_bytes()
    for attempts, test_ok in ((1, None), (2, False)):
        lost_at = timezone.now() - timedelta(hours=1)
        Backup.objects.filter(pk=row.pk).update(
            status="running", attempts=attempts, started_at=lost_at, heartbeat_at=lost_at, finished_at=None
        )
        backups.run(backup_id=row.pk, clock=timezone.now)
        row.refresh_from_db()
        assert (row.status, row.attempts, row.test_ok) == ("done", attempts + 1, test_ok)
        assert [path.read_bytes() for path in folder.iterdir()] == [content]
    assert row.test_error == "The worker stopped unexpectedly 2 times during this backup."


@pytest.mark.django_db
def test_a_complete_file_of_a_failed_backup_is_deleted_in_time(folder: Path, settings: Any) -> None:
    settings.BACKUP_KEEP_DAYS, settings.BACKUP_KEEP_WEEKS = 1, 1
    failed = good(NIGHT, folder, sha256="ab" * 32)
    Backup.objects.update(status="failed")
    assert backups.delete_replaced(at=NIGHT) == []
    good(NIGHT + timedelta(hours=1), folder)
    assert backups.delete_replaced(at=NIGHT) == [Path(failed.file).name]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_test_that_finds_another_row_says_so(folder: Path, operator: User, monkeypatch: pytest.MonkeyPatch) -> None:
    genuine = restoring._restore_database

    def restore_less(*arguments: Any, database: str, **options: Any) -> None:
        genuine(*arguments, database=database, **options)
        with restoring.open_session(database) as session:
            session.execute("UPDATE accounts_user SET name = 'Somebody else'")

    monkeypatch.setattr(restoring, "_restore_database", restore_less)
    row = backups.back_up_to_folder(clock=timezone.now)
    assert (row.status, row.test_ok) == ("done", False)
    # The names of accounts are in the audit trail as well.
    assert row.test_error.startswith("These tables differ: accounts_user")
    assert backups.state(timezone.now())[0] == "error"
    notice = Notification.objects.get(user=operator)
    assert words_of(notice).text == "A backup was made, but could not be restored for a test."


@pytest.mark.django_db
def test_the_newest_of_seven_days_and_four_weeks_are_kept(folder: Path) -> None:
    # Two on each day from 1 February to 4 March 2026, a Wednesday; the second is the newer.
    first = datetime(2026, 2, 1, 2, 0, tzinfo=UTC)
    for day in range(32):
        for hours in (0, 9):
            good(first + timedelta(days=day, hours=hours), folder)
    theirs = folder / "consilium-mine.tar"
    theirs.write_text("x")
    backups.delete_replaced(at=NIGHT)
    days = ["0226", "0227", "0228", "0301", "0302", "0303", "0304"]
    weeks = ["0215", "0222"]  # Sundays; the newest of the other two weeks are 1 and 4 March
    assert sorted(path.name for path in folder.iterdir()) == [
        *(f"consilium-2026{day}T110000Z.tar" for day in [*weeks, *days]),
        theirs.name,
    ]
    assert Backup.objects.filter(deleted_at=None).count() == 9
    backups.delete_replaced(at=NIGHT)
    assert Backup.objects.filter(deleted_at=None).count() == 9


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_file_that_somebody_named_is_never_deleted_and_takes_no_place(folder: Path, settings: Any) -> None:
    settings.BACKUP_KEEP_DAYS, settings.BACKUP_KEEP_WEEKS, settings.BACKUP_TEST_DAYS = 1, 0, 0
    scheduled = Path(backups.back_up_to_folder(clock=timezone.now).file)
    mine = [folder / "consilium-before-upgrade.tar", folder / "consilium-20260101T000000Z.tar"]
    for path in mine:  # newer than the one of the schedule, on the same day
        call_command("backup", str(path), stdout=io.StringIO())
    assert backups.delete_replaced(at=timezone.now()) == []
    newer = Path(backups.back_up_to_folder(clock=lambda: timezone.now() + timedelta(days=1)).file)
    assert sorted(folder.iterdir()) == sorted([*mine, newer])
    assert Backup.objects.get(file=str(scheduled)).deleted_at is not None
    assert Backup.objects.exclude(file=str(scheduled)).filter(deleted_at=None).count() == 3


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_failure_is_notified_once_and_shown(folder: Path, operator: User, client: Client) -> None:
    folder.write_text("a file is in the way")
    with pytest.raises(CommandError, match="BACKUP_DIR cannot be used"):
        call_command("backup", scheduled=True, stdout=io.StringIO())
    row = Backup.objects.get()
    assert row.status == "failed"
    assert SecurityEvent.objects.filter(kind="backup_failed").count() == 1
    notice = Notification.objects.get(user=operator)
    assert words_of(notice).text == "A backup failed."
    assert notice.url == "/server/backups/"
    assert backups.state(timezone.now()) == ("error", "No backup has succeeded.")
    client.force_login(operator)
    assert "BACKUP_DIR cannot be used" in client.get("/server/backups/").content.decode()


@pytest.mark.django_db
def test_states(folder: Path, settings: Any) -> None:
    settings.BACKUP_DIR = ""
    assert backups.state(NIGHT) == ("warning", "No backups are made: BACKUP_DIR is not set.")
    settings.BACKUP_DIR = str(folder)
    assert backups.state(NIGHT) == ("warning", "No backup has been made yet.")
    good(NIGHT, folder)
    assert backups.state(NIGHT + timedelta(days=2))[0] == "ok"
    assert backups.state(NIGHT + timedelta(days=2, seconds=1)) == (
        "error",
        "The last good backup is of 2026-03-04 02:30 UTC, more than two days ago.",
    )
    good(NIGHT + timedelta(days=1), folder, tested_at=NIGHT + timedelta(days=1), test_ok=True)
    assert backups.state(NIGHT + timedelta(days=1, hours=1)) == ("ok", "The last backup is of 2026-03-05 02:30 UTC.")
    failed_at = NIGHT + timedelta(days=2)
    Backup.objects.create(source="schedule", status="failed", created_at=failed_at, finished_at=failed_at)
    assert backups.state(failed_at) == (
        "error",
        "The last backup failed. The last good one is of 2026-03-05 02:30 UTC.",
    )


@pytest.mark.django_db
def test_operators_are_notified_once_that_the_last_good_one_is_old(folder: Path, operator: User, settings: Any) -> None:
    assert not backups.notify_if_overdue(at=NIGHT)
    UserFactory(is_superuser=True, is_active=False)
    UserFactory(is_staff=True)
    good(NIGHT, folder)
    assert not backups.notify_if_overdue(at=NIGHT + timedelta(days=2))
    for hours in (1, 2, 30):
        assert backups.notify_if_overdue(at=NIGHT + timedelta(days=2, hours=hours))
    settings.BACKUP_DIR = ""  # of the worker, where a timer of the system starts backups
    assert backups.notify_if_overdue(at=NIGHT + timedelta(days=3))
    notice = Notification.objects.get()
    assert notice.user == operator
    assert words_of(notice).text == "There has been no good backup since 4 March 2026, 02:30."


@pytest.mark.django_db
def test_the_page(operator: User, client: Client, settings: Any, folder: Path) -> None:
    client.force_login(operator)
    settings.BACKUP_DIR = ""
    page = client.get("/server/backups/").content.decode()
    assert "No backups are made" in page and "Set BACKUP_DIR to a folder" in page and "Back up now" not in page
    refused = client.post("/server/backups/")
    assert refused.status_code == 422
    assert "BACKUP_DIR is not set" in refused.content.decode()

    settings.BACKUP_DIR = str(folder)
    assert "Back up now" in client.get("/server/backups/").content.decode()
    assert client.post("/server/backups/")["Location"] == "/server/backups/"
    row = Backup.objects.get()
    assert (row.created_by, row.source) == (operator, "page")
    assert client.post("/server/backups/").status_code == 409
    assert Backup.objects.count() == 1

    file = good(NIGHT, folder, tested_at=NIGHT, test_ok=True, sha256="ab" * 32).file
    page = client.get("/server/backups/").content.decode()
    assert file in page and "the same" in page
    assert f'href="{file}' not in page  # nobody gets the file through the web
    table = b"".join(client.get("/server/backups/backups.csv")).decode().splitlines()  # type: ignore[arg-type]
    assert table[0].split(",")[:8] == ["started_at", "finished_at", "state", "source", "by", "file", "size", "sha256"]
    assert f"2026-03-04T02:30:00+00:00,2026-03-04T02:30:00+00:00,done,schedule,,{file},1,{'ab' * 32}" in table[2]
