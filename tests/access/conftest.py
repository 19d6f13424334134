"""Tests that ask for every address as everybody."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture(autouse=True)
def _sessions_in_memory(settings: Any) -> None:
    """One query less in each of thousands of requests; nothing here is about sessions."""
    settings.SESSION_ENGINE = "django.contrib.sessions.backends.cache"
