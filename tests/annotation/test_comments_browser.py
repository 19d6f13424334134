"""A comment that is being written, in a real browser: nothing of it is lost before it is sent."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.utils import timezone
from playwright.sync_api import Locator, Page, Route, expect

from annotation import access, services
from tests.annotation.conftest import build_workshop
from tests.conftest import Watch
from tests.factories import decide
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
NewPage = Callable[..., Page]
DRAFTS = "Object.keys(localStorage).filter((key) => key.startsWith('consilium.comment:')).length"


def open_drawer(page: Page, address: str) -> Locator:
    """The field for a comment in the drawer of a response or a check, loaded anew."""
    page.goto(address)
    expect(page.locator(".criterion.current")).to_have_count(1)  # the page's script has started
    page.get_by_role("button", name="Comments").click()
    field = page.locator("dialog#comments [data-comment]")
    expect(field).to_be_focused()
    return field


def test_a_comment_that_is_not_sent_outlives_a_reload_and_is_not_offered_twice(new_page: NewPage, watch: Watch) -> None:
    watch.allow("ERR_INTERNET_DISCONNECTED", "htmx:sendError", "htmx:afterRequest")
    workshop = build_workshop(responses=4)
    row, other = workshop.queue()[:2]
    page = new_page(workshop.annotator)
    open_drawer(page, f"/work/{row.public_id}/")
    page.keyboard.type("Is this dose usual?")
    expect(open_drawer(page, f"/work/{row.public_id}/")).to_have_value("Is this dose usual?")
    expect(open_drawer(page, f"/work/{other.public_id}/")).to_have_value("")  # another response
    page.goto(f"/work/{row.public_id}/comments/")
    field = page.locator("[data-comment]")
    expect(field).to_have_value("Is this dose usual?")

    def lose_the_answer(route: Route) -> None:
        route.fetch()
        route.abort("internetdisconnected")

    page.route("**/comments/", lose_the_answer, times=1)
    field.press("Control+Enter")
    # The route has been taken.
    expect(page.locator("#comments-thread .notice.error")).to_contain_text("The connection was lost.")
    wait_until(lambda: row.comments.count() == 1)
    page.goto(f"/work/{row.public_id}/comments/")
    expect(page.locator(".thread > .own p")).to_have_text("Is this dose usual?")
    expect(field).to_have_value("")
    assert page.evaluate(DRAFTS) == 0


def test_the_message_about_a_lost_comment_goes_once_it_is_sent(new_page: NewPage, watch: Watch) -> None:
    watch.allow("ERR_INTERNET_DISCONNECTED", "htmx:sendError", "htmx:afterRequest")
    row = build_workshop().queue()[0]
    page = new_page(row.annotator)
    field = open_drawer(page, f"/work/{row.public_id}/")
    page.route("**/comments/", lambda route: route.abort("internetdisconnected"), times=1)
    page.keyboard.type("Is this dose usual?")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#comments-thread .notice.error")).to_contain_text("The connection was lost.")
    field.press("Control+Enter")
    expect(page.locator("#comments-thread .thread > .own p")).to_have_text("Is this dose usual?")
    expect(page.locator("#comments-thread .notice.error")).to_have_count(0)


def test_the_drawer_says_itself_that_the_connection_was_lost(new_page: NewPage, watch: Watch) -> None:
    """The message at the edge of the page is behind the drawer."""
    watch.allow("ERR_INTERNET_DISCONNECTED", "htmx:sendError", "htmx:afterRequest")
    row = build_workshop().queue()[0]
    page = new_page(row.annotator)
    page.goto(f"/work/{row.public_id}/")
    expect(page.locator(".criterion.current")).to_have_count(1)
    page.route("**/comments/", lambda route: route.abort("internetdisconnected"), times=1)
    page.get_by_role("button", name="Comments").click()
    drawer = page.locator("dialog#comments")
    expect(drawer.get_by_role("alert")).to_have_text("The connection was lost. Try again in a moment.")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Comments").click()
    expect(drawer.locator("[data-comment]")).to_be_focused()
    expect(drawer.get_by_role("alert")).to_have_count(0)


def test_the_drawer_of_a_checker_keeps_a_comment_for_the_checker_alone(new_page: NewPage) -> None:
    workshop = build_workshop(check_policy="all")
    row = workshop.queue()[0]
    decide(row)
    waiting = access.waiting_checks(workshop.checker)
    assert services.claim_check(checker=workshop.checker, waiting=waiting, at=timezone.now()) == row
    page = new_page(workshop.checker)
    open_drawer(page, f"/work/checks/{row.public_id}/")
    page.keyboard.type("Please look at 3.")
    expect(open_drawer(page, f"/work/checks/{row.public_id}/")).to_have_value("Please look at 3.")
    # The annotator signs in to the same browser.
    theirs = new_page(workshop.annotator).context.cookies()
    page.context.clear_cookies(name="sessionid")
    page.context.add_cookies([cookie for cookie in theirs if cookie["name"] == "sessionid"])  # type: ignore[misc]
    page.goto(f"/work/{row.public_id}/comments/")
    field = page.locator("[data-comment]")
    expect(field).to_be_visible()
    expect(field).to_have_value("")
    field.fill("Done.")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".thread > .own")).to_have_count(1)
    assert page.evaluate(DRAFTS) == 1  # the checker's
