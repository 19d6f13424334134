"""Writing a response in a real browser: a connection that is gone for a while, another tab, and handing in."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, Route, expect

from annotation.models import WritingTask
from annotation.writing.services import TextInput, save_text
from rubrics.models import Response
from tests.annotation.writing.writing_world import build_writing_world
from tests.axe import axe_violations
from tests.conftest import Watch

pytestmark = pytest.mark.django_db(transaction=True)
NewPage = Callable[..., Page]


def test_nothing_typed_is_lost_and_it_is_handed_in_by_keyboard(
    new_page: NewPage, transactional_db: None, watch: Watch
) -> None:
    watch.allow("ERR_FAILED", "status of 409")
    world = build_writing_world(annotators=1)
    user = world.people[0]
    world.give_out(draw=2, mode="aided", references=world.models)
    task, following = WritingTask.objects.filter(writer=user).order_by("position")
    page = new_page(user, reduced_motion="reduce", viewport={"width": 1280, "height": 900})
    page.goto(f"/writing/{task.public_id}/")
    saved, editor = page.locator("#saved"), page.locator("#text")
    expect(editor).to_be_focused()

    def cut(route: Route) -> None:
        route.abort()

    page.route("**/save/", cut)
    page.keyboard.type("Rest, and drink.")
    expect(saved).to_have_text("Kept here, offline")
    assert WritingTask.objects.get(pk=task.pk).text == ""
    page.on("dialog", lambda dialog: dialog.accept())
    page.unroute("**/save/", cut)
    page.reload()  # what was not sent is still there, and goes now
    expect(editor).to_have_value("Rest, and drink.")
    expect(saved).to_have_text(re.compile(r"^Saved \d\d:\d\d:\d\d$"))
    assert WritingTask.objects.get(pk=task.pk).text == "Rest, and drink."

    save_text(task=task, writer=user, change=TextInput("Elsewhere", version=2), at=timezone.now())
    page.keyboard.press("End")
    page.keyboard.type(" Now.")
    expect(page.locator("#choice")).to_be_visible()
    assert WritingTask.objects.get(pk=task.pk).text == "Elsewhere"  # nothing is written over unasked
    assert axe_violations(page) == []
    page.locator("[data-keep-mine]").click()
    expect(saved).to_have_text(re.compile(r"^Saved"))

    page.locator("[data-start-from='1']").click()
    mine = editor.input_value()
    expect(page.locator("#replace")).to_contain_text("Undo brings yours back")
    page.locator("[data-replace]").click()
    shown = Response.objects.get(pk=task.shown[1])
    expect(editor).to_have_value(shown.text)
    page.get_by_role("button", name="Undo").click()
    expect(editor).to_have_value(mine)
    expect(page.locator("#from")).to_be_hidden()
    page.locator("[data-start-from='1']").click()
    page.locator("[data-replace]").click()
    expect(editor).to_have_value(shown.text)
    expect(page.locator("#from")).to_contain_text("Started from reference B.")
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        assert axe_violations(page) == []
    page.keyboard.press("Control+Enter")
    expect(page.locator("#hand-in")).to_be_visible()
    page.keyboard.press("Control+Enter")
    page.wait_for_url(f"**/writing/{following.public_id}/")
    page.goto(f"/writing/{task.public_id}/")  # the submitted text is to be read only
    expect(page.locator("#from")).to_contain_text("Started from reference B.")
    expect(page.locator("[data-start-over]")).to_have_count(0)
    row = Response.objects.get(author=user)
    assert (row.text, row.derived_from, row.sample) == (shown.text, shown, 0)
    assert page.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('consilium.writing:')).length") == 0


def test_a_text_that_is_too_long_to_be_read_is_kept_and_reported(
    new_page: NewPage, transactional_db: None, watch: Watch, settings: Any
) -> None:
    watch.allow("status of 413")
    settings.MAX_BODY_BYTES = 2_000
    world = build_writing_world(annotators=1)
    world.give_out(draw=1)
    task = WritingTask.objects.get()
    page = new_page(world.people[0], reduced_motion="reduce")
    page.goto(f"/writing/{task.public_id}/")
    text = "Rest, and drink. " * 200
    page.locator("#text").fill(text)
    expect(page.locator("#refusal")).to_contain_text("This request is too large")
    expect(page.locator("#text")).to_have_value(text)
    settings.MAX_BODY_BYTES = 3_000_000
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()  # it was kept in this browser, and goes now
    expect(page.locator("#saved")).to_have_text(re.compile(r"^Saved"))
    assert WritingTask.objects.get().text.strip() == text.strip()
