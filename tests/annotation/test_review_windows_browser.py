"""Checks and adjudications in a narrow window, and in two tabs at once."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation import access, services
from annotation.models import Adjudication, Amendment, Assignment, Ruling
from tests.annotation.conftest import build_workshop
from tests.conftest import Watch
from tests.factories import decide
from tests.overflow import cut_off

pytestmark = pytest.mark.django_db(transaction=True)
NewPage = Callable[..., Page]
PHONE = {"width": 390, "height": 844}


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_the_user_menu_is_inside_a_narrow_window(new_page: NewPage, language: str) -> None:
    workshop = build_workshop(annotators_per_item=2)
    for user in (workshop.adjudicator, workshop.annotator, workshop.admin):
        user.language = language
        user.save()
    row = workshop.conflict()
    waiting = access.open_adjudications(workshop.adjudicator)
    services.claim_adjudication(adjudicator=workshop.adjudicator, waiting=waiting)
    places = [
        (workshop.adjudicator, "/work/adjudications/"),
        (workshop.adjudicator, f"/work/adjudications/{row.public_id}/"),
        (workshop.annotator, f"/work/{workshop.queue()[1].public_id}/"),
        (workshop.admin, "/"),
    ]
    for user, url in places:
        page = new_page(user, viewport=PHONE)
        page.goto(url)
        menu = page.locator(".topbar details.menu")
        menu.locator("summary").click()
        expect(menu.locator("form.item button")).to_be_visible()
        assert cut_off(page) == [], url
        box = menu.locator(".menu-panel").bounding_box()
        assert box is not None
        assert box["x"] >= 0 and box["x"] + box["width"] <= PHONE["width"], (url, box)


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_a_check_is_released_on_a_phone(new_page: NewPage, language: str) -> None:
    workshop = build_workshop(check_policy="all")
    workshop.checker.language = language
    workshop.checker.save()
    decide(workshop.queue()[0], "met")
    page = new_page(workshop.checker, viewport=PHONE, has_touch=True)
    page.goto("/work/checks/")
    claim = page.locator("td.actions button")
    expect(claim).to_be_in_viewport(ratio=1)
    claim.tap()
    expect(page.locator(".criterion.current .n")).to_have_text("1")
    page.locator(".topbar details.menu summary").tap()
    expect(page.locator(".topbar .menu-panel form.item button")).to_be_visible()
    assert cut_off(page) == []
    page.locator(".topbar details.menu summary").tap()
    page.locator("#dock [data-show-view=criteria]").tap()
    page.locator(".release-below button").tap()
    expect(page).to_have_url(re.compile("/work/checks/$"))
    assert Assignment.objects.get(submitted_at__isnull=False).status == "submitted"


def test_an_adjudication_is_released_on_a_phone_with_its_rulings(new_page: NewPage) -> None:
    workshop = build_workshop(annotators_per_item=2)
    workshop.conflict()
    page = new_page(workshop.adjudicator, viewport=PHONE, has_touch=True)
    page.goto("/work/adjudications/")
    expect(page.locator("td.actions button")).to_be_in_viewport(ratio=1)
    page.locator("td.actions button").tap()
    expect(page.locator(".criterion.current .n")).to_have_text("1")
    assert cut_off(page) == []
    page.locator("#dock [data-choose=met]").tap()
    expect(page.locator("#graded-text")).to_have_text("1 / 2")
    page.locator("#dock [data-show-view=criteria]").tap()
    page.locator(".criterion.current [data-do=reason]").tap()
    page.keyboard.type("Half a reason")
    page.locator(".release-below button").tap()
    expect(page.locator("#refusal")).to_contain_text("The reason for criterion 2 is not saved yet")
    page.locator("[data-do=cancel]:visible").tap()
    page.locator(".release-below button").tap()
    expect(page).to_have_url(re.compile("/work/adjudications/$"))
    expect(page.locator(".toast")).to_contain_text("Released.")
    row = Adjudication.objects.get()
    assert (row.adjudicator, Ruling.objects.get().outcome) == (None, "met")


def check_in_two_tabs(new_page: NewPage) -> tuple[Page, Page]:
    """A check of a response whose criteria are all met, in two tabs of its checker."""
    workshop = build_workshop(check_policy="all")
    decide(workshop.queue()[0], "met")
    page = new_page(workshop.checker)
    page.goto("/work/checks/")
    page.get_by_role("button", name="Start next check").click()
    expect(page.locator(".criterion.current .n")).to_have_text("1")
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.locator(".criterion.current .n")).to_have_text("1")
    return page, other


def test_a_second_tab_says_that_the_check_is_completed(new_page: NewPage, watch: Watch) -> None:
    watch.allow(r"/criteria/\d+/")
    page, other = check_in_two_tabs(new_page)
    page.keyboard.press("Control+Enter")
    expect(page).to_have_url(re.compile("/work/checks/$"))
    other.keyboard.press("n")
    other.keyboard.type("No dose is named.")
    other.keyboard.press("Enter")
    refusal = other.locator("#refusal")
    expect(refusal).to_contain_text("You have already completed this work in another tab or on another device.")
    expect(other.locator("#saved")).to_have_text("Read only")
    expect(other.locator("#finish-form button")).to_be_disabled()
    expect(other.locator("#release-form button")).to_be_disabled()
    expect(other.locator(".criterion.current [data-reason]")).to_have_value("No dose is named.")
    for outcome, pressed in (("met", "true"), ("not_met", "false")):  # as it is stored
        button = other.locator(f".criterion.current [data-set={outcome}]")
        expect(button).to_have_attribute("aria-pressed", pressed)
    expect(other.locator("[data-not-yet]:visible")).to_have_count(0)
    assert not Amendment.objects.exists()
    refusal.get_by_role("link", name="Back to the list").click()
    expect(other).to_have_url(re.compile("/work/checks/$"))


def test_a_second_tab_that_accepts_too_says_that_the_check_is_completed(new_page: NewPage, watch: Watch) -> None:
    watch.allow("/accept/")
    page, other = check_in_two_tabs(new_page)
    page.keyboard.press("Control+Enter")
    expect(page).to_have_url(re.compile("/work/checks/$"))
    other.keyboard.press("Control+Enter")
    expect(other.locator("#refusal")).to_contain_text("You have already completed this work in another tab")
    expect(other.locator("#finish-form button")).to_be_disabled()


def test_a_second_tab_shows_what_was_amended_before_it_accepts(new_page: NewPage, watch: Watch) -> None:
    watch.allow("/accept/")
    page, other = check_in_two_tabs(new_page)
    page.keyboard.press("j")
    page.keyboard.press("n")
    page.keyboard.type("No dose is named.")
    page.keyboard.press("Enter")
    expect(page.locator("#saved")).to_have_text(re.compile("^Saved "))
    other.keyboard.press("j")
    other.keyboard.press("t")  # an open field for a reason, with nothing in it
    expect(other.locator(".criterion.current [data-reason]")).to_be_focused()
    other.keyboard.press("Control+Enter")
    expect(other.locator("#refusal")).to_contain_text("1 criterion was changed in another tab or on another device.")
    expect(other.locator("#refusal")).to_contain_text("Changed: criterion 2.")
    expect(other.locator(".criterion.current .n")).to_have_text("2")
    expect(other.locator(".criterion.current")).to_contain_text("No dose is named.")
    expect(other.locator("#summary")).to_contain_text("1 amended")
    other.keyboard.press("Control+Enter")
    expect(other).to_have_url(re.compile("/work/checks/$"))
    assert Amendment.objects.get().check_row.result == "accepted"


def test_a_tab_that_shows_no_amendment_releases_no_check_that_has_one(new_page: NewPage, watch: Watch) -> None:
    watch.allow("409")
    page, other = check_in_two_tabs(new_page)
    page.keyboard.press("n")
    page.keyboard.type("No dose is named.")
    page.keyboard.press("Enter")
    expect(page.locator("#saved")).to_have_text(re.compile("^Saved "))
    other.get_by_role("button", name="Release task").click()
    expect(other.get_by_role("alert").first).to_contain_text("This check has amendments or marks")
    expect(other.locator("#criteria")).to_contain_text("No dose is named.")
    assert Amendment.objects.get().outcome == "not_met"


def test_the_numbers_of_a_long_list_stay_on_their_line(new_page: NewPage) -> None:
    workshop = build_workshop(check_policy="all", text="\n".join(f"{n}. 按压伤口。" for n in range(1, 13)))
    workshop.cases[0].language = "zh"
    workshop.cases[0].save()
    decide(workshop.queue()[0], "met")
    page = new_page(workshop.checker)
    page.goto("/work/checks/")
    page.get_by_role("button", name="Start next check").click()
    expect(page.locator("#response .bullet")).to_have_count(12)
    heights = page.evaluate("[...document.querySelectorAll('#response .bullet')].map((bullet) => bullet.offsetHeight)")
    assert len(set(heights)) == 1
