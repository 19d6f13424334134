"""Work that a checker returns with marked criteria: the marks, the annotator's answers, and the next round."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from accounts.models import User
from annotation import access, services
from annotation.models import Amendment, Assignment, Check, Decision
from annotation.selectors.ratings import group_ratings
from tests.annotation.conftest import Workshop, build_workshop
from tests.factories import decide

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def checked() -> Workshop:
    """Four criteria; the first piece of work is submitted, all "met", and the checker has claimed it."""
    workshop = build_workshop(check_policy="all", criteria=4)
    decide(workshop.queue()[0], "met")
    claim(workshop)
    return workshop


def claim(workshop: Workshop) -> None:
    waiting = access.waiting_checks(workshop.checker)
    assert services.claim_check(checker=workshop.checker, waiting=waiting, at=timezone.now())


def work_of(workshop: Workshop) -> Assignment:
    row = workshop.queue()[0]
    row.refresh_from_db()
    return row


def mark(client: Client, row: Assignment, criterion: int, reason: str, **more: Any) -> Any:
    return client.post(
        f"/work/checks/{row.public_id}/criteria/{criterion}/", {"outcome": "review", "reason": reason} | more
    )


def save(client: Client, row: Assignment, criterion: int, **state: Any) -> dict[str, Any]:
    """Save a decision as the grading page does; the result."""
    stored = Decision.objects.get(assignment=row, round=row.round, criterion=criterion)
    decision = {
        "criterion": criterion,
        "outcome": stored.outcome,
        "version": stored.version,
        "client_id": str(uuid4()),
    } | state
    answer = client.post(
        f"/work/{row.public_id}/decisions/", json.dumps({"decisions": [decision]}), content_type="application/json"
    )
    assert answer.status_code == 200, answer.content
    result: dict[str, Any] = answer.json()["results"][0]
    return result


def submit(client: Client, row: Assignment) -> Any:
    body = json.dumps({"decisions": [], "have": ""})
    return client.post(f"/work/{row.public_id}/submit/", body, content_type="application/json")


def row_of(page: str, criterion: int) -> str:
    """The HTML of one criterion, white space as one blank."""
    match = re.search(rf'<li[^>]*id="criterion-{criterion}".*?</li>\s*(?=<li[^>]*data-row|</ol>)', page, re.DOTALL)
    assert match
    return " ".join(match[0].split())


def test_a_mark_needs_a_line_and_keeps_the_work_from_being_accepted(checked: Workshop) -> None:
    client, row = signed_in(checked.checker), work_of(checked)
    first = services.criteria_of(row)[0]
    refused = mark(client, row, first, " ")
    assert refused.status_code == 422
    assert "what to review" in refused.content.decode()
    saved = mark(client, row, first, "Which dose?").content.decode()
    assert 'data-outcome="review"' in saved
    assert 'data-amended=""' in saved
    assert "Which dose?" in saved
    accepted = client.post(f"/work/checks/{row.public_id}/accept/", headers={"HX-Request": "true"})
    assert accepted.status_code == 422
    assert "1 criterion is marked for review" in accepted.content.decode()
    # The annotator's own outcome takes the mark back; the row stays for the record.
    client.post(f"/work/checks/{row.public_id}/criteria/{first}/", {"outcome": "met", "reason": ""})
    assert Amendment.objects.values_list("to_review", "outcome", "reason").get() == (False, "", "Which dose?")
    assert client.post(f"/work/checks/{row.public_id}/accept/").status_code == 302
    assert group_ratings(checked.group, "checked").outcome.tolist() == [1] * 4


def test_the_third_round_shows_what_was_asked_and_answered_in_all_rounds_before(checked: Workshop) -> None:
    client, own, row = signed_in(checked.checker), signed_in(checked.annotator), work_of(checked)
    first, second = services.criteria_of(row)[:2]
    exchange = [("Which dose?", "5 mg."), ("Where does it say so?", "In the list.")]
    for number, (request, answer) in enumerate(exchange, start=1):
        mark(client, row, first, request)
        assert client.post(f"/work/checks/{row.public_id}/return/?round={number}", {"note": ""}).status_code == 302
        row = work_of(checked)
        if number == 2:
            own_page = own.get(f"/work/{row.public_id}/").content.decode()
            assert "Which dose?" in row_of(own_page, first) and "5 mg." in row_of(own_page, first)
        save(own, row, first, outcome="not_met" if number == 1 else "met", answer=answer)
        assert submit(own, row).status_code == 200
        claim(checked)
        row = work_of(checked)
    page = client.get(f"/work/checks/{row.public_id}/").content.decode()
    shown = row_of(page, first)
    folded = re.search("<details.*?</details>", shown)
    assert folded
    texts = re.sub("<[^>]+>", " ", folded[0])
    assert " ".join(texts.split()) == "Earlier rounds Round 1 Which dose? Met → Not met Annotator’s answer 5 mg."
    for words in exchange[1]:
        assert words in shown and words not in folded[0]
    assert "<details" not in row_of(page, second)


def test_a_stale_mark_overwrites_nothing_and_releasing_removes_marks(checked: Workshop) -> None:
    client, row = signed_in(checked.checker), work_of(checked)
    first = services.criteria_of(row)[0]
    client_id = uuid4()
    assert mark(client, row, first, "Which dose?", version=0, client_id=client_id).status_code == 200
    assert mark(client, row, first, "Which dose?", version=0, client_id=client_id).status_code == 200
    stale = mark(client, row, first, "Other", version=0, client_id=uuid4())
    assert stale.status_code == 409
    assert "Which dose?" in stale.content.decode()
    # An amendment takes the place of the mark, and the other way round.
    amended = {"outcome": "not_met", "reason": "No dose.", "version": 1, "client_id": uuid4()}
    client.post(f"/work/checks/{row.public_id}/criteria/{first}/", amended)
    assert Amendment.objects.values_list("to_review", "outcome").get() == (False, "not_met")
    mark(client, row, first, "Which dose?", version=2, client_id=uuid4())
    assert Amendment.objects.values_list("to_review", "outcome").get() == (True, "")
    client.post(f"/work/checks/{row.public_id}/release/")
    assert Amendment.objects.values_list("to_review", "version").get() == (True, 3)
    client.post(f"/work/checks/{row.public_id}/release/", {"discard": "1"})
    assert Amendment.objects.values_list("to_review", "version").get() == (False, 4)


def test_the_annotator_answers_or_changes_each_marked_criterion_before_submitting(checked: Workshop) -> None:
    client, row = signed_in(checked.checker), work_of(checked)
    first, second, third, _fourth = services.criteria_of(row)
    mark(client, row, first, "Which dose does it name?")
    mark(client, row, third, "Is this not about the ward?")
    # Marked criteria need no note beside them.
    assert client.post(f"/work/checks/{row.public_id}/return/", {"note": ""}).status_code == 302
    assert Check.objects.values_list("result", "note", "n_to_review").get() == ("returned", "", 2)
    row = work_of(checked)
    own = signed_in(checked.annotator)
    home = own.get("/work/").content.decode()
    assert "Which dose does it name?" in home
    page = own.get(f"/work/{row.public_id}/").content.decode()
    assert "2 criteria to review again" in page
    assert "Which dose does it name?" in row_of(page, first)
    assert 'data-asked="1"' not in row_of(page, second)
    refused = submit(own, row)
    assert refused.status_code == 422
    assert refused.json()["missing"] == [first, third]
    assert "2 criteria still need your review" in refused.json()["detail"]
    assert save(own, row, first, outcome="not_met")["status"] == "saved"
    assert submit(own, row).json()["missing"] == [third]
    assert save(own, row, third, answer="It is; see the second sentence.")["status"] == "saved"
    assert submit(own, row).status_code == 200
    rounds = Decision.objects.filter(criterion__in=[first, third]).order_by("criterion", "round")
    assert list(rounds.values_list("criterion", "round", "outcome", "answer")) == [
        (first, 1, "met", ""),
        (first, 2, "not_met", ""),
        (third, 1, "met", ""),
        (third, 2, "met", "It is; see the second sentence."),
    ]


def test_the_next_round_shows_what_was_marked_and_what_changed_and_the_first_stays(checked: Workshop) -> None:
    client, row = signed_in(checked.checker), work_of(checked)
    first, second, third, fourth = services.criteria_of(row)
    assert 'data-again="1"' not in client.get(f"/work/checks/{row.public_id}/").content.decode()
    mark(client, row, first, "Which dose does it name?")
    client.post(f"/work/checks/{row.public_id}/return/", {"note": "One thing."})
    row = work_of(checked)
    own = signed_in(checked.annotator)
    save(own, row, first, answer="5 mg, in the list.")
    save(own, row, second, outcome="not_met")
    save(own, row, third, note="Only just.")
    assert submit(own, row).status_code == 200
    claim(checked)
    page = client.get(f"/work/checks/{row.public_id}/").content.decode()
    assert re.search(r'data-filter="again"[^>]*>\s*Reviewed or changed <span[^>]*>3<', page)
    again = {c: 'data-again="1"' in row_of(page, c) for c in (first, second, third, fourth)}
    assert again == {first: True, second: True, third: True, fourth: False}
    marked = row_of(page, first)
    assert "Which dose does it name?" in marked
    assert "5 mg, in the list." in marked
    assert "The decision is unchanged." in marked
    changed = row_of(page, second)
    assert "Previous round" in changed
    assert changed.index(">Met<") < changed.index("→") < changed.index(">Not met<")
    assert "another note" in row_of(page, third)
    # What they marked in round 1 is no mark in round 2: the work can be accepted as it is.
    assert client.post(f"/work/checks/{row.public_id}/accept/").status_code == 302
    assert group_ratings(checked.group, "checked").outcome.tolist() == [1, 0, 1, 1]
    before = client.get(f"/work/checks/{row.public_id}/?round=1").content.decode()
    assert 'data-marked="1"' in row_of(before, first)
    assert "5 mg, in the list." not in before
    own_page = own.get(f"/work/{row.public_id}/").content.decode()
    assert "Your answer" in row_of(own_page, first)


def amend(client: Client, row: Assignment, criterion: int, outcome: str, reason: str) -> None:
    answer = client.post(f"/work/checks/{row.public_id}/criteria/{criterion}/", {"outcome": outcome, "reason": reason})
    assert answer.status_code == 200


def test_an_amendment_of_returned_work_is_shown_again_until_the_annotator_follows_it(checked: Workshop) -> None:
    client, own, row = signed_in(checked.checker), signed_in(checked.annotator), work_of(checked)
    first, second, third, _fourth = services.criteria_of(row)
    amend(client, row, first, "not_met", "No dose is given.")
    amend(client, row, second, "not_met", "Only for adults.")
    mark(client, row, third, "Which ward?")
    assert client.post(f"/work/checks/{row.public_id}/return/", {"note": ""}).status_code == 302
    row = work_of(checked)
    save(own, row, second, outcome="not_met")
    save(own, row, third, answer="Any.")
    assert submit(own, row).status_code == 200
    claim(checked)
    row, url = work_of(checked), f"/work/checks/{row.public_id}/"
    page = client.get(url).content.decode()
    assert re.search(r'data-filter="again"[^>]*>\s*Reviewed or changed <span[^>]*>3<', page)
    kept, followed = row_of(page, first), row_of(page, second)
    for words in ("You amended this to “Not met” in round 1", "No dose is given.", "with this reason"):
        assert words in kept
    assert 'data-amended=""' in kept  # of this round
    assert 'data-kept="1"' in kept and 'data-kept="1"' not in followed
    assert "Only for adults." in followed and "with this reason" not in followed
    api = client.get(f"/api/v1/work/checks/{row.public_id}/").json()
    given = {line["criterion"]["id"]: line["earlier"] for line in api["rows"]}
    assert given[first] == {"round": 1, "outcome": "not_met", "reason": "No dose is given.", "own": True}
    assert given[third] is None

    # A round in which the checker left it alone hides nothing from the next.
    mark(client, row, third, "Which one?")
    assert client.post(f"{url}return/?round=2", {"note": ""}).status_code == 302
    row = work_of(checked)
    save(own, row, third, answer="Ward 3.")
    assert submit(own, row).status_code == 200
    claim(checked)
    row = work_of(checked)
    assert "in round 1" in row_of(client.get(url).content.decode(), first)
    # The amendment of another checker is named as such.
    Check.objects.filter(round=1).update(checker=checked.people("checker")[1])
    assert "The checker amended this to “Not met” in round 1" in row_of(client.get(url).content.decode(), first)
    amend(client, row, first, "not_met", "No dose is given.")
    again = row_of(client.get(url).content.decode(), first)
    assert "in round 1" not in again and 'data-amended="not_met"' in again
    assert client.post(f"{url}accept/?round=3").status_code == 302
    # What was read-only from then on is shown whole at first.
    done = client.get(f"{url}?round=3").content.decode()
    assert re.search(r'data-filter="again"\s+aria-pressed="false"', done)
    assert re.search(r'data-filter="all"\s+aria-pressed="true"', done)
    assert 'data-again=""' in done[: done.index('id="criteria"')]
    assert group_ratings(checked.group, "checked").outcome.tolist() == [0, 0, 1, 1]


def test_a_returned_check_is_read_with_the_amendments_of_earlier_rounds_alone(checked: Workshop) -> None:
    client, own, row = signed_in(checked.checker), signed_in(checked.annotator), work_of(checked)
    first, second, third = services.criteria_of(row)[:3]
    url = f"/work/checks/{row.public_id}/"
    for number, criterion in ((1, first), (2, second), (3, third)):
        amend(client, work_of(checked), criterion, "not_met", "No dose is given.")
        assert client.post(f"{url}return/?round={number}", {"note": "Again."}).status_code == 302
        assert submit(own, work_of(checked)).status_code == 200
        claim(checked)
    page = client.get(f"{url}?round=2").content.decode()
    assert "in round 1" in row_of(page, first)
    assert "in round 3" not in row_of(page, third)


def test_an_adjudicator_reads_what_was_asked_answered_and_changed_after_review() -> None:
    workshop = build_workshop(annotators_per_item=2, check_policy="all", criteria=3)
    response = workshop.queue()[0].response_id
    works = list(Assignment.objects.filter(batch=workshop.batch, response=response).order_by("pk"))
    decide(works[0], "met")
    decide(works[1], "met", "not_met", "met")
    client, row = signed_in(workshop.checker), works[0]
    first, second, _third = services.criteria_of(row)
    for work in works:
        waiting = access.waiting_checks(workshop.checker).filter(pk=work.pk)
        assert services.claim_check(checker=workshop.checker, waiting=waiting, at=timezone.now())
    row.refresh_from_db()
    mark(client, row, first, "Which dose does it name?")
    mark(client, row, second, "Is this about children?")
    assert client.post(f"/work/checks/{row.public_id}/return/", {"note": ""}).status_code == 302
    row.refresh_from_db()
    own = signed_in(row.annotator)
    save(own, row, first, outcome="not_met")
    save(own, row, second, answer="It is; see the second sentence.")
    assert submit(own, row).status_code == 200
    services.claim_check(
        checker=workshop.checker, waiting=access.waiting_checks(workshop.checker).filter(pk=row.pk), at=timezone.now()
    )
    for work in works:
        work.refresh_from_db()
        assert client.post(f"/work/checks/{work.public_id}/accept/").status_code == 302
    adjudicator = signed_in(workshop.people("adjudicator")[0])
    page = adjudicator.post("/work/adjudications/next/", follow=True).content.decode()
    texts = {c: " ".join(re.sub("<[^>]+>", " ", row_of(page, c)).split()) for c in (first, second)}
    assert "Asked by the checker Which dose does it name? Changed after review from Met" in texts[first]
    assert (
        "Asked by the checker Is this about children? Annotator’s answer It is; see the second sentence."
        in texts[second]
    )
    assert "Changed after review" not in texts[second]


def test_an_admin_gets_marks_and_answers_as_csv(checked: Workshop) -> None:
    client, row = signed_in(checked.checker), work_of(checked)
    first, _second, third, _fourth = services.criteria_of(row)
    mark(client, row, third, "Which dose?")
    mark(client, row, first, "Is this about children?")
    client.post(f"/work/checks/{row.public_id}/return/", {"note": ""})
    row = work_of(checked)
    own = signed_in(checked.annotator)
    save(own, row, first, outcome="not_met")
    save(own, row, third, answer="5 mg.")
    url = f"/b/{checked.benchmark.slug}/batches/{checked.batch.public_id}/reviewed.csv"

    def table() -> list[list[str]]:
        rows = csv.DictReader(io.StringIO(signed_in(checked.admin).get(url).getvalue().decode("utf-8-sig")))
        names = ("criterion", "review_request", "outcome", "outcome_after", "changed", "answer")
        return [[line[name] for name in names] for line in rows]

    marks = [["1", "Is this about children?", "met"], ["3", "Which dose?", "met"]]
    assert table() == [[*line, "", "", ""] for line in marks]  # not submitted yet
    assert submit(own, row).status_code == 200
    assert [line[3:] for line in table()] == [["not_met", "true", ""], ["met", "false", "5 mg."]]
    assert signed_in(checked.checker).get(url).status_code == 404


def test_a_stale_answer_overwrites_nothing_and_gets_the_stored_one(checked: Workshop) -> None:
    client, row = signed_in(checked.checker), work_of(checked)
    first = services.criteria_of(row)[0]
    mark(client, row, first, "Which dose?")
    client.post(f"/work/checks/{row.public_id}/return/", {"note": ""})
    row = work_of(checked)
    own = signed_in(checked.annotator)
    assert save(own, row, first, answer="5 mg.")["version"] == 3
    stale = save(own, row, first, answer="Ten.", version=2)
    assert (stale["status"], stale["current"]["answer"]) == ("stale", "5 mg.")
    assert Decision.objects.get(criterion=first, round=2).answer == "5 mg."
    # A half character, as a text box may cut it off, does not block the save.
    assert save(own, row, first, answer="5 mg\ud83d")["status"] == "saved"
    assert Decision.objects.get(criterion=first, round=2).answer == "5 mg\N{REPLACEMENT CHARACTER}"


def test_the_api_carries_marks_and_answers(checked: Workshop) -> None:
    client, row = signed_in(checked.checker), work_of(checked)
    first = services.criteria_of(row)[0]
    url = f"/api/v1/work/checks/{row.public_id}/"
    marked = client.post(
        f"{url}amendments/",
        {"criterion": first, "outcome": "review", "reason": "Which dose?"},
        content_type="application/json",
    )
    assert marked.status_code == 200, marked.content
    line = marked.json()["rows"][0]
    assert (line["outcome"], line["to_review"], line["reason"]) == ("", True, "Which dose?")
    assert client.post(f"{url}return/", {}, content_type="application/json").status_code == 204
    own = signed_in(checked.annotator)
    url = f"/api/v1/work/assignments/{row.public_id}/"
    line = own.get(url).json()["rows"][0]
    assert (line["review_request"], line["answer"], line["changed"]) == ("Which dose?", "", False)
    refused = own.post(f"{url}submit/")
    assert (refused.status_code, refused.json()["missing"]) == (422, [first])
    decision = {"criterion": first, "outcome": "met", "answer": "5 mg.", "version": line["version"]}
    saved = own.post(f"{url}decisions/", [decision], content_type="application/json")
    assert saved.status_code == 200, saved.content
    assert saved.json()["rows"][0]["answer"] == "5 mg."
    assert own.post(f"{url}submit/").status_code == 200


@pytest.mark.parametrize(
    "values", [{"result": "returned"}, {"result": "accepted", "n_to_review": 1}, {"n_to_review": 1}]
)
def test_the_database_refuses_a_return_without_note_or_mark(checked: Workshop, values: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Check.objects.update(**values)


def test_the_database_refuses_an_amendment_that_is_a_mark_as_well(checked: Workshop) -> None:
    row = work_of(checked)
    mark(signed_in(checked.checker), row, services.criteria_of(row)[0], "Which dose?")
    with pytest.raises(IntegrityError), transaction.atomic():
        Amendment.objects.update(outcome="met")


def test_the_list_of_checks_tells_its_rows_apart() -> None:
    workshop = build_workshop(check_policy="all", criteria=4, responses=2, text="Twelve signs")
    case = workshop.cases[0]
    case.tags, case.language = ["theme:x", "specialty:cardiology"], "de"
    case.save()
    row = workshop.queue()[0]
    decide(row, "met", submit=False)
    own = signed_in(workshop.annotator)
    first, second, third, _fourth = services.criteria_of(row)
    save(own, row, first, borderline=True)
    save(own, row, second, outcome="cannot_assess")
    save(own, row, third, note="Only just.")
    assert submit(own, row).status_code == 200
    client = signed_in(workshop.checker)
    page = " ".join(client.get("/work/checks/").content.decode().split())
    number = r'<td class="num" data-head="{}">(\d+)</td>'
    case_cell = r'<td data-head="Case">\s*cardiology.*?</td>'
    pattern = f"{case_cell}.*?{number.format('Characters')}.*?{number.format('Flagged or noted')}"
    cells = re.search(pattern, page)
    assert cells
    assert "German" in cells[0]
    assert cells.groups() == ("12", "3")  # characters; flagged or noted
    # Returned with a mark and submitted again, the row says so.
    claim(workshop)
    held = " ".join(client.get("/work/checks/?show=held").content.decode().split())
    assert "cardiology" in held
    mark(client, row, first, "Which dose?")
    client.post(f"/work/checks/{row.public_id}/return/", {"note": ""})
    assert "cardiology" in client.get("/work/checks/?show=done").content.decode()
    row = work_of(workshop)
    save(own, row, first, answer="5 mg.", note="Only just.")
    assert submit(own, row).status_code == 200
    page = " ".join(client.get("/work/checks/").content.decode().split())
    assert "1 criterion was marked for review" in page
