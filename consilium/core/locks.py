"""The product's advisory locks in PostgreSQL: their numbers, and how to take them.

PostgreSQL keeps keys of two integers apart from keys of one bigint, so the keys of the two enums cannot collide.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum, unique

from django.db import OperationalError, connection, transaction
from django.db.models import Model
from psycopg.errors import LockNotAvailable


@unique
class RowLock(IntEnum):
    """First key of a lock that a transaction takes; the second is the primary key of a row, of 32 bits."""

    BENCHMARK_PEOPLE = 1001  # of a benchmark: who runs it, and who is in its expert groups
    BATCH = 1002  # of a batch: a save holds it shared, pausing and closing take it alone
    LABEL_QUESTION = 1003  # of a question: an answer holds it shared, changed options take it alone
    PHYSICIAN_VOTES = 1004  # of a physician: votes that they hand in, and rulings that they give
    BATCH_END = 1005  # of a batch: who ends a piece of work asks alone whether it was the last
    IMPORT = 1006  # of a benchmark: what brings cases, candidates or responses from outside does so alone
    NEXT_CLAIM = 1007  # of a checker or adjudicator: who asks for their next piece of work
    GOLD_SCHEDULE = 1031  # of an annotator: which of their claims are gold


@unique
class WorkerLock(IntEnum):
    """Upper 16 of the 64 bits of a lock that a worker's connection holds while it works."""

    SLICE = 0x4A55
    TRAINING = 0x4A56
    PIPELINE = 0x4A57
    RESTORE_TEST = 0x4A58  # without a row: one scratch database at a time


# Held while a process makes the tables of the broker, in the broker's own database.
BROKER_TABLES = 0x434F4E53
WORKER_KEY_BITS = 48


def shared_lock_sql(lock: RowLock, key: str) -> str:
    """SQL expression that takes a lock shared until the transaction ends. ``key`` is SQL: a column or a placeholder."""
    return f"pg_advisory_xact_lock_shared({lock:d}, {key})"


def exclusive_lock_sql(lock: RowLock, key: str) -> str:
    """SQL expression that takes a lock alone until the transaction ends. ``key`` is SQL, as above."""
    return f"pg_advisory_xact_lock({lock:d}, {key})"


def broker_tables_lock_sql() -> str:
    """SQL expression that takes the lock `BROKER_TABLES` alone until the transaction ends."""
    return f"pg_advisory_xact_lock({BROKER_TABLES})"


def lock_shared(lock: RowLock, key: int) -> None:
    """Wait until nobody holds the lock alone, and hold it until this transaction ends; any number may share it."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {shared_lock_sql(lock, '%s')}", [key])


def lock_exclusive(lock: RowLock, key: int) -> None:
    """Wait until nobody holds the lock, and keep others from it until this transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {exclusive_lock_sql(lock, '%s')}", [key])


def lock_exclusive_within(lock: RowLock, key: int, *, seconds: float) -> bool:
    """`lock_exclusive`, but wait at most so long; False where somebody else still holds the lock then."""
    connection.ensure_connection()
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT current_setting('lock_timeout')")
            (former,) = cursor.fetchone()
            cursor.execute("SELECT set_config('lock_timeout', %s, true)", [f"{int(seconds * 1000)}ms"])
            cursor.execute(f"SELECT {exclusive_lock_sql(lock, '%s')}", [key])
            cursor.execute("SELECT set_config('lock_timeout', %s, true)", [former])
    except OperationalError as error:
        if isinstance(error.__cause__, LockNotAvailable):
            return False
        raise
    return True


def lock_table(model: type[Model]) -> None:
    """Wait for all open writes to the model's table, and block others until this transaction ends; reads go on."""
    with connection.cursor() as cursor:
        table = connection.ops.quote_name(model._meta.db_table)
        cursor.execute(f"LOCK TABLE {table} IN SHARE ROW EXCLUSIVE MODE")


@contextmanager
def worker_lock(lock: WorkerLock, key: int) -> Iterator[bool]:
    """Hold a lock for the length of the block; False where another worker has it. ``key`` has at most 48 bits.

    The lock is the connection's: the block does all its work on it, and no transaction is open around it. A worker that
    dies releases it with its connection.
    """
    number = _worker_key(lock, key)
    with connection.cursor() as cursor:
        # If the machine of a worker vanishes, the server notices within a minute, and releases the lock.
        cursor.execute("SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3")
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [number])
        held = bool(cursor.fetchone()[0])
    try:
        yield held
    finally:
        # Where the connection is gone, so is the lock; a new connection would have nothing to release.
        if held and connection.connection is not None and not connection.connection.closed:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [number])


def worker_lock_is_free(lock: WorkerLock, key: int) -> bool:
    """Whether no worker holds the lock. Call it inside a transaction, which keeps workers out until it ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [_worker_key(lock, key)])
        return bool(cursor.fetchone()[0])


def held_worker_locks(lock: WorkerLock) -> frozenset[int]:
    """The keys that workers hold now. It takes none of the locks, so it keeps no worker waiting."""
    with connection.cursor() as cursor:
        # A key of 64 bits stands in two columns of 32 bits.
        cursor.execute(
            "SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 "
            "AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        )
        numbers = [number for (number,) in cursor.fetchall()]
    return frozenset(number & ((1 << WORKER_KEY_BITS) - 1) for number in numbers if number >> WORKER_KEY_BITS == lock)


def _worker_key(lock: WorkerLock, key: int) -> int:
    return (lock << WORKER_KEY_BITS) | key
