"""The queue of pairs in a browser: by keys alone, blind to where a pair came from, narrow and in two languages."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.axe import axe_violations
from tests.validation.pairs.pair_world import NINE, make_world, scripted
from tests.waiting import wait_until
from validation.models import PairJudgement

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

    from tests.conftest import Watch

pytestmark = pytest.mark.django_db(transaction=True)


def test_two_pairs_are_judged_with_keys_alone(new_page: Callable[..., Page], watch: Watch) -> None:
    watch.allow("status of 422")
    pairs = [scripted("P1 5-3w | 5-3w"), scripted("P2 4-4s | 4-4s", "unit")]
    world = make_world("ward", pairs, {"A": {pair["case"]: NINE for pair in pairs}})
    page = new_page(user=world.physicians[0])
    page.goto("/b/ward/pairs/judge/")
    expect(page.get_by_role("heading", name="Pairs of texts to compare")).to_be_visible()
    expect(page.locator("mark.pair-mark")).to_have_count(2)
    # The page opens at its top, with the pages of its section.
    assert page.evaluate("window.scrollY") == 0
    assert page.evaluate("document.activeElement.tagName") != "INPUT"
    section = page.get_by_role("navigation", name="Section")
    expect(section.get_by_role("link", name="Writing")).to_have_attribute("aria-current", "page")
    assert axe_violations(page) == []
    page.keyboard.press("s")  # nothing is answered yet
    expect(page.locator("[data-field=single] .error")).to_be_in_viewport()
    assert PairJudgement.objects.count() == 0
    for key in "1367":  # the last answer to a question counts
        page.keyboard.press(key)
    page.keyboard.press("s")
    expect(page.get_by_text("1 of 2 judged")).to_be_visible()
    page.wait_for_load_state()
    wait_until(lambda: PairJudgement.objects.filter(grade="dangerous").count() == 1, message="the first is stored")
    page.keyboard.press("u")  # back to the one before, which keeps its answers
    expect(page.locator("input[name=harm][value=dangerous]")).to_be_checked()
    page.wait_for_load_state()
    first = page.url
    page.keyboard.press("4")
    page.keyboard.press("s")
    page.wait_for_url(lambda url: url != first)
    wait_until(lambda: PairJudgement.objects.filter(grade="minor").count() == 1, message="the first is changed")
    page.locator("summary", has_text="Note").click()
    page.locator("textarea[name=note]").fill("2 of 7")  # keys are off while somebody types
    for radio in ("single", "flaw"):
        page.locator(f"input[name={radio}][value=no]").check()
    page.locator("input[name=harm][value=none]").check()
    page.keyboard.press("s")
    expect(page.get_by_text("You have judged 2 pairs")).to_be_visible()
    second = PairJudgement.objects.get(grade="no_error")
    assert (second.note, second.is_single) == ("2 of 7", False)


def test_a_refused_judgement_shows_the_first_question_without_an_answer(
    new_page: Callable[..., Page], watch: Watch
) -> None:
    watch.allow("status of 422")
    world = make_world("ward", [scripted("P1 5-3w | 5-3w")], {"A": {"P1": NINE}})
    page = new_page(user=world.physicians[0], viewport={"width": 800, "height": 300})
    page.goto("/b/ward/pairs/judge/")
    expect(page.locator("mark.pair-mark")).to_have_count(2)
    page.keyboard.press("1")
    page.keyboard.press("s")
    message = page.locator(".pair-judge fieldset .error:visible").first
    expect(message).to_be_in_viewport()
    expect(page.locator("input[name=harm]").first).to_be_focused()
    red = page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--alert').trim()")
    assert red
    assert message.evaluate("(own, red) => { const probe = document.createElement('i'); probe.style.color = red;"
                            "document.body.append(probe); const same = getComputedStyle(own).color ==="
                            "getComputedStyle(probe).color; probe.remove(); return same; }", red)  # fmt: skip
    expect(page.locator(".pair-judge fieldset .error:visible")).to_have_count(2)
    page.keyboard.press("3")  # keys work from there
    expect(page.locator("input[name=harm][value=dangerous]")).to_be_checked()
    expect(page.locator(".pair-judge fieldset .error:visible")).to_have_count(1)  # the answered one has none


def test_a_judgement_survives_a_lost_connection_and_a_closed_page(new_page: Callable[..., Page], watch: Watch) -> None:
    watch.allow("net::ERR_FAILED")
    world = make_world("ward", [scripted("P1 5-3w | 5-3w")], {})
    page = new_page(user=world.physicians[0])
    page.goto("/b/ward/pairs/judge/")
    page.wait_for_load_state()
    context = page.context
    # Not set_offline: that ends while the page closes, which would then still send the answer.
    context.route(
        "**/pairs/judge/**", lambda route: route.abort() if route.request.method == "POST" else route.continue_()
    )
    for key in "136":
        page.keyboard.press(key)
    page.keyboard.press("s")
    expect(page.locator("#question-status")).to_contain_text("Not sent: the connection was lost.")
    expect(page.locator("#question-status")).to_be_in_viewport()
    expect(page.locator("input[name=harm][value=dangerous]")).to_be_checked()
    assert not PairJudgement.objects.exists()
    page.close()
    context.unroute_all()
    later = context.new_page()
    later.goto("/b/ward/pairs/judge/")
    expect(later.get_by_text("You have judged 1 pair")).to_be_visible()
    assert PairJudgement.objects.get().grade == "flawed"


def test_a_kept_judgement_does_not_replace_a_later_one(new_page: Callable[..., Page], watch: Watch) -> None:
    watch.allow("net::ERR_FAILED")
    world = make_world("ward", [scripted("P1 5-3w | 5-3w")], {})
    page = new_page(user=world.physicians[0])
    page.goto("/b/ward/pairs/judge/")
    page.wait_for_load_state()
    place = page.url

    def lose(route: Route) -> None:
        if route.request.method == "POST":
            route.abort()
        else:
            route.continue_()

    page.route("**/pairs/**", lose)
    for key in "136":
        page.keyboard.press(key)
    page.keyboard.press("s")
    expect(page.locator("#question-status")).to_contain_text("Not sent: the connection was lost.")
    page.once("dialog", lambda dialog: dialog.accept())  # the page warns of what is not sent
    page.goto("/profile/")
    world.judge("P1", by=0)  # on another device
    stored = PairJudgement.objects.values().get()
    page.unroute("**/pairs/**", lose)
    page.goto(place)
    expect(page.locator("#question-status")).to_contain_text("You have answered this question since.")
    assert PairJudgement.objects.values().get() == stored


def test_a_phone_reaches_the_questions_by_one_tap(new_page: Callable[..., Page]) -> None:
    world = make_world("ward", [scripted("P1 5-3w | 5-3w")], {"A": {"P1": NINE}})
    page = new_page(user=world.physicians[0], viewport={"width": 390, "height": 500})
    page.goto("/b/ward/pairs/judge/")
    expect(page.get_by_text("which is marked: read both")).to_be_in_viewport()
    expect(page.locator("[data-field=single]")).not_to_be_in_viewport()
    page.get_by_role("link", name="Go to the questions").click()
    expect(page.locator("[data-field=single]")).to_be_in_viewport()


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_the_pages_fit(new_page: Callable[..., Page], width: int) -> None:
    pairs = [scripted("P1 5-3w | 5-3w")]
    world = make_world("ward", pairs, {"A": {"P1": NINE}})
    for user, path in (
        (world.physicians[0], "judge/"), (world.admin, ""), (world.admin, "new/"), (world.admin, "import/"),
        (world.admin, f"{world.pair('P1').public_id}/"), (world.admin, "../pair-making/new/"),
        (world.admin, "../pair-runs/new/"),
    ):  # fmt: skip
        page = new_page(user=user)
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(f"/b/ward/pairs/{path}")
        expect(page.locator("h1")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        assert axe_violations(page) == [], path
