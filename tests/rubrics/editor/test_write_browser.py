"""The editor of a case in a browser: a lost connection loses nothing, and two tabs ask which of them holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from rubrics.models import Case
from rubrics.services import give_authoring_role
from tests.factories import BenchmarkFactory, CaseFactory, UserFactory
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def test_nothing_typed_is_lost_and_two_tabs_ask_which_of_them_holds(new_page: Callable[..., Any], watch: Any) -> None:
    watch.allow("ERR_INTERNET_DISCONNECTED", "status of 409")
    author = UserFactory()
    benchmark = BenchmarkFactory(slug="b")
    give_authoring_role(benchmark=benchmark, user=author, role="author", at=timezone.now())
    conversation = [{"role": "user", "content": "My head hurts."}, {"role": "assistant", "content": "Since when?"}]
    case = CaseFactory(benchmark=benchmark, rubric=0, conversation=conversation, tags=[])
    url = f"/b/b/write/{case.public_id}/"

    def turns() -> list[str]:
        return [turn["content"] for turn in Case.objects.get(pk=case.pk).conversation]

    page = new_page(user=author)
    page.goto(url)
    first = page.get_by_label("Text of turn 1")
    first.fill("My head hurts. Call 212-555-0143.")
    wait_until(lambda: turns()[0].endswith("0143."), message="it saves itself")
    page.locator("#privacy").get_by_text("It looks like a telephone number.").wait_for()
    page.get_by_label("Short name", exact=True).fill("MRN 00482913")
    expect(page.locator("h1")).to_have_text("MRN 00482913")
    expect(page.locator(".crumbs li").last).to_have_text("MRN 00482913")
    expect(page).to_have_title("MRN 00482913 · Consilium")
    page.locator("#privacy li", has_text="Short name · ").get_by_role("button", name="Show it in the text").click()
    page.wait_for_function("() => document.activeElement.id === 'case-key' && String(getSelection()) === '00482913'")
    page.get_by_label("Short name", exact=True).fill(case.key)
    page.locator("#privacy li", has_text="Short name · ").wait_for(state="detached")
    expect(page.locator("#no-question")).to_be_visible()
    first.press("Alt+ArrowDown")
    expect(page.locator("#no-question")).to_be_hidden()
    wait_until(lambda: turns()[1].endswith("0143."), message="the turn is moved by the keyboard")
    page.get_by_role("button", name="Remove", exact=True).first.click()
    page.get_by_role("button", name="Undo").click()
    wait_until(lambda: len(turns()) == 2, message="the turn is back")
    page.locator("#case-saved", has_text="Saved at").wait_for()

    page.context.set_offline(True)
    page.get_by_label("Text of turn 1").fill("Since when, and where?")
    page.get_by_label("Specialties").last.fill("neurology")
    page.get_by_label("Specialties").last.press("Enter")
    page.locator("#case-saved", has_text="the connection was lost").wait_for()
    assert turns()[0] == "Since when?"
    page.close()  # the tab is closed before the connection is back
    second = page.context.new_page()
    page.context.set_offline(False)
    second.goto(url)
    wait_until(lambda: turns()[0] == "Since when, and where?", message="what the browser kept is sent")
    assert Case.objects.get(pk=case.pk).tags == ["specialty:neurology"]
    # Without a time where the tab that was closed had still sent it, so that nothing was left to send here.
    second.locator("#case-saved", has_text="Saved").wait_for()

    third = page.context.new_page()
    third.goto(url)
    third.get_by_label("Reference answer").fill("From the third tab")
    wait_until(lambda: Case.objects.get(pk=case.pk).reference_answer == "From the third tab", message="it is saved")
    second.get_by_label("Reference answer").fill("From the second tab")
    dialog = second.get_by_role("dialog", name="Which version do you want to keep?")
    dialog.get_by_text("From the third tab").wait_for()
    dialog.get_by_role("button", name="Keep mine").click()
    wait_until(lambda: Case.objects.get(pk=case.pk).reference_answer == "From the second tab", message="mine holds")
    second.locator("#case-saved", has_text="Saved at").wait_for()
    third.get_by_label("Difficulty").select_option("high")  # what only one of them changed needs no question
    wait_until(lambda: Case.objects.get(pk=case.pk).difficulty == "high", message="both changes hold")
    expect(third.get_by_label("Reference answer")).to_have_value("From the second tab")
    expect(third.locator("#preview")).to_contain_text("From the second tab")
    assert Case.objects.get(pk=case.pk).reference_answer == "From the second tab"
    second.get_by_label("Reference answer").fill("The second tab again")
    wait_until(lambda: Case.objects.get(pk=case.pk).reference_answer.endswith("again"), message="merged and saved")
    assert Case.objects.get(pk=case.pk).difficulty == "high"
    third.get_by_label("Reference answer").fill("The third tab once more")
    third.get_by_role("button", name="Use saved version").click()
    third.locator("#case-saved", has_text="Saved").wait_for()
    expect(third.get_by_label("Reference answer")).to_have_value("The second tab again")


def test_turns_and_tags_by_mouse_and_a_published_case(new_page: Callable[..., Any]) -> None:
    author = UserFactory()
    benchmark = BenchmarkFactory(slug="b")
    give_authoring_role(benchmark=benchmark, user=author, role="author", at=timezone.now())
    case = CaseFactory(
        benchmark=benchmark,
        rubric=0,
        conversation=[{"role": "user", "content": "My head hurts."}],
        tags=["specialty:neurology", "x"],
    )
    published = CaseFactory(benchmark=benchmark, difficulty="")

    page = new_page(user=author)
    page.goto(f"/b/b/write/{case.public_id}/")
    page.get_by_role("button", name="Add a turn").click()
    page.keyboard.type("Since when?")
    wait_until(lambda: len(Case.objects.get(pk=case.pk).conversation) == 2, message="the turn is saved")
    page.locator("#preview").get_by_text("Since when?").wait_for()
    page.locator("#turns > li").nth(1).get_by_role("button", name="Move up").click()
    page.get_by_role("button", name="Remove neurology").click()
    page.locator("[data-tags=themes] .chip.new input").fill("pain, acute,")
    wait_until(
        lambda: Case.objects.get(pk=case.pk).tags == ["theme:pain", "theme:acute", "x"],
        message="tags are added and removed",
    )
    expected = [{"role": "assistant", "content": "Since when?"}, {"role": "user", "content": "My head hurts."}]
    assert Case.objects.get(pk=case.pk).conversation == expected
    # A link waits until all is saved.
    page.get_by_label("Short name", exact=True).fill(case.key + " again")
    page.locator("a[data-after-save]").first.click()
    page.wait_for_url("**/rubric/")
    assert Case.objects.get(pk=case.pk).key.endswith(" again")

    page.goto(f"/b/b/write/{published.public_id}/")
    page.get_by_label("Difficulty").select_option("high")
    wait_until(lambda: Case.objects.get(pk=published.pk).difficulty == "high", message="what describes it is saved")
    page.locator("#case-saved", has_text="Saved at").wait_for()
