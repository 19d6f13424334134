"""Bulk inserts: ids from the sequence first, then one ``COPY`` for each table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import islice
from typing import Any, TypeVar

from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.db import connection, models

T = TypeVar("T")
WIDE = (models.TextField, models.JSONField, ArrayField)


def chunks(rows: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of at most ``size`` rows, in order."""
    iterator = iter(rows)
    while chunk := list(islice(iterator, size)):
        yield chunk


def weighed_chunks(rows: Iterable[T], size: int, *, weight: int, weigh: Callable[[T], int]) -> Iterator[list[T]]:
    """Lists of at most ``size`` rows, in order; a list also ends with the row that brings its weight to ``weight``."""
    chunk: list[T] = []
    load = 0
    for row in rows:
        chunk.append(row)
        load += weigh(row)
        if len(chunk) >= size or load >= weight:
            yield chunk
            chunk, load = [], 0
    if chunk:
        yield chunk


def check_references_at_once() -> None:
    """Check foreign keys at the end of each statement, for the rest of this transaction, rather than at its commit.

    Deferred checks slow every row trigger that fires meanwhile: with 60,000 pending, one call took 0.7 ms instead of
    0.05 ms (PostgreSQL 18). Call it before many rows are written into tables that are audited.

    It also sets pgtrigger's list of ignored triggers to an empty one. Every trigger of pgtrigger reads that setting;
    where it is missing, the trigger catches an error in a subtransaction, which makes up half of the cost of an event.
    """
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET LOCAL pgtrigger.ignore = '{}'")


@contextmanager
def reference_checked_later(model: type[models.Model], field: str) -> Iterator[None]:
    """Check the foreign key ``field`` of ``model`` when the block ends, not with each statement in it."""
    name = connection.ops.quote_name(_reference(model._meta.db_table, f"{field}_id"))
    with connection.cursor() as cursor:
        cursor.execute(f"SET CONSTRAINTS {name} DEFERRED")
        yield
        cursor.execute(f"SET CONSTRAINTS {name} IMMEDIATE")


@lru_cache
def _reference(table: str, column: str) -> str:
    """The name that a foreign key has in the database."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.conname FROM pg_constraint c"
            " JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = ANY(c.conkey)"
            " WHERE c.contype = 'f' AND c.conrelid = %s::regclass AND a.attname = %s",
            [table, column],
        )
        return str(cursor.fetchone()[0])


def refresh_statistics() -> None:
    """Tell the planner about the rows that this transaction wrote, in the tables of benchmarks, documents and work.

    Autovacuum looks a minute after the commit at the soonest. Until then, with rows that the planner believed to be
    few, a report took 11 to 27 s instead of under one (17,000 decisions, PostgreSQL 18). Texts, lists and JSON take the
    most time to analyse, and no plan needs more than the number of their rows.
    """
    tables = {
        model._meta.db_table: model
        for label in ("rubrics", "documents", "annotation")
        for model in apps.get_app_config(label).get_models()
    }
    quote = connection.ops.quote_name
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_stat_xact_user_tables"
            " WHERE relname = ANY(%s) AND n_tup_ins + n_tup_upd + n_tup_del > 0",
            [list(tables)],
        )
        written = []
        for (name,) in cursor.fetchall():
            plain = [field for field in tables[name]._meta.concrete_fields if not isinstance(field, WIDE)]
            written.append(f"{quote(name)} ({', '.join(quote(str(field.column)) for field in plain)})")
        if written:
            cursor.execute("SET LOCAL default_statistics_target = 10")  # a sample of 3,000 rows; autovacuum takes more
            cursor.execute(f"ANALYZE {', '.join(written)}")


def reserve_ids(model: type[models.Model], count: int) -> list[int]:
    """``count`` ascending ids of ``model`` that nobody else gets, for rows that refer to each other before a write."""
    if not count:
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            # The name of the sequence is looked up once, and not for every number. Numbers are listed one by one only
            # if they have gaps, which happens when somebody else takes some meanwhile.
            "SELECT min(id), max(id), CASE WHEN max(id) - min(id) + 1 > count(*) THEN array_agg(id) END FROM ("
            " SELECT nextval((SELECT pg_get_serial_sequence(%s, 'id'))::regclass) AS id FROM generate_series(1, %s)"
            ") AS taken",
            [model._meta.db_table, count],
        )
        first, last, each = cursor.fetchone()
        return sorted(each) if each else list(range(first, last + 1))


@lru_cache(maxsize=4096)
def array_literal(texts: tuple[str, ...]) -> str:
    """Texts as a PostgreSQL array; cached, because the same tags recur and dumping a list for every row is slow."""
    quoted = (text.replace("\\", "\\\\").replace('"', '\\"') for text in texts)
    return "{" + ",".join(f'"{text}"' for text in quoted) + "}"


def copy_rows(model: type[models.Model], fields: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """``COPY`` rows into the table of ``model``; ``fields`` names their columns in order.

    Triggers and constraints hold as for INSERT. Defaults of the model do not apply: give every column a value. JSON
    must be wrapped in ``psycopg.types.json.Jsonb``.
    """
    quote = connection.ops.quote_name
    names = {field.name: str(field.column) for field in model._meta.concrete_fields}
    columns = ", ".join(quote(names[name]) for name in fields)
    connection.ensure_connection()
    with (
        connection.connection.cursor() as cursor,
        cursor.copy(f"COPY {quote(model._meta.db_table)} ({columns}) FROM STDIN") as copy,
    ):
        for row in rows:
            copy.write_row(row)
