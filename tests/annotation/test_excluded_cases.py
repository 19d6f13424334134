"""A case that is excluded while work on it is open is handed out to nobody any more, and no batch waits for it."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from annotation import access
from annotation.dashboard.counts import count_work
from annotation.labels.selectors import label_work
from annotation.models import Assignment, Batch, LabelTask, WritingTask
from annotation.selectors.able_reviewers import waiting_for_adjudicators, waiting_for_checkers
from annotation.services import claim_adjudication
from annotation.services.reminders import open_work_in
from annotation.services.staff_notices import work_is_left
from annotation.writing.selectors import writing_work
from rubrics.models import Case
from rubrics.services.exclusion import exclude_case, restore_case
from tests.annotation.conftest import build_workshop
from tests.annotation.labels.labels_world import build_ward
from tests.annotation.writing.writing_world import build_writing_world
from tests.factories import decide

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
AT = timezone.now()


def exclude(case: Case) -> None:
    exclude_case(case=case, kind="screening", reason="All candidates solve it.", by=None, at=AT)


def submitted(batch: Batch) -> int:
    return count_work([batch], at=AT).by_batch()[batch.pk].by_stage["submitted"]


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_questions_about_an_excluded_case_are_asked_of_nobody() -> None:
    ward = build_ward()
    annotator = ward.people[0]
    queue = list(LabelTask.objects.filter(batch=ward.batch, annotator=annotator).order_by("position"))
    client = signed_in(annotator)
    exclude(queue[0].case)
    work = label_work(annotator)[0]
    assert (work.total, work.next_id) == (3, queue[1].public_id)
    api = client.get("/api/v1/work/labels/").json()
    assert queue[0].public_id not in str(api) and api["count"] == 3
    assert {row.count for row in open_work_in(ward.batch)} == {3}
    # The page that is open already still works: nothing that was written is lost.
    assert client.get(f"/work/labels/{queue[0].public_id}/").status_code == 200
    for case in "abcd":
        if case != queue[0].case.key:
            ward.say(case, *["emergent"] * 3)
    assert not work_is_left(ward.batch) and not label_work(annotator)[0].open
    # The cases have the numbers that their pages have: the excluded one is not counted.
    listed = re.findall(r'href="/work/labels/(\w+)/">\s*Case (\d+)\s*</a>', client.get("/work/").content.decode())
    numbers = {row.public_id: str(number) for number, row in enumerate(queue[1:], start=1)}
    assert dict(listed) == numbers
    for public_id, number in numbers.items():
        assert f"Case {number} of 3" in client.get(f"/work/labels/{public_id}/").content.decode()
        assert client.get(f"/api/v1/work/labels/{public_id}/").json()["position"] == int(number)
    restore_case(case=queue[0].case, reason="Undone.", by=None, at=AT)
    assert work_is_left(ward.batch) and label_work(annotator)[0].next_id == queue[0].public_id


def test_no_response_to_an_excluded_case_is_to_be_written() -> None:
    world = build_writing_world()
    batch = world.give_out(writers_per_case=3)
    task = WritingTask.objects.filter(batch=batch).order_by("position").first()
    assert task is not None
    before = writing_work(task.writer)[0]
    exclude(task.case)
    mine = WritingTask.objects.filter(batch=batch, writer=task.writer).exclude(pk=task.pk).order_by("position")
    after = writing_work(task.writer)
    assert before.next_id == task.public_id
    assert [row.next_id for row in after] == list(mine.values_list("public_id", flat=True)[:1])
    client = signed_in(task.writer)
    listed = client.get("/api/v1/work/writing/").json()
    assert listed["count"] == before.total - 1
    # Numbered as the page numbers them, without the gap that the excluded case leaves.
    assert [row["position"] for row in listed["results"]] == list(range(1, before.total))
    for row in listed["results"]:
        assert client.get(f"/api/v1/work/writing/{row['id']}/").json()["position"] == row["position"]
    Case.objects.filter(benchmark=world.benchmark).update(excluded_at=AT, exclusion_reason="x")
    assert not work_is_left(batch) and not open_work_in(batch)


def test_no_check_of_an_excluded_case_is_handed_out() -> None:
    workshop = build_workshop(check_policy="all")
    work = workshop.queue()[0]
    decide(work)
    assert access.waiting_checks(workshop.checker).exists() and waiting_for_checkers([workshop.batch.pk])
    assert submitted(workshop.batch) == 1
    exclude(work.case)
    assert not access.waiting_checks(workshop.checker).exists() and not waiting_for_checkers([workshop.batch.pk])
    assert submitted(workshop.batch) == 0  # progress does not wait for it either
    Assignment.objects.filter(batch=workshop.batch).exclude(pk=work.pk).delete()
    assert not work_is_left(workshop.batch)


def test_no_conflict_on_an_excluded_case_is_handed_out_and_a_claimed_one_can_be_finished() -> None:
    workshop = build_workshop(annotators_per_item=2)
    conflict = workshop.conflict()
    waiting = access.open_adjudications(workshop.adjudicator)
    assert waiting.exists() and waiting_for_adjudicators([workshop.group.pk])
    exclude(conflict.response.case)
    assert not waiting.all().exists() and not waiting_for_adjudicators([workshop.group.pk])
    restore_case(case=conflict.response.case, reason="Undone.", by=None, at=AT)
    claim_adjudication(adjudicator=workshop.adjudicator, waiting=waiting.all())
    exclude(conflict.response.case)
    assert waiting.all().exists()
