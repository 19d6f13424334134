"""Grading in a real browser: the keyboard alone, and nothing lost whatever happens to the connection."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pgtrigger
import pytest
from django.utils import timezone
from playwright.sync_api import Page, Route, expect

from annotation import services
from annotation.models import Assignment, Decision, Membership
from rubrics.models import RubricItem
from tests.annotation.conftest import TEXT, build_workshop
from tests.axe import axe_violations
from tests.factories import PASSWORD
from tests.rubrics.versions.new_versions import reword
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
NewPage = Callable[..., Page]


def saved(page: Page) -> None:
    """Wait until the page says that everything is saved."""
    expect(page.locator("#saved")).to_have_text(re.compile(r"^Saved \d\d:\d\d:\d\d$"))


def open_work(page: Page, row: Assignment) -> None:
    page.goto(f"/work/{row.public_id}/")
    expect(page.locator(".criterion.current")).to_have_count(1)


def outcomes(row: Assignment) -> list[str | None]:
    rows = Decision.objects.filter(assignment=row, round=row.round).order_by("criterion__items__position")
    return list(rows.values_list("outcome", flat=True))


def test_thirty_criteria_take_thirty_keys_and_one_shortcut(new_page: NewPage) -> None:
    workshop = build_workshop(criteria=[1] * 30, responses=4)
    user = workshop.people()[0]
    row, upcoming = workshop.queue(user)[:2]
    page = new_page(user)
    page.goto("/work/")
    page.get_by_role("link", name="Start with response 1 of 2").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Response 1 of 2")
    expect(page.locator(".criterion.current")).to_have_count(1)  # the page's script has started
    keys = ["m", "n", "m", "c", "n", "m"] * 5
    for key in keys:
        page.keyboard.press(key)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Response 2 of 2")
    assert page.url.endswith(f"/work/{upcoming.public_id}/")
    assert outcomes(row) == [{"m": "met", "n": "not_met", "c": "cannot_assess"}[key] for key in keys]
    row.refresh_from_db()
    assert row.status == "accepted"


def test_a_new_version_under_an_open_page_shows_itself_when_it_is_handed_in(new_page: NewPage, watch: Any) -> None:
    watch.allow("status of 4")
    workshop = build_workshop(criteria=3)
    row = workshop.queue()[0]
    page = new_page(workshop.annotator)
    open_work(page, row)
    reword(row.case, 1)
    page.keyboard.press("m")
    page.keyboard.press("m")  # of the old wording: refused
    page.keyboard.press("m")
    page.keyboard.press("Control+Enter")
    reworded = page.locator(".criterion", has_text="put differently")
    expect(reworded).to_have_count(1)
    assert Decision.objects.filter(assignment=row, outcome="met").count() == 2  # of what reads the same


def test_every_other_key_and_the_page_after_a_reload(new_page: NewPage) -> None:
    workshop = build_workshop(criteria=5)
    row = workshop.queue()[0]
    page = new_page(workshop.annotator)
    open_work(page, row)
    current = page.locator(".criterion.current .n")
    page.keyboard.press("j")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("k")
    expect(current).to_have_text("2")
    page.keyboard.press("b")
    page.keyboard.press("n")
    expect(current).to_have_text("3")
    page.keyboard.press("t")
    page.keyboard.type("met n c j: letters are letters here")
    page.keyboard.press("Escape")
    page.keyboard.press("m")
    page.keyboard.press("m")
    page.keyboard.press("u")  # the last decision, on criterion 4, is undone
    expect(current).to_have_text("4")
    page.keyboard.press("k")
    page.keyboard.press("Delete")
    saved(page)
    criteria = services.criteria_of(row)
    state = {d.criterion_id: d for d in Decision.objects.filter(assignment=row)}
    assert (state[criteria[1]].outcome, state[criteria[1]].borderline) == ("not_met", True)
    assert (state[criteria[2]].outcome, state[criteria[2]].note) == (None, "met n c j: letters are letters here")
    assert state[criteria[3]].outcome is None
    page.reload()
    expect(page.locator("#graded-text")).to_have_text("1 / 5")
    expect(current).to_have_text("1")  # the first without a decision
    page.get_by_role("button", name="Open").click()
    expect(page.locator(".criterion:visible")).to_have_count(4)
    page.get_by_role("button", name="Flagged").click()
    expect(page.locator(".criterion:visible")).to_have_count(1)


def test_evidence_by_selection_and_by_keyboard_lands_on_the_stored_text(new_page: NewPage) -> None:
    workshop = build_workshop()
    row = workshop.queue()[0]
    page = new_page(workshop.annotator)
    open_work(page, row)
    # Select from within one paragraph into a table cell, over markup and an astral character behind it.
    page.evaluate(
        """() => {
            const leaves = [...document.querySelectorAll('#response [data-s]')];
            const leaf = (words) => leaves.find((one) => one.textContent.includes(words));
            const [from, to] = [leaf('Do not skip'), leaf('soaked cloth')];
            document.getSelection().setBaseAndExtent(from.firstChild, 3, to.firstChild, 6);
        }"""
    )
    page.keyboard.press("e")
    saved(page)
    start, end = TEXT.index("not skip or"), TEXT.index("soaked") + 6
    first = Decision.objects.get(assignment=row)
    assert first.evidence == [{"quote": TEXT[start:end], "start": start, "end": end}]
    expect(page.locator("#response mark.current").first).to_have_text(re.compile("^not skip or change"))
    page.keyboard.press("j")
    page.keyboard.press("e")  # nothing selected: pick sentences
    for _ in range(20):
        page.keyboard.press("ArrowRight")  # beyond the end stays at the last
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("Enter")
    saved(page)
    second = Decision.objects.exclude(pk=first.pk).get(assignment=row)
    assert second.evidence[0]["quote"] == "😀 Do you take *aspirin*, ibuprofen or anything new from the pharmacy?"
    page.reload()
    expect(page.locator("#response mark.other").last).to_have_attribute("data-label", "2")
    page.locator(".criterion.current [data-drop]").click()
    saved(page)
    first.refresh_from_db()
    assert first.evidence == []


def test_what_is_decided_offline_waits_and_is_sent_afterwards(new_page: NewPage, watch: object) -> None:
    watch.allow("ERR_INTERNET_DISCONNECTED", "htmx:sendError", "htmx:afterRequest")  # type: ignore[attr-defined]
    workshop = build_workshop(criteria=4)
    row = workshop.queue()[0]
    page = new_page(workshop.annotator)
    open_work(page, row)
    page.keyboard.press("m")
    saved(page)
    page.context.set_offline(True)
    page.keyboard.press("n")
    page.keyboard.press("c")
    expect(page.locator("#saved")).to_have_text("2 waiting, offline")
    page.keyboard.press("k")
    page.keyboard.press("m")  # changes its mind about criterion 3 while offline
    page.keyboard.press("Control+Enter")
    expect(page.locator(".toast.warning")).to_contain_text("Not submitted: there is no connection.")
    assert outcomes(row) == ["met"]
    page.context.set_offline(False)
    expect(page.locator(".toast.warning")).to_have_count(0)
    saved(page)
    assert outcomes(row) == ["met", "not_met", "met"]


def test_a_closed_tab_loses_nothing(new_page: NewPage, watch: object) -> None:
    watch.allow("ERR_FAILED", "htmx:sendError", "htmx:afterRequest")  # type: ignore[attr-defined]
    workshop = build_workshop(criteria=4)
    row = workshop.queue()[0]
    page = new_page(workshop.annotator)
    open_work(page, row)
    page.route("**/decisions/", lambda route: route.abort())
    page.keyboard.press("n")
    page.keyboard.press("m")
    expect(page.locator("#saved")).to_have_text("2 waiting, offline")
    context = page.context
    page.close(run_before_unload=False)
    again = context.new_page()
    again.goto("/work/")  # any page that knows whose browser it is sends what was left
    wait_until(lambda: outcomes(row) == ["not_met", "met"], message="the decisions that were left to arrive")
    expect(again.locator("#unsent")).to_be_hidden()
    open_work(again, row)
    expect(again.locator("#graded-text")).to_have_text("2 / 4")


def test_what_was_decided_here_outlives_what_another_tab_does_to_the_storage(new_page: NewPage, watch: object) -> None:
    watch.allow("ERR_FAILED")  # type: ignore[attr-defined]
    workshop = build_workshop(criteria=3)
    row = workshop.queue()[0]
    page = new_page(workshop.annotator)
    open_work(page, row)
    other = page.context.new_page()
    other.goto("/healthz")  # of this site, and without a script of its own
    page.route("**/decisions/", lambda route: route.abort())
    page.keyboard.press("n")
    expect(page.locator("#saved")).to_have_text("1 waiting, offline")
    # Another tab, saving an older entry, may take this one along; and what was put there under it may be older, too.
    other.evaluate(
        """() => {
            const key = Object.keys(localStorage).find((one) => one.startsWith("consilium.outbox:"));
            const entry = JSON.parse(localStorage.getItem(key));
            const older = { ...entry, outcome: "met", client_id: crypto.randomUUID(), after: [] };
            localStorage.setItem(key, JSON.stringify(older));
            localStorage.removeItem(key);
        }"""
    )
    page.wait_for_function("() => Object.keys(localStorage).some((one) => one.startsWith('consilium.outbox:'))")
    page.unroute("**/decisions/")
    saved(page)
    assert outcomes(row) == ["not_met"]


def test_what_a_dead_tab_left_is_sent_by_the_one_that_is_open(new_page: NewPage, watch: object) -> None:
    watch.allow("ERR_FAILED")  # type: ignore[attr-defined]
    workshop = build_workshop(criteria=3)
    row = workshop.queue()[0]
    page = new_page(workshop.annotator)
    open_work(page, row)
    dying = page.context.new_page()
    open_work(dying, row)
    # The other tab sends what it finds within two seconds; until this one is dead it must not.
    for tab in (dying, page):
        tab.route("**/decisions/", lambda route: route.abort())
    dying.keyboard.press("n")
    expect(dying.locator("#saved")).to_have_text("1 waiting, offline")
    dying.close(run_before_unload=False)
    page.unroute("**/decisions/")
    saved(page)
    assert outcomes(row) == ["not_met"]


def test_an_answer_that_is_lost_on_the_way_back_does_not_ask_or_overwrite(new_page: NewPage, watch: object) -> None:
    watch.allow("ERR_FAILED", "htmx:sendError", "htmx:afterRequest", "409")  # type: ignore[attr-defined]
    workshop = build_workshop(criteria=3)
    row = workshop.queue()[0]
    page = new_page(workshop.annotator)
    open_work(page, row)
    lost: list[object] = []

    def lose(route: Route) -> None:
        if not lost:
            lost.append(route.fetch())  # the server has it, the browser never hears of it
        route.abort()

    page.route("**/decisions/", lose)
    page.keyboard.press("m")
    expect(page.locator("#saved")).to_have_text("1 waiting, offline")
    page.keyboard.press("k")
    page.keyboard.press("n")  # another word on the same criterion before a retry arrives
    page.unroute("**/decisions/", lose)
    saved(page)
    assert outcomes(row) == ["not_met"]
    expect(page.locator("#choice")).to_be_hidden()


@pytest.mark.parametrize("keep", [True, False])
def test_a_decision_changed_elsewhere_asks_which_one_holds(new_page: NewPage, watch: object, keep: bool) -> None:
    watch.allow("409")  # type: ignore[attr-defined]
    workshop = build_workshop()
    row = workshop.queue()[0]
    page = new_page(workshop.annotator)
    open_work(page, row)
    first = services.criteria_of(row)[0]
    services.save_decision(
        assignment=row,
        annotator=workshop.annotator,
        change=services.DecisionInput(criterion=first, outcome="cannot_assess", note="from the tablet"),
        at=timezone.now(),
    )
    page.keyboard.press("m")
    choice = page.locator("#choice")
    expect(choice).to_be_visible()
    expect(choice).to_contain_text("from the tablet")
    expect(choice.locator("[data-mine]")).to_have_text("Met")
    assert axe_violations(page) == []
    page.get_by_role("button", name="Keep mine" if keep else "Use saved version").click()
    saved(page)
    assert Decision.objects.get(assignment=row).outcome == ("met" if keep else "cannot_assess")
    expect(page.locator(f"#criterion-{first} [aria-pressed=true]").first).to_have_text(
        "Met" if keep else "Can’t assess"
    )
    page.keyboard.press("n")
    saved(page)
    assert outcomes(row) == ["met" if keep else "cannot_assess", "not_met"]


def test_submit_refuses_and_jumps_to_what_is_missing(new_page: NewPage, watch: object) -> None:
    watch.allow("422")  # type: ignore[attr-defined]
    workshop = build_workshop(criteria=4)
    row = workshop.queue()[0]
    page = new_page(workshop.annotator)
    open_work(page, row)
    page.keyboard.press("m")
    page.keyboard.press("j")
    page.keyboard.press("m")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#refusal")).to_contain_text("2 criteria have no decision yet.")
    expect(page.locator(".criterion.current .n")).to_have_text("2")
    page.locator("#refusal a", has_text="4").click()
    expect(page.locator(".criterion.current .n")).to_have_text("4")
    page.keyboard.press("m")
    page.keyboard.press("m")
    page.keyboard.press("Control+Enter")
    expect(page).not_to_have_url(re.compile(row.public_id))
    row.refresh_from_db()
    assert row.status == "accepted"


def test_an_ended_session_opens_a_dialog_and_goes_on_afterwards(new_page: NewPage, watch: object) -> None:
    watch.allow("401")  # type: ignore[attr-defined]
    workshop = build_workshop()
    row = workshop.queue()[0]
    page = new_page(workshop.annotator)
    open_work(page, row)
    cookies = page.context.cookies()
    page.context.clear_cookies(name="sessionid")
    page.keyboard.press("m")
    expect(page.locator("#session-ended")).to_be_visible()
    expect(page.locator("#saved")).to_have_text(re.compile("^1 waiting"))
    page.context.add_cookies([cookie for cookie in cookies if cookie["name"] == "sessionid"])  # type: ignore[misc]
    page.get_by_role("button", name="I have signed in").click()
    saved(page)
    assert outcomes(row) == ["met"]


def test_a_batch_that_is_paused_says_so_and_keeps_what_was_decided(new_page: NewPage, watch: object) -> None:
    watch.allow("409")  # type: ignore[attr-defined]
    workshop = build_workshop()
    row = workshop.queue()[0]
    page = new_page(workshop.annotator)
    open_work(page, row)
    services.pause_batch(batch=workshop.batch)
    page.keyboard.press("m")
    expect(page.locator("#refusal")).to_contain_text("This batch is paused")
    expect(page.locator("#saved")).to_have_text("1 waiting to be sent")
    services.open_batch(batch=workshop.batch)
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    saved(page)
    assert outcomes(row) == ["met"]
    services.close_batch(batch=workshop.batch, at=timezone.now())
    page.keyboard.press("n")
    expect(page.locator("#not-sent li")).to_have_text(["Criterion 2: Not met"])
    page.goto("/work/")
    left = page.locator("#refused-left")
    expect(left).to_contain_text("This batch is closed")
    left.get_by_role("button", name="Discard them").click()
    expect(left).to_be_hidden()
    assert page.evaluate("Object.keys(localStorage).filter((key) => key.includes('outbox')).length") == 0


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 768)])
def test_the_grading_page_has_no_axe_violation(new_page: NewPage, scheme: str, width: int) -> None:
    workshop = build_workshop(criteria=[8, -6, 5, 1])
    row = workshop.queue()[0]
    page = new_page(workshop.annotator, color_scheme=scheme, viewport={"width": width, "height": 900})
    page.goto("/work/")
    assert axe_violations(page) == []
    open_work(page, row)
    for key in ("m", "b", "n", "c", "e", "ArrowRight", "Enter", "t"):
        page.keyboard.press(key)
    page.keyboard.type("why")
    page.keyboard.press("Escape")
    saved(page)
    assert axe_violations(page) == []
    page.keyboard.press("?")
    assert axe_violations(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    assert axe_violations(page) == []
    # Nothing of the page is wider than the window.
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_the_next_response_comes_without_a_page_load(new_page: NewPage) -> None:
    workshop = build_workshop(criteria=[1] * 30, responses=6)
    user = workshop.people()[0]
    first, second, third = workshop.queue(user)
    page = new_page(user)
    documents: list[str] = []
    page.on("request", lambda request: documents.append(request.url) if request.is_navigation_request() else None)
    open_work(page, first)
    for row, upcoming in ((first, second), (second, third)):
        for _ in range(30):
            page.keyboard.press("m")
        page.keyboard.press("Control+Enter")
        expect(page.locator("#work")).to_have_attribute("data-assignment", upcoming.public_id)
        row.refresh_from_db()
        assert row.status == "accepted"
        assert outcomes(row) == ["met"] * 30
    assert len(documents) == 1  # the first page
    assert page.url.endswith(f"/work/{third.public_id}/")
    expect(page).to_have_title("Response 3 of 3 · Consilium")
    expect(page.locator("#announce")).to_have_text("Response 3 of 3")
    expect(page.locator(".criterion.current .n")).to_have_text("1")
    assert page.evaluate("document.activeElement.dataset.number") == "1"
    page.go_back()  # a real page stands behind each address
    expect(page.locator("#work")).to_have_attribute("data-assignment", second.public_id)
    expect(page.locator("#submit")).to_have_count(0)


def test_borderline_by_one_key_order_by_axis_and_keys_that_belong_to_others(new_page: NewPage) -> None:
    workshop = build_workshop(criteria=4)
    row = workshop.queue()[0]
    criteria = services.criteria_of(row)
    for number, item in enumerate(RubricItem.objects.filter(rubric=row.rubric_id).order_by("position")):
        with pgtrigger.ignore():
            RubricItem.objects.filter(pk=item.pk).update(tags=[f"axis:{'safety' if number % 2 else 'accuracy'}"])
    page = new_page(workshop.annotator)
    open_work(page, row)
    numbers = page.locator(".criterion .n")
    page.keyboard.press("a")
    expect(numbers).to_have_text(["1", "3", "2", "4"])
    expect(page.locator("li.axis")).to_have_text(["accuracy", "safety"])
    page.keyboard.press("Shift+M")
    expect(page.locator(".criterion.current .n")).to_have_text("3")
    page.keyboard.press("n")
    page.keyboard.press("Shift+B")  # the one before
    page.keyboard.press("Control+m")
    page.keyboard.press("Alt+m")
    page.keyboard.press("Shift+J")
    expect(page.locator(".criterion.current .n")).to_have_text("2")
    page.locator(".criterion.current").dispatch_event("keydown", {"key": "m", "isComposing": True, "bubbles": True})
    saved(page)
    decisions = {d.criterion_id: (d.outcome, d.borderline) for d in Decision.objects.filter(assignment=row)}
    assert decisions == {criteria[0]: ("met", True), criteria[2]: ("not_met", True)}
    page.keyboard.press("o")
    expect(page.locator(".criterion:visible")).to_have_count(2)
    page.keyboard.press("l")
    expect(page.locator(".criterion:visible")).to_have_count(2)
    page.keyboard.press("l")
    page.reload()
    expect(numbers).to_have_text(["1", "3", "2", "4"])  # remembered
    assert axe_violations(page) == []


def test_keys_leave_alone_what_a_filter_hides(new_page: NewPage) -> None:
    workshop = build_workshop(criteria=2)
    row = workshop.queue()[0]
    page = new_page(workshop.annotator)
    open_work(page, row)
    page.keyboard.press("o")
    page.keyboard.press("m")
    page.keyboard.press("n")
    expect(page.locator("#none-shown span:visible")).to_have_text(
        "No criterion is open. Choose “All” to see your decisions, or submit."
    )
    page.keyboard.press("l")
    expect(page.locator("#none-shown span:visible")).to_have_text("No criterion here. Choose “All” to see the others.")
    page.keyboard.press("o")
    for key in ("m", "c", "b", "t", "Delete"):
        page.keyboard.press(key)
    saved(page)
    assert outcomes(row) == ["met", "not_met"]
    page.keyboard.press("o")
    page.keyboard.press("c")
    expect(page.locator(".criterion.current [data-set=cannot_assess]")).to_have_attribute("aria-pressed", "true")


def test_two_tabs_tell_each_other_and_show_the_same(new_page: NewPage) -> None:
    workshop = build_workshop(criteria=4)
    row = workshop.queue()[0]
    first_page = new_page(workshop.annotator)
    open_work(first_page, row)
    expect(first_page.locator("#elsewhere")).to_be_hidden()
    second = first_page.context.new_page()
    open_work(second, row)
    for page in (first_page, second):
        expect(page.locator("#elsewhere")).to_be_visible()
    first_page.keyboard.press("m")
    expect(second.locator(".criterion").first).to_have_attribute("data-outcome", "met")
    saved(first_page)
    expect(second.locator(".criterion").first).to_have_attribute("data-version", "1")
    second.bring_to_front()
    second.keyboard.press("n")  # on the first criterion still: two has not moved
    saved(second)
    expect(first_page.locator(".criterion").first).to_have_attribute("data-outcome", "not_met")
    assert outcomes(row) == ["not_met"]
    expect(second.locator("#choice")).to_be_hidden()
    second.close()
    expect(first_page.locator("#elsewhere")).to_be_hidden()


def test_somebody_else_in_the_browser_sends_nothing_and_sees_nothing_waiting(new_page: NewPage, watch: object) -> None:
    watch.allow("404", "401")  # type: ignore[attr-defined]
    workshop = build_workshop()
    row = workshop.queue()[0]
    page = new_page(workshop.annotator)
    open_work(page, row)
    mine = page.context.cookies()
    other = new_page(workshop.checker)
    theirs = other.context.cookies()
    page.context.clear_cookies(name="sessionid")
    page.context.add_cookies([cookie for cookie in theirs if cookie["name"] == "sessionid"])  # type: ignore[misc]
    page.keyboard.press("m")
    expect(page.locator("#refusal")).to_contain_text("Someone else is now signed in")
    expect(page.locator("#saved")).to_have_attribute("data-state", "waiting")
    tab = page.context.new_page()
    tab.goto("/work/")
    expect(tab.locator("#unsent")).to_be_hidden()
    assert outcomes(row) == []
    page.context.clear_cookies(name="sessionid")
    page.context.add_cookies([cookie for cookie in mine if cookie["name"] == "sessionid"])  # type: ignore[misc]
    page.evaluate("window.dispatchEvent(new Event('focus'))")
    saved(page)
    assert outcomes(row) == ["met"]


def test_who_is_stopped_while_grading_reads_the_reason(new_page: NewPage, watch: object) -> None:
    watch.allow("404")  # type: ignore[attr-defined]
    workshop = build_workshop()
    row = workshop.queue()[0]
    page = new_page(workshop.annotator)
    open_work(page, row)
    Membership.objects.filter(user=workshop.annotator).update(active=False)
    page.keyboard.press("m")
    reason = page.get_by_text(
        "Not saved: this response is no longer assigned to you, or your role in the group has ended"
    )
    expect(reason).to_be_visible()
    assert outcomes(row) == []


def test_signing_in_over_the_page_goes_on_where_it_was(new_page: NewPage, watch: object) -> None:
    watch.allow("401", "400")  # type: ignore[attr-defined]
    workshop = build_workshop()
    row = workshop.queue()[0]
    page = new_page(workshop.annotator)
    open_work(page, row)
    page.context.clear_cookies(name="sessionid")
    page.keyboard.press("m")
    dialog = page.locator("#session-ended")
    expect(dialog).to_be_visible()
    assert axe_violations(page) == []
    dialog.get_by_label("Email address").fill(workshop.annotator.email)
    dialog.get_by_label("Password").fill("not this one")
    dialog.get_by_role("button", name="Sign in", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("password")
    # Somebody else's account first: the page stays closed to them, and can still be opened by its own account.
    dialog.get_by_label("Email address").fill(workshop.checker.email)
    dialog.get_by_label("Password").fill(PASSWORD)
    dialog.get_by_role("button", name="Sign in", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("Someone else is signed in to this browser.")
    dialog.get_by_label("Email address").fill(workshop.annotator.email)
    dialog.get_by_label("Password").fill(PASSWORD)
    dialog.get_by_role("button", name="Sign in", exact=True).click()
    expect(dialog).to_be_hidden()
    saved(page)
    assert outcomes(row) == ["met"]


@pytest.mark.parametrize("button", ["#criteria .criterion.current [data-set=not_met]", "#dock [data-choose=not_met]"])
def test_a_note_stays_when_an_outcome_is_pressed_while_it_is_written(new_page: NewPage, button: str) -> None:
    workshop = build_workshop()
    row = workshop.queue()[0]
    page = new_page(workshop.annotator, **({"viewport": {"width": 390, "height": 844}} if "dock" in button else {}))
    open_work(page, row)
    page.keyboard.press("t")
    page.keyboard.insert_text("Only for adults.")
    page.locator(button).click()
    expect(page.locator("#graded-text")).to_contain_text("1 /")
    saved(page)
    assert list(row.decisions.exclude(outcome=None).values_list("outcome", "note")) == [("not_met", "Only for adults.")]
    # The outcome was chosen last, so it is undone first, and the note stays.
    page.locator("#criteria .criterion").first.focus()
    page.keyboard.press("u")
    expect(page.locator("#graded-text")).to_contain_text("0 /")
    saved(page)
    assert list(row.decisions.values_list("outcome", "note")) == [(None, "Only for adults.")]


def test_skipping_brings_the_next_response(new_page: NewPage, watch: object) -> None:
    watch.allow("422")  # type: ignore[attr-defined]
    workshop = build_workshop(responses=4)
    user = workshop.people()[0]
    row, upcoming = workshop.queue(user)
    page = new_page(user)
    open_work(page, row)
    page.get_by_role("button", name="Skip").click()
    page.get_by_role("radio", name="Another reason").check()
    dialog = page.locator("dialog#skip")
    dialog.get_by_role("button", name="Skip").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Explain in the note")
    dialog.get_by_label("Note").fill("The answer is cut off.")
    dialog.get_by_role("button", name="Skip").click()
    expect(page.locator("#work")).to_have_attribute("data-assignment", upcoming.public_id)
    row.refresh_from_db()
    assert row.status == "released"
    assert row.skips.get().note == "The answer is cut off."


def test_skipping_for_later_says_so_and_leads_back(new_page: NewPage) -> None:
    workshop = build_workshop(responses=4)
    row, upcoming = workshop.queue()
    page = new_page(workshop.annotator)
    open_work(page, row)
    for skipped in (row, upcoming):  # the second time without a next response but the first, whose page is loaded
        page.get_by_role("button", name="Skip").click()
        page.locator("dialog#skip").get_by_role("radio", name="Later").check()
        page.locator("dialog#skip").get_by_role("button", name="Skip").click()
        expect(page.locator("#work")).not_to_have_attribute("data-assignment", skipped.public_id)
        expect(page.locator(".toast")).to_contain_text("Moved to the end of your queue.")
    page.locator(".toast").get_by_role("button", name="Open it again").click()
    expect(page.locator("#work")).to_have_attribute("data-assignment", upcoming.public_id)
    expect(page.locator("#place")).to_have_text("Response 2 of 2")


def test_criteria_are_grouped_by_axis_and_back_and_the_order_is_remembered(new_page: NewPage) -> None:
    workshop = build_workshop(criteria=3)
    page = new_page(workshop.annotator)
    open_work(page, workshop.queue()[0])
    page.evaluate("document.querySelectorAll('#criteria [data-row]')[1].dataset.axis = 'safety'")
    order = "[...document.querySelectorAll('#criteria > li')].map((li) => li.dataset.number ?? li.dataset.axisHead)"
    page.keyboard.press("j")
    page.keyboard.press("a")
    assert page.evaluate(order) == ["accuracy", "1", "3", "safety", "2"]
    expect(page.locator(".criterion.current .n")).to_have_text("2")
    assert page.evaluate("Object.entries(localStorage).filter(([key]) => key.includes('order'))[0][1]") == "axis"
    page.get_by_role("button", name="By axis").click()
    assert page.evaluate(order) == ["1", "2", "3"]


def test_comments_open_by_key_and_by_button_and_are_counted(new_page: NewPage) -> None:
    workshop = build_workshop()
    row = workshop.queue()[0]
    page = new_page(workshop.annotator)
    open_work(page, row)
    # htmx takes over the new form only after this delay; keys before it would be sent by the browser as a page.
    page.evaluate("htmx.config.defaultSettleDelay = 300")
    page.keyboard.press("d")
    drawer = page.locator("dialog#comments")
    field = drawer.locator("[data-comment]")
    expect(field).to_be_focused()
    page.keyboard.type("Is this dose usual? m n c")
    page.keyboard.press("Control+Enter")  # sends the comment and hands nothing in
    expect(drawer.locator(".thread > li")).to_have_count(1)
    expect(field).to_be_focused()
    page.keyboard.type("half a comm")
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()
    page.get_by_role("button", name="Comments").click()
    expect(field).to_have_value("half a comm")
    expect(page.locator("#refusal .notice")).to_have_count(0)
    assert outcomes(row) == []
    page.goto(f"/work/{row.public_id}/comments/")
    page.locator("[data-comment]").fill("And this one?")
    page.locator("[data-comment]").press("Control+Enter")
    expect(page.locator(".thread > li")).to_have_count(2)
