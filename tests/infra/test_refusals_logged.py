"""The log of the process says who was refused, and from where."""

from __future__ import annotations

import io
import json
import logging
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient
from structlog.stdlib import ProcessorFormatter

from tests.factories import BenchmarkFactory, UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What the handler of the settings writes."""
    stream = io.StringIO()
    (handler,) = [
        handler
        for handler in logging.getLogger().handlers
        if isinstance(handler, logging.StreamHandler) and isinstance(handler.formatter, ProcessorFormatter)
    ]
    monkeypatch.setattr(handler, "stream", stream)
    return stream


def lines(log: io.StringIO) -> list[dict[str, Any]]:
    """The lines since the last call."""
    read = [json.loads(line) for line in log.getvalue().splitlines()]
    log.seek(0)
    log.truncate()
    return read


def test_who_was_refused_and_from_where_is_logged(log: io.StringIO, settings: Any) -> None:
    stranger, benchmark = UserFactory(), BenchmarkFactory(slug="other")
    client, api = Client(REMOTE_ADDR="10.7.0.1"), APIClient(REMOTE_ADDR="10.7.0.2")
    client.force_login(stranger)
    api.force_login(stranger)
    assert client.get(f"/b/{benchmark.slug}/").status_code == 404
    assert api.get(f"/api/v1/benchmarks/{benchmark.slug}/").status_code == 404
    assert client.post("/profile/", {"name": "x" * 4_000_000}).status_code == 413
    assert api.post("/api/v1/benchmarks/", {"no-such-field": 1}, format="json").status_code in (400, 403)
    read = lines(log)
    assert len(read) == 4
    both = [(stranger.pk, "10.7.0.1"), (stranger.pk, "10.7.0.2")]
    assert [(line["person"], line["address"]) for line in read] == both * 2

    nobody = Client(REMOTE_ADDR="10.7.0.3")
    nobody.get("/no-such-page/")
    (line,) = lines(log)
    assert line["address"] == "10.7.0.3" and "person" not in line

    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 1
    nobody.get("/no-such-page/", headers={"x-forwarded-for": "1.2.3.4, 10.7.0.4"})
    (line,) = lines(log)
    assert line["address"] == "10.7.0.4"
