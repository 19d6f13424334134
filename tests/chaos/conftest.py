"""Processes that work on runs of steps, for the tests that kill them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.chaos.killed_runs import STANDBY, Workers


@pytest.fixture
def workers(process_environment: dict[str, str]) -> Iterator[Workers]:
    fleet = Workers(process_environment, STANDBY)
    yield fleet
    fleet.end()
