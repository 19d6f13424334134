"""A person's own sessions and API tokens through the API: who reads them, and what ends."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import ApiToken, SecurityEvent, User, UserSession
from tests.factories import BenchmarkFactory, UserFactory, token_of

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
SESSIONS, TOKENS = "/api/v1/account/sessions/", "/api/v1/account/tokens/"


@pytest.fixture
def ada() -> User:
    return UserFactory(name="Ada", email="ada@example.org", password="a sound pass phrase")


@pytest.fixture(autouse=True)
def _own_sessions(settings) -> None:
    settings.SESSION_ENGINE = "accounts.sessions"


def sign_in(browser: str = "Firefox/140.0") -> Client:
    client = Client(headers={"User-Agent": browser})
    client.post("/accounts/login/", {"login": "ada@example.org", "password": "a sound pass phrase"})
    return client


def with_token(key: str) -> Client:
    return Client(headers={"Authorization": f"Bearer {key}"})


def test_sessions_are_listed_with_the_own_one_first_and_no_key(ada: User) -> None:
    sign_in("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
    client = sign_in()
    UserFactory(name="Bo")
    answer = client.get(SESSIONS)
    own, other = answer.json()
    assert (own["is_this"], other["is_this"], other["browser"]) == (True, False, "Firefox on Linux")
    assert (own["address"], own["way"], len({own["id"], other["id"]})) == ("127.0.0.1", "password", 2)
    assert all(row.session_key not in answer.content.decode() for row in UserSession.objects.all())


def test_one_session_is_ended_and_on_record(ada: User) -> None:
    stolen, client = sign_in(), sign_in()
    [number] = [row["id"] for row in client.get(SESSIONS).json() if not row["is_this"]]
    assert client.delete(f"{SESSIONS}{number}/").status_code == 204
    assert stolen.get("/api/v1/account/activity/").status_code in (401, 403)
    assert client.delete(f"{SESSIONS}{number}/").status_code == 404
    event = SecurityEvent.objects.get(kind="session_ended")
    assert (event.user, event.by, event.values) == (ada, ada, {"number": 1})


def test_the_session_of_the_request_and_those_of_others_are_not_ended(ada: User) -> None:
    client = sign_in()
    other = Client()
    other.force_login(UserFactory(name="Bo"))
    for reader in (client, other):
        [own] = reader.get(SESSIONS).json()
        assert client.delete(f"{SESSIONS}{own['id']}/").status_code == 404
    assert UserSession.objects.count() == 2


@pytest.mark.parametrize(("by_token", "left"), [(False, 1), (True, 0)])
def test_all_others_are_ended_at_once(ada: User, by_token: bool, left: int) -> None:
    sign_in()
    client = sign_in()
    other = Client()
    other.force_login(UserFactory(name="Bo"))
    if by_token:
        client = with_token(token_of(ada, "admin"))
    assert client.delete(SESSIONS).json() == {"ended": 2 - left}
    assert (UserSession.objects.filter(user=ada).count(), UserSession.objects.count()) == (left, left + 1)


def test_tokens_are_listed_without_what_opens_anything(ada: User) -> None:
    BenchmarkFactory(slug="cardio", admin=ada)
    key = token_of(ada, "read")
    token_of(UserFactory(), "read")
    token_of(ada, "grade", "run", benchmark="cardio")
    answer = with_token(key).get(TOKENS)
    newest, first = answer.json()["results"]
    assert (newest["scopes"], newest["benchmark"], newest["last_used_at"]) == (["grade", "run"], "cardio", None)
    assert (first["scopes"], first["benchmark"], first["revoked_at"]) == (["read"], "", None)
    assert key.startswith(first["prefix"]) and len(first["prefix"]) < len(key) / 2
    text = json.dumps(answer.json())
    assert key not in text and not any(row.token_hash in text for row in ApiToken.objects.all())


def test_a_token_is_revoked_and_on_record(ada: User) -> None:
    key, other = token_of(ada, "admin"), token_of(ada, "read")
    row = ApiToken.objects.get(user=ada, scopes=["read"])
    for _twice in range(2):
        assert with_token(key).delete(f"{TOKENS}{row.public_id}/").status_code == 204
    assert with_token(other).get(TOKENS).status_code == 401
    event = SecurityEvent.objects.get(kind="api_token_revoked")
    assert (event.user, event.by, event.values["token"]) == (ada, ada, row.public_id)


def test_a_token_revokes_itself(ada: User) -> None:
    key = token_of(ada, "admin")
    assert with_token(key).delete(f"{TOKENS}{ApiToken.objects.get().public_id}/").status_code == 204
    assert with_token(key).get(TOKENS).status_code == 401


def test_the_token_of_somebody_else_is_not_there(ada: User) -> None:
    token_of(UserFactory(), "read")
    [theirs] = ApiToken.objects.all()
    assert with_token(token_of(ada, "admin")).delete(f"{TOKENS}{theirs.public_id}/").status_code == 404
    theirs.refresh_from_db()
    assert theirs.revoked_at is None


@pytest.mark.parametrize("scope", ["read", "grade", "run"])
def test_only_the_scope_admin_ends_anything(ada: User, scope: str) -> None:
    sign_in()
    client = with_token(token_of(ada, scope))
    [row] = ApiToken.objects.all()
    for address in (SESSIONS, f"{SESSIONS}{'0' * 16}/", f"{TOKENS}{row.public_id}/"):
        assert client.delete(address).status_code == 403
    assert UserSession.objects.filter(expire_date__gt=timezone.now() + timedelta(hours=1)).count() == 1
