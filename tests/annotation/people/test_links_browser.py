"""In the browser: invitation links are copied one by one or together, and saved as a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.factories import BenchmarkFactory, UserFactory

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
# What the page copies is kept here, whatever the browser allows.
CLIPBOARD = """
Object.defineProperty(navigator, "clipboard", {
  value: { writeText: async (text) => { window.copied = text; } },
});
"""

PEOPLE = "email,name,role,group\nana@example.org,=Ana,annotator,North\nbo@example.org,Bo,checker,North"


def test_links_are_copied_and_saved(new_page: Callable[..., Page], settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    admin = UserFactory()
    benchmark = BenchmarkFactory(admin=admin)
    page = new_page(admin)
    page.add_init_script(CLIPBOARD)
    page.goto(f"/b/{benchmark.slug}/groups/people/")
    page.locator("[name=text]").fill(PEOPLE)
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Add all 2").click()
    expect(page.get_by_role("heading", name="Copy these links now")).to_be_visible()
    links = [place.inner_text().strip() for place in page.locator("[data-link]").all()]
    assert len(set(links)) == 2
    page.get_by_role("button", name="Copy Bo").click()
    expect(page.locator(".toast", has_text="Copied")).to_be_visible()
    assert page.evaluate("window.copied") == links[1]
    page.get_by_role("button", name="Copy all links").click()
    page.wait_for_function("() => window.copied.includes('\\n')")
    assert page.evaluate("window.copied") == f"ana@example.org\t{links[0]}\nbo@example.org\t{links[1]}"
    with page.expect_download() as download:
        page.get_by_role("link", name="Download as CSV").click()
    assert download.value.suggested_filename == f"{benchmark.slug}-invitation-links.csv"
    assert Path(download.value.path()).read_text().splitlines() == [
        "name,email,role,link",
        f"'=Ana,ana@example.org,annotator,{links[0]}",
        f"Bo,bo@example.org,checker,{links[1]}",
    ]
