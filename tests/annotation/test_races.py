"""Requests at the same moment, in threads over their own connections."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from threading import Barrier, Thread
from uuid import uuid4

import pytest
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import User
from annotation import access, services
from annotation.models import Adjudication, Assignment, Check, Decision, Membership, WritingTask
from annotation.services import slots
from annotation.writing.services import TextInput, hand_in, save_text
from consilium.core.errors import Conflict
from rubrics.models import Response
from tests.annotation.conftest import build_workshop
from tests.annotation.writing.writing_world import build_writing_world
from tests.factories import decide, member
from tests.waiting import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def at_once(*jobs: Callable[[], object]) -> list[object]:
    """Run the jobs in threads that start together; what each returned or raised."""
    barrier, results = Barrier(len(jobs)), [None] * len(jobs)

    def run(number: int, job: Callable[[], object]) -> None:
        try:
            barrier.wait(60)
            results[number] = job()
        except Exception as error:  # the test looks at it
            results[number] = error
        finally:
            connection.close()

    threads = [Thread(target=run, args=(number, job)) for number, job in enumerate(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    return results


def test_one_person_who_claims_a_check_several_times_at_once_has_claimed_it_themselves() -> None:
    workshop = build_workshop(annotators_per_item=2, responses=1, check_policy="all")
    rows = list(Assignment.objects.filter(batch=workshop.batch).select_related("annotator").order_by("pk"))
    for row, outcome in zip(rows, ("met", "not_met"), strict=True):
        decide(row, outcome)

    def claims(user: User, path: str) -> list[tuple[int, str]]:
        def claim() -> tuple[int, str]:
            client = APIClient()
            client.force_authenticate(user)
            answer = client.post(path)
            return answer.status_code, "" if answer.status_code == 200 else answer.json()["detail"]

        answers = at_once(*(claim for _ in range(8)))
        assert all(isinstance(answer, tuple) for answer in answers), answers
        return sorted(answers)  # type: ignore[type-var]

    for row in rows:
        answers = claims(workshop.checker, f"/api/v1/work/checks/{row.public_id}/claim/")
        assert answers == [(200, ""), *[(409, "You have already claimed this check.")] * 7]
        services.accept_check(assignment=row, checker=workshop.checker, at=timezone.now())
    conflict = Adjudication.objects.get()
    answers = claims(workshop.adjudicator, f"/api/v1/work/adjudications/{conflict.public_id}/claim/")
    assert answers == [(200, ""), *[(409, "You have already claimed this conflict.")] * 7]


@pytest.mark.parametrize("queue", ["checks", "adjudications"])
def test_who_asks_several_times_at_once_for_their_next_piece_gets_one(queue: str) -> None:
    is_check = queue == "checks"
    workshop = build_workshop(annotators_per_item=2, responses=3, check_policy="all" if is_check else "none")
    for row in Assignment.objects.filter(batch=workshop.batch).select_related("annotator"):
        decide(row, "met" if row.annotator == workshop.annotator else "not_met")
    user = workshop.checker if is_check else workshop.adjudicator

    def ask() -> str:
        client = APIClient()
        client.force_authenticate(user)
        answer = client.post(f"/api/v1/work/{queue}/next/")
        return answer.json()["id"] if answer.status_code == 200 else f"{answer.status_code} {answer.content!r}"

    answers = at_once(*(ask for _ in range(6)))
    held = access.held_checks(user) if is_check else access.open_adjudications(user).filter(adjudicator=user)
    assert set(answers) == set(held.values_list("public_id", flat=True))
    assert len(set(answers)) == 1


@pytest.mark.parametrize("queue", ["checks", "adjudications"])
def test_who_finishes_several_pieces_at_once_goes_on_with_one(queue: str, monkeypatch: pytest.MonkeyPatch) -> None:
    is_check = queue == "checks"
    workshop = build_workshop(annotators_per_item=2, responses=6, check_policy="all" if is_check else "none")
    for row in Assignment.objects.filter(batch=workshop.batch).select_related("annotator"):
        decide(row, "met" if row.annotator == workshop.annotator else "not_met")
    user = workshop.checker if is_check else workshop.adjudicator
    pieces: list[str] = []
    for _ in range(3):
        if is_check:
            check = services.claim_check(checker=user, waiting=access.waiting_checks(user), at=timezone.now())
            assert check is not None
            pieces.append(check.public_id)
            continue
        conflict = services.claim_adjudication(adjudicator=user, waiting=access.open_adjudications(user))
        assert conflict is not None
        pieces.append(conflict.public_id)
        for criterion in conflict.criteria:
            services.rule(
                adjudication=conflict, adjudicator=user, criterion=criterion, outcome="met", at=timezone.now()
            )
    end = "accept_check" if is_check else "finish_adjudication"
    stored, all_finished = getattr(services, end), Barrier(3)

    def finish_together(**values: object) -> object:
        answer = stored(**values)
        all_finished.wait(60)
        return answer

    monkeypatch.setattr(services, end, finish_together)

    def send(public_id: str) -> Callable[[], str]:
        client = Client()
        client.force_login(user)
        url = f"/work/{queue}/{public_id}/{'accept' if is_check else 'finish'}/"
        return lambda: client.post(url)["Location"]

    addresses = at_once(*(send(public_id) for public_id in pieces))
    held = access.held_checks(user) if is_check else access.open_adjudications(user).filter(adjudicator=user)
    assert set(addresses) == {f"/work/{queue}/{public_id}/" for public_id in held.values_list("public_id", flat=True)}
    assert len(set(addresses)) == 1


def test_two_checkers_never_hold_one_piece_of_work_and_none_is_left_over() -> None:
    workshop = build_workshop(check_policy="all", responses=12)
    for user in workshop.people():
        for row in workshop.queue(user):
            decide(row)
    checkers = [*workshop.people("checker"), *(member(workshop.group, "checker") for _ in range(4))]

    def claim(user: object) -> object:
        return services.claim_check(checker=user, waiting=access.waiting_checks(user), at=timezone.now())  # type: ignore[arg-type]

    taken: list[object] = []
    for _ in range(3):
        taken += at_once(*(lambda user=user: claim(user) for user in checkers))
    rows = [row for row in taken if isinstance(row, Assignment)]
    assert not [result for result in taken if isinstance(result, Exception)]
    assert max(Counter(row.pk for row in rows).values()) == 1
    assert len(rows) == 12  # 18 asked for 12
    assert Check.objects.count() == 12
    assert not Assignment.objects.filter(status="submitted").exists()


def test_two_tabs_saving_one_decision_leave_one_winner_and_one_question() -> None:
    workshop = build_workshop()
    row = workshop.queue()[0]
    criterion = services.criteria_of(row)[0]

    def save(outcome: str) -> object:
        change = services.DecisionInput(criterion=criterion, outcome=outcome, version=0, client_id=uuid4())
        return services.save_decision(
            assignment=Assignment.objects.get(pk=row.pk), annotator=row.annotator, change=change, at=timezone.now()
        )

    results = at_once(lambda: save("met"), lambda: save("not_met"))
    assert sorted(type(result).__name__ for result in results) == ["Decision", "StaleSave"]
    assert Decision.objects.count() == 1


def test_two_acceptances_of_the_same_moment_open_the_conflict_once() -> None:
    for _ in range(5):
        workshop = build_workshop(annotators_per_item=2, responses=1)
        rows = list(Assignment.objects.filter(batch=workshop.batch).select_related("annotator"))
        for row, outcome in zip(rows, ("met", "not_met"), strict=True):
            decide(row, outcome, submit=False)
        results = at_once(
            *(
                lambda row=row: services.submit(assignment=row, annotator=row.annotator, at=timezone.now())
                for row in rows
            )
        )
        assert results == [None, None]
        assert Adjudication.objects.filter(group=workshop.group).count() == 1


def test_closing_a_batch_waits_for_the_save_that_is_under_way() -> None:
    workshop = build_workshop()
    row = workshop.queue()[0]
    closed: list[object] = []
    with transaction.atomic():
        decide(row, submit=False)

        def close() -> None:
            services.close_batch(batch=workshop.batch, at=timezone.now())
            closed.append(True)
            connection.close()

        thread = Thread(target=close)
        thread.start()
        wait_until(_somebody_waits, message="the closing to wait for the save")
        assert not closed
    thread.join(120)
    assert closed
    assert Decision.objects.filter(assignment=row).count() == 3


def _somebody_waits() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database"
            " WHERE d.datname = current_database() AND locktype = 'advisory' AND classid = 1002 AND NOT granted"
        )
        return bool(cursor.fetchone()[0])


def test_two_adjudicators_never_hold_one_conflict() -> None:
    workshop = build_workshop(annotators_per_item=2, responses=4)
    for row in Assignment.objects.filter(batch=workshop.batch).select_related("annotator"):
        decide(row, "met" if row.annotator == workshop.annotator else "not_met")
    people = [workshop.adjudicator, *(member(workshop.group, "adjudicator") for _ in range(5))]
    results = at_once(
        *(
            lambda user=user: services.claim_adjudication(adjudicator=user, waiting=access.open_adjudications(user))
            for user in people
        )
    )
    held = [row.pk for row in results if isinstance(row, Adjudication)]
    assert len(held) == len(set(held)) == 4


@pytest.mark.parametrize("kept", [True, False])
def test_whoever_finds_the_last_slot_locked_waits_for_what_becomes_of_it(kept: bool) -> None:
    workshop = build_workshop(strategy="pool", responses=1)
    first, second = workshop.people()
    claims: list[object] = []

    def claim() -> None:
        claims.extend(at_once(lambda: slots.claim_next(annotator=second, batch=workshop.batch, at=timezone.now())))

    thread = Thread(target=claim)
    with transaction.atomic():
        assert slots.claim_next(annotator=first, batch=workshop.batch, at=timezone.now()) is not None
        thread.start()
        wait_until(_somebody_waits_for_a_row, message="the second claim to wait for the slot")
        if not kept:
            transaction.set_rollback(True)  # the first claim comes to nothing
    thread.join(120)
    (row,) = claims
    assert (row is None) if kept else isinstance(row, Assignment)
    assert Assignment.objects.get().annotator_id == (first if kept else second).pk


def test_a_save_and_the_end_of_a_lease_never_both_win() -> None:
    for _ in range(4):
        workshop = build_workshop(strategy="pool", responses=1, lease_hours=1)
        row = slots.claim_next(annotator=workshop.annotator, batch=workshop.batch, at=timezone.now())
        assert row is not None
        later = timezone.now() + timedelta(hours=2)
        change = services.DecisionInput(services.criteria_of(row)[0], "met")
        saved, released = at_once(
            lambda row=row, change=change, later=later: services.save_decision(
                assignment=row, annotator=row.annotator, change=change, at=later
            ),
            lambda later=later: slots.release_expired(at=later),
        )
        row.refresh_from_db()
        if isinstance(saved, Decision):
            assert (released, row.status) == (0, "draft")
        else:
            assert isinstance(saved, Conflict)
            assert (released, row.status) == (1, "released")


def test_two_tabs_of_one_annotator_get_the_same_response() -> None:
    workshop = build_workshop(strategy="pool", responses=5)
    claims = at_once(
        *(
            lambda: slots.claim_next(annotator=workshop.annotator, batch=workshop.batch, at=timezone.now())
            for _ in range(4)
        )
    )
    assert len({row.pk for row in claims if isinstance(row, Assignment)}) == Assignment.objects.count() == 1


def test_whoever_is_stopped_while_they_take_work_keeps_none() -> None:
    for _ in range(4):
        workshop = build_workshop(strategy="pool", responses=3)
        user = workshop.annotator
        membership = Membership.objects.get(user=user)
        at_once(
            lambda user=user, batch=workshop.batch: slots.claim_next(annotator=user, batch=batch, at=timezone.now()),
            lambda membership=membership: services.set_member_active(
                membership=membership, active=False, at=timezone.now()
            ),
        )
        assert not Assignment.objects.filter(annotator=user, status__in=Assignment.OPEN).exists()


def _somebody_waits_for_a_row() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks w WHERE NOT w.granted AND w.locktype = 'transactionid' AND EXISTS ("
            " SELECT 1 FROM pg_locks h JOIN pg_database d ON d.oid = h.database"
            " WHERE h.pid = w.pid AND d.datname = current_database())"
        )
        return bool(cursor.fetchone()[0])


def test_hand_ins_at_once_are_samples_of_their_own() -> None:
    world = build_writing_world()
    batch = world.give_out(writers_per_case=3, draw=1)
    tasks = list(WritingTask.objects.filter(batch=batch).select_related("writer"))
    for task in tasks:
        save_text(task=task, writer=task.writer, change=TextInput("Rest."), at=timezone.now())

    def send(task: WritingTask) -> object:
        return hand_in(task=task, writer=task.writer, version=2, attested=True, at=timezone.now())

    outcomes = at_once(*(lambda task=task: send(task) for task in [*tasks, tasks[0]]))
    assert sorted(row.sample for row in outcomes if isinstance(row, Response)) == [0, 1, 2]
    assert [type(row) for row in outcomes if not isinstance(row, Response)] == [Conflict]
