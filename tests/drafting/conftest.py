"""A world to draft in, and an endpoint whose answers are scripted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from consilium.llm.rules.names import MODEL
from consilium.llm.rules.server import serving
from tests.drafting.drafting_world import DraftingWorld, ScriptedEndpoint, build_world


@pytest.fixture
def nursery(db: None) -> DraftingWorld:
    """Two cases and one document."""
    return build_world()


@pytest.fixture
def scripted(settings: Any) -> Iterator[ScriptedEndpoint]:
    """An endpoint that answers as a careful model, or as the test says."""
    endpoint = ScriptedEndpoint()
    with serving(endpoint.complete, [MODEL]) as address:
        settings.JUDGE_ALLOWED_HOSTS = [address]
        endpoint.url = f"http://{address}/v1"
        yield endpoint
