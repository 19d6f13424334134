"""Notifications for those who run a benchmark: of jobs, batches, conflicts, outages; and of a password link shown."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from threading import Barrier, Thread

import pytest
from django.core import mail
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from accounts.models import Notification, User
from accounts.services.deliveries import sweep_mails
from accounts.services.notifications import choose_deliveries
from agreement.models import Report
from agreement.services import ReportJobs
from annotation import access
from annotation.models import Assignment, Involvement, Part
from annotation.services.conflicts import withdraw_conflict_within
from annotation.services.decisions import submit
from annotation.services.staff_notices import notify_of_conflicts
from consilium.core.errors import DomainError
from consilium.core.heartbeat import WorkerHeartbeat
from consilium.core.jobs import LOST_AFTER, MAX_ATTEMPTS, Attempt
from releases.models import Release
from releases.services import RELEASES
from rubrics.models import Benchmark, ImportJob
from rubrics.services.import_jobs import IMPORTS
from rubrics.services.worker_outages import SILENT_AFTER, notify_of_outage
from tests.annotation.conftest import build_workshop
from tests.factories import BenchmarkFactory, UserFactory, decide

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
Work = Callable[[Attempt[Report]], None]


class Computing(ReportJobs):
    """Reports whose computation the test brings along."""

    def __init__(self, work: Work) -> None:
        self._work = work

    def work(self, attempt: Attempt[Report]) -> None:
        self._work(attempt)


@pytest.fixture
def people(db: None) -> tuple[Benchmark, User, User, User]:
    """A benchmark, two admins, and a researcher."""
    first, second, researcher = (UserFactory(last_login=NOON, time_zone="UTC") for _number in range(3))
    benchmark = BenchmarkFactory(slug="cardio", title="Cardiology pilot", admin=first)
    benchmark.roles.create(user=second, role="admin")
    benchmark.roles.create(user=researcher, role="researcher")
    return benchmark, first, second, researcher


def report_of(benchmark: Benchmark, by: User, *, seconds: int) -> Report:
    """A report that was requested so many seconds before `NOON`."""
    return Report.objects.create(
        benchmark=benchmark, kind="agreement", created_by=by, created_at=NOON - timedelta(seconds=seconds)
    )


def finish(attempt: Attempt[Report]) -> None:
    attempt.finish(progress=1.0)


def refuse(attempt: Attempt[Report]) -> None:
    raise DomainError("canary reason")


def noticed(*kinds: str) -> list[tuple[int, str]]:
    rows = Notification.objects.filter(kind__in=kinds) if kinds else Notification.objects.all()
    return sorted(rows.values_list("user_id", "kind"))


def lines_of(user: User) -> str:
    client = Client()
    client.force_login(user)
    return " ".join(client.get("/notifications/").content.decode().split())


# Jobs -----------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [9, 10])
def test_who_requested_a_report_gets_a_notice_unless_they_still_watched(
    people: tuple[Benchmark, User, User, User], seconds: int
) -> None:
    benchmark, _first, _second, researcher = people
    report = report_of(benchmark, researcher, seconds=seconds)
    Computing(finish).run(job_id=report.pk, clock=lambda: NOON)
    assert noticed() == ([] if seconds < 10 else [(researcher.pk, "job_done")])
    if seconds == 10:
        assert "Report ready: Agreement." in lines_of(researcher)
        assert Notification.objects.get().url == f"/b/cardio/agreement/{report.public_id}/"


def test_a_failed_job_notifies_every_admin_and_who_started_it(
    people: tuple[Benchmark, User, User, User],
) -> None:
    benchmark, first, second, researcher = people
    other = UserFactory()
    BenchmarkFactory(admin=other)
    report = report_of(benchmark, researcher, seconds=60)
    Computing(refuse).run(job_id=report.pk, clock=lambda: NOON)
    assert noticed() == sorted((user.pk, "job_failed") for user in (first, second, researcher))
    assert "Report failed: Agreement." in lines_of(second)
    assert "canary" not in lines_of(second)


def test_who_started_a_job_that_fails_at_once_gets_a_notice_too(people: tuple[Benchmark, User, User, User]) -> None:
    benchmark, first, second, _researcher = people
    report = report_of(benchmark, first, seconds=2)
    Computing(refuse).run(job_id=report.pk, clock=lambda: NOON)
    assert noticed() == sorted([(first.pk, "job_failed"), (second.pk, "job_failed")])


def test_who_runs_the_benchmark_no_longer_gets_no_notice(people: tuple[Benchmark, User, User, User]) -> None:
    benchmark, _first, _second, researcher = people
    benchmark.roles.filter(user=researcher).update(active=False)
    report = report_of(benchmark, researcher, seconds=60)
    Computing(finish).run(job_id=report.pk, clock=lambda: NOON)
    assert noticed() == []


def test_a_job_that_lost_its_workers_is_one_notice(people: tuple[Benchmark, User, User, User]) -> None:
    benchmark, first, second, _researcher = people
    report = report_of(benchmark, first, seconds=600)
    Report.objects.filter(pk=report.pk).update(
        status="running", attempts=MAX_ATTEMPTS, heartbeat_at=NOON - LOST_AFTER - timedelta(seconds=1)
    )
    for _number in range(2):
        Computing(finish).run(job_id=report.pk, clock=lambda: NOON)
    assert noticed() == sorted([(first.pk, "job_failed"), (second.pk, "job_failed")])


def test_a_job_that_another_worker_took_tells_nobody(people: tuple[Benchmark, User, User, User]) -> None:
    benchmark, first, _second, _researcher = people
    report = report_of(benchmark, first, seconds=60)

    def superseded(attempt: Attempt[Report]) -> None:
        Report.objects.filter(pk=report.pk).update(attempts=2)
        attempt.finish(progress=1.0)

    Computing(superseded).run(job_id=report.pk, clock=lambda: NOON)
    assert noticed() == []


def test_the_notice_and_the_result_are_kept_together_or_not_at_all(people: tuple[Benchmark, User, User, User]) -> None:
    benchmark, first, _second, _researcher = people
    report = report_of(benchmark, first, seconds=60)

    def undone(attempt: Attempt[Report]) -> None:
        with transaction.atomic():
            attempt.finish(progress=1.0)
            raise DomainError("a table does not fit")

    Computing(undone).run(job_id=report.pk, clock=lambda: NOON)
    assert Report.objects.get(pk=report.pk).status == "failed"
    assert {kind for _user, kind in noticed()} == {"job_failed"}


def test_a_refused_file_concerns_who_uploaded_it_alone(people: tuple[Benchmark, User, User, User]) -> None:
    benchmark, first, _second, _researcher = people
    job = ImportJob.objects.create(benchmark=benchmark, kind="cases", file_name="canary.jsonl", created_by=first)
    IMPORTS.ended(job, status="refused", at=job.created_at + timedelta(minutes=1))
    assert noticed() == [(first.pk, "job_failed")]
    assert "The file was not imported because it has errors: Cases." in lines_of(first)
    assert "canary.jsonl" in lines_of(first)
    sweep_mails(at=timezone.now() + timedelta(minutes=2))
    (sent,) = mail.outbox
    assert "because it has errors: Cases." in sent.body
    assert "canary" not in sent.subject + sent.body  # what people wrote stays out of mails


def test_a_label_is_translated_for_its_reader(people: tuple[Benchmark, User, User, User]) -> None:
    benchmark, first, second, _researcher = people
    User.objects.filter(pk=second.pk).update(language="zh-hans")
    job = ImportJob.objects.create(benchmark=benchmark, kind="cases", file_name="f", created_by=first)
    IMPORTS.ended(job, status="failed", at=job.created_at)
    second.refresh_from_db()
    assert "导入失败：病例" in lines_of(second)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "status", "words"),
    [
        ("import", "done", "Import finished: Cases."),
        ("import", "failed", "Import failed: Cases."),
        ("release", "done", "Release 1.0 is ready."),
        ("release", "failed", "Release 1.0 failed."),
    ],
)
def test_imports_and_releases_that_end_have_a_notice(
    people: tuple[Benchmark, User, User, User], kind: str, status: str, words: str
) -> None:
    """Who started it hears of the end, and of a failure every admin does."""
    benchmark, first, second, _researcher = people
    if kind == "import":
        job = ImportJob.objects.create(benchmark=benchmark, kind="cases", file_name="f.jsonl", created_by=first)
        IMPORTS.ended(job, status=status, at=job.created_at + timedelta(minutes=1))
    else:
        release = Release.objects.create(benchmark=benchmark, version="1.0", created_by=first, created_at=NOON)
        RELEASES.ended(release, status=status, at=NOON + timedelta(minutes=1))
    readers = [first] if status == "done" else [first, second]
    assert noticed() == sorted((user.pk, f"job_{status}") for user in readers)
    assert all(words in lines_of(user) for user in readers)


# Batches and conflicts ------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.django_db
def test_a_batch_is_completed_by_its_last_response_and_once() -> None:
    workshop = build_workshop(responses=1, annotators_per_item=2)
    first, second = Assignment.objects.filter(batch=workshop.batch).order_by("pk")
    decide(first, "met", "met", "met")
    assert noticed("batch") == []
    decide(second, "met", "not_met", "met")
    (adjudicator,) = workshop.people("adjudicator")
    readers = [(workshop.admin.pk, "batch"), (workshop.admin.pk, "conflict"), (adjudicator.pk, "conflict")]
    assert noticed("batch", "conflict") == sorted(readers)
    page = lines_of(workshop.admin)
    assert "All work in “Group A: Pilot batch” is completed. 1 response ended with conflicts to adjudicate." in page
    row = Notification.objects.get(kind="batch")
    client = Client()
    client.force_login(workshop.admin)
    assert client.get(row.url).status_code == 200
    assert client.get(Notification.objects.get(kind="conflict", user=workshop.admin).url).status_code == 200
    # An adjudicator hears of the conflicts that their list shows.
    client.force_login(adjudicator)
    assert "Physicians disagreed about 1 response, which you can adjudicate." in lines_of(adjudicator)
    assert "Claim next" in client.get(Notification.objects.get(user=adjudicator).url).content.decode()
    assert "New conflicts" in client.get("/profile/notifications/").content.decode()
    # No other physician hears of either.
    others = [user for user in workshop.people() if user != adjudicator]
    assert not Notification.objects.filter(user__in=others, kind__in=["batch", "conflict"]).exists()


@pytest.mark.slow
@pytest.mark.django_db
def test_an_adjudicator_hears_once_a_day_of_what_they_may_adjudicate_alone() -> None:
    workshop = build_workshop(responses=3, annotators_per_item=2)
    (adjudicator,) = workshop.people("adjudicator")
    works = Assignment.objects.filter(batch=workshop.batch).select_related("response").order_by("response", "pk")
    # They adjudicate no response in which they have another part.
    Involvement.objects.create(response=works[0].response, user=adjudicator, part=Part.CHECKER, group=workshop.group)
    for place, row in enumerate(works):
        decide(row, "met" if place % 2 else "not_met")
    (row,) = Notification.objects.filter(user=adjudicator)
    assert (row.kind, row.values) == ("conflict", {"what": "adjudicate", "count": 2})
    shown = access.open_adjudications(adjudicator)
    assert shown.count() == 2
    # An acceptance that is undone takes its conflict back.
    last = shown.order_by("created_at").last()
    assert last is not None
    withdraw_conflict_within(response=last.response, rubric=last.rubric, group=last.group, at=last.created_at)
    row.refresh_from_db()
    assert row.values["count"] == 1


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_two_physicians_who_end_a_batch_at_the_same_moment_complete_it() -> None:
    workshop = build_workshop(responses=1, annotators_per_item=2)
    rows = list(Assignment.objects.filter(batch=workshop.batch).select_related("annotator"))
    for row in rows:
        decide(row, "met", "met", "met", submit=False)
    start = Barrier(2, timeout=60)

    def work(row: Assignment) -> None:
        with transaction.atomic():
            start.wait()
            submit(assignment=row, annotator=row.annotator, at=timezone.now())
        connection.close()

    threads = [Thread(target=work, args=[row]) for row in rows]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert noticed("batch") == [(workshop.admin.pk, "batch")]


def test_conflicts_of_a_day_are_one_notice(people: tuple[Benchmark, User, User, User]) -> None:
    benchmark, first, second, _researcher = people
    for minutes in range(5):
        notify_of_conflicts(benchmark=benchmark, count=2, at=NOON + timedelta(minutes=minutes))
    assert noticed() == sorted([(first.pk, "conflict"), (second.pk, "conflict")])
    assert "Physicians disagreed about 10 responses, which were given to adjudicators." in lines_of(first)
    # A day ends with the daily mail at seven, so that the mail has all of it.
    Notification.objects.update(read_at=NOON)
    notify_of_conflicts(benchmark=benchmark, count=1, at=NOON + timedelta(hours=18, minutes=59))
    assert set(Notification.objects.values_list("read_at", flat=True)) == {None}
    assert sweep_mails(at=NOON + timedelta(hours=19)) == 2
    assert "about 11 responses" in mail.outbox[0].body
    notify_of_conflicts(benchmark=benchmark, count=1, at=NOON + timedelta(hours=19, minutes=1))
    assert Notification.objects.count() == 4


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_conflicts_of_several_transactions_are_all_counted() -> None:
    admin = UserFactory()
    benchmark = BenchmarkFactory(admin=admin)
    start = Barrier(4, timeout=60)

    def work() -> None:
        start.wait()
        for _number in range(5):
            notify_of_conflicts(benchmark=benchmark, count=1, at=NOON)
        connection.close()

    threads = [Thread(target=work) for _number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Notification.objects.get().values == {"count": 20}


# Outages --------------------------------------------------------------------------------------------------------------


def beat(at: datetime) -> None:
    WorkerHeartbeat.objects.all().delete()
    WorkerHeartbeat.objects.create(
        host="h", pid=1, started_at=at, beat_at=at, state="working", active_tasks=[], waiting_tasks=0
    )


def test_an_outage_is_one_notice_and_mailed_without_a_worker(people: tuple[Benchmark, User, User, User]) -> None:
    _benchmark, first, second, _researcher = people
    choose_deliveries(user=second, choices={"worker": "product"})
    beat(NOON)
    began = NOON - timedelta(days=1)
    assert not notify_of_outage(watched_since=began, at=NOON + SILENT_AFTER - timedelta(seconds=1))
    for seconds in (0, 30, 60):
        assert notify_of_outage(watched_since=began, at=NOON + SILENT_AFTER + timedelta(seconds=seconds))
    assert noticed() == sorted([(first.pk, "worker"), (second.pk, "worker")])
    (sent,) = mail.outbox
    assert sent.to == [first.email]
    assert "No worker has been running since 2 March 2026, 12:00." in sent.body
    # A worker comes back, and stops again: another outage.
    beat(NOON + timedelta(hours=1))
    assert not notify_of_outage(watched_since=began, at=NOON + timedelta(hours=1, minutes=1))
    assert notify_of_outage(watched_since=began, at=NOON + timedelta(hours=2))
    assert Notification.objects.count() == 4


def test_a_server_that_has_just_started_waits_for_its_worker(people: tuple[Benchmark, User, User, User]) -> None:
    beat(NOON - timedelta(days=2))  # of a worker that was killed with the server
    assert not notify_of_outage(watched_since=NOON, at=NOON + timedelta(minutes=1))
    WorkerHeartbeat.objects.all().delete()
    assert not notify_of_outage(watched_since=NOON, at=NOON + timedelta(minutes=1))
    assert notify_of_outage(watched_since=NOON, at=NOON + SILENT_AFTER)


# Settings -------------------------------------------------------------------------------------------------------------


def test_those_who_run_a_benchmark_choose_for_their_kinds(people: tuple[Benchmark, User, User, User]) -> None:
    _benchmark, first, _second, _researcher = people
    client = Client()
    client.force_login(first)
    page = client.get("/profile/notifications/").content.decode()
    for label in ("Failed jobs and runs", "Completed batches", "New conflicts", "Budgets used up", "Account security"):
        assert label in page
