"""The pages about acuity in a real browser: from the form to the result, readable in both themes and at each width."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from rubrics.models import Benchmark, ImportJob
from scoring.models import AcuityReading
from tests.axe import axe_violations
from tests.scoring.acuity.acuity_files import jsonl, result, work, write

pytestmark = pytest.mark.django_db(transaction=True)
WIDTHS = (390, 768, 1280)


def look_at(page: Page) -> None:
    """No rule of accessibility is broken, and nothing is wider than the window."""
    for details in page.locator("main details").all():
        details.evaluate("element => element.setAttribute('open', '')")
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        assert axe_violations(page) == []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page_width = page.evaluate("document.documentElement.scrollWidth")
        assert page_width <= width, f"{page.url} at {width}"


def work_on_newest() -> None:
    work(ImportJob.objects.order_by("pk").last())


def test_from_the_form_to_the_readings(new_page: Callable[..., Page], benchmark: Benchmark, tmp_path: Path) -> None:
    page = new_page(benchmark.roles.get().user)
    page.goto("/b/bench/case-acuity/")
    look_at(page)
    page.get_by_role("link", name="Import", exact=True).first.click()
    expect(page.get_by_role("heading", name="Import labels and readings")).to_be_visible()
    look_at(page)
    answers = ("em", "I cannot help with that.", "", "a longish answer that names no level at all, " * 4)
    rows = [result(n, ("em", "ne", "sc", "soon")[n % 4], answers[n % 4], correct=True, other=1) for n in range(8)]
    path = write(tmp_path, "a model with a long name.jsonl", jsonl(*rows))
    page.get_by_label("File", exact=False).first.set_input_files(path)
    page.get_by_label("Dataset").fill("portal-2025")
    page.get_by_label("Scale").select_option("three")
    page.get_by_label("Label scheme").select_option("em-ne-sc")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#import-state")).to_be_visible()
    work_on_newest()
    expect(page.get_by_role("heading", name="Preview: nothing has been saved yet")).to_be_visible()
    look_at(page)

    # “soon” has no rule yet: it gets one, and the file is still chosen.
    page.get_by_role("link", name="Add the missing rules").click()
    expect(page.get_by_label("Source label").first).to_have_value("soon")
    look_at(page)
    page.get_by_role("button", name="Add a rule").click()
    expect(page.get_by_label("Source label")).to_have_count(8)
    page.get_by_role("button", name="Remove rule 8").click()
    expect(page.get_by_label("Source label")).to_have_count(7)
    page.get_by_label("Maps to").first.select_option("between-1")
    page.get_by_role("button", name="Save scheme").click()
    expect(page.get_by_label("Dataset")).to_have_value("portal-2025")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#import-state")).to_be_visible()
    work_on_newest()
    expect(page.get_by_text("between non-emergency|emergency")).to_be_visible()
    look_at(page)
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_role("heading", name="Preview: nothing has been saved yet")).to_have_count(0)
    work_on_newest()
    expect(page.get_by_text("Missing readings")).to_be_visible()
    look_at(page)
    page.get_by_role("link", name="Acuity data", exact=True).last.click()
    expect(page.get_by_role("heading", name="Readings of candidates")).to_be_visible()
    look_at(page)
    assert AcuityReading.objects.count() == 8


def test_scales_are_read_and_made(new_page: Callable[..., Page], benchmark: Benchmark) -> None:
    page = new_page(benchmark.roles.get().user)
    page.goto("/b/bench/case-acuity/scales/new/?from=five")
    look_at(page)
    page.get_by_label("Name").fill("ours")
    page.get_by_role("button", name="Remove level 1").click()
    expect(page.get_by_label("Value")).to_have_count(4)
    page.get_by_label("Label, English").first.fill("Later")
    page.get_by_role("button", name="Update preview").click()
    expect(page.locator(".acuity-level").first).to_contain_text("Later")
    # The letter and one to four bars tell levels apart without colour.
    widths = [bars.bounding_box()["width"] for bars in page.locator(".acuity-level .bars").all()]  # type: ignore[index]
    assert widths == sorted(widths)
    assert len(set(widths)) == 4
    page.get_by_role("button", name="Save scale").click()
    expect(page.get_by_role("heading", name="ours")).to_be_visible()
    look_at(page)
