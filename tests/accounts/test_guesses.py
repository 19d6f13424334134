"""Guesses at a password are counted by the account they guess at, and its owner gets in by a mailed link."""

from __future__ import annotations

import re
from typing import Any

import pytest
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.core import mail
from django.core.cache import cache
from django.test import Client

import config.settings as product_settings
from accounts.models import User
from tests.factories import PASSWORD, UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
SIGN_IN = "/accounts/login/"
NEW = "seven quiet herons"


@pytest.fixture
def ana() -> User:
    return UserFactory(email="ana@example.org", last_login="2026-03-01T00:00:00Z")


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The passwords that were compared with that of an account."""
    passwords: list[str] = []
    compare = User.check_password

    def counted(self: User, raw_password: str) -> bool:
        passwords.append(raw_password)
        return compare(self, raw_password)

    monkeypatch.setattr(User, "check_password", counted)
    return passwords


def guess(number: int, *, login: str = "ana@example.org", host: str | None = None, client: Client | None = None) -> Any:
    """One wrong password, each from a network address and for a port of its own."""
    return (client or Client()).post(
        SIGN_IN,
        {"login": login, "password": f"guess {number}"},
        REMOTE_ADDR=f"10.1.{number // 250}.{number % 250 + 1}",
        headers={"host": host or f"localhost:{5000 + number}"},
    )


def test_of_guesses_over_40_ports_and_addresses_5_are_compared(ana: User, checked: list[str]) -> None:
    pages = [guess(number).content.decode() for number in range(40)]
    assert checked == [f"guess {number}" for number in range(5)]
    assert "Too many failed login attempts" in pages[5]
    right = Client().post(SIGN_IN, {"login": "ana@example.org", "password": PASSWORD}, REMOTE_ADDR="10.2.0.1")
    assert right.status_code == 200
    assert len(checked) == 5


def test_case_and_spaces_are_no_other_login(ana: User, checked: list[str]) -> None:
    for number in range(40):
        login = "ana@example.org" if number % 2 else "Ana@Example.ORG"
        guess(number, login=" " * (number % 3) + login + "\t" * (number % 2))
    assert len(checked) == 5


def test_another_accounts_guesses_are_its_own(ana: User, checked: list[str]) -> None:
    UserFactory(email="bo@example.org")
    for number in range(12):
        guess(number)
        guess(100 + number, login="bo@example.org")
    assert len(checked) == 10


def test_one_network_address_has_ten_a_minute(checked: list[str]) -> None:
    for number in range(14):
        UserFactory(email=f"p{number}@example.org")
        Client().post(SIGN_IN, {"login": f"p{number}@example.org", "password": "x"}, REMOTE_ADDR="10.3.0.1")
    assert len(checked) == 10


def test_guesses_of_who_sits_at_an_open_session_count_with_the_others(ana: User, checked: list[str]) -> None:
    session = Client()
    session.force_login(ana)
    for number in range(3):
        guess(number)
    for number in range(3, 20):
        session.post(
            "/accounts/reauthenticate/",
            {"password": f"guess {number}"},
            REMOTE_ADDR=f"10.4.0.{number}",
            headers={"host": f"localhost:{5000 + number}"},
        )
    assert len(checked) == 5


def test_guesses_at_other_accounts_do_not_wipe_a_count(ana: User, checked: list[str], settings: Any) -> None:
    settings.CACHES = {"default": product_settings.CACHES["default"], "rates": settings.CACHES["rates"]}
    for number in range(5):
        guess(number)
    for number in range(310):  # more than Django keeps of its own accord; keys after those of the counts
        cache.set(f"~{number}", 1, 300)
    guess(6)
    assert len(checked) == 5


def reset_link() -> str:
    (path,) = re.findall(r"http://localhost:8000(/accounts/password/reset/key/\S+)", mail.outbox[0].body)
    return str(path)


def choose_password(client: Client, path: str) -> Any:
    page = client.get(path, follow=True)
    text = page.content.decode()
    assert "Choose a new password" in text
    assert "At least 10 characters; a few unrelated words" in text
    assert "Change Password" not in text
    form = {"password1": NEW, "password2": NEW}
    return client.post(page.redirect_chain[-1][0], form, REMOTE_ADDR="10.5.0.1", follow=True)


@pytest.mark.usefixtures("password_links")
def test_who_is_locked_out_gets_in_by_the_mailed_link(ana: User) -> None:
    for number in range(8):
        guess(number)
    owner = Client()
    owner.post("/accounts/password/reset/", {"email": "ana@example.org"})
    path = reset_link()
    for number in range(8, 16):  # somebody guesses on
        guess(number)
    answer = choose_password(owner, path)
    assert owner.get("/session").json()["signed_in"] is True
    assert answer.redirect_chain[-1][0] == "/"
    elsewhere = Client()
    elsewhere.post(SIGN_IN, {"login": "ana@example.org", "password": NEW}, REMOTE_ADDR="10.5.0.2")
    assert elsewhere.get("/session").json()["signed_in"] is True  # the count began anew
    used = Client().get(path).content.decode()  # the link worked once
    assert "This link no longer works" in used
    assert re.search(r'href="/accounts/password/reset/">\s*Request a new link', used)
    assert "Bad Token" not in used


@pytest.mark.usefixtures("password_links")
def test_the_mailed_link_does_not_replace_a_second_factor(ana: User) -> None:
    TOTP.activate(ana, generate_totp_secret())
    owner = Client()
    owner.post("/accounts/password/reset/", {"email": "ana@example.org"})
    answer = choose_password(owner, reset_link())
    assert owner.get("/session").json()["signed_in"] is False
    assert answer.redirect_chain[-1][0].startswith("/accounts/2fa/authenticate/")


@pytest.mark.usefixtures("password_links")
def test_an_address_given_with_capitals_signs_in_and_gets_a_link(client: Client) -> None:
    from accounts.services import person_of

    person = person_of(email="Bo.Li@Clinic.Example.org")
    person.set_password(PASSWORD)
    person.save()
    assert client.login(email="Bo.Li@Clinic.Example.org", password=PASSWORD)
    client.post("/accounts/password/reset/", {"email": "Bo.Li@Clinic.Example.org"})
    assert len(mail.outbox) == 1


def test_strangers_to_the_api_are_counted_by_their_own_address() -> None:
    statuses = [
        Client().get("/api/v1/docs/", headers={"x-forwarded-for": f"10.6.0.{number}"}).status_code
        for number in range(62)
    ]
    assert statuses.count(429) == 2
