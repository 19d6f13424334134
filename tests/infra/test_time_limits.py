"""PostgreSQL ends what takes or waits too long in a web request; the answer is 503, and says to try again."""

from __future__ import annotations

import contextlib
import http.client
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any
from urllib.parse import quote

import psycopg
import pytest
from django.contrib.auth import SESSION_KEY
from django.db import connection, transaction
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path as route
from django.views.decorators.csrf import csrf_exempt

from accounts.models import User
from consilium.core.locks import RowLock, lock_exclusive_within
from consilium.time_limits import with_time
from tests.factories import BenchmarkFactory, UserFactory, token_of
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
def locked(table: str, mode: str = "ACCESS EXCLUSIVE") -> Iterator[None]:
    """Another connection holds a table."""
    parameters: Any = {**connection.get_connection_params(), "cursor_factory": psycopg.Cursor}
    parameters.pop("context", None)
    with psycopg.connect(**parameters) as other:
        other.execute(f"LOCK TABLE {table} IN {mode} MODE")
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


@pytest.fixture
def stored(staff: Client, settings: Any) -> Client:
    """Somebody with a session in the database, as on a server."""
    user = User.objects.get(pk=staff.session[SESSION_KEY])
    settings.SESSION_ENGINE = "accounts.sessions"
    staff.cookies.clear()
    staff.force_login(user)
    return staff


KINDS = [
    ({}, "text/html"),
    ({"HX-Request": "true"}, "text/plain"),
    ({"Accept": "application/json"}, "application/json"),
]
NOTHING_SAVED, SEE = "Nothing was saved. Try again in a moment.", "See whether your change was saved, then try again."


@pytest.mark.slow
@pytest.mark.parametrize(("headers", "kind"), KINDS)
@pytest.mark.parametrize(
    ("table", "mode", "path", "length", "text"),
    [
        # The session is read, its reader is, and the benchmark, whose import a long body would be.
        ("accounts_usersession", "ACCESS EXCLUSIVE", "/profile/", 0, NOTHING_SAVED),
        ("accounts_user", "ACCESS EXCLUSIVE", "/profile/", 0, NOTHING_SAVED),
        ("rubrics_benchmark", "ACCESS EXCLUSIVE", "/b/study/imports/", 5_000_000, NOTHING_SAVED),
        # The session is saved.
        ("accounts_usersession", "SHARE", "/profile/second-step/?next=/profile/", 0, SEE),
    ],
)
def test_a_middleware_whose_statement_is_ended_is_answered_503(
    stored: Client, table: str, mode: str, path: str, length: int, text: str, headers: dict[str, str], kind: str
) -> None:
    def ask() -> Any:
        if length:
            body = {"data": b"", "content_type": "multipart/form-data; boundary=b", "CONTENT_LENGTH": str(length)}
            return stored.post(path, headers=headers, **body)
        return stored.get(path, headers=headers)

    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '100ms'")
    try:
        with locked(table, mode):
            answer = ask()
    finally:
        with connection.cursor() as cursor:
            cursor.execute("RESET lock_timeout")
    assert answer.status_code == 503
    assert answer["Retry-After"] == "5"
    assert answer["Content-Type"].startswith(kind)
    assert text in answer.content.decode()
    assert ask().status_code < 500


def idle(_request: HttpRequest) -> HttpResponse:
    """A view whose transaction does nothing for a while."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL idle_in_transaction_session_timeout = '50ms'")
        time.sleep(0.5)
        cursor.execute("SELECT 1")
    return HttpResponse("done")


def run_into_a_limit() -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = '50ms'")
        cursor.execute("SELECT pg_sleep(1)")


def writing(request: HttpRequest, when: str) -> HttpResponse:
    """A view that changes an account, and runs into a limit before or after this is committed."""
    person = User.objects.get()
    person.name = "Changed"
    if when == "after a transaction":
        with transaction.atomic():
            User.objects.select_for_update().get()
            person.save()
    elif when == "after a statement":
        person.save()
    elif when == "within the transaction":
        with transaction.atomic():
            person.save()
            run_into_a_limit()
    elif when == "after a savepoint that was taken back":
        with transaction.atomic(), contextlib.suppress(ZeroDivisionError), transaction.atomic():
            person.save()
            _ = 1 / 0
    elif when == "after locks":
        with transaction.atomic():
            User.objects.select_for_update().get()
            User.objects.select_for_update(no_key=True).get()
    run_into_a_limit()
    return HttpResponse("done")


urlpatterns = [route("idle/", idle), route("writing/<str:when>/", csrf_exempt(writing))]


@pytest.mark.slow
@pytest.mark.urls(__name__)
@pytest.mark.parametrize(("headers", "kind"), KINDS)
def test_an_idle_transaction_that_is_ended_is_answered_503(
    transactional_db: None, headers: dict[str, str], kind: str
) -> None:
    answer = Client(raise_request_exception=False).get("/idle/", headers=headers)
    assert answer.status_code == 503
    assert answer["Content-Type"].startswith(kind)
    assert NOTHING_SAVED in answer.content.decode()


@pytest.mark.slow
@pytest.mark.urls(__name__)
@pytest.mark.parametrize(
    ("when", "is_saved"),
    [
        ("after a transaction", True),
        ("after a statement", True),
        ("within the transaction", False),
        ("after a savepoint that was taken back", False),
        ("after locks", False),
        ("before", False),
    ],
)
def test_the_answer_denies_a_save_only_where_there_was_none(transactional_db: None, when: str, is_saved: bool) -> None:
    UserFactory(name="Former")
    client = Client(raise_request_exception=False)
    answer = client.post(f"/writing/{when}/", headers={"Accept": "application/json"})
    assert answer.status_code == 503
    assert User.objects.get().name == ("Changed" if is_saved else "Former")
    assert answer.json()["detail"].endswith(SEE if is_saved else NOTHING_SAVED)


@pytest.mark.slow
def test_the_answer_does_not_deny_a_deactivation_that_was_committed(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(*arguments: Any) -> Any:
        run_into_a_limit()

    operator, person = UserFactory(is_superuser=True), UserFactory()
    client = Client(raise_request_exception=False)
    headers = {"Authorization": f"Token {token_of(operator)}"}
    monkeypatch.setattr("operations.selectors.accounts.rows_of", slow)  # what reads the account again for the answer
    body = {"email": person.email, "reason": "left"}
    answer = client.post("/api/v1/accounts/deactivate/", body, content_type="application/json", headers=headers)
    person.refresh_from_db()
    assert (answer.status_code, person.is_active) == (503, False)
    assert answer.json()["detail"].endswith(SEE)


@pytest.mark.django_db
def test_a_lock_with_a_limit_of_its_own_leaves_that_of_the_transaction() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL lock_timeout = '7s'")
        assert lock_exclusive_within(RowLock.IMPORT, 1, seconds=2)
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone()[0] == "7s"


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
    settings.SESSION_ENGINE = "accounts.sessions"
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


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_request_for_which_no_connection_is_free_is_answered_503(
    process_environment: dict[str, str], tmp_path: Any, settings: Any
) -> None:
    settings.SESSION_ENGINE = "accounts.sessions"
    user = UserFactory()
    BenchmarkFactory(slug="study").roles.create(user=user, role="admin")
    client = Client()
    client.force_login(user)
    cookie = f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"
    address = process_environment["DATABASE_URL"]
    options = quote("-c lock_timeout=60000 -c statement_timeout=60000")
    environment = {
        **process_environment,
        "DATABASE_URL": f"{address}{'&' if '?' in address else '?'}options={options}",
        "WEB_PROCESSES": "1",
    }
    folder = tmp_path / "bodies"
    folder.mkdir()
    with web_server(environment, folder) as port:

        def ask(path: str, **headers: str) -> tuple[int, str]:
            with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=100)) as site:
                site.request("GET", path, headers={"Host": f"localhost:{port}", **headers})
                answer = site.getresponse()
                return answer.status, answer.read().decode()

        assert ask("/healthz")[0] == 200
        waiting = [
            threading.Thread(target=ask, args=("/b/study/judges/",), kwargs={"Cookie": cookie}) for _number in range(10)
        ]
        with locked("scoring_judge"):
            for thread in waiting:
                thread.start()
            time.sleep(4)
            status, text = ask("/healthz", Accept="application/json")
        for thread in waiting:
            thread.join()
        assert (status, json.loads(text)["detail"].endswith(NOTHING_SAVED)) == (503, True)
        assert ask("/healthz")[0] == 200
