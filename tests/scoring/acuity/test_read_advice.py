"""Physicians read which level of care responses advise: the draw, the page, and what nobody sees or may do."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import Page, expect

from agreement.services import create_report
from agreement.services import run as compute_report
from annotation.acuity.votes import panel_of, questions_on
from annotation.labels.advice import ReadTerms, read_answers
from annotation.labels.services import AnswerInput, Unlabelled, save_answer, submit_labels
from annotation.models import Batch, ExpertGroup, LabelAnswer, LabelQuestion, LabelTask
from consilium.core.errors import Conflict, DomainError
from rubrics.models import Response
from scoring.acuity.read_advice import draw, inclusion_probabilities, make_read_batch, plan_read_batch
from scoring.models import AcuityReading, JudgeRun
from tests.axe import axe_violations
from tests.conftest import Watch
from tests.factories import BenchmarkRoleFactory, ExpertGroupFactory
from tests.scoring.acuity.judging import ADVICE, LEVELS, advised_benchmark, judged

pytestmark = pytest.mark.slow
TERMS = ReadTerms("Read", readers=2, size=6, seed=1)


@pytest.fixture
def run(db: None, settings: Any) -> JudgeRun:
    settings.JUDGE_ALLOWED_HOSTS = ["127.0.0.1"]
    return judged(advised_benchmark())


@pytest.fixture
def group(run: JudgeRun) -> ExpertGroup:
    return ExpertGroupFactory(benchmark=run.benchmark, annotators=2)


def give(run: JudgeRun, group: ExpertGroup, terms: ReadTerms = TERMS, **more: Any) -> Batch:
    return make_read_batch(group=group, run=run, terms=terms, by=None, at=timezone.now(), **more)


def mark(task: LabelTask, value: str, *spans: tuple[int, int], **more: Any) -> LabelAnswer:
    question = LabelQuestion.objects.get(kind="read")
    evidence = [{"start": start, "end": end} for start, end in spans]
    change = AnswerInput(question.public_id, value, evidence=evidence, **more)
    return save_answer(task=task, annotator=task.annotator, change=change, at=timezone.now())


# The draw


@given(
    counts=st.dictionaries(st.tuples(st.sampled_from("ABCD"), st.sampled_from("xyz")), st.integers(1, 30), min_size=1),
    size=st.integers(1, 100),
    seed=st.integers(0, 99),
)
def test_strata_are_drawn_evenly_as_far_as_they_go(counts: dict[tuple[str, str], int], size: int, seed: int) -> None:
    strata = dict(enumerate(stratum for stratum, n in counts.items() for _ in range(n)))
    names = {number: f"response {number}" for number in strata}
    sample = draw(strata, names, size=size, seed=seed)
    assert len(set(sample.responses)) == len(sample.responses) == min(size, len(strata))
    drawn = Counter(strata[response] for response in sample.responses)
    assert sample.strata == {stratum: (n, drawn[stratum]) for stratum, n in counts.items()}
    most = max(drawn.values())
    assert all(drawn[stratum] >= min(n, most - 1) for stratum, n in counts.items())
    # The order in which a database gives its rows changes nothing.
    again = draw(dict(reversed(strata.items())), names, size=size, seed=seed)
    assert set(again.responses) == set(sample.responses)


def test_a_batch_keeps_how_it_was_drawn(run: JudgeRun, group: ExpertGroup) -> None:
    batch = give(run, group, replace(TERMS, size=4))
    tasks = LabelTask.objects.filter(batch=batch)
    assert tasks.count() == 8  # two readers each
    assert all(task.response is not None and task.response.case_id == task.case_id for task in tasks)
    chances = inclusion_probabilities(batch)
    # Six strata of one response each: four are drawn whole, two not at all.
    assert sorted(chances.values()) == [0, 0, 1, 1, 1, 1]
    # The rest can be given out, and nothing twice.
    assert LabelTask.objects.filter(batch=give(run, group, replace(TERMS, seed=2))).count() == 4
    with pytest.raises(DomainError, match="already"):
        give(run, group, replace(TERMS, seed=3))


def test_what_is_made_is_what_was_seen(run: JudgeRun, group: ExpertGroup) -> None:
    plan, _sample = plan_read_batch(group=group, run=run, terms=TERMS)
    with pytest.raises(Conflict):
        give(run, group, replace(TERMS, size=3), digest=plan.digest)
    batch = give(run, group, digest=plan.digest)
    with pytest.raises(Conflict, match="already"):  # sent twice
        give(run, group, digest=plan.digest)
    assert Batch.objects.get() == batch


# What is marked


def test_a_level_needs_its_words_and_stays_as_it_was_handed_in(run: JudgeRun, group: ExpertGroup) -> None:
    batch = give(run, group)
    task = LabelTask.objects.filter(batch=batch, response__text__startswith="You can make").first()
    assert task is not None
    assert task.response is not None
    text = task.response.text
    mark(task, "primary-care")
    with pytest.raises(Unlabelled):
        submit_labels(task=task, annotator=task.annotator, at=timezone.now())
    for wrong in ({"certainty": 50}, {"upper": "urgent-care"}, {"escalation": "no-level"}):
        with pytest.raises(DomainError):
            mark(task, "primary-care", (0, 5), version=1, **wrong)
    with pytest.raises(DomainError, match="The evidence is outside the response"):
        mark(task, "primary-care", (0, len(text) + 1), version=1)
    answer = mark(task, "primary-care", (0, 38), version=1, escalation="emergency")
    assert answer.evidence == [{"start": 0, "end": 38, "quote": text[:38]}]
    submit_labels(task=task, annotator=task.annotator, at=timezone.now())
    with pytest.raises(Exception, match="never changes"), transaction.atomic():
        LabelAnswer.objects.filter(pk=answer.pk).update(value="emergency")
    scale = answer.question.scale
    assert scale is not None
    [read] = read_answers(scale)
    assert (read.level, read.escalation, read.spans) == (1, 3, ((0, 38),))
    # It is no vote about the case.
    assert panel_of(run.benchmark, scale) == {}
    assert questions_on(run.benchmark, scale) == []


def test_a_release_has_no_reading_of_a_physician_as_a_vote(
    run: JudgeRun, group: ExpertGroup, tmp_path: Path, client: Client
) -> None:
    task = LabelTask.objects.filter(batch=give(run, group)).first()
    assert task is not None
    mark(task, "no-level")
    submit_labels(task=task, annotator=task.annotator, at=timezone.now())
    root = tmp_path / "release"
    options = ("--with", "acuity,votes", "--licence", "CC-BY-4.0")
    call_command("release", "--benchmark", "advised", "--out", str(root), *options)
    call_command("verify_release", str(root))
    assert len((root / "acuity" / "votes.csv").read_text("utf-8").splitlines()) == 1  # the heading
    client.force_login(BenchmarkRoleFactory(benchmark=run.benchmark, role="admin").user)
    assert "0 votes." in client.get(reverse("releases:release-new", args=["advised"])).content.decode()


def test_no_level_needs_no_words(run: JudgeRun, group: ExpertGroup) -> None:
    task = LabelTask.objects.filter(batch=give(run, group)).first()
    assert task is not None
    mark(task, "no-level")
    submit_labels(task=task, annotator=task.annotator, at=timezone.now())
    assert [answer.level for answer in read_answers(run.judge.scale)] == [None]  # type: ignore[arg-type]


def test_nobody_reads_what_they_wrote(run: JudgeRun, group: ExpertGroup) -> None:
    author = group.people["annotator"][0]
    response = Response.objects.filter(setting="chat").first()
    assert response is not None
    own = Response.objects.create(
        case=response.case, candidate=response.candidate, sample=9, text="Call an ambulance now.", author=author
    )
    reading = AcuityReading.objects.filter(response=response).get()
    reading.pk, reading.response, reading.sample = None, own, 9
    reading.save(force_insert=True)
    with pytest.raises(DomainError, match="wrote"):
        give(run, group, replace(TERMS, size=7))
    batch = give(run, group, replace(TERMS, size=7, readers=1))
    assert LabelTask.objects.filter(response=own).get().annotator != author
    with pytest.raises(IntegrityError, match="wrote"), transaction.atomic():
        LabelTask.objects.create(batch=batch, case=own.case, response=own, annotator=author)
    other = Response.objects.exclude(case=own.case).first()
    with pytest.raises(IntegrityError, match="to the case"), transaction.atomic():
        LabelTask.objects.create(batch=batch, case=own.case, response=other, annotator=author)


# Pages


def test_the_page_of_a_reader_shows_the_two_texts_alone(run: JudgeRun, group: ExpertGroup, client: Client) -> None:
    task = LabelTask.objects.filter(batch=give(run, group)).select_related("response__candidate").first()
    assert task is not None
    assert task.response is not None
    client.force_login(task.annotator)
    page = client.get(reverse("annotation:label", args=[task.public_id])).content.decode()
    assert task.response.text.split(".")[0].split("\n")[0].replace("'", "&#x27;") in page
    assert "Response to read" in page
    api = client.get(f"/api/v1/label-tasks/{task.public_id}/")
    for text in (page, api.content.decode() if api.status_code == 200 else ""):
        for hidden in (task.response.candidate.name, task.response.public_id, run.public_id, '"levels"', "strata"):
            assert hidden not in text
    # Questions about responses are none about cases.
    client.force_login(BenchmarkRoleFactory(benchmark=run.benchmark, role="admin").user)
    question = LabelQuestion.objects.get(kind="read")
    assert client.get(reverse("annotation:label-results", args=["advised", question.public_id])).status_code == 404
    assert question.text not in client.get(reverse("annotation:labels", args=["advised"])).content.decode()


def test_staff_draw_preview_give_out_and_read_the_file(run: JudgeRun, group: ExpertGroup, client: Client) -> None:
    client.force_login(BenchmarkRoleFactory(benchmark=run.benchmark, role="admin").user)
    ids = ["advised", run.public_id]
    assert "Have physicians read a sample" in client.get(reverse("scoring:run-readings", args=ids)).content.decode()
    shown = client.get(reverse("scoring:read-batch-new", args=ids)).content.decode()
    assert f'<option value="{group.public_id}" selected>' in shown  # there is no other
    unchosen = client.get(reverse("scoring:read-batch-preview", args=ids), {"readers": 2, "size": 4, "seed": 5})
    assert "Group: This field is required." in unchosen.content.decode()
    form = {"group": group.public_id, "readers": 2, "size": 4, "seed": 5, "title": ""}
    preview = client.get(reverse("scoring:read-batch-preview", args=ids), form).content.decode()
    assert "Level read by the judge" in preview
    refused = client.get(reverse("scoring:read-batch-preview", args=ids), {**form, "readers": 3}).content.decode()
    assert "3 readers per response are required, but only 2 in the group" in refused
    digest = preview.split('name="digest" value="')[1].split('"')[0]
    answer = client.post(reverse("scoring:read-batch-new", args=ids), {**form, "title": "Read", "digest": digest})
    assert answer.status_code == 302
    batch = client.get(answer["Location"]).content.decode()
    assert reverse("scoring:run-readings", args=ids) in batch
    assert "Readers per response" in batch
    judge = reverse("scoring:judge", args=["advised", run.judge.public_id])
    assert "Physicians have read 0 of the 6 responses of its newest run" in client.get(judge).content.decode()
    task = LabelTask.objects.filter(response__text=next(iter(ADVICE))).first() or LabelTask.objects.first()
    assert task is not None
    assert task.response is not None
    reader = Client()
    reader.force_login(task.annotator)
    notices = reader.get("/notifications/").content.decode()
    assert re.search(r"You were assigned \d+ responses? to read for (its|their) advice in “Read”", notices)
    mark(task, LEVELS[0], (0, 4))
    submit_labels(task=task, annotator=task.annotator, at=timezone.now())
    text = b"".join(client.get(reverse("scoring:read-answers-csv", args=ids))).decode("utf-8-sig")
    [row] = csv.DictReader(text.splitlines())
    assert "Physicians have read 1 of the 6 responses of its newest run" in client.get(judge).content.decode()
    assert (row["level"], row["evidence"], row["inclusion_probability"]) == (LEVELS[0], task.response.text[:4], "1.0")


@pytest.mark.django_db(transaction=True)
def test_a_reader_marks_words_by_keyboard(
    transactional_db: None, settings: Any, new_page: Callable[..., Page], watch: Watch
) -> None:
    settings.JUDGE_ALLOWED_HOSTS = ["127.0.0.1"]
    run = judged(advised_benchmark())
    group = ExpertGroupFactory(benchmark=run.benchmark, annotators=1)
    batch = give(run, group, replace(TERMS, readers=1))
    tasks = list(LabelTask.objects.filter(batch=batch).order_by("position"))
    page = new_page(tasks[0].annotator, viewport={"width": 768, "height": 1024})
    page.goto(f"/work/labels/{tasks[0].public_id}/")
    expect(page.locator("h2.speaker", has_text="Response to read")).to_be_visible()
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        assert axe_violations(page) == []
    page.keyboard.press("2")
    page.keyboard.press("e")  # nothing is selected: the first sentence is picked
    page.keyboard.press("Enter")
    expect(page.locator("[data-passages] q")).to_have_count(1)
    expect(page.locator("#response mark.current")).to_have_count(1)
    page.keyboard.press("c")
    escalation = page.locator("[data-escalation]")
    expect(escalation).to_be_focused()
    page.keyboard.press("ArrowDown")  # the list takes arrows and letters for itself
    page.keyboard.press("e")
    expect(escalation).to_have_value("emergency")
    page.keyboard.press("3")
    expect(escalation).to_have_value("urgent-care")
    expect(page.locator(".question.current")).to_be_focused()
    page.keyboard.type("c4")
    expect(page.locator("[data-passages] q")).to_have_count(1)
    expect(page.locator("#answered-text")).to_have_text("1 / 1")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#place")).to_have_text("Response 2 of 6")
    answer = LabelAnswer.objects.get(task=tasks[0])
    assert (answer.value, answer.escalation) == ("primary-care", "emergency")
    assert tasks[0].response is not None
    [passage] = answer.evidence
    assert tasks[0].response.text[passage["start"] : passage["end"]] == passage["quote"]
    assert passage["start"] == 0


def test_a_report_compares_judge_and_physicians(
    run: JudgeRun, group: ExpertGroup, client: Client, tmp_path: Path
) -> None:
    batch = give(run, group)
    for task in LabelTask.objects.filter(batch=batch).select_related("response"):
        assert task.response is not None
        level = ADVICE[task.response.text][0]
        # Everybody reads what is advised, but that one reader takes an appointment for urgent care.
        if level == 1 and task.annotator == group.people["annotator"][0]:
            level = 2
        mark(task, "no-level" if level is None else LEVELS[level], *([] if level is None else [(0, 4)]))
        submit_labels(task=task, annotator=task.annotator, at=timezone.now())
    call_command("acuity_judge", benchmark="advised", out=tmp_path / "out")
    rows = list(csv.DictReader((tmp_path / "out" / "judge.csv").read_text("utf-8-sig").splitlines()))
    by_measure = {row["measure"]: row for row in rows if row["candidate"] == "all"}
    assert (by_measure["exact"]["value"], by_measure["exact"]["n_responses"]) == ("0.875", "4")
    assert float(by_measure["emergency_recall"]["value"]) == 1
    assert float(by_measure["quote_overlap"]["value"]) == 1
    report = create_report(benchmark=run.benchmark, kind="acuity_judge", parameters={}, at=timezone.now())
    compute_report(report_id=report.pk, clock=timezone.now)
    report.refresh_from_db()
    assert report.status == "done", report.error
    client.force_login(BenchmarkRoleFactory(benchmark=run.benchmark, role="admin").user)
    page = client.get(reverse("agreement:report", args=["advised", "acuity", report.public_id]))
    assert page.status_code == 200
    text = page.content.decode()
    assert "Physicians have read 6 responses of this run" in " ".join(text.split())
    assert "0.875" in text
    # The judge reads the appointment that one of two physicians takes for urgent care as what it is.
    assert "C → B: 1 (33%)" in text
    assert "C → C: 2 (67%)" in text
    assert "4 marks are not shown because one side has no level" in text
    # Of four responses with two marks each the physicians are alike on three.
    assert "Same level, Judge and a physician: 0.875" in text
    assert "Same level, Two physicians: 0.750" in text
    for name in ("agreement", "confusion"):
        for ending, start in (("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF")):
            file = client.get(reverse("agreement:figure", args=["advised", "acuity", report.public_id, name, ending]))
            assert file.content.startswith(start), (name, ending)
    # The report is named by its judge, on its page and in the list.
    assert "How well levels (run of" in text
    assert "How well levels (run of" in client.get(reverse("agreement:acuity", args=["advised"])).content.decode()
    assert run.public_id not in text.partition("<h1")[2].partition("</h1>")[0]
