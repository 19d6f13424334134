"""Marked criteria and undo, in a real browser: from the check over the annotator's answer to the second round."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation import access, services
from annotation.models import Amendment, Assignment, Check, Decision
from annotation.services import undo
from tests.annotation.conftest import build_workshop
from tests.conftest import Watch
from tests.factories import decide

pytestmark = pytest.mark.django_db(transaction=True)
NewPage = Callable[..., Page]


@pytest.fixture
def patient_page(new_page: NewPage, monkeypatch: pytest.MonkeyPatch) -> NewPage:
    """Pages on which the ten seconds to undo a step do not run out, neither there nor on the server."""
    monkeypatch.setattr(undo, "UNDO_SECONDS", 600)

    def open_page(*user: object) -> Page:
        page, now = new_page(*user), timezone.now()
        page.clock.install(time=now)
        page.clock.pause_at(now + timedelta(hours=1))  # a time that the clock has not reached by itself
        return page

    return open_page


def test_marked_criteria_go_to_the_annotator_and_come_back_answered(new_page: NewPage, watch: Watch) -> None:
    workshop = build_workshop(criteria=5, responses=2, check_policy="all")
    decide(workshop.queue()[0], "met")
    page = new_page(workshop.checker)
    page.goto("/work/checks/")
    page.get_by_role("button", name="Start next check").click()
    expect(page.locator(".criterion.current .n")).to_have_text("1")
    page.keyboard.press("a")
    expect(page.locator("[data-reason]:visible")).to_be_focused()
    page.keyboard.press("Enter")  # without a line nothing is marked
    expect(page.locator("[data-reason]:visible")).to_have_attribute("aria-invalid", "true")
    page.keyboard.type("Which dose does it name?")
    page.keyboard.press("Enter")
    expect(page.locator("#summary")).to_have_text("0 amended · 1 to review")
    current = page.locator(".criterion.current")
    expect(current).to_contain_text("Which dose does it name?")
    expect(current.locator("[data-set=met]")).to_have_attribute("aria-pressed", "true")  # the annotator's outcome
    page.keyboard.press("j")
    current.get_by_role("button", name="Mark for review").click()
    page.keyboard.type("Not about children?")
    page.keyboard.press("Enter")
    expect(page.locator("#summary")).to_have_text("0 amended · 2 to review")
    page.keyboard.press("u")
    expect(page.locator("#summary")).to_have_text("0 amended · 1 to review")
    page.keyboard.press("a")
    page.keyboard.type("Is this about children?")
    page.keyboard.press("Enter")
    expect(page.locator("#summary")).to_have_text("0 amended · 2 to review")
    watch.allow(r"accept/")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#refusal")).to_contain_text("2 criteria are marked for review")
    page.keyboard.press("r")
    expect(page.locator("#marked-criteria")).to_contain_text("criteria 1 and 2. Each must be changed")
    page.keyboard.press("Control+Enter")  # marks need no note
    expect(page).to_have_url(re.compile("/work/checks/$"))
    assert Check.objects.values_list("result", "n_to_review").get() == ("returned", 2)

    watch.allow(r"submit/")
    own = new_page(workshop.annotator)
    own.goto("/work/")
    expect(own.locator(".returned")).to_contain_text("Is this about children?")
    own.get_by_role("link", name="Review and resubmit").click()
    expect(own.locator(".criterion:visible")).to_have_count(2)
    expect(own.locator(".criterion.current .n")).to_have_text("1")
    own.keyboard.press("Control+Enter")
    expect(own.locator("#refusal")).to_contain_text("2 criteria still need your review")
    expect(own.locator("[data-filter=review]")).to_have_attribute("aria-pressed", "true")  # as before
    field = own.locator(".criterion.current [data-answer-field]")
    expect(field).to_be_focused()
    left, count = own.locator("[data-left-to-review]"), own.locator("[data-count=review]")
    expect(left).to_have_text("2 criteria to review again: change each decision, or answer the checker.")
    expect(count).to_have_text("2")
    own.keyboard.type("5 mg, in the list.")
    own.keyboard.press("Escape")
    expect(own.locator("#saved")).to_contain_text("Saved")
    expect(left).to_have_text("1 criterion to review again: change the decision, or answer the checker.")
    expect(count).to_have_text("1")
    own.reload()
    expect(own.locator(".criterion.current .n")).to_have_text("2")  # the first that is still to be reviewed
    expect(own.locator(".criterion [data-answer-field]").first).to_have_value("5 mg, in the list.")
    expect(count).to_have_text("1")
    own.keyboard.press("n")
    expect(own.locator("#saved")).to_contain_text("Saved")
    expect(left).to_have_text("Each criterion to review again is changed or answered.")
    expect(count).to_have_text("0")
    expect(own.locator(".criterion:visible")).to_have_count(2)  # what was reviewed stays in the list
    own.keyboard.press("Control+Enter")
    expect(own).to_have_url(re.compile("/work/$"))
    second = Decision.objects.filter(round=2).order_by("criterion").values_list("outcome", "answer")
    assert list(second)[:3] == [("met", "5 mg, in the list."), ("not_met", ""), ("met", "")]

    page.reload()
    page.get_by_role("button", name="Start next check").click()
    expect(page.locator("#place")).to_have_text("Check, round 2")
    expect(page.locator(".criterion:visible")).to_have_count(2)
    expect(page.locator(".criterion:visible").first).to_contain_text("5 mg, in the list.")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".toast")).to_contain_text("Accepted")
    assert not Amendment.objects.filter(check_row__round=2).exists()


def test_an_amendment_that_the_annotator_kept_is_amended_again_or_accepted_knowingly(new_page: NewPage) -> None:
    workshop = build_workshop(criteria=4, responses=2, check_policy="all")
    decide(workshop.queue()[0], "met")
    page = new_page(workshop.checker)
    page.goto("/work/checks/")
    page.get_by_role("button", name="Start next check").click()
    current, summary = page.locator(".criterion.current"), page.locator("#summary")
    for number, reason in enumerate(["No dose.", "Not this drug."], start=1):
        expect(current.locator(".n")).to_have_text(str(number))
        page.keyboard.press("n")
        expect(page.locator("[data-reason]:visible")).to_be_focused()
        page.keyboard.type(reason)
        page.keyboard.press("Enter")
        expect(summary).to_have_text(f"{number} amended")
        page.keyboard.press("j")
    expect(page.locator("#saved")).to_contain_text("Saved")
    page.keyboard.press("r")
    dialog = page.locator("#send-back")
    expect(dialog).to_contain_text("Your 2 amendments are not part of the record.")
    expect(dialog).to_contain_text("No criterion is marked for review, so a note is needed.")
    dialog.get_by_role("textbox").fill("Please read the doses again.")
    page.keyboard.press("Control+Enter")
    expect(page).to_have_url(re.compile("/work/checks/$"))
    own = new_page(workshop.annotator)
    own.goto("/work/")
    own.get_by_role("link", name="Review and resubmit").click()
    left, count = own.locator("[data-left-to-review]"), own.locator("[data-count=review]")
    expect(left).to_have_text("2 criteria to review again: change each decision, or answer the checker.")
    expect(count).to_have_text("2")
    amended = own.locator(".criterion.current")
    expect(amended).to_contain_text("The checker’s amendment does not change your decision.")
    amended.get_by_label("Your answer about criterion 1").fill("5 mg.")
    own.keyboard.press("Escape")
    expect(left).to_have_text("1 criterion to review again: change the decision, or answer the checker.")
    expect(count).to_have_text("1")
    expect(own.locator("#saved")).to_contain_text("Saved")
    own.keyboard.press("Control+Enter")  # an amendment may be left without an answer
    expect(own).to_have_url(re.compile("/work/$"))

    page.reload()
    page.get_by_role("button", name="Start next check").click()
    expect(page.locator("#place")).to_have_text("Check, round 2")
    expect(page.locator("[data-count=again]")).to_have_text("2")
    expect(page.locator(".criterion:visible")).to_have_count(2)
    expect(current).to_contain_text("You amended this to “Not met” in round 1")
    expect(current.locator(".answer", has_text="Annotator’s answer")).to_contain_text("5 mg.")
    page.keyboard.press("Control+Enter")
    question = page.locator("#accept-kept")
    expect(question).to_contain_text("Criteria 1 and 2 were amended in an earlier round")
    question.get_by_role("button", name="Cancel").click()
    expect(question).to_be_hidden()
    page.keyboard.press("u")
    nothing = page.locator(".toast", has_text="Nothing to undo.")
    expect(nothing).to_be_visible()
    again = page.get_by_role("button", name="Amend to “Not met” again, with this reason")
    again.first.click()
    expect(summary).to_have_text("1 amended")
    expect(nothing).to_have_count(0)
    expect(page.locator(".criterion:visible").first.locator(".amended")).to_have_text("amended")
    expect(again).to_have_count(1)
    page.keyboard.press("u")
    expect(summary).to_have_text("0 amended")
    expect(again).to_have_count(2)
    expect(page.locator("[data-filter=again]")).to_have_attribute("aria-pressed", "true")  # as before
    field = page.locator("[data-reason]:visible")
    current.get_by_role("button", name="Mark for review").click()
    expect(field).to_be_focused()
    page.keyboard.type("5 mg is no dose.")
    current.locator("[data-set=not_met]").click()  # what was written stays
    expect(current.locator("[data-set=not_met]")).to_have_attribute("aria-pressed", "true")
    expect(field).to_have_value("5 mg is no dose.")
    again.first.click()  # this button saves the earlier reason; undo leads back to what was written
    expect(summary).to_have_text("1 amended")
    expect(again).to_have_count(1)
    page.keyboard.press("u")
    expect(summary).to_have_text("0 amended")
    expect(again).to_have_count(2)
    expect(field).to_have_value("5 mg is no dose.")
    current.get_by_role("button", name="Cancel").click()
    expect(field).to_have_count(0)
    page.keyboard.press("n")  # the key of the outcome asks for the reason, with the earlier one filled in
    expect(field).to_be_focused()
    expect(field).to_have_value("No dose.")
    expect(summary).to_have_text("0 amended")
    page.keyboard.press("Enter")
    expect(summary).to_have_text("1 amended")
    expect(again).to_have_count(1)
    expect(page.locator("#saved")).to_contain_text("Saved")
    page.keyboard.press("Control+Enter")
    expect(question).to_contain_text("Criterion 2 was amended in an earlier round")
    question.get_by_role("button", name="Accept their decisions").click()
    expect(page).to_have_url(re.compile("/work/checks/$"))
    second = Amendment.objects.filter(check_row__round=2).values_list("outcome", "reason")
    assert list(second) == [("not_met", "No dose.")]
    assert Check.objects.get(round=2).result == "accepted"


def test_an_answer_waits_out_a_lost_connection(new_page: NewPage, watch: Watch) -> None:
    workshop = build_workshop(criteria=2, responses=2, check_policy="all")
    decide(workshop.queue()[0], "met")
    page = new_page(workshop.checker)
    page.goto("/work/checks/")
    page.get_by_role("button", name="Start next check").click()
    expect(page.locator(".criterion.current .n")).to_have_text("1")
    page.keyboard.press("a")
    page.keyboard.type("Which dose?")
    page.keyboard.press("Enter")
    expect(page.locator("#summary")).to_contain_text("1 to review")
    page.keyboard.press("r")
    expect(page.locator("#send-back textarea")).to_be_focused()
    page.keyboard.press("Control+Enter")
    expect(page).to_have_url(re.compile("/work/checks/$"))
    watch.allow(r"/decisions/")
    own = new_page(workshop.annotator)
    own.goto(f"/work/{workshop.queue()[0].public_id}/")
    expect(own.locator(".criterion.current .n")).to_have_text("1")
    own.route("**/decisions/", lambda route: route.abort())
    own.locator("[data-answer-field]").fill("5 mg.")
    own.keyboard.press("Escape")
    expect(own.locator("#saved")).to_contain_text("1 waiting")
    assert not Decision.objects.exclude(answer="").exists()
    own.unroute("**/decisions/")
    own.once("dialog", lambda dialog: dialog.accept())
    own.reload()
    expect(own.locator("#saved")).to_contain_text("Saved")
    expect(own.locator("[data-answer-field]")).to_have_value("5 mg.")
    assert Decision.objects.get(round=2, answer="5 mg.").outcome == "met"


def test_submit_and_accept_are_undone_by_button_and_by_key(patient_page: NewPage) -> None:
    workshop = build_workshop(criteria=2, responses=2, check_policy="all")
    decide(workshop.queue()[0], "met", submit=False)
    own = patient_page(workshop.annotator)
    own.goto(f"/work/{workshop.queue()[0].public_id}/")
    expect(own.locator(".criterion.current")).to_have_count(1)
    own.keyboard.press("Control+Enter")
    expect(own).to_have_url(re.compile("/work/$"))
    own.locator(".toast", has_text="Response 1 of 1 is submitted.").get_by_role("button", name="Undo").click()
    expect(own).to_have_url(re.compile(rf"/work/{workshop.queue()[0].public_id}/$"))
    expect(own.locator(".criterion.current")).to_have_count(1)  # the page's script has started
    expect(own.locator("#graded-text")).to_have_text("2 / 2")
    expect(own.locator(".toast")).to_contain_text("Submission undone.")
    assert Assignment.objects.get(annotator=workshop.annotator).status == "draft"
    own.keyboard.press("Control+Enter")
    expect(own).to_have_url(re.compile("/work/$"))

    page = patient_page(workshop.checker)
    page.goto("/work/checks/")
    page.get_by_role("button", name="Start next check").click()
    expect(page.locator(".criterion.current")).to_have_count(1)
    check = page.url
    page.keyboard.press("Control+Enter")
    expect(page).to_have_url(re.compile("/work/checks/$"))
    expect(page.locator(".toast", has_text="Accepted.")).to_have_count(1)
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(page).to_have_url(check)
    expect(page.locator("#finish-form")).to_be_visible()
    expect(page.locator(".toast")).to_contain_text("Acceptance undone.")
    assert Check.objects.get().result == ""


def test_the_message_about_an_acceptance_says_that_the_next_check_is_of_the_same_response(
    patient_page: NewPage,
) -> None:
    workshop = build_workshop(criteria=2, responses=1, annotators_per_item=2, check_policy="all")
    for row in Assignment.objects.select_related("annotator"):
        decide(row, "met")
    page = patient_page(workshop.checker)
    page.goto("/work/checks/")
    page.get_by_role("button", name="Start next check").click()
    expect(page.locator(".criterion.current")).to_have_count(1)
    expect(page.locator("#same-response")).to_have_count(0)
    check = page.url
    page.keyboard.press("Control+Enter")
    expect(page.locator("#same-response")).to_be_visible()
    toast = page.locator(".toast")
    expect(toast).to_have_count(1)
    expect(toast).to_contain_text("Accepted. Next: the same response, graded by another annotator.")
    toast.get_by_role("button", name="Undo").click()
    expect(page).to_have_url(check)
    expect(toast).to_contain_text("Acceptance undone.")


def test_a_return_takes_the_place_of_the_message_about_an_acceptance(patient_page: NewPage) -> None:
    workshop = build_workshop(criteria=2, responses=6, check_policy="all")
    for row in workshop.queue():
        decide(row, "met")
    page = patient_page(workshop.checker)
    page.goto("/work/checks/")
    page.get_by_role("button", name="Start next check").click()
    expect(page.locator(".criterion.current")).to_have_count(1)
    first = page.url
    page.keyboard.press("Control+Enter")
    expect(page).not_to_have_url(first)
    toast = page.locator(".toast")
    expect(toast).to_contain_text("Accepted.")
    page.keyboard.press("r")
    page.locator("#send-back textarea").fill("Is 2 right?")
    page.keyboard.press("Control+Enter")
    expect(toast.last).to_contain_text("Returned to the annotator")
    expect(toast).to_have_count(1)
    page.keyboard.press("u")  # the acceptance is not undone by surprise
    expect(toast.last).to_contain_text("Nothing to undo.")
    page.keyboard.press("u")
    expect(toast).to_have_count(2)  # the same message again takes the place of the first
    assert sorted(Check.objects.exclude(result="").values_list("result", flat=True)) == ["accepted", "returned"]


def test_the_key_u_undoes_the_last_adjudication_on_the_list(patient_page: NewPage) -> None:
    workshop = build_workshop(annotators_per_item=2)
    workshop.conflict()
    page = patient_page(workshop.adjudicator)
    page.goto("/work/adjudications/")
    page.get_by_role("button", name="Claim next").click()
    expect(page.locator(".criterion.current .n")).to_have_text("1")
    conflict = page.url
    for done in (1, 2):
        page.keyboard.press("m")
        expect(page.locator("#graded-text")).to_have_text(f"{done} / 2")
    page.keyboard.press("Control+Enter")
    expect(page).to_have_url(re.compile("/work/adjudications/$"))
    expect(page.locator(".toast").get_by_role("button", name="Undo")).to_be_visible()
    page.keyboard.press("u")
    expect(page).to_have_url(conflict)
    expect(page.locator("#graded-text")).to_have_text("2 / 2")


def test_the_key_u_undoes_the_submission_on_the_next_response(patient_page: NewPage) -> None:
    workshop = build_workshop(criteria=2, responses=4)
    first = workshop.queue()[0]
    decide(first, "met", submit=False)
    page = patient_page(workshop.annotator)
    page.goto(f"/work/{first.public_id}/")
    expect(page.locator(".criterion.current")).to_have_count(1)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#place")).to_have_text("Response 2 of 2")
    expect(page.locator(".toast")).to_contain_text("Response 1 of 2 is submitted. You can undo this for a minute.")
    page.keyboard.press("u")
    expect(page).to_have_url(re.compile(rf"/work/{first.public_id}/$"))
    expect(page.locator("#place")).to_have_text("Response 1 of 2")
    first.refresh_from_db()
    assert first.status == "draft"


def test_a_returned_response_is_named_and_asks_before_it_goes_back_unchanged(new_page: NewPage) -> None:
    workshop = build_workshop(criteria=2, responses=2, check_policy="all")
    row = workshop.queue()[0]
    decide(row, "met")
    waiting = access.waiting_checks(workshop.checker)
    claimed = services.claim_check(checker=workshop.checker, waiting=waiting, at=timezone.now())
    assert claimed
    services.return_check(assignment=claimed, checker=workshop.checker, note="Is 2 right?", at=timezone.now())
    page = new_page(workshop.annotator, viewport={"width": 390, "height": 844}, has_touch=True)
    page.goto("/")
    page.get_by_role("link", name="Review the returned response 1 of 1").click()
    expect(page.locator(".pane-notices")).to_contain_text("Is 2 right?")
    expect(page.locator(".criterion.current")).to_have_count(1)
    submit = page.locator("#dock").get_by_role("button", name="Submit")
    submit.tap()
    question = page.get_by_role("dialog", name="Submit again without changes?")
    question.get_by_role("button", name="Cancel").tap()
    expect(question).to_be_hidden()
    row.refresh_from_db()
    assert row.status == "returned"
    page.locator(".criterion").last.locator("[data-set=not_met]").tap()
    expect(page.locator("#saved")).to_have_attribute("data-state", "saved")
    page.locator("#dock [data-dock-undo]").tap()
    expect(page.locator(".criterion").last.locator("[data-set=met]")).to_have_attribute("aria-pressed", "true")
    submit.tap()  # as it was before
    question.get_by_role("button", name="Submit without changes").tap()
    expect(page).to_have_url(re.compile("/work/$"))
    row.refresh_from_db()
    assert (row.status, row.round) == ("submitted", 2)
    # The bar of a narrow window and the message have an Undo each, with different words.
    undo = page.locator(".toast").get_by_role("button", name="Undo submission")
    expect(undo).to_be_visible()
    undo.tap()
    expect(page.locator(".toast")).to_contain_text("Submission undone.")
    expect(page.locator(".criterion.current")).to_have_count(1)
    page.locator(".criterion").last.locator("[data-set=not_met]").tap()
    expect(page.locator("#saved")).to_have_attribute("data-state", "saved")
    submit.tap()  # changed: nobody is asked
    expect(page).to_have_url(re.compile("/work/$"))


def test_an_accepted_response_says_so_and_offers_nothing(new_page: NewPage) -> None:
    workshop = build_workshop(criteria=2, responses=2)
    row = workshop.queue()[0]
    decide(row, "met")
    row.refresh_from_db()
    assert row.status == "accepted"
    page = new_page(workshop.annotator)
    page.goto(f"/work/{row.public_id}/")
    expect(page.locator(".pane-notices")).to_contain_text("This response was accepted. Your decisions are final.")
    expect(page.locator(".criterion.current")).to_have_count(1)
    other = page.locator(".criterion [data-set=not_met]").first
    expect(other).to_be_disabled()
    assert other.evaluate("(button) => getComputedStyle(button).borderTopColor") == "rgba(0, 0, 0, 0)"
    page.keyboard.press("/")
    field = page.locator("#find")
    expect(field).to_be_focused()
    padding, icon = field.evaluate(
        "(field) => { const style = getComputedStyle(field);"
        " return [parseFloat(style.paddingLeft), style.backgroundImage]; }"
    )
    assert icon == "none" or padding >= 28  # the letters are not on the magnifier


def test_a_submission_is_undone_for_half_a_minute_by_its_message_and_then_on_its_page(patient_page: NewPage) -> None:
    workshop = build_workshop(criteria=2, responses=2, check_policy="all")
    row = workshop.queue()[0]
    decide(row, "met", submit=False)
    page = patient_page(workshop.annotator)
    page.goto(f"/work/{row.public_id}/")
    expect(page.locator(".criterion.current")).to_have_count(1)
    page.keyboard.press("Control+Enter")
    expect(page).to_have_url(re.compile("/work/$"))
    button = page.locator(".toast").get_by_role("button", name="Undo submission")
    expect(button).to_be_visible()
    page.clock.run_for(28_000)
    expect(button).to_be_visible()
    page.clock.run_for(4_000)
    expect(button).to_have_count(0)
    page.goto(f"/work/{row.public_id}/")
    expect(page.locator(".criterion.current")).to_have_count(1)
    page.get_by_role("button", name="Undo submission").click()
    expect(page.locator(".toast")).to_contain_text("Submission undone.")
    expect(page.locator("#submit")).to_be_visible()
    row.refresh_from_db()
    assert row.status == "draft"
    expect(page.locator(".criterion.current")).to_have_count(1)
    page.keyboard.press("Control+Enter")
    expect(page).to_have_url(re.compile("/work/$"))
    expect(button).to_be_visible()
    page.goto(f"/work/{row.public_id}/")
    expect(page.locator(".criterion.current")).to_have_count(1)
    expect(button).to_be_visible()
    page.locator("[data-undo-submission]").click()  # the message does not offer what this has undone
    expect(page.locator(".toast", has_text="Submission undone.")).to_be_visible()
    expect(page.locator("#submit")).to_be_visible()
    expect(button).to_have_count(0)


def test_the_pointer_and_the_focus_keep_the_message_with_undo(patient_page: NewPage) -> None:
    workshop = build_workshop(criteria=2, responses=2, check_policy="all")
    decide(workshop.queue()[0], "met")
    page = patient_page(workshop.checker)
    page.goto("/work/checks/")
    page.get_by_role("button", name="Start next check").click()
    expect(page.locator(".criterion.current")).to_have_count(1)
    page.keyboard.press("Control+Enter")
    expect(page).to_have_url(re.compile("/work/checks/$"))
    toast = page.locator(".toast", has_text="Accepted.")
    button = toast.get_by_role("button", name="Undo")
    button.hover()
    page.clock.run_for(15_000)
    expect(button).to_be_visible()
    button.focus()
    page.mouse.move(0, 0)
    page.clock.run_for(15_000)
    expect(button).to_be_visible()
    page.evaluate("document.activeElement.blur()")
    page.clock.run_for(10_500)
    expect(toast).to_have_count(0)
