"""The scoreboard fits a window of 1280 pixels, with intervals and with the notes below its figures."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from agreement import services
from tests.agreement.study import make_study

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def test_all_columns_of_the_scoreboard_are_in_a_window_of_1280_pixels(new_page: Callable[..., Page]) -> None:
    study = make_study(cases=12, points=(5, 3, -4), candidates=("candidate-model-1", "candidate-model-2"))
    study.group("A", lambda pair: "met" if (pair[0] + pair[1]) % 3 else "not_met")
    report = services.create_report(
        benchmark=study.benchmark, kind="scores", parameters={"rater": "group:A", "k": 25}, at=timezone.now()
    )
    services.run(report_id=report.pk, clock=timezone.now)
    page = new_page(user=study.admin, viewport={"width": 1280, "height": 900})
    page.goto(f"/b/{study.benchmark.slug}/scores/{report.public_id}/")
    table = page.locator("table.scoreboard")
    expect(table.locator("tbody tr")).to_have_count(2)
    expect(table.get_by_text("excluded: 12 responses with fewer than 25 positive criteria")).to_have_count(2)
    assert table.evaluate("table => table.scrollWidth - table.closest('.table-wrap').clientWidth") <= 0
