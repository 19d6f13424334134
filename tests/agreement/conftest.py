"""Tests of agreement that only read the same study share it."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction

from tests.agreement.study import Study


@pytest.fixture(scope="module")
def rows_of_the_module(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """What fixtures of the module write is there until its last test. Not for modules whose tests commit."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.fixture
def study(shared_study: Study, db: None) -> Study:
    """The module's ``shared_study`` as it was made: what a test writes, in the database or in it, is taken back."""
    return copy.deepcopy(shared_study)
