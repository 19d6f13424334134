"""Pages of runs of drafting in a browser: narrow windows, and accessibility."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.axe import axe_violations
from tests.drafting.conftest import nursery, scripted  # noqa: F401  # fixtures
from tests.drafting.drafting_world import DraftingWorld, ScriptedEndpoint
from tests.drafting.runs.test_run_pages import admin_of, recipe_of

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.django_db(transaction=True)


def test_no_page_of_a_run_is_wider_than_its_window(
    new_page: Callable[..., Page],
    nursery: DraftingWorld,  # noqa: F811
    scripted: ScriptedEndpoint,  # noqa: F811
) -> None:
    recipe_of(nursery, scripted.url)
    run = nursery.run(scripted.url)
    page = new_page(user=admin_of(nursery))
    own, case = f"{run.public_id}/", nursery.cases[0].public_id
    folder = os.environ.get("DRAFTING_SHOTS")
    for width in (390, 768, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        for path in ("", "new/", own, f"{own}cases/", f"{own}cases/{case}/"):
            page.goto(f"/b/nursery/drafting/{path}")
            page.evaluate("document.querySelectorAll('main details').forEach((part) => { part.open = true; })")
            if folder:
                name = path.replace(own, "run/").replace(case, "case").strip("/").replace("/", "-") or "list"
                page.screenshot(path=Path(folder) / f"{name}-{width}.png", full_page=True)
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), (path, width)
            if width == 390:
                assert axe_violations(page) == [], path
