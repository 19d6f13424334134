"""Celery's broker over PostgreSQL, for machines without Redis.

Kombu's SQLAlchemy transport, made fit for several processes.

The broker only carries tasks: what is left to do stands in the product's own tables. So a lost message costs a sweep's
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
from kombu.transport.virtual import Transport as VirtualTransport
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import InterfaceError, InternalError, OperationalError, PendingRollbackError

from consilium.core.locks import broker_tables_lock_sql

POLLING_INTERVAL_S = 0.1
# With an unlimited prefetch a full queue must not keep the event loop from the results of its children.
MAX_MESSAGES_PER_POLL = 100
MAX_WAIT_S = 0.5

_preparing = Lock()


def _create_database(url: sa.URL) -> None:
    """Make the broker's database on the server that holds the product's own."""
    engine = sa.create_engine(url.set(database="postgres"), isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    name = engine.dialect.identifier_preparer.quote(str(url.database))
    with engine.connect() as connection:
        try:
            connection.execute(sa.text(f"CREATE DATABASE {name}"))
        except sa.exc.DBAPIError as error:
            # 42P04: a database of that name exists. 23505: another process is making it at this moment.
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
        # Two processes that make the same table at once would fail.
        connection.execute(sa.text(f"SELECT {broker_tables_lock_sql()}"))
        metadata.create_all(connection)


class Channel(SQLAlchemyChannel):
    """Safe when several processes open it for the first time, and when several workers take messages at once."""

    def _open(self) -> Any:
        url = self.connection.client.hostname
        if url not in self._engines:
            with _preparing:
                if url not in self._engines:
                    self.queue_cls, self.message_cls  # noqa: B018  (declares the tables)
                    prepare(url)
        return super()._open()

    def _get_or_create(self, queue: str) -> Any:
        query = self.session.query(self.queue_cls).filter(self.queue_cls.name == queue)
        row = query.first()
        if row is None:
            self.session.execute(insert(self.queue_cls).values(name=queue).on_conflict_do_nothing())
            self.session.commit()
            row = query.one()
        return row

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
            # A delivered message is deleted; an unacknowledged one is put back as a new row.
            self.session.delete(taken)
        finally:
            self.session.commit()
        return loads(payload)


class Transport(SQLAlchemyTransport):
    """Polls ten times a second; starts the connection again after whatever PostgreSQL may do to it.

    It takes part in the event loop of a worker. Without one Celery uses billiard's blocking pool, where all children
    read one pipe under one semaphore: a child that is killed while it waits for work takes the semaphore with it for
    good, and no other child gets work again. With an event loop each child has pipes of its own.
    """

    Channel = Channel
    implements = SQLAlchemyTransport.implements.extend(asynchronous=True)
    polling_interval = POLLING_INTERVAL_S
    connection_errors = (  # type: ignore[assignment]  # kombu names one only
        # kombu's own, which its transport leaves out: a producer whose channel was closed would never get another.
        *VirtualTransport.connection_errors,
        OperationalError,
        InterfaceError,
        InternalError,
        PendingRollbackError,
    )

    def __init__(self, client: Any, **options: Any) -> None:
        super().__init__(client, **options)
        self._loop: Any = None
        self._timer: Any = None
        self._error: Exception | None = None

    def register_with_event_loop(self, connection: Any, loop: Any) -> None:
        """Poll from the worker's event loop: in a timer, so that the tick after it sends the messages to the children.

        The loop would log an error of the timer and go on calling it. So the tick raises the error, which leaves the
        loop: Celery connects again or ends the worker, as it does with any other transport.
        """
        self._leave_event_loop()
        self._loop = loop
        self._timer = loop.call_repeatedly(POLLING_INTERVAL_S, self._poll)
        loop.on_tick.add(self._raise_error)

    def close_connection(self, connection: Any) -> None:
        """Close all channels, and poll no more: after a lost connection Celery uses another transport."""
        self._leave_event_loop()
        super().close_connection(connection)

    def drain_events(self, connection: Any, timeout: float | None = None, **_kwargs: Any) -> None:
        """Wait for a message in a command without an event loop; return soon enough to notice an interruption."""
        super().drain_events(connection, timeout=MAX_WAIT_S if timeout is None else min(timeout, MAX_WAIT_S))

    def _poll(self) -> None:
        assert self.cycle is not None
        try:
            for _ in range(MAX_MESSAGES_PER_POLL):
                self.cycle.get(self._deliver)
        except Empty:
            pass  # no channel has a message, or each has as many as it may hold unacknowledged, or nobody consumes
        except Exception as error:
            self._error = error

    def _raise_error(self) -> None:
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _leave_event_loop(self) -> None:
        if self._loop is not None:
            self._timer.cancel()
            self._loop.on_tick.discard(self._raise_error)
            self._loop = self._timer = self._error = None


def _forget_engines() -> None:
    """A forked child must not talk over its parent's connections."""
    for engine, _session in Channel._engines.values():
        engine.dispose(close=False)
    Channel._engines.clear()


os.register_at_fork(after_in_child=_forget_engines)
