"""From an empty page to a passage, in a browser: a collection is made, a file is imported, and its words are read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.axe import axe_violations
from tests.conftest import Watch
from tests.documents.library import FEVER
from tests.factories import BenchmarkFactory, UserFactory
from tests.processes import Worker

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_file_is_imported_and_read(
    new_page: Callable[..., Page], watch: Watch, celery_worker: Worker, tmp_path: Path
) -> None:
    watch.allow("status of 422")
    researcher = UserFactory()
    BenchmarkFactory(slug="bench", researcher=researcher)
    page = new_page(researcher)
    page.goto("/b/bench/documents/")
    expect(page.get_by_role("heading", name="No documents yet")).to_be_visible()
    page.locator(".empty").get_by_role("link", name="Collections").click()
    page.get_by_label("Name").fill("Guidelines")
    page.get_by_role("button", name="Create collection").click()
    page.get_by_role("link", name="Import documents").click()

    # What cannot be is refused at the form, which keeps what was written.
    file = tmp_path / "fever.txt"
    file.write_text(FEVER, encoding="utf-8")
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_label("Publisher").fill("A made-up college")
    page.get_by_label("Passages may be sent to models").check()
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_text("Enter the licence before you allow any use.", exact=True)).to_be_visible()
    expect(page.get_by_label("Publisher")).to_have_value("A made-up college")
    assert axe_violations(page) == []
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_label("Licence", exact=False).first.fill("CC0-1.0")
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.locator("#import-state .badge")).to_have_text("Done", timeout=60_000)
    page.locator("#import-state").get_by_role("link", name="Documents").click()

    page.get_by_role("link", name="fever").click()
    expect(page.get_by_text("Passages may be sent to models.")).to_be_visible()
    page.get_by_role("link", name="Passage 1").click()
    expect(page.locator(".passage .words")).to_contain_text("15 mg/kg of paracetamol")
    page.goto(f"{page.url}?start=0&end=5")
    expect(page.locator("mark")).to_have_count(1)
    assert axe_violations(page) == []
