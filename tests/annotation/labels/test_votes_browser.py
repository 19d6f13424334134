"""Voting on a scale in a real browser: by the keyboard alone, offline, and with another tab."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.utils import timezone
from playwright.sync_api import Locator, Page, Route, expect

from annotation.labels.services import AnswerInput, save_answer, submit_labels
from annotation.models import LabelAnswer, LabelTask
from tests.annotation.labels.labels_world import Panel, build_panel
from tests.axe import axe_violations
from tests.conftest import Watch
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
NewPage = Callable[..., Page]
SAVED = re.compile(r"^Saved \d\d:\d\d:\d\d$")


@pytest.fixture
def panel(transactional_db: None) -> Panel:
    return build_panel()


def votes(task: LabelTask) -> list[tuple[object, ...]]:
    return [*LabelAnswer.objects.filter(task=task).values_list("value", "upper", "reason", "certainty", "note")]


def test_a_physician_votes_with_the_keyboard_alone(new_page: NewPage, panel: Panel, watch: Watch) -> None:
    watch.allow("status of 422")
    user = panel.people[0]
    tasks = list(LabelTask.objects.filter(annotator=user).order_by("position"))
    page = new_page(user, reduced_motion="reduce", viewport={"width": 1280, "height": 900})
    page.goto(f"/work/labels/{tasks[0].public_id}/")
    expect(page.locator(".question.current")).to_have_count(1)
    # The first case: a level, between it and the next one, certainty by key and in steps, a note.
    page.keyboard.press("b")
    expect(page.locator("[data-between-shown]")).to_have_text("Choose a level first.")
    page.keyboard.press("5")  # the scale has four levels
    expect(page.locator(".options :checked")).to_have_count(0)
    page.keyboard.press("3")
    expect(page.locator("[data-certainty-range]")).to_be_focused()
    page.keyboard.press("b")
    expect(page.locator("[data-between-shown]")).to_have_text("Your vote is between these two levels.")
    expect(page.locator(".options label.chosen")).to_have_count(2)
    page.keyboard.press("d")
    expect(page.locator("[data-certainty-shown]")).to_have_text("75")
    page.keyboard.press("+")
    page.keyboard.press("+")
    page.keyboard.press("-")
    expect(page.locator("[data-certainty-shown]")).to_have_text("80")
    page.keyboard.press("t")
    page.keyboard.type("b 0 3 are letters here")
    page.keyboard.press("Escape")
    expect(page.locator("#saved")).to_have_text(SAVED)
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        assert axe_violations(page) == []
    page.keyboard.press("Control+Enter")
    expect(page.locator("#place")).to_have_text("Case 2 of 4")
    assert votes(tasks[0]) == [("urgent-care", "emergency", "", 80, "b 0 3 are letters here")]
    # The second: B is taken back, and the highest level has none above it.
    page.keyboard.press("1")
    page.keyboard.press("b")
    page.keyboard.press("b")
    expect(page.locator("[data-between]")).not_to_be_checked()
    page.keyboard.press("b")
    page.keyboard.press("4")
    expect(page.locator("[data-between]")).to_be_disabled()
    expect(page.locator("[data-between-offer]")).to_be_hidden()
    page.keyboard.press("b")
    expect(page.locator("#announce")).to_have_text("No level is more urgent than this one.")
    page.keyboard.press("a")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#place")).to_have_text("Case 3 of 4")
    assert votes(tasks[1]) == [("emergency", "", "", 25, "")]
    # The third: cannot tell takes the certainty away and asks why.
    page.keyboard.press("2")
    page.keyboard.press("f")
    page.keyboard.press("0")
    expect(page.locator(".certainty")).to_be_hidden()
    expect(page.get_by_role("radiogroup", name="Why can’t you tell?")).to_be_visible()
    expect(page.locator("#answered-text")).to_have_text("0 / 1")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#refusal")).to_have_text("Choose the reason why you cannot tell.")
    page.keyboard.press("0")
    page.keyboard.press("0")
    expect(page.locator("#announce")).to_have_text("Cannot tell: More than one problem")
    expect(page.locator("#answered-text")).to_have_text("1 / 1")
    assert axe_violations(page) == []
    page.keyboard.press("Control+Enter")
    expect(page.locator("#place")).to_have_text("Case 4 of 4")
    assert votes(tasks[2]) == [("cannot-tell", "", "several-problems", None, "")]
    # From cannot tell back to a level.
    page.keyboard.press("0")
    page.keyboard.press("0")
    page.keyboard.press("1")
    page.keyboard.press("s")
    expect(page.locator("#saved")).to_have_text(SAVED)
    expect(page.locator("#answered-text")).to_have_text("1 / 1")
    assert votes(tasks[3]) == [("self-care", "", "", 50, "")]


def test_a_vote_waits_offline_and_overwrites_nothing(new_page: NewPage, panel: Panel, watch: Watch) -> None:
    watch.allow("ERR_FAILED", "status of 409")
    task = panel.tasks("a")[0]
    page = new_page(task.annotator)
    page.goto(f"/work/labels/{task.public_id}/")
    expect(page.locator(".question.current")).to_have_count(1)

    def cut(route: Route) -> None:
        route.abort()

    page.route("**/answers/", cut)
    page.keyboard.press("2")
    page.keyboard.press("b")
    page.keyboard.press("d")
    expect(page.locator("#saved")).to_have_text("1 waiting, offline")
    assert not LabelAnswer.objects.exists()
    page.unroute("**/answers/", cut)
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    expect(page.locator("#saved")).to_have_text(SAVED)
    expect(page.locator("[data-between]")).to_be_checked()
    assert votes(task) == [("primary-care", "urgent-care", "", 75, "")]
    version = LabelAnswer.objects.get().version
    elsewhere = AnswerInput(panel.question.public_id, "cannot-tell", None, version=version, reason="no-request")
    save_answer(task=task, annotator=task.annotator, change=elsewhere, at=timezone.now())
    page.keyboard.press("b")
    expect(page.locator("#choice")).to_be_visible()
    expect(page.locator("#choice")).to_contain_text("Cannot tell (Not a request for care)")
    expect(page.locator("#choice")).to_contain_text("Primary care · certainty 75")
    page.locator("[data-take-saved]").click()
    expect(page.locator("#choice")).to_be_hidden()
    expect(page.locator(".certainty")).to_be_hidden()
    expect(page.locator("[data-reason][value=no-request]")).to_be_checked()
    assert votes(task) == [("cannot-tell", "", "no-request", None, "")]


def test_a_vote_that_is_submitted_from_its_note_leaves_nothing_unsent(new_page: NewPage, panel: Panel) -> None:
    """The note still has the focus when the next case replaces it. The watch of the page reports any refused save."""
    user = panel.people[0]
    tasks = list(LabelTask.objects.filter(annotator=user).order_by("position"))
    page = new_page(user)
    page.goto(f"/work/labels/{tasks[0].public_id}/")
    expect(page.locator(".question.current")).to_have_count(1)
    page.keyboard.press("2")
    page.keyboard.press("d")
    page.keyboard.press("t")
    expect(page.locator("[data-note]")).to_be_focused()
    page.keyboard.type("Two people ask.")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#place")).to_have_text("Case 2 of 4")
    assert votes(tasks[0]) == [("primary-care", "", "", 75, "Two people ask.")]
    assert page.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('consilium.labels:'))") == []


def test_a_vote_that_cannot_be_sent_is_named_in_words(new_page: NewPage, panel: Panel, watch: Watch) -> None:
    watch.allow("ERR_FAILED", "status of 409")
    task = panel.tasks("a")[0]
    page = new_page(task.annotator)
    page.goto(f"/work/labels/{task.public_id}/")
    expect(page.locator(".question.current")).to_have_count(1)

    def cut(route: Route) -> None:
        route.abort()

    page.route("**/answers/", cut)
    page.keyboard.press("2")
    page.keyboard.press("b")
    page.keyboard.press("d")
    expect(page.locator("#saved")).to_have_text("1 waiting, offline")
    panel.vote(task, "self-care")
    submit_labels(task=task, annotator=task.annotator, at=timezone.now())
    page.unroute("**/answers/", cut)
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto("/work/")
    expect(page.locator("#labels-left li")).to_have_text("between Primary care and Urgent care · certainty 75")


def test_another_level_is_one_level_again(new_page: NewPage, panel: Panel) -> None:
    task = panel.tasks("a")[0]
    page = new_page(task.annotator)
    page.goto(f"/work/labels/{task.public_id}/")
    expect(page.locator(".question.current")).to_have_count(1)
    between = page.locator("[data-between-shown]")
    expect(between).to_have_text("Choose this if both levels are right.")
    page.keyboard.type("1b")
    expect(between).to_have_text("Your vote is between these two levels.")
    page.keyboard.type("3d")
    expect(page.locator("[data-between]")).not_to_be_checked()
    page.keyboard.type("b3")  # the same level again changes nothing
    expect(between).to_have_text("Your vote is between these two levels.")
    page.get_by_role("radio", name="Primary care").check()
    expect(page.locator("[data-between]")).not_to_be_checked()
    expect(page.locator("#saved")).to_have_text(SAVED)
    assert votes(task) == [("primary-care", "", "", 75, "")]


def test_a_refusal_is_in_view_and_goes_when_it_is_over(new_page: NewPage, panel: Panel, watch: Watch) -> None:
    watch.allow("status of 422", "ERR_INTERNET_DISCONNECTED")
    task = panel.tasks("a")[0]
    page = new_page(task.annotator, viewport={"width": 1280, "height": 500})
    page.goto(f"/work/labels/{task.public_id}/")
    expect(page.locator("main")).to_contain_text("After you submit, they cannot be changed.")
    page.keyboard.press("2")
    page.keyboard.press("Control+Enter")
    notice = page.locator("#refusal .notice")
    expect(notice).to_have_text("Indicate how certain you are.")
    expect(notice).to_be_in_viewport(ratio=0.9)
    page.keyboard.press("d")
    expect(notice).to_have_count(0)
    expect(page.locator("#saved")).to_have_text(SAVED)
    page.context.set_offline(True)
    page.keyboard.press("3")
    page.keyboard.press("t")  # far down
    page.keyboard.press("Control+Enter")
    expect(notice).to_contain_text("there is no connection. Your answers are kept in this browser")
    expect(notice).to_be_in_viewport(ratio=0.9)
    page.context.set_offline(False)
    expect(notice).to_have_count(0)
    assert votes(task) == [("urgent-care", "", "", 75, "")]


def is_uncovered(notice: Locator) -> bool:
    """Whether the first line of a notice is in the window, with nothing over it."""
    return notice.evaluate(  # type: ignore[no-any-return]
        """(notice) => {
            const box = notice.querySelector('p').getBoundingClientRect();
            return notice.contains(document.elementFromPoint(box.left + box.width / 2, box.top + 4));
        }"""
    )


@pytest.mark.parametrize(("width", "height"), [(390, 600), (1280, 500)])
def test_a_vote_says_what_is_missing_and_that_it_is_submitted(
    new_page: NewPage, panel: Panel, watch: Watch, width: int, height: int
) -> None:
    watch.allow("status of 422", "ERR_INTERNET_DISCONNECTED")
    user = panel.people[0]
    tasks = list(LabelTask.objects.filter(annotator=user).order_by("position"))
    page = new_page(user, viewport={"width": width, "height": height})
    page.goto(f"/work/labels/{tasks[0].public_id}/")
    expect(page.locator(".question.current")).to_have_count(1)
    notice = page.locator("#refusal .notice")
    page.get_by_role("radio", name="Cannot tell").check()
    page.get_by_role("radio", name="Another reason").check()
    page.keyboard.press("Control+Enter")
    expect(notice).to_have_text("Explain in the note why you cannot tell.")
    expect(page.locator("[data-note]")).to_be_focused()
    page.keyboard.type("Two people ask.")
    expect(notice).to_have_count(0)
    page.keyboard.press("Escape")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".toast")).to_contain_text("Case 1 of 4 is submitted.")
    expect(page.locator("#place")).to_have_text("Case 2 of 4")
    assert votes(tasks[0]) == [("cannot-tell", "", "other", None, "Two people ask.")]
    offer = page.locator("[data-between-offer]")
    expect(offer).to_have_text("Between the chosen level and the next more urgent one")
    page.keyboard.press("2")
    expect(offer).to_have_text("Between Primary care and Urgent care")
    for _ in range(2):  # the second refusal replaces the first
        page.keyboard.press("t")
        page.keyboard.press("Escape")
        page.locator("details.note").scroll_into_view_if_needed()
        with page.expect_response("**/submit/"):
            page.keyboard.press("Control+Enter")
        expect(notice).to_have_text("Indicate how certain you are.")
        wait_until(lambda: is_uncovered(notice))
    page.keyboard.press("d")
    expect(page.locator("#saved")).to_have_text(SAVED)
    expect(page.locator("#answered-text")).to_have_text("1 / 1")
    page.context.set_offline(True)
    page.keyboard.press("Control+Enter")
    expect(notice).to_contain_text("there is no connection. Your answers are saved")
    page.context.set_offline(False)
    expect(notice).to_have_count(0)


@pytest.mark.parametrize("width", [768, 1280])
def test_a_vote_fits_on_one_screen(new_page: NewPage, panel: Panel, width: int) -> None:
    task = panel.tasks("a")[0]
    page = new_page(task.annotator, viewport={"width": width, "height": 1024 if width == 768 else 900})
    page.goto(f"/work/labels/{task.public_id}/")
    page.keyboard.press("1")
    for part in (".question .options", ".vote", ".certainty", ".pane"):
        expect(page.locator(part).first).to_be_in_viewport(ratio=0.99 if part != ".pane" else 0.5)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_small_window_begins_with_the_case(new_page: NewPage, panel: Panel) -> None:
    """390 pixels, and a window of 1280 × 800 at a zoom of 200%: nothing is cut off, and the case is read first."""
    user = panel.people[0]
    tasks = list(LabelTask.objects.filter(annotator=user).order_by("position"))
    for language, width, height in (("en", 390, 300), ("zh-hans", 390, 300), ("zh-hans", 640, 400)):
        user.language = language
        user.save()
        page = new_page(user, viewport={"width": width, "height": height})
        page.goto(f"/work/labels/{tasks[0].public_id}/")
        expect(page.locator(".question.current")).to_have_count(1)
        assert page.evaluate("window.scrollY") == 0
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme, reduced_motion="reduce")
            assert axe_violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.keyboard.press("3")
        expect(page.locator("[data-certainty-range]")).to_be_in_viewport()
        # Before the next page reads the vote.
        expect(page.locator("#saved")).to_have_attribute("data-state", "saved")
    page.keyboard.press("a")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#work")).to_have_attribute("data-task", tasks[1].public_id)
    assert page.evaluate("window.scrollY") == 0
