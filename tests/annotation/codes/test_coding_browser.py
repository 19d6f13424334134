"""Coding responses in a real browser: by the keyboard alone, with evidence, on a phone, and what was not sent."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.codes.rulings import request_code_rulings
from annotation.models import CodeRuling, LabelAnswer, LabelTask
from annotation.services import decisions
from consilium import context
from tests.annotation.codes.coding_world import CodingWorld, build_coding
from tests.axe import axe_violations
from tests.conftest import Watch
from tests.overflow import cut_off
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
NewPage = Callable[..., Page]


@pytest.fixture
def world(transactional_db: None) -> CodingWorld:
    return build_coding(criteria=True)


def codes_of(task: LabelTask) -> list[str]:
    answer = LabelAnswer.objects.filter(task=task).first()
    return [code["code"] for code in answer.codes] if answer else []


def tasks_of(world: CodingWorld) -> list[LabelTask]:
    user = world.task("a alpha").annotator
    return list(LabelTask.objects.filter(annotator=user).select_related("annotator").order_by("position"))


def test_responses_are_coded_with_the_keyboard_alone(new_page: NewPage, world: CodingWorld, watch: Watch) -> None:
    watch.allow("status of 422")
    first, second, *_ = tasks_of(world)
    page = new_page(first.annotator, reduced_motion="reduce", viewport={"width": 1280, "height": 900})
    page.goto(f"/work/labels/{first.public_id}/")
    expect(page.locator("#place")).to_have_text("Response 1 of 4")
    page.keyboard.press("3")
    wait_until(lambda: codes_of(first) == ["wrong-dose"], message="the first code is saved")
    page.keyboard.press("f")  # the 12th: overconfidence
    page.keyboard.press("e")  # without a selection, a sentence is picked with the arrow keys
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("[data-of-code=overconfidence] q")).to_have_text("It is certainly harmless.")
    wait_until(lambda: len(codes_of(first)) == 2, message="both codes are saved")
    page.keyboard.press("3")  # unmarked again
    wait_until(lambda: codes_of(first) == ["overconfidence"], message="the code is taken away")
    expect(page.locator("#saved")).to_contain_text("Saved")
    page.reload()
    expect(page.locator("[data-code=overconfidence]")).to_be_checked()
    expect(page.locator("#response mark")).to_have_text("It is certainly harmless.")
    assert not axe_violations(page)
    page.keyboard.press("Enter")
    expect(page.locator("#place")).to_have_text("Response 2 of 4")
    first.refresh_from_db()
    assert first.status == "submitted"
    evidence = LabelAnswer.objects.get(task=first).codes[0]["evidence"]
    assert evidence == [{"quote": "It is certainly harmless.", "start": 18, "end": 43}]
    # Nothing marked is no answer; none of these is one. What was marked and unmarked is not kept on the server.
    page.keyboard.press("3")
    wait_until(lambda: codes_of(second) == ["wrong-dose"], message="the code is saved")
    page.keyboard.press("3")
    wait_until(lambda: codes_of(second) == [], message="that it was taken away is saved, too")
    page.keyboard.press("Enter")
    expect(page.locator("#refusal")).to_contain_text("Mark a code, or “None of these”.")
    page.keyboard.press("0")
    expect(page.locator("#refusal")).to_be_empty()
    page.keyboard.press("Enter")
    expect(page.locator("#place")).to_have_text("Response 3 of 4")
    assert LabelAnswer.objects.get(task=second).value == "none"


def test_an_answer_that_was_refused_is_not_handed_in_without_what_was_marked(
    new_page: NewPage, world: CodingWorld, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch.allow("status of 422")
    task = tasks_of(world)[0]
    page = new_page(task.annotator, reduced_motion="reduce", viewport={"width": 1280, "height": 900})
    page.goto(f"/work/labels/{task.public_id}/")
    page.keyboard.press("3")
    wait_until(lambda: codes_of(task) == ["wrong-dose"], message="the first code is saved")
    monkeypatch.setattr(decisions, "MAX_PASSAGES", 0)
    page.keyboard.press("e")
    page.keyboard.press("Enter")
    expect(page.locator("#refusal")).to_contain_text("At most 0 passages can be attached.")
    page.keyboard.press("f")
    expect(page.locator("[data-code=overconfidence]")).to_be_checked()
    page.keyboard.press("Enter")
    expect(page.locator("#refusal")).to_contain_text("At most 0 passages can be attached.")
    task.refresh_from_db()
    assert (task.status, codes_of(task)) == ("draft", ["wrong-dose"])
    page.get_by_role("button", name="Remove this passage").click()
    wait_until(lambda: codes_of(task) == ["wrong-dose", "overconfidence"], message="without it, all is saved")
    expect(page.locator("#refusal")).to_be_empty()
    page.keyboard.press("Enter")
    expect(page.locator("#place")).to_have_text("Response 2 of 4")


def test_no_more_passages_are_attached_than_the_server_takes(
    new_page: NewPage, world: CodingWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(context._LIMITS, "MAX_PASSAGES", 1)
    task = tasks_of(world)[0]
    page = new_page(task.annotator, reduced_motion="reduce", viewport={"width": 1280, "height": 900})
    page.goto(f"/work/labels/{task.public_id}/")
    page.keyboard.press("3")
    page.keyboard.press("e")
    page.keyboard.press("Enter")
    page.keyboard.press("e")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_text("At most 1 passages can be attached.")).to_be_visible()
    expect(page.locator("[data-of-code=wrong-dose] q")).to_have_count(1)
    # A code that is taken away and marked again has its passage again.
    page.keyboard.press("0")
    kept = LabelAnswer.objects.filter(task=task, value="none")
    wait_until(kept.exists, message="it is taken away")
    page.keyboard.press("3")
    expect(page.locator("[data-of-code=wrong-dose] q")).to_have_count(1)
    wait_until(
        lambda: [len(code["evidence"]) for code in LabelAnswer.objects.get(task=task).codes] == [1],
        message="the code is saved with its passage",
    )


def test_a_phone_shows_all_of_it_and_keeps_what_it_cannot_send(
    new_page: NewPage, world: CodingWorld, watch: Watch
) -> None:
    watch.allow("ERR_INTERNET_DISCONNECTED")
    task = tasks_of(world)[0]
    page = new_page(task.annotator, viewport={"width": 390, "height": 844})
    page.goto(f"/work/labels/{task.public_id}/")
    page.context.set_offline(True)
    page.locator("[data-code=wrong-dose]").check()
    criterion = page.locator("[data-of-code=wrong-dose] [data-criterion]")
    criterion.select_option(index=1)
    expect(page.locator("#saved")).to_contain_text("waiting, offline")
    assert not cut_off(page)
    page.context.set_offline(False)
    wait_until(lambda: codes_of(task) == ["wrong-dose"], message="what was kept is sent")
    wait_until(
        lambda: LabelAnswer.objects.get(task=task).codes[0]["criterion"] is not None, message="with its criterion"
    )


def test_an_adjudicator_rules_with_keys(new_page: NewPage, world: CodingWorld) -> None:
    world.say("a alpha", ["wrong-dose"], [])
    world.say("b alpha", [], ["overconfidence"])
    number = request_code_rulings(group=world.groups[0], question=world.question, seed=1, by=None, at=timezone.now())
    assert number == 2
    judge = world.groups[0].people["adjudicator"][0]  # type: ignore[attr-defined]
    page = new_page(judge, viewport={"width": 390, "height": 844})
    page.goto("/work/code-rulings/")
    page.get_by_role("link", name="Rule on next response").click()
    page.wait_for_url(lambda url: not url.endswith("/code-rulings/"))  # and its scripts are loaded
    page.keyboard.press("0")
    expect(page.locator("[data-none]")).to_be_checked()
    page.keyboard.press("3")  # instead of none of these
    expect(page.locator("[value=wrong-dose]")).to_be_checked()
    expect(page.locator("[data-none]")).not_to_be_checked()
    assert not cut_off(page)
    assert not axe_violations(page)
    page.set_viewport_size({"width": 1280, "height": 844})
    page.get_by_role("button", name="Keyboard shortcuts").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 390, "height": 844})
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("rule, and open the next response")
    page.keyboard.press("3")  # no key of the page while its list is open
    page.keyboard.press("Escape")
    expect(page.locator("[value=wrong-dose]")).to_be_checked()
    # What was chosen outlives a reload, since a ruling is stored once and for all.
    page.keyboard.press("t")
    page.keyboard.type("By the dose.")
    page.reload()
    expect(page.locator("[value=wrong-dose]")).to_be_checked()
    expect(page.locator("#ruling-note")).to_have_value("By the dose.")
    # It also outlives a ruling that was sent and did not arrive.
    address = page.url
    page.context.set_offline(True)
    with page.expect_event("requestfailed"):
        page.keyboard.press("Control+Enter")
    page.context.set_offline(False)
    page.goto("/work/code-rulings/")
    page.goto(address)
    expect(page.locator("[value=wrong-dose]")).to_be_checked()
    expect(page.locator("#ruling-note")).to_have_value("By the dose.")
    page.keyboard.press("f")  # far below: the page goes there
    expect(page.locator("[value=overconfidence]")).to_be_in_viewport()
    page.keyboard.press("f")
    page.keyboard.press("Control+Enter")
    wait_until(lambda: CodeRuling.objects.filter(codes=["wrong-dose"]).exists(), message="the ruling is saved")
    expect(page.get_by_text("Your ruling is saved. 1 left.")).to_be_visible()
    kept = "Object.keys(localStorage).filter((key) => key.startsWith('consilium.code-ruling:'))"
    assert page.evaluate(kept) == []
    page.keyboard.press("2")
    (key,) = page.evaluate(kept)
    assert key.startswith(f"consilium.code-ruling:{page.locator('#session-ended').get_attribute('data-who')}:")
