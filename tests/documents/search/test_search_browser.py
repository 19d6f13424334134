"""Searching while typing, in a browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.axe import axe_violations
from tests.documents.search.corpus import add_document, build, make_collection
from tests.factories import BenchmarkFactory, UserFactory

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.django_db(transaction=True)

PAYLOAD = 'A dose <img src="x" onerror="alert(1)"> of <button hx-get="/" hx-trigger="load">15 mg/kg</button>.'


def test_passages_appear_while_somebody_types(new_page: Callable[..., Page]) -> None:
    """The list follows the words and the filters, its address can be shared, and its texts stay text."""
    user = UserFactory()
    collection = make_collection(BenchmarkFactory(slug="bench", researcher=user))
    add_document(collection, "fever", ["Seek help if the child is drowsy.", PAYLOAD], language="en")
    add_document(collection, "zh", ["儿童嗜睡时应就医。"], language="zh-Hans")
    build(collection)
    page = new_page(user)
    page.goto("/b/bench/documents/search/")
    expect(page.get_by_role("heading", name="What are you looking for?")).to_be_visible()
    page.get_by_label("Search terms").press_sequentially("drowsy 嗜睡")
    expect(page.locator("#found mark")).to_have_text(["drowsy", "嗜睡"])
    expect(page.get_by_label("Search terms")).to_be_focused()
    page.locator("#id_language").select_option("zh")
    expect(page.locator("#found mark")).to_have_text(["嗜睡"])
    page.reload()
    expect(page.locator("#found mark")).to_have_text(["嗜睡"])
    page.locator("#id_language").select_option("")
    page.get_by_label("Search terms").fill("15mg/kg")
    expect(page.locator("#found .words")).to_have_text([PAYLOAD])
    expect(page.locator("#found .words img, #found .words button")).to_have_count(0)
    assert axe_violations(page) == []
    page.get_by_label("Search terms").fill("xyzzy")
    expect(page.get_by_role("heading", name="No matching passages")).to_be_visible()
    assert axe_violations(page) == []
