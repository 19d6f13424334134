"""Rulings on conflicts: what a faulty criterion sets off, and the lists of checks and conflicts."""

from __future__ import annotations

import csv
import io
import re
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from annotation import access, services
from annotation.models import Adjudication, Assignment, BatchItem, Ruling
from consilium.core.errors import Conflict
from rubrics.models import RevisionRequest
from rubrics.services.revisions import dismiss_revisions
from tests.annotation.conftest import Workshop, build_workshop
from tests.factories import ExpertGroupFactory, decide, make_batch, member

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def held() -> tuple[Workshop, Adjudication, Client]:
    """A conflict about two criteria, taken by the adjudicator."""
    workshop = build_workshop(annotators_per_item=2)
    workshop.conflict()
    row = services.claim_adjudication(
        adjudicator=workshop.adjudicator, waiting=access.open_adjudications(workshop.adjudicator)
    )
    assert row is not None
    return workshop, row, signed_in(workshop.adjudicator)


def rule(client: Client, row: Adjudication, criterion: int, outcome: str, reason: str = "") -> int:
    url = f"/work/adjudications/{row.public_id}/criteria/{criterion}/"
    return client.post(url, {"outcome": outcome, "reason": reason}).status_code


def test_the_list_goes_on_with_what_was_taken(held: tuple[Workshop, Adjudication, Client]) -> None:
    _workshop, row, client = held
    page = " ".join(client.get("/work/adjudications/").content.decode().split())
    assert (
        f'<a class="button primary" href="/work/adjudications/{row.public_id}/"> Continue the one you claimed' in page
    )


def test_a_faulty_criterion_asks_for_a_revision_until_the_adjudicator_thinks_again(
    held: tuple[Workshop, Adjudication, Client],
) -> None:
    workshop, row, client = held
    criterion = row.criteria[0]
    assert rule(client, row, criterion, "faulty", " ") == 422
    assert not RevisionRequest.objects.exists()
    assert rule(client, row, criterion, "faulty", "It asks for two things.") == 200
    assert rule(client, row, criterion, "faulty", "It asks for three things.") == 200
    revision_request = RevisionRequest.objects.get()
    assert (revision_request.criterion_id, revision_request.response_id, revision_request.rubric_id) == (
        criterion,
        row.response_id,
        row.rubric_id,
    )
    assert (revision_request.status, revision_request.reason) == ("open", "It asks for three things.")
    assert revision_request.requested_by == workshop.adjudicator
    assert rule(client, row, criterion, "met") == 200
    assert not RevisionRequest.objects.exists()
    # Where the admin has answered, a changed mind leaves the answer, and another reason asks anew.
    rule(client, row, criterion, "faulty", "It asks for two things.")
    dismiss_revisions(
        benchmark=workshop.benchmark,
        requests=list(RevisionRequest.objects.values_list("public_id", flat=True)),
        answer="Both belong together.",
        by=workshop.admin,
        at=timezone.now(),
    )
    rule(client, row, criterion, "faulty", "It asks for two things.")  # nothing new was said
    assert list(RevisionRequest.objects.values_list("status", flat=True)) == ["dismissed"]
    rule(client, row, criterion, "met")
    assert list(RevisionRequest.objects.values_list("status", flat=True)) == ["dismissed"]
    rule(client, row, criterion, "faulty", "They do not belong together.")
    assert sorted(RevisionRequest.objects.values_list("status", flat=True)) == ["dismissed", "open"]


def test_a_ruling_can_be_taken_back_and_a_stale_one_overwrites_nothing(
    held: tuple[Workshop, Adjudication, Client],
) -> None:
    _workshop, row, client = held
    first, second = row.criteria
    url = f"/work/adjudications/{row.public_id}/criteria/{first}/"
    faulty = {"outcome": "faulty", "reason": "It asks for two things.", "version": 0, "client_id": uuid4()}
    assert client.post(url, faulty).status_code == 200
    assert client.post(url, faulty).status_code == 200
    assert Ruling.objects.get().version == 1
    stale = client.post(url, {"outcome": "met", "version": 0, "client_id": uuid4()})
    assert stale.status_code == 409
    assert 'data-outcome="faulty"' in stale.content.decode()
    assert 'value="It asks for two things."' in stale.content.decode()
    assert client.post(url, {"reason": "No outcome is named."}).status_code == 422
    assert Ruling.objects.values_list("outcome", "version").get() == ("faulty", 1)
    assert RevisionRequest.objects.exists()
    back = client.post(url, {"outcome": "none", "version": 1, "client_id": uuid4()})
    assert 'data-outcome=""' in back.content.decode()
    assert "It asks for two things." not in back.content.decode()
    assert not RevisionRequest.objects.exists()
    assert rule(client, row, second, "met") == 200
    refused = client.post(f"/work/adjudications/{row.public_id}/finish/")
    assert (refused.status_code, refused.content.decode().count("1 conflict is not decided yet")) == (422, 1)
    assert client.post(url, faulty | {"client_id": uuid4()}).status_code == 409  # the row that was taken back counts on
    assert client.post(url, faulty | {"client_id": uuid4(), "version": 2}).status_code == 200
    assert rule(client, row, second, "none") == 200
    assert rule(client, row, second, "not_met") == 200
    assert client.post(f"/work/adjudications/{row.public_id}/finish/").status_code == 302


def test_two_groups_that_find_the_same_fault_make_one_request_with_both_reasons(
    held: tuple[Workshop, Adjudication, Client],
) -> None:
    workshop, row, client = held
    other = ExpertGroupFactory(benchmark=workshop.benchmark, name="Group B", annotators=2, adjudicators=1)
    make_batch(other, annotators_per_item=2)
    for number, work in enumerate(Assignment.objects.filter(batch__group=other, response=row.response_id)):
        decide(work, *(["met", "met", "met"] if number else ["not_met", "met", "met"]))
    second = Adjudication.objects.get(group=other)
    judge = other.memberships.get(role="adjudicator").user
    services.claim_adjudication(adjudicator=judge, waiting=access.open_adjudications(judge))
    criterion = second.criteria[0]
    theirs = signed_in(judge)
    rule(client, row, criterion, "faulty", "Two things at once.")
    rule(theirs, second, criterion, "faulty", "No dose is named.")
    assert RevisionRequest.objects.get().reason == "Two things at once.\n\nNo dose is named."
    rule(client, row, criterion, "met")
    assert RevisionRequest.objects.get().reason == "No dose is named."
    rule(theirs, second, criterion, "not_met")
    assert not RevisionRequest.objects.exists()


def test_a_conflict_opens_whatever_another_group_still_has_to_do_with_the_response() -> None:
    workshop = build_workshop(annotators_per_item=2, responses=1)
    other = ExpertGroupFactory(benchmark=workshop.benchmark, name="Group B", annotators=2)
    make_batch(other, annotators_per_item=2)
    assert workshop.conflict().group == workshop.group


def test_the_admin_reads_the_reasons_and_leaves_the_criterion_as_it_is(
    held: tuple[Workshop, Adjudication, Client],
) -> None:
    workshop, row, client = held
    admin, base = signed_in(workshop.admin), f"/b/{workshop.benchmark.slug}/revisions"
    assert "No revisions have been requested" in admin.get(f"{base}/").content.decode()
    rule(client, row, row.criteria[0], "faulty", "=It asks for two things.")
    page = admin.get(f"{base}/").content.decode()
    assert "It asks for two things." in page
    assert "2 decisions depend on it" in page
    assert re.search(r'Revisions\s*<span class="count">1</span>', page)
    assert client.get(f"{base}/").status_code == 404
    revision_request = RevisionRequest.objects.get()
    table = list(csv.DictReader(io.StringIO(admin.get(f"{base}.csv").getvalue().decode("utf-8-sig"))))
    assert [(line["state"], line["reason"], line["decisions"]) for line in table] == [
        ("open", "'=It asks for two things.", "2")
    ]
    sent = {"request": revision_request.public_id, "answer": ""}
    assert admin.post(f"{base}/dismiss/", sent).status_code == 422
    assert admin.post(f"{base}/dismiss/", sent | {"answer": "Both belong together."}).status_code == 302
    revision_request.refresh_from_db()
    assert (revision_request.status, revision_request.answer, revision_request.closed_by) == (
        "dismissed",
        "Both belong together.",
        workshop.admin,
    )
    assert admin.post(f"{base}/dismiss/", sent | {"answer": "Again."}).status_code == 409
    assert "Both belong together." in admin.get(f"{base}/?state=dismissed").content.decode()
    with pytest.raises(Conflict):
        dismiss_revisions(
            benchmark=build_workshop().benchmark,
            requests=[revision_request.public_id],
            answer="Not mine.",
            by=workshop.admin,
            at=timezone.now(),
        )


def test_opening_conflicts_between_groups_reports_those_still_open_within(
    held: tuple[Workshop, Adjudication, Client],
) -> None:
    workshop, row, client = held
    other = ExpertGroupFactory(benchmark=workshop.benchmark, name="Group B", annotators=1)
    batch = make_batch(other)
    for work in Assignment.objects.filter(batch=batch):
        decide(work, "met")
    for each in (workshop.batch, batch):
        services.close_batch(batch=each, at=timezone.now())
    admin = signed_in(workshop.admin)
    url = f"/b/{workshop.benchmark.slug}/conflicts/"
    sent = {"group": workshop.group.public_id, "other": other.public_id}
    refused = admin.post(url, sent)
    assert refused.status_code == 422
    assert "1 conflict within these groups is not adjudicated yet" in refused.content.decode()
    assert not Adjudication.objects.exclude(other_group=None).exists()
    for criterion in row.criteria:
        rule(client, row, criterion, "not_met")
    client.post(f"/work/adjudications/{row.public_id}/finish/")
    assert admin.post(url, sent).status_code == 302
    assert Adjudication.objects.exclude(other_group=None).get().criteria == row.criteria


def test_they_may_be_opened_all_the_same(held: tuple[Workshop, Adjudication, Client]) -> None:
    workshop, _row, _client = held
    other = ExpertGroupFactory(benchmark=workshop.benchmark, name="Group B", annotators=1)
    batch = make_batch(other)
    for work in Assignment.objects.filter(batch=batch):
        decide(work, "met")
    for each in (workshop.batch, batch):
        services.close_batch(batch=each, at=timezone.now())
    sent = {"group": workshop.group.public_id, "other": other.public_id, "anyway": "1"}
    assert signed_in(workshop.admin).post(f"/b/{workshop.benchmark.slug}/conflicts/", sent).status_code == 302
    assert Adjudication.objects.exclude(other_group=None).exists()


def test_a_criterion_that_one_group_found_faulty_is_no_conflict_between_groups(
    held: tuple[Workshop, Adjudication, Client],
) -> None:
    workshop, row, client = held
    other = ExpertGroupFactory(benchmark=workshop.benchmark, name="Group B", annotators=1)
    batch = make_batch(other)
    for work in Assignment.objects.filter(batch=batch):
        decide(work, "met")
    faulty, ruled = row.criteria
    rule(client, row, faulty, "faulty", "It asks for two things.")
    rule(client, row, ruled, "not_met")
    client.post(f"/work/adjudications/{row.public_id}/finish/")
    for each in (workshop.batch, batch):
        services.close_batch(batch=each, at=timezone.now())
    sent = {"group": workshop.group.public_id, "other": other.public_id}
    assert signed_in(workshop.admin).post(f"/b/{workshop.benchmark.slug}/conflicts/", sent).status_code == 302
    assert Adjudication.objects.exclude(other_group=None).get(response=row.response).criteria == [ruled]


def conflicts(number: int) -> Workshop:
    workshop = build_workshop(annotators_per_item=2, responses=number)
    strict = workshop.annotator
    for row in Assignment.objects.filter(batch=workshop.batch).select_related("annotator"):
        decide(row, "not_met" if row.annotator == strict else "met")
    return workshop


def test_the_list_begins_with_what_one_holds_and_ends_with_what_one_released_oneself() -> None:
    workshop = build_workshop(annotators_per_item=2, responses=2)
    strict = workshop.annotator
    for row in Assignment.objects.filter(batch=workshop.batch).select_related("annotator"):
        differ = 2 if row.response_id == workshop.queue()[0].response_id else 1
        decide(row, *(["not_met"] * differ if row.annotator == strict else ["met"] * differ), "met")
    low, high = Adjudication.objects.order_by("agreement").values_list("public_id", flat=True)
    first, second = workshop.adjudicator, member(workshop.group, "adjudicator")

    def listed(user: User) -> list[str]:
        return [row["id"] for row in signed_in(user).get("/api/v1/work/adjudications/").json()["results"]]

    assert listed(first) == listed(second) == [low, high]
    assert signed_in(first).post(f"/work/adjudications/{high}/claim/").status_code == 302
    assert listed(first) == [high, low]
    signed_in(first).post(f"/work/adjudications/{high}/release/")
    signed_in(first).post(f"/work/adjudications/{low}/claim/")
    signed_in(first).post(f"/work/adjudications/{low}/release/")
    other = Adjudication.objects.get(public_id=low)
    assert other.adjudicator is None
    # Both were released by the first adjudicator, which changes nothing for the second; nor does a part of the second.
    assert signed_in(second).post(f"/work/adjudications/{low}/claim/").status_code == 302
    signed_in(second).post(f"/work/adjudications/{low}/release/")
    assert listed(first) == [low, high]
    assert listed(second) == [high, low]


def test_the_list_names_a_batch_only_where_one_alone_has_the_response() -> None:
    workshop = conflicts(1)
    client, url = signed_in(workshop.adjudicator), "/api/v1/work/adjudications/"
    assert "Pilot batch" in client.get("/work/adjudications/").content.decode()
    row = client.get(url).json()["results"][0]
    assert (row["batch"], row["batch_title"]) == (workshop.batch.public_id, "Pilot batch")
    item = BatchItem.objects.get(batch=workshop.batch)
    services.close_batch(batch=workshop.batch, at=timezone.now())
    for _ in range(2):
        member(workshop.group)
    second = make_batch(workshop.group, title="Second reading", skip_given=False, annotators_per_item=2)
    assert BatchItem.objects.filter(response=item.response_id, batch__in=[workshop.batch, second]).count() == 2
    page = client.get("/work/adjudications/").content.decode()
    assert "/claim/" in page
    assert not {title for title in ("Pilot batch", "Second reading") if title in page}
    row = client.get(url).json()["results"][0]
    assert (row["batch"], row["batch_title"]) == (None, None)


def test_the_list_of_conflicts_takes_as_many_queries_for_one_as_for_ten() -> None:
    few, many = conflicts(1), conflicts(10)
    counts = []
    for workshop in (few, many):
        client = signed_in(workshop.adjudicator)
        client.get("/work/adjudications/")
        with CaptureQueriesContext(connection) as counted:
            page = client.get("/work/adjudications/").content.decode()
        counts.append((page.count("/claim/"), len(counted)))
    assert [listed for listed, _queries in counts] == [1, 10]
    assert counts[0][1] == counts[1][1]
    assert not Ruling.objects.exists()
