"""The pages of forced choices and of both formats in a real browser: readable in both themes and at each width."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from agreement.models import Report
from agreement.services import create_report, run
from rubrics.models import Benchmark
from scoring.models import ClassificationRun
from scoring.pipelines.working import work_on_run
from tests.agreement.acuity.stored import LEVELS, import_files, sign, write_lines
from tests.factories import BenchmarkFactory, BenchmarkRoleFactory, CaseFactory
from tests.scoring.acuity.test_acuity_browser import look_at
from tests.scoring.conftest import Loopback

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def benchmark_to_ask(db: None) -> Benchmark:
    benchmark = BenchmarkFactory(slug="asked", title="Asked")
    for number in range(4):
        CaseFactory(benchmark=benchmark, key=f"case-{number}", rubric=0)
    BenchmarkRoleFactory(benchmark=benchmark, role="admin")
    return benchmark


def shot(page: Page, name: str) -> None:
    if folder := os.environ.get("LOOK"):
        page.screenshot(path=f"{folder}/{name}.png", full_page=True)


def test_from_the_form_to_the_readings(
    new_page: Callable[..., Page], benchmark_to_ask: Benchmark, loopback: Loopback
) -> None:
    page = new_page(benchmark_to_ask.roles.get().user)
    page.goto("/b/asked/case-acuity/")
    page.get_by_role("link", name="Forced choices").click()
    page.wait_for_url("**/case-acuity/runs/")
    look_at(page)
    page.get_by_role("link", name="Ask for levels").first.click()
    page.get_by_label("Candidate", exact=True).fill("a model")
    page.get_by_label("Endpoint").fill(loopback.url)
    page.get_by_label("Model", exact=True).fill("choice-logprobs")
    page.get_by_label("Ask for log probabilities").check()
    page.get_by_label("Price per million output tokens").fill("10")
    expect(page.locator("#size")).to_contain_text("Maximum cost")
    look_at(page)
    shot(page, "form")
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_role("heading", name="Forced choices of a model")).to_be_visible()
    look_at(page)
    work_on_run(ClassificationRun.objects.get().pk, clock=timezone.now)
    # The page sees the end by itself.
    expect(page.get_by_role("link", name="Reports on acuity")).to_be_visible()
    expect(page.get_by_text("20 readings have a distribution from log probabilities.")).to_be_visible()
    look_at(page)
    shot(page, "run")


def test_both_formats(new_page: Callable[..., Page], benchmark_to_ask: Benchmark, tmp_path: Path) -> None:
    lines = []
    for i in range(24):
        level = LEVELS[i % 4]
        lines.append(f"c{i:02},knows,qa,0,{level},{level}")
        lines.append(f"c{i:02},knows,chat,0,{LEVELS[max(0, i % 4 - 1)]},{level}")
        lines.append(f"c{i:02},steady,qa,0,{level if i % 5 else LEVELS[0]},{level}")
        lines.append(f"c{i:02},steady,chat,0,{level if i % 7 else LEVELS[3]},{level}")
    sign(import_files(benchmark_to_ask, write_lines(tmp_path, "both.csv", lines), dataset="both"))
    report = create_report(
        benchmark=benchmark_to_ask, kind=Report.Kind.ACUITY_FORMATS, parameters={}, at=timezone.now()
    )
    run(report_id=report.pk, clock=timezone.now)
    page = new_page(benchmark_to_ask.roles.get().user)
    page.goto(f"/b/asked/acuity/{report.public_id}/")
    expect(page.get_by_text("knows is too low in 75.0% of its advice to patients")).to_be_visible()
    expect(page.locator("#board").get_by_text("advises too low")).to_have_count(1)
    look_at(page)
    shot(page, "formats")
