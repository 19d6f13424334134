"""My work: what is next and why nothing is, what came back, what was handed in and what a check made of it."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from annotation import access, services
from annotation.models import Assignment, Attention, Batch, Membership
from annotation.selectors.reviews import amendments_of
from annotation.selectors.workload import workload
from annotation.services import slots
from tests.annotation.conftest import Workshop, build_workshop
from tests.factories import BenchmarkFactory, BenchmarkRoleFactory, ExpertGroupFactory, UserFactory, decide

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def page_of(user: User, path: str = "/work/") -> str:
    client = Client()
    client.force_login(user)
    return client.get(path).content.decode()


def hand_in(workshop: Workshop, user: User | None = None) -> None:
    for row in workshop.queue(user):
        decide(row, "met")


def checked(workshop: Workshop, *, accept: bool) -> Assignment:
    """The first response amended in one criterion, and accepted or returned."""
    decide(workshop.queue()[0], "met")
    waiting = access.waiting_checks(workshop.checker)
    row = services.claim_check(checker=workshop.checker, waiting=waiting, at=timezone.now())
    assert row is not None
    services.amend(
        assignment=row,
        checker=workshop.checker,
        criterion=services.criteria_of(row)[1],
        outcome="not_met",
        reason="It names no dose.",
        at=timezone.now(),
    )
    if accept:
        services.accept_check(assignment=row, checker=workshop.checker, at=timezone.now())
    else:
        services.return_check(assignment=row, checker=workshop.checker, note="The dose, please.", at=timezone.now())
    row.refresh_from_db()
    return row


def test_each_reason_why_there_is_nothing_to_grade_has_its_own_text() -> None:
    states = {}
    states["no_group"] = UserFactory()
    group = ExpertGroupFactory(annotators=1, checkers=1)
    states["none"] = group.people["annotator"][0]
    ended = build_workshop()
    services.set_member_active(membership=Membership.objects.get(user=ended.annotator), active=False, at=AT)
    states["ended"] = ended.annotator
    services.set_member_active(membership=Membership.objects.get(user=ended.adjudicator), active=False, at=AT)
    assert workload(ended.adjudicator).state == "ended"
    states["other_part"] = group.people["checker"][0]
    waiting = build_workshop(check_policy="all")
    hand_in(waiting)
    states["waiting"] = waiting.annotator
    done = build_workshop()
    hand_in(done)
    states["done"] = done.annotator
    paused = build_workshop()
    services.pause_batch(batch=paused.batch)
    states["paused"] = paused.annotator
    held_back = build_workshop()
    Membership.objects.filter(user=held_back.annotator).update(withheld_at=AT)
    states["held_back"] = held_back.annotator
    locked = build_workshop(responses=1, strategy="pool")
    first, second = locked.people()
    assert slots.claim_next(annotator=first, batch=locked.batch, at=timezone.now())
    states["locked"] = second
    excluded = build_workshop(responses=1, strategy="pool")
    taken = slots.claim_next(annotator=excluded.annotator, batch=excluded.batch, at=timezone.now())
    assert taken is not None
    slots.skip(assignment=taken, annotator=excluded.annotator, reason="expertise", note="", at=timezone.now())
    states["barred"] = excluded.annotator
    assert {name: workload(user).state for name, user in states.items()} == {name: name for name in states}
    words = {
        "no_group": "You are not in an expert group yet",
        "ended": "Your work in the group has ended",
        "none": "No work yet",
        "waiting": "Waiting for a checker",
        "done": "All done",
        "paused": "Your batch is paused",
        "held_back": "Assignments paused",
        "barred": "The remaining work is for other physicians",
        "locked": "All responses are currently with other physicians",
    }
    for name, sentence in words.items():
        page = page_of(states[name])
        assert [other for other in words.values() if f"<h2>{other}</h2>" in page] == [sentence], name


def test_a_stopped_annotator_reads_what_they_submitted_and_changes_nothing() -> None:
    workshop = build_workshop(check_policy="all", responses=4)
    row = checked(workshop, accept=True)
    unfinished = workshop.queue()[1]
    client = Client()
    client.force_login(workshop.annotator)
    services.set_member_active(membership=Membership.objects.get(user=workshop.annotator), active=False, at=AT)
    here = f"/work/in/{workshop.benchmark.slug}/"
    assert client.get("/")["Location"] == here
    for path in ("/work/", here):
        page = client.get(path).content.decode()
        assert "An admin has ended your role in the expert group" in page
        assert f'href="/work/{row.public_id}/"' in page
    page = client.get(f"/work/{row.public_id}/").content.decode()
    assert "It names no dose." in page
    assert "data-time-url" not in page
    assert "data-comments=" not in page
    assert client.get(f"/work/{unfinished.public_id}/").status_code == 404
    for action in ("submit", "undo"):
        assert client.post(f"/work/{row.public_id}/{action}/").status_code == 404
    # Who has another role begins on the home page, as before.
    benchmark = BenchmarkFactory()
    BenchmarkRoleFactory(benchmark=benchmark, user=workshop.annotator, role="researcher")
    home = client.get("/")
    assert home.status_code == 200
    assert f'href="/b/{benchmark.slug}/"' in home.content.decode()
    # Somebody who was never an annotator there still reaches nothing.
    client.force_login(UserFactory())
    assert client.get(here).status_code == 404
    assert client.get(f"/work/{row.public_id}/").status_code == 404


def test_a_response_is_taken_from_the_pool_and_graded() -> None:
    workshop = build_workshop(responses=2, strategy="pool")
    client = Client()
    client.force_login(workshop.annotator)
    page = client.get("/work/").content.decode()
    assert "more can be claimed from the pool" in page
    assert page.split("<main")[1].split("</main")[0].count('class="primary"') == 1
    answer = client.post(f"/work/take/{workshop.batch.public_id}/")
    row = Assignment.objects.get(annotator=workshop.annotator)
    assert answer["Location"] == f"/work/{row.public_id}/"
    page = client.get("/work/").content.decode()
    assert "response 1 of 1" in page
    assert "Claim next response" not in page  # one is open


def test_what_was_put_back_from_a_batch_that_was_handed_out_can_be_taken() -> None:
    workshop = build_workshop(responses=2)
    other = UserFactory()
    Membership.objects.create(group=workshop.batch.group, user=other, role="annotator")
    assert workload(other).state == "none"
    slots.release(assignments=workshop.queue()[:1], by=workshop.admin, at=timezone.now())
    work = workload(other).pool
    assert work is not None and work.left == 1
    Client().force_login(other)
    row = slots.claim_next(annotator=other, batch=workshop.batch, at=timezone.now())
    assert row is not None and workload(other).pool is None


def test_a_response_has_one_number_on_all_pages_also_after_it_was_postponed() -> None:
    workshop = build_workshop(check_policy="all", responses=8)
    first, second, third, fourth = workshop.queue()
    decide(third, "met")
    waiting = access.waiting_checks(workshop.checker)
    row = services.claim_check(checker=workshop.checker, waiting=waiting, at=timezone.now())
    assert row is not None
    services.return_check(assignment=row, checker=workshop.checker, note="The dose, please.", at=timezone.now())
    decide(fourth, "met")
    for postponed in (first, row):
        slots.skip(assignment=postponed, annotator=workshop.annotator, reason="later", note="", at=timezone.now())
    # The queue is now: second, fourth, first, third. The stored positions are 2, 4, 5 and 6.
    numbers = {second.public_id: 1, fourth.public_id: 2, first.public_id: 3, third.public_id: 4}
    page = " ".join(page_of(workshop.annotator).split())
    assert re.findall(r"Returned: response (\d+) of", page) == ["4"]
    assert "Review the returned response 4 of 4" in page
    assert re.findall(r'href="/work/(\w+)/">Response (\d+)</a>', page) == [(fourth.public_id, "2")]
    client = Client()
    client.force_login(workshop.annotator)
    for public_id, number in numbers.items():
        assert f'data-heading="Response {number} of 4"' in client.get(f"/work/{public_id}/").content.decode()
        assert client.get(f"/api/v1/work/assignments/{public_id}/").json()["position"] == number
    listed = client.get("/api/v1/work/assignments/").json()["results"]
    assert [(row["id"], row["position"]) for row in listed] == list(numbers.items())


def test_due_dates_are_shown_in_days() -> None:
    today = timezone.localdate()
    workshop = build_workshop(responses=2)
    for days, words in ((3, "in 3 days"), (1, "tomorrow"), (0, "today"), (-1, "1 day ago"), (-5, "5 days ago")):
        Batch.objects.filter(pk=workshop.batch.pk).update(due_date=today + timedelta(days=days))
        page = page_of(workshop.annotator)
        assert words in page
        assert ('class="overdue"' in page) == (days < 0)


def test_the_annotator_sees_what_the_check_changed_and_not_who_checked() -> None:
    workshop = build_workshop(check_policy="all")
    row = checked(workshop, accept=False)
    (line,) = amendments_of(row).values()
    assert (line.number, line.own, line.outcome, line.reason, line.round) == (
        2,
        "met",
        "not_met",
        "It names no dose.",
        1,
    )
    for path in ("/work/", f"/work/{row.public_id}/"):
        page = page_of(workshop.annotator, path)
        assert "The dose, please." in page
        assert "It names no dose." in page
        assert workshop.checker.name not in page
    accepted = build_workshop(check_policy="all")
    row = checked(accepted, accept=True)
    assert "It names no dose." in page_of(accepted.annotator, f"/work/{row.public_id}/")
    assert f"/work/{row.public_id}/#criterion-" in page_of(accepted.annotator)


def test_a_check_that_is_going_on_shows_nothing() -> None:
    workshop = build_workshop(check_policy="all")
    decide(workshop.queue()[0], "met")
    row = services.claim_check(
        checker=workshop.checker, waiting=access.waiting_checks(workshop.checker), at=timezone.now()
    )
    assert row is not None
    criterion = services.criteria_of(row)[0]
    services.amend(
        assignment=row, checker=workshop.checker, criterion=criterion, outcome="not_met", reason="No.", at=AT
    )
    assert amendments_of(row) == {}


def test_time_is_shown_to_its_owner_by_batch_and_in_all() -> None:
    workshop = build_workshop(responses=4)
    first, second = workshop.queue()[:2]
    other = workshop.queue(workshop.people()[1])[0]
    for user, row, seconds in (
        (first.annotator, first, 3600),
        (first.annotator, second, 1425),
        (other.annotator, other, 60),
    ):
        Attention.objects.create(user=user, assignment=row, seconds=seconds, reported_at=AT)
    load = workload(workshop.annotator)
    assert (load.seconds, load.batches[0].seconds) == (5025, 5025)
    page = page_of(workshop.annotator)
    assert "1 h 23 min of your time" in page
    assert "Time you spent here: 1 h 23 min." in page


def test_the_page_takes_as_many_queries_for_four_responses_as_for_twelve() -> None:
    counts = []
    for responses in (4, 12):
        workshop = build_workshop(responses=responses, check_policy="all")
        hand_in(workshop)
        for number in range(responses // 2):
            row = services.claim_check(
                checker=workshop.checker, waiting=access.waiting_checks(workshop.checker), at=timezone.now()
            )
            assert row is not None
            criterion = services.criteria_of(row)[0]
            services.amend(
                assignment=row, checker=workshop.checker, criterion=criterion, outcome="not_met", reason="No.", at=AT
            )
            if number % 2:
                services.return_check(assignment=row, checker=workshop.checker, note="Again.", at=timezone.now())
            else:
                services.accept_check(assignment=row, checker=workshop.checker, at=timezone.now())
        both = []
        for user, path in ((workshop.annotator, "/work/"), (workshop.checker, "/work/checks/?show=done")):
            client = Client()
            client.force_login(user)
            client.get(path)
            with CaptureQueriesContext(connection) as counted:
                assert client.get(path).status_code == 200
            both.append(len(counted))
        counts.append(both)
    assert counts[0] == counts[1]
