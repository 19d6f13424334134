"""Requests that no page of ours sends: a form where JSON is taken, and a visit to an address that only takes forms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from tests.access.endpoints import ENDPOINTS
from tests.access.test_body_limits import address
from tests.access.world import World

pytestmark = pytest.mark.slow
SENTENCE = "The request does not match the page. Reload the page."
TAKES_JSON = {
    *("annotation:decisions", "annotation:time", "annotation:label-time"),
    *("annotation:writing-save", "annotation:writing-time", "rubrics:audit-item-save", "rubrics:audit-item-submit"),
    *("rubrics:write-case-save", "rubrics:write-preview", "rubrics:write-time", "rubrics:rubric-draft"),
    *("rubrics:rubric-lint", "validation:splitting-save", "drafting:suggestions-decide"),
}


def pages(world: World) -> Iterator[tuple[str, str, Any]]:
    """Name and address of each endpoint of pages, with somebody who may use it."""
    for name, endpoint in ENDPOINTS.items():
        roles = [role for role in endpoint.roles if world.users.get(role) is not None]
        if not endpoint.framework and not name.startswith("api:") and roles:
            yield name, address(name, world), world.users[sorted(roles)[0]]


def test_a_form_that_is_sent_to_any_page_is_no_error_of_the_server(world: World) -> None:
    errors, refused = [], set()
    for name, url, user in pages(world):
        client = Client(enforce_csrf_checks=True, raise_request_exception=False)
        client.force_login(user)
        client.get("/profile/")
        token = client.cookies["csrftoken"].value if "csrftoken" in client.cookies else ""
        with transaction.atomic():
            answer = client.post(url, {"x": "1", "csrfmiddlewaretoken": token})
            transaction.set_rollback(True)
        if answer.status_code >= 500:
            errors.append(f"{name}: {answer.status_code}")
        if answer.headers.get("Content-Type") == "application/json" and answer.json().get("detail") == SENTENCE:
            assert answer.status_code == 400
            refused.add(name)
    assert errors == []
    assert TAKES_JSON - refused == set()


def test_a_visit_to_an_address_that_only_takes_forms_is_a_page_with_a_way_back(world: World) -> None:
    visited = 0
    for name, endpoint in ENDPOINTS.items():
        if endpoint.framework or name.startswith("api:") or not endpoint.writes_only:
            continue
        user = next(filter(None, (world.users.get(role) for role in sorted(endpoint.roles))))
        client = Client()
        client.force_login(user)
        answer = client.get(address(name, world), headers={"referer": "http://testserver/profile/"})
        assert answer.status_code == 405, name
        assert "This address shows no page" in answer.content.decode(), name
        assert "GET" not in answer["Allow"], name
        assert answer.context["back"] == "/profile/"
        visited += 1
    assert visited > 100


@pytest.mark.parametrize(
    "referer",
    [
        *("", "https://elsewhere.example/x", "http://testserver/b/SLUG/cohort/import/", "::", "http://["),
        *("http://testserver//elsewhere.example/x", "javascript:alert(1)"),
    ],
)
def test_no_way_back_is_shown_to_another_site_or_to_the_address_itself(world: World, referer: str) -> None:
    slug = world.benchmark.slug
    client = Client()
    client.force_login(world.users["admin"])
    answer = client.get(f"/b/{slug}/cohort/import/", headers={"referer": referer.replace("SLUG", slug)})
    assert answer.context["back"] == ""
    assert b">Back<" not in answer.content


def test_a_form_for_a_page_that_takes_none_is_answered_with_a_page(world: World) -> None:
    client = Client()
    client.force_login(world.users["admin"])
    answer = client.post(f"/b/{world.benchmark.slug}/cohort/")
    assert answer.status_code == 405
    assert "This page takes no form" in answer.content.decode()


def test_scripts_and_the_api_get_no_page(world: World) -> None:
    client = Client()
    client.force_login(world.users["admin"])
    url = f"/b/{world.benchmark.slug}/cohort/import/"
    for headers in ({"accept": "application/json"}, {"HX-Request": "true"}):
        answer = client.get(url, headers=headers)
        assert (answer.status_code, answer.content) == (405, b"")
    answer = client.delete(f"/api/v1/benchmarks/{world.benchmark.slug}/applications/")
    assert (answer.status_code, answer.headers["Content-Type"]) == (405, "application/json")


def test_the_page_tells_a_stranger_nothing_of_the_benchmark(world: World) -> None:
    client = Client()
    client.force_login(world.users["outsider"])
    answer = client.get(f"/b/{world.benchmark.slug}/cohort/import/")
    assert answer.status_code == 405
    assert world.benchmark.title not in answer.content.decode()
