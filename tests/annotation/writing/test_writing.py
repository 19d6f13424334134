"""Responses that physicians write: who may, what they see, what is kept of it, and that nothing is lost on the way."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from accounts.identity import opaque_name
from accounts.models import Notification, User
from accounts.notices import words_of
from annotation.models import Assignment, Batch, Physician, WritingTask
from annotation.services import BatchTerms, ResponseFilter, close_batch, pause_batch, plan_batch
from annotation.writing.batches import create_writing_batch, take_back
from annotation.writing.exclusions import ExclusionReason, excluded_writers
from annotation.writing.selectors import count_words
from annotation.writing.services import TextInput, hand_in, record_time, save_text
from annotation.writing.writing_plan import WritingFilter
from consilium.core.errors import Conflict, DomainError
from rubrics.models import AuthoringTime, Candidate, Response, Rubric, RubricContributor
from tests.annotation.writing.writing_world import WritingWorld, build_writing_world
from tests.factories import (
    BenchmarkFactory,
    CandidateFactory,
    ExpertGroupFactory,
    ResponseFactory,
    decide,
    make_batch,
    member,
)
from tests.results import result_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(db: None) -> WritingWorld:
    return build_writing_world()


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def post(client: Client, task: WritingTask, endpoint: str, **body: Any) -> Any:
    """As the page sends it."""
    who = {} if endpoint in ("check", "time") else {"who": opaque_name(task.writer)}
    return client.post(
        f"/writing/{task.public_id}/{endpoint}/", json.dumps(who | body), content_type="application/json"
    )


def draft(text: str, version: int = 1, reference: int | None = None) -> dict[str, Any]:
    return {"text": text, "reference": reference, "version": version, "client_id": str(uuid4())}


def write(task: WritingTask, text: str = "Rest, and drink.", **more: Any) -> Response:
    now = timezone.now()
    saved = save_text(task=task, writer=task.writer, change=TextInput(text, version=task.version, **more), at=now)
    return hand_in(task=task, writer=task.writer, version=saved.version, attested=True, at=now)


# Who writes what ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_who_knows_an_answer_or_the_rubric_does_not_write_unaided(world: WritingWorld) -> None:
    now = timezone.now()
    graded = make_batch(world.group, cases=["a"], candidates=[world.models[0].public_id])
    reader = Assignment.objects.get(batch=graded).annotator  # it was given to them, and never opened
    author, third = (user for user in world.people if user != reader)
    rubric = Rubric.objects.get(case=world.cases["b"])
    RubricContributor.objects.create(rubric=rubric, user=author, first_at=now, last_at=now)
    world.cases["d"].excluded_at, world.cases["d"].exclusion_reason = now, "Saturated"
    world.cases["d"].save()
    everybody = world.plan(writers_per_case=3)
    assert (everybody.matching, everybody.without_writers) == (3, 2)
    assert everybody.cases == (world.cases["c"].pk,)
    assert [line.split(" because ")[0] for line in everybody.left_out] == ["1 physician cannot be assigned 1 case"] * 2
    batch = world.give_out(writers_per_case=2)
    writers = {
        key: {task.writer for task in WritingTask.objects.filter(batch=batch, case=world.cases[key])} for key in "abd"
    }
    assert writers == {"a": {author, third}, "b": {reader, third}, "d": set()}
    assert batch.frame["in_frame"] == 3
    # Who is to write to a case does not do so twice, nor beside references first.
    with pytest.raises(DomainError, match="or will write"):
        world.plan(writers_per_case=2, candidate="another")


def test_who_had_the_editor_of_a_case_open_has_read_its_rubric(world: WritingWorld) -> None:
    case, user = world.cases["a"].pk, world.people[0].pk
    arguments: dict[str, Any] = {"mode": "unaided", "candidate": None, "cases": [case], "people": [user]}
    assert excluded_writers(**arguments)[ExclusionReason.AUTHORED] == set()
    AuthoringTime.objects.create(case_id=case, user_id=user, activity="write", reported_at=timezone.now())
    assert excluded_writers(**arguments)[ExclusionReason.AUTHORED] == {(case, user)}


@pytest.mark.slow
def test_the_loads_are_even_and_the_same_seed_gives_the_same_batch(world: WritingWorld) -> None:
    first, second = world.plan(writers_per_case=3, seed=8), world.plan(writers_per_case=3, seed=8)
    assert first.digest == second.digest
    assert [load.cases for load in first.loads] == [4, 4, 4]
    assert [load.cases for load in world.plan(draw=3, writers_per_case=1).loads] == [1, 1, 1]
    drawn = world.plan(draw=2, seed=8)
    assert (len(drawn.cases), drawn.in_frame) == (2, 4)
    with pytest.raises(Conflict, match="changed since the preview"):
        create_writing_batch(order=first.order, filter=WritingFilter(), by=None, at=timezone.now(), digest="other")


@pytest.mark.slow
def test_who_is_to_write_unaided_is_given_no_answer_to_grade_first(world: WritingWorld) -> None:
    world.give_out(writers_per_case=2)
    plan = plan_batch(
        group=world.group, terms=BatchTerms(title="Grade", check_policy="none", seed=1), filter=ResponseFilter()
    )
    graders = {(plan.cases[slot.response], slot.annotator) for slot in plan.allocation.slots}
    assert graders
    assert not graders & set(WritingTask.objects.values_list("case_id", "writer_id"))


@pytest.mark.slow
def test_a_batch_that_needs_those_who_are_to_write_says_so(world: WritingWorld) -> None:
    world.give_out(writers_per_case=2)
    with pytest.raises(DomainError, match="2 annotators still have to write a response to its case"):
        plan_batch(
            group=world.group,
            terms=BatchTerms(title="Grade", check_policy="none", seed=1, annotators_per_item=2),
            filter=ResponseFilter(),
        )


@pytest.mark.parametrize(
    ("terms", "sentence"),
    [
        ({"candidate": " "}, "Enter the name of the candidate"),
        ({"candidate": "canary-model-1"}, "is not a physician"),
        ({"mode": "aided"}, "whose answers are shown"),
        (
            {"writers_per_case": 4},
            "4 writers per case are required, but only 3 annotators in the group can receive new assignments",
        ),
        ({"tags": ["theme:none"]}, "No case of this benchmark has the tag “theme:none”."),
    ],
)
def test_batches_that_cannot_be(world: WritingWorld, terms: dict[str, Any], sentence: str) -> None:
    with pytest.raises(DomainError, match=sentence):
        world.plan(**terms)


@pytest.mark.slow
def test_cases_that_have_such_a_response_are_left_out_unless_asked(world: WritingWorld) -> None:
    physician = CandidateFactory(benchmark=world.benchmark, name="physician", kind="physician")
    ResponseFactory(case=world.cases["a"], candidate=physician, writing_mode="unaided")
    ResponseFactory(case=world.cases["b"], candidate=physician, writing_mode="aided")
    assert world.plan().matching == 3
    assert world.plan(skip_written=False).matching == 4


# What the writer sees -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_references_are_lettered_in_an_order_of_each_writer(world: WritingWorld) -> None:
    Response.objects.filter(case=world.cases["d"], candidate=world.models[1]).delete()
    plan = world.plan(mode="aided", references=world.models, writers_per_case=3)
    assert (plan.matching, plan.without_references, len(plan.cases)) == (4, 1, 3)
    batch = world.give_out(mode="aided", references=world.models, writers_per_case=3)
    first = set()
    secrets = ["canary", *Response.objects.values_list("public_id", flat=True)]
    secrets += Candidate.objects.values_list("public_id", flat=True)
    for task in WritingTask.objects.filter(batch=batch).select_related("case", "writer"):
        client = signed_in(task.writer)
        page, api = client.get(f"/writing/{task.public_id}/"), client.get(f"/api/v1/work/writing/{task.public_id}/")
        for answer in (page, api, client.get("/work/"), client.get("/api/v1/work/writing/")):
            assert answer.status_code == 200
            text = answer.content.decode() + repr(dict(answer.headers))
            assert not [secret for secret in secrets if secret in text]
        body = page.content.decode()
        assert re.findall(r"<h2[^>]*>(Reference [A-Z])</h2>", body) == ["Reference A", "Reference B"]
        shown = re.findall(r"Answer (\d) to <strong>", body)
        assert sorted(shown) == ["1", "2"]
        assert [row["letter"] + row["text"][7] for row in api.json()["references"]] == [f"A{shown[0]}", f"B{shown[1]}"]
        assert "Criterion 1 of" not in body  # the rubric would tell the answer
        first.add(shown[0])
    assert first == {"1", "2"}


@pytest.mark.slow
def test_an_unaided_page_shows_the_conversation_alone(world: WritingWorld) -> None:
    task = world.task(world.give_out(instructions="At most **200** words."), world.people[0])
    body = signed_in(task.writer).get(f"/writing/{task.public_id}/").content.decode()
    assert "sore throat" in body
    assert "At most <strong>200</strong> words." in body
    assert "without an AI tool" in body
    assert "Reference" not in body
    assert "canary" not in body


# Writing and handing in ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_text_is_saved_handed_in_once_and_becomes_a_response(world: WritingWorld) -> None:
    batch = world.give_out(mode_name="no help", draw=3)  # one each
    task = world.task(batch, world.people[0])
    client, sent = signed_in(task.writer), draft("Rest, and **drink**.\r\n")
    assert post(client, task, "submit", version=1, attested=True).json()["detail"].startswith("There is nothing")
    saved = result_of(post(client, task, "save", draft=sent))
    assert (saved["version"], saved["current"]["text"]) == (2, "Rest, and **drink**.\n")
    # The answer was lost, and it is sent again.
    assert result_of(post(client, task, "save", draft=sent))["version"] == 2
    stale = post(client, task, "save", draft=draft("Another tab"))
    assert (stale.status_code, result_of(stale)["current"]["text"]) == (409, "Rest, and **drink**.\n")
    somebody = client.post(
        f"/writing/{task.public_id}/save/", json.dumps({"who": "x", "draft": sent}), content_type="application/json"
    )
    assert somebody.json() == {"reason": "somebody-else"}
    assert result_of(post(client, task, "submit", version=1, attested=True))["status"] == "stale"
    assert "without AI tools" in post(client, task, "submit", version=2, attested=False).json()["detail"]
    assert not Response.objects.filter(author=task.writer).exists()
    assert post(client, task, "submit", version=2, attested=True).json() == {"next": "/work/"}
    task.refresh_from_db()
    row = task.response
    assert row is not None
    assert (row.text, row.author, row.writing_mode, row.sample) == ("Rest, and **drink**.", task.writer, "unaided", 0)
    assert (row.candidate.name, row.candidate.kind, row.derived_from) == ("physician", "physician", None)
    assert row.metadata == {"mode_name": "no help", "references": [], "seconds": 0, "attested": True}
    assert post(client, task, "submit", version=2, attested=True).status_code == 409
    assert post(client, task, "save", draft=draft("More", 2)).status_code == 409
    assert "It is final." in client.get(f"/writing/{task.public_id}/").content.decode()


@pytest.mark.slow
def test_a_response_of_ones_own_is_listed_and_read_after_it_was_submitted(world: WritingWorld) -> None:
    task = world.task(world.give_out(draw=3), world.people[0])
    client, listed = signed_in(task.writer), rf'<a href="/writing/{task.public_id}/">'
    post(client, task, "save", draft=draft("Rest, and **drink**."))
    assert 'id="handed-in"' not in client.get("/work/").content.decode()
    post(client, task, "submit", version=2, attested=True)
    for path in ("/work/", f"/work/in/{world.benchmark.slug}/"):
        section = client.get(path).content.decode().partition('id="handed-in"')[2]
        assert listed in section and "Case 1" in section and "response that you wrote" in section
    assert "Rest, and **drink**." in client.get(f"/writing/{task.public_id}/").content.decode()
    other = signed_in(world.people[1]).get("/work/").content.decode()
    assert listed not in other


@pytest.mark.slow
def test_what_was_begun_from_a_reference_says_so(world: WritingWorld) -> None:
    batch = world.give_out(mode="aided", references=world.models, mode_name="older models")
    task = world.task(batch, world.people[0])
    with pytest.raises(DomainError, match="This reference does not exist"):
        save_text(task=task, writer=task.writer, change=TextInput("x", reference=2), at=timezone.now())
    row = write(task, "Better than that.", reference=1)
    assert row.derived_from_id == task.shown[1]
    assert row.writing_mode == "aided"
    shown = Response.objects.in_bulk(task.shown)
    assert row.metadata["references"] == [
        {"response": shown[pk].public_id, "candidate": shown[pk].candidate.name} for pk in task.shown
    ]
    other = world.task(batch, world.people[1])
    now = timezone.now()
    kept = save_text(task=other, writer=other.writer, change=TextInput("x", reference=0), at=now)
    assert kept.derived_from_id == other.shown[0]
    assert save_text(task=other, writer=other.writer, change=TextInput(" ", 0, 2), at=now).derived_from_id is None


@pytest.mark.slow
def test_a_second_batch_gives_the_next_sample(world: WritingWorld) -> None:
    first, second, *_ = WritingTask.objects.filter(
        batch=world.give_out(writers_per_case=2), case=world.cases["a"]
    ).select_related("batch__writing_terms")
    assert [write(first).sample, write(second).sample] == [0, 1]


@pytest.mark.slow
def test_opening_an_answer_ends_an_unaided_task_and_being_given_one_does_not(world: WritingWorld) -> None:
    world.give_out(draw=1)
    task = WritingTask.objects.select_related("batch", "writer", "case").get()
    client = signed_in(task.writer)
    graded = make_batch(world.group, cases=[world.cases["b"].key])
    work = Assignment.objects.filter(batch=graded)[0]
    Assignment.objects.filter(pk=work.pk).update(annotator=task.writer, case=task.case)
    assert client.get(f"/writing/{task.public_id}/").status_code == 200  # given, and never opened
    assert post(client, task, "save", draft=draft("Half a thought")).status_code == 200
    work = Assignment.objects.get(pk=work.pk)
    decide(work, submit=False)
    assert post(client, task, "submit", version=2, attested=True).json() == {"next": "/work/"}
    task.refresh_from_db()
    assert (task.status, task.release_reason, task.text) == ("released", "has_read", "Half a thought")
    assert task.response is None
    assert "you have read an answer to it" in client.get("/work/").content.decode()
    assert client.get(f"/writing/{task.public_id}/").status_code == 404
    board = signed_in(world.admin).get(f"/b/world/batches/{task.batch.public_id}/").content.decode()
    assert "1 case was withdrawn automatically" in board


@pytest.mark.slow
def test_time_is_never_more_than_has_passed_and_the_last_minute_counts(world: WritingWorld) -> None:
    task = world.task(world.give_out(), world.people[0])
    now = timezone.now()
    save_text(task=task, writer=task.writer, change=TextInput("Rest."), at=now)
    assert record_time(task=task, seconds=500, at=now + timedelta(seconds=40)) == 40
    row = hand_in(task=task, writer=task.writer, version=2, attested=True, at=now + timedelta(seconds=50))
    assert row.metadata["seconds"] == 40
    assert post(signed_in(task.writer), task, "time", seconds=0).status_code == 204
    record_time(task=task, seconds=9, at=timezone.now() + timedelta(seconds=60))
    row.refresh_from_db()
    assert row.metadata["seconds"] == 49


@pytest.mark.slow
def test_preview_is_inert_and_words_are_counted_in_both_scripts(world: WritingWorld) -> None:
    task = world.task(world.give_out(), world.people[0])
    payload = post(signed_in(task.writer), task, "check", text="**Rest** <script>alert(1)</script>").json()
    assert "<strong>Rest</strong>" in payload["html"]
    assert "<script" not in payload["html"]
    assert payload["privacy"] == []
    payload = post(signed_in(task.writer), task, "check", text="Call me: 13812345678, or 13812345678.").json()
    assert [line.split("”")[0] for line in payload["privacy"]] == ["“13812345678"]
    assert count_words("Drink 2 litres, 多喝水。") == 7  # three words, three characters, one mark


@pytest.mark.slow
def test_what_may_identify_a_person_is_marked_while_it_is_written_and_stops_nobody(world: WritingWorld) -> None:
    task = world.task(world.give_out(), world.people[0])
    client = signed_in(task.writer)
    text = "Call Mrs. Jane Smith at 13812345678."
    saved = post(client, task, "save", draft=draft(text)).json()["results"][0]
    assert saved["status"] == "saved"
    quotes = {line.split("”")[0].lstrip("“") for line in saved["current"]["privacy"]}
    assert "13812345678" in quotes and any("Smith" in quote for quote in quotes)
    page = client.get(f"/writing/{task.public_id}/").content.decode()
    notice = page.partition('id="identifying"')[2].partition("</div>")[0]
    assert "hidden" not in notice.partition(">")[0] and "13812345678" in notice
    later = post(client, task, "save", draft=draft("Call a doctor.", version=2)).json()["results"][0]
    assert later["current"]["privacy"] == []
    page = client.get(f"/writing/{task.public_id}/").content.decode()
    assert "hidden" in page.partition('id="identifying"')[2].partition(">")[0]


# Staff pages --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_my_work_offers_it_and_a_notice_tells_of_it(world: WritingWorld) -> None:
    batch = world.give_out(due_date=timezone.localdate())
    task = world.task(batch, world.people[0])
    client = signed_in(task.writer)
    page = " ".join(client.get("/work/").content.decode().split())
    assert f'class="button primary" href="/writing/{task.public_id}/"' in page
    assert "Responses to write, unaided" in page
    notice = Notification.objects.get(user=task.writer, kind="new_work")
    assert "to write" in words_of(notice).text
    home = client.get("/", follow=True)
    assert home.redirect_chain[-1][0] == f"/work/in/{world.benchmark.slug}/"
    ((todo, _work),) = home.context["rows"]
    waiting = WritingTask.objects.filter(writer=task.writer).count()
    assert (todo.url, todo.left) == (f"/writing/{task.public_id}/", f"{waiting} case{'s' * (waiting > 1)} left")
    pause_batch(batch=batch)
    assert not client.get("/", follow=True).context["rows"]
    assert post(client, task, "save", draft=draft("x")).status_code == 409
    assert "Your study coordinator has paused this batch." in client.get(f"/writing/{task.public_id}/").content.decode()
    close_batch(batch=batch, at=timezone.now())
    assert "This batch is closed." in client.get("/work/").content.decode()


@pytest.mark.slow
def test_others_and_staff_find_nothing_there(world: WritingWorld) -> None:
    task = world.task(world.give_out(), world.people[0])
    for user in (world.people[1], world.admin):
        assert signed_in(user).get(f"/writing/{task.public_id}/").status_code == 404


@pytest.mark.slow
def test_open_work_goes_to_others_who_may_or_is_taken_back(world: WritingWorld) -> None:
    batch = world.give_out()
    holder = WritingTask.objects.filter(batch=batch).values_list("writer", flat=True)[0]
    user = next(person for person in world.people if person.pk == holder)
    task = world.task(batch, user)
    save_text(task=task, writer=user, change=TextInput("Begun"), at=timezone.now())
    held = WritingTask.objects.filter(batch=batch, writer=user).count()
    admin = signed_in(world.admin)
    url = f"/b/world/batches/{batch.public_id}/handover/"
    pseudonym = Physician.objects.get(user=user, benchmark=world.benchmark).pseudonym
    dialog = admin.get(url, {"physician": pseudonym}).content.decode()
    assert "1 case has been started" in dialog
    assert dialog.count("<option") == 4  # spread, two others, nobody
    assert admin.post(url, {"physician": pseudonym, "to": "spread"}).status_code == 302
    assert WritingTask.objects.filter(batch=batch, writer=user, status="released").count() == held
    fresh = WritingTask.objects.filter(batch=batch, case=task.case).exclude(writer=user).get()
    assert (fresh.status, fresh.text) == ("not_started", "")
    task.refresh_from_db()
    assert (task.status, task.release_reason, task.text) == ("released", "passed_on", "Begun")
    assert take_back(batch=batch, holder=fresh.writer, at=timezone.now()) > 0
    with pytest.raises(Conflict):
        take_back(batch=batch, holder=fresh.writer, at=timezone.now())


@pytest.mark.slow
def test_the_admin_previews_makes_and_follows_a_batch(world: WritingWorld) -> None:
    admin = signed_in(world.admin)
    fields = {
        "title": "Answers", "group": world.group.public_id, "candidate": "physician", "mode": "aided", "seed": "4",
        "references": [model.public_id for model in world.models], "writers_per_case": "1", "specialty_match": "none",
        "skip_written": "on",
    }  # fmt: skip
    assert admin.get("/b/world/batches/write/").status_code == 200
    preview = admin.get("/b/world/batches/write/preview/", fields).content.decode()
    digest = re.search(r'name="digest" value="(\w+)"', preview)
    assert digest is not None
    refused = admin.post("/b/world/batches/write/", {**fields, "references": []})
    assert refused.status_code == 422
    assert "Choose the candidates whose answers are shown." in refused.content.decode()
    response = admin.post("/b/world/batches/write/", {**fields, "digest": digest[1]})
    assert response.status_code == 302
    batch = Batch.objects.get(kind="write")
    task = WritingTask.objects.select_related("batch__writing_terms").filter(batch=batch)[0]
    write(task)
    board = admin.get(response["Location"]).content.decode()
    assert "Submitted" in board
    assert "canary-model-1, canary-model-2" in board
    answer = admin.get(f"/b/world/batches/{batch.public_id}/writing.csv")
    rows = list(csv.DictReader(io.StringIO(answer.getvalue().decode("utf-8-sig"))))
    handed = [row for row in rows if row["status"] == "submitted"]
    assert len(rows) == 4
    assert [(row["mode"], row["sample"], row["words"]) for row in handed] == [("aided", "0", "3")]
    assert {row["writer"] for row in rows} <= {*Physician.objects.values_list("pseudonym", flat=True)}


@pytest.mark.slow
def test_the_api_does_what_the_pages_do(world: WritingWorld) -> None:
    admin = signed_in(world.admin)
    body = {"title": "By the API", "group": world.group.public_id, "draw": 1, "seed": 2}

    def send(client: Client, url: str, data: dict[str, Any]) -> Any:
        return client.post(f"/api/v1/{url}", json.dumps(data), content_type="application/json")

    assert send(admin, "benchmarks/world/writing/", {**body, "writer": 1}).status_code == 400
    response = send(admin, "benchmarks/world/writing/", body)
    assert (response.status_code, response.json()["responses"]) == (201, 1)
    task = WritingTask.objects.select_related("writer").get()
    client = signed_in(task.writer)
    member(ExpertGroupFactory(benchmark=BenchmarkFactory(slug="elsewhere")), "annotator", task.writer)
    for query, expected in (
        ("", [task.public_id]),
        ("?benchmark=world", [task.public_id]),
        ("?benchmark=elsewhere", []),
    ):
        rows = client.get(f"/api/v1/work/writing/{query}").json()["results"]
        assert [(row["id"], row["benchmark"]) for row in rows] == [(public_id, "world") for public_id in expected]
    assert client.get("/api/v1/work/writing/?benchmark=nowhere").status_code == 404
    url = f"work/writing/{task.public_id}/"
    assert send(client, f"{url}save/", {"text": "Rest.", "version": 1}).json()["version"] == 2
    assert send(client, f"{url}save/", {"text": "Rest", "version": 1}).json()["current"]["text"] == "Rest."
    assert send(client, f"{url}submit/", {"version": 2}).status_code == 422
    assert send(client, f"{url}submit/", {"version": 2, "attested": True}).json()["status"] == "submitted"
    assert Response.objects.get(author=task.writer).text == "Rest."
    # References are candidates, by name; an id is accepted as well.
    shown = world.models[0]
    aided = {"mode": "aided", "seed": 3, "skip_written": False}
    assert send(admin, "benchmarks/world/writing/", {**body, **aided, "references": ["nobody"]}).status_code == 400
    for place, name in enumerate((shown.name, shown.public_id)):
        given = {**body, **aided, "title": f"Beside {place}", "references": [name]}
        batch_answer = send(admin, "benchmarks/world/writing/", given)
        assert batch_answer.status_code == 201, batch_answer.json()
        batch = Batch.objects.select_related("writing_terms").get(public_id=batch_answer.json()["id"])
        assert list(batch.writing_terms.references.all()) == [shown]
