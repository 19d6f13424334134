"""Every endpoint of the API takes tokens with the scope that it needs, and a token for one benchmark opens no other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import caches
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import get_resolver, reverse

from accounts.models import ApiToken, User
from config.api_scopes import OF_THE_SERVER, PUBLIC, Route, routes_of, undeclared
from tests.access.endpoints import ADMIN, ENDPOINTS, STAFF
from tests.access.world import ROLES, World
from tests.factories import token_of

pytestmark = pytest.mark.slow

SCOPES = ("read", "grade", "run", "admin")
# What people write by an endpoint that its roles do not tell: endpoints that researchers see, and admins write to; and
# endpoints that physicians or authors see, and researchers write to.
ADMINISTERED = {
    *("api-benchmarks", "api-benchmark", "api-staff", "api-groups", "api-group", "api-members", "api-member"),
    *("api-batches", "api-batch", "api-batch-preview", "api-batch-pause", "api-batch-open", "api-batch-close"),
    *("api-conflicts", "api-regrading", "api-audits", "api-authors", "api-author", "api-staff-member"),
    *("api-second-round", "api-ask-for-rulings", "api-writing-new"),
    *(
        "api-application-reviews",
        "api-application-erase",
        "api-drafting-terms",
        "api-suggestions-withdraw",
        "api-second-step",
        "api-code-books",
    ),
    *("api-accounts", "api-account-deactivate", "api-account-activate", "api-sessions", "api-session", "api-token"),
}
# Open to one person, who is not the one who asks here: who reviews the draft, who sent it, and whose session it is.
OF_ONE_PERSON = {"api-review", "api-take-back", "api-session"}
# Whose lists of work have rows, and who has a next piece of work.
WORKERS = {
    "api-assignments": "annotator",
    "api-label-tasks": "annotator",
    "api-checks": "checker",
    "api-check-next": "checker",
    "api-adjudications": "adjudicator",
    "api-adjudication-next": "adjudicator",
    "api-ruling-requests": "adjudicator",
}
IMPORTED = {"api-collections", "api-collection", "api-collection-documents", "api-document"}


def endpoints() -> Iterator[tuple[Route, frozenset[str]]]:
    for route in routes_of(get_resolver().url_patterns, "/"):
        if route.path.startswith("/api/v1/") and route.name not in PUBLIC:
            # Nobody may review the case of the world; its author may review others.
            roles = ENDPOINTS[f"api:{route.name}"].roles or frozenset({"author"})
            yield route, frozenset({WORKERS[route.name]}) if route.name in WORKERS else roles


def expected_scope(route: Route, roles: frozenset[str], method: str) -> str:
    """What the documentation says: reading; the work of physicians and authors; what researchers start; the rest."""
    if method == "GET":
        return "admin" if route.path.endswith(("/security-log/", "/changes/", "/applications/")) else "read"
    if route.name in ADMINISTERED:
        return "admin"
    if route.name in IMPORTED or roles <= STAFF:
        return "run"
    return "grade"


def test_the_endpoints_that_only_admins_reach_are_administered() -> None:
    of_admins = {route.name for route, roles in endpoints() if roles == ADMIN and route.writes}
    assert len(of_admins) > 10 and of_admins <= ADMINISTERED


def url_of(route: Route, world: World) -> str:
    arguments = ENDPOINTS[f"api:{route.name}"].arguments
    return reverse(f"api:{route.name}", kwargs=arguments(world) if arguments else None)


def owner_of(world: World, roles: frozenset[str]) -> User:
    [role, *_others] = [role for role in ("admin", "researcher", *sorted(ROLES)) if role in roles]
    user = world.users[role]
    assert user is not None
    return user


def send(key: str, method: str, url: str) -> tuple[int, Any]:
    """The answer to an empty body, and what is in it; nothing of it stays."""
    caches["rates"].clear()
    client = Client(headers={"Authorization": f"Bearer {key}"}, raise_request_exception=False)
    with transaction.atomic():
        body = {} if method == "GET" else {"data": "{}", "content_type": "application/json"}
        answer: HttpResponse = getattr(client, method.lower())(url, **body)
        transaction.set_rollback(True)
    is_json = not answer.streaming and answer.headers.get("Content-Type", "").startswith("application/json")
    content = answer.json() if is_json else None  # type: ignore[attr-defined]
    for close in answer._resource_closers:  # `close` itself would end the test's connection as well
        close()
    return answer.status_code, content


def scope_named(content: Any) -> str:
    """The scope that a refusal names; empty for any other answer."""
    detail = content.get("detail", "") if isinstance(content, dict) else ""
    before, words, after = str(detail).partition("This needs an API token with the scope “")
    return after.removesuffix("”.") if words and not before else ""


def test_every_endpoint_needs_the_scope_that_belongs_to_it(world: World) -> None:
    keys: dict[tuple[int, str], str] = {}
    wrong: list[str] = []
    refused = passed = 0
    for route, roles in endpoints():
        owner, url = owner_of(world, roles), url_of(route, world)
        for method in ("GET", *sorted(route.writes)):
            if method == "GET" and ENDPOINTS[f"api:{route.name}"].writes_only:
                continue
            needed = expected_scope(route, roles, method)
            for scope in SCOPES:
                key = keys.setdefault((owner.pk, scope), "") or token_of(owner, scope)
                keys[owner.pk, scope] = key
                status, content = send(key, method, url)
                named = scope_named(content)
                if scope == needed:
                    passed += 1
                    is_right = not named and status not in (401, 405, 500)
                    is_right = is_right and (status != 404 or route.name in OF_ONE_PERSON)
                else:
                    refused += 1
                    is_right = (status, named) == (403, needed)
                if not is_right:
                    wrong.append(f"{method} {route.name} with {scope}, needs {needed}: {status} {content}")
    assert wrong == [], "\n".join(wrong[:40])
    assert passed > 250 and refused == 3 * passed


def test_a_method_that_is_not_there_is_405_whatever_the_scope(world: World) -> None:
    key = token_of(owner_of(world, STAFF), "read")
    url = f"/api/v1/benchmarks/{world.benchmark.slug}/cases/"
    assert send(key, "DELETE", url)[0] == 405
    assert send(key, "POST", url)[0] == 405


def test_a_token_for_another_benchmark_opens_nothing(world: World) -> None:
    """Everybody has work in the benchmark of the world, and a token for the other one alone."""
    wrong: list[str] = []
    lists = tried = 0
    for route, roles in endpoints():
        owner, url = owner_of(world, roles), url_of(route, world)
        key = token_of(owner, benchmark=world.other.slug)
        for method in ("GET", *sorted(route.writes)):
            if method == "GET" and ENDPOINTS[f"api:{route.name}"].writes_only:
                continue
            status, content = send(key, method, url)
            tried += 1
            if "{" in route.path and route.name not in OF_THE_SERVER:
                is_right = status == 404
            elif (route.name, method) == ("api-benchmarks", "POST") or route.name in OF_THE_SERVER:
                is_right = status == 403 and content["detail"] == (
                    "This API token is limited to the benchmark “other”."
                )
            elif method == "GET":
                lists += 1
                is_right = status == 200 and content["results"] == [] and content["count"] == 0
            else:
                is_right = status == 204  # there is no next piece of work
            if not is_right:
                wrong.append(f"{method} {route.name}: {status} {content}")
        ApiToken.objects.all().delete()
    assert wrong == [], "\n".join(wrong[:40])
    assert tried > 250 and lists == 7


def test_a_token_for_the_benchmark_opens_what_one_for_all_opens(world: World) -> None:
    wrong: list[str] = []
    full = 0
    for route, roles in endpoints():
        owner, url = owner_of(world, roles), url_of(route, world)
        if ENDPOINTS[f"api:{route.name}"].writes_only or route.name in OF_THE_SERVER:
            continue
        own = send(token_of(owner, benchmark=world.benchmark.slug), "GET", url)
        everything = send(token_of(owner), "GET", url)
        if own != everything or own[0] not in (200, 400, 404):
            wrong.append(f"GET {route.name}: {own} and not {everything}")
        if "{" not in route.path:
            full += bool(own[1]["results"])
        ApiToken.objects.all().delete()
    assert wrong == [], "\n".join(wrong[:40])
    assert full >= 6, "lists with rows"


def test_lists_and_next_pieces_hold_the_benchmark_of_the_token_alone(world: World) -> None:
    """A person with work in two benchmarks sees with a token for one what is of that one."""
    person = world.users["admin"]
    assert person is not None
    world.other.roles.create(user=person, role="researcher")
    for slugs, benchmark in (
        (sorted([world.benchmark.slug, world.other.slug]), ""),
        ([world.other.slug], world.other.slug),
        ([world.benchmark.slug], world.benchmark.slug),
    ):
        _status, content = send(token_of(person, benchmark=benchmark), "GET", "/api/v1/benchmarks/")
        assert sorted(row["slug"] for row in content["results"]) == slugs


def test_a_filter_does_not_widen_the_token(world: World) -> None:
    annotator = world.users["annotator"]
    assert annotator is not None
    key = token_of(annotator, benchmark=world.other.slug)
    status, content = send(key, "GET", f"/api/v1/work/assignments/?benchmark={world.benchmark.slug}")
    assert status == 404 or content["results"] == []


def test_pages_take_no_token(world: World) -> None:
    key = token_of(owner_of(world, STAFF))
    for page in (f"/b/{world.benchmark.slug}/", f"/b/{world.benchmark.slug}/cases.csv", "/profile/"):
        assert send(key, "GET", page)[0] in (302, 404)


def test_an_endpoint_that_declares_nothing_is_named() -> None:
    routes = list(routes_of(get_resolver().url_patterns, "/"))
    api = [route for route in routes if route.path.startswith("/api/v1/")]
    assert undeclared(api) == []
    added = [
        Route("api-new", "/api/v1/benchmarks/{slug}/new/", frozenset()),
        Route("api-cases", "/api/v1/benchmarks/{slug}/cases/", frozenset({"POST"})),
        Route("api-reports", "/api/v1/reports/", frozenset({"POST"})),
    ]
    assert undeclared([*api, *added]) == [
        "api-new: the scope of its writes",
        "api-cases: the scope of its writes",
        "api-reports: to which benchmark it belongs",
    ]
    assert undeclared(api[:-1]) == [f"{api[-1].name}: there is no such endpoint"]
