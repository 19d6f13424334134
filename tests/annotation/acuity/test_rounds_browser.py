"""A vote in the second round and a ruling in a real browser, by the keyboard alone."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.acuity.panel import AmbiguousRule
from annotation.acuity.round_plan import RoundTerms, open_round
from annotation.acuity.rulings import request_rulings
from annotation.labels.services import submit_labels
from annotation.models import AcuityRuling, LabelAnswer, LabelTask, Membership, RulingRequest
from tests.annotation.labels.labels_world import build_panel, give_out
from tests.axe import axe_violations
from tests.conftest import Watch
from tests.factories import CaseFactory, member

pytestmark = pytest.mark.django_db(transaction=True)
NewPage = Callable[..., Page]
SPLIT = ("self-care", "self-care", "urgent-care", "emergency", "emergency")


def test_a_second_vote_and_a_ruling_by_keyboard(new_page: NewPage, transactional_db: None, watch: Watch) -> None:
    watch.allow("status of 422")
    panel = build_panel()
    panel.say("a", *SPLIT)
    panel.say("b", *SPLIT)
    rule = AmbiguousRule()
    judge = member(panel.group, Membership.Role.ADJUDICATOR)
    request_terms = {"group": panel.group, "question": panel.question, "rule": rule, "by": None, "at": timezone.now()}
    open_round(**request_terms, terms=RoundTerms("Again", 3))
    again = LabelTask.objects.filter(round=2)
    tasks = list(again.filter(annotator=panel.people[0]).order_by("position"))

    page = new_page(panel.people[0], viewport={"width": 768, "height": 1024})
    page.goto(f"/work/labels/{tasks[0].public_id}/")
    expect(page.locator(".earlier-votes")).to_contain_text("Your vote was: Self-care")
    assert page.evaluate("document.documentElement.scrollWidth") <= 768
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        assert axe_violations(page) == []
    page.keyboard.press("2")
    page.keyboard.press("b")
    page.keyboard.press("d")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#place")).to_have_text("Case 2 of 2")
    expect(page.locator(".earlier-votes")).to_contain_text("Your vote was: Self-care")
    answer = LabelAnswer.objects.get(task=tasks[0])
    assert (answer.value, answer.upper, answer.certainty) == ("primary-care", "urgent-care", 75)

    page.goto("/work/")
    again.exclude(status="submitted").update(status="released")
    request_rulings(**request_terms, seed=3)
    page = new_page(judge)
    page.goto("/work/")
    page.get_by_role("link", name="Give rulings").click()
    page.get_by_role("link", name="Rule on next case").click()
    expect(page.locator(".earlier-votes").first).to_contain_text("Votes of round 1")
    page.wait_for_load_state()  # keys do nothing before
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        assert axe_violations(page) == []
    page.keyboard.press("4")
    expect(page.locator("[data-between]")).to_be_disabled()
    page.keyboard.press("2")
    page.keyboard.press("b")
    page.keyboard.press("1")  # another level is one level again
    expect(page.locator("[data-between]")).not_to_be_checked()
    page.keyboard.press("2")
    page.keyboard.press("b")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".notice.error")).to_contain_text("Choose the reason")
    expect(page.locator("[data-between]")).to_be_checked()
    page.keyboard.press("s")
    page.keyboard.press("t")
    page.keyboard.type("b0 are letters here")
    first = page.url
    page.keyboard.press("Control+Enter")
    expect(page).not_to_have_url(first)
    expect(page.locator("[data-between]")).to_be_disabled()  # by the script, which then takes keys
    page.keyboard.press("0")
    page.keyboard.press("a")
    page.keyboard.press("Control+Enter")
    expect(page).to_have_url(re.compile("/work/rulings/$"))
    expect(page.locator("body")).to_contain_text("Your ruling is saved.")
    assert [*AcuityRuling.objects.order_by("pk").values_list("low", "high", "reason", "note", "adjudicator")] == [
        (1, 2, "both-good", "b0 are letters here", judge.pk), (None, None, "missing-fact", "", judge.pk),
    ]  # fmt: skip


def test_the_results_of_a_question_fit_and_the_keys_are_those_of_the_page(
    new_page: NewPage, transactional_db: None
) -> None:
    panel = build_panel()
    for task, level in zip(panel.tasks("a"), ("self-care", "self-care|primary-care", "primary-care"), strict=False):
        panel.vote(task, level)
        submit_labels(task=task, annotator=task.annotator, at=timezone.now())
    panel.say("b", *SPLIT)
    CaseFactory(benchmark=panel.benchmark, key="message-17-of-the-portal")
    give_out(panel.group, panel.question, annotators=5)
    page = new_page(panel.admin, viewport={"width": 1280, "height": 900})
    page.goto(f"/b/panel/labels/{panel.question.public_id}/")
    table = page.locator("table.level-cases")
    expect(table).to_contain_text("Between two levels")
    assert table.evaluate("table => table.parentElement.scrollWidth - table.parentElement.clientWidth") == 0
    names = table.locator('th[scope="row"]').evaluate_all("cells => cells.map(cell => cell.clientWidth)")
    assert min(names) >= 8.5 * 16  # room for a name of some length
    for width in (390, 768):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width

    judge = member(panel.group, Membership.Role.ADJUDICATOR)
    request_rulings(
        group=panel.group, question=panel.question, rule=AmbiguousRule(), by=None, at=timezone.now(), seed=3
    )
    for user, url in (
        (panel.people[0], f"/work/labels/{panel.tasks('c')[0].public_id}/"),
        (judge, f"/work/rulings/{RulingRequest.objects.get().public_id}/"),
    ):
        page = new_page(user)
        page.goto(url)
        page.keyboard.press("?")
        expect(page.locator("dialog#keys dt").first).to_have_text("1–4")
