"""Rows of workers: written, read by age, and gone with their worker."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection
from django.db.models import F, QuerySet

from consilium.core.heartbeat import (
    WorkerHeartbeat,
    record_heartbeat,
    remove_dead_workers,
    remove_heartbeat,
    workers_seen,
)

pytestmark = pytest.mark.django_db

WORKER = uuid.UUID(int=1)
HOST = "alpha"  # a worker that other tests share writes a row of its own to this database


def record(worker: uuid.UUID = WORKER, state: str = "working", active: list[str] | None = None) -> None:
    record_heartbeat(worker=worker, host=HOST, pid=7, state=state, active_tasks=active or [], waiting_tasks=2)


def make_older(worker: uuid.UUID, seconds: float) -> None:
    age = timedelta(seconds=seconds)
    WorkerHeartbeat.objects.filter(pk=worker).update(beat_at=F("beat_at") - age, started_at=F("started_at") - age)


def rows() -> QuerySet[WorkerHeartbeat]:
    return WorkerHeartbeat.objects.filter(host=HOST)


def test_a_second_beat_renews_the_row_and_keeps_its_start() -> None:
    record()
    make_older(WORKER, 20)
    first = rows().get()
    record(state="stopping", active=["some.task"])
    second = rows().get()
    assert second.started_at == first.started_at
    assert second.beat_at - first.beat_at >= timedelta(seconds=20)
    assert (second.host, second.pid, second.state) == (HOST, 7, "stopping")
    assert (second.active_tasks, second.waiting_tasks) == (["some.task"], 2)


def test_workers_seen_within_the_mark_with_their_age() -> None:
    # Minutes apart: the test itself takes part of a second.
    for number, age in enumerate((0, 2900, 3100)):
        record(uuid.UUID(int=number))
        make_older(uuid.UUID(int=number), age)
    seen = workers_seen(within_s=3000).filter(host=HOST).order_by("age")
    assert [(worker.pk.int, round(worker.age.total_seconds(), -2)) for worker in seen] == [(0, 0), (1, 2900)]


def test_dead_workers_are_forgotten_after_ten_times_the_limit_and_come_back_if_they_live() -> None:
    for number, age in enumerate((2990, 3010)):
        record(uuid.UUID(int=number))
        make_older(uuid.UUID(int=number), age)
    remove_dead_workers(limit_s=300)
    assert [worker.pk.int for worker in rows()] == [0]
    record(uuid.UUID(int=1))
    assert rows().count() == 2


def test_a_worker_that_ends_takes_its_own_row_alone() -> None:
    record(uuid.UUID(int=1))
    record(uuid.UUID(int=2))
    remove_heartbeat(worker=uuid.UUID(int=1))
    assert [worker.pk.int for worker in rows()] == [2]


def test_the_database_refuses_an_unknown_state() -> None:
    record()
    with pytest.raises(IntegrityError), connection.cursor() as cursor:
        cursor.execute("UPDATE consilium_workerheartbeat SET state = 'asleep' WHERE host = %s", [HOST])
