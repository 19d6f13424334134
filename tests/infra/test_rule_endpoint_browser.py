"""The page about the endpoint that follows rules, as people see it: in every width, scheme and language."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.axe import axe_violations

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.mark.parametrize(("locale", "heading"), [("en-GB", "What is this?"), ("zh-CN", "这是什么？")])
def test_nothing_is_cut_and_axe_has_nothing_to_say(new_page: Callable[..., Page], locale: str, heading: str) -> None:
    for scheme in ("light", "dark"):
        page = new_page(locale=locale, color_scheme=scheme)
        for width in (390, 768, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            page.goto("/rules/")
            expect(page.get_by_role("heading", level=1)).to_have_text(heading)
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, (locale, scheme, width)
        assert axe_violations(page) == []
