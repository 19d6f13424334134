"""Each event of security relevance leaves its line in the security log, and no line holds a secret."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import (
    TOTP,
    format_hotp_value,
    generate_totp_secret,
    hotp_value,
    yield_hotp_counters_from_time,
)
from django.core import mail
from django.core.management import call_command
from django.db import connection
from django.test import Client

from accounts.models import SecurityEvent, User
from tests.accounts.oidc_provider import running_provider
from tests.accounts.test_guesses import choose_password, guess, reset_link
from tests.accounts.test_sign_on import sign_on
from tests.annotation.people.test_people_pages import add_previewed, preview
from tests.factories import PASSWORD, BenchmarkFactory, ExpertGroupFactory, UserFactory
from tests.operations.unclear_lines import unclear_lines

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
SIGN_IN = "/accounts/login/"
CHROME = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/142.0.0.0 Safari/537.36"
NEW = "seven quiet herons"
WELCOME = {"password": NEW, "again": NEW, "language": "en", "time_zone": "UTC", "name": "Bo"}


@pytest.fixture
def ana() -> User:
    return UserFactory(email="ana@example.org", last_login="2026-03-01T00:00:00Z")


@pytest.fixture(autouse=True)
def secrets() -> Iterator[set[str]]:
    """Words that a test adds here are in no column of the log when it ends, nor is what everybody types."""
    canaries = {PASSWORD, NEW, "no-such-person", "guess 1"}
    yield canaries
    with connection.cursor() as cursor:
        cursor.execute("SELECT e::text FROM accounts_securityevent e")
        text = "\n".join(row for (row,) in cursor.fetchall())
    assert text
    assert [canary for canary in canaries if canary and canary in text] == []
    assert unclear_lines() == []


def lines(*, leave_out: tuple[str, ...] = ()) -> list[tuple[str, User | None, User | None, dict[str, Any]]]:
    """Kind, account, who did it and facts of each line, oldest first."""
    rows = SecurityEvent.objects.exclude(kind__in=leave_out).order_by("pk")
    return [(row.kind, row.user, row.by, row.values) for row in rows]


def sign_in(client: Client, login: str = "ana@example.org", password: str = PASSWORD) -> Any:
    return client.post(
        SIGN_IN, {"login": login, "password": password}, REMOTE_ADDR="203.0.113.9", headers={"User-Agent": CHROME}
    )


def code_of(secret: str) -> str:
    return format_hotp_value(hotp_value(secret, next(iter(yield_hotp_counters_from_time()))))


def test_a_sign_in_and_a_sign_out(ana: User) -> None:
    client = Client()
    sign_in(client)
    client.post("/accounts/logout/", REMOTE_ADDR="203.0.113.9")
    assert lines() == [("signed_in", ana, ana, {"method": "password"}), ("signed_out", ana, ana, {})]
    event = SecurityEvent.objects.get(kind="signed_in")
    assert (event.address, event.browser) == ("203.0.113.9", CHROME)


def test_a_wrong_password_of_an_account_and_an_address_that_nobody_has(ana: User) -> None:
    sign_in(Client(), password="guess 1")
    sign_in(Client(), login="no-such-person@example.org", password="guess 1")
    wrong = {"step": "password"}
    assert lines() == [("sign_in_failed", ana, None, wrong), ("sign_in_failed", None, None, wrong)]


def test_an_unknown_address_costs_the_same_queries(ana: User) -> None:
    queries: list[tuple[str, str]] = []
    for login in ("ana@example.org", "no-such-person@example.org"):

        def note(run: Any, sql: str, *rest: Any, login: str = login) -> Any:
            queries.append((login, sql.split()[0]))
            return run(sql, *rest)

        with connection.execute_wrapper(note):
            sign_in(Client(), login=login, password="guess 1")
    known = [verb for login, verb in queries if login.startswith("ana")]
    unknown = [verb for login, verb in queries if not login.startswith("ana")]
    assert known.count("INSERT") >= 1
    assert known == unknown


def test_a_flood_leaves_one_line_a_minute_after_the_limit(ana: User) -> None:
    for number in range(30):
        guess(number)
    kinds = [kind for kind, *_rest in lines()]
    assert kinds == ["sign_in_failed"] * 5 + ["sign_in_limited"]
    assert SecurityEvent.objects.get(kind="sign_in_limited").user == ana


def test_one_address_that_tries_many_logins_is_one_line_a_minute() -> None:
    for number in range(25):
        sign_in(Client(), login=f"no-such-person{number}@example.org", password="x")
    kinds = [kind for kind, *_rest in lines()]
    assert kinds == ["sign_in_failed"] * 10 + ["sign_in_limited"]


def test_a_code_a_wrong_code_and_a_recovery_code(ana: User, secrets: set[str]) -> None:
    secret = generate_totp_secret()
    TOTP.activate(ana, secret)
    recovery = RecoveryCodes.activate(ana).get_unused_codes()
    client = Client()
    sign_in(client)
    client.post("/accounts/2fa/authenticate/", {"code": "000000"})
    client.post("/accounts/2fa/authenticate/", {"code": code_of(secret)})
    other = Client()
    sign_in(other)
    other.post("/accounts/2fa/authenticate/", {"code": recovery[0]})
    secrets.update([secret, *recovery])
    assert lines() == [
        ("sign_in_failed", ana, None, {"step": "totp"}),
        ("signed_in", ana, ana, {"method": "password", "second_step": "totp"}),
        ("recovery_code_used", ana, ana, {}),
        ("new_device", ana, ana, {}),
        ("signed_in", ana, ana, {"method": "password", "second_step": "recovery_codes"}),
    ]


def test_codes_that_are_tried_too_often_are_limited_as_those_of_the_account(ana: User) -> None:
    TOTP.activate(ana, generate_totp_secret())
    client = Client()
    sign_in(client)
    for _number in range(8):
        client.post("/accounts/2fa/authenticate/", {"code": "000000"})
    kinds = [(kind, user) for kind, user, *_rest in lines()]
    assert kinds == [("sign_in_failed", ana)] * 5 + [("sign_in_limited", ana)]


def test_factors_and_recovery_codes_that_are_added_made_anew_and_removed(
    ana: User, secrets: set[str], django_capture_on_commit_callbacks: Any
) -> None:
    client = Client()
    sign_in(client)
    page = client.get("/accounts/2fa/totp/activate/", follow=True)
    if "reauthenticate" in page.request["PATH_INFO"]:
        client.post("/accounts/reauthenticate/", {"password": PASSWORD})
        page = client.get("/accounts/2fa/totp/activate/")
    secret = client.session["mfa.totp.secret"]
    with django_capture_on_commit_callbacks(execute=True):
        client.post("/accounts/2fa/totp/activate/", {"code": code_of(secret)})
    first = RecoveryCodes(ana.authenticator_set.get(type="recovery_codes")).get_unused_codes()
    with django_capture_on_commit_callbacks(execute=True):
        client.post("/accounts/2fa/recovery-codes/generate/")
    again = RecoveryCodes(ana.authenticator_set.get(type="recovery_codes")).get_unused_codes()
    with django_capture_on_commit_callbacks(execute=True):
        client.post("/accounts/2fa/totp/deactivate/")
    secrets.update([secret, *first, *again])
    shown = lines(leave_out=("signed_in", "reauthenticated"))
    assert {user for _kind, user, _by, _values in shown} == {ana}
    assert sorted((kind, *values.values()) for kind, _user, _by, values in shown) == [
        ("factor_added", "totp"),
        ("factor_removed", "recovery_codes"),
        ("factor_removed", "totp"),
        ("recovery_codes_made",),
        ("recovery_codes_made",),
    ]


def test_a_password_that_is_changed_on_the_page(ana: User) -> None:
    client = Client()
    sign_in(client)
    client.post("/accounts/password/change/", {"oldpassword": PASSWORD, "password1": NEW, "password2": NEW})
    assert lines(leave_out=("signed_in",)) == [("password_changed", ana, ana, {"way": "page"})]


@pytest.mark.usefixtures("password_links")
def test_a_password_that_is_forgotten_and_chosen_by_the_mailed_link(ana: User, secrets: set[str]) -> None:
    Client().post("/accounts/password/reset/", {"email": "no-such-person@example.org"})
    owner = Client()
    owner.post("/accounts/password/reset/", {"email": "ana@example.org"})
    path = reset_link()
    secrets.add(path.rstrip("/").rpartition("/")[2].partition("-")[2])
    choose_password(owner, path)
    assert lines() == [
        ("password_reset_requested", None, None, {}),
        ("password_reset_requested", ana, None, {}),
        ("password_reset", ana, None, {}),
        ("signed_in", ana, ana, {"method": "password_reset"}),
    ]


@pytest.mark.usefixtures("mails_at_once")
def test_invitations_by_mail_that_are_accepted_and_withdrawn(
    secrets: set[str], django_capture_on_commit_callbacks: Any
) -> None:
    ada = UserFactory(name="Ada Admin")
    benchmark = BenchmarkFactory(slug="cardio", admin=ada)
    group = f"/b/cardio/groups/{ExpertGroupFactory(benchmark=benchmark).public_id}/"
    admin = Client()
    admin.force_login(ada)
    for email in ("bo@example.org", "cy@example.org"):
        with django_capture_on_commit_callbacks(execute=True):
            admin.post(f"{group}members/", {"email": email, "name": "", "role": "annotator"})
    bo, cy = (User.objects.get(email=email) for email in ("bo@example.org", "cy@example.org"))
    (path,) = re.findall(r"http://localhost:8000(/welcome/\S+)", mail.outbox[0].body)
    secrets.update([path, path.split("/")[2]])
    Client().post(path, {**WELCOME, "languages": ["en"]})
    admin.post(f"/b/cardio/invitations/{cy.invitations.get().public_id}/withdraw/")
    invited = {"part": "annotator", "way": "mail"}
    assert lines() == [
        ("account_made", bo, ada, {"way": "page"}),
        ("invited", bo, ada, invited),
        ("account_made", cy, ada, {"way": "page"}),
        ("invited", cy, ada, invited),
        ("invitation_accepted", bo, bo, {}),
        ("signed_in", bo, bo, {"method": "invitation"}),
        ("invitation_withdrawn", cy, ada, {}),
    ]
    assert set(SecurityEvent.objects.filter(kind__startswith="invit").values_list("scope", flat=True)) == {"cardio"}


@pytest.fixture
def _no_mail_server(settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"


@pytest.mark.usefixtures("_no_mail_server")
def test_links_that_are_shown_to_an_admin(secrets: set[str]) -> None:
    ada = UserFactory(name="Ada Admin")
    benchmark = BenchmarkFactory(slug="cardio", admin=ada)
    group = f"/b/cardio/groups/{ExpertGroupFactory(benchmark=benchmark).public_id}/"
    admin = Client()
    admin.force_login(ada)
    page = admin.post(f"{group}members/", {"email": "bo@example.org", "name": "", "role": "annotator"})
    (path,) = set(re.findall(r"http://localhost:8000(/welcome/[^\"<\s]+)", page.content.decode()))
    bo = User.objects.get(email="bo@example.org")
    Client().post(path, {**WELCOME, "languages": ["en"]})
    shown = admin.post("/b/cardio/password-links/", {"person": bo.pk})
    (link,) = set(re.findall(r"/accounts/password/reset/key/([^\"<\s]+)/", shown.content.decode()))
    secrets.update([path, path.split("/")[2], link.partition("-")[2]])
    ours = lines(leave_out=("signed_in", "account_made", "invitation_accepted"))
    assert ours == [
        ("invited", bo, ada, {"part": "annotator", "way": "link"}),
        ("invitation_link_shown", bo, ada, {}),
        ("password_link_shown", bo, ada, {"way": "page"}),
    ]


def test_accounts_and_rights_by_command(monkeypatch: pytest.MonkeyPatch, capsys: Any, secrets: set[str]) -> None:
    monkeypatch.setenv("PASSWORD", NEW)
    call_command("add_person", "op@example.org", "--operator")
    call_command("add_person", "op@example.org", "--creates-benchmarks", "--operator", "--no-password")
    call_command("password_link", "op@example.org")
    op = User.objects.get()
    secrets.add(re.findall(r"key/[^-]+-([^/\s]+)", capsys.readouterr().out)[0])
    assert lines() == [
        ("account_made", op, None, {"way": "command"}),
        ("password_changed", op, None, {"way": "command"}),
        ("rights_changed", op, None, {"is_superuser": True}),
        ("rights_changed", op, None, {"is_staff": True}),
        ("password_link_shown", op, None, {"way": "command"}),
    ]


def test_the_first_account(capsys: Any, secrets: set[str]) -> None:
    call_command("setup_code")
    code = capsys.readouterr().out.strip()
    secrets.update([code, code.replace("-", "")])
    form = {"code": code, "email": "op@example.org", **WELCOME}
    Client().post("/first-run/", form)
    op = User.objects.get()
    assert lines() == [
        ("account_made", op, None, {"way": "first_account"}),
        ("rights_changed", op, op, {"is_staff": True, "is_superuser": True}),
        ("signed_in", op, op, {"method": "first_account"}),
    ]


def test_people_of_a_list_and_accounts_that_are_deactivated_and_activated(client: Client) -> None:
    ada = UserFactory(is_staff=True)
    BenchmarkFactory(slug="cardio", admin=ada)
    client.force_login(ada)
    added = preview(client, "email,name,role\nbo@example.org,Bo,author\n")
    assert not SecurityEvent.objects.exists()
    add_previewed(client, added)
    bo = User.objects.get(email="bo@example.org")
    for active in ("0", "0", "1"):
        client.post("/b/cardio/people/account/", {"person": bo.pk, "active": active})
    assert lines() == [
        ("account_made", bo, ada, {"way": "list"}),
        ("invited", bo, ada, {"part": "author", "way": "mail"}),
        ("invitation_withdrawn", bo, ada, {}),
        ("account_deactivated", bo, ada, {}),
        ("account_activated", bo, ada, {}),
    ]
    assert SecurityEvent.objects.get(kind="account_deactivated").scope == "cardio"


def test_single_sign_on_that_connects_signs_in_and_is_refused(ana: User, settings: Any) -> None:
    with running_provider() as provider:
        settings.SOCIALACCOUNT_PROVIDERS = provider.settings()
        settings.OIDC_NAME = "Clinic sign-on"
        provider.says({"email": "ana@example.org", "email_verified": True})
        sign_on(Client())
        provider.says({"sub": "person-9", "email": "no-such-person@example.org", "email_verified": True})
        sign_on(Client())
        provider.says({"sub": "person-2", "email": "ana@example.org", "email_verified": True})
        sign_on(Client())
    assert lines() == [
        ("sign_on_connected", ana, None, {}),
        ("signed_in", ana, ana, {"method": "socialaccount"}),
        ("sign_on_refused", None, None, {"reason": "no_account"}),
        ("sign_on_refused", ana, None, {"reason": "other_identity"}),
    ]
