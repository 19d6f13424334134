"""Every page with the roles that see it, from the list of endpoints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.conf import settings
from django.test import Client
from django.urls import NoReverseMatch, reverse

from tests.access.endpoints import ENDPOINTS
from tests.access.world import World

# Where several roles share a page, these see the most of it; who stands first opens it.
VIEWERS = ("admin", "annotator", "checker", "adjudicator", "superuser", "outsider", "anonymous")
# They hold nothing of a benchmark, but people see them.
SIGN_IN = {
    "account_login": "anonymous",
    "account_reset_password": "anonymous",
    "account_reset_password_done": "anonymous",
    "account_logout": "annotator",
    "account_change_password": "annotator",
    "account_reauthenticate": "annotator",
    "mfa_index": "annotator",
    "mfa_list_webauthn": "annotator",
}
# They show other things to each of those who may see them.
OWN_TO_EACH = {
    "accounts:home": ("admin", "annotator", "outsider"),
    "annotation:work": ("annotator", "outsider"),
    "annotation:checks": ("checker", "annotator"),
    "annotation:adjudications": ("adjudicator", "annotator"),
    "annotation:own-quality": ("annotator", "outsider"),
}


@dataclass(frozen=True)
class Page:
    """One page as one role sees it."""

    name: str
    role: str
    url: str


def pages(world: World) -> Iterator[Page]:
    """Each address that answers GET, by the role that sees the most of it."""
    for name, role in SIGN_IN.items():
        yield Page(name, role, reverse(name))
    for name, endpoint in ENDPOINTS.items():
        if endpoint.framework or endpoint.writes_only or name.startswith("api:"):
            continue
        try:
            url = reverse(name, kwargs=endpoint.arguments(world) if endpoint.arguments else None)
        except NoReverseMatch:
            continue
        seen_by = [role for role in VIEWERS if role in endpoint.roles] or sorted(endpoint.roles)[:1]
        for role in OWN_TO_EACH.get(name, seen_by[:1]):
            yield Page(name, role, url)


def client_of(world: World, role: str, language: str = "en") -> Client:
    """A client signed in as ``role`` that reads ``language``."""
    client = Client(raise_request_exception=False)  # what breaks is the business of test_url_matrix
    user = world.users[role]
    if user is not None:
        client.force_login(user)
    client.cookies[settings.LANGUAGE_COOKIE_NAME] = language
    return client
