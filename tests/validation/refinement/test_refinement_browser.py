"""Pages of refinement in a browser: narrow, without findings of axe, with every change marked."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.axe import axe_violations
from tests.validation.refinement.conftest import RuleEndpoint
from tests.validation.refinement.refinement_world import GOLD, GUIDE, make_world

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_the_pages_fit(new_page: Callable[..., Page], rules: RuleEndpoint, width: int) -> None:
    world = make_world("ward", sets={"Guide": GUIDE, "Same": GOLD})
    run = world.run(rules.url, "Guide", model="rules-new-dose", self_critique=True, gold=True)
    case = world.benchmark.cases.first()
    assert case is not None
    page = new_page(user=world.admin)
    page.set_viewport_size({"width": width, "height": 900})
    for path in ("", "new/", f"{run.public_id}/", f"{run.public_id}/cases/{case.public_id}/"):
        page.goto(f"/b/ward/refinement/{path}")
        expect(page.locator("h1")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        assert axe_violations(page) == [], path
    expect(page.locator("mark", has_text="750 mg").first).to_be_visible()
    inserted = page.locator(".refined-texts ins").first
    expect(inserted).to_be_visible()
