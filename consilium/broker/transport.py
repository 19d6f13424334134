"""Celery's broker over PostgreSQL, for machines without Redis.

Kombu's SQLAlchemy transport, made fit for several processes.

The broker only rings: what is left to do stands in the product's own tables. So a lost message costs a sweep's
interval, never work.
"""

from __future__ import annotations

import contextlib
import os
from json import loads
from queue import Empty
from threading import Lock
from typing import Any

import sqlalchemy as sa
from kombu.transport.sqlalchemy import Channel as SQLAlchemyChannel
from kombu.transport.sqlalchemy import Transport as SQLAlchemyTransport
from kombu.transport.sqlalchemy import metadata
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import InterfaceError, InternalError, OperationalError, PendingRollbackError

POLLING_INTERVAL_S = 0.1
LONGEST_WAIT_S = 0.5
# Two processes that make the same table at once would trip over each other; any constant of our own will do.
ADVISORY_LOCK = 0x434F4E53

_preparing = Lock()


def _create_database(url: sa.URL) -> None:
    """Make the broker's database on the server that holds the product's own."""
    engine = sa.create_engine(url.set(database="postgres"), isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    name = engine.dialect.identifier_preparer.quote(str(url.database))
    with engine.connect() as connection:
        try:
            connection.execute(sa.text(f"CREATE DATABASE {name}"))
        except sa.exc.DBAPIError as error:
            # 42P04: there is one of that name. 23505: another process is making it at this moment.
            if getattr(error.orig, "sqlstate", None) not in {"42P04", "23505"}:
                raise


def prepare(url: str) -> None:
    """Make the broker's database and tables where they are missing. ``url`` is SQLAlchemy's, without ``sqla+``."""
    parsed = sa.make_url(url)
    engine = sa.create_engine(parsed, poolclass=sa.NullPool)
    try:
        with contextlib.closing(engine.connect()):
            pass
    except OperationalError as error:
        if f'database "{parsed.database}" does not exist' not in str(error):
            raise
        _create_database(parsed)
    with engine.begin() as connection:
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(ADVISORY_LOCK)))
        metadata.create_all(connection)


class Channel(SQLAlchemyChannel):
    """Safe when several processes open it for the first time, and when several workers take at once."""

    def _open(self) -> Any:
        url = self.connection.client.hostname
        if url not in self._engines:
            with _preparing:
                if url not in self._engines:
                    self.queue_cls, self.message_cls  # noqa: B018  (declares the tables)
                    prepare(url)
        return super()._open()

    def _get_or_create(self, queue: str) -> Any:
        there = self.session.query(self.queue_cls).filter(self.queue_cls.name == queue)
        found = there.first()
        if found is None:
            self.session.execute(insert(self.queue_cls).values(name=queue).on_conflict_do_nothing())
            self.session.commit()
            found = there.one()
        return found

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        message = self.message_cls
        queue_id = self._get_or_create(queue).id
        try:
            taken = (
                self.session.query(message)
                .filter(message.queue_id == queue_id, message.visible.is_(True))
                .order_by(message.sent_at, message.id)
                .limit(1)
                .with_for_update(skip_locked=True)
                .first()
            )
            if taken is None:
                raise Empty
            payload = taken.payload
            # Delivered is done with: an unacknowledged message is put back as a new row.
            self.session.delete(taken)
        finally:
            self.session.commit()
        return loads(payload)


class Transport(SQLAlchemyTransport):
    """Polls ten times a second; starts the connection again after whatever PostgreSQL may do to it."""

    Channel = Channel
    polling_interval = POLLING_INTERVAL_S
    connection_errors = (  # type: ignore[assignment]  # kombu names one only
        OperationalError,
        InterfaceError,
        InternalError,
        PendingRollbackError,
    )

    def drain_events(self, connection: Any, timeout: float | None = None, **_kwargs: Any) -> None:
        """Wait for a message, but come back often enough to notice that the worker shall end."""
        super().drain_events(connection, timeout=LONGEST_WAIT_S if timeout is None else min(timeout, LONGEST_WAIT_S))


def _forget_engines() -> None:
    """A forked child must not talk over its parent's connections."""
    for engine, _session in Channel._engines.values():
        engine.dispose(close=False)
    Channel._engines.clear()


os.register_at_fork(after_in_child=_forget_engines)
