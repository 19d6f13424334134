"""Labelling cases in a real browser: the keyboard alone, another tab, and a connection that is gone for a while."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.utils import timezone
from playwright.sync_api import Page, Route, expect

from annotation.models import LabelAnswer, LabelTask
from annotation.services.labels import AnswerInput, save_answer
from tests.annotation.ward import Ward, build_ward
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
    watch.allow("ERR_FAILED", "status of 409")
    task = ward.tasks("a")[0]
    page = new_page(task.annotator)
    page.goto(f"/work/labels/{task.public_id}/")
    expect(page.locator(".question.current")).to_have_count(1)

    def cut(route: Route) -> None:
        route.abort()

    page.route("**/answers/", cut)
    page.keyboard.press("1")
    expect(page.locator("#saved")).to_have_text("1 waiting, offline")
    page.unroute("**/answers/", cut)
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()  # what was not sent is still there
    expect(page.locator("#saved")).to_have_text(re.compile(r"^Saved"))
    assert LabelAnswer.objects.get().value == "emergent"
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
