"""`manage.py status` and `manage.py doctor`, also where there is no database."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from consilium.core.heartbeat import WorkerHeartbeat
from operations.models import PartState
from tests.factories import BenchmarkFactory
from tests.operations.server_state import be_well
from tests.processes import ROOT


def run(command: str, *arguments: str) -> tuple[int, str]:
    """Exit code and output."""
    output = StringIO()
    try:
        call_command(command, *arguments, stdout=output)
    except SystemExit as end:
        return int(end.code or 0), output.getvalue()
    return 0, output.getvalue()


def line_of(output: str, label: str) -> str:
    """The line of a check, and the advice below it."""
    lines = output.splitlines()
    number = next(number for number, line in enumerate(lines) if line[9:].startswith(f"{label} "))
    following = lines[number + 1] if number + 1 < len(lines) and "→" in lines[number + 1] else ""
    return " ".join(f"{lines[number]} {following}".split())


@pytest.mark.django_db
def test_status_names_each_part_and_ends_with_1_where_one_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    be_well()
    code, output = run("status")
    assert code == 0
    assert line_of(output, "Worker").startswith("ok Worker 1 worker is at work. (since 20")
    code, output = run("status", "--json")
    assert code == 0
    assert json.loads(output)["parts"]["beat"]["state"] == "ok"
    WorkerHeartbeat.objects.all().delete()
    code, output = run("status")
    assert code == 1
    assert "failed Worker No worker has been seen." in line_of(output, "Worker")
    assert json.loads(run("status", "--json")[1])["state"] == "failed"


@pytest.mark.django_db
def test_status_and_doctor_store_nothing() -> None:
    be_well()
    long_ago = datetime(2026, 3, 4, 2, 30, tzinfo=UTC)
    PartState.objects.create(name="worker", state="failed", since=long_ago)
    PartState.objects.create(name="migrations", state="ok", since=long_ago)
    stored = list(PartState.objects.order_by("name").values())
    _code, output = run("status")
    assert "(since 2026-03-04 02:30:00 UTC)" in line_of(output, "Migrations")
    assert "2026-03-04" not in line_of(output, "Worker"), "it is in another state"
    run("doctor")
    assert list(PartState.objects.order_by("name").values()) == stored


@pytest.mark.slow
@pytest.mark.parametrize("command", ["status", "doctor"])
@pytest.mark.parametrize("database", ["", "postgres://nobody@127.0.0.1:1/none"])
def test_without_a_database_both_say_so_and_start_none(command: str, database: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", command],
        cwd=ROOT,
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATABASE_URL": database,
            "CONSILIUM_HOME": str(tmp_path),
            "PORT": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert line_of(done.stdout, "Database").startswith("failed Database The database does not answer: ")
    assert line_of(done.stdout, "Broker").startswith("failed Broker The broker takes no messages: ")
    assert "Not known while the database does not answer." in line_of(done.stdout, "Worker")
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "postgres").exists()
    if command == "doctor":
        assert line_of(done.stdout, "Web server").startswith("failed Web server The web server does not answer at ")


# What `doctor` finds ----------------------------------------------------------------------------------------------


@pytest.fixture
def whole(db: None, settings: Any, tmp_path: Path) -> Any:
    """Settings of an installation with nothing to say against, but for web and mail."""
    be_well()
    settings.ALLOWED_HOSTS = ["localhost"]
    settings.CONSILIUM_HOME, settings.MEDIA_ROOT = tmp_path / "home", tmp_path / "home" / "media"
    settings.MEDIA_ROOT.mkdir(parents=True)
    settings.BIND, settings.SITE_URL, settings.BEHIND_PROXY, settings.HTTPS = "127.0.0.1", "", False, False
    settings.JUDGE_ALLOWED_HOSTS = []
    settings.SECRET_KEY = "".join(chr(33 + number) for number in range(60))
    return settings


def finding(label: str) -> str:
    return line_of(run("doctor")[1], label)


def test_the_usual_installation_on_one_machine(whole: Any) -> None:
    output = run("doctor")[1]
    for label in ("Database", "Worker", "Broker", "Versions", "Clock", "SECRET_KEY", "File permissions", "Address",
                  "Hosts of judges", "Demo", "Installation"):  # fmt: skip
        assert line_of(output, label).startswith("ok "), line_of(output, label)
    assert "PostgreSQL 1" in line_of(output, "Versions")


@pytest.mark.parametrize("key", ["short-but-of-many-characters", "ab" * 40, "django-insecure-" + "abcdefghij" * 5])
def test_a_weak_key(whole: Any, key: str) -> None:
    whole.SECRET_KEY = key
    assert finding("SECRET_KEY").startswith("failed SECRET_KEY SECRET_KEY is short or easy to guess. → Set SECRET_KEY")
    assert run("doctor")[0] == 1


def test_files_that_others_can_read(whole: Any) -> None:
    log = Path(whole.CONSILIUM_HOME, "logs", "web.log")
    log.parent.mkdir()
    log.write_text("a line")
    log.chmod(0o644)
    public = Path(whole.CONSILIUM_HOME, "static", "a.css")
    public.parent.mkdir()
    public.write_text("")
    for folder in (log.parent, public.parent, whole.CONSILIUM_HOME):
        folder.chmod(0o755)
    assert finding("File permissions").startswith(
        f"warning File permissions Every user of the machine can read {log}. → Run: chmod -R o-rw"
    )
    log.parent.chmod(0o700)
    assert finding("File permissions").startswith("ok ")
    key = Path(whole.CONSILIUM_HOME, "secret_key")
    key.write_text("x")
    key.chmod(0o604)
    assert finding("File permissions").startswith("failed File permissions")
    Path(whole.CONSILIUM_HOME).chmod(0o700)
    assert finding("File permissions").startswith("ok ")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"BIND": "0.0.0.0"}, "failed Address SITE_URL is not set"),  # noqa: S104
        ({"BIND": "192.0.2.7"}, "failed Address SITE_URL is not set"),
        ({"SITE_URL": "http://study.example.org"}, "failed Address http://study.example.org is not HTTPS"),
        ({"SITE_URL": "http://localhost:8000"}, "ok Address The site answers on this machine only."),
        ({"SITE_URL": "https://study.example.org", "HTTPS": True}, "warning Address BEHIND_PROXY is off"),
        (
            {"SITE_URL": "https://study.example.org", "HTTPS": True, "BEHIND_PROXY": True},
            "ok Address https://study.example.org, behind a proxy.",
        ),
        (
            {"SITE_URL": "https://a.org", "HTTPS": True, "BEHIND_PROXY": True, "ALLOWED_HOSTS": ["*"]},
            "warning Address ALLOWED_HOSTS has *",
        ),
    ],
)
def test_addresses_that_do_not_fit(whole: Any, values: dict[str, Any], expected: str) -> None:
    for name, value in values.items():
        setattr(whole, name, value)
    assert finding("Address").startswith(expected)


def test_the_demo_on_an_address_that_others_reach(whole: Any) -> None:
    BenchmarkFactory(is_demo=True)
    assert finding("Demo").startswith("ok ")
    whole.SITE_URL = "https://study.example.org"
    assert finding("Demo").startswith("failed Demo The demo is loaded, and its accounts have published passwords. →")


def test_hosts_of_judges(whole: Any) -> None:
    whole.JUDGE_ALLOWED_HOSTS = ["127.0.0.1:9", "localhost:8123"]
    assert finding("Hosts of judges").startswith("ok ")
    whole.JUDGE_ALLOWED_HOSTS = ["no-such-host.invalid:443"]
    assert finding("Hosts of judges").startswith("warning Hosts of judges No address is known of no-such-host.invalid")


def test_debug_is_for_development_alone(whole: Any) -> None:
    whole.DEBUG = True
    assert finding("Installation").startswith("failed Installation DEBUG is on")


class MailServer:
    """A mail server that notes what it is told; it takes one password."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while True:
            try:
                connection, _address = self._socket.accept()
            except OSError:
                return
            with connection, connection.makefile("rwb") as stream:
                self._answer(stream, b"220 here\r\n")
                for line in stream:
                    self.lines.append(line.decode().strip())
                    word = self.lines[-1].split()[0].upper()
                    if word == "EHLO":
                        self._answer(stream, b"250-here\r\n250 AUTH PLAIN\r\n")
                    elif word == "AUTH":
                        is_right = self.lines[-1].endswith("AHVzZXIAcmlnaHQ=")  # NUL user NUL right
                        self._answer(stream, b"235 ok\r\n" if is_right else b"535 no\r\n")
                    else:
                        self._answer(stream, b"221 bye\r\n" if word == "QUIT" else b"250 ok\r\n")
                    if word == "QUIT":
                        break

    @staticmethod
    def _answer(stream: Any, line: bytes) -> None:
        stream.write(line)
        stream.flush()

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def mail_server() -> Iterator[MailServer]:
    server = MailServer()
    yield server
    server.close()


def test_the_mail_server_is_asked_and_gets_no_mail(whole: Any, mail_server: MailServer) -> None:
    whole.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    whole.EMAIL_HOST, whole.EMAIL_PORT = "127.0.0.1", mail_server.port
    whole.EMAIL_HOST_USER, whole.EMAIL_HOST_PASSWORD = "user", "right"
    assert finding("Mail server") == f"ok Mail server The mail server 127.0.0.1:{mail_server.port} takes the login."
    assert [line.split()[0].upper() for line in mail_server.lines] == ["EHLO", "AUTH", "NOOP", "QUIT"]
    whole.EMAIL_HOST_PASSWORD = "wrong"
    refusal = finding("Mail server")
    assert refusal.startswith(f"failed Mail server The mail server 127.0.0.1:{mail_server.port} refuses: (535, b'no')")
    assert "wrong" not in refusal
    mail_server.close()
    whole.EMAIL_PORT = 1
    assert "refuses: [Errno 111]" in finding("Mail server")
