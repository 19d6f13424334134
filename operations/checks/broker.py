"""Whether the broker takes a message, how many wait, and how old the oldest is; over PostgreSQL and over Redis."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import psycopg
import redis
from celery import current_app
from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from consilium.core.task_headers import ENQUEUED_AT
from operations.checks.check import Check, Result, State, one_line

TIMEOUT_S = 3
PROBE = "consilium-probe"
# Messages wait while the workers are busy; for longer than this, somebody should look.
OLD_AFTER_S = 300.0


class BrokerError(Exception):
    """The broker takes no message; the text says why."""


@dataclass(frozen=True, slots=True)
class Queue:
    """Messages that no worker has fetched."""

    waiting: int
    oldest: str | bytes | None

    def oldest_sent_at(self) -> float | None:
        """When the oldest was sent, in seconds since 1970; None where its header does not say it."""
        if self.oldest is None:
            return None
        sent_at = json.loads(self.oldest).get("headers", {}).get(ENQUEUED_AT)
        return float(sent_at) if sent_at is not None else None


def queue_name() -> str:
    """The queue that the workers read."""
    return str(current_app.conf.task_default_queue)


def read_redis(url: str) -> Queue:
    """Write and remove a message of our own, and look at the queue."""
    try:
        client = redis.Redis.from_url(url, socket_timeout=TIMEOUT_S, socket_connect_timeout=TIMEOUT_S)
        with client, client.pipeline(transaction=True) as pipeline:
            # A server that is out of memory, or a replica, refuses the first of these.
            pipeline.lpush(PROBE, b"")
            pipeline.delete(PROBE)
            pipeline.llen(queue_name())
            pipeline.lindex(queue_name(), -1)
            _pushed, _deleted, waiting, oldest = pipeline.execute()
    except redis.RedisError as error:
        raise BrokerError(str(error)) from error
    return Queue(waiting, oldest)


def read_postgresql(url: str) -> Queue:
    """Write a message into a queue of our own, which is taken back, and look at the queue."""
    try:
        with psycopg.connect(
            url, connect_timeout=TIMEOUT_S, options=f"-c statement_timeout={TIMEOUT_S * 1000}", autocommit=True
        ) as connection:
            with connection.transaction(force_rollback=True):
                connection.execute(
                    "WITH probe AS (INSERT INTO kombu_queue (id, name) VALUES (nextval('queue_id_sequence'), %s) "
                    "RETURNING id) INSERT INTO kombu_message (id, visible, payload, version, queue_id) "
                    "SELECT nextval('message_id_sequence'), true, '', 1, id FROM probe",
                    [PROBE],
                )
            waiting = (
                "FROM kombu_message JOIN kombu_queue ON kombu_queue.id = kombu_message.queue_id "
                "WHERE kombu_queue.name = %s AND kombu_message.visible"
            )
            row: Any = connection.execute(
                f"SELECT (SELECT count(*) {waiting}), "
                f"(SELECT payload {waiting} ORDER BY timestamp, kombu_message.id LIMIT 1)",
                [queue_name()] * 2,
            ).fetchone()
    except psycopg.errors.UndefinedTable:
        return Queue(0, None)  # nothing was ever sent: whoever sends first makes them
    except psycopg.Error as error:
        if 'database "' in str(error) and "does not exist" in str(error):  # the same, when connecting
            return Queue(0, None)
        raise BrokerError(str(error)) from error
    return Queue(*row)


def look() -> Result:
    """Put a message, and look at those that wait."""
    url: str = settings.CELERY_BROKER_URL
    read: Callable[[str], Queue]
    if settings.REDIS_URL:
        read, advice = read_redis, _("Look at the log of Redis and start it; the sweeps enqueue again what was lost.")
    else:
        read, advice = read_postgresql, _("The broker is a database of the same PostgreSQL; look at its log.")
        url = url.replace("sqla+postgresql+psycopg", "postgresql", 1)
    try:
        queue = read(url)
    except BrokerError as error:
        message = _("The broker takes no messages: %(error)s") % {"error": one_line(error)}
        return Result(State.FAILED, message, advice)
    figures = {"waiting_messages": float(queue.waiting)}
    sent_at = queue.oldest_sent_at()
    if sent_at is not None:
        figures["oldest_message_age_seconds"] = max(time.time() - sent_at, 0.0)
    message = (
        ngettext("%(count)s message waits.", "%(count)s messages wait.", queue.waiting) % {"count": queue.waiting}
        if queue.waiting
        else _("No message waits.")
    )
    if sent_at is not None and time.time() - sent_at > OLD_AFTER_S:
        return Result(
            State.WARNING,
            message,
            _("Look at the worker: if it is at work and busy, more workers would help."),
            since=datetime.fromtimestamp(sent_at, tz=UTC),
            figures=figures,
        )
    return Result(State.OK, message, figures=figures)


CHECK = Check("broker", gettext_lazy("Broker"), look, vital=True)
