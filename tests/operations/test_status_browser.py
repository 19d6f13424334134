"""The page of the server in a browser: it renews itself, and fits on a phone."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from consilium.core.heartbeat import WorkerHeartbeat
from tests.axe import axe_violations
from tests.factories import UserFactory
from tests.operations.server_state import be_well
from tests.overflow import cut_off

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_page_renews_itself_and_fits(new_page: Callable[..., Page]) -> None:
    be_well()
    page = new_page(UserFactory(is_superuser=True))
    page.goto("/server/")
    expect(page.get_by_text("1 worker is at work.")).to_be_visible()
    WorkerHeartbeat.objects.all().delete()
    expect(page.get_by_text("No worker has been seen.")).to_be_visible(timeout=30_000)
    expect(page.locator("#server-state")).to_have_count(1)
    for width in (390, 768, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        if folder := os.environ.get("PICTURES"):
            page.screenshot(path=Path(folder) / f"server-{width}.png", full_page=True)
        assert cut_off(page) == []
        assert axe_violations(page) == []
