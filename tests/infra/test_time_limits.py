"""PostgreSQL ends what takes or waits too long in a web request; the answer is 503, and says to try again."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

import psycopg
import pytest
from django.db import connection
from django.test import Client

from consilium.time_limits import with_time
from tests.factories import BenchmarkFactory, UserFactory
from tests.processes import ROOT, web_server

SHOW = """
import json
from django.db import connection
names = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "search_path")
with connection.cursor() as cursor:
    print(json.dumps([cursor.execute(f"SHOW {name}").fetchone()[0] for name in names]))
"""


def limits_of(environment: dict[str, str], *, before: str = "") -> list[str]:
    """The limits of a connection that a process of the product makes."""
    program = f"import django; django.setup()\n{before}\n{SHOW}"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    return list(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.slow
def test_web_requests_have_limits_workers_one_and_commands_none(process_environment: dict[str, str]) -> None:
    web = {**process_environment, "CONSILIUM_WEB": "1"}
    assert limits_of(web)[:3] == ["20s", "5s", "1min"]
    assert limits_of(process_environment)[:3] == ["0", "0", "0"]
    worker = "from celery.signals import celeryd_init\nimport config.celery\nceleryd_init.send(sender='w')"
    assert limits_of(process_environment, before=worker)[:3] == ["0", "10min", "0"]


@pytest.mark.slow
def test_options_of_the_address_are_kept_and_win(process_environment: dict[str, str]) -> None:
    address = process_environment["DATABASE_URL"]
    mark = "&" if "?" in address else "?"
    options = quote("-c search_path=elsewhere -c lock_timeout=7000")
    web = {**process_environment, "CONSILIUM_WEB": "1", "DATABASE_URL": f"{address}{mark}options={options}"}
    assert limits_of(web) == ["20s", "7s", "1min", "elsewhere"]


@contextmanager
def locked(table: str) -> Iterator[None]:
    """Another connection holds a table."""
    parameters: Any = {**connection.get_connection_params(), "cursor_factory": psycopg.Cursor}
    parameters.pop("context", None)
    with psycopg.connect(**parameters) as other:
        other.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
        yield


@pytest.fixture
def staff(transactional_db: None) -> Client:
    benchmark = BenchmarkFactory(slug="study")
    user = UserFactory()
    benchmark.roles.create(user=user, role="admin")
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client


@pytest.fixture(params=["statement_timeout", "lock_timeout"])
def limit(request: pytest.FixtureRequest, transactional_db: None) -> Iterator[str]:
    with connection.cursor() as cursor:
        cursor.execute(f"SET {request.param} = '100ms'")
    yield request.param
    with connection.cursor() as cursor:
        cursor.execute(f"RESET {request.param}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "headers", "kind"),
    [
        ("/b/study/judges/", {}, "text/html"),
        ("/b/study/judges/", {"HX-Request": "true"}, "text/plain"),
        ("/b/study/judges/", {"Accept": "application/json"}, "application/json"),
        ("/api/v1/benchmarks/study/judges/", {}, "application/json"),
    ],
)
def test_a_statement_that_is_ended_is_answered_503(
    staff: Client, limit: str, path: str, headers: dict[str, str], kind: str
) -> None:
    assert staff.get(path, headers=headers).status_code == 200
    with locked("scoring_judge"):
        answer = staff.get(path, headers=headers)
    assert answer.status_code == 503
    assert answer["Retry-After"] == "5"
    assert answer["Content-Type"].startswith(kind)
    assert "Try again in a moment." in answer.content.decode()
    assert staff.get(path, headers=headers).status_code == 200


@pytest.mark.django_db
def test_a_download_has_longer_and_leaves_the_limit_as_it_was() -> None:
    def limit() -> bytes:
        with connection.cursor() as cursor:
            cursor.execute("SHOW statement_timeout")
            return str(cursor.fetchone()[0]).encode()

    def rows() -> Iterator[bytes]:
        yield limit()
        raise GeneratorExit

    before = limit()
    assert list(with_time(iter([b"a"]))) == [b"a"]
    pieces = with_time(rows())
    assert next(pieces) == b"10min"
    pieces.close()  # type: ignore[attr-defined]
    assert limit() == before


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_running_web_server_ends_a_wait_and_goes_on(
    process_environment: dict[str, str], tmp_path: Any, settings: Any
) -> None:
    import http.client

    settings.SESSION_ENGINE = "django.contrib.sessions.backends.db"
    user = UserFactory()
    BenchmarkFactory(slug="study").roles.create(user=user, role="admin")
    client = Client()
    client.force_login(user)
    cookie = f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"
    folder = tmp_path / "bodies"
    folder.mkdir()
    with web_server(process_environment, folder) as port:

        def status() -> int:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            connection.request("GET", "/b/study/judges/", headers={"Cookie": cookie, "Host": f"localhost:{port}"})
            return connection.getresponse().status

        assert status() == 200
        with locked("scoring_judge"):
            assert status() == 503
        assert status() == 200
