"""One worker at a piece of work, by an advisory lock: a worker that dies lets go of it with its connection."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from django.db import connection

# The upper 16 bits keep our locks apart from others'; any constants of our own will do.
_SLICES, _TRAININGS, _GENERATIONS = 0x4A55, 0x4A56, 0x4A57


def _slice_key(run_id: int, number: int) -> int:
    return (_SLICES << 48) | ((run_id & 0xFFFFFFFF) << 16) | number


def _training_key(trained_model_id: int) -> int:
    return (_TRAININGS << 48) | trained_model_id


def _generation_key(run_id: int) -> int:
    return (_GENERATIONS << 48) | run_id


@contextmanager
def _held(key: int) -> Iterator[bool]:
    with connection.cursor() as cursor:
        # Where the machine of a worker vanishes the server finds out within a minute, and the lock falls.
        cursor.execute("SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3")
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [key])
        held = bool(cursor.fetchone()[0])
    try:
        yield held
    finally:
        # Where the connection is gone, so is the lock; a new connection would have nothing to let go of.
        if held and connection.connection is not None and not connection.connection.closed:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [key])


def _free(key: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [key])
        return bool(cursor.fetchone()[0])


def slice_lock(run_id: int, number: int) -> AbstractContextManager[bool]:
    """Hold a slice for the length of the block; False where another worker has it.

    The lock is the connection's: the block does all its work on it, and no transaction is open around it.
    """
    return _held(_slice_key(run_id, number))


def training_lock(trained_model_id: int) -> AbstractContextManager[bool]:
    """Hold the fitting of a trained judge, in the same way."""
    return _held(_training_key(trained_model_id))


def slice_is_free(run_id: int, number: int) -> bool:
    """Whether no worker holds the slice; asked inside a transaction, which keeps others out for its length."""
    return _free(_slice_key(run_id, number))


def training_is_free(trained_model_id: int) -> bool:
    """Whether no worker is fitting this judge; asked inside a transaction."""
    return _free(_training_key(trained_model_id))


def generation_lock(run_id: int) -> AbstractContextManager[bool]:
    """Hold a run that asks for responses, in the same way."""
    return _held(_generation_key(run_id))


def generation_is_free(run_id: int) -> bool:
    """Whether no worker holds the run; asked inside a transaction."""
    return _free(_generation_key(run_id))
