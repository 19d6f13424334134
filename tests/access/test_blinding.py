"""Nothing that a blinded role must not know is in any answer it can get: page, fragment, API, refusal or header."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from tests.access.doors import DOORS
from tests.access.world import World, build_world

# The facts that each role must not meet; the names are those of World.canaries.
OF_THE_RESPONSE = {
    "candidate", "other candidate", "external id", "candidate's metadata", "response's metadata", "judge", "verdict",
}  # fmt: skip
OF_GROUP_B = {"group B", "group B's note", "group B's batch"}
OF_A_COLLEAGUE = {"second annotator's note", "amendment of another's work"}
OF_GROUP_A = {"group A", "group A's batch", "group A's note", *OF_A_COLLEAGUE}
HIDDEN = {
    "annotator": OF_THE_RESPONSE | OF_GROUP_B | OF_A_COLLEAGUE,
    "checker": OF_THE_RESPONSE | OF_GROUP_B,
    "adjudicator": OF_THE_RESPONSE | OF_GROUP_B,
    "group_b_annotator": OF_THE_RESPONSE | OF_GROUP_A,
    "outsider": OF_THE_RESPONSE | OF_GROUP_B | OF_GROUP_A,
    "left": OF_THE_RESPONSE | OF_GROUP_B | OF_A_COLLEAGUE,
    "author": OF_THE_RESPONSE | OF_GROUP_B | OF_GROUP_A,
    "auditor": OF_THE_RESPONSE | OF_GROUP_B | OF_GROUP_A,
}


@pytest.fixture
def world(db: None) -> World:
    made = build_world()
    made.canaries |= {
        "group A": "Group A",
        "group A's batch": "Batch A",
        "group A's note": "note of the first annotator",
    }
    return made


def answers(client: Client, world: World, role: str) -> Iterator[tuple[str, HttpResponse]]:
    """Every door, in the way that it takes; its own doors read and written to, with an empty and a senseless body."""
    for name, door in DOORS.items():
        if door.framework and name != "mfa_index":
            continue
        url = reverse(name, kwargs=door.arguments(world) if door.arguments else None)
        if role not in door.roles:
            refused = client.get(url)
            yield f"GET {url}", refused
            if refused.status_code == 405:
                yield f"POST {url}", client.post(url, {"outcome": "met"}, headers={"HX-Request": "true"})
            continue
        for headers in ({}, {"HX-Request": "true"}):
            yield f"GET {url}", client.get(url, headers=headers)
        yield f"OPTIONS {url}", client.options(url)
        for body in ({}, {"outcome": "sideways", "version": "x", "note": "n"}):
            yield f"POST {url}", client.post(url, body, headers={"HX-Request": "true"})
            yield f"POST json {url}", client.post(url, json.dumps(body), content_type="application/json")


def text_of(response: HttpResponse) -> str:
    body = b"".join(response) if response.streaming else response.content
    headers = "\n".join(f"{name}: {value}" for name, value in response.items())
    cookies = response.cookies.output()
    return f"{headers}\n{cookies}\n{body.decode(errors='replace')}".lower()


@pytest.mark.parametrize("role", HIDDEN)
def test_no_canary_in_any_answer(role: str, world: World) -> None:
    client = Client(raise_request_exception=True)
    user = world.users[role]
    assert user is not None
    client.force_login(user)
    found, seen = [], 0
    for what, response in answers(client, world, role):
        text = text_of(response)
        seen += response.status_code == 200
        found += [f"{what}: {fact}" for fact in HIDDEN[role] if world.canaries[fact].lower() in text]
    assert seen > 3, "the role got into almost nothing, so this test looked at almost nothing"
    assert not found, "\n" + "\n".join(sorted(set(found)))


def test_the_canaries_are_there_for_those_who_may_see_them(world: World) -> None:
    """What the test above looks for does stand on the pages of those who run the benchmark."""
    client = Client()
    admin = world.users["admin"]
    assert admin is not None
    client.force_login(admin)
    pages = (reverse(name, kwargs=door.arguments(world) if door.arguments else None)
             for name, door in DOORS.items() if "admin" in door.roles and not door.framework)  # fmt: skip
    missing = {"candidate", "other candidate", "judge", "group B", "group B's batch"}
    for url in pages:
        text = text_of(client.get(url))
        missing = {fact for fact in missing if world.canaries[fact].lower() not in text}
        if not missing:
            break
    assert not missing
