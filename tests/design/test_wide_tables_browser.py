"""Tables that are wider than the page: a shade says that they go on, and what a row is about stays in sight."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.factories import BenchmarkFactory, CaseFactory, UserFactory

WIDEN = "table => { table.style.width = '1600px' }"
SCROLL = "table => { table.closest('.table-wrap').scrollLeft = 200 }"
ATTACHMENT = "table => getComputedStyle(table.closest('.table-wrap')).backgroundAttachment"


@pytest.mark.django_db(transaction=True)
def test_a_wide_table_says_that_it_goes_on_and_keeps_its_first_column(new_page: Callable[..., Page]) -> None:
    admin = UserFactory()
    CaseFactory(benchmark=BenchmarkFactory(slug="bench", researcher=admin), key="c-1")
    page = new_page(admin)
    page.emulate_media(reduced_motion="no-preference")
    page.set_viewport_size({"width": 768, "height": 900})
    page.goto("/b/bench/cases/")
    table, name = page.locator("table.data").first, page.locator("table.data tbody th").first
    expect(name).to_be_visible()
    table.evaluate(WIDEN)
    before: Any = name.bounding_box()
    table.evaluate(SCROLL)
    after: Any = name.bounding_box()
    assert after["x"] == before["x"]
    # Two shades lie still; what hides them where the table ends moves with it.
    assert table.evaluate(ATTACHMENT) == "local, local, scroll, scroll, scroll"
    page.set_viewport_size({"width": 390, "height": 900})
    narrow: Any = name.bounding_box()
    assert narrow["x"] < 0, "a phone has no room for a column that stays"
