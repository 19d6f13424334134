"""The search field above the list of cases shows all of its hint."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.factories import BenchmarkFactory, CaseFactory, UserFactory

# How much wider the placeholder is than its field, in pixels.
CUT = """field => {
    const style = getComputedStyle(field), pen = document.createElement("canvas").getContext("2d");
    pen.font = style.font;
    const room = field.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    return Math.max(0, pen.measureText(field.placeholder).width - room);
}"""


@pytest.mark.django_db(transaction=True)
def test_the_hint_of_the_search_for_cases_is_not_cut(new_page: Callable[..., Page]) -> None:
    admin = UserFactory()
    CaseFactory(benchmark=BenchmarkFactory(slug="bench", researcher=admin), key="c-1")
    page = new_page(admin)
    for width in (390, 768, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto("/b/bench/cases/")
        field = page.get_by_role("searchbox")
        expect(field).to_be_visible()
        assert field.evaluate(CUT) == 0, width
