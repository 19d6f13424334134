"""The pages of coding by judges in a real browser: readable in both themes and at each width."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from scoring.models import CodingRun
from scoring.pipelines.working import work_on_run
from tests.annotation.codes.coding_world import CodingWorld, build_coding
from tests.factories import BenchmarkRoleFactory
from tests.scoring.acuity.test_acuity_browser import look_at
from tests.scoring.conftest import Loopback

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(transactional_db: None) -> CodingWorld:
    return build_coding(groups=0, texts={"a alpha": "Take ten tablets [wrong-dose].", "b beta": "Rest."})


def test_from_the_form_to_the_codes(new_page: Callable[..., Page], world: CodingWorld, loopback: Loopback) -> None:
    page = new_page(BenchmarkRoleFactory(benchmark=world.benchmark, role="admin").user)
    page.goto("/b/ward/coding/")
    page.get_by_role("link", name="Coding by judges").click()
    page.wait_for_url("**/coding/judges/")
    look_at(page)
    page.get_by_role("link", name="New run").first.click()
    page.get_by_label("Endpoint").fill(loopback.url)
    page.get_by_label("Model", exact=True).fill("ok")
    page.get_by_label("Name of the judge").fill("grader")
    expect(page.locator("#size")).to_contain_text("No responses match these filters.")
    page.get_by_label("Only responses that physicians have coded").uncheck()
    page.get_by_label("Price per million output tokens").fill("10")
    expect(page.locator("#size")).to_contain_text("Maximum cost")
    look_at(page)
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_role("heading", name="Coding by grader")).to_be_visible()
    look_at(page)
    work_on_run(CodingRun.objects.get().pk, clock=timezone.now)
    # The page sees the end by itself.
    expect(page.get_by_role("heading", name="Codes given")).to_be_visible()
    row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="Wrong dose"))
    expect(row.get_by_role("cell")).to_have_text("1")
    look_at(page)
