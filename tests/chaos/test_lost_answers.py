"""A save arrives, its answer is lost, and its author writes on: nobody is asked, and the last state is stored.

Grading has the same among its own tests.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from playwright.sync_api import Page, Route, expect

from annotation.models import Amendment, LabelAnswer, WritingTask
from rubrics.audits.services import AuditTerms, create_audit
from rubrics.models import AuditItem, Case, RubricDraft
from rubrics.services import give_authoring_role
from tests.annotation.codes.coding_world import build_coding
from tests.annotation.conftest import build_workshop
from tests.annotation.labels.labels_world import build_ward
from tests.annotation.writing.writing_world import build_writing_world
from tests.conftest import Watch
from tests.factories import BenchmarkFactory, CaseFactory, UserFactory, decide
from tests.rubrics.audits.test_audits import KEYS, auditor_of, bench

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
NewPage = Callable[..., Page]


class LostAnswer:
    """The answer to the first save of a page is lost; those after it arrive."""

    def __init__(self, page: Page, pattern: str) -> None:
        self.count = 0
        page.route(pattern, self._handle)

    def _handle(self, route: Route) -> None:
        if route.request.method != "POST" or self.count:
            route.continue_()
            return
        self.count += 1
        route.fetch()  # the server has it, and the browser never hears of it
        route.abort()


def until(page: Page, condition: Callable[[], object]) -> None:
    """Wait for it, while the page's requests go on."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "not within 60 s"
        page.wait_for_timeout(50)


@pytest.fixture(autouse=True)
def _lost(watch: Watch) -> None:
    watch.allow("ERR_FAILED", "status of 409")


def test_audit(transactional_db: None, new_page: NewPage) -> None:
    benchmark = bench("own", KEYS[:2])
    create_audit(benchmark=benchmark, terms=AuditTerms("Audit", share=1), by=None, at=timezone.now())
    auditor, client = auditor_of(benchmark), Client()
    client.force_login(auditor)
    client.post("/b/own/audits/take/")
    item = AuditItem.objects.get(auditor=auditor)
    page = new_page(auditor)
    lost = LostAnswer(page, "**/save/")
    page.goto(f"/b/own/audits/cases/{item.public_id}/")
    # The last question first, and a blank at the end: the server stores the same in another form.
    for question, answer in (("guidelines", "fault"), ("correctness", "sound")):
        page.locator(f"[name={question}][value={answer}]").check(force=True)
    page.locator("#comment").fill("First ")
    until(page, lambda: lost.count)
    page.locator("#comment").fill("First and second ")
    until(page, lambda: AuditItem.objects.get(pk=item.pk).comment == "First and second")
    assert AuditItem.objects.get(pk=item.pk).answers == {"correctness": True, "guidelines": False}
    expect(page.locator("#saving")).to_have_text("Saved")
    expect(page.locator("#choice")).to_be_hidden()


def written_case() -> tuple[Any, Case]:
    author, benchmark = UserFactory(), BenchmarkFactory(slug="b")
    give_authoring_role(benchmark=benchmark, user=author, role="author", at=timezone.now())
    return author, CaseFactory(benchmark=benchmark, rubric=0, conversation=[{"role": "user", "content": "It hurts."}])


def test_case(transactional_db: None, new_page: NewPage) -> None:
    author, case = written_case()
    page = new_page(author)
    lost = LostAnswer(page, "**/save/")
    page.goto(f"/b/b/write/{case.public_id}/")
    page.get_by_label("Text of turn 1").fill("My head hurts.")
    until(page, lambda: lost.count)
    page.get_by_label("Text of turn 1").fill("My head hurts a lot.")
    until(page, lambda: Case.objects.get(pk=case.pk).conversation[0]["content"] == "My head hurts a lot.")
    page.locator("#case-saved", has_text="Saved at").wait_for()
    expect(page.locator("#case-conflict")).to_be_hidden()


def test_rubric(transactional_db: None, new_page: NewPage) -> None:
    author, case = written_case()
    page = new_page(author)
    lost = LostAnswer(page, "**/draft/")
    page.goto(f"/b/b/write/{case.public_id}/rubric/")
    expect(page.locator("#editor[data-ready]")).to_be_visible()
    page.keyboard.press("Enter")
    page.keyboard.insert_text("Names the dose")
    until(page, lambda: lost.count)
    page.keyboard.insert_text(" and the hour")

    def texts() -> list[str]:
        return [row["text"] for draft in RubricDraft.objects.all() for row in draft.content["items"]]

    until(page, lambda: texts() == ["Names the dose and the hour"])
    expect(page.locator("#saved")).to_have_attribute("data-state", "saved")
    expect(page.locator("#conflict")).to_be_hidden()


def test_response(transactional_db: None, new_page: NewPage) -> None:
    room = build_writing_world(annotators=1)
    room.give_out(draw=1, mode="aided", references=room.models)
    task = WritingTask.objects.get(writer=room.people[0])
    page = new_page(room.people[0])
    lost = LostAnswer(page, "**/save/")
    page.goto(f"/writing/{task.public_id}/")
    expect(page.locator("#text")).to_be_focused()
    page.keyboard.type("Rest")
    until(page, lambda: lost.count)
    page.keyboard.type(", and drink.")
    until(page, lambda: WritingTask.objects.get(pk=task.pk).text == "Rest, and drink.")
    expect(page.locator("#saved")).to_have_attribute("data-state", "saved")
    expect(page.locator("#choice")).to_be_hidden()


def test_label(transactional_db: None, new_page: NewPage) -> None:
    ward = build_ward()
    task = ward.tasks("a")[0]
    page = new_page(task.annotator)
    lost = LostAnswer(page, "**/answers/")
    page.goto(f"/work/labels/{task.public_id}/")
    expect(page.locator(".question.current")).to_have_count(1)
    page.keyboard.press("1")
    until(page, lambda: lost.count)
    page.keyboard.press("k")
    page.keyboard.press("3")
    until(page, lambda: LabelAnswer.objects.values_list("value", flat=True).first() == "non-emergent")
    expect(page.locator("#saved")).to_have_attribute("data-state", "saved")
    expect(page.locator("#choice")).to_be_hidden()


def test_codes(transactional_db: None, new_page: NewPage) -> None:
    world = build_coding()
    task = world.task("a alpha")

    def codes() -> list[str]:
        answer = LabelAnswer.objects.filter(task=task).first()
        return [code["code"] for code in answer.codes] if answer else []

    page = new_page(task.annotator)
    lost = LostAnswer(page, "**/answers/")
    page.goto(f"/work/labels/{task.public_id}/")
    page.keyboard.press("3")
    until(page, lambda: lost.count)
    page.keyboard.press("f")
    page.keyboard.press("3")  # the first one is taken away again
    until(page, lambda: codes() == ["overconfidence"])
    expect(page.locator("#saved")).to_contain_text("Saved")
    expect(page.locator("#choice")).to_be_hidden()


def test_amendment(transactional_db: None, new_page: NewPage) -> None:
    workshop = build_workshop(check_policy="all", responses=2)
    decide(workshop.queue()[0], "met")
    page = new_page(workshop.checker)
    page.goto("/work/checks/")
    page.get_by_role("button", name="Start next check").click()
    expect(page.locator(".criterion.current")).to_have_count(1)
    lost = LostAnswer(page, "**/criteria/**")
    for key in ("n", "c"):
        page.keyboard.press(key)
        page.keyboard.type("No dose is named.")
        page.keyboard.press("Enter")
        until(page, lambda: lost.count)
    until(page, lambda: Amendment.objects.values_list("outcome", flat=True).first() == "cannot_assess")
    expect(page.locator("#saved")).to_have_attribute("data-state", "saved")
    expect(page.locator("#choice")).to_be_hidden()
