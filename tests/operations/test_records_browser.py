"""On a phone, the lines of the records are in the window, each with what its parts are."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.models import SecurityEvent
from tests.annotation.conftest import build_workshop
from tests.annotation.people.test_narrow_people_browser import BEYOND

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
CHROME = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/142.0.0.0 Safari/537.36"


def test_records_are_in_a_narrow_window(new_page: Callable[..., Page]) -> None:
    workshop = build_workshop()
    admin, slug = workshop.admin, workshop.benchmark.slug
    admin.is_superuser = True
    admin.save()
    for kind, scope in (("signed_in", ""), ("invited", slug), ("sign_in_failed", "")):
        SecurityEvent.objects.create(
            kind=kind, at=timezone.now(), user=admin, by=admin, scope=scope, address="2001:db8:85a3::8a2e:370:7334",
            browser=CHROME, values={"method": "password", "step": "password", "part": "admin", "way": "mail"},
        )  # fmt: skip
    page = new_page(user=admin, viewport={"width": 390, "height": 844})
    for address in (
        "/server/security-log/",
        f"/b/{slug}/records/",
        f"/b/{slug}/records/changes/",
        "/profile/activity/",
    ):
        page.goto(address)
        cells = page.locator("main table.data tbody :is(th, td)")
        expect(cells.first).to_be_visible()
        assert set(cells.evaluate_all(BEYOND)) == {0}, address
