"""Writing by the API: the same saves and refusals as the pages."""

from __future__ import annotations

import uuid

import pytest
from django.utils import timezone

from rubrics.models import Benchmark, Case
from rubrics.services import give_authoring_role
from tests.factories import BenchmarkFactory, CaseFactory, UserFactory
from tests.rubrics.test_api import Caller

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark() -> Benchmark:
    return BenchmarkFactory(slug="b", admin=UserFactory())


@pytest.fixture
def author(benchmark: Benchmark) -> Caller:
    user = UserFactory()
    give_authoring_role(benchmark=benchmark, user=user, role="author", at=timezone.now())
    return Caller(user)


@pytest.mark.slow
def test_a_case_is_begun_changed_and_thrown_away(author: Caller, benchmark: Benchmark) -> None:
    turns = [{"role": "user", "content": "I cough. Call 212-555-0143."}]
    response = author.send("b/write/", {"conversation": turns})
    assert (response.status_code, response.json()["key"], response.json()["version"]) == (201, "case-1", 1)
    url = f"b/write/{response.json()['id']}/"
    key = str(uuid.uuid4())
    changed = author.send(url, {"version": 1, "client_id": key, "tags": ["theme:hedging"]}, "patch")
    assert (changed.json()["version"], changed.json()["conversation"]) == (2, turns)
    assert author.send(url, {"version": 1, "client_id": key, "tags": []}, "patch").json()["version"] == 2
    stale = author.send(url, {"version": 1, "tags": []}, "patch")
    assert (stale.status_code, stale.json()["current"]["tags"]) == (409, ["theme:hedging"])
    assert author.send(url, {"version": 2, "excluded_at": None}, "patch").status_code == 400
    assert author.send(url, {"version": 2, "register": "both"}, "patch").status_code == 400
    (finding,) = author.get(f"{url}privacy/").json()
    assert (finding["kind"], finding["part"], finding["start"], finding["waived"]) == (
        "phone",
        "conversation",
        14,
        None,
    )
    waived = author.send(f"{url}privacy/", {"kind": "phone", "quote": finding["quote"], "reason": "made up"})
    assert (waived.status_code, waived.json()[0]["waived"]) == (201, "made up")
    assert [row["key"] for row in author.get("b/write/").json()["results"]] == ["case-1"]
    assert author.send(url, {}, "delete").status_code == 204
    assert not Case.objects.exists()


def test_what_is_published_is_not_changed_and_admins_name_authors(author: Caller, benchmark: Benchmark) -> None:
    case = CaseFactory(benchmark=benchmark)
    assert author.get(f"b/write/{case.public_id}/").json()["frozen"] == "published"
    refused = author.send(f"b/write/{case.public_id}/", {"version": 1, "reference_answer": "x"}, "patch")
    assert (refused.status_code, "erratum" in refused.json()["detail"]) == (422, True)
    assert author.send("b/authors/", {"email": "x@example.org", "role": "author"}).status_code == 404
    admin = Caller(benchmark.roles.get().user)
    response = admin.send("b/authors/", {"email": "x@example.org", "role": "auditor"})
    assert (response.status_code, response.json()["active"]) == (201, True)
    again = admin.send(f"b/authors/{response.json()['id']}/", {"active": False}, "patch")
    assert again.json()["active"] is False


def test_a_list_that_is_none_is_refused_in_the_language_of_the_author(author: Caller, benchmark: Benchmark) -> None:
    case = CaseFactory(benchmark=benchmark, rubric=0)
    author.headers["Accept-Language"] = "zh-hans"
    refused = author.send(f"b/cases/{case.public_id}/draft/", {"version": 0, "items": "none"}, "put")
    assert (refused.status_code, refused.json()["items"]) == (400, ["此处须为标准的列表。"])
