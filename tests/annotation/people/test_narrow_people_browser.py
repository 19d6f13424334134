"""On a phone, states and actions of people and of waiting work are in sight, not to the right of the window."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.annotation.conftest import Workshop, build_workshop
from tests.annotation.dashboard.test_dashboard import busy

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
# How far each cell reaches over the right edge of the window, whether or not its table scrolls.
BEYOND = """cells => cells.filter((cell) => cell.checkVisibility())
    .map((cell) => Math.max(0, Math.round(cell.getBoundingClientRect().right - window.innerWidth)))"""


@pytest.fixture
def workshop() -> Workshop:
    workshop = build_workshop(responses=6, check_policy="all")
    busy(workshop)
    return workshop


@pytest.mark.parametrize("path", ["people/all/", "groups/GROUP/", "progress/", "people/"])
def test_states_and_actions_are_in_a_narrow_window(
    workshop: Workshop, new_page: Callable[..., Page], path: str
) -> None:
    page = new_page(user=workshop.admin, viewport={"width": 390, "height": 844})
    page.goto(f"/b/{workshop.benchmark.slug}/{path.replace('GROUP', workshop.group.public_id)}")
    if path == "progress/":
        page.locator("#waiting details").first.evaluate("details => { details.open = true; }")
    table = page.locator("#waiting table" if path == "progress/" else "main table.data").first
    expect(table).to_be_visible()
    cells = table.locator("tbody :is(th, td)")
    beyond = cells.evaluate_all(BEYOND)
    assert len(beyond) > 2
    assert set(beyond) == {0}
    assert table.locator("td.actions").count() > 0
    heads = table.locator("thead th").all_text_contents()
    shown = cells.evaluate_all("cells => cells.map((cell) => cell.dataset.head ?? '').filter(Boolean)")
    assert set(shown) <= {" ".join(head.split()) for head in heads} | {"Capacity"}
