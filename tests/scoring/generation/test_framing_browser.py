"""From a text with `{{case}}` over its preview into a run, in a real browser, in both themes and at all widths."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from rubrics.models import Benchmark, Framing, Response
from scoring.models import GenerationRun
from scoring.pipelines.working import work_on_run
from tests.conftest import Watch
from tests.factories import BenchmarkFactory, BenchmarkRoleFactory, CaseFactory
from tests.scoring.acuity.test_acuity_browser import look_at
from tests.scoring.conftest import Loopback

pytestmark = pytest.mark.django_db(transaction=True)

WORD = "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen" * 3  # cut nowhere, and wider than a telephone


@pytest.fixture
def vignettes(db: None) -> Benchmark:
    benchmark = BenchmarkFactory(slug="framed", title="Framed")
    for key, text in (("v-1", "A man of 60 has chest pain."), ("v-2", f"A girl of 9 coughs. {WORD}")):
        CaseFactory(benchmark=benchmark, key=key, rubric=0, conversation=[{"role": "user", "content": text}])
    BenchmarkRoleFactory(benchmark=benchmark, role="admin")
    return benchmark


def shot(page: Page, name: str) -> None:
    if folder := os.environ.get("LOOK"):
        page.screenshot(path=f"{folder}/{name}.png", full_page=True)


def test_from_the_text_to_the_responses(
    new_page: Callable[..., Page], vignettes: Benchmark, loopback: Loopback, watch: Watch
) -> None:
    watch.allow("status of 422")
    page = new_page(vignettes.roles.get().user)
    page.goto("/b/framed/case-acuity/")
    page.get_by_role("link", name="Framings").click()
    expect(page.locator(".framing-message")).to_contain_text("This is the situation: A man of 60 has chest pain.")
    shot(page, "framings-empty")
    look_at(page)
    page.get_by_label("Text").fill("Please help.")
    page.get_by_role("button", name="Save as new version").click()
    expect(page.get_by_text("This text contains it 0 times.")).to_be_visible()
    look_at(page)
    page.get_by_label("Text").fill("Please help.\n\n{{case}}\n\nWhat now?")
    # Enter in the field of the case shows the preview, and saves nothing.
    page.get_by_label("Case for the preview").fill("v-2")
    page.get_by_label("Case for the preview").press("Enter")
    expect(page.locator(".framing-message")).to_contain_text("Please help. A girl of 9 coughs.")
    assert not Framing.objects.exists()
    look_at(page)
    shot(page, "framings-preview")
    page.get_by_role("button", name="Save as new version").click()
    expect(page.get_by_text("Version 1 of the framing has been saved.")).to_be_visible()
    look_at(page)
    shot(page, "framings-saved")

    page.goto("/b/framed/generation/new/")
    page.get_by_label("Candidate", exact=True).fill("a model")
    page.get_by_label("Endpoint").fill(loopback.url)
    page.get_by_label("Model", exact=True).fill("prose")
    page.get_by_label("Framing").select_option("1")
    expect(page.locator("#size")).to_contain_text("Cases with a framing: 2.")
    look_at(page)
    shot(page, "framed-form")
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_role("heading", name="Responses of a model")).to_be_visible()
    work_on_run(GenerationRun.objects.get().pk, clock=timezone.now)
    expect(page.get_by_role("link", name="Responses", exact=True).last).to_be_visible()
    page.reload()
    page.get_by_text("version 1, for bare descriptions").click()
    expect(page.locator(".trial-answer").first).to_contain_text("What now?")
    look_at(page)
    shot(page, "framed-run")
    assert Response.objects.count() == 2
