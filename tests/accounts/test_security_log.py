"""The security log keeps what it is given, and nobody can change it."""

from __future__ import annotations

import pytest
from django.db import connection, transaction
from django.db.utils import DatabaseError
from django.test import RequestFactory
from django.utils import timezone

from accounts.models import SecurityEvent
from accounts.services import security_log
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db


def test_a_line_has_the_address_and_the_browser_of_the_request() -> None:
    ana = UserFactory()
    request = RequestFactory().get("/", REMOTE_ADDR="203.0.113.9", headers={"User-Agent": "b" * 300})
    security_log.record("signed_in", at=timezone.now(), user=ana, by=ana, request=request)
    event = SecurityEvent.objects.get()
    assert (event.kind, event.user, event.address, event.browser) == ("signed_in", ana, "203.0.113.9", "b" * 200)


def test_a_kind_that_is_not_listed_is_refused() -> None:
    with pytest.raises(ValueError, match="no_such_kind"):
        security_log.record("no_such_kind", at=timezone.now())


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE accounts_securityevent SET kind = 'signed_out'",
        "DELETE FROM accounts_securityevent",
        "TRUNCATE accounts_securityevent",
    ],
)
def test_nobody_changes_the_log(statement: str) -> None:
    security_log.record("signed_in", at=timezone.now())
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    assert SecurityEvent.objects.count() == 1
