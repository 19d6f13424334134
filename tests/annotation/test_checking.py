"""The secondary check and adjudication, through their pages and endpoints."""

from __future__ import annotations

import json
import re
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Notification, User
from accounts.notices import words_of
from annotation import access, services
from annotation.models import Adjudication, Amendment, Assignment, Batch, Check, Decision, Membership, Ruling
from annotation.selectors.ratings import consensus_ratings, group_ratings
from consilium.core.errors import Conflict, DomainError
from consilium.core.versioning import StaleSave
from consilium.statistics.outcomes import Outcome
from tests.annotation.conftest import Workshop, build_workshop
from tests.factories import (
    CandidateFactory,
    CaseFactory,
    ExpertGroupFactory,
    ResponseFactory,
    UserFactory,
    decide,
    make_batch,
    member,
)

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def checked() -> Workshop:
    return build_workshop(check_policy="all")


def take(workshop: Workshop, client: Client) -> Assignment:
    """Claim the next check as the page's button does."""
    answer = client.post("/work/checks/next/")
    match = re.fullmatch(r"/work/checks/(\w+)/", answer["Location"])
    assert match, answer["Location"]
    return Assignment.objects.get(public_id=match[1])


def test_accept_makes_the_work_count(checked: Workshop) -> None:
    decide(checked.queue()[0], "met", "not_met")
    client = signed_in(checked.checker)
    page = client.get("/work/checks/").content.decode()
    assert "Waiting" in page
    assert re.search(r'aria-current="page"[^>]*>\s*Checking\b', page)  # in the navigation of the one benchmark
    row = take(checked, client)
    assert (row.status, row.checker) == ("in_check", checked.checker)
    assert client.get(f"/work/checks/{row.public_id}/").status_code == 200
    assert len(group_ratings(checked.group, "checked")) == 0
    assert client.post(f"/work/checks/{row.public_id}/accept/")["Location"] == "/work/checks/"
    row.refresh_from_db()
    assert row.status == "accepted"
    assert Check.objects.get().result == "accepted"
    assert group_ratings(checked.group, "checked").outcome.tolist() == [1, 0, 0]
    assert client.post(f"/work/checks/{row.public_id}/accept/").status_code == 404


def test_an_amendment_needs_a_reason_keeps_the_decision_and_can_be_taken_back(checked: Workshop) -> None:
    decide(checked.queue()[0], "met")
    client = signed_in(checked.checker)
    row = take(checked, client)
    first, second, _third = services.criteria_of(row)
    url = f"/work/checks/{row.public_id}/criteria/{first}/"
    refused = client.post(url, {"outcome": "not_met", "reason": "  "})
    assert (refused.status_code, refused["HX-Retarget"]) == (422, "#refusal")
    assert "an amendment needs one" in refused.content.decode()
    saved = client.post(url, {"outcome": "not_met", "reason": "It names no dose."})
    assert 'data-amended="not_met"' in saved.content.decode()
    client.post(f"/work/checks/{row.public_id}/criteria/{second}/", {"outcome": "cannot_assess", "reason": "Unclear."})
    client.post(f"/work/checks/{row.public_id}/criteria/{second}/", {"outcome": "met", "reason": ""})
    client.post(f"/work/checks/{row.public_id}/accept/")
    assert list(Decision.objects.order_by("criterion").values_list("outcome", flat=True)) == ["met"] * 3
    assert group_ratings(checked.group, "first").outcome.tolist() == [1, 1, 1]
    assert group_ratings(checked.group, "checked").outcome.tolist() == [0, 1, 1]
    assert Amendment.objects.get(criterion=second).outcome == ""  # taken back; the row stays for the record


def test_a_criterion_of_another_rubric_is_not_amended(checked: Workshop) -> None:
    decide(checked.queue()[0])
    client = signed_in(checked.checker)
    row = take(checked, client)
    foreign = CaseFactory(benchmark=checked.benchmark, rubric=1).criteria.get()
    sent = {"outcome": "not_met", "reason": "It names no dose."}
    assert client.post(f"/work/checks/{row.public_id}/criteria/{foreign.pk}/", sent).status_code == 422
    with pytest.raises(DomainError, match="not part of the work"):
        services.amend(assignment=row, checker=checked.checker, criterion=foreign.pk, **sent, at=timezone.now())
    assert not Amendment.objects.exists()


@pytest.mark.parametrize("end", ["accept", "return"])
def test_a_check_does_not_end_with_amendments_that_the_page_does_not_show(checked: Workshop, end: str) -> None:
    decide(checked.queue()[0], "met")
    client = signed_in(checked.checker)
    row = take(checked, client)
    first, *others = services.criteria_of(row)
    url, api = f"/work/checks/{row.public_id}/", f"/api/v1/work/checks/{row.public_id}/{end}/"
    shown = dict.fromkeys((first, *others), 0)

    def sent() -> dict[str, str]:
        return {"note": "Again, please.", "shown": " ".join(f"{key}:{value}" for key, value in shown.items())}

    def over_the_api() -> Any:
        body = {"shown": shown} | ({"note": "Again, please."} if end == "return" else {})
        return client.post(api, body, content_type="application/json")

    client.post(f"{url}criteria/{first}/", {"outcome": "not_met", "reason": "No dose."})  # in another tab
    refused = client.post(f"{url}{end}/", sent(), headers={"HX-Request": "true"})
    assert refused.status_code == 409
    assert "1 criterion was changed in another tab or on another device." in refused.content.decode()
    assert (over_the_api().status_code, over_the_api().json()["criteria"]) == (409, [first])
    assert client.post(api, {"shown": {"x": 1}}, content_type="application/json").status_code == 400
    row.refresh_from_db()
    assert row.status == "in_check"
    shown[first] = 1
    assert client.post(f"{url}{end}/", sent()).status_code == 302
    row.refresh_from_db()
    assert row.status == ("accepted" if end == "accept" else "returned")


def test_the_next_check_of_the_same_response_names_another_annotator() -> None:
    workshop = build_workshop(check_policy="all", annotators_per_item=2, responses=2)
    notice = "You have already checked this response, as graded by another annotator."
    client = signed_in(workshop.checker)
    response = workshop.queue()[0].response_id
    rows = list(Assignment.objects.filter(response=response).select_related("annotator"))
    for row in rows:
        decide(row, "met")
    first = take(workshop, client)
    assert notice not in client.get(f"/work/checks/{first.public_id}/").content.decode()
    answer = client.post(f"/work/checks/{first.public_id}/accept/", headers={"HX-Request": "true"})
    message = json.loads(answer["HX-Trigger"])["toast"]["text"]
    assert message == "Accepted. Next: the same response, graded by another annotator."
    assert notice in answer.content.decode()
    second = next(row for row in rows if row.pk != first.pk)
    assert notice in client.get(f"/work/checks/{second.public_id}/").content.decode()
    # A later round of the same annotator's work and another response are what they seem.
    services.return_check(assignment=second, checker=workshop.checker, note="Again, please.", at=timezone.now())
    Check.objects.filter(assignment=first).delete()
    second.refresh_from_db()
    services.submit(assignment=second, annotator=second.annotator, at=timezone.now())
    assert take(workshop, client) == second
    for row in Assignment.objects.filter(status="not_started").select_related("annotator"):
        decide(row, "met")
    answer = client.post(f"/work/checks/{second.public_id}/accept/", headers={"HX-Request": "true"})
    assert json.loads(answer["HX-Trigger"])["toast"]["text"] == "Accepted."
    assert notice not in answer.content.decode()


@pytest.mark.parametrize(
    ("note", "marked", "message", "detail"),
    [
        ("The dose?", 0, "with your note.", "The checker’s note is shown above the criteria."),
        ("", 2, "with 2 criteria marked for review.", "2 criteria are marked for review."),
        (
            "The dose?",
            1,
            "with your note and 1 criterion marked for review.",
            "The checker’s note is shown above the criteria, and 1 criterion is marked for review.",
        ),
    ],
)
def test_the_message_about_a_return_depends_on_what_was_sent(
    checked: Workshop, note: str, marked: int, message: str, detail: str
) -> None:
    decide(checked.queue()[0], "met")
    client = signed_in(checked.checker)
    row = take(checked, client)
    for criterion in services.criteria_of(row)[:marked]:
        client.post(f"/work/checks/{row.public_id}/criteria/{criterion}/", {"outcome": "review", "reason": "Why?"})
    page = client.post(f"/work/checks/{row.public_id}/return/", {"note": note}, follow=True).content.decode()
    assert f"Returned to the annotator {message}" in page
    notification = Notification.objects.get(user=checked.annotator, kind="returned")
    assert words_of(notification).detail == detail
    assert detail in signed_in(checked.annotator).get("/notifications/").content.decode()


def test_the_note_of_a_return_is_not_called_optional(checked: Workshop) -> None:
    decide(checked.queue()[0], "met")
    client = signed_in(checked.checker)
    page = client.get(f"/work/checks/{take(checked, client).public_id}/").content.decode()
    form = page[page.index('id="return-form"') :]
    form = form[: form.index("</form>")]
    assert "Needed only if no criterion is marked for review." in form
    assert "optional" not in form


def test_a_stale_amendment_overwrites_nothing_and_gets_the_stored_version(checked: Workshop) -> None:
    decide(checked.queue()[0], "met")
    client = signed_in(checked.checker)
    row = take(checked, client)
    first = services.criteria_of(row)[0]
    url = f"/work/checks/{row.public_id}/criteria/{first}/"
    amendment = {"outcome": "not_met", "reason": "It names no dose.", "version": 0, "client_id": uuid4()}
    assert client.post(url, amendment).status_code == 200
    assert client.post(url, amendment).status_code == 200  # its answer was lost; nothing is saved a second time
    assert Amendment.objects.get().version == 1
    other = {"outcome": "cannot_assess", "reason": "Unclear.", "version": 0, "client_id": uuid4()}
    stale = client.post(url, other)
    assert stale.status_code == 409
    text = " ".join(stale.content.decode().split())
    assert 'data-outcome="not_met"' in text
    assert 'value="It names no dose."' in text
    assert f'data-version="1" data-client="{amendment["client_id"]}"' in text
    assert re.search(r'data-at="\d\d:\d\d:\d\d"', text)
    assert Amendment.objects.values_list("outcome", "reason").get() == ("not_met", "It names no dose.")
    assert client.post(url, other | {"version": 1}).status_code == 200
    assert client.post(url, amendment | {"client_id": uuid4(), "version": 1}).status_code == 409
    # Taken back, the row stays and counts on, so that the other tab is told of that, too.
    assert client.post(url, {"outcome": "met", "version": 2, "client_id": uuid4()}).status_code == 200
    assert client.post(url, other | {"version": 2, "client_id": uuid4()}).status_code == 409
    assert Amendment.objects.values_list("outcome", "version").get() == ("", 3)
    client.post(url, other | {"version": 3, "client_id": uuid4()})
    # Putting the work back blanks what was amended: that is a change as well. It has to be asked for.
    client.post(f"/work/checks/{row.public_id}/release/")
    assert Amendment.objects.values_list("outcome", "version").get() == ("cannot_assess", 4)
    client.post(f"/work/checks/{row.public_id}/release/", {"discard": "1"})
    take(checked, client)
    assert client.post(url, amendment | {"client_id": uuid4(), "version": 4}).status_code == 409
    assert Amendment.objects.values_list("outcome", "version").get() == ("", 5)
    # It is put back as well where its checker is deactivated.
    assert client.post(url, other | {"version": 5, "client_id": uuid4()}).status_code == 200
    membership = Membership.objects.get(user=checked.checker)
    services.set_member_active(membership=membership, active=False, at=timezone.now())
    services.set_member_active(membership=membership, active=True, at=timezone.now())
    take(checked, client)
    assert client.post(url, amendment | {"client_id": uuid4(), "version": 6}).status_code == 409
    assert Amendment.objects.values_list("outcome", "version").get() == ("", 7)


def only_reads(page: str) -> bool:
    """Nothing on the page can be chosen, and it sends nothing but comments and what the top bar sends."""
    chosen = re.findall(r"<button[^>]*data-set=[^>]*>", page)
    forms = ("finish-form", "release-form", "return-form", "data-time-url", 'data-writable="1"')
    return bool(chosen) and all("disabled" in button for button in chosen) and not any(name in page for name in forms)


def test_a_done_check_is_there_to_read_for_its_checker_alone_as_it_stood(checked: Workshop) -> None:
    row = checked.queue()[0]
    decide(row, "met")
    client = signed_in(checked.checker)
    take(checked, client)
    first = services.criteria_of(row)[0]
    amended = {"outcome": "not_met", "reason": "It names no dose."}
    assert not only_reads(client.get(f"/work/checks/{row.public_id}/").content.decode())
    client.post(f"/work/checks/{row.public_id}/criteria/{first}/", amended)
    client.post(f"/work/checks/{row.public_id}/return/", {"note": "Look at the first again."})
    page = client.get(f"/work/checks/{row.public_id}/").content.decode()
    assert "You returned this work" in page
    assert "Look at the first again." in page
    assert "It names no dose." in page
    assert only_reads(page)
    row.refresh_from_db()
    version = Decision.objects.get(assignment=row, round=2, criterion=first).version
    change = services.DecisionInput(criterion=first, outcome="cannot_assess", version=version)
    services.save_decision(assignment=row, annotator=checked.annotator, change=change, at=timezone.now())
    services.submit(assignment=row, annotator=checked.annotator, at=timezone.now())
    take(checked, client)
    again = client.get(f"/work/checks/{row.public_id}/").content.decode()
    assert "Check, round 2" in again
    assert "Look at the first again." in again  # what they asked for
    assert (
        'href="/work/checks/' + row.public_id + '/?round=1"' in client.get("/work/checks/?show=done").content.decode()
    )
    before = client.get(f"/work/checks/{row.public_id}/?round=1").content.decode()
    assert only_reads(before)
    assert 'data-default="cannot_assess"' not in before  # what the annotator said since is not in it
    client.post(f"/work/checks/{row.public_id}/accept/")
    assert "You accepted this work" in client.get(f"/work/checks/{row.public_id}/").content.decode()
    for number in ("", "?round=1", "?round=2"):
        other = signed_in(checked.people("checker")[1])
        assert other.get(f"/work/checks/{row.public_id}/{number}").status_code == 404
    assert client.get(f"/work/checks/{row.public_id}/?round=3").status_code == 404


def test_return_opens_a_second_round_and_the_first_stays(checked: Workshop) -> None:
    row = checked.queue()[0]
    decide(row, "met")
    client = signed_in(checked.checker)
    take(checked, client)
    assert client.post(f"/work/checks/{row.public_id}/return/", {"note": " "}).status_code == 422
    answer = client.post(f"/work/checks/{row.public_id}/return/", {"note": "Look at the first again."})
    assert answer.status_code == 302
    row.refresh_from_db()
    assert (row.status, row.round) == ("returned", 2)
    own = signed_in(checked.annotator)
    assert "Look at the first again." in own.get("/work/").content.decode()
    assert "Look at the first again." in own.get(f"/work/{row.public_id}/").content.decode()
    first = services.criteria_of(row)[0]
    # A tab left open since round 1 has seen version 1; the copy in round 2 is one further, so that it is stale.
    with pytest.raises(StaleSave):
        services.save_decision(
            assignment=row,
            annotator=checked.annotator,
            change=services.DecisionInput(criterion=first, outcome="cannot_assess", version=1),
            at=timezone.now(),
        )
    services.save_decision(
        assignment=row,
        annotator=checked.annotator,
        change=services.DecisionInput(criterion=first, outcome="not_met", version=2),
        at=timezone.now(),
    )
    services.submit(assignment=row, annotator=checked.annotator, at=timezone.now())
    rounds = Decision.objects.filter(criterion=first).order_by("round").values_list("round", "outcome")
    assert list(rounds) == [(1, "met"), (2, "not_met")]
    # It waits for the checker who knows it; another one is not offered it.
    other = checked.people("checker")[1]
    assert not access.waiting_checks(other).exists()
    assert take(checked, client) == row
    # What the checker's own tab of round 1 still shows is not what they would accept now.
    page = f"/work/checks/{row.public_id}/"
    for former in ("accept/?round=1", "return/?round=1", f"criteria/{first}/?round=1"):
        data = {"outcome": "met", "reason": "r", "note": "n"}
        assert client.post(page + former, data, headers={"HX-Request": "true"}).status_code == 409
    accept = re.search(r'data-finish-url="([^"]+)"', client.get(page).content.decode())
    assert accept is not None
    assert client.post(accept[1]).status_code == 302
    assert group_ratings(checked.group, "first").outcome.tolist() == [1, 1, 1]
    assert group_ratings(checked.group, "checked").outcome.tolist() == [0, 1, 1]


def test_work_that_was_put_back_can_be_taken_by_another_checker(checked: Workshop) -> None:
    decide(checked.queue()[0])
    first, second = (signed_in(user) for user in checked.people("checker"))
    row = take(checked, first)
    assert second.post("/work/checks/next/")["Location"] == "/work/checks/"  # nothing left
    assert second.post(f"/work/checks/{row.public_id}/claim/")["Location"] == "/work/checks/"
    assert second.post(f"/work/checks/{row.public_id}/accept/").status_code == 404
    first.post(f"/work/checks/{row.public_id}/release/")
    services.set_member_active(
        membership=checked.group.memberships.get(user=checked.checker, role="checker"), active=False, at=timezone.now()
    )
    assert take(checked, second) == row


def test_a_checker_who_leaves_puts_back_their_own_checks_alone(checked: Workshop) -> None:
    for annotator in checked.people():
        decide(checked.queue(annotator)[0])
    leaves, stays = checked.people("checker")
    put_back, kept = (take(checked, signed_in(user)) for user in (leaves, stays))
    membership = checked.group.memberships.get(user=leaves)
    page = f"/b/{checked.benchmark.slug}/groups/{checked.group.public_id}/members/{membership.pk}/"
    assert signed_in(checked.admin).post(page, {"active": "0"}).status_code == 302
    rows = Assignment.objects.filter(pk__in=[put_back.pk, kept.pk])
    assert dict(rows.values_list("pk", "status")) == {put_back.pk: "submitted", kept.pk: "in_check"}
    assert signed_in(stays).get(f"/work/checks/{kept.public_id}/").status_code == 200


def test_a_checker_who_releases_work_gets_the_other_work_next(checked: Workshop) -> None:
    first, second = checked.people()
    decide(checked.queue(first)[0])
    client = signed_in(checked.checker)
    released = take(checked, client)
    decide(checked.queue(second)[0])
    client.post(f"/work/checks/{released.public_id}/release/")
    released.refresh_from_db()
    assert (released.status, released.checker) == ("submitted", None)
    other = take(checked, client)
    assert other != released
    assert take(checked, client) == released


def offered_checks(user: User) -> set[str]:
    """Ids of the checks that the API offers to ``user``."""
    answer = signed_in(user).get("/api/v1/work/checks/")
    assert answer.status_code == 200
    return {row["id"] for row in answer.json()["results"]}


def test_nobody_checks_their_own_work_or_their_own_response(checked: Workshop) -> None:
    for user in checked.people():
        member(checked.group, "checker", user)
    row = checked.queue()[0]
    decide(row)
    colleague = next(user for user in checked.people() if user != row.annotator)
    assert offered_checks(colleague) == {row.public_id}
    assert offered_checks(row.annotator) == set()
    page = signed_in(row.annotator).get("/work/checks/", follow=True).content.decode()
    assert row.public_id not in page
    assert signed_in(row.annotator).post(f"/work/checks/{row.public_id}/claim/").status_code == 404
    with pytest.raises(DomainError, match="another role"):
        services.claim_check(checker=row.annotator, waiting=Assignment.objects.filter(pk=row.pk), at=timezone.now())


def test_nobody_checks_work_on_a_response_that_they_graded_themselves() -> None:
    workshop = build_workshop(check_policy="all", annotators_per_item=2)
    first, second = workshop.people()
    member(workshop.group, "checker", second)
    row = workshop.queue()[0]
    assert row.annotator == first
    decide(row)
    assert offered_checks(second) == set()
    assert offered_checks(workshop.checker) == {row.public_id}


def test_the_author_of_a_response_does_not_check_it(checked: Workshop) -> None:
    author = UserFactory()
    candidate = CandidateFactory(benchmark=checked.benchmark, name="physicians", kind="physician")
    response = ResponseFactory(case=checked.cases[0], candidate=candidate, author=author)
    group = ExpertGroupFactory(benchmark=checked.benchmark, annotators=1, checkers=1)
    member(group, "checker", author)
    batch = make_batch(group, check_policy="all")
    own = Assignment.objects.get(batch=batch, response=response)
    other = Assignment.objects.filter(batch=batch).exclude(pk=own.pk)[0]
    decide(own)
    decide(other)
    assert offered_checks(group.people["checker"][0]) == {own.public_id, other.public_id}  # type: ignore[attr-defined]
    assert offered_checks(author) == {other.public_id}


def test_a_paused_batch_takes_no_check(checked: Workshop) -> None:
    decide(checked.queue()[0])
    client = signed_in(checked.checker)
    row = take(checked, client)
    services.pause_batch(batch=checked.batch)
    page = client.get(f"/work/checks/{row.public_id}/")
    assert "paused" in page.content.decode()
    for endpoint in ("accept/", "release/"):
        answer = client.post(f"/work/checks/{row.public_id}/{endpoint}")
        assert answer.status_code == 409
        assert "This batch is paused" in answer.content.decode()
    row.refresh_from_db()
    assert row.status == "in_check"


# Adjudication -------------------------------------------------------------------------------------------------------


@pytest.fixture
def twice() -> Workshop:
    return build_workshop(annotators_per_item=2)


def test_a_conflict_opens_when_all_work_is_accepted_and_differs(twice: Workshop) -> None:
    first, second = Assignment.objects.filter(batch=twice.batch, response=twice.queue()[0].response_id).select_related(
        "annotator"
    )
    decide(first, "met", "not_met", "met")
    assert not Adjudication.objects.exists()
    decide(second, "not_met", "not_met", "cannot_assess")
    row = Adjudication.objects.get()
    criteria = services.criteria_of(first)
    assert row.criteria == [criteria[0], criteria[2]]
    assert row.agreement == pytest.approx(1 / 3)
    assert group_ratings(twice.group, "checked").outcome.tolist() == [
        Outcome.UNDECIDED, Outcome.NOT_MET, Outcome.UNDECIDED,
    ]  # fmt: skip


def test_no_conflict_where_they_agree(twice: Workshop) -> None:
    for row in Assignment.objects.filter(batch=twice.batch).select_related("annotator"):
        decide(row)
    assert not Adjudication.objects.exists()


def test_closing_a_batch_opens_the_conflicts_that_waited_for_unfinished_work() -> None:
    workshop = build_workshop(annotators_per_item=2, responses=1)
    third = member(workshop.group)
    extra = make_batch(workshop.group, skip_given=False, title="One more")
    assert Assignment.objects.get(batch=extra).annotator == third
    for row, outcome in zip(
        Assignment.objects.filter(batch=workshop.batch).select_related("annotator"), ("met", "not_met"), strict=True
    ):
        decide(row, outcome)
    assert not Adjudication.objects.exists()  # the third opinion may still come
    services.close_batch(batch=extra, at=timezone.now())
    assert Adjudication.objects.get().agreement == 0


def claim_adjudication(workshop: Workshop, client: Client) -> Adjudication:
    answer = client.post("/work/adjudications/next/")
    match = re.fullmatch(r"/work/adjudications/(\w+)/", answer["Location"])
    assert match
    return Adjudication.objects.get(public_id=match[1])


def test_rulings_settle_the_group_and_finish_refuses_until_all_are_made(twice: Workshop) -> None:
    twice.conflict()
    client = signed_in(twice.adjudicator)
    row = claim_adjudication(twice, client)
    page = client.get(f"/work/adjudications/{row.public_id}/").content.decode()
    assert page.count('data-conflict="1"') == 2
    assert 'data-conflict=""' not in page
    assert 'data-conflict=""' in client.get(f"/work/adjudications/{row.public_id}/?show=all").content.decode()
    first, second = row.criteria
    url = f"/work/adjudications/{row.public_id}/criteria/"
    assert client.post(f"{url}{first}/", {"outcome": "met", "reason": ""}).status_code == 200
    finish = f"/work/adjudications/{row.public_id}/finish/"
    refused = client.post(finish)
    assert refused.status_code == 422
    assert "1 conflict is not decided yet" in refused.content.decode()
    assert client.post(f"{url}{second}/", {"outcome": "faulty", "reason": ""}).status_code == 422
    assert client.post(f"{url}{second}/", {"outcome": "faulty", "reason": "It asks for two things."}).status_code == 200
    agreed = next(c for c in services.criteria_of(twice.queue()[0]) if c not in row.criteria)
    assert client.post(f"{url}{agreed}/", {"outcome": "met"}).status_code == 422
    assert client.post(finish)["Location"] == "/work/adjudications/"
    assert group_ratings(twice.group, "final").outcome.tolist() == [Outcome.MET, Outcome.FAULTY, Outcome.MET]
    assert group_ratings(twice.group, "checked").outcome.tolist()[:2] == [Outcome.UNDECIDED] * 2
    # Once finished it can be read, by whoever settled it, and nothing in it changes.
    done = client.get("/work/adjudications/?show=done").content.decode()
    assert f'href="/work/adjudications/{row.public_id}/"' in done
    page = client.get(f"/work/adjudications/{row.public_id}/").content.decode()
    assert "You finished this adjudication" in page
    assert "It asks for two things." in page
    assert only_reads(page)
    assert client.post(f"{url}{first}/", {"outcome": "not_met"}).status_code == 404
    member(twice.group, "adjudicator", other := UserFactory())
    assert signed_in(other).get(f"/work/adjudications/{row.public_id}/").status_code == 404
    assert Ruling.objects.count() == 2


def test_an_adjudication_does_not_end_with_rulings_that_the_page_does_not_show(twice: Workshop) -> None:
    twice.conflict()
    client = signed_in(twice.adjudicator)
    row = claim_adjudication(twice, client)
    first, second = row.criteria
    url = f"/work/adjudications/{row.public_id}/"
    for criterion in (first, second):
        client.post(f"{url}criteria/{criterion}/", {"outcome": "met", "reason": ""})
    refused = client.post(f"{url}finish/", {"shown": f"{first}:1 {second}:0"}, headers={"HX-Request": "true"})
    assert refused.status_code == 409
    assert "1 criterion was changed in another tab" in refused.content.decode()
    api = client.post(
        f"/api/v1/work/adjudications/{row.public_id}/finish/",
        {"shown": {first: 0, second: 0}},
        content_type="application/json",
    )
    assert (api.status_code, api.json()["criteria"]) == (409, [first, second])
    assert client.post(f"{url}finish/", {"shown": f"{first}:1 {second}:1"})["Location"] == "/work/adjudications/"


def test_only_a_free_adjudicator_may_take_a_conflict(twice: Workshop) -> None:
    member(twice.group, "adjudicator", twice.annotator)
    row = twice.conflict()
    assert not access.open_adjudications(twice.annotator).exists()
    with pytest.raises(DomainError, match="another role"):
        services.claim_adjudication(adjudicator=twice.annotator, waiting=Adjudication.objects.all())
    stranger = build_workshop()
    assert not access.open_adjudications(stranger.adjudicator).exists()
    other = member(twice.group, "adjudicator")
    services.claim_adjudication(adjudicator=twice.adjudicator, waiting=access.open_adjudications(twice.adjudicator))
    assert not access.open_adjudications(other).exists()
    with pytest.raises(Conflict):
        services.finish_adjudication(adjudication=row, adjudicator=other, at=timezone.now())


def test_raters_are_letters_in_an_order_that_varies_by_response() -> None:
    workshop = build_workshop(annotators_per_item=2, responses=24)
    strict, mild = workshop.people()
    for row in Assignment.objects.filter(batch=workshop.batch).select_related("annotator"):
        decide(row, "not_met" if row.annotator == strict else "met")
    client = signed_in(workshop.adjudicator)
    first_is_mild = 0
    for _ in range(24):
        row = claim_adjudication(workshop, client)
        page = client.get(f"/work/adjudications/{row.public_id}/").content.decode()
        sides = re.findall(r'<div class="side">\s*<b>([AB])</b><span class="outcome (met|not_met)">', page)
        assert [letter for letter, _outcome in sides] == ["A", "B"] * 3
        assert len(set(sides)) == 2  # one person is one letter through the whole response
        first_is_mild += dict(sides)["A"] == "met"
        assert page.count(strict.name) == page.count(mild.name) == 0
    assert 2 <= first_is_mild <= 22  # a fair coin falls outside with probability 0.000003


# Between two groups ---------------------------------------------------------------------------------------------------


@pytest.fixture
def two_groups(workshop: Workshop) -> tuple[Workshop, Batch]:
    other = ExpertGroupFactory(benchmark=workshop.benchmark, name="Group B", annotators=1, checkers=0, adjudicators=1)
    batch = make_batch(other, title="The other side")
    for row in Assignment.objects.filter(batch=workshop.batch).select_related("annotator"):
        decide(row, "met", "met", "not_met")
    for row in Assignment.objects.filter(batch=batch).select_related("annotator"):
        decide(row, "met", "not_met", "not_met")
    return workshop, batch


def open_between(workshop: Workshop, batch: Batch, user: User | None = None) -> Any:
    data = {"group": workshop.group.public_id, "other": batch.group.public_id}
    return signed_in(user or workshop.admin).post(f"/b/{workshop.benchmark.slug}/conflicts/", data)


def test_conflicts_between_groups_wait_for_both_to_end_and_change_neither(
    two_groups: tuple[Workshop, Batch],
) -> None:
    workshop, batch = two_groups
    services.close_batch(batch=batch, at=timezone.now())
    refused = open_between(workshop, batch)
    assert refused.status_code == 422
    assert "Close the batches of both groups first" in refused.content.decode()
    services.close_batch(batch=workshop.batch, at=timezone.now())
    assert open_between(workshop, batch, workshop.annotator).status_code == 404
    assert open_between(workshop, batch).status_code == 302
    rows = list(Adjudication.objects.all())
    assert len(rows) == 3
    assert [row.agreement for row in rows] == [pytest.approx(2 / 3)] * 3
    assert open_between(workshop, batch).status_code == 302
    assert Adjudication.objects.count() == 3  # opening twice makes nothing twice
    # Either group's adjudicator may take one.
    judge = batch.group.people["adjudicator"][0] if hasattr(batch.group, "people") else None
    judge = judge or batch.group.memberships.get(role="adjudicator").user
    for person in (workshop.adjudicator, judge):
        client = signed_in(person)
        row = claim_adjudication(workshop, client)
        page = client.get(f"/work/adjudications/{row.public_id}/").content.decode()
        for secret in ("Group A", "Group B", "canary"):
            assert secret not in page
        client.post(f"/work/adjudications/{row.public_id}/criteria/{row.criteria[0]}/", {"outcome": "not_met"})
        client.post(f"/work/adjudications/{row.public_id}/finish/")
    assert group_ratings(workshop.group, "final").outcome.tolist() == [1, 1, 0] * 3
    assert group_ratings(batch.group, "final").outcome.tolist() == [1, 0, 0] * 3
    consensus = consensus_ratings(workshop.group, batch.group).outcome.tolist()
    assert sorted(consensus) == sorted([1, 0, 0, 1, 0, 0, 1, Outcome.UNDECIDED, 0])
