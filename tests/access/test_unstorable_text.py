"""A NUL, or half a character, is a bad request at every endpoint, and no crash."""

from __future__ import annotations

import json

import pytest
from django.test import Client

from rubrics.models import Benchmark
from tests.factories import (
    BenchmarkFactory,
    CaseFactory,
    ExpertGroupFactory,
    ResponseFactory,
    UserFactory,
    make_batch,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def signed_in(client: Client) -> Client:
    admin = UserFactory()
    BenchmarkFactory(slug="x", admin=admin)
    client.force_login(admin)
    client.raise_request_exception = False
    return client


@pytest.mark.parametrize("address", ["/b/%00/", "/b/x/agreement/%00/", "/b/x/calibration/sign/?report=%00", "/?%00=1"])
def test_in_an_address(signed_in: Client, address: str) -> None:
    assert signed_in.get(address).status_code == 400


@pytest.mark.parametrize("field", ["title", "physician"])
def test_in_a_field_that_a_view_reads_by_itself(signed_in: Client, field: str) -> None:
    benchmark = Benchmark.objects.get()
    ResponseFactory(case=CaseFactory(benchmark=benchmark, rubric=1))
    batch = make_batch(ExpertGroupFactory(benchmark=benchmark, annotators=1, checkers=1))
    path = {"title": "rename", "physician": "remind"}[field]
    answer = signed_in.post(f"/b/x/batches/{batch.public_id}/{path}/", {field: "a\0b"})
    assert answer.status_code == 400
    assert "<h1" in answer.content.decode()


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/api/v1/nothing/", 404),
        ("/api/v1/benchmarks/x/nothing/", 404),
        ("/api/v1/benchmarks/elsewhere/", 404),
        ("/api/v1/benchmarks/x/reports/none/tables/agreement.parquet", 404),
        ("/api/v1/work/batches/none/next/", 404),
        ("/api/v1/benchmarks/%00/", 400),
        ("/api/v1/benchmarks/?q=%00", 400),
    ],
)
def test_the_api_refuses_an_address_in_json_and_in_plain_words(signed_in: Client, address: str, status: int) -> None:
    answer = signed_in.post(address) if address.endswith("next/") else signed_in.get(address)
    assert answer.status_code == status
    assert answer.headers["Content-Type"] == "application/json"
    assert "matches the given query" not in answer.json()["detail"]
    assert "<html" in signed_in.get("/nothing/").content.decode()


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({"kind": "\ud800"}, ["kind"]),
        ({"parameters": {"rater": ["a\0"]}}, ["parameters", "rater", "0"]),
        ({"\0": 1}, ["\\0"]),
        (["a", "\0"], ["1"]),
        ("\0", ["detail"]),
    ],
)
def test_in_the_body_of_a_call(signed_in: Client, body: object, place: list[str]) -> None:
    answer = signed_in.post("/api/v1/benchmarks/x/reports/", json.dumps(body), content_type="application/json")
    assert answer.status_code == 400
    part = answer.json()
    for name in place:
        assert list(part) == [name]
        part = part[name]
    assert "NUL" in str(part)


@pytest.mark.parametrize(
    ("body", "place", "message"),
    [
        ('{"responses": [{}, {"metadata": {"t": NaN}}]}', ["responses", "1", "metadata", "t"], "NaN is not a number"),
        ('{"seed": 1234567890123456789}', ["seed"], "too large"),
        ('{"seed": 1e999}', ["seed"], "too large"),
        ('{"a": {"seed": 1, "seed": 2}}', ["seed"], "appears twice"),
    ],
)
def test_a_number_that_is_refused_is_named(signed_in: Client, body: str, place: list[str], message: str) -> None:
    answer = signed_in.post("/api/v1/benchmarks/x/reports/", body, content_type="application/json")
    assert answer.status_code == 400
    part = answer.json()
    for name in place:
        part = part[name]
    assert message in part[0]
