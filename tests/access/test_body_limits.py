"""Every route refuses a long body from its header, but those that are listed, for those who may use them."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.test import Client
from django.urls import get_resolver, reverse

from config.body_limits import LONG_BODIES
from tests.access.endpoints import ENDPOINTS
from tests.access.test_url_matrix import names_of
from tests.access.world import World

MB = 10**6
SIGN_IN, IMPORT_API = "/accounts/login/", "/api/v1/benchmarks/study/imports/"


def too_long(client: Client, path: str, length: int, **headers: str) -> tuple[int, str]:
    """Announce so many bytes; there are none, so a body that is read would be short."""
    answer = client.generic("POST", path, b"", "multipart/form-data; boundary=x", CONTENT_LENGTH=str(length), **headers)
    return answer.status_code, answer.headers["Content-Type"]


def client_of(world: World, role: str) -> Client:
    client = Client(enforce_csrf_checks=True)
    if (user := world.users[role]) is not None:
        client.force_login(user)
    return client


# What stands in addresses that no row of the world has.
ARGUMENTS = {
    "account_confirm_email": {"key": "x"},
    "account_reset_password_from_key": {"uidb36": "1", "key": "x"},
    "openid_connect_login": {"provider_id": "sso"},
    "openid_connect_callback": {"provider_id": "sso"},
    "accounts:unsubscribe": {"token": "x"},
    "accounts:welcome": {"token": "x"},
    "mfa_edit_webauthn": {"pk": 1},
    "mfa_remove_webauthn": {"pk": 1},
}


def address(name: str, world: World) -> str:
    """Where a route is; allauth's former addresses have no name, and are their own."""
    if "/" in name:
        return f"/accounts/{name}"
    endpoint = ENDPOINTS[name]
    return reverse(name, kwargs=endpoint.arguments(world) if endpoint.arguments else ARGUMENTS.get(name))


@pytest.mark.slow
def test_every_route_refuses_4_mb_but_those_that_are_listed(world: World) -> None:
    names = {name for name, _route in names_of(get_resolver().url_patterns)}
    assert set(LONG_BODIES) <= names
    clients = {role: client_of(world, role) for role in ("anonymous", "admin", "annotator", "author")}
    passed: dict[str, set[str]] = {}
    for name in sorted(names):
        path = address(name, world)
        for role, client in clients.items():
            if too_long(client, path, 4 * MB)[0] != 413:
                passed.setdefault(name, set()).add(role)
    assert set(passed) == set(LONG_BODIES)
    for name, roles in passed.items():
        assert roles <= ENDPOINTS[name].roles - {"anonymous"}, (name, roles)


@pytest.mark.slow
def test_each_listed_route_has_a_limit_of_its_own(world: World) -> None:
    for name, route in LONG_BODIES.items():
        role = next(role for role in ("admin", "author", "annotator") if role in ENDPOINTS[name].roles)
        client = client_of(world, role)
        assert too_long(client, address(name, world), route.limit)[0] != 413, name
        assert too_long(client, address(name, world), route.limit + 1)[0] == 413, name


@pytest.mark.slow
@pytest.mark.django_db
def test_3_mb_pass_and_a_byte_more_does_not(client: Client) -> None:
    assert too_long(client, SIGN_IN, settings.MAX_BODY_BYTES)[0] == 200
    assert too_long(client, SIGN_IN, settings.MAX_BODY_BYTES + 1)[0] == 413


@pytest.mark.django_db
def test_the_refusal_has_the_shape_of_the_route_and_the_words_of_its_reader(client: Client) -> None:
    page = client.post(SIGN_IN, CONTENT_LENGTH=str(4 * MB))
    assert page.status_code == 413
    assert page.headers["Content-Type"].startswith("text/html")
    assert "the limit here is 3 MB" in page.content.decode()
    for path, headers in ((IMPORT_API, {}), (SIGN_IN, {"HTTP_ACCEPT": "application/json"})):
        answer = client.post(path, CONTENT_LENGTH=str(4 * MB), **headers)
        assert answer.status_code == 413
        assert list(answer.json()) == ["detail"]
        assert "the limit here is 3 MB" in answer.json()["detail"]
    client.cookies[settings.LANGUAGE_COOKIE_NAME] = "zh-hans"
    assert 'lang="zh-hans"' in client.post(SIGN_IN, CONTENT_LENGTH=str(4 * MB)).content.decode()
