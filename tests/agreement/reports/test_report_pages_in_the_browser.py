"""Reports in a real browser: asked for, computed by a real worker, read and downloaded; light and dark."""

from __future__ import annotations

import csv
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, Route, expect
from sklearn.metrics import f1_score

from agreement import services, tasks
from agreement.models import Report
from tests.agreement.study import coin, make_study, noisy
from tests.axe import axe_violations
from tests.conftest import Watch
from tests.waiting import wait_until

CODES = {"not_met": 0, "met": 1}


@pytest.mark.django_db(transaction=True)
def test_a_researcher_compares_two_groups_and_downloads_the_figures(
    new_page: Callable[..., Any], celery_worker: Any, tmp_path: Path
) -> None:
    study = make_study(cases=10, points=(1, 1, 1))
    study.group("A", coin(1, "met", "not_met"))
    study.group("B", noisy(study, "A", 2, 0.2))
    page = new_page(study.admin, reduced_motion="reduce")  # colours change at once when the scheme does
    page.goto(f"/b/{study.benchmark.slug}/agreement/")
    assert axe_violations(page) == []
    # The form begins with the two groups: one key is enough.
    page.get_by_role("button", name="Compute").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("dl.tiles")
    pairs = study.outcomes["A"]
    expected = f1_score(
        [CODES[study.outcomes["A"][pair]] for pair in pairs],
        [CODES[study.outcomes["B"][pair]] for pair in pairs],
        average="macro",
    )
    assert page.locator("dl.tiles dd").first.inner_text().startswith(f"{expected:.3f}")
    with page.expect_download() as download:
        page.get_by_role("link", name="agreement.csv").click()
    file = tmp_path / "agreement.csv"
    download.value.save_as(file)
    with file.open(encoding="utf-8", newline="") as lines:
        row = next(csv.DictReader(lines))
    assert row["slice"] == "all"
    assert float(row["mf1"]) == pytest.approx(expected, abs=1e-12)

    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert axe_violations(page) == [], scheme
    colours = page.evaluate(
        """() => ["light", "dark"].map(theme => {
            document.documentElement.dataset.theme = theme;
            return getComputedStyle(document.querySelector("svg.figure-svg a path")).fill;
        })"""
    )
    assert len(set(colours)) == 2
    page.set_viewport_size({"width": 768, "height": 1000})
    assert page.evaluate("document.documentElement.scrollWidth") <= 768
    # On a phone the letters of a figure keep their size; its region scrolls, and the page does not.
    page.set_viewport_size({"width": 390, "height": 800})
    scales = page.locator("svg.figure-svg").evaluate_all(
        "all => all.map(svg => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width)"
    )
    assert scales and min(scales) > 0.9
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    region = page.locator("figure.figure .chart").first
    assert region.evaluate("own => own.scrollWidth > own.clientWidth && own.tabIndex === 0")
    assert region.get_attribute("aria-label")
    # Shades at both sides, as of a table, say that there is more.
    assert region.evaluate("own => getComputedStyle(own).backgroundImage").count("linear-gradient") == 4
    page.set_viewport_size({"width": 768, "height": 1000})

    # A mark of the figure leads to the decisions behind it.
    page.locator("svg.figure-svg a").first.click()
    page.wait_for_url("**/decisions/?slice=candidate**")
    assert axe_violations(page) == []
    page.get_by_role("link", name="Disagree").click()
    differ = sum(
        study.outcomes["A"][pair] != study.outcomes["B"][pair]
        for pair in pairs
        if pair[0] in {response.pk for response in study.responses() if response.candidate.name == "alpha"}
    )
    expect(page.locator("table.data tbody tr")).to_have_count(differ)


@pytest.mark.django_db(transaction=True)
def test_nothing_moves_while_it_is_checked_whether_a_report_is_stale(
    new_page: Callable[..., Page], watch: Watch
) -> None:
    watch.allow("status of 500", "Status Error Code 500")
    study = make_study(cases=2)
    study.group("A", coin(1, "met", "not_met"))
    study.group("B", coin(2, "met", "not_met"))
    raters = {"rater_a": "group:A", "rater_b": "group:B"}
    report = services.create_report(benchmark=study.benchmark, kind="agreement", parameters=raters, at=timezone.now())
    services.run(report_id=report.pk, clock=timezone.now)
    page = new_page(study.admin)
    held: list[Route] = []
    page.route("**/freshness", lambda route: held.append(route))
    with page.expect_request("**/freshness"):
        page.goto(f"/b/{study.benchmark.slug}/agreement/{report.public_id}/")
    line = page.get_by_text("Checking whether the data used have changed…")
    expect(line).to_be_visible()
    place = page.locator("#report-freshness + *").bounding_box()
    held[0].continue_()
    expect(page.get_by_text("Up to date:")).to_be_visible()
    assert page.locator("#report-freshness + *").bounding_box() == place
    # After a failure nothing is checked, and nobody is told that something is.
    with page.expect_request("**/freshness"):
        page.reload()
    expect(line).to_be_visible()
    held[1].fulfill(status=500, body="")
    expect(line).to_be_hidden()
    assert page.locator("#report-freshness + *").bounding_box() == place


@pytest.mark.django_db(transaction=True)
def test_the_sweep_finds_a_report_whose_task_was_lost(celery_worker: Any) -> None:
    study = make_study(cases=1)
    study.group("A", coin(1, "met"))
    study.group("B", coin(2, "met", "not_met"))
    report = Report.objects.create(
        benchmark=study.benchmark,
        kind="agreement",
        parameters={"rater_a": "group:A", "rater_b": "group:B"},
        created_at=timezone.now() - timedelta(minutes=1),
    )
    tasks.sweep_reports()
    wait_until(lambda: Report.objects.get(pk=report.pk).status == "done", within_s=60)
