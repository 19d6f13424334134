"""A person makes an API token in a browser: with the password, copied by a button, and revoked."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.services import api_tokens
from tests.accounts.test_passkeys_browser import let_time_pass
from tests.axe import axe_violations
from tests.factories import PASSWORD, BenchmarkFactory, UserFactory
from tests.overflow import cut_off

pytestmark = pytest.mark.django_db(transaction=True)
CLIPBOARD = """
window.copied = [];
Object.defineProperty(navigator, "clipboard", {
  value: { writeText: (text) => { window.copied.push(text); return Promise.resolve(); } },
});
"""


def look(page: Page, name: str) -> None:
    """Keep a picture, where somebody wants one."""
    if folder := os.environ.get("PICTURES"):
        page.screenshot(path=f"{folder}/{name}.png", full_page=True)


@pytest.mark.parametrize("width", [390, 768, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_token_is_made_copied_and_revoked(new_page: Callable[..., Page], watch: Any, width: int, scheme: Any) -> None:
    watch.allow("status of 403")  # the page that asks for the password
    person = UserFactory()
    BenchmarkFactory(slug="study", title="Neurology 2026", researcher=person)
    page = new_page(person, viewport={"width": width, "height": 800}, color_scheme=scheme)
    page.add_init_script(CLIPBOARD)
    page.goto("/profile/api-tokens/")
    expect(page.get_by_role("heading", name="No tokens yet")).to_be_visible()
    look(page, f"empty-{width}-{scheme}")
    page.get_by_label("Name", exact=True).fill("Notebook on my laptop")
    page.get_by_label("Import and run:").check()
    page.get_by_label("Benchmark", exact=True).select_option("Neurology 2026")
    page.get_by_label("Expires", exact=True).select_option("in 30 days")
    let_time_pass()
    page.get_by_role("button", name="Create token").click()
    page.get_by_role("textbox", name="Password").fill(PASSWORD)
    page.get_by_role("textbox", name="Password").press("Enter")

    page.get_by_role("button", name="Copy the token").click()
    [key] = page.evaluate("window.copied")
    assert page.locator("[data-link]").inner_text() == key
    answer = Client(headers={"Authorization": f"Bearer {key}"}).get("/api/v1/benchmarks/study/")
    assert answer.status_code == 200
    token = person.api_tokens.get()
    assert (token.name, token.scopes, token.benchmark) == ("Notebook on my laptop", ["read", "run"], "study")
    assert token.expires_at - token.created_at == timedelta(days=30)

    old = timezone.now() - timedelta(days=100)
    for scopes in (["grade"], ["read", "grade", "run", "admin"]):
        api_tokens.make_token(
            user=person, name="Of last spring", scopes=scopes, by=person, at=old, expires_at=old + timedelta(days=90)
        )
    look(page, f"made-{width}-{scheme}")
    page.goto("/profile/api-tokens/")
    look(page, f"list-{width}-{scheme}")
    assert cut_off(page) == []
    assert axe_violations(page) == []
    page.get_by_role("button", name="Revoke: Notebook on my laptop").click()
    expect(page.get_by_text("The token “Notebook on my laptop” was revoked.")).to_be_visible()
    expect(page.get_by_text("1 revoked token")).to_be_visible()
    look(page, f"revoked-{width}-{scheme}")
