"""Writing, reviewing and auditing with long words, remarks and open dialogs in narrow windows: nothing is cut off."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone
from playwright.sync_api import Page, expect

from rubrics.audits.services import AuditTerms, create_audit
from rubrics.editor.draft_content import DraftItem
from rubrics.models import AuditItem, AuthoringRole, Case
from tests.conftest import Watch
from tests.factories import BenchmarkFactory, CaseFactory, DraftingRunFactory, SuggestionFactory, UserFactory
from tests.overflow import NARROW_WIDTHS, cut_off
from tests.rubrics.versions.test_publishing import author, drafted, send, write

pytestmark = pytest.mark.django_db(transaction=True)
NewPage = Callable[..., Page]

LONG = "https://guidelines.example.org/" + "hypertension-in-pregnancy-" * 6
TEXT = (
    "I have had a headache for three days and my pressure was 180/110. See " + LONG + "\n\n"
    "| Time | Systolic | Diastolic | Heart rate | Medicines |\n|---|---|---|---|---|\n"
    "| morning | 180 | 110 | 88 | labetalol 200 mg three times a day |\n\n```\nunbroken " + "x" * 120 + "\n```\n"
)
ITEMS = [
    DraftItem("a", "Names pre-eclampsia with severe features as most likely " + LONG, 9, ("axis:accuracy",)),
    DraftItem("b", "Recommends referral and explains the danger", 10, ("axis:context_awareness", LONG[:120])),
    DraftItem("c", "Nitrates must not be given", -5, tuple(f"tag-{n}" for n in range(8)), source=LONG),
    DraftItem("d", "", 0),
]  # fmt: skip
SHOTS = os.environ.get("CONSILIUM_SHOTS")


@pytest.fixture
def case(db: None) -> Case:
    benchmark = BenchmarkFactory(slug="b", title="Consensus of obstetric emergencies in primary care " * 2)
    turns = [{"role": "user", "content": TEXT}, {"role": "assistant", "content": "How many weeks?"}]
    tags = ["specialty:obstetrics-and-maternal-fetal-medicine", "theme:emergency_referrals", LONG[:100]]
    key = "obstetrics-" + "emergency-" * 8
    return CaseFactory(
        benchmark=benchmark, key=key, conversation=turns, reference_answer=TEXT, tags=tags, rubric=[5, 4]
    )


def look(page: Page, name: str, language: str = "en", widths: tuple[int, ...] = NARROW_WIDTHS) -> list[str]:
    """What is cut off at each width."""
    findings = []
    for width in widths:
        page.set_viewport_size({"width": width, "height": 844})
        findings += [f"{name} ({width} px, {language}): {line}" for line in cut_off(page)]
        if SHOTS:
            page.screenshot(path=str(Path(SHOTS) / f"{name}-{width}-{language}.png"))
    return findings


@pytest.mark.parametrize("language", [code for code, _name in settings.LANGUAGES])
def test_the_rubric_editor(new_page: NewPage, case: Case, language: str, watch: Watch) -> None:
    watch.allow("ERR_INTERNET_DISCONNECTED", "ERR_FAILED")
    writer = author(case.benchmark)
    writer.language = language
    writer.save()
    rubric, _items = drafted(case, writer)
    write(rubric, ITEMS, writer)
    page = new_page(writer)
    address = f"/b/b/write/{case.public_id}/rubric/"
    page.goto(address)
    expect(page.locator("#editor[data-ready]")).to_be_visible()
    expect(page.locator(".remarks .problem").first).to_be_visible()
    findings = look(page, "editor", language)
    page.locator(".rubric-bar details.menu summary").click()
    findings += look(page, "editor-more", language)
    page.keyboard.press("Escape")
    page.locator("[data-do=more]").first.click()
    page.locator("[data-field=tag]").first.fill("tag-11")
    page.keyboard.press("Enter")
    expect(page.locator(".new-word")).to_be_visible()
    findings += look(page, "editor-row", language)
    page.locator(".item details.menu summary").first.click()
    findings += look(page, "editor-menu", language)
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 390, "height": 844})
    page.locator("[data-show-case]").click()
    findings += look(page, "editor-case", language)
    expect(page.locator("[data-show-case]")).to_be_in_viewport()  # the criteria stay in sight
    page.context.set_offline(True)
    page.locator("#items textarea").first.fill("Changed")
    expect(page.locator("#saved")).to_have_attribute("data-state", "waiting")
    findings += look(page, "editor-offline", language)
    page.context.set_offline(False)
    expect(page.locator("#saved")).to_have_attribute("data-state", "saved")
    for dialog in ("keys", "send-dialog", "bank", "paste"):
        page.evaluate("id => document.getElementById(id).showModal()", dialog)
        findings += look(page, f"editor-{dialog}", language)
        page.evaluate("id => document.getElementById(id).close()", dialog)
    assert not findings, "\n".join(findings)


@pytest.mark.parametrize("language", [code for code, _name in settings.LANGUAGES])
def test_the_pages_of_cases_reviews_and_audits(new_page: NewPage, case: Case, language: str) -> None:
    benchmark = case.benchmark
    writer, reviewer, auditor = author(benchmark), author(benchmark), UserFactory()
    AuthoringRole.objects.create(benchmark=benchmark, user=auditor, role="auditor")
    for user in (writer, reviewer, auditor):
        user.language = language
        user.save()
    create_audit(benchmark=benchmark, terms=AuditTerms("Audit " + "x" * 60, share=1), by=None, at=timezone.now())
    client = Client()
    client.force_login(auditor)
    client.post("/b/b/audits/take/")
    rubric, items = drafted(case, writer)
    write(rubric, [replace(items[0], text=items[0].text + " " + LONG), *items[1:], *ITEMS[:3]], writer)
    page = new_page(writer)
    findings = []
    written = CaseFactory(
        benchmark=benchmark, rubric=0, tags=case.tags, conversation=case.conversation, created_by=writer
    )
    for name, address in {
        "writing": "/b/b/write/",
        "case-new": "/b/b/write/new/",
        "case-edit": f"/b/b/write/{written.public_id}/",
        "case-frozen": f"/b/b/write/{case.public_id}/",
        "history": f"/b/b/write/{case.public_id}/history/",
        "traceability": f"/b/b/write/{case.public_id}/traceability/",
    }.items():
        answer = page.goto(address)
        assert answer is not None and answer.status == 200, name
        findings += look(page, name, language)
    send(rubric, writer)
    page.goto(f"/b/b/write/{case.public_id}/rubric/")
    findings += look(page, "editor-read", language)
    page = new_page(reviewer)
    for name, address in {"review": f"/b/b/write/{case.public_id}/review/", "reviews": "/b/b/write/reviews/"}.items():
        page.goto(address)
        findings += look(page, name, language)
    page = new_page(auditor)
    item = AuditItem.objects.get(auditor=auditor)
    for name, address in {"audit": f"/b/b/audits/cases/{item.public_id}/", "audits": "/b/b/audits/desk/"}.items():
        page.goto(address)
        findings += look(page, name, language)
    assert not findings, "\n".join(findings)


LINES = """() => new Set([...document.querySelectorAll(
  '.rubric-bar > :not(.axes-line, .bar-buttons), .bar-buttons > *')]
  .map((node) => node.getBoundingClientRect()).filter(({ width }) => width)
  .map(({ top, height }) => Math.round((top + height / 2) / 12))).size"""


@pytest.mark.parametrize("language", [code for code, _name in settings.LANGUAGES])
def test_the_buttons_of_the_editor_are_in_one_line_on_a_notebook(new_page: NewPage, case: Case, language: str) -> None:
    writer = author(case.benchmark)
    writer.language = language
    writer.save()
    run = DraftingRunFactory(benchmark=case.benchmark)
    SuggestionFactory(case=case, run=run, number=1)
    rubric, _items = drafted(case, writer)
    write(rubric, ITEMS, writer)
    page = new_page(writer)
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(f"/b/b/write/{case.public_id}/rubric/")
    expect(page.locator("#editor[data-ready]")).to_be_visible()
    expect(page.locator("#sums")).not_to_have_text("")
    assert page.evaluate(LINES) == 1
    # Beside the suggestions, the buttons are in a line below the counts.
    beside = page.locator(".rubric-bar [data-side]")
    beside.click()
    expect(beside).to_have_attribute("aria-expanded", "true")
    assert page.evaluate(LINES) == 2
    buttons = page.locator(".bar-buttons > :is([data-side], [data-open], details)")
    boxes = [buttons.nth(place).bounding_box() for place in range(buttons.count())]
    assert len({round(box["y"] + box["height"] / 2) // 12 for box in boxes if box}) == 1


@pytest.mark.parametrize("language", [code for code, _name in settings.LANGUAGES])
@pytest.mark.parametrize("suggested", [False, True])
def test_the_whole_menu_of_the_editor_can_be_clicked_at_any_width(
    new_page: NewPage, case: Case, language: str, suggested: bool
) -> None:
    writer = author(case.benchmark)
    writer.language = language
    writer.save()
    if suggested:
        SuggestionFactory(case=case, run=DraftingRunFactory(benchmark=case.benchmark), number=1)
    rubric, _items = drafted(case, writer)
    points = [10, 8, 7, 9, 10, 6, 8, -9, -10, 5, 7, -8]
    write(rubric, [DraftItem(f"c{n}", f"Names sign {n}", worth) for n, worth in enumerate(points)], writer)
    page = new_page(writer)
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(f"/b/b/write/{case.public_id}/rubric/")
    expect(page.locator("#editor[data-ready]")).to_be_visible()
    expect(page.locator("#sums")).to_contain_text("70")
    menu = page.locator(".rubric-bar details.menu")
    panel, shortcuts = menu.locator(".menu-panel"), page.locator("dialog#keys")
    assert page.locator(".rubric-bar [data-side]").count() == suggested
    for side in [False, True] if suggested else [False]:
        if side:
            beside = page.locator(".rubric-bar [data-side]")
            beside.click()
            expect(beside).to_have_attribute("aria-expanded", "true")
        for width in (1180, 1240, 1280, 1300):
            page.set_viewport_size({"width": width, "height": 800})
            menu.locator("summary").click()
            for entry in panel.locator("> :visible").all():
                entry.click(trial=True)  # nothing lies over it
            box, pane = panel.bounding_box(), page.locator(".criteria-pane").bounding_box()
            assert box and pane and pane["x"] <= box["x"] and box["x"] + box["width"] <= pane["x"] + pane["width"]
            panel.locator("> :visible").last.click()
            expect(shortcuts).to_be_visible()
            page.keyboard.press("Escape")
            expect(shortcuts).to_be_hidden()
            if not side:
                assert page.evaluate(LINES) == 1, f"more than one line at {width} px"
            if menu.get_attribute("open") is not None:
                page.keyboard.press("Escape")
                expect(menu).not_to_have_attribute("open", "")


def test_the_list_to_do_is_below_the_bar_where_a_link_leads_to_it(new_page: NewPage, case: Case) -> None:
    for number in range(12):
        CaseFactory(benchmark=case.benchmark, rubric=[5], key=f"case-with-a-rubric-{number}")
    page = new_page(author(case.benchmark))
    page.set_viewport_size({"width": 1280, "height": 500})
    page.goto("/b/b/write/#waiting")
    heading = page.get_by_role("heading", name="To do")
    expect(heading).to_be_in_viewport()
    top, bar = page.evaluate(
        "[document.querySelector('#waiting h2').getBoundingClientRect().top,"
        " document.querySelector('.topbar').getBoundingClientRect().bottom]"
    )
    assert top >= bar
