"""One response on two devices in browsers: the page shows what is on record, and says what of its own is not."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation import services
from annotation.models import Assignment, Decision
from tests.annotation.conftest import Workshop, build_workshop
from tests.axe import axe_violations
from tests.conftest import Watch

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
NewPage = Callable[..., Page]
OUTBOX_SIZE = "Object.keys(localStorage).filter((key) => key.includes('outbox')).length"


def open_work(page: Page, row: Assignment) -> None:
    page.goto(f"/work/{row.public_id}/")
    expect(page.locator(".criterion.current")).to_have_count(1)


def outcomes(row: Assignment) -> list[str | None]:
    rows = Decision.objects.filter(assignment=row, round=row.round).order_by("criterion__items__position")
    return list(rows.values_list("outcome", flat=True))


def shown_outcomes(page: Page) -> list[str]:
    shown: list[str] = page.locator("#criteria [data-row]").evaluate_all(
        "rows => rows.map((row) => row.querySelector('[data-set][aria-pressed=true]')?.dataset.set ?? '')"
    )
    return shown


def decide_offline(page: Page, row: Assignment) -> None:
    """Criteria 1 and 2 are decided where nothing can be sent."""
    open_work(page, row)
    page.context.set_offline(True)
    page.keyboard.press("n")
    page.keyboard.press("c")
    expect(page.locator("#saved")).to_have_text("2 waiting, offline")


def submit_on_the_tablet(new_page: NewPage, workshop: Workshop, row: Assignment) -> None:
    tablet = new_page(workshop.annotator)
    open_work(tablet, row)
    for _ in range(3):
        tablet.keyboard.press("m")
    expect(tablet.locator("#graded-text")).to_have_text("3 / 3")
    tablet.keyboard.press("Control+Enter")
    expect(tablet).not_to_have_url(re.compile(row.public_id))
    assert outcomes(row) == ["met", "met", "met"]


def expect_the_record(page: Page) -> None:
    """The page is final: rows show the record; what this browser decided is listed apart."""
    expect(page.locator("#submit")).to_have_count(0)
    expect(page.locator(".pane-notices")).to_contain_text("Your decisions are final")
    unsent = page.locator("#not-sent")
    expect(unsent).to_contain_text("Not sent from this browser")
    expect(unsent.locator("li")).to_have_text(["Criterion 1: Not met", "Criterion 2: Can’t assess"])
    assert shown_outcomes(page) == ["met", "met", "met"]
    expect(page.locator("#refusal .notice")).to_have_count(0)
    expect(page.locator(".toast")).to_have_count(0)


def test_a_response_submitted_elsewhere_shows_the_record_and_lists_what_was_not_sent(
    new_page: NewPage, watch: Watch
) -> None:
    watch.allow("ERR_INTERNET_DISCONNECTED", "ERR_FAILED", "409")
    workshop = build_workshop()
    row = workshop.queue()[0]
    page = new_page(workshop.annotator)
    decide_offline(page, row)
    submit_on_the_tablet(new_page, workshop, row)
    # The connection comes back while the page is loaded again, so that nothing was sent before.
    page.route("**/decisions/", lambda route: route.abort())
    page.context.set_offline(False)
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    expect_the_record(page)
    assert axe_violations(page) == []
    page.unroute("**/decisions/")
    page.goto("/work/")
    left = page.locator("#refused-left")
    expect(left).to_contain_text("kept in this browser only: Response 1 of 1 · Pilot batch.")
    expect(left.locator("li")).to_have_text(["Criterion 1: Not met", "Criterion 2: Can’t assess"])
    open_work(page, row)
    page.locator("#not-sent").get_by_role("button", name="Discard them").click()
    expect(page.locator("#not-sent")).to_be_hidden()
    assert page.evaluate(OUTBOX_SIZE) == 0
    assert outcomes(row) == ["met", "met", "met"]


@pytest.mark.parametrize("by", ["connection", "submit"])
def test_an_open_page_becomes_final_when_the_server_says_that_it_was_submitted(
    new_page: NewPage, watch: Watch, by: str
) -> None:
    watch.allow("ERR_INTERNET_DISCONNECTED", "ERR_FAILED", "409")
    workshop = build_workshop()
    row = workshop.queue()[0]
    page = new_page(workshop.annotator)
    decide_offline(page, row)
    submit_on_the_tablet(new_page, workshop, row)
    if by == "submit":
        page.route("**/decisions/", lambda route: route.abort())
    page.context.set_offline(False)
    if by == "submit":
        page.keyboard.press("Control+Enter")
    expect_the_record(page)


@pytest.mark.parametrize("by", ["decision", "submit", "skip"])
def test_an_open_page_becomes_final_when_its_batch_is_closed(new_page: NewPage, watch: Watch, by: str) -> None:
    watch.allow("ERR_FAILED", "409")
    workshop = build_workshop()
    row = workshop.queue()[0]
    page = new_page(workshop.annotator)
    open_work(page, row)
    page.keyboard.press("m")
    expect(page.locator("#saved")).to_contain_text("Saved")
    services.close_batch(batch=workshop.batch, at=timezone.now())
    unsent = page.locator("#not-sent")
    if by == "decision":
        page.keyboard.press("n")
    else:
        page.route("**/decisions/", lambda route: route.abort())
        page.keyboard.press("n")
        expect(page.locator("#saved")).to_have_text("1 waiting, offline")
    if by == "submit":
        page.keyboard.press("Control+Enter")
    elif by == "skip":
        page.get_by_role("button", name="Skip", exact=True).click()
        dialog = page.locator("#skip")
        expect(dialog).to_be_visible()
        dialog.locator("[name=reason][value=later]").check()
        dialog.get_by_role("button", name="Skip", exact=True).click()
    expect(page.locator(".pane-notices")).to_contain_text("This batch is closed. This response was not submitted")
    expect(unsent).to_contain_text("The batch is closed, so they cannot be saved any more and count in no result.")
    expect(unsent).not_to_contain_text("comment")
    expect(unsent.locator("li")).to_have_text(["Criterion 2: Not met"])
    expect(page.locator("#submit")).to_have_count(0)
    expect(page.locator("#refusal .notice")).to_have_count(0)
    expect(page.locator(".toast")).to_have_count(0)
    assert shown_outcomes(page) == ["met", "", ""]
    assert outcomes(row) == ["met"]
    unsent.get_by_role("button", name="Discard them").click()
    expect(unsent).to_be_hidden()
    assert page.evaluate(OUTBOX_SIZE) == 0


def test_a_batch_that_is_closed_while_a_response_is_submitted_keeps_what_was_sent_along(
    new_page: NewPage, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch.allow("ERR_FAILED", "409")
    workshop = build_workshop()
    row = workshop.queue()[0]
    submit = services.submit

    def submit_late(**arguments: Any) -> None:
        services.close_batch(batch=workshop.batch, at=timezone.now())
        submit(**arguments)

    monkeypatch.setattr(services, "submit", submit_late)
    page = new_page(workshop.annotator)
    open_work(page, row)
    page.route("**/decisions/", lambda route: route.abort())
    page.keyboard.press("m")
    expect(page.locator("#saved")).to_have_text("1 waiting, offline")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".pane-notices")).to_contain_text("This batch is closed. This response was not submitted")
    expect(page.locator("#not-sent")).to_be_hidden()
    assert shown_outcomes(page) == ["met", "", ""]
    assert outcomes(row) == ["met"]


def test_a_response_submitted_in_another_tab_is_final_in_this_one(new_page: NewPage, watch: Watch) -> None:
    watch.allow("ERR_FAILED", "409")
    workshop = build_workshop()
    row = workshop.queue()[0]
    page = new_page(workshop.annotator)
    open_work(page, row)
    for _ in range(3):
        page.keyboard.press("m")
    expect(page.locator("#saved")).to_contain_text("Saved")
    other = page.context.new_page()
    open_work(other, row)
    other.keyboard.press("Control+Enter")
    expect(other).not_to_have_url(re.compile(row.public_id))
    expect(page.locator("#submit")).to_have_count(0)
    expect(page.locator("#not-sent")).to_be_hidden()
    assert shown_outcomes(page) == ["met", "met", "met"]


def test_a_refused_submission_shows_what_another_device_decided(new_page: NewPage, watch: Watch) -> None:
    watch.allow("422")
    workshop = build_workshop(criteria=4)
    row = workshop.queue()[0]
    page = new_page(workshop.annotator)
    open_work(page, row)
    for criterion, outcome in zip(services.criteria_of(row)[:2], ("met", "not_met"), strict=True):
        change = services.DecisionInput(criterion=criterion, outcome=outcome, note="from the tablet")
        services.save_decision(assignment=row, annotator=workshop.annotator, change=change, at=timezone.now())
    page.keyboard.press("Control+Enter")
    refusal = page.locator("#refusal")
    expect(refusal).to_contain_text("2 criteria have no decision yet.")
    expect(refusal).to_contain_text(
        "2 decisions were made in another tab or on another device, and are now shown here."
    )
    assert shown_outcomes(page) == ["met", "not_met", "", ""]
    expect(page.locator("#graded-text")).to_have_text("2 / 4")
    expect(page.locator(".criterion[data-lacks] .n")).to_have_text(["3", "4"])
    # The page goes on from what is stored: nothing is asked, and nothing is overwritten unseen.
    page.locator("#criteria .criterion").first.locator("[data-set=cannot_assess]").click()
    expect(page.locator("#saved")).to_contain_text("Saved")
    expect(page.locator("#graded-text")).to_have_text("2 / 4")
    page.wait_for_function("() => document.querySelector('#criteria [data-row]').dataset.version === '2'")
    assert outcomes(row) == ["cannot_assess", "not_met"]
