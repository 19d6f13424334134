"""Who sees the pages of the server."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.test import Client

from accounts.models import User
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db


def test_only_operators_see_the_pages_of_the_server() -> None:
    client = Client()
    assert client.get("/server/")["Location"] == "/accounts/login/?next=/server/"
    client.force_login(UserFactory(is_staff=True))
    assert client.get("/server/").status_code == 404
    assert "Server" not in client.get("/").content.decode()
    client.force_login(UserFactory(is_superuser=True))
    assert client.get("/server/").status_code == 200
    assert 'href="/server/"' in client.get("/").content.decode()


def test_add_person_makes_an_account_an_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSWORD", "quiet-harbour-lamp")
    call_command("add_person", "op@example.org", "--operator")
    person = User.objects.get(email="op@example.org")
    assert person.is_operator
    assert not person.is_staff
