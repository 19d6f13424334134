"""A NUL, or half a character, is a bad request at every endpoint, and no crash."""

from __future__ import annotations

import json

import pytest
from django.test import Client

from tests.factories import BenchmarkFactory, UserFactory

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


@pytest.mark.parametrize("body", [{"kind": "\ud800"}, {"parameters": {"rater": ["a\0"]}}, {"\0": 1}])
def test_in_the_body_of_a_call(signed_in: Client, body: object) -> None:
    answer = signed_in.post("/api/v1/benchmarks/x/reports/", json.dumps(body), content_type="application/json")
    assert answer.status_code == 400
    assert "NUL" in answer.json()["detail"]
