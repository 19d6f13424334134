"""Case labels: questions, giving cases out, answering, results and the tags that come out of them."""

from __future__ import annotations

import csv
import io
import re
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.identity import opaque_name
from accounts.models import Notification, PhysicianProfile, User
from agreement.counting.frame import read_frame
from annotation.labels import selectors as label_selectors
from annotation.labels.batches import (
    write_tags,
)
from annotation.labels.services import (
    AnswerInput,
    Option,
    OptionRefused,
    QuestionInput,
    change_question,
    restore_question,
    retire_question,
    save_answer,
    submit_labels,
)
from annotation.models import Assignment, Batch, LabelAnswer, LabelQuestion, LabelTask, Membership, Physician
from annotation.services import close_batch, pause_batch
from consilium.core import navigation
from consilium.core.errors import Conflict, DomainError
from rubrics.models import Case
from scoring.scores.score_tables import compute_scores
from scoring.selectors.raters import resolve_rater
from tests.annotation.labels.labels_world import LEVELS, URGENCY, Ward, build_ward, give_out, question
from tests.factories import (
    BenchmarkFactory,
    CandidateFactory,
    CaseFactory,
    ExpertGroupFactory,
    ResponseFactory,
    UserFactory,
    decide,
    make_batch,
)
from tests.results import result_of

pytestmark = pytest.mark.slow


@pytest.fixture
def ward(db: None) -> Ward:
    return build_ward()


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


# Questions ------------------------------------------------------------------------------------------------------------


def test_options_are_fixed_once_answered_and_the_question_can_be_retired(ward: Ward) -> None:
    question_input = QuestionInput("urgency", "How urgent?", "choice", URGENCY[:2], 0.6, 3)
    change_question(question=ward.urgency, question_input=question_input, at=timezone.now())  # nobody has answered yet
    ward.say("a", "emergent", submit=False)
    with pytest.raises(Conflict, match="can no longer be changed"):
        change_question(
            question=ward.urgency,
            question_input=QuestionInput("urgency", "How urgent?", "choice", URGENCY, 0.6, 3),
            at=timezone.now(),
        )
    with pytest.raises(Conflict, match="can no longer be changed"):
        change_question(
            question=ward.urgency,
            question_input=QuestionInput("urgency", "Other words", "choice", URGENCY[:2], 0.6, 3),
            at=timezone.now(),
        )
    change_question(
        question=ward.urgency,
        question_input=QuestionInput("now", "How urgent?", "choice", URGENCY[:2], 1.0, 1),
        at=timezone.now(),
    )
    retire_question(question=ward.urgency)
    with pytest.raises(DomainError, match="no longer in use"):
        ward.say("b", "emergent")
    with pytest.raises(Conflict):
        retire_question(question=ward.urgency)


def test_the_list_of_keys_has_those_of_the_page_alone(ward: Ward) -> None:
    physician = ward.people[0]
    single = question(ward.benchmark, "single", options=[Option("yes", "Yes"), Option("no", "No")])
    only_choice = give_out(ward.group, single)
    for batch, expected in ((ward.batch, True), (only_choice, False)):
        task = LabelTask.objects.filter(batch=batch, annotator=physician).earliest("position")
        page = signed_in(physician).get(f"/work/labels/{task.public_id}/").content.decode()
        keys = page.partition('id="keys"')[2].partition("</dialog>")[0]
        assert "choose an option" in keys
        assert ("certainty up or down by 5" in keys) is expected
        assert ("next question" in keys) is expected  # the other batch asks one


def test_a_case_that_cannot_be_read_is_left_open_by_a_link_to_the_next(ward: Ward) -> None:
    physician = ward.people[0]
    client = signed_in(physician)
    first, second, *_rest = LabelTask.objects.filter(batch=ward.batch, annotator=physician).order_by("position")
    later = f'<a href="/work/labels/{second.public_id}/">'
    page = client.get(f"/work/labels/{first.public_id}/").content.decode()
    assert page.count(later) == 1 and "Later: leave this open" in page
    assert "which you do not read" not in page
    Case.objects.filter(pk=first.case_id).update(language="zh-Hans")
    PhysicianProfile.objects.update_or_create(user=physician, defaults={"languages": ["en"]})
    page = " ".join(client.get(f"/work/labels/{first.public_id}/").content.decode().split())
    assert re.search(r"This case is in [^,]*Chinese[^,]*, which you do not read", page)
    assert page.count(later) == 2
    # The case stays open, and is there again after the others.
    last = LabelTask.objects.filter(batch=ward.batch, annotator=physician).latest("position")
    assert f'href="/work/labels/{first.public_id}/"' in client.get(f"/work/labels/{last.public_id}/").content.decode()
    first.refresh_from_db()
    assert first.status == "not_started"


def test_the_card_at_home_counts_the_cases_with_questions(ward: Ward) -> None:
    physician = ward.people[0]
    number = LabelTask.objects.filter(batch=ward.batch, annotator=physician).count()
    assert number
    figures = {str(own.label): own.value for card in navigation.home_cards(physician) for own in card.figures}
    assert figures["To label"] == number
    pause_batch(batch=ward.batch)
    figures = {str(own.label): own.value for card in navigation.home_cards(physician) for own in card.figures}
    assert "To label" not in figures


def test_a_value_belongs_to_one_question_that_is_asked(ward: Ward) -> None:
    with pytest.raises(OptionRefused, match="“urgency” already has this value") as refused:
        question(ward.benchmark, "again", options=[Option("calm", "Calm"), Option("emergent", "Emergent")])
    assert (refused.value.row, refused.value.field) == (1, "value")
    with pytest.raises(OptionRefused) as refused:
        question(ward.benchmark, "unnamed", options=[Option("new", "New"), Option("old", " ")])
    assert (refused.value.row, refused.value.field) == (1, "label")
    retire_question(question=ward.urgency)
    question(ward.benchmark, "again", options=[Option("calm", "Calm"), Option("emergent", "Emergent")])
    with pytest.raises(DomainError, match="“again”"):
        restore_question(question=ward.urgency)


@pytest.mark.parametrize(
    ("options", "kind", "sentence"),
    [
        (URGENCY[:1], "choice", "2 to 9"),
        ([Option(f"v{n}", "x") for n in range(10)], "choice", "2 to 9"),
        (LEVELS[:3], "acuity", "exactly 4"),
        ([Option("x", "One"), Option("x", "Two")], "choice", "same value"),
        ([Option("X y", "One"), Option("y", "Two")], "choice", "Lower-case"),
        ([Option("x", " "), Option("y", "Two")], "choice", "1 to 120"),
    ],
)
def test_questions_that_cannot_be(db: None, options: list[Option], kind: str, sentence: str) -> None:
    with pytest.raises(DomainError, match=sentence):
        question(BenchmarkFactory(), options=options, kind=kind)


def test_the_form_adds_and_removes_rows_and_names_the_row_at_fault(ward: Ward) -> None:
    client = signed_in(ward.admin)
    data = {
        "name": "who", "text": "Who asks?", "kind": "choice", "threshold": "66.66", "minimum_answers": "3",
        "option-0-value": "lay", "option-0-label": "Lay", "option-0-help": "",
        "option-1-value": "Not a slug", "option-1-label": "Professional", "option-1-help": "",
    }  # fmt: skip
    page = client.post("/b/ward/labels/new/", {**data, "add": "1"}).content.decode()
    assert 'name="option-2-value"' in page
    assert 'value="Not a slug"' in page  # kept as it was sent, not refused yet
    page = client.post("/b/ward/labels/new/", {**data, "remove": "0"}).content.decode()
    assert 'name="option-0-value" value="Not a slug"' in page
    assert 'name="option-1-value"' not in page
    refused = client.post("/b/ward/labels/new/", data)
    assert refused.status_code == 422
    assert refused.context["rows"].forms[0].errors == {}
    assert list(refused.context["rows"].forms[1].errors) == ["value"]
    data["option-1-value"] = "professional"
    # The questions about responses are made with their batches.
    for kind in ("read", "codes"):
        assert f'value="{kind}"' not in page
        assert "kind" in client.post("/b/ward/labels/new/", {**data, "kind": kind}).context["form"].errors
    assert client.post("/b/ward/labels/new/", data).status_code == 302
    question = LabelQuestion.objects.get(name="who")
    assert (question.threshold, question.minimum_answers) == (0.6666, 3)
    assert [option["value"] for option in question.options] == ["lay", "professional"]
    assert client.post(f"/b/ward/labels/{question.public_id}/retire/").status_code == 302
    assert LabelQuestion.objects.get(pk=question.pk).active is False


# Giving out -----------------------------------------------------------------------------------------------------------


def test_cases_are_spread_evenly_and_nobody_is_asked_twice(ward: Ward) -> None:
    group = ExpertGroupFactory(benchmark=ward.benchmark, annotators=4)
    batch = give_out(group, ward.urgency, annotators=2)
    loads = [LabelTask.objects.filter(batch=batch, annotator=user).count() for user in group.people["annotator"]]
    assert loads == [2, 2, 2, 2]  # 4 cases × 2 / 4
    with pytest.raises(DomainError, match="No cases match"):
        give_out(group, ward.urgency, annotators=2)
    again = give_out(group, ward.urgency, annotators=2, skip_given=False)
    for key in "abcd":
        rows = LabelTask.objects.filter(batch__in=(batch, again), case__key=key).values_list("annotator", flat=True)
        assert len(rows) == len(set(rows)) == 4
    with pytest.raises(DomainError, match="already been asked about them"):
        give_out(group, ward.urgency, annotators=1, skip_given=False)
    assert LabelTask.objects.filter(batch=give_out(group, ward.acuity, tags=["theme:own"])).count() == 3


def test_preview_and_batch_are_the_same_or_nothing_is_made(ward: Ward) -> None:
    client = signed_in(ward.admin)
    group = ExpertGroupFactory(benchmark=ward.benchmark, annotators=2)
    data = {
        "title": "New", "group": group.public_id, "questions": [ward.urgency.public_id], "annotators_per_case": "1",
        "seed": "9", "skip_given": "on",
    }  # fmt: skip
    page = client.get("/b/ward/labels/new-batch/preview/", data).content.decode()
    [digest] = re.findall(r'name="digest" value="(\w{64})"', page)
    assert not Batch.objects.filter(title="New").exists()
    CaseFactory(benchmark=ward.benchmark, key="e")
    assert client.post("/b/ward/labels/new-batch/", {**data, "digest": digest}).status_code == 409
    answer = client.post("/b/ward/labels/new-batch/", data)
    batch = Batch.objects.get(title="New")
    assert answer["Location"] == f"/b/ward/batches/{batch.public_id}/"
    assert LabelTask.objects.filter(batch=batch).count() == 5
    assert client.get(answer["Location"]).status_code == 200
    assert client.get("/b/ward/batches/").status_code == 200


# Answering ------------------------------------------------------------------------------------------------------------


def sent(question: LabelQuestion, value: str, version: int = 0, certainty: int | None = None) -> dict[str, Any]:
    return {
        "question": question.public_id, "value": value, "certainty": certainty, "note": "", "version": version,
        "client_id": str(uuid4()),
    }  # fmt: skip


def test_a_stale_answer_gets_409_with_the_stored_version(ward: Ward) -> None:
    task = ward.tasks("a")[0]
    client, who = signed_in(task.annotator), opaque_name(task.annotator)
    url = f"/work/labels/{task.public_id}/answers/"

    def save(answer: dict[str, Any]) -> Any:
        return client.post(url, {"who": who, "answer": answer}, content_type="application/json")

    first = sent(ward.urgency, "emergent")
    assert result_of(save(first))["version"] == 1
    assert result_of(save(first))["version"] == 1  # repeated: nothing changes
    assert result_of(save(sent(ward.urgency, "conditional", version=1)))["version"] == 2
    stale = save(sent(ward.urgency, "non-emergent", version=1))
    assert (stale.status_code, result_of(stale)["status"]) == (409, "stale")
    current = result_of(stale)["current"]
    assert (current["value"], current["version"]) == ("conditional", 2)
    assert LabelAnswer.objects.get().value == "conditional"
    other = client.post(url, {"who": "x", "answer": first}, content_type="application/json")
    assert (other.status_code, other.json()["reason"]) == (409, "somebody-else")
    assert save(sent(ward.urgency, "sideways", version=2)).status_code == 422
    assert save(sent(ward.urgency, "conditional", version=2, certainty=5)).status_code == 422
    assert save(sent(ward.acuity, "level-1", certainty=101)).status_code == 422
    assert save({**first, "value": 3}).status_code == 400


def test_everything_is_answered_before_it_is_handed_in_and_cannot_change_after(ward: Ward) -> None:
    task = ward.tasks("a")[0]
    client, who = signed_in(task.annotator), opaque_name(task.annotator)

    def post(what: str, body: dict[str, Any]) -> Any:
        return client.post(
            f"/work/labels/{task.public_id}/{what}/", {"who": who, **body}, content_type="application/json"
        )

    post("answers", {"answer": sent(ward.urgency, "emergent")})
    post("answers", {"answer": sent(ward.acuity, "level-3")})
    refused = post("submit", {})
    assert (refused.status_code, refused.json()["missing"]) == (422, [ward.acuity.public_id])  # without certainty
    post("answers", {"answer": sent(ward.acuity, "level-3", version=1, certainty=0)})
    payload = post("submit", {}).json()
    following = LabelTask.objects.get(public_id=payload["next"]["url"].split("/")[3])
    assert following.annotator == task.annotator
    assert "data-question" in payload["next"]["html"]
    assert post("answers", {"answer": sent(ward.urgency, "conditional", version=1)}).status_code == 409
    assert post("submit", {}).status_code == 409


def test_paused_and_closed_batches_take_nothing(ward: Ward) -> None:
    pause_batch(batch=ward.batch)
    with pytest.raises(Conflict, match="paused"):
        ward.say("a", "emergent")
    [work] = label_selectors.label_work(ward.people[0])
    assert not work.takes_work
    close_batch(batch=ward.batch, at=timezone.now())
    with pytest.raises(Conflict, match="closed"):
        ward.say("a", "emergent")
    page = signed_in(ward.people[0]).get(f"/work/labels/{ward.tasks('a')[0].public_id}/").content.decode()
    assert "This batch is closed." in page


def test_nobody_reaches_the_answers_of_another(ward: Ward) -> None:
    ward.say("a", "emergent", "conditional", submit=False)
    first, second = ward.tasks("a")[:2]
    client = signed_in(first.annotator)
    assert client.get(f"/work/labels/{second.public_id}/").status_code == 404
    assert client.get(f"/api/v1/work/labels/{second.public_id}/").status_code == 404
    assert client.get(f"/b/ward/labels/{ward.urgency.public_id}/").status_code == 404
    assert client.get("/api/v1/benchmarks/ward/labels/").status_code == 404
    own = client.get(f"/api/v1/work/labels/{first.public_id}/").json()
    assert [line["value"] for line in own["questions"]] == ["emergent", "level-2"]


def test_label_work_counts_and_names_the_next(ward: Ward) -> None:
    user = ward.people[0]
    assert (
        "You were assigned 4 cases to answer questions about" in signed_in(user).get("/notifications/").content.decode()
    )
    [work] = label_selectors.label_work(user, ward.benchmark)
    assert (work.total, work.done, work.started, work.next_position) == (4, 0, False, 1)
    first = LabelTask.objects.get(public_id=work.next_id)
    assert (first.annotator, first.position) == (user, 1)
    for label_question, value, certainty in ((ward.urgency, "emergent", None), (ward.acuity, "level-1", 5)):
        change = AnswerInput(label_question.public_id, value, certainty)
        save_answer(task=first, annotator=user, change=change, at=timezone.now())
    submit_labels(task=first, annotator=user, at=timezone.now())
    [work] = label_selectors.label_work(user)
    assert (work.done, work.open, work.started, work.next_position) == (1, 3, True, 2)
    page = signed_in(user).get("/work/").content.decode()
    assert f"/work/labels/{work.next_id}/" in page
    assert "Continue with case 2 of 4" in page
    assert "No work yet" not in page
    assert f"/work/labels/{work.next_id}/" in signed_in(user).get("/", follow=True).content.decode()
    assert label_selectors.label_work(UserFactory()) == []


def test_time_at_a_case_is_its_owners_and_never_more_than_the_clock_says(ward: Ward) -> None:
    task = ward.tasks("a")[0]
    client, url = signed_in(task.annotator), f"/work/labels/{task.public_id}/time/"

    def report(seconds: object) -> int:
        return client.post(url, {"seconds": seconds}, content_type="application/json").status_code

    with time_machine.travel("2026-03-17 12:00", tick=False) as clock:
        assert report(0) == 204  # starts the clock
        clock.shift(150)
        assert report(3000) == 204
        assert report(60) == 204  # a second tab: no time has passed
        ward.say("a", "emergent")
        clock.shift(100)
        assert report(40) == 204  # the last of it, once handed in
    assert report(-1) == 400
    [work] = label_selectors.label_work(task.annotator)
    assert work.seconds == 190
    page = client.get("/work/in/ward/").content.decode()
    assert "3 min of your time" in page
    assert "Time you spent here: 3 min" in page
    other = signed_in(ward.people[1])
    assert other.post(url, {"seconds": 1}, content_type="application/json").status_code == 404


def test_open_cases_of_who_leaves_go_to_others_and_nobody_is_asked_twice(ward: Ward) -> None:
    group = ExpertGroupFactory(benchmark=ward.benchmark, annotators=3)
    batch = give_out(group, ward.urgency, annotators=1)  # 4 cases: 2, 1 and 1
    first, second, leaver = sorted(
        group.people["annotator"], key=lambda user: LabelTask.objects.filter(batch=batch, annotator=user).count()
    )
    held = UserFactory()
    Membership.objects.create(
        group=group, user=held, role="annotator", created_at=timezone.now(), withheld_at=timezone.now()
    )
    task, other = LabelTask.objects.filter(batch=batch, annotator=leaver).order_by("position")
    answer = AnswerInput(ward.urgency.public_id, "emergent")
    save_answer(task=task, annotator=leaver, change=answer, at=timezone.now())
    LabelTask.objects.create(batch=ward.batch, case=task.case, annotator=first)  # was asked that before
    Membership.objects.filter(group=group, user=leaver).update(active=False)
    client, page = signed_in(ward.admin), f"/b/ward/batches/{batch.public_id}/"
    name = Physician.objects.get(user=leaver, benchmark=ward.benchmark).pseudonym
    assert f"{page}handover/?physician={quote(name)}" in client.get(page).content.decode()
    offered = client.get(f"{page}handover/", {"physician": name})
    assert [(taker.user, load, may) for taker, load, may in offered.context["takers"]] == [
        (second.pk, 1, 2), (first.pk, 1, 1),
    ]  # fmt: skip
    content = client.post(f"{page}handover/", {"physician": name, "to": "spread"}, follow=True).content.decode()
    assert "2 cases were handed over." in content
    rows = LabelTask.objects.filter(batch=batch, case__in=(task.case, other.case)).exclude(annotator=leaver)
    assert dict(rows.values_list("case", "annotator")) == {task.case_id: second.pk, other.case_id: first.pk}
    assert set(LabelTask.objects.filter(batch=batch, annotator=leaver).values_list("status")) == {("released",)}
    assert LabelAnswer.objects.get().task == task
    assert [label_selectors.label_work(user)[0].open for user in (first, second)] == [2, 2]
    assert Notification.objects.filter(user=second, kind="new_work").latest("pk").values["count"] == 1
    # Of the ward's three each, and one here; the case that was asked about once more has one more.
    counts_by_case = {case.key: case.n_annotators for case in label_selectors.results_of(ward.urgency).cases}
    assert counts_by_case == {key: 5 if key == task.case.key else 4 for key in "abcd"}
    again = client.post(f"{page}handover/", {"physician": name, "to": "spread"}, follow=True).content.decode()
    assert "already been submitted or reassigned" in again


def test_the_api_saves_and_hands_in(ward: Ward) -> None:
    task = ward.tasks("b")[0]
    client = signed_in(task.annotator)
    url = f"/api/v1/work/labels/{task.public_id}/"
    answers = ({"question": ward.urgency.public_id, "value": "emergent"},
               {"question": ward.acuity.public_id, "value": "level-4", "certainty": 90})  # fmt: skip
    for answer in answers:
        assert client.post(url + "answers/", answer, content_type="application/json").status_code == 200
    stale = client.post(url + "answers/", answers[0], content_type="application/json")
    assert (stale.status_code, stale.json()["current"]["version"]) == (409, 1)
    unknown = client.post(url + "answers/", {**answers[0], "task": 1}, content_type="application/json")
    assert unknown.status_code == 400
    assert client.post(url + "submit/").json()["status"] == "submitted"
    assert client.get("/api/v1/work/labels/").json()["count"] == 4


# Results and tags -----------------------------------------------------------------------------------------------------


def test_results_by_hand(ward: Ward) -> None:
    ward.say("a", "emergent", "emergent", "emergent")
    ward.say("b", "emergent", "emergent", "conditional")  # 2/3 < 0.75
    ward.say("c", "emergent")  # too few
    ward.say("d", "emergent", "emergent", submit=False)  # not handed in
    client = signed_in(ward.admin)
    url = f"/b/ward/labels/{ward.urgency.public_id}/"
    page = client.get(url)
    results = page.context["results"]
    assert [str(case.summary.state) for case in results.cases] == ["agreed", "open", "few", "few"]
    assert [case.summary.n for case in results.cases] == [3, 3, 1, 0]
    # Units a and b: o(e,e) = 3 + 1, o(e,c) = o(c,e) = 1; n = 6, n(e) = 5, n(c) = 1; Do = 2/6, De = 10/30; alpha = 0.
    assert results.alpha.value == pytest.approx(0)
    assert results.alpha.n == 2
    shown = client.get(url, {"show": "agreed"}).context["page_obj"].object_list
    assert [case.key for case in shown] == ["a"]
    rows = list(csv.DictReader(io.StringIO(b"".join(client.get(url + "cases.csv")).decode())))
    assert [(row["case"], row["n_emergent"], row["majority"], row["state"]) for row in rows] == [
        ("a", "3", "emergent", "agreed"), ("b", "2", "emergent", "not_agreed"), ("c", "1", "emergent", "too_few"),
        ("d", "0", "", "too_few"),
    ]  # fmt: skip
    agreement = {
        row["figure"]: row for row in csv.DictReader(io.StringIO(b"".join(client.get(url + "agreement.csv")).decode()))
    }
    assert (float(agreement["alpha"]["value"]), agreement["alpha"]["n_cases"]) == (pytest.approx(0), "2")
    assert agreement["fleiss_kappa"]["note"] == "unequal numbers of ratings: 1 to 3 an item"
    answers = list(csv.DictReader(io.StringIO(b"".join(client.get(url + "answers.csv")).decode())))
    assert len(answers) == 7
    assert not {row["physician"] for row in answers} & {user.name for user in ward.people}
    acuity = client.get(f"/api/v1/benchmarks/ward/labels/{ward.acuity.public_id}/").json()
    assert acuity["cases"][0] | {"share": None} == {
        "case": "a", "asked": 3, "answers": 3, "counts": [0, 3, 0, 0], "majority": "level-2", "share": None,
        "dispersion": None, "level": 2.0, "spread": 0.0, "certainty": 60.0, "state": "agreed",
    }  # fmt: skip
    assert acuity["alpha"]["value"] is None  # everybody said the same
    figures = {figure["figure"]: figure for figure in acuity["agreement"]}
    assert list(figures) == ["alpha", "fleiss_kappa", "icc1", "icc2", "icc3", "icc1k", "icc2k", "icc3k"]
    assert figures["icc1"]["note"] == "constant ratings"
    assert [row["agreed"] for row in client.get("/api/v1/benchmarks/ward/labels/").json()] == [1, 2]


def tags(ward: Ward) -> dict[str, list[str]]:
    return dict(ward.benchmark.cases.order_by("key").values_list("key", "label_tags"))


def test_tags_are_written_anew_each_time(ward: Ward) -> None:
    ward.say("a", "emergent", "emergent", "emergent")
    ward.say("b", "emergent", "conditional", "non-emergent")
    both = ["physician_agreed_category:emergent", "physician_agreed_category:level-2"]
    assert write_tags(benchmark=ward.benchmark, at=timezone.now()) == 2
    assert tags(ward) == {"a": both, "b": both[1:], "c": [], "d": []}
    assert write_tags(benchmark=ward.benchmark, at=timezone.now()) == 0
    retire_question(question=ward.acuity)
    client = signed_in(ward.admin)
    assert client.get("/b/ward/labels/").context["changes"] == 2
    client.post("/b/ward/labels/write-tags/")
    assert tags(ward) == {"a": both[:1], "b": [], "c": [], "d": []}
    assert both[0] in client.get(f"/b/ward/cases/{ward.tasks('a')[0].case.public_id}/").content.decode()


def test_agreed_values_are_slices_of_scores_and_of_agreement(ward: Ward) -> None:
    """Case a is met throughout, case b not at all: the slice of a alone scores 1, the whole 0.5."""
    candidate = CandidateFactory(benchmark=ward.benchmark)
    for task in (ward.tasks("a")[0], ward.tasks("b")[0]):
        ResponseFactory(case=task.case, candidate=candidate)
    group = ExpertGroupFactory(benchmark=ward.benchmark, name="Graders", annotators=1)
    for row in Assignment.objects.filter(batch=make_batch(group)).select_related("annotator", "case"):
        decide(row, "met" if row.case.key == "a" else "not_met")
    ward.say("a", "emergent", "emergent", "emergent")
    retire_question(question=ward.acuity)
    write_tags(benchmark=ward.benchmark, at=timezone.now())
    result = compute_scores(ward.benchmark, resolve_rater(ward.benchmark, "group:Graders@first"), 1)
    scores = {row["slice"]: row["rubric_score"] for row in result.rows}
    assert scores["overall_score"] == 0.5
    assert scores["physician_agreed_category:emergent"] == 1
    names = {part.name: part.cases.tolist() for part in read_frame(ward.benchmark).slices}
    assert names["physician_agreed_category:emergent"] == [True, False, False, False]


def test_a_page_costs_the_same_with_more_cases(ward: Ward) -> None:
    client = signed_in(ward.admin)
    urls = ("/b/ward/labels/", f"/b/ward/labels/{ward.urgency.public_id}/")

    def count() -> list[int]:
        query_counts = []
        for url in urls:
            with CaptureQueriesContext(
                connection,
            ) as seen:
                assert client.get(url).status_code == 200
            query_counts.append(len(seen))
        return query_counts

    ward.say("a", "emergent", "emergent", "emergent")
    before = count()
    for key in "bcd":
        ward.say(key, "emergent", "emergent", "emergent")
    assert count() == before


def test_batches_of_questions_are_no_batches_of_responses(ward: Ward, client: Client) -> None:
    give_out(ExpertGroupFactory(benchmark=ward.benchmark, annotators=3), ward.urgency)
    client.force_login(ward.admin)
    page = client.get(f"/b/{ward.benchmark.slug}/").content.decode()
    step = page[page.index("Assign a batch of responses to each group") :].split("</li>")[0]
    assert "A batch defines who grades which responses" in step  # it is shown until the step is done


@pytest.mark.django_db
@pytest.mark.slow
def test_the_api_counts_the_work_of_a_batch_of_questions_as_the_page_does() -> None:
    ward = build_ward()
    ward.say("a", "emergent", "emergent", "conditional")
    ward.say("b", "emergent", submit=False)
    client = Client()
    client.force_login(ward.admin)
    url = f"/api/v1/benchmarks/ward/batches/{ward.batch.public_id}/"
    expected = {
        "accepted": 3, "draft": 1, "not_started": 8, "returned": 0, "submitted": 0, "in_check": 0, "free": 0,
        "not_checked": 0, "not_done": 0,
    }  # fmt: skip
    assert client.get(url).json()["progress"] == expected
    assert client.get("/api/v1/benchmarks/ward/batches/").json()["results"][0]["progress"] == expected
    page = " ".join(re.sub(r"<[^>]+>", " ", client.get("/b/ward/batches/").content.decode()).split())
    assert "3 of 12" in page


@pytest.mark.django_db
def test_the_api_lists_tasks_with_the_ids_of_batch_and_benchmark_and_of_one_benchmark() -> None:
    ward = build_ward()
    client = Client()
    client.force_login(ward.people[0])
    rows = client.get("/api/v1/work/labels/", {"benchmark": "ward"}).json()["results"]
    assert [(row["benchmark"], row["batch"], row["batch_title"]) for row in rows] == [
        ("ward", ward.batch.public_id, "Labels")
    ] * 4
    assert client.get("/api/v1/work/labels/", {"benchmark": "other"}).status_code == 404
