"""Votes on a scale of urgency: the question, what a vote may be, its freezing, and what the panel comes to."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from threading import Thread
from time import sleep
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.translation import override

from accounts.identity import opaque_name
from accounts.models import User
from annotation.acuity.votes import panel_of
from annotation.labels.batches import write_tags
from annotation.labels.selectors import level_results_of, question_counts, question_lines
from annotation.labels.services import (
    AnswerInput,
    QuestionInput,
    Unlabelled,
    change_question,
    save_answer,
    submit_labels,
)
from annotation.models import Batch, LabelAnswer, LabelQuestion, LabelTask
from consilium.core.errors import Conflict, DomainError
from consilium.core.versioning import StaleSave
from rubrics.acuity.scales import FOUR
from rubrics.acuity.services import make_scale
from rubrics.models import AcuityScale, Case, SourceLabel
from tests.annotation.labels.labels_world import Panel, build_panel, build_ward, give_out, level_question, question

pytestmark = pytest.mark.slow

LEVELS = ["self-care", "primary-care", "urgent-care", "emergency"]


@pytest.fixture
def panel(db: None) -> Panel:
    return build_panel()


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


# The question ---------------------------------------------------------------------------------------------------------


def test_a_question_on_a_scale_has_its_levels_and_three_votes(panel: Panel) -> None:
    question = panel.question
    assert question.minimum_answers == 3
    assert question.options == []
    assert [choice["value"] for choice in question.choices] == LEVELS
    assert question.choices[3]["help"] == "Needs what only an emergency department or ambulance has, now."
    # A second question may be on the same scale, since its levels are no tags.
    assert level_question(panel.benchmark, "again").scale == question.scale
    assert level_question(panel.benchmark, "coarse", "three").scale != question.scale
    with pytest.raises(DomainError, match="no scale “seven”"):
        level_question(panel.benchmark, "other", "seven")


def test_the_form_makes_a_question_on_a_scale(panel: Panel) -> None:
    client = signed_in(panel.admin)
    page = client.get("/b/panel/labels/new/?from=level-of-care").content.decode()
    assert '<option value="levels" selected>' in page
    assert "Should be seen within 24 to 48 hours" in page
    data = {"name": "soon", "text": "How soon?", "kind": "levels", "scale": "three", "threshold": "75"}
    assert client.post("/b/panel/labels/new/", data).status_code == 302
    question = LabelQuestion.objects.select_related("scale").get(name="soon")
    assert (question.scale.name, question.minimum_answers, question.options) == ("three", 3, [])
    assert client.post("/b/panel/labels/new/", {**data, "scale": "seven"}).status_code == 422
    url = f"/b/panel/labels/{question.public_id}/edit/"
    assert client.post(url, {**data, "scale": "five", "minimum_answers": "5"}).status_code == 302
    question = LabelQuestion.objects.select_related("scale").get(name="soon")
    assert (question.scale.name, question.minimum_answers) == ("five", 5)


def test_pages_of_a_scale_and_of_another_benchmark_are_missing_for_a_question(panel: Panel) -> None:
    client = signed_in(panel.admin)
    other = build_ward()
    plain = question(panel.benchmark, "plain")
    assert client.get(f"/b/panel/labels/{plain.public_id}/").status_code == 200
    for end in ("moves.csv", "rulings.csv"):
        assert client.get(f"/b/panel/labels/{panel.question.public_id}/{end}").status_code == 200
        assert client.get(f"/b/panel/labels/{plain.public_id}/{end}").status_code == 404
    foreign = LabelQuestion.objects.filter(benchmark=other.benchmark).first()
    assert foreign is not None
    assert client.get(f"/b/panel/labels/{foreign.public_id}/").status_code == 404


def test_a_question_keeps_its_scale_once_there_is_a_vote(panel: Panel) -> None:
    panel.vote(panel.tasks("a")[0], "self-care")
    newer = make_scale(benchmark=panel.benchmark, scale=type(FOUR)("four", FOUR.levels[1:]), by=None, at=timezone.now())
    assert newer.version == 2
    same = QuestionInput("care", panel.question.text, "levels", [], scale="four", minimum_answers=4)
    change_question(question=panel.question, question_input=same, at=timezone.now())
    assert panel.question.scale.version == 1
    for other in (
        QuestionInput("care", panel.question.text, "levels", [], scale="three"),
        QuestionInput("care", "Other words", "levels", [], scale="four"),
    ):
        with pytest.raises(Conflict, match="can no longer be changed"):
            change_question(question=panel.question, question_input=other, at=timezone.now())


# A vote ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("level", "certainty", "more", "sentence"),
    [
        ("nothing", 50, {}, "not one of the levels"),
        ("self-care|urgent-care", 50, {}, "the next level up"),
        ("urgent-care|primary-care", 50, {}, "the next level up"),
        ("emergency|emergency", 50, {}, "the next level up"),
        ("self-care", 52, {}, "a multiple of 5"),
        ("self-care", 105, {}, "0 to 100"),
        ("self-care", 50, {"reason": "other"}, "A reason can be given only for “cannot tell”"),
        ("cannot-tell", 50, {"reason": "other"}, "cannot be combined with a level or a certainty"),
        ("cannot-tell|self-care", None, {"reason": "other"}, "cannot be combined with a level or a certainty"),
        ("cannot-tell", None, {"reason": "tired"}, "not one of the reasons"),
    ],
)
def test_votes_that_cannot_be(
    panel: Panel, level: str, certainty: int | None, more: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(DomainError, match=sentence):
        panel.vote(panel.tasks("a")[0], level, certainty, **more)
    assert not LabelAnswer.objects.exists()


def test_a_level_needs_a_certainty_and_cannot_tell_a_reason_to_be_handed_in(panel: Panel) -> None:
    task = panel.tasks("a")[0]
    for level, certainty, more in (("urgent-care|emergency", None, {}), ("cannot-tell", None, {})):
        panel.vote(task, level, certainty, **more)
        with pytest.raises(Unlabelled):
            submit_labels(task=task, annotator=task.annotator, at=timezone.now())
    panel.vote(task, "cannot-tell", None, reason="several-problems")
    submit_labels(task=task, annotator=task.annotator, at=timezone.now())
    answer = LabelAnswer.objects.get()
    assert (answer.value, answer.upper, answer.certainty, answer.reason) == (
        "cannot-tell", "", None, "several-problems",
    )  # fmt: skip


def refused(sentence: str, sql: str, *parameters: object) -> None:
    with pytest.raises(DatabaseError, match=sentence), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql, parameters)


def test_the_database_holds_what_a_vote_is(panel: Panel) -> None:
    refused("annotation_question_scale", "UPDATE annotation_labelquestion SET scale_id = NULL")
    panel.vote(panel.tasks("a")[0], "self-care")
    for change, sentence in (
        ("value = 'nothing'", "level of the scale"),
        ("upper = 'urgent-care'", "the next one up"),
        ("value = 'emergency', upper = 'self-care'", "the next one up"),
        ("value = 'cannot-tell'", "annotation_labelanswer_cannot_tell"),
        ("value = 'cannot-tell', certainty = NULL, upper = 'self-care'", "annotation_labelanswer_cannot_tell"),
        ("reason = 'other'", "annotation_labelanswer_reason"),
        ("certainty = 101", "annotation_labelanswer_certainty"),
    ):
        refused(sentence, f"UPDATE annotation_labelanswer SET {change}")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE annotation_labelanswer SET upper = 'primary-care'")
        cursor.execute("UPDATE annotation_labelanswer SET value = 'cannot-tell', upper = '', certainty = NULL")
        cursor.execute("UPDATE annotation_labelanswer SET reason = 'no-request'")
    refused("annotation_question_scale", "UPDATE annotation_labelquestion SET kind = 'choice'")


def test_an_answer_without_a_scale_has_no_upper_level_and_no_reason(panel: Panel) -> None:
    choice = question(panel.benchmark)
    task = panel.tasks("a")[0]
    sql = (
        "INSERT INTO annotation_labelanswer (task_id, question_id, value, upper, reason, note, version, created_at, "
        "updated_at) VALUES (%s, %s, 'emergent', %s, %s, '', 1, now(), now())"
    )
    refused("Only votes on a scale", sql, task.pk, choice.pk, "conditional", "")
    with connection.cursor() as cursor:
        cursor.execute(sql, (task.pk, choice.pk, "", ""))


def test_votes_are_frozen_once_they_are_handed_in(panel: Panel) -> None:
    panel.say("a", "self-care")
    task = panel.tasks("a")[0]
    for change in ("value = 'emergency'", "certainty = 5", "note = 'later'"):
        refused("never changes", f"UPDATE annotation_labelanswer SET {change}")
    refused("never_deleted|Cannot delete", "DELETE FROM annotation_labelanswer")
    refused("stay handed in", "UPDATE annotation_labeltask SET status = 'draft' WHERE id = %s", task.pk)
    refused(
        "never changes",
        "INSERT INTO annotation_labelanswer (task_id, question_id, value, upper, reason, note, version, created_at, "
        "updated_at) VALUES (%s, %s, 'self-care', '', '', '', 1, now(), now())",
        task.pk, level_question(panel.benchmark, "late").pk,
    )  # fmt: skip


# Pages and API --------------------------------------------------------------------------------------------------------


def test_a_vote_is_saved_over_the_page_and_a_repeat_or_a_stale_one_overwrites_nothing(panel: Panel) -> None:
    task = panel.tasks("a")[0]
    client = signed_in(task.annotator)
    url = f"/work/labels/{task.public_id}/answers/"
    answer = {
        "question": panel.question.public_id, "value": "urgent-care", "upper": "emergency", "reason": "",
        "certainty": 75, "note": "", "version": 0, "client_id": str(uuid4()),
    }  # fmt: skip

    def send(**change: Any) -> Any:
        body = {"who": opaque_name(task.annotator), "answer": {**answer, **change}}
        return client.post(url, body, content_type="application/json")

    for _repeat in (1, 2):
        saved = send().json()["results"][0]
        assert (saved["version"], saved["current"]["upper"]) == (1, "emergency")
    stale = send(upper="", client_id=str(uuid4()))
    assert stale.status_code == 409
    assert stale.json()["results"][0]["current"]["upper"] == "emergency"
    assert send(upper="self-care", version=1, client_id=str(uuid4())).status_code == 422
    assert send(upper=5, version=1).status_code == 400
    # A browser that was open before there were votes sends neither.
    old = {name: value for name, value in answer.items() if name not in ("upper", "reason")}
    old |= {"version": 1, "client_id": str(uuid4())}
    body = {"who": opaque_name(task.annotator), "answer": old}
    assert client.post(url, body, content_type="application/json").status_code == 200
    stored = LabelAnswer.objects.get()
    assert (stored.value, stored.upper, stored.certainty, stored.version) == ("urgent-care", "", 75, 2)
    # Among them are two savepoints of the tests' own transaction.
    with CaptureQueriesContext(connection) as statements:
        assert send(version=2, client_id=str(uuid4())).status_code == 200
    assert len(statements) <= 7, [statement["sql"] for statement in statements]


def test_the_api_takes_and_gives_votes(panel: Panel) -> None:
    task = panel.tasks("a")[0]
    client = signed_in(task.annotator)
    url = f"/api/v1/work/labels/{task.public_id}/"
    vote = {"question": panel.question.public_id, "value": "primary-care", "upper": "urgent-care", "certainty": 40}
    reply = client.post(f"{url}answers/", vote, content_type="application/json")
    assert reply.status_code == 200, reply.content
    line = reply.json()["questions"][0]
    assert line["levels"]
    assert line["acuity"]
    assert [line[name] for name in ("value", "upper", "reason", "certainty")] == [
        "primary-care", "urgent-care", "", 40,
    ]  # fmt: skip
    stale = client.post(f"{url}answers/", {**vote, "upper": ""}, content_type="application/json")
    assert (stale.status_code, stale.json()["current"]["upper"]) == (409, "urgent-care")
    unsure = {"question": vote["question"], "value": "cannot-tell", "reason": "no-request", "version": 1}
    assert client.post(f"{url}answers/", {**unsure, "reason": "x"}, content_type="application/json").status_code == 400
    line = client.post(f"{url}answers/", unsure, content_type="application/json").json()["questions"][0]
    assert [line[name] for name in ("value", "upper", "reason", "certainty")] == [
        "cannot-tell", "", "no-request", None,
    ]  # fmt: skip
    assert client.post(f"{url}submit/").json()["status"] == "submitted"


def test_nobody_sees_another_vote_a_label_or_a_reading(panel: Panel, tmp_path: Path) -> None:
    """The page of one physician is the same whatever the others voted, and whatever is known about the case."""
    tasks = panel.tasks("a")
    client = signed_in(tasks[0].annotator)
    url = f"/work/labels/{tasks[0].public_id}/"
    before = [client.get(url).content, client.get(f"/api/v1/work/labels/{tasks[0].public_id}/").content]
    for task in tasks[1:]:
        panel.vote(task, "emergency", 95, note="a word of another physician")
        submit_labels(task=task, annotator=task.annotator, at=timezone.now())
    file = tmp_path / "readings.csv"
    file.write_text("case,candidate,format,level,reference\na,Model A,qa,emergency,urgent-care\n")
    call_command("import_acuity", str(file), "--benchmark", "panel", "--dataset", "known", stdout=io.StringIO())
    assert SourceLabel.objects.get().case.key == "a"
    after = [client.get(url).content, client.get(f"/api/v1/work/labels/{tasks[0].public_id}/").content]
    assert [_without_tokens(page) for page in after] == [_without_tokens(page) for page in before]
    assert client.get(f"/b/panel/labels/{panel.question.public_id}/").status_code == 404
    assert client.get(f"/b/panel/labels/{panel.question.public_id}/answers.csv").status_code == 404


def _without_tokens(page: bytes) -> bytes:
    return re.sub(rb'(csrfmiddlewaretoken" value|nonce|X-CSRFToken[^:]*)[="\': ]+[^"\']+', b"", page)


# The panel ------------------------------------------------------------------------------------------------------------


def test_results_by_hand(panel: Panel) -> None:
    panel.say("a", "self-care", "self-care", "self-care", "primary-care", "primary-care")  # 3-2: 0.6
    panel.say("b", "self-care", "self-care", "self-care", "self-care", "urgent-care")  # two apart: 1.6
    panel.say("c", "urgent-care|emergency", "urgent-care|emergency", "urgent-care|emergency")
    panel.say("d", "cannot-tell", "cannot-tell", "cannot-tell", "self-care", "self-care")
    results = level_results_of(panel.question)
    assert [(case.key, str(case.status)) for case in results.cases] == [
        ("a", "clear"), ("b", "ambiguous"), ("c", "boundary"), ("d", "set-aside"),
    ]  # fmt: skip
    a, b, c, d = results.cases
    assert a.shares == [0.6, 0.4, 0, 0]
    assert (a.dispersion, b.dispersion, c.dispersion) == (0.6, 1.6, 0)
    assert c.shares == [0, 0, 0.5, 0.5]
    assert [results.reference(case) for case in (a, c)] == ["Self-care", "Urgent care / Emergency"]
    assert (d.panel.m, d.panel.n_cannot_tell, d.n_annotators) == (2, 3, 5)
    assert results.reasons == [("A fact is missing", 3)]
    assert [votes for _value, _label, votes, _cases in results.levels] == [9, 2, 2.5, 1.5]
    count = next(each for each in question_counts(panel.benchmark) if each.question == panel.question)
    assert (count.answers, count.cases, count.agreed) == (18, 4, 2)
    write_tags(benchmark=panel.benchmark, at=timezone.now())
    assert not Case.objects.exclude(label_tags=[]).exists()


def test_the_result_page_and_files(panel: Panel) -> None:
    panel.say("a", "self-care", "self-care", "primary-care|urgent-care", "cannot-tell")
    panel.say("b", "emergency")
    client = signed_in(panel.admin)
    url = f"/b/panel/labels/{panel.question.public_id}/"
    page = client.get(url).content.decode()
    assert "Too few votes" in page
    assert "A fact is missing" in page
    assert client.get(f"{url}?show=clear").context["lines"][0][1] == "Self-care"
    assert client.get("/b/panel/labels/").status_code == 200

    def rows(name: str) -> list[dict[str, str]]:
        body = b"".join(client.get(f"{url}{name}.csv").streaming_content).decode()  # type: ignore[attr-defined]
        return list(csv.DictReader(io.StringIO(body)))

    cases = {row["case"]: row for row in rows("cases")}
    assert cases["a"]["q_self-care"] == repr(2 / 3)
    assert [cases["a"][name] for name in ("asked", "m", "cannot_tell", "low", "high", "panel_status")] == [
        "5", "3", "1", "self-care", "self-care", "clear",
    ]  # fmt: skip
    # Of the pairs, one is 0 and two are 1 apart by the nearest levels.
    assert cases["a"]["dispersion"] == repr(2 / 3)
    assert (cases["b"]["dispersion"], cases["c"]["low"], cases["c"]["panel_status"]) == ("", "", "too-few")
    votes = rows("answers")
    assert [*votes[0]] == ["case", "physician", "round", "level", "certainty", "note"]
    assert sorted((row["case"], row["level"], row["certainty"]) for row in votes) == [
        ("a", "cannot-tell", ""), ("a", "primary-care|urgent-care", "50"), ("a", "self-care", "50"),
        ("a", "self-care", "50"), ("b", "emergency", "50"),
    ]  # fmt: skip
    assert [row["figure"] for row in rows("agreement")] == ["alpha_ordinal_single", "alpha_set"]
    api = client.get(f"/api/v1/benchmarks/panel/labels/{panel.question.public_id}/").json()
    assert api["scale"] == "four"
    assert [api["cases"][0][name] for name in ("low", "cannot_tell", "panel_status")] == ["self-care", 1, "clear"]
    assert api["cases"][2]["dispersion"] is None
    listed = client.get("/api/v1/benchmarks/panel/labels/").json()
    assert [option["value"] for option in listed[0]["options"]] == LEVELS


def test_one_vote_of_a_physician_counts_over_all_questions_on_the_scale(panel: Panel) -> None:
    panel.say("a", "self-care", "self-care", "self-care")
    again = level_question(panel.benchmark, "again")
    batch = give_out(panel.group, again, annotators=5, seed=9, skip_given=False)
    later = Panel(panel.benchmark, panel.admin, panel.group, again, batch)
    later.say("a", "emergency")
    later.vote(later.tasks("a")[1], "emergency")  # not handed in
    scale = AcuityScale.objects.get(benchmark=panel.benchmark, name="four")
    (case,) = panel_of(panel.benchmark, scale).values()
    assert sorted(case.low.tolist()) == [0, 0, 3]
    assert [*panel_of(panel.benchmark, scale)] == [Case.objects.get(key="a").pk]
    assert level_results_of(panel.question).cases[0].panel.m == 3


def test_lines_say_what_is_complete(panel: Panel) -> None:
    task = panel.tasks("a")[0]
    panel.vote(task, "cannot-tell", None)
    (line,) = question_lines(task)
    assert line.levels
    assert line.cannot_tell
    assert not line.answered
    assert [option.value for option in line.options] == LEVELS
    panel.vote(task, "cannot-tell", None, reason="other")
    assert not question_lines(LabelTask.objects.get(pk=task.pk))[0].answered
    with pytest.raises(Unlabelled):
        submit_labels(task=task, annotator=task.annotator, at=timezone.now())
    panel.vote(task, "cannot-tell", None, reason="other", note="Two people ask.")
    assert question_lines(LabelTask.objects.get(pk=task.pk))[0].answered


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("version", [0, 1])
def test_of_two_saves_at_once_one_is_stale(version: int) -> None:
    panel = build_panel()
    task = panel.tasks("a")[0]
    if version:
        panel.vote(task, "self-care")
    outcomes: list[object] = []

    def save(level: str) -> None:
        change = AnswerInput(panel.question.public_id, level, 50, version=version, client_id=uuid4())
        own = LabelTask.objects.select_related("annotator").get(pk=task.pk)
        save_answer(task=own, annotator=own.annotator, change=change, at=timezone.now())

    def save_later() -> None:
        try:
            save("emergency")
        except StaleSave as stale:
            outcomes.append(stale.current.value)
        finally:
            connection.close()

    thread = Thread(target=save_later)
    with transaction.atomic():
        save("urgent-care")
        thread.start()
        sleep(0.3)
        assert thread.is_alive()
    thread.join(60)
    assert outcomes == ["urgent-care"]
    answer = LabelAnswer.objects.get()
    assert (answer.value, answer.version) == ("urgent-care", version + 1)


def test_the_page_says_what_decides_and_which_cases_are_already_assigned(panel: Panel) -> None:
    """The same shares, once with a median on a level and once on a border."""
    panel.say("a", "self-care", "self-care", "self-care", "primary-care", "primary-care")
    border = "self-care|primary-care"
    panel.say("b", "self-care", "self-care", border, border, "primary-care")
    results = level_results_of(panel.question)
    assert results.cases[0].shares == results.cases[1].shares == [0.6, 0.4, 0, 0]
    assert [str(case.status) for case in results.cases[:2]] == ["clear", "boundary"]
    assert [case.n_between for case in results.cases[:2]] == [0, 2]
    client = signed_in(panel.admin)
    url = f"/b/panel/labels/{panel.question.public_id}/"
    page = " ".join(client.get(url).content.decode().split())
    assert "2 between levels" in page and "The reference is the median of the votes" in page
    assert "2 cases have fewer than 3 votes" in page and "All of them are already assigned." in page
    assert "Assign cases" not in page
    Batch.objects.filter(pk=panel.batch.pk).update(status=Batch.Status.CLOSED, closed_at=timezone.now())
    page = " ".join(client.get(url).content.decode().split())
    assert "already assigned" not in page and "Assign cases" in page


def test_the_question_of_a_shipped_scale_is_in_the_readers_language(panel: Panel) -> None:
    question = panel.question
    question.text = "What care does this case need, as it is described, and how soon?"
    with override("zh-hans"):
        assert question.shown_text == "按所述情况，该病例需要何种医疗照护？需在多久之内得到？"
        question.text = "Note"  # in the catalogue as well, but somebody wrote it
        assert question.shown_text == "Note"
