"""The page of replications in a real browser: on a phone its rows are stacked, and in Chinese they are no higher."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from agreement.models import Replication
from agreement.replication import services
from agreement.replication.choosing import Options
from tests.agreement.replication.test_replication_page import decide_otherwise
from tests.agreement.study import Study, coin, make_study, noisy
from tests.axe import axe_violations
from tests.overflow import cut_off

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

WIDTHS = (390, 768, 1280)
FOLDER = os.environ.get("CONSILIUM_SCREENSHOTS", "")  # where pictures of the page are wanted
# The heights of the rows, and what of the table reaches beyond the window.
ROWS = """() => [...document.querySelectorAll("table.replication > tbody > tr")]
    .map(row => row.getBoundingClientRect().height)"""
OUTSIDE = """() => [...document.querySelectorAll("table.replication :is(th, td, a, p, code)")]
    .filter(element => element.getBoundingClientRect().right > document.documentElement.clientWidth)
    .map(element => element.textContent.trim())"""


@pytest.fixture
def study() -> Study:
    study = make_study(cases=11, points=(1, 1, 1))
    study.group("A", coin(1, "met", "not_met"))
    study.group("B", noisy(study, "A", 2, 0.25))
    study.judge("echo", noisy(study, "A", 3, 0.1))
    study.judge("qwen3-235b-a22b-instruct", noisy(study, "A", 4, 0.2))
    replication, _new = services.start_replication(
        benchmark=study.benchmark, paper="clinconsensus", options=Options(k=2), at=timezone.now(), by=study.admin
    )
    services.completed(replication=replication, clock=timezone.now)
    return study


def test_rows_are_stacked_on_a_phone_and_low_in_every_language(new_page: Callable[..., Any], study: Study) -> None:
    decide_otherwise(study, "A")
    address = f"/b/{study.benchmark.slug}/agreement/replication/?paper=clinconsensus"
    heights: dict[tuple[str, int], list[float]] = {}
    for language in ("en", "zh-hans"):
        study.admin.language = language
        study.admin.save()
        page: Page = new_page(study.admin)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            page.goto(address)
            assert cut_off(page) == [], (language, width)
            assert page.evaluate(OUTSIDE) == [], (language, width)
            heights[language, width] = page.evaluate(ROWS)
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                if width != 768:
                    assert axe_violations(page) == [], (language, width, scheme)
                if FOLDER:
                    page.screenshot(path=Path(FOLDER) / f"{language}-{width}-{scheme}.png", full_page=True)
    for width in WIDTHS:
        assert sum(heights["zh-hans", width]) <= 1.1 * sum(heights["en", width]), width


def test_the_check_says_which_tables_are_stale_until_they_are_made_again(
    new_page: Callable[..., Any], study: Study
) -> None:
    page: Page = new_page(study.admin)
    page.goto(f"/b/{study.benchmark.slug}/agreement/replication/?paper=clinconsensus")
    status = page.locator("#replication-freshness")
    expect(status).to_contain_text("Up to date")
    decide_otherwise(study, "A")
    page.reload()
    expect(status).to_contain_text("May be stale")
    status.get_by_role("button", name="Check if stale").click()
    expect(status.get_by_text("Stale", exact=True)).to_be_visible()
    expect(status.locator('a[href="#fidelity"]')).to_be_visible()
    page.get_by_role("button", name="Make all").click()
    page.wait_for_url("**/?paper=clinconsensus")
    services.completed(replication=Replication.objects.order_by("-pk")[0], clock=timezone.now)
    page.reload()
    expect(status).to_contain_text("Up to date")
    assert Replication.objects.order_by("-pk")[0].options["k"] == 2  # the form was filled with it
