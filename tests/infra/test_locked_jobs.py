"""Work that is claimed by an advisory lock: held by one worker, free when its connection ends, found by the sweep."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from consilium.core import jobs
from consilium.core.locked_jobs import ENQUEUE_AGAIN_AFTER, LockedKind
from scoring.judges.services import TRAININGS
from scoring.models import Judge, PipelineRun, TrainedModel
from scoring.tasks import train_judge
from tests.factories import BenchmarkFactory
from tests.infra.test_jobs import TICK, Thread
from tests.waiting import wait_until


def make_training(name: str = "judge", **values: Any) -> TrainedModel:
    judge = Judge.objects.create(benchmark=BenchmarkFactory.create(), name=name, kind=Judge.Kind.TRAINED)
    return TrainedModel.objects.create(judge=judge, **values)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    ids: list[int] = []
    monkeypatch.setattr(train_judge, "delay", ids.append)
    return ids


@pytest.mark.django_db(transaction=True)
def test_one_worker_holds_a_row_and_another_row_is_free() -> None:
    first, second = make_training("first"), make_training("second")
    is_held, go_on = threading.Event(), threading.Event()

    def work() -> None:
        with TRAININGS.hold(first.pk) as held:
            assert held
            is_held.set()
            assert go_on.wait(120)

    worker = Thread(work)
    assert is_held.wait(120)
    with TRAININGS.hold(first.pk) as held:
        assert not held
    with TRAININGS.hold(second.pk) as held:
        assert held
    with transaction.atomic():
        assert (TRAININGS.is_free(first.pk), TRAININGS.is_free(second.pk)) == (False, True)
    go_on.set()
    worker.join()
    with TRAININGS.hold(first.pk) as held:
        assert held


@pytest.mark.django_db(transaction=True)
def test_the_row_of_a_worker_that_died_is_free(sent: list[int]) -> None:
    model = make_training(status="running", heartbeat_at=timezone.now())
    is_held, dies = threading.Event(), threading.Event()

    def work() -> None:
        with TRAININGS.hold(model.pk) as held:
            assert held
            is_held.set()
            assert dies.wait(120)
            connection.close()  # as the server sees the end of a process

    worker = Thread(work)
    assert is_held.wait(120)
    assert TRAININGS.sweep(at=timezone.now()) == 0
    dies.set()
    worker.join()
    # The server notices the closed connection a moment later.
    assert wait_until(lambda: TRAININGS.sweep(at=timezone.now())) == 1
    assert sent == [model.pk]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("waited", "is_lost"), [(ENQUEUE_AGAIN_AFTER, False), (ENQUEUE_AGAIN_AFTER + TICK, True)])
def test_a_task_is_sent_again_after_the_limit_and_no_sooner(sent: list[int], waited: timedelta, is_lost: bool) -> None:
    now = timezone.now()
    model = make_training("waits", heartbeat_at=now - waited)
    for status in ("done", "failed"):
        make_training(status, status=status, heartbeat_at=now - timedelta(days=1))
    assert TRAININGS.sweep(at=now) == is_lost
    assert sent == [model.pk] * is_lost
    assert TRAININGS.sweep(at=now) == 0  # the task may still be on its way


@pytest.mark.django_db(transaction=True)
def test_a_task_is_sent_after_the_commit_and_only_then(sent: list[int]) -> None:
    model, now = make_training(), timezone.now()
    with transaction.atomic():
        TRAININGS.enqueue([model], at=now)
        transaction.set_rollback(True)
    assert sent == []
    assert TrainedModel.objects.get().heartbeat_at is None
    with transaction.atomic():
        TRAININGS.enqueue([model], at=now)
        assert sent == []
    assert sent == [model.pk]
    assert TrainedModel.objects.get().heartbeat_at == now


def test_each_kind_has_a_lock_of_its_own() -> None:
    jobs.tasks()
    kinds = [kind for kind in jobs._kinds.values() if isinstance(kind, LockedKind)]
    assert {kind.model for kind in kinds} >= {PipelineRun, TrainedModel}
    assert len({kind.lock for kind in kinds}) == len(kinds)
