"""Reminders of due dates, and who hears of new and returned work."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Notification, User
from accounts.notices import words_of
from annotation import access, services
from annotation.models import Batch, Membership
from annotation.services.batch_notices import notify_of_overdue_batches, notify_of_stuck_work
from annotation.services.due import remind, stage_of
from annotation.tasks import sweep_due_dates
from rubrics.models import Case
from tests.annotation.conftest import Workshop, build_workshop
from tests.annotation.labels.labels_world import build_ward
from tests.factories import CaseFactory, ResponseFactory, decide, make_batch

DUE = date(2026, 3, 20)


@pytest.mark.parametrize(
    ("day", "stage"),
    [(16, ""), (17, "3"), (18, "3"), (19, "1"), (20, "1"), (21, "overdue"), (31, "overdue")],
)
def test_stages(day: int, stage: str) -> None:
    assert stage_of(DUE, date(2026, 3, day)) == stage


def reminders(user: User) -> list[str]:
    rows = Notification.objects.filter(user=user, kind="due").order_by("pk")
    return [row.values["stage"] for row in rows]


@pytest.fixture
def due(db: None) -> Workshop:
    workshop = build_workshop(due_date=DUE)
    User.objects.filter(pk=workshop.annotator.pk).update(time_zone="Asia/Shanghai")
    return workshop


@pytest.mark.slow
def test_each_stage_once_on_the_readers_own_days(due: Workshop) -> None:
    # 06:00 of 17 March in Shanghai is 22:00 UTC of the 16th.
    first = datetime(2026, 3, 16, 22, 0, tzinfo=UTC)
    remind(at=first - timedelta(minutes=1))
    assert reminders(due.annotator) == []
    remind(at=first)
    remind(at=first + timedelta(minutes=30))
    assert reminders(due.annotator) == ["3"]
    assert reminders(due.people()[1]) == []  # in UTC it is still the 16th
    for day in range(1, 9):
        remind(at=first + timedelta(days=day, hours=1))
    assert reminders(due.annotator) == ["3", "1", "overdue"]
    client = Client()
    client.force_login(due.annotator)
    page = client.get("/notifications/").content.decode()
    (day,) = set(re.findall(r"was due on ([^<]*?)\. [0-9]+ responses? w", page))  # beside the link, and in its button
    assert set(day.replace(",", "").split()) == {"20", "March", "2026"}


@pytest.mark.slow
def test_who_is_done_paused_or_gone_is_left_in_peace(due: Workshop) -> None:
    at = datetime(2026, 3, 17, 12, 0, tzinfo=UTC)
    for row in due.queue():
        decide(row)
    Membership.objects.filter(user=due.people()[1]).update(active=False)
    remind(at=at)
    Membership.objects.filter(user=due.people()[1]).update(active=True)
    Batch.objects.update(status="paused")
    remind(at=at)
    assert not Notification.objects.filter(kind="due").exists()
    Batch.objects.update(status="open")
    remind(at=at)
    assert reminders(due.people()[1]) == ["3"]


@pytest.mark.slow
def test_a_new_due_date_is_reminded_of_anew(due: Workshop) -> None:
    at = datetime(2026, 3, 17, 12, 0, tzinfo=UTC)
    remind(at=at)
    services.extend_batch(batch=due.batch, due_date=DUE + timedelta(days=7))
    remind(at=at + timedelta(days=1))
    remind(at=at + timedelta(days=7))
    assert reminders(due.annotator) == ["3", "moved", "3"]


@pytest.mark.slow
def test_everybody_with_open_work_is_notified_of_another_due_date(due: Workshop) -> None:
    admin, reader = Client(), Client()
    admin.force_login(due.admin)
    reader.force_login(due.annotator)
    url = f"/b/{due.benchmark.slug}/batches/{due.batch.public_id}/extend/"
    for date_sent in ("2030-03-27", "2030-03-26", "2030-03-26"):  # the third changes nothing
        assert admin.post(url, {"due_date": date_sent}).status_code == 302
    page = reader.get("/notifications/").content.decode()
    assert re.search(r"is now due on 26 March 2030\. \d+ responses? w(as|ere) open when this was sent\.", page)
    assert "27 March" not in page  # the unread notice was brought up to date
    Notification.objects.filter(user=due.annotator).update(read_at=timezone.now())
    assert admin.post(url, {"due_date": ""}).status_code == 302
    page = reader.get("/notifications/").content.decode()
    assert re.search(r"has no due date any more\. \d+ responses? w(as|ere) open when this was sent\.", page)
    assert reminders(due.annotator) == ["moved", "moved"]
    assert reminders(due.people()[1]) == ["moved"]
    assert not Notification.objects.filter(user=due.checker, kind="due").exists()  # there is nothing to check yet


@pytest.mark.slow
def test_notices_of_two_batches_stay_apart(due: Workshop) -> None:
    case = CaseFactory(benchmark=due.benchmark)
    for _ in range(2):
        ResponseFactory(case=case)
    other = make_batch(due.group, title="Second", cases=[case.key])
    for batch in (due.batch, other):
        services.extend_batch(batch=batch, due_date=DUE + timedelta(days=7))
    rows = Notification.objects.filter(user=due.annotator, kind="due")
    assert sorted(row.values["batch"] for row in rows) == ["Pilot batch", "Second"]
    rows.delete()
    Batch.objects.update(title="Pilot batch")  # a title may be given twice
    for batch in Batch.objects.order_by("pk"):
        services.extend_batch(batch=batch, due_date=DUE + timedelta(days=8))
    ids = set(Batch.objects.values_list("public_id", flat=True))
    assert {(row.values["batch"], row.values["batch_id"]) for row in rows.all()} == {
        ("Pilot batch", public_id) for public_id in ids
    }
    assert len(ids) == 2


@pytest.mark.slow
def test_a_due_date_that_has_passed_is_set_only_when_it_is_confirmed(due: Workshop) -> None:
    admin = Client()
    admin.force_login(due.admin)
    page = f"/b/{due.benchmark.slug}/batches/{due.batch.public_id}/"
    assert "Physicians with open work are notified of the change." in admin.get(page).content.decode()
    answer = admin.post(f"{page}extend/", {"due_date": "2026-03-01"})
    assert answer.status_code == 422
    text = answer.content.decode()
    assert "This date has already passed" in text
    assert 'value="2026-03-01"' in text
    due.batch.refresh_from_db()
    assert due.batch.due_date == DUE
    assert reminders(due.annotator) == []
    assert admin.post(f"{page}extend/", {"due_date": "2026-03-01", "anyway": "1"}).status_code == 302
    due.batch.refresh_from_db()
    assert due.batch.due_date == date(2026, 3, 1)
    assert reminders(due.annotator) == ["moved"]


@pytest.mark.slow
@pytest.mark.django_db
def test_open_cases_are_reminded_of_as_responses_are() -> None:
    ward = build_ward()
    Batch.objects.filter(pk=ward.batch.pk).update(due_date=DUE)
    ward.say("a", "emergent")  # the first physician has handed one in
    for _again in range(2):
        remind(at=datetime(2026, 3, 17, 12, 0, tzinfo=UTC))
    rows = Notification.objects.filter(kind="due").order_by("user")
    assert [row.values["count"] for row in rows] == [3, 4, 4]
    client = Client()
    client.force_login(ward.people[0])
    assert "3 cases were open when this was sent." in client.get("/notifications/").content.decode()
    assert 'class="overdue">due' in client.get("/work/").content.decode()


@pytest.mark.slow
@pytest.mark.django_db
def test_one_notice_of_a_batch_each_and_one_of_a_return() -> None:
    workshop = build_workshop(responses=4, check_policy="all")
    rows = Notification.objects.filter(kind="new_work")
    assert {row.user_id: row.values["count"] for row in rows} == {
        user.pk: len(workshop.queue(user)) for user in workshop.people()
    }
    work = workshop.queue()[0]
    decide(work)
    waiting = access.waiting_checks(workshop.checker)
    held = services.claim_check(checker=workshop.checker, waiting=waiting, at=timezone.now())
    assert held is not None
    services.return_check(assignment=held, checker=workshop.checker, note="secret words", at=timezone.now())
    notification = Notification.objects.get(kind="returned")
    assert notification.user == work.annotator
    assert notification.url == f"/work/{work.public_id}/"
    assert "secret" not in str(notification.values)


# Admins ---------------------------------------------------------------------------------------------------------------


def attention(user: User) -> list[tuple[str, str]]:
    rows = Notification.objects.filter(user=user, kind="attention").order_by("pk")
    return [(row.values["what"], row.key) for row in rows]


@pytest.mark.slow
def test_admins_learn_once_that_a_batch_is_overdue(due: Workshop) -> None:
    morning = datetime(2026, 3, 21, 6, 30, tzinfo=UTC)
    notify_of_overdue_batches(at=morning - timedelta(days=1))  # the due date itself
    notify_of_overdue_batches(at=morning - timedelta(hours=1))  # before six
    assert attention(due.admin) == []
    for day in range(3):
        notify_of_overdue_batches(at=morning + timedelta(days=day))
    key = f"overdue:{due.batch.public_id}:2026-03-20"
    assert attention(due.admin) == [("overdue", key)]
    assert attention(due.annotator) == []
    client = Client()
    client.force_login(due.admin)
    page = client.get("/notifications/").content.decode()
    assert "“Group A: Pilot batch” was due on" in page
    assert Notification.objects.get(kind="attention").url == f"/b/{due.benchmark.slug}/batches/{due.batch.public_id}/"
    assert "Batches that need attention" in client.get("/profile/notifications/").content.decode()
    # Another due date can pass, too; a batch without work left is not overdue.
    services.extend_batch(batch=due.batch, due_date=date(2026, 3, 25))
    notify_of_overdue_batches(at=morning + timedelta(days=5))
    assert [what for what, _key in attention(due.admin)] == ["overdue", "overdue"]
    Notification.objects.all().delete()
    Batch.objects.update(status="paused")
    notify_of_overdue_batches(at=morning + timedelta(days=5))
    assert attention(due.admin) == []


@pytest.mark.slow
def test_admins_learn_of_work_that_nobody_can_do(due: Workshop) -> None:
    at = datetime(2026, 3, 10, 9, 0, tzinfo=UTC)
    notify_of_stuck_work(at=at)
    assert attention(due.admin) == []
    row = due.queue(due.annotator)[0]
    services.slots.release(assignments=[row], by=due.admin, at=at)
    Membership.objects.filter(role="annotator").update(active=False)
    # A response to an excluded case is nobody's work.
    Case.objects.filter(pk=row.case_id).update(excluded_at=at, exclusion_reason="Unclear.")
    notify_of_stuck_work(at=at)
    assert attention(due.admin) == []
    Case.objects.filter(pk=row.case_id).update(excluded_at=None, exclusion_reason="")
    for _number in range(2):
        notify_of_stuck_work(at=at)
    key = f"stuck:{due.batch.public_id}"
    assert attention(due.admin) == [("stuck", key)]
    client = Client()
    client.force_login(due.admin)
    page = client.get("/notifications/").content.decode()
    assert "In “Group A: Pilot batch”, no annotator can claim 1 response." in page
    # Once somebody can do it, what gets stuck later is new.
    Membership.objects.filter(role="annotator").update(active=True)
    notify_of_stuck_work(at=at)
    Membership.objects.filter(role="annotator").update(active=False)
    notify_of_stuck_work(at=at)
    assert attention(due.admin) == [("stuck", ""), ("stuck", key)]
    sweep_due_dates()  # both are in the sweep
    assert attention(due.admin) == [("stuck", ""), ("stuck", key)]


@pytest.mark.slow
@pytest.mark.django_db
def test_admins_learn_of_submitted_work_that_no_checker_can_take() -> None:
    workshop = build_workshop(check_policy="all")
    decide(workshop.queue(workshop.annotator)[0])
    Membership.objects.filter(role="checker").update(active=False)
    sweep_due_dates()
    (row,) = Notification.objects.filter(user=workshop.admin, kind="attention")
    assert words_of(row).text == "In “Group A: Pilot batch”, no checker can claim 1 submitted response."
