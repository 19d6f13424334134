"""Reviewing rubrics in a browser: keys, comments that are kept until they are sent, and lists with ticks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from rubrics.models import RubricReview
from tests.factories import BenchmarkFactory, CaseFactory
from tests.rubrics.versions.test_publishing import author, drafted, send, write

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from accounts.models import User
    from rubrics.models import Benchmark

pytestmark = pytest.mark.django_db(transaction=True)


def waiting(*keys: str) -> tuple[Benchmark, User]:
    """A benchmark with a reworded rubric of each case in review, and who may review them."""
    benchmark = BenchmarkFactory(slug="b")
    writer, reviewer = author(benchmark), author(benchmark)
    for key in keys:
        case = CaseFactory(benchmark=benchmark, key=key, rubric=[5, 3, -2])
        rubric, items = drafted(case, writer)
        write(rubric, [replace(items[0], text="Clearer"), *items[1:]], writer)
        send(rubric, writer)
    return benchmark, reviewer


def test_a_rubric_is_reviewed_with_keys_and_what_was_typed_is_kept(new_page: Callable[..., Page]) -> None:
    benchmark, reviewer = waiting("case")
    page = new_page(user=reviewer)
    case = benchmark.cases.get()
    page.goto(f"/b/b/write/{case.public_id}/review/")
    rows = page.locator("[data-review-row]")
    expect(rows).to_have_count(3)
    page.locator("#show-all").click()  # the keys work from a box that was ticked, too
    expect(page.locator("#show-all")).to_be_focused()
    page.locator("#show-all").click()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_hidden()
    page.keyboard.press("j")
    expect(rows.nth(0)).to_be_focused()
    page.keyboard.press("j")
    expect(rows.nth(1)).to_be_focused()
    page.keyboard.press("k")
    expect(rows.nth(0)).to_be_focused()
    page.keyboard.press("t")
    page.keyboard.type("j k a: names no dose")
    expect(page.locator("dialog[open]")).to_have_count(0)
    expect(rows.nth(0).get_by_text("Kept in this browser until you send your decision")).to_be_visible()
    # A comment that opens at the bottom of the window is above the bar with the buttons.
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 1280, "height": 420})
    page.keyboard.press("j")
    expect(rows.nth(1)).to_be_focused()
    page.keyboard.press("t")
    opened = rows.nth(1).locator("textarea")
    expect(opened).to_be_focused()
    bar = page.locator(".decide").bounding_box()
    field = opened.bounding_box()
    assert bar and field and field["y"] + field["height"] <= bar["y"]
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 1280, "height": 720})
    page.reload()
    note = rows.nth(0).locator("textarea")
    expect(note).to_have_value("j k a: names no dose")
    expect(note).to_be_visible()
    note.focus()
    page.keyboard.press("Escape")
    expect(rows.nth(0)).to_be_focused()
    page.keyboard.press("r")
    expect(page.locator("#return")).to_be_visible()
    page.locator("#return-comment").fill("Look again")
    page.keyboard.press("Control+Enter")
    page.wait_for_load_state()
    expect(page.locator("#review-form")).to_have_count(0)
    review = RubricReview.objects.get()
    assert (review.outcome, review.comment) == ("returned", "Look again")
    assert "names no dose" in str(review.item_comments)


def test_a_list_ticks_all_and_opens_all(new_page: Callable[..., Page]) -> None:
    _benchmark, reviewer = waiting("c0", "c1")
    page = new_page(user=reviewer)
    page.goto("/b/b/write/reviews/")
    every, submit, count = (page.locator(f"[data-pick-{name}]") for name in ("all", "submit", "count"))
    boxes = page.locator(".pick input[type=checkbox]")
    expect(boxes).to_have_count(2)
    expect(submit).to_be_disabled()
    boxes.first.check()
    assert every.evaluate("(box) => [box.checked, box.indeterminate]") == [False, True]
    expect(count).to_have_text("1")
    every.check()
    expect(count).to_have_text("2")
    expect(submit).to_be_enabled()
    assert every.evaluate("(box) => [box.checked, box.indeterminate]") == [True, False]
    opener = page.locator("[data-open-all]")
    label = opener.inner_text()
    opener.click()
    expect(page.locator(".pick details[open]")).to_have_count(2)
    expect(opener).to_have_text("Hide changes")
    page.locator(".pick details > summary").first.click()
    opener.click()  # one is closed: all open
    expect(page.locator(".pick details[open]")).to_have_count(2)
    assert opener.inner_text() == label
