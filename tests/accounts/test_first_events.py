"""Accounts and groups from before they were audited get a first event, by migrations."""

from __future__ import annotations

from importlib import import_module

import pgtrigger
import pytest
from django.db import connection

from tests.factories import ExpertGroupFactory, UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def run(migration: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(import_module(migration).FIRST_EVENTS)


def test_an_account_from_before_gets_one_event_with_its_state() -> None:
    audited = UserFactory()
    with pgtrigger.ignore("accounts.User:insert_insert"):
        before = UserFactory(is_active=False, is_staff=True)
    assert not before.events.exists()
    for _number in range(2):
        run("accounts.migrations.0008_notices_and_first_events")
    event = before.events.get()
    assert (event.pgh_label, event.is_active, event.is_staff) == ("existing", False, True)
    assert [event.pgh_label for event in audited.events.all()] == ["insert"]


def test_a_group_from_before_gets_one_event_with_its_name() -> None:
    audited = ExpertGroupFactory(name="Group A")
    with pgtrigger.ignore("annotation.ExpertGroup:insert_insert"):
        before = ExpertGroupFactory(name="Group B")
    assert not before.events.exists()
    for _number in range(2):
        run("annotation.migrations.0016_first_events_of_groups")
    event = before.events.get()
    assert (event.pgh_label, event.name, event.benchmark_id) == ("existing", "Group B", before.benchmark_id)
    assert [event.pgh_label for event in audited.events.all()] == ["insert"]
