"""The endpoint that follows rules, on loopback."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from consilium.llm.rules.completion import MODELS, completion
from consilium.llm.rules.server import serving


class RuleEndpoint:
    """An endpoint that follows rules, and counts what it is asked."""

    def __init__(self) -> None:
        self.url = ""
        self.requests: list[Any] = []
        self.latency = 0.0

    def answer(self, request: Any) -> Any:
        """What the rules answer."""
        self.requests.append(request)
        time.sleep(self.latency)
        return completion(request)

    def stages(self) -> list[str]:
        """The stage of each request, in order."""
        return [request["messages"][0]["content"].rpartition("Stage: ")[2] for request in self.requests]


@pytest.fixture
def rules(settings: Any) -> Iterator[RuleEndpoint]:
    endpoint = RuleEndpoint()
    with serving(endpoint.answer, MODELS) as address:
        settings.JUDGE_ALLOWED_HOSTS = [address]
        endpoint.url = f"http://{address}/v1"
        yield endpoint
