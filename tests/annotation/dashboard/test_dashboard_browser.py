"""Choosing pieces of work on a batch's page, and the dialog that shows what would move."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.annotation.conftest import build_workshop
from tests.annotation.dashboard.test_dashboard import busy

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.django_db(transaction=True)


def test_ticked_pieces_are_counted_and_shown_before_they_move(new_page: Callable[..., Page]) -> None:
    workshop = build_workshop(responses=6, check_policy="all")
    busy(workshop)
    page = new_page(user=workshop.admin)
    page.goto(f"/b/{workshop.benchmark.slug}/batches/{workshop.batch.public_id}/")
    boxes, bar = page.locator("input[name=piece]"), page.locator("#pick-bar")
    number = boxes.count()
    assert number > 2
    expect(bar.locator("[data-chosen]")).to_have_text("0 assignments selected")
    expect(bar.locator("button")).to_be_disabled()
    boxes.first.check()
    expect(bar.locator("[data-chosen]")).to_have_text("1 assignment selected")
    every = page.locator("#pick-all")
    assert every.evaluate("(box) => [box.checked, box.indeterminate]") == [False, True]
    every.check()
    expect(bar.locator("[data-chosen]")).to_have_text(f"{number} assignments selected")
    assert every.evaluate("(box) => [box.checked, box.indeterminate]") == [True, False]
    bar.locator("button").click()
    expect(page.locator("#handover-dialog")).to_be_visible()
    expect(page.locator("#handover-dialog")).to_contain_text(f"Hand over {number} assignments")
