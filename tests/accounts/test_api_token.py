"""The API token of a person: made behind the password, shown once, replaced and revoked."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from rest_framework.authtoken.models import Token

from accounts.models import User
from tests.factories import PASSWORD, BenchmarkFactory, UserFactory

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
PAGE = "/profile/api-token/"
KEY = re.compile(r'id="api-token" type="text" value="([0-9a-f]{40})"')


@pytest.fixture
def person(client: Client) -> User:
    user: User = UserFactory()
    BenchmarkFactory(slug="study", researcher=user)
    client.force_login(user)
    return user


def status_with(key: str) -> int:
    return Client(headers={"Authorization": f"Token {key}"}).get("/api/v1/benchmarks/study/").status_code


def test_a_token_needs_the_password_and_works_until_it_is_replaced_or_revoked(client: Client, person: User) -> None:
    assert "You have no token." in client.get(PAGE).content.decode()
    to_password = client.post(PAGE, {"action": "create"})
    assert to_password.status_code == 302 and to_password["Location"].startswith("/accounts/reauthenticate/")
    assert not Token.objects.exists()
    created = client.post(to_password["Location"], {"password": PASSWORD})  # what was asked for is done then
    [first] = KEY.findall(created.content.decode())
    assert "no-store" in created["Cache-Control"]
    assert status_with(first) == 200

    seen_again = client.get(PAGE).content.decode()
    assert first not in seen_again
    assert "You have a token." in seen_again
    [second] = KEY.findall(client.post(PAGE, {"action": "create"}).content.decode())
    assert (status_with(first), status_with(second)) == (403, 200)

    revoked = client.post(PAGE, {"action": "revoke"}, follow=True)
    assert "The API token was revoked." in revoked.content.decode()
    assert status_with(second) == 403
    assert not Token.objects.exists()


def test_a_token_after_another_word_is_refused_with_the_word_that_is_wanted(client: Client, person: User) -> None:
    key = Token.objects.create(user=person).key
    for word in ("Bearer", "bearer"):
        answer = Client(headers={"Authorization": f"{word} {key}"}).get("/api/v1/benchmarks/study/")
        assert answer.status_code == 403
        message = "Send the token after the word “Token”, not “Bearer”: Authorization: Token …"
        assert answer.json() == {"detail": message}
    assert status_with(key) == 200


def test_a_wrong_password_makes_no_token(client: Client, person: User) -> None:
    to_password = client.post(PAGE, {"action": "create"})
    refused = client.post(to_password["Location"], {"password": "something else"})
    assert not KEY.search(refused.content.decode())
    assert not Token.objects.exists()


def test_pages_lead_to_the_token_and_to_the_documentation(client: Client, person: User) -> None:
    assert f'href="{PAGE}"' in client.get("/profile/").content.decode()
    for page in (PAGE, "/b/study/"):
        assert 'href="/api/v1/docs/"' in client.get(page).content.decode()
