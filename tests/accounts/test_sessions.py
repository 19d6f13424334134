"""Sessions in the database, as everybody's browser has one."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from importlib import import_module
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine
from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value, yield_hotp_counters_from_time
from django.apps import apps
from django.contrib.auth import SESSION_KEY
from django.core import mail as django_mail
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import KnownDevice, Notification, SecurityEvent, User, UserSession
from accounts.notices import words_of
from accounts.services.notifications import settings_of
from accounts.services.passwords import password_link
from accounts.services.sessions import end_idle_session
from accounts.sessions import SessionStore as Engine
from accounts.tasks import mail_at_once
from tests.factories import PASSWORD, BenchmarkFactory, UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _in_the_database(settings) -> None:
    settings.SESSION_ENGINE = "accounts.sessions"


@pytest.mark.slow
def test_a_session_holds_until_it_expires_or_is_ended(client: Client, settings: Any) -> None:
    settings.SESSION_IDLE_MINUTES = 0
    client.force_login(UserFactory())
    row = UserSession.objects.get()
    assert client.get("/").status_code == 200
    with time_machine.travel(row.expire_date - timedelta(minutes=1)):
        assert client.get("/").status_code == 200
    with time_machine.travel(row.expire_date + timedelta(minutes=1)):
        assert client.get("/").status_code == 302
    client.force_login(UserFactory())
    assert client.get("/").status_code == 200
    UserSession.objects.all().delete()
    assert client.get("/").status_code == 302


def test_of_two_sessions_each_knows_its_own_reader() -> None:
    clients = [Client(), Client()]
    for number, client in enumerate(clients):
        client.force_login(UserFactory(name=f"Reader {number}"))
    for number, client in enumerate(clients):
        page = client.get("/").content.decode()
        assert f"Reader {number}" in page and f"Reader {1 - number}" not in page


def test_a_key_that_nobody_has_is_no_session(client: Client) -> None:
    client.cookies["sessionid"] = "x" * 32
    assert client.get("/").status_code == 302
    UserSession.objects.create(
        session_key="y" * 32, session_data="not signed", expire_date=timezone.now() + timedelta(1)
    )
    client.cookies["sessionid"] = "y" * 32
    assert client.get("/").status_code == 302


# The page of one's own sessions ---------------------------------------------------------------------------------------

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
EDGE = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 "
    "Safari/537.36 Edg/141.0.0.0"
)
SAFARI = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 "
    "Mobile/15E148 Safari/604.1"
)
SESSIONS = "/profile/sessions/"


def browser(user: User | None = None, user_agent: str = FIREFOX, address: str = "203.0.113.9") -> Client:
    """A browser, in which ``user`` has signed in by their password."""
    client = Client(REMOTE_ADDR=address, headers={"User-Agent": user_agent})
    if user is not None:
        sign_in(client, user)
    return client


def sign_in(client: Client, user: User) -> None:
    answer = client.post("/accounts/login/", {"login": user.email, "password": PASSWORD})
    assert answer.status_code == 302
    assert is_signed_in(client)


def is_signed_in(client: Client) -> bool:
    return bool(client.get("/session").json()["signed_in"])


def rows(client: Client) -> list[str]:
    """The text of each row of the table of sessions."""
    page = client.get(SESSIONS).content.decode()
    table = page[page.index("<tbody>") : page.index("</tbody>")]
    return [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in table.split("</tr>")[:-1]]


@pytest.fixture
def ana() -> User:
    return UserFactory(email="ana@example.org", name="Ana")


@pytest.mark.slow
def test_people_see_their_own_sessions_in_words_and_end_one(ana: User) -> None:
    other = browser(UserFactory(email="bo@example.org"))
    with time_machine.travel(datetime(2026, 3, 1, 9, tzinfo=UTC)):
        old = browser(ana, EDGE, "198.51.100.7")
    with time_machine.travel(datetime(2026, 3, 1, 10, tzinfo=UTC)):
        here = browser(ana)
        first, second = rows(here)
        assert "Firefox on Linux 203.0.113.9" in first and "this device" in first and "Password" in first
        assert "Edge on Windows 198.51.100.7" in second and "this device" not in second
        page = here.get(SESSIONS).content.decode()
        keys = UserSession.objects.values_list("session_key", flat=True)
        assert not [key for key in keys if key in page], "whoever reads the page must not get the cookies"
        [number] = re.findall(r'name="session" value="([0-9a-f]+)"', page)
        assert other.post(SESSIONS, {"session": number}).status_code == 404, "somebody else's"
        assert here.post(SESSIONS, {"session": number}).status_code == 302
        assert not is_signed_in(old)
        assert is_signed_in(here) and len(rows(here)) == 1
        event = SecurityEvent.objects.get(kind="session_ended")
        assert (event.user, event.by, event.values) == (ana, ana, {"number": 1})


@pytest.mark.slow
def test_all_other_sessions_end_together_and_those_of_others_stay(ana: User) -> None:
    here, *others = [browser(ana) for _ in range(4)]
    stranger = browser(UserFactory(email="bo@example.org"))
    page = here.post(SESSIONS, {"others": "1"}, follow=True).content.decode()
    assert "3 sessions were ended." in page
    assert [is_signed_in(client) for client in others] == [False] * 3
    assert is_signed_in(here) and is_signed_in(stranger)
    assert "End all other sessions" not in here.get(SESSIONS).content.decode()
    here.post(SESSIONS, {"others": "1"})
    assert SecurityEvent.objects.filter(kind="session_ended").count() == 1, "nothing ended, nothing logged"


@pytest.mark.slow
def test_a_new_password_ends_the_other_sessions(ana: User) -> None:
    here, other = browser(ana), browser(ana, SAFARI)
    assert ["Safari on iPhone" in row for row in rows(here)] == [False, True]
    new = "quiet harbour lamp 71"
    here.post("/accounts/password/change/", {"oldpassword": PASSWORD, "password1": new, "password2": new})
    [row] = rows(here)
    assert "Firefox on Linux" in row and "this device" in row, "the session keeps its facts under its new key"
    assert not is_signed_in(other)


@pytest.mark.slow
def test_a_link_and_a_second_step_are_named_as_such(ana: User) -> None:
    here = browser(ana)
    ana.refresh_from_db()  # the link depends on the last sign-in
    link = password_link(user=ana)
    other = browser()
    form = other.get(urlsplit(link).path, follow=True).request["PATH_INFO"]
    other.post(form, {"password1": "quiet harbour lamp 71", "password2": "quiet harbour lamp 71"}, follow=True)
    assert is_signed_in(other) and not is_signed_in(here)
    [row] = rows(other)
    assert "Link" in row
    Authenticator.objects.create(user=ana, type="totp", data={"secret": get_adapter().encrypt("JBSWY3DPEHPK3PXP")})
    third = browser()
    third.post("/accounts/login/", {"login": ana.email, "password": "quiet harbour lamp 71"})
    code = format_hotp_value(hotp_value("JBSWY3DPEHPK3PXP", next(yield_hotp_counters_from_time())))
    third.post("/accounts/2fa/authenticate/", {"code": code})
    assert "Password and second step" in rows(third)[0]


def test_the_columns_of_a_session_follow_its_data(ana: User) -> None:
    client = browser(ana)
    row = UserSession.objects.get()
    assert row.user == ana
    client.post("/accounts/logout/")
    assert not UserSession.objects.filter(user=ana).exists()


# How sessions end -----------------------------------------------------------------------------------------------------

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
SCRIPT = {"Sec-Fetch-Dest": "empty"}
HTMX = {"HX-Request": "true"}


@pytest.mark.slow
def test_a_session_that_nobody_uses_ends_and_that_is_logged(ana: User, settings: Any) -> None:
    settings.SESSION_IDLE_MINUTES = 60
    with time_machine.travel(START, tick=False) as clock:
        client = browser(ana)
        for _hour in range(3):
            clock.shift(timedelta(minutes=59))
            assert client.get("/profile/").status_code == 200
        clock.shift(timedelta(minutes=60))
        answer = client.get("/profile/")
        assert (answer.status_code, answer["Location"]) == (302, "/accounts/login/?next=/profile/")
        event = SecurityEvent.objects.get(kind="session_timed_out")
        assert (event.user, event.at) == (ana, START + timedelta(hours=3, minutes=57))
        assert not UserSession.objects.exists()
        assert client.get("/profile/", headers=HTMX).status_code == 401, "what a page needs to open its dialog"


@pytest.mark.slow
@pytest.mark.parametrize("headers", [SCRIPT, HTMX])
def test_a_page_that_only_asks_again_keeps_no_session_alive(ana: User, settings: Any, headers: dict[str, str]) -> None:
    settings.SESSION_IDLE_MINUTES = 60
    with time_machine.travel(START, tick=False) as clock:
        client = browser(ana)
        for _minute in range(9):
            clock.shift(timedelta(minutes=6))
            assert client.get("/session", headers=headers).json()["signed_in"]
        clock.shift(timedelta(minutes=6))
        assert not client.get("/session", headers=headers).json()["signed_in"]


@pytest.mark.slow
def test_a_write_of_a_script_keeps_the_session_alive(ana: User, settings: Any) -> None:
    settings.SESSION_IDLE_MINUTES = 60
    with time_machine.travel(START, tick=False) as clock:
        client = browser(ana)
        clock.shift(timedelta(minutes=50))
        client.post("/notifications/read/", headers=SCRIPT)
        clock.shift(timedelta(minutes=50))
        assert is_signed_in(client)


@pytest.mark.slow
def test_the_use_of_a_session_is_written_once_in_five_minutes(ana: User) -> None:
    with time_machine.travel(START, tick=False) as clock:
        client = browser(ana)
        writes = []
        for _request in range(11):
            clock.shift(timedelta(minutes=1))
            with CaptureQueriesContext(connection) as queries:
                client.post("/notifications/read/")
            writes.append(sum("UPDATE" in query["sql"] and "usersession" in query["sql"] for query in queries))
        assert writes == [0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0]


@pytest.mark.slow
def test_no_use_makes_a_session_older_than_its_limit(ana: User, settings: Any) -> None:
    settings.SESSION_IDLE_MINUTES = 0
    with time_machine.travel(START, tick=False) as clock:
        client = browser(ana)
        for _day in range(13):
            clock.shift(timedelta(days=1))
            client.post("/accounts/reauthenticate/", {"password": PASSWORD})
            assert "reauthenticated" in str(UserSession.objects.get().get_decoded()), "the session was written"
        clock.shift(timedelta(hours=23))
        assert is_signed_in(client)
        clock.shift(timedelta(hours=2))
        assert not is_signed_in(client)


def test_the_engine_of_before_and_this_one_read_the_same_data() -> None:
    from django.contrib.sessions.backends.base import SessionBase

    class SessionStore(SessionBase):
        """As Django's own engine, whose signature has this name."""

        key_salt = "django.contrib.sessions.SessionStore"

    assert Engine().decode(SessionStore().encode({"a": 1})) == {"a": 1}


# Devices --------------------------------------------------------------------------------------------------------------


def notices(user: User) -> list[str]:
    return [words_of(row).text for row in Notification.objects.filter(user=user, kind="account").order_by("pk")]


@pytest.mark.slow
def test_a_sign_in_on_a_new_device_is_notified_and_that_on_a_known_one_is_not(ana: User) -> None:
    with time_machine.travel(START, tick=False):
        home = browser(ana)
        assert notices(ana) == [], "the first sign-in of an account is no surprise"
        home.post("/accounts/logout/")
        sign_in(home, ana)
        assert notices(ana) == []
        browser(ana, EDGE, "198.51.100.7")
        [text] = notices(ana)
        assert text.startswith(
            "Sign-in on a new device: Edge on Windows, from 198.51.100.7, on 1 March 2026, 09:00 (UTC)"
        )
        event = SecurityEvent.objects.get(kind="new_device")
        assert (event.user, event.address) == (ana, "198.51.100.7")
        page = home.get("/notifications/").content.decode()
        assert "end that session under Profile → Sessions and choose a new password" in page


@pytest.mark.slow
def test_a_device_is_known_for_one_account_and_its_cookie_cannot_be_made_up(ana: User) -> None:
    shared = browser(ana)
    bo = UserFactory(email="bo@example.org")
    browser(bo)
    shared.post("/accounts/logout/")
    sign_in(shared, bo)
    assert len(notices(bo)) == 1, "a colleague's computer is new for this account"
    assert notices(ana) == []
    cookie = shared.cookies["device"]
    assert cookie["httponly"] and cookie["samesite"] == "Lax" and cookie["max-age"] == 365 * 86400
    name = cookie.value.split(":")[0]
    assert not KnownDevice.objects.filter(token_hash__contains=name).exists(), "the table does not give cookies away"
    thief = browser()
    thief.cookies["device"] = name
    sign_in(thief, ana)
    assert len(notices(ana)) == 1
    # Devices of more than a year ago are forgotten.
    with time_machine.travel(timezone.now() + timedelta(days=366)):
        shared.cookies["device"] = cookie.value
        sign_in(Client(), UserFactory(email="third@example.org"))
        again = browser()
        again.cookies["device"] = cookie.value
        sign_in(again, bo)
    assert KnownDevice.objects.filter(user=bo).count() == 1


@pytest.mark.slow
def test_the_first_sign_in_for_a_year_is_notified(ana: User) -> None:
    with time_machine.travel(START, tick=False) as clock:
        browser(ana)
        clock.shift(timedelta(days=366))
        browser(ana, EDGE, "198.51.100.7")
        [text] = notices(ana)
        assert "198.51.100.7" in text


@pytest.mark.slow
def test_of_two_requests_at_once_one_ends_the_session(ana: User, settings: Any) -> None:
    settings.SESSION_IDLE_MINUTES = 60
    with time_machine.travel(START, tick=False) as clock:
        client = browser(ana)
        key = client.cookies[settings.SESSION_COOKIE_NAME].value
        clock.shift(timedelta(hours=1))
        requests = []
        for _number in range(2):  # both have read the session before one of them ends it
            request = RequestFactory().get("/profile/")
            request.session = Engine(key)
            assert request.session[SESSION_KEY]
            requests.append(request)
        for request in requests:
            assert end_idle_session(request=request, at=timezone.now()) == ana
    assert SecurityEvent.objects.filter(kind="session_timed_out").count() == 1


@pytest.mark.slow
def test_a_form_that_is_sent_after_the_time_is_kept_and_sent_again(ana: User, settings: Any) -> None:
    settings.SESSION_IDLE_MINUTES = 60
    benchmark = BenchmarkFactory(slug="cardio", admin=ana)
    page = "/b/cardio/groups/new/"  # takes no GET
    with time_machine.travel(START, tick=False) as clock:
        client = Client(enforce_csrf_checks=True)
        begin = client.get("/accounts/login/").content.decode()
        client.post("/accounts/login/", {"login": ana.email, "password": PASSWORD, **csrf_of(begin)})
        token = csrf_of(client.get("/b/cardio/groups/").content.decode())
        clock.shift(timedelta(hours=1))
        stranger = UserFactory(email="stranger@example.org")
        answer = client.post(page, {"name": "Group <A>", "required_reviews": "1", **token})
        assert answer["Location"].startswith("/accounts/login/?next=/profile/confirmed/%3Fkey%3D")
        back = parse_qs(urlsplit(answer["Location"]).query)["next"][0]
        assert "Nothing waits" in browser(stranger).get(back).content.decode()
        sign_in_page = client.get(answer["Location"]).content.decode()
        signed_in = client.post(
            "/accounts/login/", {"login": ana.email, "password": PASSWORD, "next": back, **csrf_of(sign_in_page)}
        )
        assert signed_in["Location"] == back
        offered = client.get(back).content.decode()
        assert f'action="{page}"' in offered and "Carry it out" in offered
        assert not benchmark.groups.exists()
        fields = re.findall(r'<input type="hidden" name="([\w-]+)" value="([^"]*)">', main_of(offered))
        sent = {name: unescape(value) for name, value in fields}
        assert client.post(page, sent).status_code == 302
        assert benchmark.groups.get().name == "Group <A>"
        assert "Nothing waits" in client.get(back).content.decode(), "it is not sent twice"
        # Without its CSRF token nothing is kept.
        clock.shift(timedelta(hours=1))
        assert client.post(page, {"name": "B"}).status_code == 403


def csrf_of(page: str) -> dict[str, str]:
    [token, *_others] = re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
    return {"csrfmiddlewaretoken": token}


def main_of(page: str) -> str:
    return page[page.index("<main") : page.index("</main>")]


@pytest.mark.slow
def test_the_mail_goes_at_once_and_says_what_to_do(ana: User, settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    browser(ana)
    browser(ana, EDGE)
    row = Notification.objects.get(user=ana)
    assert settings_of(ana)["account"] == "at_once"
    mail_at_once(row.pk)
    [mail] = django_mail.outbox
    assert mail.to == ["ana@example.org"]
    assert "Sign-in on a new device: Edge on Windows" in mail.subject
    assert "If it was not you, end that session" in str(mail.body)
    assert row.url == SESSIONS


def test_the_migration_moves_the_sessions_of_the_table_before(ana: User) -> None:
    client = browser(ana)
    migration = import_module("accounts.migrations.0011_sessions")
    with connection.cursor() as cursor:
        # As Django's own app made it, with a session that is valid, one that has run out, and one of nobody.
        cursor.execute(
            "CREATE TABLE django_session AS SELECT session_key, session_data, expire_date FROM accounts_usersession"
        )
        for key, data, days in (("old", {"_auth_user_id": str(ana.pk)}, -1), ("nobody", {"_auth_user_id": "0"}, 1)):
            end = timezone.now() + timedelta(days=days)
            cursor.execute("INSERT INTO django_session VALUES (%s, %s, %s)", [key, Engine().encode(data), end])
        UserSession.objects.all().delete()
        assert not is_signed_in(client)
        cursor.execute("SELECT session_key FROM django_session WHERE length(session_key) = 32")
        [[key]] = cursor.fetchall()
    with connection.schema_editor() as editor:
        migration.keep_sessions(apps, editor)
        migration.keep_sessions(apps, editor)  # where there is no such table, as on a new server
    assert set(UserSession.objects.values_list("session_key", "user_id")) == {(key, ana.pk), ("nobody", None)}
    client.cookies["sessionid"] = key
    assert is_signed_in(client)
    assert len(rows(client)) == 1
