"""Runs in which a judge codes responses: what it asks, what an answer is, and what a page, a file and the API say."""

from __future__ import annotations

import csv
import io
import json
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, transaction
from django.test import Client
from django.utils import timezone

from consilium.core.errors import Conflict, DomainError
from rubrics.codes.services import carried, newest_book, save_codes
from rubrics.editor.privacy import cases_with_open_findings
from rubrics.models import CodeBook, Response
from rubrics.services.exclusion import exclude_case
from scoring.coding.choosing import CodingFrame
from scoring.coding.runs import create_run, resume_run
from scoring.coding.selectors import coding_by, counting_runs, results_of
from scoring.models import CodedResponse, CodingBook, CodingRun
from scoring.pipelines.archive import write_archive
from scoring.pipelines.runs import cancel_run, replay_run
from scoring.pipelines.working import work_on_run
from tests.annotation.codes.coding_world import CodingWorld, build_coding
from tests.factories import BenchmarkFactory, BenchmarkRoleFactory, CandidateFactory, CaseFactory, ResponseFactory
from tests.rubrics.versions.new_versions import reword
from tests.scoring.conftest import Loopback

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
NEW = "/b/ward/coding/judges/new/"
TEXTS = {
    "a alpha": "Take ten tablets [wrong-dose]. It is certainly harmless [overconfidence].",
    "a beta": "Rest at home.",
    "b alpha": "Ask a doctor. Take ten tablets [wrong-dose].",
    "b beta": "It is certainly harmless [overconfidence].",
}


@pytest.fixture
def world(db: None) -> CodingWorld:
    """Two cases with two responses each, whose texts name the failures that they show; nobody has coded yet."""
    return build_coding(groups=0, texts=TEXTS)


def config(loopback: Loopback, model: str = "ok", **changes: Any) -> dict[str, Any]:
    values = {"judge": "grader", "endpoint": loopback.url, "model": model, "attempts": 2, "pauses": 0}
    return {**values, **changes}


def start(world: CodingWorld, loopback: Loopback, model: str = "ok", **changes: Any) -> CodingRun:
    frame = changes.pop("frame", CodingFrame())
    return create_run(
        benchmark=world.benchmark,
        book=CodeBook.objects.get(pk=world.book.pk),
        frame=frame,
        config=config(loopback, model, **changes),
        by=None,
        at=timezone.now(),
    )


def work(run: CodingRun) -> CodingRun:
    while work_on_run(run.pk, clock=timezone.now):
        continue
    run.refresh_from_db()
    return run


def codes_of(world: CodingWorld, run: CodingRun) -> dict[str, set[str]]:
    names = {response.pk: name for name, response in world.responses.items()}
    return {names[pk]: set(codes) for pk, codes in coding_by(run).codes.items()}


# What is asked and answered


def test_each_response_gets_its_codes_with_evidence(world: CodingWorld, loopback: Loopback) -> None:
    run = work(start(world, loopback))
    assert run.status == "finished"
    assert codes_of(world, run) == {
        "a alpha": {"wrong-dose", "overconfidence"},
        "a beta": set(),
        "b alpha": {"wrong-dose"},
        "b beta": {"overconfidence"},
    }
    output = CodedResponse.objects.get(step__run=run, response=world.responses["b alpha"]).step.output
    assert output is not None
    (code,) = output["codes"]
    # "Ask a doctor. " has 14 characters; the second sentence begins there and ends with the text.
    assert code["evidence"] == [{"quote": "Take ten tablets [wrong-dose].", "start": 14, "end": 44}]
    assert loopback.requests() == 4


def test_the_request_has_the_codes_and_both_texts_in_fences(world: CodingWorld, loopback: Loopback) -> None:
    work(start(world, loopback, frame=CodingFrame(candidates=("alpha",), responses=1)))
    with urllib.request.urlopen(loopback.url.removesuffix("/v1") + "/last") as answer:
        sent = json.load(answer)
    system, user = (message["content"] for message in sent["messages"])
    assert sent["temperature"] == 0.0
    for code in world.book.entries:
        assert f"- {code.key} ({code.title_en}): {code.definition_en}" in system
    assert "<<<CONVERSATION" in user and "<<<REPLY" in user and "Take ten tablets [wrong-dose]." in user


def test_codes_in_chinese(world: CodingWorld, loopback: Loopback) -> None:
    run = start(world, loopback, language="zh")
    assert run.config["codes"][0]["title"] == world.book.entries[0].title_zh
    assert run.terms["prompt_hash"] != start(world, loopback).terms["prompt_hash"]


def test_a_code_is_tied_to_a_criterion_of_the_rubric_as_it_was(
    world: CodingWorld, loopback: Loopback, staff: Client
) -> None:
    case = world.responses["a alpha"].case
    criteria = list(case.rubrics.get().items.order_by("position").values_list("criterion", "criterion__text"))
    run = start(world, loopback, criteria=True)
    reword(case, 1)  # the run keeps the version that was published when it began
    work(run)
    output = CodedResponse.objects.get(step__run=run, response=world.responses["a alpha"]).step.output
    assert output is not None
    assert [code["criterion"] for code in output["codes"]] == [criteria[-1][0]] * 2
    rows = rows_of(staff.get(f"/b/ward/coding/judges/{run.public_id}/codes.csv"))
    assert {row["criterion"] for row in rows if row["case"] == "a" and row["code"] != "none"} == {criteria[-1][1]}
    replay = work(CodingRun.objects.get(pk=replay_run(run=run, by=None, at=timezone.now()).pk))
    assert replay.status == "finished"


@pytest.mark.parametrize("model", ["code-both-faults", "code-made-up", "code-prose", "code-twice", "array", "refusal"])
def test_an_answer_that_stays_faulty_is_invalid_and_never_none_of_these(
    world: CodingWorld, loopback: Loopback, model: str
) -> None:
    run = work(start(world, loopback, model))
    assert run.status == "finished"
    assert coding_by(run).codes == {}
    assert coding_by(run).n_invalid == 4
    assert loopback.requests() == 12  # each is asked three times
    results = results_of(run)
    assert (results.coded, results.none, results.invalid) == (0, 0, 4)


def test_a_quote_that_is_nowhere_is_asked_for_again_and_then_left_out(world: CodingWorld, loopback: Loopback) -> None:
    run = work(start(world, loopback, "code-misquotes"))
    first, second = (code.key for code in world.book.entries[:2])
    assert codes_of(world, run) == {name: {first, second} for name in TEXTS}
    assert loopback.requests() == 12
    step = run.steps.first()
    assert step is not None and step.output is not None
    assert step.output["codes"][0]["evidence"] == []
    assert step.findings == [{"kind": "no_quote", "code": first, "quote": "Words that nobody wrote."}]
    assert results_of(run).without_quote == 4


def test_the_same_requests_are_answered_from_the_store(world: CodingWorld, loopback: Loopback) -> None:
    work(start(world, loopback, frame=CodingFrame(candidates=("alpha",))))
    run = work(start(world, loopback, judge="again"))
    assert len(coding_by(run).codes) == 4
    assert loopback.requests() == 4


def test_a_replay_comes_to_the_same_without_a_request_and_counts_for_no_judge(
    world: CodingWorld, loopback: Loopback
) -> None:
    run = work(start(world, loopback))
    before = list(run.steps.order_by("case", "key").values_list("output", flat=True))
    first = replay_run(run=run, by=None, at=timezone.now())
    again = replay_run(run=work(CodingRun.objects.get(pk=first.pk)), by=None, at=timezone.now())
    for each in (first, again):
        own = work(CodingRun.objects.get(pk=each.pk))
        assert own.status == "finished"
        assert list(own.steps.order_by("case", "key").values_list("output", flat=True)) == before
        assert results_of(own).coded == 4
    assert loopback.requests() == 4
    assert counting_runs(world.book) == {"grader": run}


def test_it_has_no_archive(world: CodingWorld, loopback: Loopback) -> None:
    run = work(start(world, loopback))
    with pytest.raises(Conflict, match="has no archive"):
        write_archive(run, io.BytesIO())


# Which responses


def test_the_frame(world: CodingWorld, loopback: Loopback) -> None:
    case = world.responses["a alpha"].case
    derived = CandidateFactory(benchmark=world.benchmark, name="refined", kind="derived")
    ResponseFactory(case=case, candidate=derived, text="Better.", derived_from=world.responses["a alpha"])
    ResponseFactory(case=case, candidate=CandidateFactory(benchmark=world.benchmark, name="silent"), text=" \n")
    assert _responses(start(world, loopback)) == {response.pk for response in world.responses.values()}
    named = start(world, loopback, frame=CodingFrame(candidates=("refined", "beta")))
    assert _responses(named) == {
        *Response.objects.filter(candidate=derived).values_list("pk", flat=True),
        world.responses["a beta"].pk,
        world.responses["b beta"].pk,
    }
    two = CodingFrame(responses=2, draw_seed=4)
    assert _responses(start(world, loopback, frame=two)) == _responses(start(world, loopback, frame=two))
    with pytest.raises(DomainError, match="“nobody” does not exist"):
        start(world, loopback, frame=CodingFrame(candidates=("nobody",)))
    with pytest.raises(DomainError, match="No responses match"):
        start(world, loopback, frame=CodingFrame(by_physicians=True))


def _responses(run: CodingRun) -> set[int]:
    return set(CodedResponse.objects.filter(step__run=run).values_list("response", flat=True))


def test_only_what_physicians_have_coded(loopback: Loopback, db: None) -> None:
    world = build_coding()
    world.say("a alpha", ["wrong-dose"], [])
    world.code(world.task("b beta"), "wrong-dose", submit=False)
    run = start(world, loopback, frame=CodingFrame(by_physicians=True))
    assert _responses(run) == {world.responses["a alpha"].pk}


def test_a_case_that_was_excluded_meanwhile_is_not_sent(world: CodingWorld, loopback: Loopback) -> None:
    run = start(world, loopback)
    case = world.responses["a alpha"].case
    exclude_case(case=case, kind="other", reason="Not for this study.", by=world.admin, at=timezone.now())
    run = work(run)
    assert run.status == "incomplete"
    assert set(codes_of(world, run)) == {"b alpha", "b beta"}
    assert loopback.requests() == 2
    # Nothing else is lacking, so the run counts.
    other = work(start(world, loopback, "500"))
    assert other.status != "finished"
    assert counting_runs(world.book) == {"grader": run}


def test_a_run_that_lacks_answers_counts_where_there_is_no_other(world: CodingWorld, loopback: Loopback) -> None:
    without = work(start(world, loopback, "400", judge="lacking"))
    assert without.status == "incomplete"
    assert counting_runs(world.book) == {}  # not one answer
    part = work(start_with_budget(world, loopback))
    assert part.status == "incomplete"
    assert part.steps.filter(state="ready").exists()
    assert counting_runs(world.book) == {"lacking": part}
    coding = coding_by(part)
    assert coding.n_failed > 0 and len(coding.codes) + coding.n_failed == 4
    whole = work(start(world, loopback, judge="lacking"))
    work(start_with_budget(world, loopback, model="other"))
    assert counting_runs(world.book) == {"lacking": whole}


def start_with_budget(world: CodingWorld, loopback: Loopback, model: str = "ok") -> CodingRun:
    """A run whose budget is spent after some of its four requests: each answer may cost 0.002."""
    values = config(loopback, model, judge="lacking", price_out=10, max_tokens=200, concurrency=1)
    return create_run(
        benchmark=world.benchmark,
        book=CodeBook.objects.get(pk=world.book.pk),
        frame=CodingFrame(),
        config=values,
        budget=Decimal("0.0023"),
        by=None,
        at=timezone.now(),
    )


def test_a_case_that_may_name_a_person_is_not_sent(world: CodingWorld, loopback: Loopback, staff: Client) -> None:
    turns = [{"role": "user", "content": "Call me at 415-555-0134, I am Jane."}]
    case = CaseFactory(benchmark=world.benchmark, key="named", rubric=0, conversation=turns)
    ResponseFactory(case=case, candidate=world.responses["a alpha"].candidate, text="Rest.")
    assert cases_with_open_findings({case.pk}) == {case.pk}
    assert _responses(start(world, loopback)) == {response.pk for response in world.responses.values()}
    page = staff.post(f"{NEW}size", filled(loopback)).content.decode()
    assert "1 case is not included: it may name a person" in page


# The code book


def test_a_run_freezes_the_version_of_the_code_book(world: CodingWorld, loopback: Loopback) -> None:
    assert world.book.used_at is None
    run = start(world, loopback)
    world.book.refresh_from_db()
    assert world.book.used_at is not None
    changed = [{**code, "title_en": "Other"} for code in world.book.codes]
    with pytest.raises(DatabaseError, match="never changes"), transaction.atomic():
        CodeBook.objects.filter(pk=world.book.pk).update(codes=changed)
    assert CodingBook.objects.get(run=run).book == world.book


def test_the_newest_finished_run_of_a_name_counts(world: CodingWorld, loopback: Loopback) -> None:
    work(start(world, loopback, "code-prose"))
    newest = work(start(world, loopback))
    start(world, loopback)  # has not begun
    other = work(start(world, loopback, judge="another"))
    assert counting_runs(world.book) == {"another": other, "grader": newest}


def test_each_version_of_the_code_book_has_its_own_judges(world: CodingWorld, loopback: Loopback) -> None:
    run = work(start(world, loopback))
    codes = [replace(code, title_en=f"{code.title_en}, reworded") for code in carried(world.book)]
    save_codes(benchmark=world.benchmark, codes=codes, by=world.admin, at=timezone.now())
    book = newest_book(world.benchmark)
    assert book is not None and book.version == 2
    assert counting_runs(book) == {}
    assert counting_runs(world.book) == {"grader": run}


def test_a_run_that_was_cancelled_goes_on(world: CodingWorld, loopback: Loopback) -> None:
    run = start(world, loopback)
    cancel_run(run=run, at=timezone.now())
    resume_run(run=run, at=timezone.now())
    assert work(run).status == "finished"


# Front


@pytest.fixture
def staff(world: CodingWorld, client: Client) -> Client:
    client.force_login(BenchmarkRoleFactory(benchmark=world.benchmark, role="researcher").user)
    return client


def filled(loopback: Loopback, **changes: Any) -> dict[str, Any]:
    values = {
        "judge": "grader", "book": "1", "language": "en", "endpoint": loopback.url, "model": "ok", "temperature": 0,
        "max_tokens": 200, "currency": "EUR", "concurrency": 4, "attempts": 2, "timeout_s": 60, "pauses": 0,
    }  # fmt: skip
    return {**values, **changes}


def test_the_preview_counts_and_says_the_most_that_it_costs(staff: Client, loopback: Loopback) -> None:
    page = staff.post(f"{NEW}size", filled(loopback, price_out=10)).content.decode()
    assert "2 cases" in page
    assert "0.0080 EUR" in page  # 4 answers of at most 200 tokens at 10 a million
    page = staff.post(f"{NEW}size", filled(loopback, price_out=10, budget="0.001")).content.decode()
    assert "The run may stop early" in page
    page = staff.post(f"{NEW}size", filled(loopback, by_physicians="on")).content.decode()
    assert "No responses match these filters." in page
    assert not CodingRun.objects.exists()


def test_a_refusal_names_each_field(staff: Client, loopback: Loopback) -> None:
    page = staff.post(NEW, filled(loopback, judge="", endpoint="http://other.example/v1", budget="1"))
    assert page.status_code == 422
    errors = page.context["form"].errors
    assert set(errors) == {"judge", "endpoint", "budget"}


def test_from_the_form_to_the_codes(staff: Client, world: CodingWorld, loopback: Loopback) -> None:
    assert b"No runs yet" in staff.get("/b/ward/coding/judges/").content
    response = staff.post(NEW, filled(loopback, candidates=["alpha"]))
    run = CodingRun.objects.get()
    assert response["Location"] == f"/b/ward/coding/judges/{run.public_id}/"
    work(run)
    page = staff.get(response["Location"]).content.decode()
    assert "Coding by grader" in page and "judge:grader" in page and "alpha" in page
    assert b"grader" in staff.get("/b/ward/coding/judges/").content
    again = staff.get(f"{NEW}?from={run.public_id}").context["form"]
    assert (again["judge"].value(), again["candidates"].value(), again["book"].value()) == ("grader", ["alpha"], "1")
    replay = staff.post(f"/b/ward/coding/judges/{run.public_id}/replay")
    assert replay["Location"] != response["Location"]
    assert b"Code book, version 1" in staff.get(replay["Location"]).content


def test_a_benchmark_without_a_code_book_says_where_to_begin(staff: Client, world: CodingWorld) -> None:
    other = BenchmarkFactory(slug="empty")
    staff.force_login(BenchmarkRoleFactory(benchmark=other, role="admin").user)
    assert b"No code book yet" in staff.get("/b/empty/coding/judges/new/").content


def rows_of(answer: Any) -> Iterator[dict[str, str]]:
    text = b"".join(answer.streaming_content).decode("utf-8-sig")
    return csv.DictReader(io.StringIO(text))


def test_the_file_has_a_row_for_each_code(staff: Client, world: CodingWorld, loopback: Loopback) -> None:
    run = work(start(world, loopback))
    rows = list(rows_of(staff.get(f"/b/ward/coding/judges/{run.public_id}/codes.csv")))
    given = [(row["case"], row["candidate"], row["code"], row["evidence"]) for row in rows]
    assert sorted(given) == [
        ("a", "alpha", "overconfidence", "It is certainly harmless [overconfidence]."),
        ("a", "alpha", "wrong-dose", "Take ten tablets [wrong-dose]."),
        ("a", "beta", "none", ""),
        ("b", "alpha", "wrong-dose", "Take ten tablets [wrong-dose]."),
        ("b", "beta", "overconfidence", "It is certainly harmless [overconfidence]."),
    ]
    assert {row["rater"] for row in rows} == {"judge:grader"}


def test_the_api(staff: Client, world: CodingWorld, loopback: Loopback) -> None:
    body = {"code_book": 1, "config": config(loopback), "frame": {"candidates": ["beta"]}}
    address = "/api/v1/benchmarks/ward/coding/runs/"
    created = staff.post(address, body, content_type="application/json")
    assert created.status_code == 201, created.content
    assert created.json()["progress"]["due"] == 2
    run = CodingRun.objects.get()
    work(run)
    own = f"{address}{run.public_id}/"
    assert staff.get(own).json()["status"] == "finished"
    codes = staff.get(f"{own}codes/").json()["results"]
    assert [(row["case"], row["state"], [code["code"] for code in row["codes"]]) for row in codes] == [
        ("a", "coded", []),
        ("b", "coded", ["overconfidence"]),
    ]
    assert codes[1]["codes"][0]["evidence"] == ["It is certainly harmless [overconfidence]."]
    (last,) = staff.get(f"{own}codes/?limit=1&offset=1").json()["results"]
    assert last == codes[1]
    assert staff.get(address).json()["results"][0]["judge"] == "grader"
    assert staff.post(f"{own}cancel/").status_code == 409
    assert staff.post(f"{own}replay/").status_code == 201
    wrong = staff.post(address, {**body, "frame": {"candidates": ["x"]}}, content_type="application/json")
    assert wrong.status_code == 422 and "“x” does not exist" in wrong.content.decode()
    wrong = staff.post(address, {**body, "config": {**config(loopback), "judge": ""}}, content_type="application/json")
    assert wrong.status_code == 400 and "judge" in wrong.content.decode()
    assert staff.post(address, {**body, "code_book": 9}, content_type="application/json").status_code == 404


def test_the_command(world: CodingWorld, loopback: Loopback, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--benchmark", "ward", "--judge", "grader", "--endpoint", loopback.url]
    call_command("code_responses", *given, "--model", "ok", "--wait", "--price-out", "10", "--max-tokens", "200")
    printed = capsys.readouterr().out
    assert "4 responses to 2 cases" in printed and "at most 0.0080 USD" in printed
    assert "Finished: 4 of 4 responses coded, 1 with no failure, 0 invalid answers" in printed
    assert "  wrong-dose: 2\n" in printed
    with pytest.raises(CommandError, match="no code book of version 7"):
        call_command("code_responses", *given, "--model", "ok", "--code-book", "7")
    with pytest.raises(CommandError, match="“nobody” does not exist"):
        call_command("code_responses", *given, "--model", "ok", "--candidate", "nobody")
