"""Recipes in a browser: the preview follows what is typed, narrow windows, and accessibility."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from accounts.models import User
from drafting.models import DraftingRecipe
from tests.axe import axe_violations
from tests.drafting.recipes.conftest import Save, content

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_recipe_is_edited_beside_its_request(new_page: Callable[..., Page], admin: User, save: Save) -> None:
    row = save(content("direct"))
    page = new_page(user=admin)
    page.goto(f"/b/bench/recipes/{row.public_id}/edit/")
    preview = page.locator("#preview")
    expect(preview).to_contain_text("I have had a sore throat for three days. (a)")
    page.locator("#stage-direct summary").click()
    assert axe_violations(page) == []
    page.fill("[name=direct-system_en]", "Write as few criteria as you can.")
    expect(preview).to_contain_text("Write as few criteria as you can.")
    page.fill("[name=direct-user_en]", "{{case}}")
    expect(preview).to_contain_text("Direct, English: The placeholder {{axes}} is missing.")
    page.fill("[name=direct-user_en]", "{{case}}\n\n{{axes}}")
    expect(preview).not_to_contain_text("is missing")
    page.get_by_label("Case", exact=True).select_option(label="c")
    expect(preview).to_contain_text("孩子发烧三天了")
    page.get_by_role("button", name="Save as new version").click()
    expect(page.get_by_text("Version 2 was saved.")).to_be_visible()
    text = DraftingRecipe.objects.get(version=2).content["stages"]["direct"]["prompts"]
    assert text == {"en": {"system": "Write as few criteria as you can.", "user": "{{case}}\n\n{{axes}}"}}


def test_models_that_a_shipped_recipe_does_not_ask_are_hidden(new_page: Callable[..., Page], admin: User) -> None:
    page = new_page(user=admin)
    page.goto("/b/bench/recipes/new/")
    expect(page.get_by_label("Fast model")).to_be_visible()
    page.get_by_label("Direct", exact=False).first.check()
    expect(page.get_by_label("Fast model")).to_be_hidden()
    expect(page.get_by_label("Strong model")).to_be_visible()
    page.get_by_role("radio", name="Generic").check()
    expect(page.get_by_label("Strong model")).to_be_hidden()
    page.fill("[name=name]", "Six")
    page.get_by_role("button", name="Save recipe").click()
    expect(page.get_by_text("Six criteria for every case")).to_be_visible()
    assert axe_violations(page) == []


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_no_page_of_recipes_is_wider_than_its_window(
    new_page: Callable[..., Page], admin: User, save: Save, width: int
) -> None:
    first = save(name="A name that is as long as a name may be " * 2)
    stages = {"needs": {"prompts": {"en": {"system": "x" * 300, "user": "{{case}}"}}}}
    second = save(content(stages=stages), name=first.name, based_on=1)
    page = new_page(user=admin)
    page.set_viewport_size({"width": width, "height": 800})
    own = f"{second.public_id}/"
    for path in ("", "new/", "terms/", own, f"{own}edit/", f"{own}copy/", f"{own}difference/"):
        page.goto(f"/b/bench/recipes/{path}")
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), path
        if width == 390:
            assert axe_violations(page) == [], path
