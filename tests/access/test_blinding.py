"""Nothing that a blinded role must not know is in any answer it can get: page, fragment, API, refusal or header."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.backends import ModelBackend
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import reverse
from django.views.defaults import page_not_found

import config.urls
from tests.access.endpoints import ENDPOINTS
from tests.access.world import World

pytestmark = pytest.mark.slow

# The facts that each role must not meet; the names are those of World.canaries.
OF_THE_RESPONSE = {
    "candidate", "other candidate", "external id", "candidate's metadata", "response's metadata", "judge", "verdict",
    "label from elsewhere", "reading", "forced choice", "framing", "reference set", "plan of acuity",
    "rubric set", "coverage run", "near-miss pair", "recipe", "drafting run", "applicant",
    "candidate's attributes",
}  # fmt: skip
OF_GROUP_B = {"group B", "group B's note", "group B's batch"}
OF_A_COLLEAGUE = {"second annotator's note", "amendment of another's work"}
# What a physician wrote to a vote, and an adjudicator to a ruling.
OF_VOTES = {"note of round 1", "note to rule on", "note that was ruled on", "ruling"}
OF_GROUP_A = {"group A", "group A's batch", "group A's note", *OF_A_COLLEAGUE, *OF_VOTES}
HIDDEN = {
    "annotator": OF_THE_RESPONSE | OF_GROUP_B | OF_A_COLLEAGUE | OF_VOTES,
    "checker": OF_THE_RESPONSE | OF_GROUP_B | OF_VOTES,
    "adjudicator": OF_THE_RESPONSE | OF_GROUP_B | OF_VOTES,
    "group_b_annotator": OF_THE_RESPONSE | OF_GROUP_A,
    "outsider": OF_THE_RESPONSE | OF_GROUP_B | OF_GROUP_A | {"document"},
    "left": OF_THE_RESPONSE | OF_GROUP_B | OF_A_COLLEAGUE | OF_VOTES | {"document"},
    # Suggestions for a case have opened to the author, who may then see how they came about.
    "author": (OF_THE_RESPONSE - {"drafting run"}) | OF_GROUP_B | OF_GROUP_A,
    "auditor": OF_THE_RESPONSE | OF_GROUP_B | OF_GROUP_A,
}


@pytest.fixture
def canaries(world: World) -> dict[str, str]:
    return world.canaries | {
        "group A": "Group A",
        "group A's batch": "Batch A",
        "group A's note": "note of the first annotator",
    }


@pytest.fixture
def _refusals_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page that says that nothing is there differs by the reader, the benchmark and the reason, and by no more.

    It takes four times as long as finding out that nothing is there, and is the answer of most endpoints.
    """
    responses_by_kind: dict[tuple[Any, ...], HttpResponse] = {}

    def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
        match = request.resolver_match
        slug = match.kwargs.get("slug") if match else None
        kind = (request.user.pk, slug, str(exception), request.method, "HX-Request" in request.headers)
        if kind not in responses_by_kind:
            responses_by_kind[kind] = page_not_found(request, exception)
        return copy.copy(responses_by_kind[kind])

    monkeypatch.setattr(config.urls, "handler404", not_found, raising=False)


@pytest.fixture
def _users_read_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most endpoints are closed after one question about the user; who that is need not be asked anew each time."""
    users = {user.pk: user for user in world.users.values() if user is not None}
    monkeypatch.setattr(ModelBackend, "get_user", lambda self, pk: copy.copy(users[int(pk)]))


def answers(client: Client, world: World, role: str) -> Iterator[tuple[str, HttpResponse]]:
    """Every endpoint, as it is used; its own endpoints read and written to, with an empty and a senseless body.

    To an endpoint of the API an empty form is no different from a senseless one, and its answers know nothing of htmx;
    to a page an empty JSON is an empty form, and OPTIONS a way to read.
    """
    for name, endpoint in ENDPOINTS.items():
        if endpoint.framework and name != "mfa_index":
            continue
        url = reverse(name, kwargs=endpoint.arguments(world) if endpoint.arguments else None)
        if role not in endpoint.roles:
            refused = client.get(url)
            yield f"GET {url}", refused
            if refused.status_code == 405:
                yield f"POST {url}", client.post(url, {"outcome": "met"}, headers={"HX-Request": "true"})
            continue
        senseless = {"outcome": "sideways", "version": "x", "note": "n"}
        yield f"GET {url}", client.get(url)
        if name.startswith("api:"):
            yield f"OPTIONS {url}", client.options(url)
            yield f"POST empty {url}", client.post(url, "{}", content_type="application/json")
        else:
            yield f"GET by htmx {url}", client.get(url, headers={"HX-Request": "true"})
            for body in ({}, senseless):
                yield f"POST {url}", client.post(url, body, headers={"HX-Request": "true"})
        yield f"POST json {url}", client.post(url, json.dumps(senseless), content_type="application/json")


def text_of(response: HttpResponse) -> str:
    body = b"".join(response) if response.streaming else response.content
    headers = "\n".join(f"{name}: {value}" for name, value in response.items())
    cookies = response.cookies.output()
    return f"{headers}\n{cookies}\n{body.decode(errors='replace')}".lower()


@pytest.mark.parametrize("role", HIDDEN)
@pytest.mark.usefixtures("_refusals_cached", "_users_read_once")
def test_no_canary_in_any_answer(role: str, world: World, canaries: dict[str, str]) -> None:
    client = Client(raise_request_exception=True)
    user = world.users[role]
    assert user is not None
    client.force_login(user)
    leaks, seen = [], 0
    for what, response in answers(client, world, role):
        text = text_of(response)
        seen += response.status_code == 200
        shown = {"note to rule on"} if f"/rulings/{world.to_rule.public_id}/" in what else set()
        leaks += [f"{what}: {fact}" for fact in HIDDEN[role] - shown if canaries[fact].lower() in text]
    assert seen > 3, "the role got into almost nothing, so this test looked at almost nothing"
    assert not leaks, "\n" + "\n".join(sorted(set(leaks)))


@pytest.mark.parametrize(
    ("role", "path", "fact"),
    [
        ("annotator", "/work/labels/{world.second_round.public_id}/", "note of round 1"),
        ("annotator", "/api/v1/work/labels/{world.second_round.public_id}/", "note of round 1"),
        ("adjudicator", "/work/rulings/{world.to_rule.public_id}/", "note to rule on"),
        ("adjudicator", "/api/v1/work/rulings/{world.to_rule.public_id}/", "note to rule on"),
    ],
)
def test_a_second_round_and_a_ruling_show_the_notes_on_that_case_and_no_more(
    role: str, path: str, fact: str, world: World, canaries: dict[str, str]
) -> None:
    client = Client()
    user = world.users[role]
    assert user is not None
    client.force_login(user)
    text = text_of(client.get(path.format(world=world)))
    assert [name for name in sorted(HIDDEN[role]) if canaries[name].lower() in text] == [fact]
    people = {name: other for name, other in world.users.items() if other is not None and name != role}
    assert not [name for name, other in people.items() if other.name.lower() in text or other.email in text]


def test_the_canaries_are_there_for_those_who_may_see_them(world: World) -> None:
    """What the test above looks for does stand on the pages of those who run the benchmark."""
    client = Client()
    admin = world.users["admin"]
    assert admin is not None
    client.force_login(admin)
    pages = (reverse(name, kwargs=endpoint.arguments(world) if endpoint.arguments else None)
             for name, endpoint in ENDPOINTS.items()
             if "admin" in endpoint.roles and not endpoint.framework)  # fmt: skip
    missing = {
        "candidate", "other candidate", "judge", "group B", "group B's batch", "label from elsewhere", "reading",
        "forced choice", "framing", "reference set", "plan of acuity", "ruling", "document", "rubric set",
        "coverage run", "near-miss pair", "refinement", "recipe", "drafting run", "applicant",
        "candidate's attributes",
    }  # fmt: skip
    for url in pages:
        text = text_of(client.get(url))
        missing = {fact for fact in missing if world.canaries[fact].lower() not in text}
        if not missing:
            break
    assert not missing
