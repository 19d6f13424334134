"""Undo of a submission, an acceptance and the end of an adjudication."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import Notification, User
from annotation import access, services
from annotation.models import Adjudication, Amendment, Assignment, Check, Decision, Membership, Ruling
from annotation.selectors.ratings import group_ratings
from annotation.todo import todos
from consilium.core.errors import Conflict
from consilium.statistics.outcomes import Outcome
from tests.annotation.conftest import Workshop, build_workshop
from tests.factories import decide

UNDO_REFUSED = "This can no longer be undone. If something in it is wrong, write a comment on the response."
pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def undo(user: User, url: str) -> Any:
    return signed_in(user).post(f"/work/{url}/undo/", "{}", content_type="application/json")


def first_of(workshop: Workshop) -> Assignment:
    row = workshop.queue()[0]
    row.refresh_from_db()
    return row


def claim(workshop: Workshop) -> None:
    waiting = access.waiting_checks(workshop.checker)
    assert services.claim_check(checker=workshop.checker, waiting=waiting, at=timezone.now())


def test_submitted_work_goes_back_with_all_its_decisions() -> None:
    workshop = build_workshop(check_policy="all")
    row = workshop.queue()[0]
    decide(row, "met", "not_met")
    answer = undo(workshop.annotator, row.public_id)
    assert (answer.status_code, answer.json()) == (200, {"url": f"/work/{row.public_id}/"})
    row = first_of(workshop)
    assert (row.status, row.round, row.submitted_at) == ("draft", 1, None)
    assert list(Decision.objects.order_by("criterion").values_list("outcome", flat=True)) == [
        "met", "not_met", "not_met",
    ]  # fmt: skip
    assert not access.waiting_checks(workshop.checker).exists()
    assert undo(workshop.annotator, row.public_id).status_code == 409  # it is undone already
    # It can be changed and submitted again.
    body = json.dumps({"decisions": [], "have": ""})
    page = signed_in(workshop.annotator)
    assert page.post(f"/work/{row.public_id}/submit/", body, content_type="application/json").status_code == 200
    assert first_of(workshop).status == "submitted"


def test_the_page_of_the_response_offers_undo_for_a_minute_whether_or_not_a_checker_has_claimed_it() -> None:
    workshop = build_workshop(check_policy="all")
    row = workshop.queue()[0]
    decide(row)

    def offers() -> bool:
        page = signed_in(workshop.annotator).get(f"/work/{row.public_id}/").content.decode()
        assert ("You can undo the submission until" in page) == ("data-undo-submission" in page)
        return "data-undo-submission" in page

    assert offers()
    # That a checker has claimed it is not shown: the page stays the same, and undoing is refused.
    claim(workshop)
    assert offers()
    assert undo(workshop.annotator, row.public_id).status_code == 409
    services.release_check(assignment=first_of(workshop), checker=workshop.checker)
    assert offers()
    Assignment.objects.filter(pk=row.pk).update(submitted_at=timezone.now() - timedelta(seconds=61))
    assert not offers()


def test_the_page_offers_no_undo_to_who_has_left_the_group() -> None:
    workshop = build_workshop(check_policy="all")
    row = workshop.queue()[0]
    decide(row)
    membership = Membership.objects.get(user=row.annotator, group=workshop.group)
    services.set_member_active(membership=membership, active=False, at=timezone.now())
    page = signed_in(workshop.annotator).get(f"/work/{row.public_id}/")
    assert page.status_code == 200
    assert "data-undo-submission" not in page.content.decode()


def test_notifications_are_locked_in_the_same_order_when_a_conflict_opens_and_when_it_is_withdrawn() -> None:
    workshop = build_workshop(annotators_per_item=2, criteria=3)

    def readers(queries: CaptureQueriesContext) -> list[int]:
        """Who reads the notifications that are locked, in this order."""
        locks = [row["sql"] for row in queries if "accounts_notification" in row["sql"] and "FOR NO KEY" in row["sql"]]
        users = [
            re.search(r'"user_id" IN \((\d+)\)', sql) for sql in locks if "conflict:" in sql or "adjudicate:" in sql
        ]
        return [int(match.group(1)) for match in users if match]

    with CaptureQueriesContext(connection) as opening:
        workshop.conflict()
    response = workshop.queue()[0].response_id
    last = Assignment.objects.filter(response=response).order_by("-accepted_at").select_related("annotator")[0]
    with CaptureQueriesContext(connection) as withdrawing:
        services.undo_submit(assignment=last, annotator=last.annotator, at=timezone.now())
    assert readers(opening) == readers(withdrawing) == [workshop.admin.pk, workshop.adjudicator.pk]


def test_work_of_a_second_round_goes_back_as_returned() -> None:
    workshop = build_workshop(check_policy="all")
    row = workshop.queue()[0]
    decide(row)
    claim(workshop)
    services.return_check(assignment=row, checker=workshop.checker, note="Again, please.", at=timezone.now())
    row = first_of(workshop)
    open_lines = [todo.left for todo in todos(workshop.annotator)]
    assert any(left.endswith(", 1 of them returned") for left in open_lines), open_lines
    notice = Notification.objects.filter(user=workshop.annotator, kind="returned")
    assert notice.get().read_at is None
    services.submit(assignment=row, annotator=workshop.annotator, at=timezone.now())
    assert notice.get().read_at is not None  # nothing in it waits any more
    assert undo(workshop.annotator, row.public_id).status_code == 200
    row = first_of(workshop)
    assert (row.status, row.round) == ("returned", 2)
    assert row.submitted_at is not None  # it was submitted in round 1
    assert notice.get().read_at is None  # it waits again


def test_nothing_is_undone_late_or_once_a_checker_has_claimed_it() -> None:
    workshop = build_workshop(check_policy="all")
    row = workshop.queue()[0]
    decide(row)
    late = first_of(workshop).submitted_at + timedelta(seconds=66)  # type: ignore[operator]
    with pytest.raises(Conflict, match="more than 60 seconds"):
        services.undo_submit(assignment=row, annotator=workshop.annotator, at=late)
    claim(workshop)
    refused = undo(workshop.annotator, row.public_id)
    assert refused.status_code == 409
    assert refused.json()["detail"] == UNDO_REFUSED
    assert first_of(workshop).status == "in_check"
    # Neither the checker nor another annotator can undo the submission.
    for user in (workshop.checker, workshop.people()[1]):
        assert undo(user, row.public_id).status_code == 404


def test_undoing_twice_says_that_it_is_open_again() -> None:
    workshop = build_workshop(annotators_per_item=2, criteria=3, check_policy="all")
    open_again = "You can still change this, so there is nothing to undo."
    row = workshop.queue()[0]
    decide(row)
    claim(workshop)
    services.accept_check(assignment=first_of(workshop), checker=workshop.checker, at=timezone.now())
    address = f"/api/v1/work/checks/{row.public_id}/undo/"
    client = APIClient()
    client.force_authenticate(workshop.checker)
    assert client.post(address).status_code == 204
    assert (client.post(address).status_code, client.post(address).json()["detail"]) == (409, open_again)
    other = workshop.queue(workshop.people()[1])[0]
    decide(other)
    assert undo(other.annotator, other.public_id).status_code == 200
    twice = undo(other.annotator, other.public_id)
    assert (twice.status_code, twice.json()["detail"]) == (409, open_again)


def test_undoing_the_submission_withdraws_the_conflict_that_it_opened() -> None:
    workshop = build_workshop(annotators_per_item=2, criteria=3)
    workshop.conflict()
    response = workshop.queue()[0].response_id
    last = Assignment.objects.filter(response=response).order_by("-accepted_at").select_related("annotator")[0]
    notices = Notification.objects.filter(user=workshop.admin, kind="conflict")
    assert notices.get().values == {"count": 1}
    assert undo(last.annotator, last.public_id).status_code == 200
    assert not Adjudication.objects.exists()
    assert not notices.exists()
    last.refresh_from_db()
    assert (last.status, last.accepted_at) == ("draft", None)
    # The conflict opens again with the next submission.
    services.submit(assignment=last, annotator=last.annotator, at=timezone.now())
    assert Adjudication.objects.count() == 1
    assert notices.get().values == {"count": 1}
    claimed = services.claim_adjudication(adjudicator=workshop.adjudicator, waiting=Adjudication.objects.all())
    assert claimed is not None
    refused = undo(last.annotator, last.public_id)
    assert (refused.status_code, refused.json()["detail"]) == (409, UNDO_REFUSED)
    last.refresh_from_db()
    assert last.status == "accepted"
    assert Adjudication.objects.exists()


def test_a_conflict_that_was_adjudicated_since_keeps_the_submission() -> None:
    workshop = build_workshop(annotators_per_item=2, criteria=3)
    row = workshop.conflict()
    last = Assignment.objects.filter(response=row.response_id).order_by("-accepted_at").select_related("annotator")[0]
    adjudicator = workshop.adjudicator
    services.claim_adjudication(adjudicator=adjudicator, waiting=Adjudication.objects.all())
    row.refresh_from_db()
    for criterion in row.criteria:
        services.rule(adjudication=row, adjudicator=adjudicator, criterion=criterion, outcome="met", at=timezone.now())
    services.finish_adjudication(adjudication=row, adjudicator=adjudicator, at=timezone.now())
    assert undo(last.annotator, last.public_id).status_code == 409
    last.refresh_from_db()
    assert last.status == "accepted"
    assert group_ratings(workshop.group, "final").outcome.tolist() == [1, 1, 1]


def test_the_notice_of_a_completed_batch_goes_with_its_last_submission() -> None:
    workshop = build_workshop(annotators_per_item=1, responses=1)
    notices = Notification.objects.filter(user=workshop.admin, kind="batch")
    row = Assignment.objects.select_related("annotator").get()
    decide(row)
    assert notices.count() == 1
    assert undo(row.annotator, row.public_id).status_code == 200
    assert notices.count() == 0
    row.refresh_from_db()
    services.submit(assignment=row, annotator=row.annotator, at=timezone.now())
    assert notices.count() == 1


def test_an_accepted_check_goes_back_to_its_checker_with_the_amendments() -> None:
    workshop = build_workshop(check_policy="all")
    row = workshop.queue()[0]
    decide(row)
    claim(workshop)
    criterion = services.criteria_of(row)[0]
    terms = {"criterion": criterion, "outcome": "not_met", "reason": "No dose."}
    services.amend(assignment=row, checker=workshop.checker, at=timezone.now(), **terms)
    services.accept_check(assignment=row, checker=workshop.checker, at=timezone.now())
    assert len(group_ratings(workshop.group, "checked")) == 3
    answer = undo(workshop.checker, f"checks/{row.public_id}")
    assert (answer.status_code, answer.json()) == (200, {"url": f"/work/checks/{row.public_id}/"})
    row = first_of(workshop)
    assert (row.status, row.checker, row.accepted_at) == ("in_check", workshop.checker, None)
    assert Check.objects.values_list("result", "finished_at").get() == ("", None)
    assert Amendment.objects.values_list("outcome", "reason").get() == ("not_met", "No dose.")
    assert len(group_ratings(workshop.group, "checked")) == 0
    assert undo(workshop.checker, f"checks/{row.public_id}").status_code == 409
    services.accept_check(assignment=row, checker=workshop.checker, at=timezone.now())
    assert group_ratings(workshop.group, "checked").outcome.tolist() == [0, 1, 1]
    finished = Check.objects.get().finished_at
    assert finished is not None
    with pytest.raises(Conflict, match="more than 60 seconds"):
        services.undo_accept(assignment=row, checker=workshop.checker, at=finished + timedelta(seconds=66))


def test_a_finished_adjudication_opens_again_and_its_rulings_do_not_count() -> None:
    workshop = build_workshop(annotators_per_item=2, criteria=3)
    workshop.conflict()
    adjudicator = workshop.adjudicator
    row = services.claim_adjudication(adjudicator=adjudicator, waiting=Adjudication.objects.all())
    assert row is not None
    for criterion in row.criteria:
        services.rule(adjudication=row, adjudicator=adjudicator, criterion=criterion, outcome="met", at=timezone.now())
    services.finish_adjudication(adjudication=row, adjudicator=adjudicator, at=timezone.now())
    assert group_ratings(workshop.group, "final").outcome.tolist() == [1, 1, 1]
    answer = undo(adjudicator, f"adjudications/{row.public_id}")
    assert (answer.status_code, answer.json()) == (200, {"url": f"/work/adjudications/{row.public_id}/"})
    row.refresh_from_db()
    assert (row.status, row.adjudicator, row.finished_at) == ("open", adjudicator, None)
    assert set(Ruling.objects.values_list("outcome", "final_at")) == {("met", None)}
    assert group_ratings(workshop.group, "final").outcome.tolist()[:2] == [Outcome.UNDECIDED] * 2
    assert undo(adjudicator, f"adjudications/{row.public_id}").status_code == 409


def test_undo_through_the_api() -> None:
    workshop = build_workshop(check_policy="all")
    row = workshop.queue()[0]
    decide(row)
    own = signed_in(workshop.annotator)
    assert own.post(f"/api/v1/work/assignments/{row.public_id}/undo/").status_code == 204
    assert own.post(f"/api/v1/work/assignments/{row.public_id}/undo/").status_code == 409
    assert own.post(f"/api/v1/work/assignments/{row.public_id}/submit/").status_code == 200
    checker = signed_in(workshop.checker)
    checker.post("/api/v1/work/checks/next/")
    accept = f"/api/v1/work/checks/{row.public_id}/accept/"
    assert checker.post(accept, content_type="application/json").status_code == 204
    assert checker.post(f"/api/v1/work/checks/{row.public_id}/undo/").status_code == 204
    assert first_of(workshop).status == "in_check"
