"""``?limit=``, ``?offset=`` and ``?page=`` of every list: absurd values are no crash, and never give all rows."""

from __future__ import annotations

import logging

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Batch
from consilium.core.endpoints import Pages
from tests.access.endpoints import ENDPOINTS
from tests.access.test_body_limits import address
from tests.access.world import World
from tests.factories import BenchmarkFactory, ExpertGroupFactory, UserFactory

pytestmark = pytest.mark.slow

HUGE = "1" + "0" * 22
ABSURD = ("-1", "0", "x", "", "٣", "1e9", "0x10", "9" * 5000, "1_0", "[]", "9223372036854775808")
# What pages and lists of the API number: pages, rounds, samples, items, versions.
NUMBERS = (
    *("limit", "offset", "page", "n", "item", "round", "sample", "from", "to", "k", "version", "draft", "number"),
    "seed",
)


@pytest.fixture
def clients(world: World) -> dict[str, Client]:
    clients_by_role = {}
    for role, user in world.users.items():
        clients_by_role[role] = Client(raise_request_exception=False)
        if user is not None:
            clients_by_role[role].force_login(user)
    return clients_by_role


@pytest.mark.django_db
def test_no_limit_gives_all_rows() -> None:
    admin = UserFactory()
    group = ExpertGroupFactory(benchmark=BenchmarkFactory(slug="study", admin=admin))
    number = Pages.max_limit + 1
    Batch.objects.bulk_create(
        Batch(group=group, title=f"Batch {n}", seed=n, created_at=timezone.now()) for n in range(number)
    )
    client = Client()
    client.force_login(admin)
    answer = client.get("/api/v1/benchmarks/study/batches/?limit=500").json()
    assert len(answer["results"]) == Pages.max_limit == 500
    assert answer["count"] == number
    assert answer["next"]
    for query in ("limit=501", f"limit={HUGE}", "limit=0", "limit=-1", "limit=x", "offset=x", f"offset={HUGE}"):
        refused = client.get(f"/api/v1/benchmarks/study/batches/?{query}")
        assert (refused.status_code, list(refused.json())) == (400, [query.partition("=")[0]])
    assert len(client.get("/api/v1/benchmarks/study/batches/").json()["results"]) == 50
    assert len(client.get("/api/v1/benchmarks/study/batches/?limit=7&offset=500").json()["results"]) == 1
    assert client.get("/api/v1/benchmarks/study/batches/?offset=999999999").json()["results"] == []


def test_absurd_numbers_are_no_error_of_the_server(world: World, clients: dict[str, Client]) -> None:
    logging.disable(logging.ERROR)
    wrong, tried = [], 0
    for place, (name, endpoint) in enumerate(ENDPOINTS.items()):
        role = next((role for role in world.users if role in endpoint.roles), None)
        if role is None or endpoint.framework or endpoint.writes_only:
            continue
        path = address(name, world)
        if path.rpartition(".")[2] in ("csv", "zip", "xlsx", "pdf", "svg", "png", "md", "tex"):
            continue  # files have no pages
        for value in (HUGE, ABSURD[place % len(ABSURD)]):
            query = dict.fromkeys(("limit", "offset") if name.startswith("api:") else NUMBERS, value)
            answer = clients[role].get(path, query)
            tried += 1
            if answer.status_code >= 500:
                wrong.append(f"{name}?…={value[:30]} as {role}: {answer.status_code}")
            for close in answer._resource_closers:
                close()
    assert not wrong, "\n".join(wrong)
    assert tried > 250
