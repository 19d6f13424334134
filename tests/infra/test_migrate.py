"""The database that migrations make is the one that the models describe."""

from __future__ import annotations

import pgtrigger
import pytest
from django.apps import apps
from django.db import connection

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
        # The one column that no model knows is made by migration 0009 of rubrics.
        assert {name for of, name in columns if of == table} - {"words"} == set(fields), table
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
