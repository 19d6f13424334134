"""Labelling cases in a real browser: the keyboard alone, another tab, and a connection that is gone for a while."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone
from playwright.sync_api import Page, Route, expect

from accounts.identity import opaque_name
from annotation.labels.services import AnswerInput, save_answer
from annotation.models import LabelAnswer, LabelTask
from tests.annotation.labels.labels_world import Ward, build_ward
from tests.axe import axe_violations
from tests.conftest import Watch

pytestmark = pytest.mark.django_db(transaction=True)
NewPage = Callable[..., Page]


@pytest.fixture
def ward(transactional_db: None) -> Ward:
    return build_ward()


def test_cases_are_labelled_with_the_keyboard_alone(new_page: NewPage, ward: Ward) -> None:
    user = ward.people[0]
    tasks = list(LabelTask.objects.filter(annotator=user).order_by("position"))
    page = new_page(user, reduced_motion="reduce", viewport={"width": 1280, "height": 900})
    page.goto(f"/work/labels/{tasks[0].public_id}/")
    for number in (1, 2, 3):
        expect(page.locator("#place")).to_have_text(f"Case {number} of 4")
        expect(page.locator(".question.current .n")).to_have_text("1")
        page.keyboard.press("2")  # conditional, and on to acuity
        expect(page.locator(".question.current .n")).to_have_text("2")
        page.keyboard.press("4")
        for key in ["ArrowRight"] * 2 + ["ArrowLeft"]:  # 50, 55, 60, 55
            page.keyboard.press(key)
        if number == 1:
            page.keyboard.press("t")
            page.keyboard.type("1 and j are letters here")
            page.keyboard.press("Escape")
            page.keyboard.press("k")
            expect(page.locator(".question.current .n")).to_have_text("1")
            expect(page.locator("#saved")).to_have_text(re.compile(r"^Saved \d\d:\d\d:\d\d$"))
            for theme in ("light", "dark"):
                page.emulate_media(color_scheme=theme, reduced_motion="reduce")
                assert axe_violations(page) == []
        page.keyboard.press("Control+Enter")
    expect(page.locator("#place")).to_have_text("Case 4 of 4")
    assert page.url.endswith(f"/work/labels/{tasks[3].public_id}/")
    assert [*LabelTask.objects.filter(annotator=user).order_by("position").values_list("status", flat=True)] == [
        "submitted", "submitted", "submitted", "not_started",
    ]  # fmt: skip
    rows = LabelAnswer.objects.filter(task=tasks[0]).order_by("question")
    assert [*rows.values_list("value", "certainty", "note")] == [
        ("conditional", None, ""), ("level-4", 55, "1 and j are letters here"),
    ]  # fmt: skip


def test_nothing_is_lost_offline_and_nothing_overwritten(new_page: NewPage, ward: Ward, watch: Watch) -> None:
    watch.allow("ERR_FAILED", "status of 409", "status of 422")
    task = ward.tasks("a")[0]
    page = new_page(task.annotator)
    page.goto(f"/work/labels/{task.public_id}/")
    expect(page.locator(".question.current")).to_have_count(1)
    page.keyboard.press("t")
    page.keyboard.type("before the answer")
    page.reload()
    expect(page.locator("#saved")).to_have_text("1 waiting for an answer")
    expect(page.locator("[data-note]").first).to_have_value("before the answer")
    expect(page.locator("[data-early]:visible")).to_have_count(1)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#refusal")).to_have_text(
        "2 questions are not answered yet. "
        "Notes and settings without an answer are kept in this browser until you answer."
    )
    assert not LabelAnswer.objects.exists()

    def cut(route: Route) -> None:
        route.abort()

    page.route("**/answers/", cut)
    page.keyboard.press("1")
    expect(page.locator("#saved")).to_have_text("1 waiting, offline")
    page.unroute("**/answers/", cut)
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()  # what was not sent is still there
    expect(page.locator("#saved")).to_have_text(re.compile(r"^Saved"))
    assert LabelAnswer.objects.values_list("value", "note").get() == ("emergent", "before the answer")
    expect(page.locator("[data-early]:visible")).to_have_count(0)
    elsewhere = AnswerInput(ward.urgency.public_id, "conditional", version=1)
    save_answer(task=task, annotator=task.annotator, change=elsewhere, at=timezone.now())
    page.keyboard.press("k")
    page.keyboard.press("3")
    expect(page.locator("#choice")).to_be_visible()
    assert LabelAnswer.objects.get().value == "conditional"
    page.locator("[data-keep-mine]").click()
    expect(page.locator("#choice")).to_be_hidden()
    expect(page.locator("#saved")).to_have_text(re.compile(r"^Saved"))
    answer = LabelAnswer.objects.get()
    assert (answer.value, answer.version) == ("non-emergent", 3)


def test_what_cannot_be_sent_any_more_is_shown_and_can_be_forgotten(
    new_page: NewPage, ward: Ward, watch: Watch
) -> None:
    watch.allow("status of 409", "status of 404", "status of 422")
    ward.say("b", "emergent")
    (open_, theirs), (handed_in, *_others), (waits, *_others) = ward.tasks("a")[:2], ward.tasks("b"), ward.tasks("c")
    user = open_.annotator
    page = new_page(user, reduced_motion="reduce")
    page.goto("/work/")
    entry = {"value": "conditional", "certainty": None, "note": "kept words", "version": 0, "client_id": str(uuid4())}
    for task, value in ((theirs, "conditional"), (handed_in, ""), (waits, "")):
        key = f"consilium.labels:{opaque_name(user)}:{task.public_id}:{ward.urgency.public_id}"
        page.evaluate(
            "([key, entry]) => localStorage.setItem(key, JSON.stringify(entry))", [key, entry | {"value": value}]
        )
    for url in (f"/work/labels/{open_.public_id}/", "/work/"):
        page.goto(url)
        left = page.locator("#labels-left .notice")
        expect(left).to_have_count(2)  # the third only waits for its answer
        expect(left.filter(has_text="is no longer assigned to you")).to_contain_text("conditional · kept words")
        expect(left.filter(has_text="have been submitted and can no longer be changed")).to_contain_text("kept words")
    assert axe_violations(page) == []
    left.filter(has_text="is no longer assigned to you").get_by_role("button").click()
    expect(left).to_have_count(1)
    left.get_by_role("button").click()
    expect(page.locator("#labels-left")).to_be_hidden()
    assert page.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('consilium.labels:')).length") == 1


def test_an_answer_that_is_too_long_to_be_read_is_kept_and_reported(
    new_page: NewPage, ward: Ward, watch: Watch, settings: Any
) -> None:
    watch.allow("status of 413")
    settings.MAX_BODY_BYTES = 400
    task = ward.tasks("a")[0]
    page = new_page(task.annotator)
    page.goto(f"/work/labels/{task.public_id}/")
    page.keyboard.press("t")
    note = page.locator(".question.current textarea")
    note.fill("Where does it hurt? " * 40)
    page.keyboard.press("Escape")
    page.keyboard.press("2")
    expect(page.locator("#refusal")).to_contain_text("This request is too large")
    assert not LabelAnswer.objects.exists()
    settings.MAX_BODY_BYTES = 3_000_000
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()  # it was kept in this browser, and goes now
    expect(page.locator("#saved")).to_have_text(re.compile(r"^Saved"))
    assert LabelAnswer.objects.get().note == ("Where does it hurt? " * 40).strip()
