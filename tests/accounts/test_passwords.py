"""What passwords may be, how they are typed and changed, and that a code of an app is good for one sign-in."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, generate_totp_secret, hotp_value
from django.conf import settings as product_settings
from django.test import Client

from accounts.models import User
from tests.factories import PASSWORD, UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

CHANGE = "/accounts/password/change/"
SIGN_IN = "/accounts/login/"


@pytest.fixture
def ana() -> User:
    return UserFactory(email="ana@example.org")


@pytest.fixture
def own(ana: User) -> Client:
    client = Client()
    client.force_login(ana)
    return client


def change(client: Client, new: str, *, current: str = PASSWORD) -> str:
    form = {"oldpassword": current, "password1": new, "password2": new}
    return client.post(CHANGE, form).content.decode()


def signs_in(password: str) -> bool:
    client = Client()
    client.post(SIGN_IN, {"login": "ana@example.org", "password": password})
    return "_auth_user_id" in client.session


def test_a_password_is_changed_only_with_the_current_one(ana: User, own: Client) -> None:
    change(own, "nine calm otters", current="some other words")
    assert signs_in(PASSWORD) and not signs_in("nine calm otters")
    change(own, "nine calm otters")
    assert signs_in("nine calm otters") and not signs_in(PASSWORD)


def test_a_password_of_128_characters_counts_to_its_end(ana: User, own: Client) -> None:
    long = "Seven quiet hérons 鷺 " * 6 + "ab"
    assert len(long) == 128
    change(own, long)
    assert signs_in(long)
    assert not signs_in(long[:-1]) and not signs_in(long[:64]) and not signs_in(long.lower())


def test_a_password_of_the_products_words_is_refused(own: Client, settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["*", "linzer.example.org"]
    for password in ("Consilium2026!", "linzer-12345", "RubricJudge-1", "my-password-9"):
        assert "a word that belongs to this site" in change(own, password), password
    assert "a word that belongs to this site" not in change(own, "the linzer judge ate plums")
    assert signs_in("the linzer judge ate plums")


def test_fields_of_passwords_hide_and_let_managers_help(own: Client) -> None:
    purposes = {"password": "current-password", "oldpassword": "current-password"}
    for client, path in ((Client(), SIGN_IN), (own, CHANGE)):
        fields = re.findall(r'<input[^>]*name="(?:old)?password[12]?"[^>]*>', client.get(path).content.decode())
        assert len(fields) >= (1 if path == SIGN_IN else 3)  # the dialog of a session that ended has one too
        for field in fields:
            (name,) = re.findall(r'name="(\w+)"', field)
            assert 'type="password"' in field
            assert f'autocomplete="{purposes.get(name, "new-password")}"' in field
            assert "onpaste" not in field and "maxlength" not in field


def test_a_code_of_the_app_signs_in_once(ana: User) -> None:
    secret = generate_totp_secret()
    TOTP.activate(ana, secret)
    while time.time() % 30 > 25:  # the code must not run out meanwhile
        time.sleep(0.5)
    code = format_hotp_value(hotp_value(secret, int(time.time()) // 30))
    signed_in = []
    for _ in range(2):
        client = Client()
        client.post(SIGN_IN, {"login": "ana@example.org", "password": PASSWORD})
        client.post("/accounts/2fa/authenticate/", {"code": code})
        signed_in.append("_auth_user_id" in client.session)
    assert signed_in == [True, False]
    assert getattr(product_settings, "MFA_TOTP_TOLERANCE", 0) == 0  # a code lives for its 30 seconds
