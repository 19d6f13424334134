"""Passwords are hashed well, and fast enough to sign in."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.hashers import Argon2PasswordHasher, check_password, make_password
from django.test import Client

from tests.factories import UserFactory

pytestmark = pytest.mark.slow
PASSWORD = "twelve green lamps"


@pytest.fixture(autouse=True)
def the_hashers_of_the_product(settings: object) -> None:
    from config import settings as product

    settings.PASSWORD_HASHERS = product.PASSWORD_HASHERS  # type: ignore[attr-defined]


def parameters_of(encoded: str) -> tuple[str, dict[str, int]]:
    kind, numbers = re.findall(r"^argon2\$(argon2\w+)\$v=19\$([mtp=\d,]+)\$", encoded)[0]
    return kind, {name: int(value) for name, value in re.findall(r"(\w)=(\d+)", numbers)}


def test_a_hash_is_above_the_minimum_of_owasp_and_takes_less_memory_than_64_mib() -> None:
    kind, numbers = parameters_of(make_password(PASSWORD))
    assert kind == "argon2id"
    # Password Storage Cheat Sheet: 46 MiB and 1 pass, or 19 MiB and 2 passes, among others.
    assert (numbers["m"] >= 47104 and numbers["t"] >= 1) or (numbers["m"] >= 19456 and numbers["t"] >= 2)
    assert numbers["m"] <= 64 * 1024


@pytest.mark.django_db
def test_a_hash_with_the_parameters_of_django_lets_in_and_is_replaced() -> None:
    person = UserFactory()
    person.password = Argon2PasswordHasher().encode(PASSWORD, "salt of this test")
    person.save()
    answer = Client().post("/accounts/login/", {"login": person.email, "password": PASSWORD})
    assert answer.status_code == 302
    person.refresh_from_db()
    assert parameters_of(person.password)[1] == {"m": 47104, "t": 2, "p": 1}
    assert check_password(PASSWORD, person.password)
