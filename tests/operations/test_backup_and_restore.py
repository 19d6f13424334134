"""`manage.py backup` and `manage.py restore`: the same study in an empty place, or a refusal that changes nothing."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import tarfile
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from accounts.models import SecurityEvent, User, UserSession
from annotation.models import Decision
from operations.backups import contents, making, programs, restoring
from operations.models import Backup
from releases.models import Release
from scoring.keys.grants import grant_key
from tests.annotation.conftest import Workshop, build_workshop
from tests.factories import UserFactory, decide, token_of
from tests.processes import ROOT

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture
def study() -> Workshop:
    """Decisions, a conflict with its trail, an account, and an uploaded file that a row names."""
    workshop = build_workshop()
    for assignment in workshop.queue():
        decide(assignment, "met", "not_met", "met")
    UserFactory(email="owner@example.org", is_superuser=True)
    release = Release(benchmark=workshop.benchmark, version="1", created_at=timezone.now())
    release.archive.save("kept.zip", ContentFile(b"release" * 1000))
    (settings.CONSILIUM_HOME / "rule_endpoint.port").write_text("8123")
    return workshop


class Elsewhere:
    """An empty database on the same server, and an empty home."""

    def __init__(self, name: str, home: Path) -> None:
        self.name, self.home = name, home
        values = connection.settings_dict
        self.environment = {
            **{key: value for key, value in os.environ.items() if key not in {"MEDIA_ROOT", "SECRET_KEY", "DEBUG"}},
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATABASE_URL": f"postgres://{values['USER']}@/{name}?host={values['HOST']}",
            "CONSILIUM_HOME": str(home),
        }

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    def session(self) -> psycopg.Connection[Any]:
        return psycopg.connect(programs.conninfo(database=self.name), autocommit=True)

    def tables(self) -> int:
        with self.session() as session:
            row = session.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone()
            return int(row[0]) if row else 0


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Elsewhere]:
    name = f"{connection.settings_dict['NAME']}_elsewhere"
    drop = f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'
    with psycopg.connect(programs.conninfo(), autocommit=True) as session:
        session.execute(drop)
        session.execute(f'CREATE DATABASE "{name}"')
        yield Elsewhere(name, tmp_path / "elsewhere")
        session.execute(drop)


def back_up(path: Path, **options: Any) -> str:
    output = io.StringIO()
    call_command("backup", str(path), stdout=output, **options)
    return output.getvalue()


def open_session(user: User) -> None:
    expire_date = timezone.now() + timedelta(days=1)
    UserSession.objects.create(session_key="s" * 32, user=user, expire_date=expire_date)


def manifest_of(path: Path) -> dict[str, Any]:
    with tarfile.open(path) as tar:
        stream = tar.extractfile("manifest.json")
        assert stream is not None
        return dict(json.load(stream))


def scores_of(run: Any, benchmark: str, rater: str, out: Path) -> dict[str, bytes]:
    run("scores", "--benchmark", benchmark, "--rater", rater, "--k", "1", "--out", str(out))
    return {path.name: path.read_bytes() for path in out.iterdir()}


def test_restores_scores_sign_ins_trail_and_files(study: Workshop, elsewhere: Elsewhere, tmp_path: Path) -> None:
    rater = f"group:{study.group.name}"
    path = tmp_path / "one.tar"
    before = scores_of(call_command, study.benchmark.slug, rater, tmp_path / "before")
    owner = User.objects.get(email="owner@example.org")
    open_session(owner)  # it may be ended after the backup
    token_of(owner)
    grant_key(name="EXAMPLE_API_KEY", benchmark=None, by=None, at=timezone.now())
    accounts = User.objects.filter(is_active=True).count()
    output = back_up(path, test_restore=True)
    assert "every table is the same" in output
    assert path.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in tmp_path.iterdir() if "part" in entry.name] == []
    with tarfile.open(path) as tar:
        assert "secret_key" not in tar.getnames()
    assert settings.SECRET_KEY.encode() not in path.read_bytes()

    restored = elsewhere.run("restore", str(path))
    assert restored.returncode == 0, restored.stdout + restored.stderr
    assert "Every table is as in the backup" in restored.stdout
    assert "No session is open: people sign in again" in restored.stdout
    assert f"check 1 API tokens, 1 grants of keys of endpoints, and {accounts} active accounts" in restored.stdout
    assert "SECRET_KEY was not in the file" in restored.stdout

    after = scores_of(elsewhere.run, study.benchmark.slug, rater, tmp_path / "after")
    assert before == after and len(after) > 1
    signs_in = elsewhere.run(
        *("shell", "--no-imports", "-c"),
        "from accounts.models import User; from tests.factories import PASSWORD; from django.conf import settings;"
        "settings.PASSWORD_HASHERS += ['django.contrib.auth.hashers.MD5PasswordHasher'];"
        "print(User.objects.get(email='owner@example.org').check_password(PASSWORD))",
    )
    assert signs_in.stdout.strip() == "True", signs_in.stderr
    file = elsewhere.home / "media" / Release.objects.get().archive.name
    assert file.read_bytes() == b"release" * 1000
    assert file.stat().st_mode & 0o777 == 0o600
    assert (elsewhere.home / "rule_endpoint.port").read_text() == "8123"
    with connection.cursor() as cursor, elsewhere.session() as session:
        trail = "SELECT md5(string_agg(t::text, ',' ORDER BY pgh_id)) FROM annotation_decisionevent t"
        cursor.execute(trail)
        row = session.execute(trail).fetchone()
        assert row == cursor.fetchone() and row != (None,)
        with pytest.raises(psycopg.errors.RaiseException):
            session.execute("DELETE FROM annotation_decisionevent")
        assert session.execute("SELECT count(*) FROM accounts_usersession").fetchone() == (0,)
        kinds = session.execute("SELECT kind FROM accounts_securityevent ORDER BY id DESC LIMIT 1").fetchone()
        assert kinds == ("backup_restored",)
    assert SecurityEvent.objects.filter(kind="backup_made").exists()
    assert Backup.objects.get().test_ok


def test_the_order_of_rows_is_that_of_code_points_on_every_server() -> None:
    # The embedded server knows no language: that the order is named is all that can be seen on it.
    with making.open_session() as session:
        keys = {name: key for name, key, _is_event in session.execute(contents.TABLES, [[*contents.WITHOUT_ROWS]])}
    assert keys["operations_partstate"] == 'name COLLATE "C"'
    assert keys["accounts_user"] == "id"
    assert not {"consilium_cache", "accounts_usersession"} & keys.keys()


def test_a_failure_after_the_data_came_in_says_that_it_is_there(
    study: Workshop, elsewhere: Elsewhere, tmp_path: Path
) -> None:
    path = tmp_path / "one.tar"
    back_up(path, with_secret_key=True)
    (elsewhere.home / "secret_key").mkdir(parents=True)
    elsewhere.environment["SECRET_KEY"] = settings.SECRET_KEY
    failed = elsewhere.run("restore", str(path))
    assert failed.returncode == 1
    assert "The data is in the database" in failed.stderr and "SECRET_KEY could not be written" in failed.stderr
    assert "Start nothing on it" in failed.stderr and f"empty the database {elsewhere.name}" in failed.stderr
    assert settings.SECRET_KEY not in failed.stdout + failed.stderr
    assert elsewhere.tables() > 100


def test_a_failure_to_record_the_restore_says_what_to_do(study: Workshop, elsewhere: Elsewhere, tmp_path: Path) -> None:
    path = tmp_path / "one.tar"
    with connection.cursor() as cursor:
        # A rule of the restored database is in the way of the last line.
        cursor.execute("ALTER TABLE accounts_securityevent ADD CONSTRAINT refuses CHECK (kind <> 'backup_restored')")
        try:
            back_up(path)
        finally:
            cursor.execute("ALTER TABLE accounts_securityevent DROP CONSTRAINT refuses")
    failed = elsewhere.run("restore", str(path))
    assert failed.returncode == 1
    assert "The data is in the database" in failed.stderr and "the restore could not be recorded" in failed.stderr
    assert "Start nothing on it" in failed.stderr and f"empty the database {elsewhere.name}" in failed.stderr
    assert "Traceback" not in failed.stderr


def test_no_session_opens_again_where_a_restore_is_killed(
    study: Workshop, elsewhere: Elsewhere, tmp_path: Path
) -> None:
    path = tmp_path / "one.tar"
    open_session(User.objects.get(email="owner@example.org"))
    back_up(path)
    command = [sys.executable, "manage.py", "restore", str(path)]
    with subprocess.Popen(command, cwd=ROOT, env=elsewhere.environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("Comparing"):
                break
        process.kill()
    assert process.returncode == -signal.SIGKILL
    with elsewhere.session() as session:
        row = session.execute("SELECT (SELECT count(*) FROM accounts_user), count(*) FROM accounts_usersession")
        assert row.fetchone() == (User.objects.count(), 0)
    again = elsewhere.run("restore", str(path))
    assert again.returncode == 1 and f"The database {elsewhere.name} is not empty" in again.stderr


def test_sessions_in_a_file_of_an_earlier_version_are_ended(
    study: Workshop, elsewhere: Elsewhere, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "one.tar"
    open_session(User.objects.get(email="owner@example.org"))
    monkeypatch.setattr(contents, "WITHOUT_ROWS", ("consilium_cache",))
    back_up(path)
    monkeypatch.undo()
    assert manifest_of(path)["tables"]["accounts_usersession"]["rows"] == 1
    restored = elsewhere.run("restore", str(path))
    assert restored.returncode == 0, restored.stdout + restored.stderr
    assert "the backup had" not in restored.stdout  # the digest of the accounts is without sessions
    with elsewhere.session() as session:
        assert session.execute("SELECT count(*) FROM accounts_usersession").fetchone() == (0,)


def test_the_secret_key_comes_only_if_asked_for(study: Workshop, elsewhere: Elsewhere, tmp_path: Path) -> None:
    path = tmp_path / "one.tar"
    back_up(path, with_secret_key=True)
    restored = elsewhere.run("restore", str(path))
    assert restored.returncode == 0, restored.stdout + restored.stderr
    key = elsewhere.home / "secret_key"
    assert key.read_text().strip() == settings.SECRET_KEY
    assert key.stat().st_mode & 0o777 == 0o600
    assert settings.SECRET_KEY not in restored.stdout + restored.stderr


def test_a_backup_made_while_people_work_is_of_one_moment(study: Workshop, tmp_path: Path) -> None:
    ended = threading.Event()
    rows = iter(study.queue()[1:])

    def work() -> None:
        try:
            while not ended.is_set():
                UserFactory()
                if (assignment := next(rows, None)) is not None:
                    decide(assignment, "met", "met", "met")
        finally:
            connection.close()

    worker = threading.Thread(target=work)
    worker.start()
    try:
        back_up(tmp_path / "one.tar")
        accounts_then = len(manifest_of(tmp_path / "one.tar")["tables"]), Decision.objects.count()
    finally:
        ended.set()
        worker.join()
    assert accounts_then[0] > 100
    assert restoring.try_restore(path=tmp_path / "one.tar", say=lambda _line: None) == []


def damaged(path: Path, how: str) -> Path:
    """A copy of a backup with one fault."""
    content = bytearray(path.read_bytes())
    with tarfile.open(path) as tar:
        members = {member.name: member for member in tar}
    target = path.with_name(f"{how}.tar")
    if how == "cut":
        content = content[: len(content) * 2 // 3]
    elif how == "dump":
        content[members["database.dump"].offset_data + 5000] ^= 1
    elif how == "manifest":
        at = members["manifest.json"].offset_data
        content[at : at + 20] = b"x" * 20
    elif how == "text":
        return Path(__file__)
    else:
        with tarfile.open(target, "w") as new, tarfile.open(path) as tar:
            for member in tar:
                new.addfile(member, tar.extractfile(member))
            extra = tarfile.TarInfo({"outside": "media/../../evil", "unknown": "evil", "extra": "media/more"}[how])
            new.addfile(extra)
        return target
    target.write_bytes(content)
    return target


def test_a_damaged_file_is_refused_and_nothing_is_restored(
    study: Workshop, elsewhere: Elsewhere, tmp_path: Path
) -> None:
    path = tmp_path / "one.tar"
    back_up(path)
    call_command("backup", str(path), check=True, stdout=io.StringIO())
    for how in ("cut", "dump", "manifest", "text", "outside", "unknown", "extra"):
        with pytest.raises(CommandError, match=r"damaged|no backup"):
            call_command("backup", str(damaged(path, how)), check=True, stdout=io.StringIO())
    refused = elsewhere.run("restore", str(damaged(path, "dump")))
    assert refused.returncode == 1
    assert "database.dump is not what the manifest says" in refused.stderr
    assert elsewhere.tables() == 0
    assert not (elsewhere.home / "media").exists()


def test_nothing_is_replaced(study: Workshop, elsewhere: Elsewhere, tmp_path: Path) -> None:
    path = tmp_path / "one.tar"
    back_up(path)
    content = path.read_bytes()
    with pytest.raises(CommandError, match="exists already"):
        back_up(path)
    assert path.read_bytes() == content
    with pytest.raises(CommandError, match="in the folder of uploaded files"):
        back_up(Path(settings.MEDIA_ROOT, "two.tar"))
    with pytest.raises(CommandError, match="no folder"):
        back_up(tmp_path / "nowhere" / "two.tar")
    # A slip of whoever typed the command is no failure of backups.
    assert Backup.objects.get().status == "done"
    assert not SecurityEvent.objects.filter(kind="backup_failed").exists()

    with elsewhere.session() as session:
        session.execute("CREATE TABLE theirs (id int)")
    refused = elsewhere.run("restore", str(path))
    assert refused.returncode == 1 and "is not empty: it has 1 tables" in refused.stderr
    with elsewhere.session() as session:
        session.execute("DROP TABLE theirs")
    (elsewhere.home / "media").mkdir()
    (elsewhere.home / "media" / "theirs").write_text("x")
    refused = elsewhere.run("restore", str(path))
    assert refused.returncode == 1 and "media is not empty" in refused.stderr
    assert elsewhere.tables() == 0


def test_a_restore_that_fails_leaves_the_place_empty(study: Workshop, elsewhere: Elsewhere, tmp_path: Path) -> None:
    path = tmp_path / "one.tar"
    back_up(path)
    with elsewhere.session() as session:
        session.execute("CREATE FUNCTION pg_temp_blocks() RETURNS int LANGUAGE sql AS 'SELECT 1'")
        # A type of this name is in the way of the table, and is no table itself.
        session.execute("CREATE TYPE rubrics_benchmark AS ENUM ('a')")
    refused = elsewhere.run("restore", str(path))
    assert refused.returncode == 1
    assert "pg_restore failed, and nothing was restored" in refused.stderr
    assert elsewhere.tables() == 0
    assert not any(file.is_file() for file in (elsewhere.home / "media").rglob("*"))


def test_versions(study: Workshop, elsewhere: Elsewhere, tmp_path: Path) -> None:
    # Made by a newer version: a migration that is not here.
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO django_migrations (app, name, applied) VALUES ('rubrics', '9999_from_the_future', now())"
        )
        back_up(tmp_path / "newer.tar")
        cursor.execute("DELETE FROM django_migrations WHERE name = '9999_from_the_future'")
    refused = elsewhere.run("restore", str(tmp_path / "newer.tar"))
    assert refused.returncode == 1
    assert "newer version" in refused.stderr and "rubrics.9999_from_the_future" in refused.stderr
    assert elsewhere.tables() == 0

    # Made by an older one: the table of beat is not there yet, and the migrations that follow make it.
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE consilium_beatheartbeat")
        cursor.execute("DELETE FROM django_migrations WHERE name = '0003_beat_heartbeat'")
    try:
        back_up(tmp_path / "older.tar")
    finally:
        call_command("migrate", "consilium", verbosity=0)
    restored = elsewhere.run("restore", str(tmp_path / "older.tar"))
    assert restored.returncode == 0, restored.stdout + restored.stderr
    with elsewhere.session() as session:
        assert session.execute("SELECT to_regclass('consilium_beatheartbeat') IS NOT NULL").fetchone() == (True,)


def test_programs_that_are_missing_or_too_old_are_named(
    study: Workshop, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "old"
    old.mkdir()
    for name in ("pg_dump", "pg_restore"):
        (old / name).write_text("#!/bin/sh\necho 'pg_dump (PostgreSQL) 14.9'\n")
        (old / name).chmod(0o755)
    embedded = Path(settings.EMBEDDED_PG_BIN)
    monkeypatch.setenv("PATH", str(old))
    monkeypatch.setattr(programs, "VERSIONS", tmp_path / "none")
    assert programs.fitting_programs(at_least=14).folder == old  # the nearest version
    assert programs.fitting_programs(at_least=15).folder == embedded
    settings.PG_BIN = str(embedded)
    assert programs.fitting_programs(at_least=14).folder == embedded  # what the operator names
    settings.PG_BIN = settings.EMBEDDED_PG_BIN = ""
    monkeypatch.setattr(programs, "VERSIONS", tmp_path / "none")
    with pytest.raises(CommandError, match=r"only version 14 in .*old, and version \d\d or newer is needed"):
        back_up(tmp_path / "one.tar")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CommandError, match="There is no pg_dump on this machine"):
        back_up(tmp_path / "one.tar")
    assert not (tmp_path / "one.tar").exists()


def test_a_full_disk_is_named_first(study: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free = making.shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(making.shutil, "disk_usage", lambda _folder: free)
    with pytest.raises(CommandError, match="0 MB free, and the backup may need"):
        back_up(tmp_path / "one.tar")
    assert list(tmp_path.iterdir()) == []
