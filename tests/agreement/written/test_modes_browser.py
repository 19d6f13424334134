"""The page of a report on writing modes in a browser: narrow and wide, light and dark."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.agreement.written.test_modes_report import computed, written_study
from tests.axe import axe_violations
from tests.overflow import cut_off


@pytest.mark.django_db(transaction=True)
def test_the_page_is_read_at_every_width(new_page: Callable[..., Any]) -> None:
    study = written_study()
    report = computed(study.benchmark, k=2)
    page = new_page(study.admin)
    for width in (390, 768, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(f"/b/{study.benchmark.slug}/scores/{report.public_id}/")
        expect(page.get_by_role("heading", name="Scores by mode", exact=True)).to_be_visible()
        assert cut_off(page) == [], width
    assert page.locator("figure.figure").count() == 4
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert axe_violations(page) == [], scheme
