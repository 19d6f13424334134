"""Checking, adjudicating and the admin's dashboard in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.utils import timezone
from playwright.sync_api import Page, Route, expect

from annotation import access, services
from annotation.models import Adjudication, Amendment, Assignment, Batch, Check, Ruling
from tests.annotation.conftest import Workshop, build_workshop
from tests.axe import axe_violations
from tests.conftest import Watch
from tests.factories import ExpertGroupFactory, decide
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
NewPage = Callable[..., Page]


def test_a_check_is_done_with_the_keyboard(new_page: NewPage) -> None:
    workshop = build_workshop(criteria=4, responses=4, check_policy="all")
    for row in workshop.queue():
        decide(row, "met")
    page = new_page(workshop.checker)
    page.goto("/work/checks/")
    page.get_by_role("button", name="Start next check").press("Enter")
    expect(page.locator(".criterion.current .n")).to_have_text("1")
    page.keyboard.press("j")
    page.keyboard.press("n")
    page.keyboard.press("Enter")  # without a reason nothing is sent
    expect(page.locator("[data-reason]:visible")).to_have_attribute("aria-invalid", "true")
    page.keyboard.type("No dose is named.")
    page.keyboard.press("Enter")
    expect(page.locator("#summary")).to_have_text("1 amended")
    expect(page.locator(".criterion.current")).to_contain_text("No dose is named.")
    page.keyboard.press("c")
    page.keyboard.press("Escape")  # leaves it as it was
    expect(page.locator(".criterion.current [aria-pressed=true]")).to_have_text("Not met")
    page.keyboard.press("j")
    page.keyboard.press("c")
    page.keyboard.type("Cannot be told.")
    page.keyboard.press("Enter")
    expect(page.locator("#summary")).to_have_text("2 amended")
    page.keyboard.press("u")
    expect(page.locator("#summary")).to_have_text("1 amended")
    expect(page.locator("#saved")).to_contain_text("Saved")
    page.keyboard.press("n")
    page.keyboard.type("Half a rea")
    page.keyboard.press("Control+Enter")  # what is typed and not saved holds the work back
    expect(page.locator("#refusal")).to_contain_text("The reason for criterion 3 is not saved yet.")
    page.keyboard.press("Escape")
    first = page.url
    page.evaluate("window.stayed = true")
    page.keyboard.press("Control+Enter")
    expect(page).not_to_have_url(first)  # the next one, taken at once
    expect(page.locator(".toast")).to_contain_text("Accepted")
    assert page.evaluate("window.stayed")  # and no page was loaded
    page.keyboard.press("r")
    page.keyboard.type("Criterion 2 again, please.")
    page.keyboard.press("Control+Enter")
    expect(page).to_have_url(re.compile("/work/checks/$"))
    assert sorted(Check.objects.values_list("result", "note")) == [
        ("accepted", ""),
        ("returned", "Criterion 2 again, please."),
    ]
    assert list(Amendment.objects.exclude(outcome="").values_list("outcome", "reason")) == [
        ("not_met", "No dose is named.")
    ]
    own = new_page(workshop.annotator)
    own.goto("/work/")
    expect(own.locator(".returned")).to_contain_text("Criterion 2 again, please.")


def test_an_amendment_waits_out_a_lost_connection_and_a_closed_tab(new_page: NewPage, watch: Watch) -> None:
    workshop = build_workshop(check_policy="all", responses=2)
    decide(workshop.queue()[0], "met")
    watch.allow(r"criteria/\d+/")
    page = new_page(workshop.checker)
    page.goto("/work/checks/")
    page.get_by_role("button", name="Start next check").click()
    expect(page.locator(".criterion.current")).to_have_count(1)  # the page's script has started
    page.route("**/criteria/**", lambda route: route.abort())
    page.keyboard.press("n")
    page.keyboard.type("No dose is named.")
    page.keyboard.press("Enter")
    expect(page.locator("#saved")).to_have_text("1 waiting, offline")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#refusal")).to_contain_text("not saved yet")
    page.keyboard.press("j")
    page.keyboard.press("c")
    page.keyboard.type("Half written")
    assert not Amendment.objects.exists()
    page.unroute("**/criteria/**")
    page.evaluate("window.onbeforeunload = null")
    page.once("dialog", lambda dialog: dialog.accept())
    page.reload()
    expect(page.locator("#summary")).to_have_text("1 amended")
    expect(page.locator("[data-reason]:visible")).to_have_value("Half written")
    # The summary counts what is waiting as well.
    wait_until(Amendment.objects.exists, message="the amendment is saved")
    assert Amendment.objects.get().reason == "No dose is named."


def test_conflicts_are_settled_with_the_keyboard(new_page: NewPage, watch: Watch) -> None:
    workshop = build_workshop(annotators_per_item=2, criteria=3)
    workshop.conflict()
    page = new_page(workshop.adjudicator)
    page.goto("/work/adjudications/")
    page.get_by_role("button", name="Claim next").press("Enter")
    expect(page.locator(".criterion")).to_have_count(2)
    expect(page.locator(".criterion.current .n")).to_have_text("1")
    page.keyboard.press("m")
    expect(page.locator(".criterion.current .n")).to_have_text("2")
    page.keyboard.press("u")  # the first ruling is taken back to none
    expect(page.locator("#graded-text")).to_have_text("0 / 2")
    expect(page.locator(".criterion.current .n")).to_have_text("1")
    expect(page.locator("#saved")).to_contain_text("Saved")
    assert Ruling.objects.get().outcome == ""
    page.keyboard.press("m")
    page.keyboard.press("f")
    page.keyboard.type("It asks for two things at once.")
    page.keyboard.press("Enter")
    expect(page.locator("#graded-text")).to_have_text("2 / 2")
    expect(page.locator("#saved")).to_contain_text("Saved")
    # Another tab rules on the first; this one, which has not seen it, overwrites nothing and is asked.
    row = Adjudication.objects.get()
    services.rule(
        adjudication=row,
        adjudicator=workshop.adjudicator,
        criterion=row.criteria[0],
        outcome="not_met",
        reason="No dose.",
        at=timezone.now(),
    )
    watch.allow(rf"criteria/{row.criteria[0]}/")
    page.keyboard.press("Home")
    page.keyboard.press("c")
    choice = page.get_by_role("dialog", name="Changed elsewhere")
    expect(choice.locator("[data-theirs]")).to_contain_text("Not met · No dose. · ")
    expect(choice.locator("[data-mine]")).to_have_text("Can’t assess")
    page.keyboard.press("Control+Enter")  # nothing is finished over an open question
    expect(choice).to_be_visible()
    assert Ruling.objects.filter(outcome="not_met").exists()
    choice.get_by_role("button", name="Use saved version").click()
    expect(page.locator(".criterion.current [aria-pressed=true]")).to_have_text("Not met")
    services.rule(
        adjudication=row,
        adjudicator=workshop.adjudicator,
        criterion=row.criteria[0],
        outcome="met",
        at=timezone.now(),
    )
    page.keyboard.press("c")
    choice.get_by_role("button", name="Keep mine").click()
    expect(page.locator("#saved")).to_contain_text("Saved")
    assert Ruling.objects.filter(outcome="cannot_assess").exists()
    # What is pressed while the finish is under way would be lost: it is held back.
    finishing: list[Route] = []
    page.route("**/finish/", lambda route: finishing.append(route))
    page.keyboard.press("Control+Enter")
    expect(page.locator("#criteria")).to_have_attribute("aria-busy", "true")
    page.keyboard.press("n")
    expect(page.locator(".toast")).to_contain_text("just being completed")
    expect(page.locator(".criterion").first.locator("[aria-pressed=true]")).to_have_text("Can’t assess")
    wait_until(lambda: page.wait_for_timeout(20) is None and bool(finishing), message="the request is on its way")
    finishing[0].continue_()
    expect(page).to_have_url(re.compile("/work/adjudications/$"))
    assert list(Ruling.objects.order_by("criterion").values_list("outcome", "reason")) == [
        ("cannot_assess", "No dose."),  # the reason that stood beside it goes on
        ("faulty", "It asks for two things at once."),
    ]
    assert Adjudication.objects.get().status == "done"


def test_a_batch_is_made_with_its_preview(new_page: NewPage) -> None:
    workshop = build_workshop(responses=6)
    group = ExpertGroupFactory(benchmark=workshop.benchmark, name="Group B", annotators=2, checkers=1, adjudicators=1)
    page = new_page(workshop.admin)
    page.goto(f"/b/{workshop.benchmark.slug}/batches/")
    page.get_by_role("link", name="New batch").click()
    page.get_by_label("Title").fill("Second batch")
    page.get_by_label("Expert group").select_option(label="Group B")
    expect(page.get_by_role("table", name="Languages of the cases").locator("tbody tr")).to_have_count(1)
    expect(page.locator("#preview tbody tr")).to_have_count(1 + 2)
    expect(page.locator("#preview .tile dd").first).to_have_text("6")
    page.get_by_label("Number").fill("4")
    expect(page.locator("#preview .tile dd").first).to_contain_text("drawn from 6")
    page.get_by_label("Number").fill("")  # as it was
    expect(page.get_by_label("Number")).not_to_have_attribute("aria-invalid", "true")
    page.get_by_label("Number").fill("4")
    page.get_by_label("Annotators per response").fill("0")
    expect(page.locator("#preview")).to_contain_text("Annotators per response: Enter 1 or more.")
    beside = page.locator("#id_annotators_per_item_error")
    expect(beside).to_be_visible()
    expect(beside).to_have_text("Enter 1 or more.")
    page.get_by_label("Annotators per response").fill("3")
    expect(page.locator("#preview")).to_contain_text("3 annotators per response are required, but the group has 2.")
    expect(beside).to_be_hidden()
    expect(page.get_by_role("button", name="Create batch")).to_be_disabled()
    page.get_by_label("Annotators per response").fill("2")
    expect(page.locator("#preview tbody td.num").first).to_have_text("4")
    page.get_by_role("button", name="Create batch").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Second batch")
    assert Assignment.objects.filter(batch__group=group).count() == 8
    page.get_by_role("main").get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Close permanently").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Closed")
    assert Batch.objects.get(group=group).status == "closed"


def busy() -> Workshop:
    """Something on every page: waiting, held and returned checks, a conflict, notes and evidence."""
    workshop = build_workshop(annotators_per_item=2, responses=5, check_policy="sample", check_fraction=0.6)
    for row in workshop.queue():
        criteria = services.criteria_of(row)
        services.save_decision(
            assignment=row,
            annotator=row.annotator,
            change=services.DecisionInput(
                criteria[0], "not_met", True, "The dose is missing.", [{"start": 0, "end": 30}]
            ),
            at=timezone.now(),
        )
        versions = [services.DecisionInput(c, "met") for c in criteria[1:]]
        services.save_decisions(assignment=row, annotator=row.annotator, changes=versions, at=timezone.now())
        services.submit(assignment=row, annotator=row.annotator, at=timezone.now())
    for row in workshop.queue(workshop.people()[1]):
        decide(row, "met", "not_met")
    for _ in range(2):
        services.claim_check(
            checker=workshop.checker, waiting=access.waiting_checks(workshop.checker), at=timezone.now()
        )
    for row in access.held_checks(workshop.checker)[:1]:
        services.return_check(assignment=row, checker=workshop.checker, note="Again, please.", at=timezone.now())
    return workshop


def test_an_outcome_without_its_reason_holds_the_acceptance_back(new_page: NewPage) -> None:
    workshop = build_workshop(criteria=3, check_policy="all")
    decide(workshop.queue()[0], "not_met")
    page = new_page(workshop.checker, viewport={"width": 390, "height": 844}, has_touch=True)
    page.goto("/work/checks/")
    page.get_by_role("button", name="Start next check").click()
    expect(page.locator(".criterion.current")).to_have_count(1)
    first = page.url
    page.locator("#dock [data-choose=met]").tap()
    expect(page.locator("[data-reason]:visible")).to_be_focused()
    page.locator("#dock").get_by_role("button", name="Accept").tap()
    expect(page.locator("#refusal")).to_contain_text("Your choice for criterion 1 is not saved: it needs a reason.")
    assert page.url == first
    page.locator("[data-reason]:visible").tap()  # the field alone sends nothing
    expect(page.locator("[data-reason]:visible")).not_to_have_attribute("aria-invalid", "true")
    page.locator("[data-do=cancel]:visible").tap()
    expect(page.locator(".criterion.current [aria-pressed=true]")).to_have_text("Not met")
    page.locator("#dock [data-choose=met]").tap()
    expect(page.locator("[data-reason]:visible")).to_be_focused()
    page.locator("#dock [data-choose=not_met]").tap()  # the annotator's outcome takes the choice back
    expect(page.locator("[data-reason]:visible")).to_have_count(0)
    page.locator("#dock").get_by_role("button", name="Accept").tap()
    expect(page).to_have_url(re.compile("/work/checks/$"))
    assert not Amendment.objects.exclude(outcome="").exists()


def test_a_faulty_criterion_without_a_reason_holds_the_adjudication_back(new_page: NewPage) -> None:
    workshop = build_workshop(annotators_per_item=2)
    workshop.conflict()
    page = new_page(workshop.adjudicator)
    page.goto("/work/adjudications/")
    page.get_by_role("button", name="Claim next").click()
    expect(page.locator(".criterion.current .n")).to_have_text("1")
    page.keyboard.press("m")
    expect(page.locator(".criterion.current .n")).to_have_text("2")
    page.keyboard.press("m")
    expect(page.locator("#graded-text")).to_have_text("2 / 2")
    page.locator("[data-row]").first.locator("[data-set=faulty]").click()
    expect(page.locator("[data-reason]:visible")).to_be_focused()
    page.keyboard.press("Control+Enter")
    expect(page.locator("#refusal")).to_contain_text("Your choice for criterion 1 is not saved: it needs a reason.")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+Enter")
    expect(page).to_have_url(re.compile("/work/adjudications/$"))
    assert list(Ruling.objects.values_list("outcome", flat=True)) == ["met", "met"]


def test_releasing_a_check_asks_before_amendments_are_discarded(new_page: NewPage, watch: Watch) -> None:
    watch.allow("404 .*/time/")  # a last report of time, sent as the page is left, may come after the release
    workshop = build_workshop(criteria=3, check_policy="all")
    decide(workshop.queue()[0], "not_met")
    page = new_page(workshop.checker)
    page.goto("/work/checks/")
    page.get_by_role("button", name="Start next check").click()
    expect(page.locator(".criterion.current .n")).to_have_text("1")
    page.keyboard.press("m")
    expect(page.locator("[data-reason]:visible")).to_be_focused()
    page.keyboard.type("A dose is named.")
    page.keyboard.press("Enter")
    expect(page.locator("#summary")).to_have_text("1 amended")
    expect(page.locator("#saved")).to_contain_text("Saved")
    page.get_by_role("button", name="Release task").click()
    dialog = page.get_by_role("dialog", name="Discard your changes and release this check?")
    expect(dialog).to_be_visible()
    assert axe_violations(page) == []
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_be_hidden()
    assert Amendment.objects.get().outcome == "met"
    page.get_by_role("button", name="Release task").click()
    dialog.get_by_role("button", name="Discard and release").click()
    expect(page).to_have_url(re.compile("/work/checks/$"))
    expect(page.locator("tbody")).not_to_contain_text("resubmitted")
    page.get_by_role("button", name="Start next check").click()
    expect(page.locator(".criterion.current")).to_have_count(1)
    page.get_by_role("button", name="Release task").click()  # nothing is lost, so nothing is asked
    expect(page).to_have_url(re.compile("/work/checks/$"))
