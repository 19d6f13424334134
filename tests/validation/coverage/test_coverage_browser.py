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
from validation.models import CoverageDecision

if TYPE_CHECKING:
    from playwright.sync_api import Page

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
