"""Who takes part in the journeys about the validity of rubrics: an endpoint, a worker, and an administrator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from consilium.llm.rules.completion import MODELS, completion
from consilium.llm.rules.server import serving
from tests.e2e.validity_world import (
    GENERIC,
    GOLD,
    HALF,
    NewPage,
    RuleEndpoint,
    half_of_the_criteria,
    make_benchmark,
    make_physicians,
    make_set,
)
from tests.factories import UserFactory
from tests.processes import Worker

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture
def rule_endpoint(settings: Any) -> Iterator[RuleEndpoint]:
    """The endpoint on this machine, which the operator allows."""
    settings.JUDGE_ALLOWED_HOSTS = ["127.0.0.1"]
    endpoint = RuleEndpoint("")

    def counted(request: Mapping[str, Any]) -> Mapping[str, Any]:
        endpoint.requests += 1
        return completion(request)

    with serving(counted, MODELS) as address:
        endpoint.url = f"http://{address}/v1"
        yield endpoint


@pytest.fixture
def worker(start_worker: Callable[..., Worker]) -> Worker:
    """A worker that may call the endpoint on this machine."""
    return start_worker(concurrency=1, JUDGE_ALLOWED_HOSTS="127.0.0.1")


@pytest.fixture
def admin(new_page: NewPage, worker: Worker, transactional_db: None, tmp_path: Path) -> Page:
    """A page of the administrator, in whose benchmark are the cases, two physicians and three sets."""
    page = new_page(UserFactory(is_staff=True))
    make_benchmark(page)
    make_physicians(page)
    make_set(page, GOLD, "Published rubrics of a track")
    make_set(page, GENERIC, "Generic criteria")
    make_set(page, HALF, "A file", half_of_the_criteria(tmp_path / "half.jsonl"))
    return page
