"""The bar at the bottom of a narrow window decides a criterion that it names and that is in view."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, ViewportSize, expect

from annotation import services
from annotation.models import Assignment, Batch, Decision
from tests.annotation.conftest import build_workshop
from tests.axe import axe_violations
from tests.conftest import Watch
from tests.factories import (
    BenchmarkFactory,
    CaseFactory,
    ExpertGroupFactory,
    ResponseFactory,
    make_batch,
)
from tests.overflow import cut_off

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
NewPage = Callable[..., Page]
PHONE: ViewportSize = {"width": 390, "height": 844}
ZOOMED: ViewportSize = {"width": 640, "height": 400}  # 1280 × 800 at 200%
WHOLLY_IN_VIEW = """() => {
    const box = document.querySelector(".criterion.current").getBoundingClientRect();
    return box.top >= 0 && box.bottom <= document.querySelector("#dock").getBoundingClientRect().top;
}"""

# Whether the page was scrolled beyond a height, and moves no more.
STILL_BELOW = """async (height) => {
    const before = window.scrollY;
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    return window.scrollY > height && window.scrollY === before;
}"""


def open_criteria(page: Page, row: Assignment) -> None:
    page.goto(f"/work/{row.public_id}/")
    expect(page.locator(".criterion.current")).to_have_count(1)
    page.locator("#dock [data-show-view=criteria]").click()
    expect(page.locator("#criteria")).to_be_visible()


@pytest.mark.parametrize("viewport", [PHONE, ZOOMED], ids=["phone", "zoomed"])
def test_the_bar_decides_the_criterion_that_is_in_view_and_names_it(new_page: NewPage, viewport: ViewportSize) -> None:
    workshop = build_workshop(criteria=[1] * 30)
    row = workshop.queue()[0]
    page = new_page(workshop.annotator, viewport=viewport)
    open_criteria(page, row)
    name, current = page.locator("[data-dock-name]"), page.locator(".criterion.current .n")
    expect(name).to_have_text("Criterion 1")
    page.mouse.move(200, 150)
    page.mouse.wheel(0, 20)  # criterion 1 stays in view, and current
    page.wait_for_function("() => window.scrollY > 0")
    expect(name).to_have_text("Criterion 1")
    page.mouse.wheel(0, 1600)
    page.wait_for_function(STILL_BELOW, arg=1500)
    expect(name).not_to_have_text("Criterion 1")
    page.wait_for_function(WHOLLY_IN_VIEW)
    number = int(current.inner_text())
    assert 5 < number < 30
    expect(name).to_have_text(f"Criterion {number}")
    expect(name).to_be_in_viewport(ratio=1)
    assert cut_off(page) == []
    assert axe_violations(page) == []
    page.locator("#dock [data-choose=not_met]").click()
    expect(name).to_have_text(f"Criterion {number + 1}")
    expect(page.locator("#saved")).to_contain_text("Saved")
    decision = Decision.objects.get(assignment=row)
    assert decision.outcome == "not_met"
    decided = page.locator(f"#criterion-{decision.criterion_id}")
    expect(decided.locator(".n")).to_have_text(str(number))
    page.wait_for_function(WHOLLY_IN_VIEW)
    page.mouse.wheel(0, -5000)
    expect(name).to_have_text("Criterion 1")


def test_the_bar_says_in_a_low_window_that_decisions_wait(new_page: NewPage, watch: Watch) -> None:
    watch.allow("ERR_INTERNET_DISCONNECTED")
    workshop = build_workshop()
    row = workshop.queue()[0]
    page = new_page(workshop.annotator, viewport=ZOOMED)
    open_criteria(page, row)
    page.context.set_offline(True)
    page.locator("#dock [data-choose=met]").click()
    saving = page.locator("[data-dock-saved]")
    expect(saving).to_have_text("1 waiting, offline")
    page.mouse.move(200, 150)
    page.mouse.wheel(0, 300)
    expect(page.locator("#saved")).not_to_be_in_viewport()
    expect(saving).to_be_in_viewport(ratio=1)
    page.locator("#dock [data-show-view=response]").click()
    expect(saving).to_be_in_viewport(ratio=1)
    assert cut_off(page) == []
    page.context.set_offline(False)
    expect(saving).to_contain_text("Saved")


def test_a_wide_window_does_not_cut_off_what_the_page_says_about_saving(new_page: NewPage, watch: Watch) -> None:
    watch.allow("ERR_INTERNET_DISCONNECTED")
    workshop = build_workshop(criteria=[1] * 30)
    Batch.objects.filter(pk=workshop.batch.pk).update(title="Calibration: physicians’ responses, second round")
    row = workshop.queue()[0]
    first = services.criteria_of(row)[0]
    services.save_decision(
        assignment=row,
        annotator=workshop.annotator,
        change=services.DecisionInput(criterion=first, outcome="met"),
        at=timezone.now() - timedelta(days=3),
    )
    page = new_page(workshop.annotator)
    page.goto(f"/work/{row.public_id}/")
    expect(page.locator(".criterion.current")).to_have_count(1)
    saving = page.locator("#saved")
    expect(saving).to_have_text(re.compile(r"^Saved \d+ \w+\.? \d{4}"))
    assert saving.evaluate("box => box.scrollWidth <= box.clientWidth")
    expect(page.get_by_role("button", name="Submit")).to_be_in_viewport(ratio=1)
    page.context.set_offline(True)
    for _ in range(12):
        page.keyboard.press("m")
    expect(saving).to_have_text("12 waiting, offline")
    assert saving.evaluate("box => box.scrollWidth <= box.clientWidth")
    assert cut_off(page) == []
    page.context.set_offline(False)
    expect(saving).to_contain_text("Saved")


def test_the_note_that_is_asked_for_is_not_under_the_bar(new_page: NewPage) -> None:
    workshop = build_workshop(criteria=[1] * 8, explain_cannot_assess=True)
    row = workshop.queue()[0]
    page = new_page(workshop.annotator, viewport=ZOOMED)
    open_criteria(page, row)
    page.locator("#dock [data-choose=cannot_assess]").click()
    field = page.locator(".criterion.current textarea[data-note]")
    expect(field).to_be_focused()
    page.wait_for_function(
        """() => document.activeElement.getBoundingClientRect().bottom
            <= document.querySelector("#dock").getBoundingClientRect().top"""
    )


def can_t_assess(page: Page, note: str) -> None:
    """Press *Can't assess* in the bar, and write the note that it asks for."""
    page.locator("#dock [data-choose=cannot_assess]").tap()
    field = page.locator(".criterion.current textarea[data-note]")
    expect(field).to_be_focused()
    field.press_sequentially(note)


# Safari on a phone takes the focus from a field when a button is tapped, and does not give it to the button.
UNFOCUSED_TAPS = """() => document.addEventListener("mousedown", (event) => {
    event.preventDefault();
    document.activeElement.blur();
})"""
FOCUSED = """() => {
    window.focused = [];
    document.addEventListener("focusin", ({ target }) => window.focused.push(target.dataset.number ?? target.tagName));
}"""


def test_a_tap_on_a_button_of_the_same_criterion_does_not_leave_it_where_taps_give_no_focus(new_page: NewPage) -> None:
    workshop = build_workshop(criteria=[1] * 4, explain_cannot_assess=True)
    page = new_page(workshop.annotator, viewport=PHONE, has_touch=True)
    open_criteria(page, workshop.queue()[0])
    page.evaluate(UNFOCUSED_TAPS)
    name = page.locator("[data-dock-name]")
    can_t_assess(page, "No dose.")
    page.evaluate(FOCUSED)
    page.locator(".criterion.current [data-do=evidence]").tap()
    expect(page.locator(".toast")).to_contain_text("criterion 1")
    expect(page.locator(".criterion").first.locator("[data-note-edit]")).to_have_attribute("hidden", "")
    assert "2" not in page.evaluate("window.focused")
    expect(name).to_have_text("Criterion 1")


def test_the_note_that_is_asked_for_leads_on_by_touch_and_no_press_replaces_its_outcome(new_page: NewPage) -> None:
    workshop = build_workshop(criteria=[1] * 8, explain_cannot_assess=True)
    row = workshop.queue()[0]
    page = new_page(workshop.annotator, viewport=PHONE, has_touch=True)
    open_criteria(page, row)
    name, decided = page.locator("[data-dock-name]"), page.locator("#graded-text")
    can_t_assess(page, "No dose.")
    page.get_by_role("button", name="Done").tap()
    expect(name).to_have_text("Criterion 2")
    expect(page.locator("textarea[data-note]:visible")).to_have_count(0)
    # The bar names criterion 2 while its note is written, and the person means the next one.
    can_t_assess(page, "No age.")
    page.locator("#dock [data-choose=not_met]").tap()
    expect(name).to_have_text("Criterion 3")
    expect(page.locator(".toast")).to_contain_text("The note on criterion 2 is saved.")
    expect(decided).to_have_text("2 / 8")
    # As in the first report: back to the response, and the next outcome.
    can_t_assess(page, "No sex.")
    page.locator("#dock [data-show-view=response]").tap()
    expect(page.locator("#dock [data-dock-words]")).to_contain_text("4.")
    page.locator("#dock [data-choose=not_met]").tap()
    expect(decided).to_have_text("4 / 8")
    expect(page.locator("#saved")).to_contain_text("Saved")
    decisions = Decision.objects.filter(assignment=row, outcome__isnull=False).order_by("criterion")
    assert list(decisions.values_list("outcome", "note")) == [
        ("cannot_assess", "No dose."), ("cannot_assess", "No age."), ("cannot_assess", "No sex."), ("not_met", ""),
    ]  # fmt: skip


def test_a_tap_shows_a_long_criterion_whole_beside_the_response_and_folds_it_again(new_page: NewPage) -> None:
    text = "Advises the patient to ask for the written instructions of the clinic that follows the blood thinner. " * 4
    benchmark = BenchmarkFactory()
    case = CaseFactory(benchmark=benchmark, rubric=[1, 1], rubric__texts=[text, "Names the next step."])
    ResponseFactory(case=case)
    row = Assignment.objects.get(batch=make_batch(ExpertGroupFactory(benchmark=benchmark, annotators=1)))
    page = new_page(row.annotator, viewport=PHONE, has_touch=True)
    page.goto(f"/work/{row.public_id}/")
    words = page.locator("#dock [data-dock-words]")
    expect(words).to_contain_text("1. Advises")
    is_cut = "box => box.scrollHeight > box.clientHeight + 1"
    assert words.evaluate(is_cut)
    words.tap()
    expect(page.locator("#dock [aria-expanded=true]")).to_have_count(1)
    assert not words.evaluate(is_cut)
    assert cut_off(page) == []
    assert axe_violations(page) == []
    words.tap()
    expect(page.locator("#dock [aria-expanded=true]")).to_have_count(0)
    assert words.evaluate(is_cut)
    words.tap()
    page.locator("#dock [data-choose=met]").tap()
    expect(words).to_contain_text("2. Names")
    expect(page.locator("#dock [aria-expanded=true]")).to_have_count(0)


def test_the_account_menu_can_be_scrolled_in_a_low_window(new_page: NewPage) -> None:
    workshop = build_workshop()
    page = new_page(workshop.annotator, viewport=ZOOMED)
    for path in ("/work/", f"/work/{workshop.queue()[0].public_id}/"):
        page.goto(path)
        page.locator("details[data-menu] > summary").click()
        panel = page.locator("details[data-menu] > .menu-panel")
        expect(panel).to_be_in_viewport(ratio=1)
        sign_out = panel.get_by_role("button", name="Sign out")
        sign_out.click(trial=True, timeout=10_000)  # it scrolls to the button, and nothing is over it
        expect(sign_out).to_be_in_viewport(ratio=1)
