"""The broker over PostgreSQL: each message once, however many take, and nothing kept of what was delivered."""

import contextlib
import threading
import time
import uuid
from datetime import timedelta

import psycopg
import pytest
from celery import Celery
from celery.beat import Scheduler
from django.conf import settings
from kombu import Connection
from psycopg.conninfo import conninfo_to_dict

from standalone.broker.address import broker_url, register_transport


@pytest.fixture
def url():
    """Address of a broker that does not exist yet."""
    register_transport()
    database = {**settings.DATABASES["default"], "NAME": f"{settings.TEST_DATABASE}_{uuid.uuid4().hex[:8]}_broker"}
    yield broker_url(database)
    from kombu.transport.sqlalchemy import Channel

    for address, (engine, _session) in list(Channel._engines.items()):
        if database["NAME"] in address:
            engine.dispose()
            del Channel._engines[address]
    with server() as connection:
        connection.execute(f'DROP DATABASE "{database["NAME"]}" WITH (FORCE)')


def server():
    database = settings.DATABASES["default"]
    return psycopg.connect(
        host=database["HOST"], user=database["USER"], dbname="postgres", autocommit=True,
        password=database.get("PASSWORD") or None, port=database.get("PORT") or None,
    )  # fmt: skip


@contextlib.contextmanager
def away(url):
    """Close all connections to the broker's database, and let nobody connect."""
    name = conninfo_to_dict(url.replace("sqla+postgresql+psycopg", "postgresql"))["dbname"]
    with server() as connection:
        connection.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
        try:
            yield
        finally:
            connection.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')


# So long a full queue may take to give its next message on a busy machine; an empty one is asked for less.
SLOW_S, EMPTY_S = 60, 1


def take_all(url, taken, number):
    """Take messages into `taken` until it holds `number`, and look once more for one too many."""
    with Connection(url) as connection, connection.SimpleQueue("tasks") as queue:
        until = time.monotonic() + SLOW_S
        while time.monotonic() < until:
            is_last = len(taken) >= number
            try:
                message = queue.get(timeout=EMPTY_S)
            except queue.Empty:
                if is_last:
                    return
                continue
            message.ack()
            taken.append(message.payload)


def rows(url):
    parts = url.removeprefix("sqla+postgresql+psycopg://")
    with psycopg.connect(f"postgresql://{parts}") as connection:
        return connection.execute("SELECT count(*) FROM kombu_message").fetchone()[0]


@pytest.mark.slow
def test_first_use_by_several_at_once_then_each_message_once(url):
    errors, taken = [], []
    barrier = threading.Barrier(4)

    def put(start):
        try:
            barrier.wait()
            with Connection(url) as connection, connection.SimpleQueue("tasks") as queue:
                for number in range(start, start + 10):
                    queue.put(number)
        except Exception as error:
            errors.append(error)

    putters = [threading.Thread(target=put, args=(10 * n,)) for n in range(4)]
    for putter in putters:
        putter.start()
    for putter in putters:
        putter.join()
    take_all(url, taken, 40)
    assert errors == []
    assert sorted(taken) == list(range(40))
    assert rows(url) == 0


@pytest.mark.slow
def test_several_takers_share_without_doubles(url):
    with Connection(url) as connection, connection.SimpleQueue("tasks") as queue:
        for number in range(60):
            queue.put(number)
    taken = []
    takers = [threading.Thread(target=take_all, args=(url, taken, 60)) for _ in range(3)]
    for taker in takers:
        taker.start()
    for taker in takers:
        taker.join()
    assert sorted(taken) == list(range(60))


def test_an_unacknowledged_message_comes_back(url):
    with Connection(url) as connection, connection.SimpleQueue("tasks") as queue:
        queue.put("message")
        queue.get(timeout=SLOW_S)
    with Connection(url) as connection, connection.SimpleQueue("tasks") as queue:
        message = queue.get(timeout=SLOW_S)
        assert message.payload == "message"
        message.ack()
    assert rows(url) == 0


@pytest.mark.slow
def test_beat_sends_again_after_the_database_was_away(url):
    app = Celery(broker=url, set_as_current=False)
    app.conf.task_publish_retry_policy = settings.CELERY_TASK_PUBLISH_RETRY_POLICY
    scheduler = Scheduler(app)
    for name in ("first", "second"):
        scheduler.add(name=name, task=name, schedule=timedelta(seconds=15))
    entries = [scheduler.schedule[name] for name in ("first", "second")]

    def send():
        for entry in entries:
            scheduler.apply_entry(entry, producer=scheduler.producer)

    send()
    with away(url):
        send()
    send()
    assert rows(url) == 4
    scheduler.close()


@pytest.mark.parametrize(
    ("database", "expected"),
    [
        (
            {"NAME": "c_broker", "USER": "u", "HOST": "/run/pg sql"},
            "sqla+postgresql+psycopg://u@/c_broker?host=/run/pg+sql",
        ),
        (
            {"NAME": "c_broker", "USER": "u", "PASSWORD": "p@ss/w", "HOST": "db", "PORT": 5433},
            "sqla+postgresql+psycopg://u:p%40ss%2Fw@db:5433/c_broker",
        ),
        (
            {"NAME": "b", "USER": "u", "HOST": "db", "OPTIONS": {"sslmode": "require", "pool": {}}},
            "sqla+postgresql+psycopg://u@db/b?sslmode=require",
        ),
    ],
)
def test_address(database, expected):
    assert broker_url(database) == expected
