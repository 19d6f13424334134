"""The database that migrations make is the one that the models describe, and an existing database comes over."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from typing import Any

import pgtrigger
import psycopg
import pytest
from django.apps import apps
from django.conf import settings
from django.db import connection
from django.db.migrations.exceptions import IrreversibleError
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone

from rubrics.models import RevisionRequest
from tests.factories import CaseFactory
from tests.processes import ROOT

pytestmark = pytest.mark.django_db


def named(catalog: str) -> set[tuple[str, str]]:
    """(table, name) of everything of one kind."""
    queries = {
        "columns": "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'",
        "constraints": "SELECT conrelid::regclass::text, conname FROM pg_constraint WHERE conrelid <> 0",
        "indexes": "SELECT tablename, indexname FROM pg_indexes WHERE schemaname = 'public'",
        "triggers": "SELECT tgrelid::regclass::text, tgname FROM pg_trigger WHERE NOT tgisinternal",
        "references": "SELECT conrelid::regclass || '.' || a.attname, confrelid::regclass::text FROM pg_constraint"
        " JOIN pg_attribute a ON a.attrelid = conrelid AND a.attnum = conkey[1] WHERE contype = 'f'",
    }
    with connection.cursor() as cursor:
        cursor.execute(queries[catalog])
        return set(cursor.fetchall())


def test_the_answers_to_audits_are_not_undone_while_a_request_has_no_criterion() -> None:
    migration = import_module("rubrics.migrations.0013_answers_to_audits").Migration
    last = migration.operations[-1]  # the first to run backwards
    request_for_the_whole = partial(RevisionRequest.objects.create, reason="Lacks the dose", created_at=timezone.now())
    rubric = CaseFactory().rubrics.get()
    request_for_the_whole(rubric=rubric, criterion=rubric.items.first().criterion)
    last.reverse_code(apps, None)
    request_for_the_whole(rubric=rubric)
    with pytest.raises(IrreversibleError, match="Requests to revise a rubric as a whole: 1"):
        last.reverse_code(apps, None)


def test_columns_references_constraints_indexes_and_triggers_are_all_there() -> None:
    columns, references = named("columns"), named("references")
    constraints, indexes = named("constraints"), named("indexes")
    models = [
        model
        for model in apps.get_models(include_auto_created=True)
        if model._meta.managed
        and not model._meta.proxy
        and model._meta.app_label != "pghistory"  # a view of all events
    ]
    assert len(models) > 100
    for model in models:
        table = model._meta.db_table
        fields = {field.column: field for field in model._meta.local_fields}
        # The one column that no model knows is made by migration 0002 of rubrics.
        of_migration = {"words"} if table == "rubrics_case" else set()
        assert {name for of, name in columns if of == table} - of_migration == set(fields), table
        for field in fields.values():
            if field.is_relation and getattr(field, "db_constraint", True):
                assert (f"{table}.{field.column}", field.related_model._meta.db_table) in references, field
        for each in model._meta.constraints:
            assert (table, each.name) in constraints | indexes, each
        for each in model._meta.indexes:
            assert (table, each.name) in indexes, each
    triggers = named("triggers")
    registered = pgtrigger.registered()
    assert len(registered) > 100
    for model, trigger in registered:
        assert (model._meta.db_table, trigger.get_pgid(model)) in triggers, trigger


DEFINITIONS = """
    SELECT 'column', format('%s.%s %s %s %s', attrelid::regclass, attname, format_type(atttypid, atttypmod), attnotnull,
            pg_get_expr(adbin, adrelid))
        FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
        LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
        WHERE attnum > 0 AND relnamespace = 'public'::regnamespace
    UNION ALL SELECT 'constraint', conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid)
        FROM pg_constraint WHERE connamespace = 'public'::regnamespace
    UNION ALL SELECT 'index', indexdef FROM pg_indexes WHERE schemaname = 'public'
    UNION ALL SELECT 'trigger', pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
    UNION ALL SELECT 'function', pg_get_functiondef(oid)
        FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prokind = 'f'
    ORDER BY 1, 2
"""


class Scratch:
    """A migrated database of its own, beside the one of the tests."""

    def __init__(self, name: str) -> None:
        database = settings.DATABASES["default"]
        self.name = name
        self.parameters: dict[str, Any] = {
            key: database[setting]
            for key, setting in (("host", "HOST"), ("port", "PORT"), ("user", "USER"), ("password", "PASSWORD"))
            if database.get(setting)
        }

    def create(self) -> None:
        template = settings.DATABASES["default"]["TEST"].get("TEMPLATE")
        self.drop()
        with self.server() as server:
            server.execute(f'CREATE DATABASE "{self.name}"' + (f' TEMPLATE "{template}"' if template else ""))
        if not template:
            assert self.migrate().returncode == 0

    def drop(self) -> None:
        with self.server() as server:
            server.execute(f'DROP DATABASE IF EXISTS "{self.name}" WITH (FORCE)')

    def server(self) -> psycopg.Connection[Any]:
        return psycopg.connect(**self.parameters, dbname="postgres", autocommit=True)

    def execute(self, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
        with psycopg.connect(**self.parameters, dbname=self.name) as database:
            cursor = database.execute(query, parameters or None)
            return cursor.fetchall() if cursor.description else []

    def applied(self) -> set[tuple[str, str]]:
        return {(app, name) for app, name in self.execute("SELECT app, name FROM django_migrations")}

    def migrate(self, *options: str) -> subprocess.CompletedProcess[str]:
        login = ":".join(str(self.parameters[key]) for key in ("user", "password") if key in self.parameters)
        place = f"host={self.parameters.get('host', '')}&port={self.parameters.get('port', '')}"
        return subprocess.run(
            [sys.executable, "manage.py", "migrate", *options],
            cwd=ROOT,
            env=os.environ
            | {
                "DJANGO_SETTINGS_MODULE": "config.settings",
                "DATABASE_URL": f"postgres://{login}@/{self.name}?{place}",
            },
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture(scope="module")
def migrated(template_database: None) -> Iterator[Scratch]:
    database = Scratch(f"{settings.TEST_DATABASE}_migrated")
    database.create()
    yield database
    database.drop()


@pytest.fixture
def earlier(migrated: Scratch) -> Iterator[Scratch]:
    """A database that knows only the names of the migrations from before they were made into one."""
    rows = migrated.execute("SELECT app, name, applied FROM django_migrations")
    for app, name in replacing():
        migrated.execute("DELETE FROM django_migrations WHERE (app, name) = (%s, %s)", app, name)
    yield migrated
    migrated.execute("DELETE FROM django_migrations")
    for row in rows:
        migrated.execute("INSERT INTO django_migrations (app, name, applied) VALUES (%s, %s, %s)", *row)


def replacing() -> dict[tuple[str, str], list[tuple[str, str]]]:
    """The migrations that replace others whose files are gone, with those others."""
    loader = MigrationLoader(None, load=False)
    loader.load_disk()
    own = {config.label for config in apps.get_app_configs() if (ROOT / config.label).is_dir()}
    return {
        (app, name): list(migration.replaces)
        for (app, name), migration in loader.disk_migrations.items()
        if app in own and migration.replaces
    }


@pytest.mark.slow
def test_a_database_with_the_earlier_migrations_comes_over_as_it_is(earlier: Scratch) -> None:
    replaced = {key for keys in replacing().values() for key in keys}
    assert {app for app, _ in replaced} == {"accounts", "agreement", "annotation", "releases", "rubrics", "scoring"}
    assert len(replaced) == 43
    assert replaced <= earlier.applied() and not replacing().keys() & earlier.applied()
    before = earlier.execute(DEFINITIONS)
    assert len(before) > 2000
    done = earlier.migrate()
    assert done.returncode == 0, done.stderr
    assert "No migrations to apply." in done.stdout
    assert replacing().keys() <= earlier.applied()
    assert earlier.execute(DEFINITIONS) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("app", "lacking", "options"),
    [
        ("annotation", ["0011_final_rulings"], []),
        ("rubrics", ["0010_case_search", "0014_fewer_indexes_of_items"], ["--check"]),
    ],
)
def test_a_database_that_lacks_an_earlier_migration_is_refused(
    earlier: Scratch, app: str, lacking: list[str], options: list[str]
) -> None:
    earlier.execute("DELETE FROM django_migrations WHERE app = %s AND name = ANY(%s)", app, lacking)
    before = earlier.applied()
    refused = earlier.migrate(*options)
    assert refused.returncode == 1
    assert "consilium.E001" in refused.stderr
    assert f"only some of the earlier migrations of {app}. It lacks {', '.join(lacking)}," in refused.stderr
    assert "docs/operating.md" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert earlier.applied() == before
