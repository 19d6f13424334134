"""Tests that ask for every address as everybody."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction

from tests.access.world import World, build_world


@pytest.fixture(scope="module")
def built_world(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    """The world of a module, built once: that takes as long as eighty pages."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield build_world()
        transaction.set_rollback(True)


@pytest.fixture
def world(built_world: World, db: None) -> World:
    """The world as it was built: what a test writes is taken back, to within the transaction of the module."""
    return built_world


@pytest.fixture(autouse=True)
def _only_what_is_looked_at(settings: Any) -> Iterator[None]:
    """No look through the folders of static files in each request, and no log line of each refusal."""
    settings.MIDDLEWARE = [name for name in settings.MIDDLEWARE if "whitenoise" not in name]
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)
