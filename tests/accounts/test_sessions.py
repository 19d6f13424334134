"""Sessions in the database, as everybody's browser has one."""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from tests.factories import UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _in_the_database(settings) -> None:
    settings.SESSION_ENGINE = "django.contrib.sessions.backends.db"


@pytest.mark.slow
def test_a_session_holds_until_it_expires_or_is_ended(client: Client) -> None:
    client.force_login(UserFactory())
    row = Session.objects.get()
    assert client.get("/").status_code == 200
    with time_machine.travel(row.expire_date - timedelta(minutes=1)):
        assert client.get("/").status_code == 200
    with time_machine.travel(row.expire_date + timedelta(minutes=1)):
        assert client.get("/").status_code == 302
    client.force_login(UserFactory())
    assert client.get("/").status_code == 200
    Session.objects.all().delete()
    assert client.get("/").status_code == 302


def test_of_two_sessions_each_knows_its_own_reader() -> None:
    clients = [Client(), Client()]
    for number, client in enumerate(clients):
        client.force_login(UserFactory(name=f"Reader {number}"))
    for number, client in enumerate(clients):
        page = client.get("/").content.decode()
        assert f"Reader {number}" in page and f"Reader {1 - number}" not in page


def test_a_key_that_nobody_has_is_no_session(client: Client) -> None:
    client.cookies["sessionid"] = "x" * 32
    assert client.get("/").status_code == 302
    Session.objects.create(session_key="y" * 32, session_data="not signed", expire_date=timezone.now() + timedelta(1))
    client.cookies["sessionid"] = "y" * 32
    assert client.get("/").status_code == 302
