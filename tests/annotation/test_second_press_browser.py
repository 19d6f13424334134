"""A double click or double tap on an outcome decides one criterion, though the next one moves under the pointer."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Adjudication, Decision
from tests.annotation.conftest import build_workshop

pytestmark = pytest.mark.django_db(transaction=True)
NewPage = Callable[..., Page]
PHONE = {"width": 390, "height": 844}


def middle_of(page: Page, selector: str) -> tuple[float, float]:
    box = page.locator(selector).bounding_box()
    assert box
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def outcome_at(page: Page, x: float, y: float) -> str:
    """The criterion and the outcome of the button at this place of the window."""
    return page.evaluate(  # type: ignore[no-any-return]
        """([x, y]) => {
            const button = document.elementFromPoint(x, y)?.closest('[data-set]');
            return button ? `${button.closest('[data-row]').dataset.number} ${button.dataset.set}` : '';
        }""",
        [x, y],
    )


def test_a_double_click_decides_one_criterion_and_fast_keys_decide_each(new_page: NewPage) -> None:
    workshop = build_workshop(criteria=30)
    row = workshop.queue()[0]
    page = new_page(workshop.annotator)
    page.goto(f"/work/{row.public_id}/")
    expect(page.locator(".criterion.current")).to_have_count(1)
    for _ in range(12):
        page.keyboard.press("j")
    expect(page.locator(".criterion.current .n")).to_have_text("13")
    place = middle_of(page, ".criterion.current [data-set=not_met]")
    page.mouse.click(*place, click_count=2)
    expect(page.locator(".criterion.current .n")).to_have_text("14")
    assert outcome_at(page, *place) == "14 not_met"  # the list has moved: the second click was on this button
    expect(page.locator("#graded-text")).to_have_text("1 / 30")
    for key in "mnm":
        page.keyboard.press(key)
    expect(page.locator("#graded-text")).to_have_text("4 / 30")
    expect(page.locator("#saved")).to_contain_text("Saved")
    assert Decision.objects.filter(assignment=row, outcome__isnull=False).count() == 4


def test_a_double_tap_decides_one_criterion_on_a_phone(new_page: NewPage) -> None:
    workshop = build_workshop(criteria=3)
    row = workshop.queue()[0]
    page = new_page(workshop.annotator, viewport=PHONE, has_touch=True)
    page.goto(f"/work/{row.public_id}/")
    words = page.locator("#dock [data-dock-words]")
    expect(words).to_contain_text("1.")
    met = middle_of(page, "#dock [data-choose=met]")
    page.touchscreen.tap(*met)
    page.touchscreen.tap(*met)
    expect(words).to_contain_text("2.")
    page.locator("#dock [data-choose=not_met]").tap()  # elsewhere: the person aims at it
    expect(words).to_contain_text("3.")
    expect(page.locator("#graded-text")).to_have_text("2 / 3")


def test_a_double_click_settles_one_conflict(new_page: NewPage) -> None:
    workshop = build_workshop(annotators_per_item=2)
    workshop.conflict()
    page = new_page(workshop.adjudicator, viewport=PHONE, has_touch=True)
    page.goto("/work/adjudications/")
    page.get_by_role("button", name="Claim next").click()
    words = page.locator("#dock [data-dock-words]")
    expect(words).to_contain_text("1.")
    met = middle_of(page, "#dock [data-choose=met]")
    page.touchscreen.tap(*met)
    page.touchscreen.tap(*met)
    expect(words).to_contain_text("2.")
    expect(page.locator("#saved")).to_contain_text("Saved")
    assert Adjudication.objects.get().rulings.count() == 1
