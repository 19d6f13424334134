"""Claiming and releasing checks and conflicts from lists that may be out of date, and the order of these lists."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Notification, User
from accounts.notices import words_of
from annotation import services
from annotation.models import Adjudication, Assignment, Batch, Membership, Ruling
from tests.annotation.conftest import Workshop, build_workshop
from tests.factories import ExpertGroupFactory, UserFactory, decide, make_batch, member

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def post(client: Client, url: str) -> tuple[str, str]:
    """The address that a button of a list leads to, and its text, white space collapsed."""
    answer = client.post(url, follow=True)
    assert answer.status_code == 200, answer.status_code
    return answer.redirect_chain[-1][0], " ".join(answer.content.decode().split())


def checked(*, responses: int = 2) -> Workshop:
    """The annotator has submitted all of their work, and nobody has claimed a check."""
    workshop = build_workshop(check_policy="all", responses=responses)
    for row in workshop.queue():
        decide(row, "met")
    return workshop


def second_adjudicator(workshop: Workshop) -> User:
    return member(workshop.group, "adjudicator")


def test_a_check_that_somebody_else_has_claimed_leads_back_to_the_list() -> None:
    workshop = checked()
    row = workshop.queue()[0]
    first, second = map(signed_in, workshop.people("checker"))
    here = f"/work/checks/{row.public_id}/"
    post(first, f"{here}claim/")
    url, page = post(second, f"{here}claim/")
    assert url == "/work/checks/"
    assert re.search(r'class="toast warning">\s*<p>Someone else has claimed this check\.', page)
    url, page = post(first, f"{here}claim/")
    assert url == here
    assert "You have already claimed this check." in page
    url, page = post(first, "/work/checks/next/")
    assert url == here
    assert "No other check is waiting. You have already claimed this one." in page
    first.post(f"{here}accept/")
    assert "You have already completed this check." in post(first, f"{here}claim/")[1]
    assert "Someone else has claimed this check." in post(second, f"{here}claim/")[1]
    for outsider in (workshop.annotator, workshop.adjudicator, UserFactory()):
        assert signed_in(outsider).post(f"{here}claim/").status_code == 404


def test_a_conflict_that_somebody_else_has_claimed_leads_back_to_the_list() -> None:
    workshop = build_workshop(annotators_per_item=2)
    row = workshop.conflict()
    first, second = signed_in(workshop.adjudicator), signed_in(second_adjudicator(workshop))
    here = f"/work/adjudications/{row.public_id}/"
    post(first, f"{here}claim/")
    url, page = post(second, f"{here}claim/")
    assert url == "/work/adjudications/"
    assert "Someone else has claimed this conflict." in page
    url, page = post(second, "/work/adjudications/next/")
    assert "Nothing is left to claim." in page
    url, page = post(first, f"{here}claim/")
    assert url == here
    assert "You have already claimed this conflict." in page
    url, page = post(first, "/work/adjudications/next/")
    assert url == here
    assert "No other conflict is waiting. You have already claimed this one." in page
    for criterion in row.criteria:
        first.post(f"{here}criteria/{criterion}/", {"outcome": "met"})
    first.post(f"{here}finish/")
    assert "You have already adjudicated this conflict." in post(first, f"{here}claim/")[1]
    for outsider in (workshop.annotator, workshop.checker, UserFactory()):
        assert signed_in(outsider).post(f"{here}claim/").status_code == 404


def test_a_released_adjudication_keeps_its_rulings_for_the_next_adjudicator() -> None:
    workshop = build_workshop(annotators_per_item=2)
    row = workshop.conflict()
    other = second_adjudicator(workshop)
    first, second = signed_in(workshop.adjudicator), signed_in(other)
    here = f"/work/adjudications/{row.public_id}/"
    post(first, "/work/adjudications/next/")
    first.post(f"{here}criteria/{row.criteria[0]}/", {"outcome": "met", "reason": "It is named."})
    assert second.post(f"{here}release/").status_code == 404
    url, page = post(first, f"{here}release/")
    assert url == "/work/adjudications/"
    assert "Released. Another adjudicator can claim it, and continues from your rulings." in page
    assert first.get(here).status_code == 404
    assert post(second, "/work/adjudications/next/")[0] == here
    assert Ruling.objects.get().reason == "It is named."
    assert 'value="It is named."' in second.get(here).content.decode()


def test_an_adjudication_is_released_through_the_api() -> None:
    workshop = build_workshop(annotators_per_item=2)
    row = workshop.conflict()
    client = signed_in(workshop.adjudicator)
    url = f"/api/v1/work/adjudications/{row.public_id}/release/"
    assert client.post(url).status_code == 404
    post(client, "/work/adjudications/next/")
    Batch.objects.update(status="paused")
    assert client.post(url).status_code == 409
    Batch.objects.update(status="open")
    assert client.post(url).status_code == 204
    row.refresh_from_db()
    assert (row.adjudicator, row.status) == (None, "open")


def test_who_releases_a_conflict_gets_another_one_next() -> None:
    workshop = build_workshop(annotators_per_item=2)
    workshop.conflict()
    for row in Assignment.objects.filter(batch=workshop.batch).exclude(status="accepted").order_by("response", "pk"):
        decide(row, "met" if row.annotator_id == workshop.annotator.pk else "not_met")
    rows = list(Adjudication.objects.order_by("agreement", "pk"))
    assert len(rows) == 3
    client = signed_in(workshop.adjudicator)
    url, _page = post(client, "/work/adjudications/next/")
    assert url == f"/work/adjudications/{rows[0].public_id}/"
    post(client, f"{url}release/")
    listed = re.findall(r"/work/adjudications/(\w+)/claim/", client.get("/work/adjudications/").content.decode())
    assert listed == [rows[1].public_id, rows[2].public_id, rows[0].public_id]
    assert post(client, "/work/adjudications/next/")[0] == f"/work/adjudications/{rows[1].public_id}/"


def test_the_list_of_checks_has_the_order_in_which_they_are_claimed() -> None:
    workshop = build_workshop(check_policy="all", responses=6)
    released, returned, other = workshop.queue()
    for row in (released, returned, other):
        decide(row, "met")
    client = signed_in(workshop.checker)
    for row in (released, returned):
        client.post(f"/work/checks/{row.public_id}/claim/")
    client.post(f"/work/checks/{released.public_id}/release/")
    services.return_check(assignment=returned, checker=workshop.checker, note="Again.", at=timezone.now())
    services.submit(assignment=returned, annotator=workshop.annotator, at=timezone.now())
    listed = re.findall(r"/work/checks/(\w+)/claim/", client.get("/work/checks/").content.decode())
    assert listed == [returned.public_id, other.public_id, released.public_id]
    for public_id in listed:
        assert post(client, "/work/checks/next/")[0] == f"/work/checks/{public_id}/"


def test_conflicts_name_their_batch_case_and_sides() -> None:
    workshop = build_workshop(annotators_per_item=2, text="x" * 4321)
    workshop.cases[0].tags = ["specialty:Cardiology"]
    workshop.cases[0].language = "es"
    workshop.cases[0].save()
    row = workshop.conflict()
    client = signed_in(workshop.adjudicator)
    page = " ".join(client.get("/work/adjudications/").content.decode().split())
    for words in ("Pilot batch", "Cardiology", "Spanish", "4,321", "A and B are annotators of one group"):
        assert words in page, words
    assert "those that you claimed first, then those with the lowest agreement" in page
    assert workshop.benchmark.title not in page.split("<table")[1]
    post(client, "/work/adjudications/next/")
    here = f"/work/adjudications/{row.public_id}/"
    assert "A and B are annotators of one group." in client.get(here).content.decode()
    for criterion in row.criteria:
        client.post(f"{here}criteria/{criterion}/", {"outcome": "met"})
    client.post(f"{here}finish/")
    page = " ".join(client.get("/work/adjudications/?show=done").content.decode().split())
    assert "Conflicts that you adjudicated, the latest first." in page
    assert "lowest agreement" not in page
    assert "Pilot batch" in page and "Cardiology" in page


def test_conflicts_between_groups_name_their_sides_and_no_group() -> None:
    workshop = build_workshop(annotators_per_item=1)
    other = ExpertGroupFactory(benchmark=workshop.benchmark, name="canary-other", annotators=1, adjudicators=1)
    batch = make_batch(other, annotators_per_item=1)
    for row in Assignment.objects.filter(batch__in=[workshop.batch, batch]).select_related("annotator"):
        decide(row, "met" if row.batch_id == batch.pk else "not_met")
    for each in (workshop.batch, batch):
        services.close_batch(batch=each, at=timezone.now())
    assert services.open_conflicts_between(group=workshop.group, other=other, at=timezone.now()) == 3
    client = signed_in(workshop.adjudicator)
    page = " ".join(client.get("/work/adjudications/").content.decode().split())
    assert "Between two groups" in page and "A and B are two groups" in page
    assert "canary-other" not in page
    page = post(client, "/work/adjudications/next/")[1]
    assert "A and B are two groups, each with its final decision." in page


def test_lists_and_to_do_name_the_benchmark_where_there_are_several() -> None:
    workshop = checked()
    client = signed_in(workshop.checker)
    assert "Cardiology pilot" not in client.get("/work/checks/").content.decode().split("<table")[1]
    other = checked()
    other.benchmark.title = "Sepsis pilot"
    other.benchmark.save()
    Membership.objects.create(group=other.group, user=workshop.checker, role="checker")
    rows = client.get("/work/checks/").content.decode().split("<table")[1]
    assert "Cardiology pilot" in rows and "Sepsis pilot" in rows
    for url in ("/", "/work/"):
        assert "Cardiology pilot · Sepsis pilot" in client.get(url).content.decode(), url


def test_the_checker_hears_of_resubmitted_work_once_a_day() -> None:
    workshop = checked(responses=4)
    rows = workshop.queue()
    client = signed_in(workshop.checker)
    for row in rows:
        client.post(f"/work/checks/{row.public_id}/claim/")
        client.post(f"/work/checks/{row.public_id}/return/", {"note": "Again, please."})
    assert not Notification.objects.filter(user=workshop.checker).exists()
    at = timezone.now()
    for row in rows:
        services.submit(assignment=row, annotator=workshop.annotator, at=at)
    notice = Notification.objects.get(user=workshop.checker)
    assert words_of(notice).text == ("2 responses that you returned were resubmitted.")
    assert client.get(notice.url).status_code == 200
    page = " ".join(client.get("/").content.decode().split())
    page = page if "To do" in page else " ".join(client.get("/work/").content.decode().split())
    assert "2 responses to check, 2 resubmitted after you returned them" in page
    services.undo_submit(assignment=rows[0], annotator=workshop.annotator, at=at + timedelta(seconds=1))
    notice.refresh_from_db()
    assert words_of(notice).text == "1 response that you returned was resubmitted."
    services.undo_submit(assignment=rows[1], annotator=workshop.annotator, at=at + timedelta(seconds=1))
    assert not Notification.objects.filter(user=workshop.checker).exists()


def test_a_checker_who_left_hears_nothing_of_resubmitted_work() -> None:
    workshop = checked()
    row = workshop.queue()[0]
    client = signed_in(workshop.checker)
    client.post(f"/work/checks/{row.public_id}/claim/")
    client.post(f"/work/checks/{row.public_id}/return/", {"note": "Again, please."})
    Membership.objects.filter(user=workshop.checker).update(active=False)
    services.submit(assignment=row, annotator=workshop.annotator, at=timezone.now())
    assert not Notification.objects.filter(user=workshop.checker).exists()


def test_the_notice_of_resubmitted_work_says_what_happened_also_once_it_is_checked() -> None:
    workshop = checked()
    row = workshop.queue()[0]
    client = signed_in(workshop.checker)
    client.post(f"/work/checks/{row.public_id}/claim/")
    client.post(f"/work/checks/{row.public_id}/return/", {"note": "Again, please."})
    services.submit(assignment=row, annotator=workshop.annotator, at=timezone.now())
    client.post(f"/work/checks/{row.public_id}/claim/")
    client.post(f"/work/checks/{row.public_id}/accept/")
    page = client.get("/notifications/").content.decode()
    assert "1 response that you returned was resubmitted." in page
    assert "waiting for your check" not in page


def test_a_released_check_says_so_to_its_last_checker_alone() -> None:
    workshop = checked()
    row = workshop.queue()[0]
    here = f"/work/checks/{row.public_id}/"
    client = signed_in(workshop.checker)
    assert "This check was released" not in client.get(here).content.decode()  # it was never claimed
    client.post(f"{here}claim/")
    client.post(f"{here}release/")
    answer = client.get(here)
    page = answer.content.decode()
    assert answer.status_code == 404
    assert "This check was released" in page and 'href="/work/checks/"' in page
    other = workshop.people("checker")[1]
    assert "This check was released" not in signed_in(other).get(here).content.decode()


def test_the_undo_of_an_acceptance_releases_the_check_that_it_opened() -> None:
    workshop = checked(responses=6)
    rows = list(workshop.queue())
    first = Assignment.objects.filter(batch=workshop.batch, status="submitted").order_by("submitted_at", "pk").first()
    assert first is not None and len(rows) > 1
    client = signed_in(workshop.checker)
    here = f"/work/checks/{first.public_id}/"
    client.post(f"{here}claim/")
    client.post(f"{here}accept/")
    opened = Assignment.objects.get(checker=workshop.checker, status="in_check")
    assert client.post(f"{here}undo/", "{}", content_type="application/json").status_code == 200
    assert Assignment.objects.get(checker=workshop.checker, status="in_check") == first
    opened.refresh_from_db()
    assert opened.status == "submitted"
    # A check in which something was amended is kept.
    client.post(f"{here}accept/")
    opened = Assignment.objects.get(checker=workshop.checker, status="in_check")
    criterion = opened.decisions.first().criterion_id
    amended = f"/work/checks/{opened.public_id}/criteria/{criterion}/"
    assert client.post(amended, {"outcome": "cannot_assess", "reason": "Unclear."}).status_code == 200
    client.post(f"{here}undo/", "{}", content_type="application/json")
    assert Assignment.objects.filter(checker=workshop.checker, status="in_check").count() == 2
