"""The queue in a browser: keys alone, back to the one before, narrow windows, and accessibility."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from tests.axe import axe_violations
from tests.scoring.conftest import Loopback
from tests.validation.coverage.coverage_world import matching
from validation.coverage.services import ask_physicians
from validation.models import CoverageDecision, SkippedQuestion

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.conftest import Watch

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_physician_decides_by_keys_alone(new_page: Callable[..., Page], loopback: Loopback) -> None:
    world = matching()
    run = world.run(loopback.url)
    ask_physicians(run=run, at=timezone.now())
    total = CoverageDecision.objects.filter(run=run).count()
    page = new_page(user=world.physicians[0])
    page.goto("/")
    page.locator("a[href$='/rubric-coverage/decide/']").first.click()
    expect(page.get_by_text(f"0 of {total} decided")).to_be_visible()
    assert axe_violations(page) == []
    first = page.url
    for number in range(total):
        expect(page.get_by_text(f"{number} of {total} decided")).to_be_visible()
        page.wait_for_load_state()  # scripts run after the words are there
        page.keyboard.press("2")
    expect(page.get_by_text("All decided")).to_be_visible()
    answers = set(CoverageDecision.objects.filter(run=run).values_list("stage", "answer"))
    assert answers == {("coverage", "partly"), ("coverage_back", "needless")}
    queue = page.url
    page.get_by_role("link", name="Review the last one").click()
    page.wait_for_url(lambda url: url != queue)
    for _number in range(total - 1):
        before = page.url
        page.keyboard.press("u")
        page.wait_for_url(lambda url, before=before: url != before)
    assert page.url == first
    page.keyboard.press("1")
    expect(page.get_by_text("All decided")).to_be_visible()
    assert CoverageDecision.objects.filter(run=run, answer__in=["full", "needed"]).count() == 1


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_no_page_is_wider_than_its_window(new_page: Callable[..., Page], loopback: Loopback, width: int) -> None:
    world = matching()
    run = world.run(loopback.url)
    ask_physicians(run=run, at=timezone.now())
    slug, case = world.benchmark.slug, run.steps.first().case
    addresses = {
        world.admin: [
            "rubric-coverage/", "rubric-coverage/new/", f"rubric-coverage/{run.public_id}/", "validity/",
            f"rubric-coverage/{run.public_id}/cases/{case.public_id}/",
        ],
        world.physicians[0]: ["rubric-coverage/decide/"],
    }  # fmt: skip
    for user, paths in addresses.items():
        page = new_page(user=user)
        page.set_viewport_size({"width": width, "height": 800})
        for path in paths:
            page.goto(f"/b/{slug}/{path}")
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), path
            assert axe_violations(page) == [], path


def test_an_answer_survives_a_lost_connection(new_page: Callable[..., Page], loopback: Loopback, watch: Watch) -> None:
    watch.allow("net::ERR_INTERNET_DISCONNECTED")
    world = matching()
    run = world.run(loopback.url)
    ask_physicians(run=run, at=timezone.now())
    page = new_page(user=world.physicians[0])
    page.goto(f"/b/{world.benchmark.slug}/rubric-coverage/decide/")
    page.wait_for_load_state()
    question = page.url
    page.context.set_offline(True)
    page.keyboard.press("3")
    expect(page.locator("#question-status")).to_contain_text("Not sent: the connection was lost.")
    expect(page.locator("#question-status")).to_be_in_viewport()
    expect(page.locator("button[name=answer][value=none], button[name=answer][value=wrong]")).to_have_attribute(
        "aria-pressed", "true"
    )
    assert page.url == question and not CoverageDecision.objects.decided().exists()
    page.context.set_offline(False)
    page.wait_for_url(lambda url: url != question)
    decision = CoverageDecision.objects.decided().get()
    assert (decision.answer, decision.public_id) == (
        "none" if decision.stage == "coverage" else "wrong",
        question.rstrip("/").rpartition("/")[2],
    )


def test_who_cannot_judge_skips_with_keys(new_page: Callable[..., Page], loopback: Loopback) -> None:
    world = matching()
    ask_physicians(run=world.run(loopback.url), at=timezone.now())
    page = new_page(user=world.physicians[0])
    page.goto(f"/b/{world.benchmark.slug}/rubric-coverage/decide/")
    page.wait_for_load_state()
    question = page.url
    page.keyboard.press("x")
    dialog = page.get_by_role("dialog", name="Skip: cannot judge")
    expect(dialog).to_be_visible()
    assert axe_violations(page) == []
    dialog.locator("textarea").fill("Outside my field.")
    dialog.get_by_role("button", name="Skip").click()
    page.wait_for_url(lambda url: url != question)
    assert SkippedQuestion.objects.get().reason == "Outside my field."
    assert not CoverageDecision.objects.decided().exists()
