"""Parts of the rubric editor in a browser that keys alone do not reach: the menu, pasting, the bank, a conflict."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from rubrics.editor.draft_content import DraftItem, items_of
from rubrics.models import AuthoringRole, RubricDraft
from rubrics.services.drafts import save_draft
from tests import factories
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

PASTE = """([selector, text]) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", text);
  const event = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
  document.querySelector(selector).dispatchEvent(event);
}"""


def saved_items() -> list[tuple[str, int, list[str]]]:
    draft = RubricDraft.objects.first()
    return [(row["text"], row["points"], row["tags"]) for row in draft.content["items"]] if draft else []


def test_the_menu_pasting_the_bank_and_a_conflict(new_page: Callable[..., Page], watch: Any) -> None:
    author, other = factories.UserFactory(), factories.UserFactory(name="Second Author")
    benchmark = factories.BenchmarkFactory()
    for user in (author, other):
        AuthoringRole.objects.create(benchmark=benchmark, user=user, role="author")
    case = factories.CaseFactory(benchmark=benchmark, rubric=0)
    page = new_page(author)
    watch.allow("409", "ERR_INTERNET_DISCONNECTED")
    page.goto(f"/b/{benchmark.slug}/write/{case.public_id}/rubric/")
    expect(page.locator("#editor[data-ready]")).to_be_visible()

    page.evaluate(PASTE, ["body", "Names the dose\t5\nAsks about allergies\t3\nWarns of alcohol\t-4"])
    expect(page.locator("#paste-preview tbody tr")).to_have_count(3)
    page.locator("#paste-insert").click()
    rows = page.locator("#items > .item")
    expect(rows).to_have_count(3)
    expect(page.locator("#toasts")).to_contain_text("3 criteria were added.")
    expect(page.locator("#count")).to_have_text("3")
    expect(page.locator("#sums")).to_have_text("Max +8 · penalties −4")

    rows.nth(2).locator("summary").click()
    rows.nth(2).get_by_role("button", name="Move up").click()
    rows.nth(0).locator("[data-step='1']").click()
    rows.nth(0).get_by_role("button", name=re.compile("^Tags, source")).click()
    rows.nth(0).locator("[data-field=tag]").fill("triage; dose")
    page.keyboard.press("Enter")
    rows.nth(0).get_by_role("button", name="Remove the tag dose").click()
    page.keyboard.press("Control+s")
    expected = [("Names the dose", 6, ["triage"]), ("Warns of alcohol", -4, []), ("Asks about allergies", 3, [])]
    wait_until(lambda: saved_items() == expected, message="all is saved")
    expect(page.locator("#saved")).to_have_attribute("data-state", "saved")  # nothing moves under the mouse
    rows.nth(2).locator("[data-handle]").drag_to(rows.nth(0), target_position={"x": 20, "y": 4})
    expect(rows.nth(0).locator("textarea")).to_have_value("Asks about allergies")
    rows.nth(0).locator("summary").click()
    rows.nth(0).get_by_role("button", name="Delete").click()
    expect(rows).to_have_count(2)
    rows.nth(0).locator("textarea").press_sequentially("Then")
    page.locator("[data-toast-action]").click()
    expect(rows).to_have_count(3)
    expect(rows.nth(1).locator("textarea")).to_have_value(re.compile("Then"))  # the button undoes the deletion alone
    page.keyboard.press("Control+z")
    expect(rows).to_have_count(2)
    page.keyboard.press("Control+y")
    expect(rows).to_have_count(3)

    page.locator("[data-open=bank]").first.click()
    expect(page.locator("#bank-found #bank-results")).to_be_visible()
    inserts = page.locator("#bank-found [data-item]")
    page.locator("#bank-q").press("ArrowDown")
    expect(inserts.nth(0)).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(page.locator("#bank-q")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(inserts.nth(1)).to_be_focused()
    second = json.loads(inserts.nth(1).get_attribute("data-item") or "")["text"]
    page.keyboard.press("Enter")
    expect(page.locator("#bank")).to_be_hidden()
    expect(rows).to_have_count(4)
    assert second in [row.input_value() for row in rows.locator("textarea").all()]
    page.keyboard.press("Control+z")
    expect(rows).to_have_count(3)
    page.locator("#send").click()
    expect(page.locator("#send-dialog")).to_be_visible()
    page.keyboard.press("Escape")
    wait_until(lambda: len(saved_items()) == 3, message="the criterion is back")
    expect(page.locator("#saved")).to_have_attribute("data-state", "saved")

    # Without a connection, lest the page asks for what others saved before it has a change of its own.
    page.context.set_offline(True)
    rows.nth(0).locator("textarea").fill("Mine")
    draft = RubricDraft.objects.select_related("rubric").get()
    items = [DraftItem(**{**row, "tags": tuple(row["tags"])}) for row in draft.content["items"]]
    items[0] = DraftItem(**{**items[0].as_json(), "text": "Theirs", "tags": ()})
    save_draft(rubric=draft.rubric, items=items, version=draft.version, client_id=None, by=other, at=timezone.now())
    page.context.set_offline(False)
    dialog = page.get_by_role("dialog", name="Changed by both")
    expect(dialog).to_contain_text("Second Author has changed the same criteria in the meantime.")
    dialog.get_by_role("button", name="Use all of theirs").click()  # at once
    expect(dialog).to_be_hidden()
    expect(rows.nth(0).locator("textarea")).to_have_value("Theirs")
    wait_until(lambda: saved_items()[0][0] == "Theirs", message="the choice is saved")


def test_points_that_are_refused_stay_as_typed_and_become_no_other_number(new_page: Callable[..., Page]) -> None:
    author = factories.UserFactory()
    benchmark = factories.BenchmarkFactory()
    AuthoringRole.objects.create(benchmark=benchmark, user=author, role="author")
    case = factories.CaseFactory(benchmark=benchmark, rubric=0)
    page = new_page(author)
    page.goto(f"/b/{benchmark.slug}/write/{case.public_id}/rubric/")
    expect(page.locator("#editor[data-ready]")).to_be_visible()
    page.evaluate(PASTE, ["body", "Names the dose\t5\nAsks about allergies\t3"])
    expect(page.locator("#paste-preview tbody tr")).to_have_count(2)
    page.locator("#paste-insert").click()
    rows = page.locator("#items > .item")
    expect(rows).to_have_count(2)
    points, refusal = rows.nth(0).locator("[data-field=points]"), rows.nth(0).locator("[data-remarks] .problem").first
    wait_until(lambda: [row[1] for row in saved_items()] == [5, 3], message="both are saved")
    for typed in ("12", "3.5", "-12"):
        points.focus()
        page.keyboard.press("Control+a")
        page.keyboard.type(typed)
        expect(refusal).to_contain_text("Points must be a whole number from -10 to 10.")
        page.keyboard.press("ArrowUp")  # there is no number to step from
        page.keyboard.press("Tab")
        expect(points).to_have_value(typed)
        expect(points).to_have_attribute("aria-invalid", "true")
        wait_until(lambda: saved_items()[0][1] == 0, message="no points are saved")
    # Another change neither removes what was typed nor gives it a number.
    rows.nth(1).locator("textarea").fill("Asks about all allergies")
    wait_until(lambda: saved_items()[1][0] == "Asks about all allergies", message="the text is saved")
    expect(points).to_have_value("-12")
    assert saved_items()[0][1] == 0
    points.fill("-10")
    wait_until(lambda: saved_items()[0][1] == -10, message="the points are saved")
    expect(rows.nth(0)).not_to_contain_text("Points must be a whole number")
    assert points.get_attribute("aria-invalid") is None


def test_a_rubric_that_was_not_sent_for_review_must_be_sent_again(new_page: Callable[..., Page], watch: Any) -> None:
    author = factories.UserFactory()
    benchmark = factories.BenchmarkFactory()
    AuthoringRole.objects.create(benchmark=benchmark, user=author, role="author")
    case = factories.CaseFactory(benchmark=benchmark, rubric=0)
    page = new_page(author)
    watch.allow("ERR_INTERNET_DISCONNECTED", "ERR_FAILED")
    page.goto(f"/b/{benchmark.slug}/write/{case.public_id}/rubric/")
    expect(page.locator("#editor[data-ready]")).to_be_visible()
    page.evaluate(PASTE, ["body", "Names the dose\t5"])
    expect(page.locator("#paste-preview tbody tr")).to_have_count(1)
    page.locator("#paste-insert").click()
    wait_until(lambda: len(saved_items()) == 1, message="the criterion is saved")
    expect(page.locator("#saved")).to_have_attribute("data-state", "saved")
    page.context.set_offline(True)
    page.locator("#items textarea").first.fill("Names the dose in mg")
    page.locator("#send").click()
    expect(page.locator("#send-target")).to_have_text("Criteria: 1; target: 30. You can send it as it is.")
    page.locator("#send-form button.primary").click()
    # The refusal is in the dialog, whose backdrop covers other messages; once the dialog is closed, it is one of them.
    dialog, shown = page.get_by_role("dialog", name="Send to review"), page.locator("#toasts")
    expect(dialog.get_by_role("alert")).to_contain_text("Not sent for review: the connection was lost.")
    expect(shown).not_to_contain_text("the connection was lost")
    dialog.get_by_role("button", name="Cancel").click()
    expect(shown).to_contain_text("Not sent for review: the connection was lost.")
    page.locator("#send").click()
    expect(shown).not_to_contain_text("the connection was lost")
    page.locator("#send-form button.primary").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Not sent for review: the connection was lost.")
    page.context.set_offline(False)
    expect(dialog.get_by_role("alert")).to_contain_text("Your text is now saved, but not sent for review.")
    expect(dialog).not_to_contain_text("the connection was lost")
    wait_until(lambda: saved_items()[0][0] == "Names the dose in mg", message="the text is saved")
    assert RubricDraft.objects.get().rubric.status == "draft"
    page.locator("#send-form button.primary").click()
    wait_until(lambda: RubricDraft.objects.get().rubric.status == "in_review", message="it is in review")


def test_what_must_be_fixed_in_the_case_leads_to_its_page(new_page: Callable[..., Page]) -> None:
    author = factories.UserFactory()
    benchmark = factories.BenchmarkFactory()
    AuthoringRole.objects.create(benchmark=benchmark, user=author, role="author")
    turns = [{"role": "user", "content": "My name is Jane Roe and I cough"}]
    case = factories.CaseFactory(benchmark=benchmark, rubric=0, conversation=turns)
    place = f"/b/{benchmark.slug}/write/{case.public_id}/"
    page = new_page(author)
    page.goto(f"{place}rubric/")
    expect(page.locator("#editor[data-ready]")).to_be_visible()
    page.evaluate(PASTE, ["body", "criterion\tpoints\taxis\nNames the dose\t5\tcompletness"])
    expect(page.locator("#paste-preview tbody tr")).to_have_count(1)
    page.locator("#paste-insert").click()
    wait_until(lambda: len(saved_items()) == 1, message="the criterion is saved")
    # The axis that was pasted is stored as it was written, with a remark.
    assert saved_items()[0][2] == ["axis:completness"]
    expect(page.locator("#items > .item").first.locator("[data-remarks]")).to_contain_text(
        "No other rubric of this benchmark has the axis “completness”."
    )
    link = page.locator("#missing li", has_text="Jane Roe").get_by_role("link", name="Edit the case")
    expect(link).to_have_attribute("href", place)
    page.locator("#send").click()
    expect(page.locator("#send-missing")).to_contain_text("Not ready to send. Fix the following first.")
    page.locator("#send-missing li", has_text="Jane Roe").get_by_role("link", name="Edit the case").click()
    page.wait_for_url(f"**{place}")
    expect(page.locator("#privacy")).to_contain_text("Jane Roe")


def test_the_dialog_that_sends_lists_open_problems_and_stops_at_a_placeholder(new_page: Callable[..., Page]) -> None:
    author = factories.UserFactory()
    benchmark = factories.BenchmarkFactory()
    AuthoringRole.objects.create(benchmark=benchmark, user=author, role="author")
    case = factories.CaseFactory(benchmark=benchmark, rubric=0)
    page = new_page(author)
    page.goto(f"/b/{benchmark.slug}/write/{case.public_id}/rubric/")
    expect(page.locator("#editor[data-ready]")).to_be_visible()
    page.evaluate(PASTE, ["body", "Names the dose\t5\nNames the drug and explains its risks\t5"])
    expect(page.locator("#paste-preview tbody tr")).to_have_count(2)
    page.locator("#paste-insert").click()
    wait_until(lambda: len(saved_items()) == 2, message="the criteria are saved")
    expect(page.locator("#saved")).to_have_attribute("data-state", "saved")
    page.locator("#send").click()
    problems = page.locator("#send-problems")
    expect(problems).to_contain_text("Problems in the text that are still open: 1")
    expect(problems.locator("li")).to_have_count(1)
    expect(problems.locator("li")).to_contain_text("It asks for two things at once")
    expect(page.locator("#send-form")).to_be_visible()
    problems.get_by_role("button", name="Criterion 2").click()
    expect(page.locator("#send-dialog")).to_be_hidden()
    expect(page.locator("#items textarea").nth(1)).to_be_focused()
    page.locator("#items textarea").first.fill("Names the dose of [drug]")
    wait_until(lambda: saved_items()[0][0] == "Names the dose of [drug]", message="the text is saved")
    page.locator("#send").click()
    missing = page.locator("#send-missing")
    expect(missing).to_contain_text("“[drug]” is a placeholder: fill it in, or write it without brackets.")
    expect(missing.get_by_role("button", name="Criterion 1")).to_be_visible()
    expect(page.locator("#send-form")).to_be_hidden()


def test_the_dialog_that_sends_asks_anew_what_is_missing(new_page: Callable[..., Page], watch: Any) -> None:
    author = factories.UserFactory()
    benchmark = factories.BenchmarkFactory()
    AuthoringRole.objects.create(benchmark=benchmark, user=author, role="author")
    turns = [{"role": "user", "content": "My name is Jane Roe and I cough"}]
    case = factories.CaseFactory(benchmark=benchmark, rubric=0, conversation=turns)
    page = new_page(author)
    watch.allow("409", "ERR_INTERNET_DISCONNECTED")
    page.goto(f"/b/{benchmark.slug}/write/{case.public_id}/rubric/")
    expect(page.locator("#editor[data-ready]")).to_be_visible()
    read = page.get_by_role("link", name="Read as the reviewer")
    menu = page.locator(".rubric-bar details[data-menu] summary")
    menu.click()
    expect(page.get_by_role("link", name="Basis of each criterion")).to_be_visible()
    expect(read).to_be_hidden()  # there is no draft yet
    page.keyboard.press("Escape")
    page.evaluate(PASTE, ["body", "Names the dose\t5"])
    expect(page.locator("#paste-preview tbody tr")).to_have_count(1)
    page.locator("#paste-insert").click()
    expect(page.locator("#toasts")).to_contain_text("1 criterion was added.")
    expect(page.locator("#count-words")).to_have_text("criterion · target 30")
    expect(page.locator("#saved")).to_have_attribute("data-state", "saved")
    menu.click()
    expect(read).to_be_visible()  # in the session that began the draft
    page.keyboard.press("Escape")
    # The case is mended on another page.
    case.conversation = [{"role": "user", "content": "I cough"}]
    case.save()
    page.locator("#send").click()
    expect(page.locator("#send-form")).to_be_visible()
    expect(page.locator("#send-target")).to_have_text("Criteria: 1; target: 30. You can send it as it is.")
    expect(page.locator("#send-missing")).to_be_hidden()
    expect(page.locator("#missing")).to_be_hidden()
    page.keyboard.press("Escape")

    # What the same person changed in another window is not "theirs", and points and axes are in words.
    page.context.set_offline(True)
    page.locator("#items textarea").first.fill("Names the dose in mg")
    draft = RubricDraft.objects.select_related("rubric").get()
    (item,) = items_of(draft.content)
    elsewhere = replace(item, text="Names the daily dose", tags=("axis:context_awareness", "dose"))
    values = {"version": draft.version, "client_id": None, "by": author, "at": timezone.now()}
    save_draft(rubric=draft.rubric, items=[elsewhere], **values)
    page.context.set_offline(False)
    dialog = page.get_by_role("dialog", name="Changed in both windows")
    expect(dialog).to_contain_text("Names the dose in mg (+5)")
    expect(dialog).to_contain_text("Names the daily dose (+5 · context awareness · dose)")
    dialog.get_by_role("button", name="Use all from the other window").click()  # at once
    expect(dialog).to_be_hidden()
    expect(page.locator("#items textarea").first).to_have_value("Names the daily dose")


def test_split_in_two_shares_the_points_between_both_criteria(new_page: Callable[..., Page]) -> None:
    author = factories.UserFactory()
    benchmark = factories.BenchmarkFactory()
    AuthoringRole.objects.create(benchmark=benchmark, user=author, role="author")
    case = factories.CaseFactory(benchmark=benchmark, rubric=0)
    page = new_page(author)
    page.goto(f"/b/{benchmark.slug}/write/{case.public_id}/rubric/")
    expect(page.locator("#editor[data-ready]")).to_be_visible()
    page.evaluate(PASTE, ["body", "Names the drug and explains its risks\t7"])
    page.locator("#paste-insert").click()
    rows = page.locator("#items > .item")
    expect(rows).to_have_count(1)
    rows.get_by_role("button", name="Split in two").click()
    expect(rows).to_have_count(2)
    expect(page.locator("#saved")).to_have_attribute("data-state", "saved")
    wait_until(lambda: len(saved_items()) == 2)
    assert saved_items() == [("Names the drug", 4, []), ("Explains its risks", 3, [])]
