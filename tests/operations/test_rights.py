"""The role of web and worker: people work as before, and nothing that it can say in SQL changes the record."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.core.management import CommandError, call_command
from django.db import ProgrammingError, connection, transaction
from django.test import Client

from annotation.models import Decision
from operations import rights
from tests.annotation.conftest import build_workshop
from tests.factories import UserFactory, decide

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
ROLE = "consilium_test_application"


@pytest.fixture
def role() -> str:
    """Roles belong to the server, so this one goes with the transaction of the test."""
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE ROLE {ROLE}")
    return ROLE


@contextmanager
def as_role(role: str) -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute(f"SET ROLE {role}")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("RESET ROLE")


def refused(statement: str) -> bool:
    """Whether the server refuses a statement for want of the right."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
    except ProgrammingError as error:
        return getattr(error.__cause__, "sqlstate", "") == "42501"  # insufficient_privilege
    return False


def test_people_work_and_the_record_holds(role: str, client: Client) -> None:
    call_command("grant_rights", role, verbosity=0)
    with as_role(role):
        workshop = build_workshop()
        decide(workshop.queue()[0], "met", "not_met", "met")
        client.force_login(workshop.annotator)
        assert client.get("/", follow=True).status_code == 200
        assert Decision.objects.count() == 3

        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM annotation_decisionevent")
            assert cursor.fetchone()[0] >= 3
        for table in ("annotation_decisionevent", "accounts_securityevent"):
            assert refused(f"DELETE FROM {table}")
            assert refused(f"TRUNCATE {table}")
        assert refused("UPDATE annotation_decisionevent SET pgh_label = 'x'")
        assert refused("UPDATE accounts_securityevent SET kind = 'x'")
        # Nor with the triggers switched off, or after taking them away.
        assert refused(
            "SELECT set_config('pgtrigger.ignore', '{annotation_decisionevent:append_only}', true); "
            "DELETE FROM annotation_decisionevent"
        )
        for statement in (
            "ALTER TABLE annotation_decisionevent DISABLE TRIGGER ALL",
            "ALTER TABLE annotation_decision ADD COLUMN x int",
            "DROP TABLE annotation_decisionevent CASCADE",
            "TRUNCATE annotation_decision CASCADE",
            "CREATE TABLE mine (id int)",
            "DELETE FROM django_migrations",
            "SET session_replication_role = replica",
            "CREATE ROLE another SUPERUSER",
        ):
            assert refused(statement), statement


def test_a_right_that_was_given_by_hand_is_taken_back(role: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA public TO {role}")
    rights.grant(role=role)
    UserFactory()
    with as_role(role):
        assert refused("DELETE FROM accounts_userevent")
        assert refused("TRUNCATE accounts_user CASCADE")
        assert not refused("UPDATE accounts_user SET name = name")


def test_only_the_owner_can_grant(role: str) -> None:
    rights.grant(role=role)
    with as_role(role), pytest.raises(CommandError, match="Only the owner of the tables"):
        call_command("grant_rights", role)


def test_a_role_that_nothing_binds_is_refused(role: str) -> None:
    with pytest.raises(CommandError, match="There is no database role nobody"):
        call_command("grant_rights", "nobody")
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user")
        (owner,) = cursor.fetchone()
        with pytest.raises(CommandError, match="is a superuser"):
            call_command("grant_rights", owner)
        cursor.execute(f"GRANT {owner} TO {role}")
    with pytest.raises(CommandError, match="has the rights of the owner"):
        call_command("grant_rights", role)
