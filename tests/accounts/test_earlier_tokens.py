"""Tokens of `rest_framework.authtoken`, one a person and in plain, come over to the hashed ones."""

from __future__ import annotations

from datetime import timedelta
from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection
from django.test import Client

from accounts.models import ApiToken
from tests.factories import BenchmarkFactory, UserFactory

pytestmark = pytest.mark.django_db
KEY = "0123456789abcdef0123456789abcdef01234567"


def bring() -> None:
    migration = import_module("accounts.migrations.0010_api_tokens").Migration
    with connection.schema_editor() as editor:
        migration.operations[-1].code(apps, editor)


@pytest.mark.slow
def test_an_earlier_token_works_on_and_its_plain_row_is_gone() -> None:
    person = UserFactory()
    BenchmarkFactory(slug="study", admin=person)
    with connection.cursor() as cursor:
        # As that app made it.
        cursor.execute(
            "CREATE TABLE authtoken_token (key varchar(40) PRIMARY KEY, created timestamptz NOT NULL,"
            " user_id bigint NOT NULL UNIQUE REFERENCES accounts_user DEFERRABLE INITIALLY DEFERRED)"
        )
        cursor.execute("INSERT INTO authtoken_token VALUES (%s, now(), %s)", [KEY, person.pk])
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # as after a commit
    bring()
    token = ApiToken.objects.get()
    assert (token.user, token.name, token.benchmark, token.prefix) == (person, "Earlier token", "", "012345")
    assert token.scopes == ["read", "grade", "run", "admin"]
    assert token.expires_at - token.created_at == timedelta(days=90)
    client = Client(headers={"Authorization": f"Token {KEY}"})
    assert client.get("/api/v1/benchmarks/study/").status_code == 200
    assert client.patch("/api/v1/benchmarks/study/", {}, content_type="application/json").status_code == 200
    assert "authtoken_token" not in connection.introspection.table_names()


def test_a_new_database_has_none_to_bring() -> None:
    bring()
    assert not ApiToken.objects.exists()
