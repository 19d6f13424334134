"""Reasons of checkers and adjudicators in a browser: written before the outcome, empty, or not saved."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.utils import timezone
from playwright.sync_api import Page, Route, expect

from annotation import access, services
from annotation.models import Amendment, Check, Decision, Ruling
from tests.annotation.conftest import build_workshop
from tests.axe import axe_violations
from tests.conftest import Watch
from tests.factories import decide

pytestmark = pytest.mark.django_db(transaction=True)
NewPage = Callable[..., Page]


def adjudicating(new_page: NewPage) -> Page:
    """The page of two conflicts, on criteria 1 and 2 of 3."""
    workshop = build_workshop(annotators_per_item=2)
    workshop.conflict()
    page = new_page(workshop.adjudicator)
    page.goto("/work/adjudications/")
    page.get_by_role("button", name="Claim next").click()
    expect(page.locator(".criterion.current .n")).to_have_text("1")
    return page


def checking(new_page: NewPage, **window: object) -> Page:
    """The page of a check of 3 criteria, all not met."""
    workshop = build_workshop(check_policy="all")
    decide(workshop.queue()[0], "not_met")
    page = new_page(workshop.checker, **window)
    page.goto("/work/checks/")
    page.get_by_role("button", name="Start next check").click()
    expect(page.locator(".criterion.current .n")).to_have_text("1")
    return page


def test_a_reason_written_before_the_ruling_waits_for_it(new_page: NewPage) -> None:
    page = adjudicating(new_page)
    page.keyboard.press("m")
    expect(page.locator(".criterion.current .n")).to_have_text("2")
    page.keyboard.press("t")
    field = page.locator(".criterion.current [data-reason]")
    expect(field).to_be_focused()
    page.keyboard.type("named at once")
    expect(page.locator("#graded-text")).to_have_text("1 / 2")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#refusal")).to_contain_text("The reason for criterion 2 is not saved yet: choose an outcome")
    page.keyboard.press("Enter")
    expect(page.locator("[data-reason-lack]:visible")).to_have_text("Choose an outcome. The reason is saved with it.")
    expect(field).to_have_accessible_description("Choose an outcome. The reason is saved with it.")
    assert axe_violations(page) == []
    expect(page.locator("#saved")).to_contain_text("Saved")
    page.reload()
    expect(field).to_have_value("named at once")
    expect(page.locator(".criterion.current .n")).to_have_text("2")
    page.keyboard.press("n")
    expect(page.locator("#graded-text")).to_have_text("2 / 2")
    expect(page.locator("#saved")).to_contain_text("Saved")
    assert list(Ruling.objects.order_by("criterion").values_list("outcome", "reason")) == [
        ("met", ""),
        ("not_met", "named at once"),
    ]


def test_a_refusal_stays_when_another_criterion_is_saved_after_it(new_page: NewPage) -> None:
    page = adjudicating(new_page)
    held: list[Route] = []
    page.route("**/criteria/**", lambda route: held.append(route))
    page.keyboard.press("m")
    expect(page.locator(".criterion.current .n")).to_have_text("2")
    page.keyboard.press("t")
    page.keyboard.type("named at once")
    page.keyboard.press("Control+Enter")
    refusal = page.locator("#refusal")
    expect(refusal).to_contain_text("The reason for criterion 2 is not saved yet")
    expect(page.locator("#saved")).to_contain_text("Saving")
    assert len(held) == 1
    held[0].continue_()
    expect(page.locator("#saved")).to_have_text(re.compile("^Saved "))
    expect(refusal).to_contain_text("The reason for criterion 2 is not saved yet")


def test_undo_of_a_ruling_gives_the_reason_back_that_was_written_before_it(new_page: NewPage) -> None:
    page = adjudicating(new_page)
    row = page.locator("#criteria [data-number='1']")
    for key in ("t", "No dose is named.", "Enter", "m"):
        (page.keyboard.type if key.endswith(".") else page.keyboard.press)(key)
    expect(page.locator("#graded-text")).to_have_text("1 / 2")
    expect(page.locator("#saved")).to_have_text(re.compile("^Saved "))
    page.keyboard.press("u")
    expect(page.locator("#graded-text")).to_have_text("0 / 2")
    expect(row.locator("[data-reason]")).to_have_value("No dose is named.")
    expect(row.locator("[data-reason]")).to_be_visible()
    expect(row.locator(".note")).to_have_count(0)  # nothing of the ruling is left
    expect(page.locator("#saved")).to_have_text(re.compile("^Saved "))
    page.reload()
    expect(row.locator("[data-reason]")).to_have_value("No dose is named.")
    page.keyboard.press("n")
    expect(page.locator("#graded-text")).to_have_text("1 / 2")
    expect(page.locator("#saved")).to_have_text(re.compile("^Saved "))
    assert list(Ruling.objects.values_list("outcome", "reason")) == [("not_met", "No dose is named.")]


def test_a_reason_is_shown_while_it_waits_for_the_connection(new_page: NewPage, watch: Watch) -> None:
    watch.allow("ERR_INTERNET_DISCONNECTED")
    page = checking(new_page)
    first, second = (page.locator(f"#criteria [data-number='{number}']") for number in (1, 2))
    page.context.set_offline(True)
    for key in ("m", "The dose is named.", "Enter", "j", "a", "Who says so?", "Enter"):
        (page.keyboard.type if key[-1] in ".?" else page.keyboard.press)(key)
    for row, reason in ((first, "The dose is named."), (second, "Who says so?")):
        expect(row.locator("[data-waiting]")).to_have_text(reason)
    page.context.set_offline(False)
    expect(first.get_by_text("amended", exact=True)).to_be_visible()
    expect(second.get_by_text("marked for review")).to_be_visible()
    for row, reason in ((first, "The dose is named."), (second, "Who says so?")):
        expect(row.locator("[data-waiting]")).to_have_count(0)
        expect(row.get_by_text(reason)).to_be_visible()


def test_the_button_for_a_reason_opens_it_on_a_criterion_without_a_ruling(new_page: NewPage) -> None:
    page = adjudicating(new_page)
    page.locator(".criterion.current [data-do=reason]").click()
    expect(page.locator(".criterion.current [data-reason]")).to_be_focused()
    page.keyboard.type("Two questions in one.")
    page.keyboard.press("Enter")
    page.keyboard.press("f")  # the reason is there, so that nothing more is asked
    expect(page.locator("#graded-text")).to_have_text("1 / 2")
    expect(page.locator("#saved")).to_contain_text("Saved")
    assert list(Ruling.objects.values_list("outcome", "reason")) == [("faulty", "Two questions in one.")]


def test_a_new_reason_is_saved_when_the_same_outcome_is_chosen_again(new_page: NewPage) -> None:
    page = adjudicating(new_page)
    page.keyboard.press("m")
    expect(page.locator(".criterion.current .n")).to_have_text("2")
    page.keyboard.press("k")
    page.keyboard.press("t")
    page.keyboard.type("It names a dose.")
    page.locator(".criterion.current [data-set=met]").click()
    expect(page.locator(".criterion .note", has_text="It names a dose.")).to_be_visible()
    assert list(Ruling.objects.values_list("outcome", "reason")) == [("met", "It names a dose.")]


def test_the_annotators_outcome_does_not_discard_a_reason_that_waits(new_page: NewPage) -> None:
    page = checking(new_page)
    page.keyboard.press("t")
    field = page.locator(".criterion.current [data-reason]")
    expect(field).to_be_focused()
    page.keyboard.type("No dose.")
    page.keyboard.press("Enter")  # the row has the focus then, so that keys choose the outcome
    expect(page.locator("[data-reason-lack]:visible")).to_contain_text("Choose an outcome.")
    page.keyboard.press("n")
    expect(page.locator("[data-reason-lack]:visible")).to_contain_text("outcome is kept without a reason")
    expect(field).to_have_value("No dose.")
    page.locator(".criterion.current [data-set=met]").click()
    expect(page.locator("#summary")).to_have_text("1 amended")
    expect(page.locator("#saved")).to_contain_text("Saved")
    page.keyboard.press("t")
    expect(field).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.type(" Only a unit.")
    page.locator(".criterion.current [data-set=met]").click()  # the same outcome again saves the new reason
    expect(page.locator(".criterion.current .note")).to_have_text("No dose. Only a unit.")
    assert Amendment.objects.values_list("outcome", "reason").get() == ("met", "No dose. Only a unit.")


def test_an_empty_reason_is_named_beside_its_field(new_page: NewPage) -> None:
    page = checking(new_page)
    lack = page.locator("[data-reason-lack]:visible")
    for key, words in (
        ("m", "Enter a reason: an amendment needs one."),
        ("a", "Write in one line what to review in this criterion."),
    ):
        page.keyboard.press(key)
        field = page.locator(".criterion.current [data-reason]")
        expect(field).to_be_focused()
        page.keyboard.press("Enter")
        expect(lack).to_have_text(words)
        expect(field).to_have_accessible_description(words)
        page.keyboard.type("No")
        expect(lack).to_have_count(0)
        page.keyboard.press("Escape")
        expect(page.locator("[data-reason]:visible")).to_have_count(0)
    assert not Amendment.objects.exists()


def test_an_empty_reason_of_a_faulty_criterion_is_named_beside_its_field(new_page: NewPage) -> None:
    page = adjudicating(new_page)
    page.keyboard.press("f")
    expect(page.locator(".criterion.current [data-reason]")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("[data-reason-lack]:visible")).to_have_text("Describe what is wrong with the criterion.")


def test_a_slow_click_on_a_button_of_another_criterion_counts(new_page: NewPage) -> None:
    page = checking(new_page)
    page.keyboard.press("j")
    page.keyboard.press("m")
    page.keyboard.type("A dose is named.")
    page.reload()  # the reason is kept, and the first criterion is the current one
    expect(page.locator("[data-reason]:visible")).to_have_value("A dose is named.")
    expect(page.locator(".criterion.current .n")).to_have_text("1")
    button = page.locator("[data-send]:visible")
    before = button.bounding_box()
    assert before is not None
    page.mouse.move(before["x"] + before["width"] / 2, before["y"] + before["height"] / 2)
    page.mouse.down()
    page.wait_for_function("() => document.activeElement.matches('[data-send]')")
    assert button.bounding_box() == before  # nothing moves under the pointer
    page.mouse.up()
    expect(page.locator("#summary")).to_have_text("1 amended")
    expect(page.locator("#saved")).to_contain_text("Saved")
    assert Amendment.objects.get().reason == "A dose is named."


def test_a_click_counts_on_a_row_that_is_saved_while_the_button_is_held_down(new_page: NewPage) -> None:
    page = checking(new_page)
    held: list[Route] = []
    page.route("**/criteria/**", lambda route: held.append(route))
    page.keyboard.press("m")
    expect(page.locator("[data-reason]:visible")).to_be_focused()
    page.keyboard.type("A dose is named.")
    with page.expect_request("**/criteria/**"):
        page.keyboard.press("Enter")
    expect(page.locator("[data-waiting]")).to_have_text("A dose is named.")
    row = page.locator(".criterion").first
    button = row.locator("[data-set=cannot_assess]")
    button.hover()
    page.mouse.down()
    held[0].continue_()
    expect(row).to_have_attribute("data-version", "1")
    page.mouse.up()
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(page.locator("[data-reason]:visible")).to_be_focused()
    page.unroute("**/criteria/**")
    page.keyboard.press("Control+A")
    page.keyboard.type("It is not said whose.")
    page.keyboard.press("Enter")
    expect(row.locator(".note")).to_have_text("It is not said whose.")
    assert Amendment.objects.get().outcome == "cannot_assess"


def test_an_outcome_chosen_while_an_undo_is_being_saved_is_kept(new_page: NewPage) -> None:
    page = checking(new_page)
    for key in ("t", "No dose is named.", "Enter", "m"):
        (page.keyboard.type if key.endswith(".") else page.keyboard.press)(key)
    expect(page.locator("#saved")).to_have_text(re.compile("^Saved "))
    held: list[Route] = []
    page.route("**/criteria/**", lambda route: held.append(route))
    with page.expect_request("**/criteria/**"):
        page.keyboard.press("u")
    field = page.locator("[data-reason]:visible")
    expect(field).to_have_value("No dose is named.")
    page.locator(".criterion.current [data-do=cancel]").click()
    expect(field).to_have_count(0)
    page.keyboard.press("m")
    expect(field).to_be_focused()
    page.keyboard.type("A dose is named.")
    held[0].continue_()
    page.unroute("**/criteria/**")
    row = page.locator(".criterion").first
    expect(row).to_have_attribute("data-version", "2")
    expect(row.locator("[data-set=met]")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Enter")
    expect(page.locator("#summary")).to_have_text("1 amended")
    expect(row.locator(".note")).to_have_text("A dose is named.")


def test_a_row_with_an_unsaved_amendment_says_so(new_page: NewPage) -> None:
    page = checking(new_page)
    lines = page.get_by_text("The chosen outcome is not saved yet.").locator("visible=true")
    page.keyboard.press("m")
    expect(page.locator(".criterion.current [data-set=met]")).to_have_attribute("aria-pressed", "true")
    expect(lines).to_have_count(1)
    page.keyboard.type("A dose is named.")
    page.keyboard.press("Enter")
    expect(page.locator("#summary")).to_have_text("1 amended")
    expect(lines).to_have_count(0)


def test_the_return_dialog_leads_to_the_unsaved_reason(new_page: NewPage) -> None:
    page = checking(new_page)
    page.keyboard.press("j")
    page.keyboard.press("a")
    page.keyboard.type("Which dose?")
    page.get_by_role("button", name=re.compile("^Return")).click()
    dialog = page.get_by_role("dialog", name="Return to the annotator")
    dialog.get_by_label("Note").fill("Please look again.")
    dialog.get_by_role("button", name="Return").click()
    expect(dialog.get_by_role("alert")).to_contain_text("The reason for criterion 2 is not saved yet.")
    assert axe_violations(page) == []
    dialog.get_by_role("button", name="Go to criterion 2").click()
    expect(dialog).to_be_hidden()
    expect(page.locator(".criterion.current [data-reason]")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#summary")).to_have_text("0 amended · 1 to review")
    page.get_by_role("button", name=re.compile("^Return")).click()
    expect(dialog.get_by_label("Note")).to_have_value("Please look again.")
    expect(dialog.get_by_role("alert")).to_be_hidden()
    expect(dialog.locator("#marked-criteria")).to_contain_text("Marked for review: criterion 2. It must be")
    dialog.get_by_role("button", name="Return").click()
    expect(page).to_have_url(re.compile("/work/checks/$"))
    assert Amendment.objects.get().reason == "Which dose?"


def test_the_message_about_an_unsaved_reason_goes_with_the_reason(new_page: NewPage) -> None:
    page = checking(new_page)
    for end in ("Escape", "Enter"):
        page.keyboard.press("m")
        page.keyboard.type("A dose is named.")
        page.keyboard.press("Control+Enter")
        expect(page.locator("#refusal")).to_contain_text("The reason for criterion 1 is not saved yet.")
        page.keyboard.press(end)
        expect(page.locator("#refusal .notice")).to_have_count(0)


def test_a_reason_and_the_annotators_note_are_labelled(new_page: NewPage) -> None:
    workshop = build_workshop(check_policy="all")
    row = workshop.queue()[0]
    decide(row, "not_met", submit=False)
    change = services.DecisionInput(services.criteria_of(row)[0], "not_met", note="No dose, I think.", version=1)
    services.save_decision(assignment=row, annotator=row.annotator, change=change, at=timezone.now())
    services.submit(assignment=row, annotator=row.annotator, at=timezone.now())
    page = new_page(workshop.checker)
    page.goto("/work/checks/")
    page.get_by_role("button", name="Start next check").click()
    expect(page.locator(".criterion.current .n")).to_have_text("1")
    page.keyboard.press("m")
    page.keyboard.type("The dose is in line 2.")
    page.keyboard.press("Enter")
    labelled = page.locator(".criterion.current .answer")
    expect(labelled).to_have_text(["Checker’s reason The dose is in line 2.", "Annotator’s note No dose, I think."])


# How much wider the placeholder is than its field, in pixels.
CUT = """field => {
    const style = getComputedStyle(field), pen = document.createElement("canvas").getContext("2d");
    pen.font = style.font;
    const room = field.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    return Math.max(0, pen.measureText(field.placeholder).width - room);
}"""


@pytest.mark.parametrize("width", [390, 1280])
def test_the_words_in_the_field_of_a_reason_are_not_cut(new_page: NewPage, width: int) -> None:
    page = checking(new_page, viewport={"width": width, "height": 800}, has_touch=width == 390)
    field = page.locator("[data-reason]:visible")
    for key, words in (("a", "What should be reviewed?"), ("m", "Why?"), ("t", "Why?")):
        page.keyboard.press(key)
        expect(field).to_be_focused()
        expect(field).to_have_attribute("placeholder", words)
        assert field.evaluate(CUT) == 0
        keys = page.get_by_text("Enter saves, Esc cancels").locator("visible=true")
        # Before an outcome is chosen, nothing can be saved.
        expect(keys).to_have_count(0 if width == 390 or key == "t" else 1)
        expect(page.locator("[data-send]:visible")).to_have_count(0 if key == "t" else 1)
        label = "What to review in criterion 1" if key == "a" else "Reason for amending criterion 1"
        expect(page.get_by_label(label)).to_be_visible()
        expect(page.locator("[data-reason-early]:visible")).to_have_count(1 if key == "t" else 0)
        page.keyboard.press("Escape")
        expect(field).to_have_count(0)


def test_the_filters_of_a_second_round_are_on_one_line(new_page: NewPage) -> None:
    workshop = build_workshop(criteria=[1] * 30, responses=2, check_policy="all")
    row = workshop.queue()[0]
    decide(row, "met")
    check = services.claim_check(
        checker=workshop.checker, waiting=access.waiting_checks(workshop.checker), at=timezone.now()
    )
    assert check is not None
    services.return_check(assignment=check, checker=workshop.checker, note="Once more.", at=timezone.now())
    row.refresh_from_db()
    first = services.criteria_of(row)[0]
    version = Decision.objects.get(assignment=row, round=2, criterion=first).version
    change = services.DecisionInput(criterion=first, outcome="not_met", version=version)
    services.save_decision(assignment=row, annotator=row.annotator, change=change, at=timezone.now())
    services.submit(assignment=row, annotator=row.annotator, at=timezone.now())
    page = new_page(workshop.checker, viewport={"width": 1280, "height": 800})
    page.goto("/work/checks/")
    page.get_by_role("button", name="Start next check").click()
    expect(page.locator("#place")).to_have_text("Check, round 2")
    tabs = page.locator("[data-filter]")
    expect(tabs).to_have_count(4)
    tops = {tab.evaluate("tab => tab.offsetTop") for tab in tabs.all()}
    assert len(tops) == 1


def test_what_a_choice_replaces_is_named_and_comes_back_with_its_reason(new_page: NewPage) -> None:
    page = checking(new_page)
    row, summary = page.locator(".criterion").first, page.locator("#summary")
    for key in ("m", "The dose is named.", "Enter"):
        (page.keyboard.type if key[-1] == "." else page.keyboard.press)(key)
    expect(row).to_have_attribute("data-version", "1")
    page.keyboard.press("a")
    page.keyboard.press("Control+A")
    page.keyboard.type("Which dose?")
    page.keyboard.press("Enter")
    expect(summary).to_have_text("0 amended · 1 to review")
    toast = page.locator("#toasts .toast")
    expect(toast.locator("p")).to_have_text("The amendment of criterion 1 was replaced by the mark.")
    expect(row).to_have_attribute("data-version", "2")
    toast.get_by_role("button", name="Undo").click()
    expect(row).to_have_attribute("data-version", "3")
    expect(row.locator(".answer")).to_contain_text("The dose is named.")
    expect(toast).to_have_count(0)
    assert Amendment.objects.values_list("outcome", "reason").get() == ("met", "The dose is named.")
    page.keyboard.press("a")
    page.keyboard.press("Control+A")
    page.keyboard.type("Which dose?")
    page.keyboard.press("Enter")
    expect(row).to_have_attribute("data-version", "4")
    page.keyboard.press("m")
    page.keyboard.press("Control+A")
    page.keyboard.type("It is named.")
    page.keyboard.press("Enter")
    expect(toast.locator("p")).to_have_text("The mark of criterion 1 was replaced by the amendment.")
    expect(row).to_have_attribute("data-version", "5")
    page.keyboard.press("u")
    expect(row).to_have_attribute("data-version", "6")
    expect(row.locator(".answer")).to_contain_text("Which dose?")
    expect(toast).to_have_count(0)


def test_a_change_that_waits_is_shown_as_it_will_be(new_page: NewPage, watch: Watch) -> None:
    watch.allow("ERR_INTERNET_DISCONNECTED")
    page = checking(new_page)
    row = page.locator(".criterion").first
    page.context.set_offline(True)
    for key in ("m", "The dose is named.", "Enter"):
        (page.keyboard.type if key[-1] == "." else page.keyboard.press)(key)
    change = row.locator("[data-waiting-change]")
    expect(change.locator(".given-outcome")).to_have_text(
        re.compile(r"^\s*Annotator\s+Not met\s+→\s+Met\s+amended\s+not")
    )
    expect(change).to_contain_text("not saved yet")
    expect(change.locator(".answer > b")).to_have_text("Checker’s reason")
    expect(page.locator("#summary")).to_have_text("1 amended")
    page.keyboard.press("a")
    lines = page.locator("[data-not-yet]:visible")
    expect(lines).to_have_text("Not saved yet: the mark for review.")
    page.keyboard.press("Escape")
    page.context.set_offline(False)
    expect(row).to_have_attribute("data-version", "1")
    expect(change).to_have_count(0)
    page.keyboard.press("n")  # the annotator's own outcome
    expect(row).to_have_attribute("data-version", "2")
    expect(page.locator("#summary")).to_have_text("0 amended")


def test_accepting_asks_about_a_note_that_was_written_for_a_return(new_page: NewPage) -> None:
    page = checking(new_page)
    page.keyboard.press("r")
    page.locator("#send-back").get_by_label("Note").fill("Please look again.")
    page.keyboard.press("Escape")
    expect(page.locator("#send-back")).to_be_hidden()
    page.keyboard.press("Control+Enter")
    dialog = page.locator("#accept-check")
    expect(dialog).to_contain_text("You wrote a note for returning this work.")
    assert Check.objects.get().result == ""
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_be_hidden()
    page.get_by_role("button", name=re.compile("^Accept")).click()
    dialog.get_by_role("button", name="Accept without the note").click()
    expect(page).to_have_url(re.compile("/work/checks/$"))
    assert Check.objects.values_list("result", "note").get() == ("accepted", "")
