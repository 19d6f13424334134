"""Every address × every role: who gets in, and that everybody else sees what they would see were it not there."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable, Iterator
from typing import IO, Any

import pytest
from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils.translation import override

import config.urls
from agreement.models import Report
from agreement.reports import files
from tests.access.endpoints import ENDPOINTS, Endpoint
from tests.access.pages import SIGN_IN
from tests.access.pages import client_of as client_of_language
from tests.access.words import english_in, stored_texts
from tests.access.world import ROLES, World

pytestmark = pytest.mark.slow

METHODS = ("get", "post")
# Every method is tried by those who have no business at all; for the others the two that endpoints use.
ALL_METHODS = (*METHODS, "put", "patch", "delete")
# What a closed endpoint may answer: as if it were not there, or that this method is none of its, whoever asks.
CLOSED = {404, 405}
CLOSED_ANONYMOUS = {302, 401, 403, 404, 405}
# An open endpoint may refuse the empty form, but must not deny that it is there.
OPEN = {200, 201, 202, 204, 301, 302, 303, 400, 405, 409, 415, 422}

# Middleware that adds headers to an answer, or notes who asked.
WITHOUT_A_SAY = ("django.middleware.security", "django.middleware.clickjacking", "csp.", "pghistory.")


def names_of(patterns: list[Any], namespace: str = "") -> Iterator[tuple[str, str]]:
    """(name, route) of every address in the URLconf."""
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            inner = f"{namespace}{pattern.namespace}:" if pattern.namespace else namespace
            yield from names_of(pattern.url_patterns, inner)
        elif isinstance(pattern, URLPattern):
            # allauth's redirects of former addresses have no name
            yield f"{namespace}{pattern.name or pattern.pattern}", str(pattern.pattern)


def test_every_address_has_an_expectation() -> None:
    routes = dict(names_of(get_resolver().url_patterns))
    assert sorted(set(routes) - set(ENDPOINTS)) == [], "addresses without an expectation in tests/access/endpoints.py"
    assert sorted(set(ENDPOINTS) - set(routes)) == [], "expectations of addresses that are not there"


@pytest.fixture(scope="module")
def addresses() -> dict[str, str]:
    """The address of each endpoint in the world of this module, once `address` was asked for it."""
    return {}


def address(name: str, endpoint: Endpoint, world: World, addresses: dict[str, str]) -> str:
    """Where ``endpoint`` is; what stands in it is read from the database once, and not for every role."""
    if name not in addresses:
        addresses[name] = reverse(name, kwargs=endpoint.arguments(world) if endpoint.arguments else None)
    return addresses[name]


@pytest.mark.parametrize("role", ROLES)
def test_closed_endpoints(
    role: str, world: World, addresses: dict[str, str], monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    """No method gets a role into an address that is not its own; nothing differs from an address that is not there."""
    # Thousands of times the same page would be made, and only its status is looked at: of what comes before a view,
    # what has no say in whether it is reached is left out, and each user is read once.
    settings.MIDDLEWARE = [name for name in settings.MIDDLEWARE if not name.startswith(WITHOUT_A_SAY)]
    users = {user.pk: user for user in world.users.values() if user is not None}
    monkeypatch.setattr(ModelBackend, "get_user", lambda self, pk: copy.copy(users[int(pk)]))
    monkeypatch.setattr(config.urls, "handler404", lambda request, exception: HttpResponse(status=404), raising=False)
    wrong = []
    client = Client(raise_request_exception=True)
    user = world.users[role]
    if user is not None:
        client.force_login(user)
    for name, endpoint in ENDPOINTS.items():
        if role in endpoint.roles or endpoint.framework:
            continue
        url = address(name, endpoint, world, addresses)
        for method in ALL_METHODS if role in ("anonymous", "outsider") else METHODS:
            body = {"content_type": "application/json"} if name.startswith("api:") and method != "get" else {}
            status = getattr(client, method)(url, **body).status_code
            if status not in (CLOSED_ANONYMOUS if role == "anonymous" else CLOSED):
                wrong.append(f"{method.upper()} {url} ({name}) as {role}: {status}")
            if role != "anonymous" and method == "get" and status == 405 and not endpoint.writes_only:
                wrong.append(f"GET {url} ({name}) as {role}: 405 tells that it is there")
    assert not wrong, "\n" + "\n".join(wrong)


def test_open_endpoints(world: World, addresses: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A role gets into what is its own, and whoever reads Chinese finds no English sentence there.

    Only GET: what endpoints write is tested beside them, how they refuse in tests/design/test_translations.py.
    """
    archives: dict[int, bytes] = {}

    def made_once(report: Report, make: Callable[[Report], IO[bytes]] = files.archive) -> IO[bytes]:
        if report.pk not in archives:
            with make(report) as archive:
                archives[report.pk] = archive.read()
        return io.BytesIO(archives[report.pk])

    # It is the same whoever asks, at whatever endpoint, and takes longer than twenty pages.
    monkeypatch.setattr(files, "archive", made_once)
    stored = stored_texts()
    wrong, english, read = [], set(), 0
    for role in ROLES:
        client = client_of_language(world, role, "zh-hans")
        client.raise_request_exception = True
        for name, endpoint in ENDPOINTS.items():
            if SIGN_IN.get(name) != role and (role not in endpoint.roles or endpoint.framework):
                continue
            url = address(name, endpoint, world, addresses)
            with override(settings.LANGUAGE_CODE):  # a request leaves its language behind
                answer = client.get(url)
            status = answer.status_code
            if status not in OPEN or (status == 405) != endpoint.writes_only:
                wrong.append(f"GET {url} ({name}) as {role}: {status}")
            html = answer.headers.get("Content-Type", "").startswith("text/html")
            if html:
                read += 1
                english |= {f"{name} as {role}: {text}" for text in english_in(answer, stored)}
            for close in answer._resource_closers:  # `close` itself would end the test's connection as well
                close()
    assert not wrong, "\n" + "\n".join(wrong)
    assert not english, "\n" + "\n".join(sorted(english))
    assert read > 150
