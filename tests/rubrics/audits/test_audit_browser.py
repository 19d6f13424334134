"""The auditor's form in a browser: keys, saving by itself, and two tabs that ask which of them holds."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from django.test import Client
from django.utils import timezone
from playwright.sync_api import Dialog, expect

from rubrics.audits.services import AuditFinding, AuditTerms, create_audit, finish
from rubrics.models import AuditItem
from tests.overflow import cut_off
from tests.rubrics.audits.test_audits import KEYS, auditor_of, bench
from tests.waiting import wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

    from tests.conftest import Watch

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def item(db: None) -> AuditItem:
    """The first of two cases, taken by its auditor."""
    benchmark = bench("own", KEYS[:2])
    create_audit(benchmark=benchmark, terms=AuditTerms("Audit", share=1), by=None, at=timezone.now())
    auditor = auditor_of(benchmark)
    client = Client()
    client.force_login(auditor)
    client.post("/b/own/audits/take/")
    return AuditItem.objects.get(auditor=auditor)


def open_item(new_page: Callable[..., Page], item: AuditItem) -> Page:
    page = new_page(user=item.auditor)
    page.goto(f"/b/own/audits/cases/{item.public_id}/")
    expect(page.locator("#finding")).to_be_visible()
    return page


def test_a_case_is_audited_with_keys_and_saves_itself(new_page: Callable[..., Page], item: AuditItem) -> None:
    page = open_item(new_page, item)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_hidden()
    for key in ("1", "2", "3", "4", "4", "j", "j", "k"):
        page.keyboard.press(key)
    first = page.locator("[data-criterion]").first
    expect(first).to_be_focused()
    page.keyboard.press("f")
    expect(first.locator("[name=criteria]")).to_be_checked()
    page.keyboard.press("r")
    page.keyboard.press("t")
    expect(page.locator("#comment")).to_be_focused()
    words = "1 f x are letters here"
    page.keyboard.type(words)
    wait_until(lambda: AuditItem.objects.get(pk=item.pk).comment == words, message="it saves itself")
    expect(page.locator("#saving")).to_have_text("Saved")
    item.refresh_from_db()
    assert item.outcome == "revise"
    assert item.criteria == [item.rubric.items.order_by("position").first().criterion_id]
    page.keyboard.press("Escape")
    expect(page.locator("#comment")).not_to_be_focused()
    page.keyboard.press("Control+Enter")
    page.wait_for_url(lambda url: item.public_id not in url)
    item.refresh_from_db()
    assert item.done_at is not None
    assert page.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('consilium.audit:'))") == []


def test_what_is_refused_or_not_sent_stays_and_two_tabs_ask(
    new_page: Callable[..., Page], item: AuditItem, watch: Any
) -> None:
    watch.allow("ERR_INTERNET_DISCONNECTED", "status of 409", "status of 422")
    page = open_item(new_page, item)
    page.keyboard.press("s")
    expect(page.locator("#saving")).to_have_text("Saved")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#refusal")).to_contain_text("four questions")
    expect(page.locator("[data-question].is-missing")).to_have_count(4)  # the outcome is there
    expect(page.locator(".audit-outcome.is-missing")).to_have_count(0)
    page.context.set_offline(True)
    page.locator("#comment").fill("kept in this browser")
    expect(page.locator("#saving")).to_contain_text("No connection")
    page.close(run_before_unload=False)

    page = page.context.new_page()
    page.context.set_offline(False)
    page.goto(f"/b/own/audits/cases/{item.public_id}/")
    wait_until(lambda: AuditItem.objects.get(pk=item.pk).comment == "kept in this browser", message="it is sent")

    other = page.context.new_page()
    other.goto(f"/b/own/audits/cases/{item.public_id}/")
    other.locator("#comment").fill("of the other tab")
    expect(other.locator("#saving")).to_have_text("Saved")
    page.locator("#comment").fill("of this tab")
    expect(page.locator("#choice")).to_be_visible()
    page.locator("[data-take-saved]").click()
    expect(page.locator("#comment")).to_have_value("of the other tab")
    expect(page.locator("#choice")).to_be_hidden()
    page.locator("#comment").fill("of this tab after all")
    expect(page.locator("#saving")).to_have_text("Saved")
    other.locator("#comment").fill("mine holds")
    expect(other.locator("#choice")).to_be_visible()
    other.locator("[data-keep-mine]").click()
    wait_until(lambda: AuditItem.objects.get(pk=item.pk).comment == "mine holds", message="the person chose")


def test_what_the_version_before_kept_is_sent(new_page: Callable[..., Page], item: AuditItem) -> None:
    page = open_item(new_page, item)
    finding = {"answers": {"necessity": False}, "criteria": [], "outcome": "", "comment": "before the update"}
    key = f"consilium.audit:{item.public_id}"
    keep = "([key, kept]) => localStorage.setItem(key, JSON.stringify(kept))"
    page.evaluate(keep, [key, {"version": item.version, "finding": finding}])
    page.reload()
    wait_until(lambda: AuditItem.objects.get(pk=item.pk).comment == "before the update", message="it is sent")
    expect(page.locator("#comment")).to_have_value("before the update")
    expect(page.locator("#saving")).to_have_text("Saved")
    assert page.evaluate("(key) => localStorage.getItem(key)", key) is None

    page.evaluate(keep, [key, {"version": 1, "finding": finding | {"criteria": None}}])
    page.reload()
    expect(page.locator("#comment")).to_have_value("before the update")
    assert page.evaluate("(key) => localStorage.getItem(key)", key) is None


def test_a_refusal_without_words_is_shown_and_loses_nothing(
    new_page: Callable[..., Page], item: AuditItem, watch: Watch
) -> None:
    watch.allow("status of 413")
    page = open_item(new_page, item)
    page.route("**/save/", lambda route: route.fulfill(status=413, body="Too large"))
    page.route("**/submit/", lambda route: route.fulfill(status=413, body="Too large"))
    page.locator("#comment").fill("kept")
    expect(page.locator("#refusal")).to_contain_text("not sent yet")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#refusal")).to_contain_text("not sent yet")
    page.unroute("**/save/")
    page.locator("#comment").fill("kept, and shorter")
    expect(page.locator("#saving")).to_have_text("Saved")
    item.refresh_from_db()
    assert item.comment == "kept, and shorter"


def test_a_comment_that_is_shortened_while_it_is_being_refused_is_sent(
    new_page: Callable[..., Page], item: AuditItem, watch: Watch
) -> None:
    watch.allow("status of 413")
    page = open_item(new_page, item)
    held: list[Route] = []
    page.route("**/save/", lambda route: held.append(route), times=1)
    with page.expect_request("**/save/"):
        page.locator("#comment").fill("kept")
    page.locator("#comment").fill("kept, and shorter")
    held[0].fulfill(status=413, body="Too large")
    expect(page.locator("#saving")).to_have_text("Saved")
    item.refresh_from_db()
    assert item.comment == "kept, and shorter"
    expect(page.locator("#refusal")).to_be_hidden()


def test_offline_it_is_not_submitted_and_the_page_says_so(
    new_page: Callable[..., Page], item: AuditItem, watch: Watch
) -> None:
    watch.allow("ERR_INTERNET_DISCONNECTED")
    page = open_item(new_page, item)
    expect(page.locator("#finding")).to_contain_text("After you submit, it cannot be changed.")
    for key in ("1", "2", "3", "4", "s"):
        page.keyboard.press(key)
    expect(page.locator("#saving")).to_have_text("Saved")
    page.context.set_offline(True)
    page.locator("#comment").fill("kept")
    expect(page.locator("#saving")).to_contain_text("No connection")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#refusal")).to_contain_text("Not submitted: the connection was lost.")
    fits = "(id) => { const e = document.getElementById(id); return e.scrollWidth <= e.clientWidth; }"
    assert page.evaluate(fits, "finding")
    page.context.set_offline(False)
    expect(page.locator("#refusal")).to_contain_text("You can submit now.")
    wait_until(lambda: AuditItem.objects.get(pk=item.pk).comment == "kept", message="it is sent")
    page.keyboard.press("Control+Enter")
    page.wait_for_url(lambda url: item.public_id not in url)
    page.go_back()
    page.wait_for_url(lambda url: item.public_id in url)
    expect(page.get_by_text("Your findings are final.")).to_be_visible()
    expect(page.locator("#comment")).not_to_be_editable()


def test_two_tabs_show_the_marks_that_differ(new_page: Callable[..., Page], item: AuditItem, watch: Watch) -> None:
    watch.allow("status of 409")
    page = open_item(new_page, item)
    other = page.context.new_page()
    other.goto(f"/b/own/audits/cases/{item.public_id}/")
    boxes = "[name=criteria]"
    other.locator(boxes).nth(0).check()
    expect(other.locator("#saving")).to_have_text("Saved")
    page.locator(boxes).nth(1).check()
    expect(page.locator("#choice")).to_be_visible()
    expect(page.locator("#choice [data-theirs]")).to_have_text("Criteria marked: 1")
    expect(page.locator("#choice [data-mine]")).to_have_text("Criteria marked: 2")


def test_a_second_tab_ends_once_the_case_is_submitted(
    new_page: Callable[..., Page], item: AuditItem, watch: Watch
) -> None:
    watch.allow("status of 422")
    page = open_item(new_page, item)
    client = Client()
    client.force_login(item.auditor)
    sound = {"correctness": True, "necessity": True, "consistency": True, "guidelines": True}
    body = {"version": item.version, "answers": sound, "criteria": [], "outcome": "sound", "comment": ""}
    url = f"/b/own/audits/cases/{item.public_id}/submit/"
    assert client.post(url, json.dumps(body), content_type="application/json").status_code == 200
    page.locator("#comment").fill("too late")
    expect(page.locator("#refusal")).to_contain_text("your findings are final")
    expect(page.locator("#saving")).to_be_hidden()
    expect(page.locator("#comment")).not_to_be_editable()
    assert page.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('consilium.audit:'))") == []


def test_the_error_beside_a_corrected_share_goes(new_page: Callable[..., Page], watch: Watch) -> None:
    watch.allow("status of 422")
    benchmark = bench("own", KEYS[:2])
    page = new_page(user=benchmark.roles.get().user)
    page.goto("/b/own/audits/new/")
    share = page.get_by_label("Share in %")
    share.fill("101")
    page.get_by_role("button", name="Draw and start").click()
    error = page.locator(".field .errors", has_text="Enter a share from 0.1% to 100%.")
    expect(error).to_be_visible()
    share.fill("102")
    expect(share).to_have_attribute("aria-invalid", "true")
    expect(error).to_be_visible()
    share.fill("20")
    expect(error).to_be_hidden()
    expect(share).not_to_have_attribute("aria-invalid", "true")
    share.fill("101")
    expect(error).to_be_visible()


def test_the_audit_page_fits_a_phone_and_names_its_benchmark(new_page: Callable[..., Page], item: AuditItem) -> None:
    at = timezone.now()
    sound = {"correctness": False, "necessity": True, "consistency": True, "guidelines": True}
    finding = AuditFinding(sound, (), "remove", "No such disease.")
    finish(item=item, auditor=item.auditor, finding=finding, version=item.version, at=at)
    benchmark = item.audit.benchmark
    type(benchmark).objects.filter(pk=benchmark.pk).update(title="Wards of the north", is_demo=True)
    page = new_page(user=benchmark.roles.get().user)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"/b/own/audits/{item.audit.public_id}/")
    remove = page.get_by_role("button", name="Exclude the case…")
    expect(remove).to_be_visible()
    assert cut_off(page) == []
    assert page.locator(".topbar-place b").bounding_box()["width"] > 90
    page.set_viewport_size({"width": 1280, "height": 844})
    keep = page.get_by_role("button", name="Keep the case…").bounding_box()
    # Both buttons are together at the right edge, and the triangle is on the line of its heading.
    assert 0 < remove.bounding_box()["x"] - (keep["x"] + keep["width"]) < 30
    heading = page.locator("#drawn summary h2").bounding_box()["height"]
    assert page.locator("#drawn summary").bounding_box()["height"] < 1.6 * heading


def test_an_audit_that_is_closed_meanwhile_says_so_and_keeps_what_was_saved(
    new_page: Callable[..., Page], item: AuditItem, watch: Watch
) -> None:
    watch.allow("status of 422")
    page = open_item(new_page, item)
    page.locator("#comment").fill("saved before")
    wait_until(lambda: AuditItem.objects.get(pk=item.pk).comment == "saved before", message="it saves itself")
    expect(page.locator("#saving")).to_have_text("Saved")
    admin = new_page(user=item.audit.benchmark.roles.get().user)
    admin.goto(f"/b/own/audits/{item.audit.public_id}/")
    admin.get_by_role("button", name="Close the audit").click()
    dialog = admin.get_by_role("dialog", name="Close the audit")
    expect(dialog).to_contain_text("1 case is being read now by 1 auditor; cases with saved entries: 1.")
    dialog.get_by_role("button", name="Close the audit").click()
    expect(admin.locator("#unsubmitted")).to_contain_text("saved before")
    page.locator("#comment").click()
    page.locator("#comment").fill("saved before, and more")
    expect(page.locator("#refusal")).to_contain_text("This audit was closed on")
    expect(page.locator("#refusal")).to_contain_text("your last entry was not saved")
    expect(page.locator("#comment")).not_to_be_editable()
    expect(page.locator("#comment")).to_have_value("saved before, and more")
    warnings: list[str] = []

    def leave(dialog: Dialog) -> None:
        warnings.append(dialog.type)
        dialog.accept()

    page.once("dialog", leave)
    page.reload()
    assert warnings == ["beforeunload"]  # the last entry is only on this page
    expect(page.get_by_text("your entries were not submitted")).to_be_visible()
    expect(page.locator("#comment")).to_have_value("saved before")
    expect(page.locator("#comment")).not_to_be_editable()


def test_two_tabs_show_the_questions_that_are_sound(
    new_page: Callable[..., Page], item: AuditItem, watch: Watch
) -> None:
    watch.allow("status of 409")
    page = open_item(new_page, item)
    other = page.context.new_page()
    other.goto(f"/b/own/audits/cases/{item.public_id}/")
    for name in ("correctness", "necessity"):
        other.locator(f"[name={name}][value=sound]").check()
    wait_until(lambda: len(AuditItem.objects.get(pk=item.pk).answers) == 2, message="both are saved")
    page.locator("[name=guidelines][value=fault]").check()
    expect(page.locator("#choice")).to_be_visible()
    expect(page.locator("#choice [data-theirs]")).to_have_text("Sound: Clinical correctness, Necessity")
    expect(page.locator("#choice [data-mine]")).to_have_text("At fault: Guideline alignment")
