"""One list of all that waits for a physician, by due date, with the time that is left; one benchmark opens its work."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from annotation import access, services
from annotation.models import Assignment, Attention, Batch, Membership
from consilium.core.todo import Todo, by_due_date, seconds_of
from tests.annotation.conftest import build_workshop
from tests.factories import BenchmarkRoleFactory, ExpertGroupFactory, ResponseFactory, UserFactory, decide, make_batch

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
TODAY = date(2026, 3, 2)


def line(title: str, *, due: date | None = None, seconds: int | None = None, **others: bool) -> Todo:
    values = {"task": "Grade", "title": title, "benchmark": "", "left": "", "button": "Start", "url": "/"}
    return Todo(**values, due=due, seconds=seconds, **others)  # type: ignore[arg-type]


def test_lines_are_in_the_order_of_due_dates_and_what_blocks_comes_first() -> None:
    late = line("late", due=TODAY + timedelta(days=9))
    soon, undated, blocks = line("soon", due=TODAY), line("undated"), line("blocks", first=True)
    assert [row.title for row in by_due_date([undated, late, soon, blocks])] == ["blocks", "soon", "late", "undated"]


def test_the_total_is_shown_only_if_each_line_has_an_estimate() -> None:
    assert seconds_of([line("a", seconds=60), line("b", seconds=90)]) == 150
    assert seconds_of([line("a", seconds=60), line("b")]) is None
    assert seconds_of([line("a", seconds=60), line("b", seconds=60, each=True)]) is None
    assert seconds_of([]) is None


def page_of(user: User, path: str = "/work/") -> str:
    client = Client()
    client.force_login(user)
    answer = client.get(path)
    assert answer.status_code == 200, answer.status_code
    return " ".join(answer.content.decode().split())


def titles(page: str) -> list[str]:
    listed = re.search(r'<section class="card todo">.*?</ol>', page)
    return re.findall(r"<h3>(.*?)</h3>", listed[0]) if listed else []


def due(batch: Batch, days: int) -> None:
    Batch.objects.filter(pk=batch.pk).update(due_date=timezone.localdate() + timedelta(days=days))


@pytest.mark.django_db
@pytest.mark.slow
def test_batches_of_all_benchmarks_are_in_one_list_by_due_date() -> None:
    workshop = build_workshop(responses=2)
    person = workshop.annotator
    Batch.objects.filter(pk=workshop.batch.pk).update(title="Later")
    due(workshop.batch, 9)
    response = ResponseFactory()
    group = ExpertGroupFactory(benchmark=response.case.benchmark)
    Membership.objects.create(group=group, user=person, role="annotator")
    due(make_batch(group, title="Sooner"), 2)
    page = page_of(person)
    assert titles(page) == ["Sooner", "Later"]
    assert re.findall(r"in \d days", page) == ["in 2 days", "in 9 days"]
    assert page.split("<main")[1].split("</main")[0].count('class="button primary"') == 1


@pytest.mark.django_db
@pytest.mark.slow
def test_the_time_left_is_that_of_the_pace_of_three_responses() -> None:
    workshop = build_workshop(responses=20)
    rows = workshop.queue()
    for number, row in enumerate(rows[:3], start=1):
        assert not re.search(r"about \d", page_of(row.annotator))
        decide(row, "met")
        Attention.objects.create(user=row.annotator, assignment=row, seconds=300 * number, reported_at=AT)
    # 5, 10 and 15 minutes: 10 minutes each, and 7 of 10 responses are left.
    assert len(rows) == 10
    assert "about 1 h 10 min left" in page_of(workshop.annotator)
    assert "about 1 h 10 min in total" in page_of(workshop.annotator)
    # A piece that is half done, and one that was returned and submitted again, say nothing of the pace.
    Attention.objects.create(user=rows[3].annotator, assignment=rows[3], seconds=1, reported_at=AT)
    decide(rows[4], "met")
    Attention.objects.create(user=rows[4].annotator, assignment=rows[4], seconds=9000, reported_at=AT)
    Assignment.objects.filter(pk=rows[4].pk).update(round=2)
    assert "about 1 h 0 min left" in page_of(workshop.annotator).replace("1 h 00", "1 h 0")


@pytest.mark.django_db
@pytest.mark.slow
def test_less_than_a_minute_is_not_about() -> None:
    workshop = build_workshop(responses=10)
    rows = workshop.queue()
    for row in rows[:3]:
        decide(row, "met")
        Attention.objects.create(user=row.annotator, assignment=row, seconds=5, reported_at=AT)
    page = page_of(workshop.annotator)
    assert "less than 1 min left" in page and "less than 1 min in total" in page and "about <" not in page


@pytest.mark.django_db
@pytest.mark.slow
def test_checks_are_a_line_with_the_earliest_due_date() -> None:
    workshop = build_workshop(check_policy="all", responses=4)
    due(workshop.batch, 5)
    for row in workshop.queue():
        decide(row, "met")
    page = page_of(workshop.checker)
    assert titles(page) == ["Check decisions"]
    assert "2 responses to check" in page and "in 5 days" in page and "Start next check" in page
    services.claim_check(checker=workshop.checker, waiting=access.waiting_checks(workshop.checker), at=timezone.now())
    page = page_of(workshop.checker)
    assert "2 responses to check, 1 claimed by you" in page and "Continue checking" in page


@pytest.mark.django_db
@pytest.mark.slow
def test_adjudicating_continues_with_the_conflict_that_is_claimed() -> None:
    workshop = build_workshop(annotators_per_item=2)
    row = workshop.conflict()
    page = page_of(workshop.adjudicator)
    claim_url, list_link = "/work/adjudications/next/", 'href="/work/adjudications/">List</a>'
    assert "1 response in conflict" in page and "Start next adjudication" in page and f'action="{claim_url}"' in page
    assert list_link in page
    client = Client()
    client.force_login(workshop.adjudicator)
    assert client.post(claim_url)["Location"] == f"/work/adjudications/{row.public_id}/"
    page = page_of(workshop.adjudicator)
    assert "1 response in conflict, 1 claimed by you" in page and list_link in page
    button = rf'<a class="button primary" href="/work/adjudications/{row.public_id}/">\s*Continue adjudicating'
    assert re.search(button, page) and claim_url not in page


@pytest.mark.django_db
@pytest.mark.slow
def test_a_person_with_one_benchmark_begins_with_the_work_there() -> None:
    workshop = build_workshop(responses=2)
    client = Client()
    client.force_login(workshop.annotator)
    answer = client.get("/")
    slug = workshop.batch.group.benchmark.slug
    assert (answer.status_code, answer["Location"]) == (302, f"/work/in/{slug}/")


@pytest.mark.django_db
@pytest.mark.slow
def test_a_person_with_two_benchmarks_sees_one_list_at_home() -> None:
    workshop, other = build_workshop(responses=2), ExpertGroupFactory()
    Membership.objects.create(group=other, user=workshop.annotator, role="annotator")
    page = page_of(workshop.annotator, "/")
    assert titles(page) == [workshop.batch.title]
    assert other.benchmark.title in page


@pytest.mark.django_db
@pytest.mark.slow
def test_who_runs_a_benchmark_begins_at_home() -> None:
    admin = BenchmarkRoleFactory(role="admin").user
    group = ExpertGroupFactory()
    Membership.objects.create(group=group, user=admin, role="annotator")
    assert "To do" not in page_of(admin, "/")
    assert "Welcome" in page_of(UserFactory(is_staff=True), "/")


@pytest.mark.django_db
@pytest.mark.slow
def test_my_work_takes_a_limited_number_of_queries() -> None:
    workshop = build_workshop(responses=4, check_policy="all")
    decide(workshop.queue()[0], "met")
    for user in (workshop.annotator, workshop.checker, workshop.adjudicator):
        client = Client()
        client.force_login(user)
        client.get("/work/")
        with CaptureQueriesContext(connection) as counted:
            client.get("/work/")
        assert len(counted) <= 21  # one of them asks who demands a second step
