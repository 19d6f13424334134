"""Threads that claim from one pool: never two on one slot, and no slot left over."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from threading import Barrier, BoundedSemaphore, Thread

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import User
from annotation.models import Assignment, Batch, Slot
from annotation.services import slots
from tests.chaos import FULL
from tests.factories import (
    BenchmarkFactory,
    CandidateFactory,
    CaseFactory,
    ExpertGroupFactory,
    ResponseFactory,
    decide,
    make_batch,
)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
THREADS = 200 if FULL else 10
# PostgreSQL forks a process for each connection; the threads take turns for those that others leave free.
CONNECTIONS = 100


def pool(*, responses: int, annotators: int, **terms: object) -> Batch:
    benchmark = BenchmarkFactory()
    candidates = [CandidateFactory(benchmark=benchmark) for _ in range(4)]
    for number in range(responses):
        if number % len(candidates) == 0:
            case = CaseFactory(benchmark=benchmark, rubric=1)
        ResponseFactory(case=case, candidate=candidates[number % len(candidates)])
    group = ExpertGroupFactory(benchmark=benchmark, annotators=annotators)
    return make_batch(group, strategy="pool", **terms)


def in_threads(batch: Batch, work: Callable[[User, BoundedSemaphore], None]) -> None:
    """Let every annotator of the batch work in a thread with connections of its own; all start together."""
    people = batch.group.people["annotator"]
    gate, seats, errors = Barrier(len(people)), BoundedSemaphore(CONNECTIONS), []

    def run(user: User) -> None:
        gate.wait(60)
        try:
            work(user, seats)
        except Exception as error:  # the test looks at it
            errors.append(error)
        finally:
            connection.close()

    threads = [Thread(target=run, args=(user,)) for user in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(600)
    assert not any(thread.is_alive() for thread in threads)
    assert errors == []


@pytest.mark.parametrize("order", ["by_case", "shuffled"])
def test_as_many_claims_as_slots_at_one_moment_leave_nobody_without_and_no_slot_idle(order: str) -> None:
    batch = pool(responses=THREADS // 2, annotators=THREADS, annotators_per_item=2, order=order)
    got: list[Assignment | None] = []

    def claim_once(user: User, seats: BoundedSemaphore) -> None:
        with seats:
            got.append(slots.claim_next(annotator=user, batch=batch, at=timezone.now()))
            connection.close()

    in_threads(batch, claim_once)
    assert None not in got
    assert len({row.slot_id for row in got if row}) == len(got) == THREADS == Slot.objects.count()
    assert Counter(Assignment.objects.values_list("slot", flat=True)).most_common(1)[0][1] == 1


def test_a_pool_is_drained_by_people_who_also_give_work_back() -> None:
    batch = pool(responses=THREADS, annotators=THREADS, annotators_per_item=3, check_policy="none")

    def drain(user: User, seats: BoundedSemaphore) -> None:
        chance = random.Random(user.pk)
        while True:
            with seats:
                row = slots.claim_next(annotator=user, batch=batch, at=timezone.now())
                connection.close()
            if row is None:
                return
            with seats:
                if chance.random() < 0.2:
                    slots.release(assignments=[row], by=None, at=timezone.now())
                else:
                    decide(row)
                connection.close()

    in_threads(batch, drain)
    live = Assignment.objects.exclude(status="released")
    assert live.count() == Slot.objects.count() == 3 * THREADS
    assert set(live.values_list("status", flat=True)) == {"accepted"}
    assert live.values("slot").distinct().count() == 3 * THREADS
    assert live.values("response", "annotator").distinct().count() == 3 * THREADS
