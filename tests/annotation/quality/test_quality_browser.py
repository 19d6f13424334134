"""The figures of a physician in a browser: nothing of them is cut off at any width."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from annotation import services
from tests.annotation.quality.test_quality import Scene

WHY = "No interval: decisions on one case belong together, so cases are counted, and there are too few."


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_reason_for_no_interval_is_given_once_below_the_table(new_page: Callable[..., Any]) -> None:
    """Twelve responses to two cases: figures, but too few cases for intervals."""
    scene = Scene(responses=12, in_case=6)
    scene.grade_and_check()
    services.close_batch(batch=scene.batch, at=timezone.now())
    page = new_page(scene.annotator)
    page.goto("/work/quality/")
    expect(page.get_by_text(WHY)).to_have_count(1)
    box = page.get_by_role("region", name="Figures")
    assert box.get_by_text("no interval", exact=True).count() >= 3
    for width in (1920, 1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert box.evaluate("box => box.scrollWidth - box.clientWidth") <= 0, width
        label = box.locator("tbody th").first
        assert label.evaluate("cell => cell.clientWidth / cell.parentElement.clientWidth") > 0.45, width
