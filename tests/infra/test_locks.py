"""Advisory locks: one list of numbers, which stay as they are, and one module that writes their SQL."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import OperationalError, connection, transaction

from consilium.core.locks import (
    RowLock,
    WorkerLock,
    lock_exclusive,
    lock_exclusive_within,
    lock_shared,
    worker_lock,
    worker_lock_is_free,
)

ROOT = Path(__file__).resolve().parents[2]
LOCK_FUNCTION = re.compile(r"pg_(try_)?advisory", re.IGNORECASE)


def held_locks() -> set[tuple[int, int, int, str]]:
    """The advisory locks of this connection: both halves of the key, how the key is written, and the mode."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT classid::bigint, objid::bigint, objsubid, mode FROM pg_locks"
            " WHERE locktype = 'advisory' AND pid = pg_backend_pid()"
        )
        return set(cursor.fetchall())


@pytest.mark.slow
def test_only_one_module_writes_the_sql_of_a_lock() -> None:
    packages = [path.parent for path in ROOT.glob("*/__init__.py") if path.parent.name != "tests"]
    files = [file.relative_to(ROOT) for package in packages for file in package.rglob("*.py")]
    product = [file for file in files if "migrations" not in file.parts]
    assert len(product) > 500
    writers = [str(file) for file in product if LOCK_FUNCTION.search((ROOT / file).read_text())]
    assert writers == ["consilium/core/locks.py"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    "lock, number",
    [
        (RowLock.BENCHMARK_PEOPLE, 1001),
        (RowLock.BATCH, 1002),
        (RowLock.LABEL_QUESTION, 1003),
        (RowLock.GOLD_SCHEDULE, 1031),
    ],
)
def test_a_transaction_holds_the_lock_of_a_row(lock: RowLock, number: int) -> None:
    with transaction.atomic():
        lock_shared(lock, 7)
        lock_exclusive(lock, 8)
        assert held_locks() == {(number, 7, 2, "ShareLock"), (number, 8, 2, "ExclusiveLock")}


@pytest.mark.django_db(transaction=True)
def test_the_lock_of_a_row_ends_with_its_transaction() -> None:
    with transaction.atomic():
        lock_exclusive(RowLock.BATCH, 7)
    assert held_locks() == set()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "lock, number", [(WorkerLock.SLICE, 0x4A55), (WorkerLock.TRAINING, 0x4A56), (WorkerLock.PIPELINE, 0x4A57)]
)
def test_a_worker_holds_its_lock_for_the_length_of_a_block(lock: WorkerLock, number: int) -> None:
    with worker_lock(lock, (3 << 32) + 5) as held:
        assert held
        assert held_locks() == {((number << 16) + 3, 5, 1, "ExclusiveLock")}
    assert held_locks() == set()
    with transaction.atomic():
        assert worker_lock_is_free(lock, 5)


@pytest.mark.django_db
@pytest.mark.parametrize("table", ["annotation_membership", "rubrics_benchmarkrole"])
def test_the_triggers_in_the_database_take_the_lock_of_the_enum(table: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT p.prosrc FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid"
            " WHERE t.tgrelid = %s::regclass AND p.prosrc LIKE '%%advisory%%'",
            [table],
        )
        sources = [source for (source,) in cursor.fetchall()]
    assert len(sources) == 1
    assert f"pg_advisory_xact_lock({RowLock.BENCHMARK_PEOPLE:d}, " in sources[0]


def other_connection() -> Any:
    database = connection.get_connection_params()
    return psycopg.connect(**{name: database[name] for name in ("host", "user", "dbname")}, autocommit=False)


@pytest.mark.django_db(transaction=True)
def test_waiting_for_a_lock_ends_after_the_given_time_and_the_transaction_goes_on() -> None:
    with other_connection() as other, transaction.atomic():
        other.execute("SELECT pg_advisory_xact_lock(1002, 7)")
        assert lock_exclusive_within(RowLock.BATCH, 7, seconds=0.05) is False
        assert lock_exclusive_within(RowLock.BATCH, 8, seconds=0.05) is True
        assert held_locks() == {(1002, 8, 2, "ExclusiveLock")}
        with connection.cursor() as cursor:
            cursor.execute("SELECT current_setting('lock_timeout')")
            assert cursor.fetchone() == ("0",)  # the rest of the transaction waits as long as others do


@pytest.mark.django_db(transaction=True)
def test_any_other_error_while_waiting_for_a_lock_is_raised() -> None:
    with other_connection() as other, transaction.atomic():
        other.execute("SELECT pg_advisory_xact_lock(1002, 7)")
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL statement_timeout = '50ms'")
        with pytest.raises(OperationalError, match="statement timeout"):
            lock_exclusive_within(RowLock.BATCH, 7, seconds=60)
