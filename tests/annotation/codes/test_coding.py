"""Codes of responses: batches, saves, what the database keeps, rulings, blinding, files."""

from __future__ import annotations

import csv
import io
import json
from datetime import timedelta
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest
from django.db import IntegrityError, InternalError, ProgrammingError, transaction
from django.test import Client
from django.utils import timezone

from accounts.identity import opaque_name
from accounts.models import Notification, User
from annotation.codes.batches import CodingTerms, make_coding_batch, plan_coding
from annotation.codes.rulings import request_code_rulings, rule_on_codes
from annotation.models import Attention, Batch, CodeRuling, LabelAnswer, LabelQuestion, LabelTask, Membership, Physician
from annotation.services.batches import close_batch
from consilium.core.errors import Conflict, DomainError
from rubrics.codes.services import newest_book, save_codes
from rubrics.models import Criterion, Rubric
from tests.annotation.codes.coding_world import TEXT, CodingWorld, build_coding
from tests.factories import BenchmarkFactory, CandidateFactory, ResponseFactory, UserFactory, member
from tests.results import result_of

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
REFUSED = (IntegrityError, InternalError, ProgrammingError)


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def answer_of(question: LabelQuestion, value: str, codes: list[Any], version: int = 0) -> dict[str, Any]:
    return {
        "question": question.public_id, "value": value, "codes": codes, "certainty": None, "note": "",
        "upper": "", "reason": "", "version": version, "client_id": str(uuid4()),
    }  # fmt: skip


def save(task: LabelTask, question: LabelQuestion, value: str, codes: list[Any], version: int = 0, **more: Any) -> Any:
    """As the page saves it: status and result."""
    answer = answer_of(question, value, codes, version) | more
    body = json.dumps({"who": opaque_name(task.annotator), "answer": answer})
    sent = signed_in(task.annotator).post(
        f"/work/labels/{task.public_id}/answers/", body, content_type="application/json"
    )
    return sent.status_code, sent.json() if sent.status_code == 422 else result_of(sent)


def given(code: str, *spans: tuple[int, int], criterion: int | None = None) -> dict[str, Any]:
    return {"code": code, "criterion": criterion, "evidence": [{"start": start, "end": end} for start, end in spans]}


# Batches ------------------------------------------------------------------------------------------------------------


def test_a_batch_freezes_the_code_book_and_gives_each_response_to_its_coders() -> None:
    world = build_coding()
    world.book.refresh_from_db()
    assert world.book.used_at is not None
    assert world.batches[0].label_tasks.count() == 4 * 2
    assert LabelTask.objects.filter(response=world.responses["a alpha"]).count() == 2
    note = Notification.objects.filter(user=world.task("a alpha").annotator).get()
    assert note.values["what"] == "codes"
    page = signed_in(world.task("a alpha").annotator).get("/notifications/").content.decode()
    assert "You were assigned 4 responses to mark failures in" in page
    # The next change of the book is another version, with a question of its own.
    save_codes(benchmark=world.benchmark, codes=world.book.entries[:3], by=None, at=timezone.now())
    assert newest_book(world.benchmark) != world.book


def test_a_question_of_an_admin_may_have_the_name_of_the_question_on_the_codes() -> None:
    world = build_coding(groups=0)
    LabelQuestion.objects.create(
        benchmark=world.benchmark, name="codes-1", text="Which?", minimum_answers=2, created_at=timezone.now()
    )
    make_coding_batch(
        group=world.groups[0],
        book=world.book,
        terms=CodingTerms(title="Failures", coders=2, seed=3),
        by=world.admin,
        at=timezone.now(),
    )
    assert world.question.name == "codes-1-2"


def test_the_page_plans_and_makes_a_batch_as_its_preview_says() -> None:
    world = build_coding(groups=0)
    admin = signed_in(world.admin)
    form = {"title": "Codes", "group": world.groups[0].public_id, "coders": 2, "size": 3, "seed": 7}
    preview = admin.get("/b/ward/coding/new-batch/preview/", form)
    assert preview.status_code == 200
    plan = preview.context["plan"]
    assert (len(plan.responses), plan.in_frame, plan.answers) == (3, 4, 6)
    sent = admin.post("/b/ward/coding/new-batch/", form | {"digest": plan.digest})
    assert sent.status_code == 302
    batch = Batch.objects.get()
    assert {task.response_id for task in batch.label_tasks.all()} == set(plan.responses)
    assert batch.frame["inclusion_probability"] == 0.75
    assert admin.post("/b/ward/coding/new-batch/", form | {"digest": plan.digest}).status_code == 302  # once
    assert Batch.objects.count() == 1
    assert admin.post("/b/ward/coding/new-batch/", form | {"group": "", "seed": 8}).status_code == 422
    # The other group gets the same responses, and this one only what is left.
    other = form | {"group": world.groups[1].public_id, "same_as": batch.public_id, "size": ""}
    plan = admin.get("/b/ward/coding/new-batch/preview/", other).context["plan"]
    assert set(plan.responses) == {task.response_id for task in batch.label_tasks.all()}
    assert len(admin.get("/b/ward/coding/new-batch/preview/", form | {"size": ""}).context["plan"].responses) == 1


def test_nobody_codes_a_response_that_they_wrote() -> None:
    world = build_coding(groups=0)
    author = world.groups[0].people["annotator"][0]  # type: ignore[attr-defined]
    alpha = world.responses["a alpha"]
    own = ResponseFactory(case=alpha.case, candidate=alpha.candidate, sample=1, author=author)
    with pytest.raises(DomainError, match="fewer readers left"):
        plan_coding(group=world.groups[0], book=world.book, terms=CodingTerms(title="", coders=2, seed=3))
    plan = plan_coding(group=world.groups[0], book=world.book, terms=CodingTerms(title="", coders=1, seed=3))
    assert author.pk not in {slot.annotator for slot in plan.allocation.slots if slot.response == own.pk}


# Answers ------------------------------------------------------------------------------------------------------------


def test_codes_are_saved_with_their_quotes_in_the_order_of_the_book_and_handed_in() -> None:
    world = build_coding()
    task, question = world.task("a alpha"), world.question
    codes = [given("overconfidence", (18, 43)), given("wrong-dose", (0, 16))]
    status, result = save(task, question, "coded", codes)
    assert (status, result["status"], result["version"]) == (200, "saved", 1)
    stored = LabelAnswer.objects.get(task=task)
    assert [code["code"] for code in stored.codes] == ["wrong-dose", "overconfidence"]
    assert stored.codes[1]["evidence"] == [{"quote": "It is certainly harmless.", "start": 18, "end": 43}]
    # An older tab overwrites nothing.
    status, result = save(task, question, "none", [])
    assert (status, result["status"]) == (409, "stale")
    assert [code["code"] for code in result["current"]["codes"]] == ["wrong-dose", "overconfidence"]
    # All codes taken away again: the answer is open, and cannot be handed in.
    assert save(task, question, "", [], version=1)[0] == 200
    coder = signed_in(task.annotator)
    who = json.dumps({"who": opaque_name(task.annotator)})
    refused = coder.post(f"/work/labels/{task.public_id}/submit/", who, content_type="application/json")
    assert refused.status_code == 422
    assert refused.json()["missing"] == [question.public_id]
    assert save(task, question, "none", [], version=2)[0] == 200
    assert coder.post(f"/work/labels/{task.public_id}/submit/").status_code == 302
    task.refresh_from_db()
    assert task.status == "submitted"
    late = {"who": opaque_name(task.annotator), "answer": answer_of(question, "coded", [given("wrong-dose")], 3)}
    body = json.dumps(late)
    assert (
        coder.post(f"/work/labels/{task.public_id}/answers/", body, content_type="application/json").status_code == 409
    )
    assert LabelAnswer.objects.get(task=task).codes == []


@pytest.mark.parametrize(
    ("value", "codes"),
    [
        ("coded", []),
        ("none", [given("wrong-dose")]),
        ("coded", [given("unknown-code")]),
        ("coded", [given("wrong-dose"), given("wrong-dose")]),
        ("coded", [given("wrong-dose", (0, len(TEXT) + 1))]),
        ("coded", [given("wrong-dose", criterion=999_999)]),
        ("wrong-dose", [given("wrong-dose")]),
    ],
)
def test_what_is_no_answer_by_the_book_is_refused(value: str, codes: list[Any]) -> None:
    world = build_coding()
    status, _ = save(world.task("a alpha"), world.question, value, codes)
    assert status == 422
    assert not LabelAnswer.objects.exists()


def test_a_code_may_be_tied_to_a_criterion_of_the_case_where_the_batch_shows_them() -> None:
    world = build_coding(criteria=True)
    task = world.task("a alpha")
    rubric = Rubric.objects.current().get(case=task.case)
    criterion = rubric.items.order_by("position")[0].criterion
    page = signed_in(task.annotator).get(f"/work/labels/{task.public_id}/").content.decode()
    assert criterion.text in page
    assert save(task, world.question, "coded", [given("wrong-dose", criterion=criterion.pk)])[0] == 200
    foreign = Criterion.objects.exclude(case=task.case)[0]
    assert save(task, world.question, "coded", [given("wrong-dose", criterion=foreign.pk)], version=1)[0] == 422
    without = build_coding_page_without_criteria(world)
    assert criterion.text not in without


def build_coding_page_without_criteria(world: CodingWorld) -> str:
    Batch.objects.filter(pk=world.batches[0].pk).update(frame={**world.batches[0].frame, "criteria": False})
    task = world.task("a alpha")
    return signed_in(task.annotator).get(f"/work/labels/{task.public_id}/").content.decode()


@pytest.mark.parametrize(
    "values",
    [
        {"value": "none"},
        {"codes": [{"code": "unknown", "criterion": None, "evidence": []}]},
        {"codes": [given("wrong-dose"), given("wrong-dose")]},
        {"codes": []},
        {"certainty": 50},
    ],
)
def test_the_database_refuses_answers_that_are_not_by_the_book(values: dict[str, Any]) -> None:
    world = build_coding()
    world.code(world.task("a alpha"), "wrong-dose", submit=False)
    with pytest.raises(REFUSED), transaction.atomic():
        LabelAnswer.objects.update(**values)


def test_codes_that_were_handed_in_never_change() -> None:
    world = build_coding()
    world.code(world.task("a alpha"), "wrong-dose")
    with pytest.raises(REFUSED), transaction.atomic():
        LabelAnswer.objects.update(note="later")
    with pytest.raises(REFUSED), transaction.atomic():
        LabelQuestion.objects.update(code_book=None, kind="choice")


def test_a_label_has_no_codes() -> None:
    world = build_coding()
    world.code(world.task("a alpha"), "wrong-dose", submit=False)
    other = LabelQuestion.objects.create(benchmark=world.benchmark, name="q", text="Q", created_at=timezone.now())
    with pytest.raises(REFUSED), transaction.atomic():
        LabelAnswer.objects.create(
            task=world.task("a beta"), question=other, value="coded", codes=[given("wrong-dose")],
            created_at=timezone.now(), updated_at=timezone.now(),
        )  # fmt: skip


# Blinding -----------------------------------------------------------------------------------------------------------


def test_a_coder_sees_neither_candidate_nor_what_others_marked() -> None:
    world = build_coding()
    mine, theirs = world.task("a alpha"), world.task("a alpha", place=1)
    world.code(theirs, "wrong-dose", note="zq-note-of-the-other")
    client = signed_in(mine.annotator)
    for address in (f"/work/labels/{mine.public_id}/", f"/api/v1/work/labels/{mine.public_id}/", "/work/"):
        text = client.get(address).content.decode()
        assert "alpha" not in text
        assert "zq-note-of-the-other" not in text
    assert 'data-code="wrong-dose" data-key="3"' in " ".join(
        client.get(f"/work/labels/{mine.public_id}/").content.decode().split()
    )
    line = client.get(f"/api/v1/work/labels/{mine.public_id}/").json()["questions"][0]
    assert (line["coded"], line["codes"], len(line["options"])) == (True, [], 15)
    assert client.get(f"/work/labels/{theirs.public_id}/").status_code == 404


def test_the_definitions_are_on_the_page_in_its_language() -> None:
    world = build_coding()
    task = world.task("a alpha")
    client = signed_in(task.annotator)
    assert (
        "Whoever follows the advice could be harmed by it."
        in client.get(f"/work/labels/{task.public_id}/").content.decode()
    )
    client.cookies["django_language"] = "zh-hans"
    assert "照做的人可能因此受到伤害。" in client.get(f"/work/labels/{task.public_id}/").content.decode()


# Rulings ------------------------------------------------------------------------------------------------------------


def request(world: CodingWorld, group: int = 0) -> int:
    return request_code_rulings(
        group=world.groups[group], question=world.question, seed=1, by=world.admin, at=timezone.now()
    )


def adjudicator_of(world: CodingWorld, group: int = 0) -> User:
    return world.groups[group].people["adjudicator"][0]  # type: ignore[attr-defined, no-any-return]


def test_responses_whose_codes_differ_go_to_adjudicators_once_all_coded_them() -> None:
    world = build_coding()
    world.say("a alpha", ["wrong-dose"], ["overconfidence"])  # they differ
    world.say("a beta", ["wrong-dose"], ["wrong-dose"])
    world.say("b alpha", [], [])
    world.code(world.task("b beta"), "wrong-dose")  # the other one still codes it
    admin = signed_in(world.admin)
    sent = {"group": world.groups[0].public_id}
    assert admin.post("/b/ward/coding/1/rulings/", sent).status_code == 302
    assert [ruling.response for ruling in CodeRuling.objects.all()] == [world.responses["a alpha"]]
    refused = admin.post("/b/ward/coding/1/rulings/", sent)
    assert refused.status_code == 422
    assert "No response is left on which the codes differ." in refused.content.decode()
    world.code(world.task("b beta", place=1), "overconfidence")
    assert request(world) == 1
    work = signed_in(adjudicator_of(world)).get("/", follow=True).content.decode()
    assert "Rule on responses whose codes differ" in work


def test_no_ruling_is_asked_for_while_somebody_still_codes_the_response() -> None:
    world = build_coding(cases="a", coders=3)
    world.say("a alpha", ["wrong-dose"], [])
    with pytest.raises(DomainError, match="Someone still has to code"):
        request(world)
    world.code(world.task("a alpha", place=2), "wrong-dose")
    assert request(world) == 1
    ruling = CodeRuling.objects.get()
    # Given out once more, it waits until that is coded, too.
    address, client = f"/work/code-rulings/{ruling.public_id}/", signed_in(adjudicator_of(world))
    assert client.get(address).status_code == 200
    late = member(world.groups[0])
    task = LabelTask.objects.create(
        batch=world.batches[0], case=ruling.response.case, response=ruling.response, annotator=late, position=9
    )
    assert client.get(address).status_code == 404
    world.code(task)
    assert client.get(address).status_code == 200


def test_an_adjudicator_sees_what_was_marked_without_names_and_rules_once() -> None:
    world = build_coding()
    world.code(world.task("a alpha"), "wrong-dose", given=[given("wrong-dose", (0, 16))], note="zq-why")
    world.code(world.task("a alpha", place=1))
    request(world)
    ruling, judge = CodeRuling.objects.get(), adjudicator_of(world)
    client = signed_in(judge)
    page = client.get(f"/work/code-rulings/{ruling.public_id}/").content.decode()
    assert "marked by 1 of 2" in page
    assert "<q>Take two tablets</q>" in page
    assert "zq-why" in page
    names = [user.name for user in world.groups[0].people["annotator"]]  # type: ignore[attr-defined]
    pseudonyms = Physician.objects.filter(benchmark=world.benchmark).values_list("pseudonym", flat=True)
    for hidden in (*names, *pseudonyms, "alpha"):
        assert hidden not in page.replace(judge.name, "")
    address = f"/work/code-rulings/{ruling.public_id}/"
    # Of the other group nobody reaches it, nor does a coder.
    for other in (adjudicator_of(world, 1), world.task("a alpha").annotator):
        assert signed_in(other).get(address).status_code == 404
        assert signed_in(other).post(address, {"codes": ["none"]}).status_code == 404
    assert client.post(address, {"codes": []}).status_code == 422
    assert client.post(address, {"codes": ["none", "wrong-dose"]}).status_code == 422
    assert client.post(address, {"codes": ["overconfidence", "wrong-dose"], "note": "Both"}).status_code == 302
    ruling.refresh_from_db()
    assert (ruling.codes, ruling.adjudicator, ruling.note) == (["wrong-dose", "overconfidence"], judge, "Both")
    # Sent twice, as by a key that is held down, it says so of nobody else.
    again = client.post(address, {"codes": ["overconfidence", "wrong-dose"], "note": "Both"}, follow=True)
    assert "Your ruling is saved." in again.content.decode()
    with pytest.raises(Conflict, match="You have already ruled on this response"):
        rule_on_codes(ruling=ruling, adjudicator=judge, codes=["none"], note="", at=timezone.now())
    with pytest.raises(REFUSED), transaction.atomic():
        CodeRuling.objects.update(codes=[])


def test_no_ruling_is_asked_for_that_nobody_of_the_group_can_give() -> None:
    world = build_coding()
    judge = adjudicator_of(world)
    alpha = world.responses["a alpha"]
    LabelTask.objects.create(
        batch=world.batches[0],
        case=alpha.case,
        response=alpha,
        annotator=judge,
        status="submitted",
        submitted_at=timezone.now(),
    )
    for name in ("a alpha", "b alpha"):
        world.say(name, ["wrong-dose"], [])
    assert request(world) == 1
    assert CodeRuling.objects.get().response == world.responses["b alpha"]
    assert Notification.objects.get(user=judge).values["count"] == 1
    with pytest.raises(DomainError, match="No adjudicator in this group can rule"):
        request(world)
    # Another group has an adjudicator who can.
    close(world.batches[0])
    assert request(world, group=1) == 1


def test_responses_of_a_coder_who_stops_go_to_others_who_did_not_code_them() -> None:
    world = build_coding(cases="a")
    extra = member(world.groups[0], Membership.Role.ANNOTATOR)
    leaving, other = world.task("a alpha").annotator, world.task("a alpha", 0, 1).annotator
    world.code(world.task("a beta"), "wrong-dose")  # of the one who leaves, and handed in
    page = f"/b/ward/batches/{world.batches[0].public_id}/"
    admin, name = signed_in(world.admin), Physician.objects.get(user=leaving).pseudonym
    assert f"{page}handover/?physician={quote(name)}" in admin.get(page).content.decode()
    offered = admin.get(f"{page}handover/", {"physician": name}).content.decode()
    assert "Hand over 1 response" in offered
    assert "No one codes a response that they were given before" in offered
    moved = admin.post(f"{page}handover/", {"physician": name, "to": "spread"}, follow=True)
    assert "1 response was handed over." in moved.content.decode()
    holders = LabelTask.objects.filter(response=world.responses["a alpha"], status="not_started").order_by("pk")
    assert {task.annotator for task in holders} == {other, extra}
    # Nobody gets a response twice.
    refused = admin.post(
        f"{page}handover/", {"physician": Physician.objects.get(user=extra).pseudonym, "to": "spread"}, follow=True
    )
    assert "None of the chosen members of the group can take over" in refused.content.decode()
    nobody = admin.get(f"{page}handover/", {"physician": Physician.objects.get(user=extra).pseudonym}).content.decode()
    assert "No one else in the group can receive these responses." in nobody


def test_codes_are_taken_away_again_through_the_api() -> None:
    world = build_coding()
    task = world.task("a alpha")
    world.code(task, "wrong-dose", submit=False)
    coder = signed_in(task.annotator)
    body = {"question": world.question.public_id, "value": "", "codes": [], "version": 1}
    address = f"/api/v1/work/labels/{task.public_id}/answers/"
    answer = coder.post(address, json.dumps(body), content_type="application/json")
    assert answer.status_code == 200, answer.content
    saved = LabelAnswer.objects.get(task=task)
    assert (saved.value, saved.codes, saved.version) == ("", [], 2)


def test_rulings_on_codes_are_work_that_is_timed_counted_and_paid() -> None:
    world = build_coding()
    world.say("a alpha", ["wrong-dose"], [])
    world.say("a beta", ["wrong-dose"], [])
    request(world)
    judge, admin = adjudicator_of(world), signed_in(world.admin)
    client = signed_in(judge)
    for ruling, seconds in zip(CodeRuling.objects.order_by("pk"), (90, 150), strict=True):
        address = f"/work/code-rulings/{ruling.public_id}/"
        assert f'data-time-url="{address}time/"' in client.get(address).content.decode()
        for sent, status in ((0, 204), (seconds, 204), (-1, 400)):
            answer = client.post(f"{address}time/", {"seconds": sent}, content_type="application/json")
            assert answer.status_code == status
            Attention.objects.update(reported_at=timezone.now() - timedelta(hours=1))
        assert client.post(address, {"codes": ["none"]}).status_code == 302
    text = b"".join(admin.get("/b/ward/contributions.csv").streaming_content).decode().removeprefix("\ufeff")
    (own,) = (row for row in csv.DictReader(io.StringIO(text)) if row["email"] == judge.email)
    assert own["role"] == "code_adjudicator"
    assert [own[name] for name in ("items", "timed_items", "seconds", "median_seconds")] == ["2", "2", "240", "120.0"]
    rates = {"currency": "EUR", "item_code_adjudicator": "7.50"}
    paid = b"".join(admin.post("/b/ward/contributions/payment.csv", rates).streaming_content).decode()
    assert "15.00" in paid


def test_the_page_names_rulings_that_cannot_be_opened_for_a_while_and_no_given_ones() -> None:
    world = build_coding()
    world.say("a alpha", ["wrong-dose"], [])
    world.say("b alpha", ["wrong-dose"], [])
    request(world)
    hidden, other = CodeRuling.objects.order_by("pk")
    client = signed_in(adjudicator_of(world))
    LabelTask.objects.create(
        batch=world.batches[0],
        case=hidden.response.case,
        response=hidden.response,
        annotator=member(world.groups[0], Membership.Role.ANNOTATOR),
    )
    client.post(f"/work/code-rulings/{other.public_id}/", {"codes": ["none"]})
    page = client.get("/work/code-rulings/").content.decode()
    assert f"/work/code-rulings/{hidden.public_id}/" not in page
    assert f'<script id="waiting-rulings" type="application/json">["{hidden.public_id}"]</script>' in page


def test_who_coded_a_response_does_not_rule_on_it() -> None:
    world = build_coding()
    world.say("a alpha", ["wrong-dose"], [])
    request(world)
    ruling, coder = CodeRuling.objects.get(), world.task("a alpha").annotator
    with pytest.raises(DomainError, match="cannot both code a response and rule"):
        rule_on_codes(ruling=ruling, adjudicator=coder, codes=["none"], note="", at=timezone.now())
    # And who ruled is not given it to code.
    judge = adjudicator_of(world)
    rule_on_codes(ruling=ruling, adjudicator=judge, codes=["none"], note="", at=timezone.now())
    with pytest.raises(REFUSED), transaction.atomic():
        LabelTask.objects.create(
            batch=world.batches[0], case=ruling.response.case, response=ruling.response, annotator=judge
        )


def close(*batches: Batch) -> None:
    for batch in batches:
        close_batch(batch=batch, at=timezone.now())


def test_no_group_learns_of_the_other_before_all_batches_are_closed() -> None:
    world = build_coding(groups=2)
    # Within A they differ on one response; on another only the groups differ.
    world.say("a alpha", ["wrong-dose"], [])
    world.say("a alpha", ["fabrication"], ["fabrication"], group=1)
    world.say("a beta", ["wrong-dose"], ["wrong-dose"])
    world.code(world.task("a beta", 1), "overconfidence", note="zq-note-of-b")
    world.code(world.task("a beta", 1, 1), "overconfidence")
    with pytest.raises(DomainError, match="Close the batches of both groups first"):
        request(world, group=1)
    assert request(world) == 1
    within = CodeRuling.objects.get()
    judge = signed_in(adjudicator_of(world))
    page = judge.get(f"/work/code-rulings/{within.public_id}/").content.decode()
    assert "marked by 1 of 2" in page
    assert "marked by 2 of 4" not in page
    with pytest.raises(DomainError, match="Close the batches of both groups first"):
        request(world)
    close(world.batches[0])
    with pytest.raises(DomainError, match="Close the batches of both groups first"):
        request(world)
    close(world.batches[1])
    assert request(world) == 1
    across = CodeRuling.objects.exclude(pk=within.pk).get()
    address = f"/work/code-rulings/{across.public_id}/"
    assert "zq-note-of-b" in judge.get(address).content.decode()
    assert "marked by 2 of 4" in judge.get(f"/work/code-rulings/{within.public_id}/").content.decode()
    # A batch that is made later hides it again until it is closed; what the group itself differs on stays.
    gamma = CandidateFactory(benchmark=world.benchmark, name="gamma")
    ResponseFactory(case=world.responses["a alpha"].case, candidate=gamma, text=TEXT)
    late = make_coding_batch(
        group=world.groups[1], book=world.book, by=world.admin, at=timezone.now(),
        terms=CodingTerms(title="Late", coders=1, seed=9, candidates=["gamma"]),
    )  # fmt: skip
    assert judge.get(address).status_code == 404
    assert judge.post(address, {"codes": ["none"]}).status_code == 404
    assert across.public_id not in judge.get("/work/code-rulings/").content.decode()
    assert "marked by 1 of 2" in judge.get(f"/work/code-rulings/{within.public_id}/").content.decode()
    close(late)
    assert judge.get(address).status_code == 200


def test_whoever_was_asked_for_a_ruling_is_not_given_the_response_to_code() -> None:
    world = build_coding(cases="a")
    world.say("a alpha", ["wrong-dose"], [])
    close(world.batches[0])
    assert request(world, group=1) == 1
    # The adjudicator of B, who may have read what A marked, is one of B's annotators too, and may code the rest.
    judge = adjudicator_of(world, 1)
    Membership.objects.create(group=world.groups[1], user=judge, role=Membership.Role.ANNOTATOR)

    def coders_of(candidate: str, number: int) -> set[int]:
        terms = CodingTerms(title="", coders=number, seed=3, candidates=[candidate])
        plan = plan_coding(group=world.groups[1], book=world.book, terms=terms)
        return {slot.annotator for slot in plan.allocation.slots}

    assert judge.pk in coders_of("beta", 3)
    assert judge.pk not in coders_of("alpha", 2)
    with pytest.raises(DomainError, match="fewer readers left"):
        coders_of("alpha", 3)


def test_a_ruling_gives_codes_of_the_book() -> None:
    world = build_coding()
    world.say("a alpha", ["wrong-dose"], [])
    request(world)
    ruling = CodeRuling.objects.get()
    for wrong in (["unknown"], []):
        with pytest.raises(DomainError):
            rule_on_codes(ruling=ruling, adjudicator=adjudicator_of(world), codes=wrong, note="", at=timezone.now())
    with pytest.raises(REFUSED), transaction.atomic():
        CodeRuling.objects.update(codes=["unknown"], adjudicator=adjudicator_of(world), ruled_at=timezone.now())


# Files and the page -------------------------------------------------------------------------------------------------


def test_the_file_and_the_api_have_each_code_with_its_rater() -> None:
    world = build_coding(groups=2)
    world.code(
        world.task("a alpha"),
        "wrong-dose",
        "overconfidence",
        given=[given("wrong-dose", (0, 16)), given("overconfidence")],
    )
    world.code(world.task("a alpha", place=1))
    for place in (0, 1):
        world.code(world.task("a alpha", 1, place))
    request(world)
    rule_on_codes(
        ruling=CodeRuling.objects.get(),
        adjudicator=adjudicator_of(world),
        codes=["wrong-dose"],
        note="",
        at=timezone.now(),
    )
    admin = signed_in(world.admin)
    answer = admin.get("/b/ward/coding/1/given.csv")
    body = b"".join(answer.streaming_content).decode("utf-8-sig")  # type: ignore[attr-defined]
    rows = list(csv.DictReader(io.StringIO(body)))
    names = dict(Physician.objects.filter(benchmark=world.benchmark).values_list("user_id", "pseudonym"))
    first = names[world.task("a alpha").annotator_id]
    assert [(row["rater"], row["group"], row["code"], row["evidence"]) for row in rows[:2]] == [
        (first, "A", "wrong-dose", "Take two tablets"),
        (first, "A", "overconfidence", ""),
    ]
    assert sorted((row["group"], row["code"]) for row in rows[2:5]) == [("A", "none"), ("B", "none"), ("B", "none")]
    assert [(row["rater"], row["code"], row["candidate"]) for row in rows[5:]] == [
        ("adjudication", "wrong-dose", "alpha")
    ]
    listed = admin.get("/api/v1/benchmarks/ward/code-books/1/codings/").json()
    assert listed["count"] == 6
    page = admin.get("/b/ward/coding/").content.decode()
    assert "Failures A" in page
    assert "Wrong dose" in page


def test_without_a_code_book_the_page_says_what_to_do() -> None:
    user = UserFactory()
    BenchmarkFactory(slug="empty", admin=user)
    admin = signed_in(user)
    assert "No code book yet" in admin.get("/b/empty/coding/").content.decode()
    assert admin.get("/b/empty/coding/new-batch/").status_code == 404


def test_others_see_nothing_of_it() -> None:
    world = build_coding()
    outsider = signed_in(UserFactory())
    for address in ("/b/ward/coding/", "/b/ward/codes/", "/b/ward/coding/1/given.csv"):
        assert outsider.get(address).status_code == 404
    assert signed_in(world.task("a alpha").annotator).get("/b/ward/coding/").status_code == 404


def test_make_coding_batch_refuses_another_plan_than_the_preview() -> None:
    world = build_coding(groups=0)
    terms = CodingTerms(title="T", coders=2, seed=3)
    with pytest.raises(Conflict):
        make_coding_batch(
            group=world.groups[0], book=world.book, terms=terms, by=None, at=timezone.now(), digest="0" * 64
        )
