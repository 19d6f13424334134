"""The broker over PostgreSQL in an event loop: every channel, no more than the prefetch, errors out, nothing left."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from kombu import Connection, Consumer, Queue
from kombu.asynchronous import Hub
from sqlalchemy.exc import OperationalError, PendingRollbackError, ProgrammingError

from standalone.broker.transport import POLLING_INTERVAL_S
from tests.infra.test_broker import rows, url  # noqa: F401  # fixture


def put(url: str, name: str, numbers: range) -> None:  # noqa: F811
    with Connection(url) as connection, connection.SimpleQueue(name) as queue:
        for number in numbers:
            queue.put(number)


def run(hub: Hub, condition: Callable[[], object], *, within_s: float = 60.0) -> None:
    """Run the loop until ``condition`` holds, or for that long."""
    until = time.monotonic() + within_s
    while not condition() and time.monotonic() < until:
        hub.run_once()


class Loop:
    """A connection in a loop of its own, as a worker has it; ``taken`` holds its messages, unacknowledged."""

    def __init__(self, url: str) -> None:  # noqa: F811
        self.taken: list[Any] = []
        self.connection = Connection(url)
        self.connection.connect()
        self.hub = Hub()
        self.hub.propagate_errors = self.connection.connection_errors
        self.connection.transport.register_with_event_loop(self.connection.connection, self.hub)

    def consume(self, name: str, *, prefetch: int = 0) -> Consumer:
        channel = self.connection.channel()
        channel.basic_qos(0, prefetch, False)
        consumer = Consumer(channel, [Queue(name, routing_key=name)], accept=["json"])
        consumer.register_callback(lambda _body, message: self.taken.append(message))
        consumer.consume()
        return consumer

    def payloads(self) -> list[Any]:
        return sorted(message.payload for message in self.taken)


@pytest.fixture
def loop(url: str) -> Any:  # noqa: F811
    put(url, "warm", range(1))
    loop = Loop(url)
    yield loop
    loop.connection.close()
    loop.hub.close()


@pytest.mark.slow
def test_every_channel_gets_its_messages(loop: Loop, url: str) -> None:  # noqa: F811
    loop.consume("left")
    loop.consume("right")
    put(url, "left", range(5))
    put(url, "right", range(5, 9))
    run(loop.hub, lambda: len(loop.taken) == 9)
    assert loop.payloads() == list(range(9))


@pytest.mark.slow
def test_no_more_than_the_prefetch_until_one_is_acknowledged(loop: Loop, url: str) -> None:  # noqa: F811
    loop.consume("few", prefetch=2)
    put(url, "few", range(5))
    run(loop.hub, lambda: len(loop.taken) == 2)
    run(loop.hub, lambda: len(loop.taken) > 2, within_s=5 * POLLING_INTERVAL_S)
    assert loop.payloads() == [0, 1]
    loop.taken[0].ack()
    run(loop.hub, lambda: len(loop.taken) == 3)
    run(loop.hub, lambda: len(loop.taken) > 3, within_s=5 * POLLING_INTERVAL_S)
    assert loop.payloads() == [0, 1, 2]


def test_a_lost_connection_leaves_the_loop_and_closing_leaves_nothing_in_it(loop: Loop, url: str) -> None:  # noqa: F811
    loop.consume("lost")
    hub, address = loop.hub, url.removeprefix("sqla+postgresql+psycopg://")
    run(hub, lambda: False, within_s=3 * POLLING_INTERVAL_S)
    ended = threading.Thread(target=end_connections, args=[f"postgresql://{address}"])
    ended.start()
    # The second where the connection is lost within a transaction; Celery connects anew after either.
    with pytest.raises((OperationalError, PendingRollbackError)):
        run(hub, lambda: False)
    ended.join()
    loop.connection.close()
    assert hub.on_tick == set()
    run(hub, lambda: not hub.timer.queue)
    assert hub.timer.queue == []


def end_connections(address: str) -> None:
    with psycopg.connect(address) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def test_an_error_that_no_new_connection_mends_leaves_the_loop_too(loop: Loop, url: str) -> None:  # noqa: F811
    loop.consume("gone")
    run(loop.hub, lambda: False, within_s=3 * POLLING_INTERVAL_S)
    with psycopg.connect(f"postgresql://{url.removeprefix('sqla+postgresql+psycopg://')}") as connection:
        connection.execute("DROP TABLE kombu_message")
    with pytest.raises(ProgrammingError):
        run(loop.hub, lambda: False)


def test_registering_twice_polls_once(loop: Loop) -> None:
    before = len(loop.hub.timer.queue)
    loop.connection.transport.register_with_event_loop(loop.connection.connection, loop.hub)
    run(loop.hub, lambda: False, within_s=3 * POLLING_INTERVAL_S)
    assert (len(loop.hub.on_tick), len(loop.hub.timer.queue)) == (1, before)
