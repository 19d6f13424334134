"""Correcting points in a browser: the page saves itself, keeps what is not sent, and two tabs ask; it fits and is
without findings of axe.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.axe import axe_violations
from tests.validation.coverage.coverage_world import case_of
from tests.validation.splitting.splitting_world import splitting_world
from tests.validation.splitting.test_points import answered_run
from tests.waiting import wait_until
from validation.models import PointsCorrection

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.conftest import Watch

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def wait_for_points(*points: tuple[int, str]) -> None:
    expected: list[Any] = [list(point) for point in points]

    def is_saved() -> bool:
        return PointsCorrection.objects.filter(points=expected).exists()

    wait_until(is_saved, message=f"{points} are saved")


def test_points_are_edited_added_moved_and_removed(new_page: Callable[..., Page], watch: Watch) -> None:
    watch.allow("ERR_INTERNET_DISCONNECTED", "status of 409")
    world = splitting_world()
    run = answered_run(world)
    url = f"/b/ward/point-splitting/{run.public_id}/points/{case_of(world, 'a').public_id}/"
    page = new_page(user=world.physicians[0])
    page.goto(url)
    first, second = page.locator("[data-criterion='1']"), page.locator("[data-criterion='2']")
    expect(first.locator("textarea")).to_have_count(3)
    expect(second.locator("[data-remove]")).to_be_disabled()  # the last one of its criterion
    first.locator("textarea").first.fill("Names the dose in mg")
    wait_for_points(
        (1, "Names the dose in mg"), (1, "names the interval."), (1, "Advises a check after a week."), (2, "Guesses.")
    )
    expect(page.locator("#saving")).to_have_text("Saved")
    second.locator("[data-add]").click()
    expect(page.locator("#saving")).to_have_text("Not saved yet: a point has no text")
    second.locator("textarea").last.fill("Guesses the dose")
    first.locator("[data-remove]").nth(1).click()
    wait_for_points(
        (1, "Names the dose in mg"), (1, "Advises a check after a week."), (2, "Guesses."), (2, "Guesses the dose")
    )
    first.locator("[data-move]").last.select_option("2")
    moved = [
        (1, "Names the dose in mg"),
        (2, "Guesses."),
        (2, "Guesses the dose"),
        (2, "Advises a check after a week."),
    ]
    wait_for_points(*moved)
    first.locator("[data-move]").select_option("2")  # the last one stays
    expect(first.locator("[data-move]")).to_have_value("1")

    expect(page.locator("#saving")).to_have_text("Saved")
    page.context.set_offline(True)
    first.locator("textarea").fill("kept in this browser")
    expect(page.locator("#saving")).to_contain_text("No connection")
    page.close(run_before_unload=False)
    page = page.context.new_page()
    page.context.set_offline(False)
    page.goto(url)
    expect(page.locator("[data-criterion='1'] textarea")).to_have_value("kept in this browser")
    wait_for_points((1, "kept in this browser"), *moved[1:])
    expect(page.locator("#saving")).to_have_text("Saved")

    other = page.context.new_page()
    other.goto(url)
    other.locator("textarea").first.fill("of the other tab")
    wait_for_points((1, "of the other tab"), *moved[1:])
    page.locator("textarea").first.fill("of this tab")
    page.locator("[data-take-saved]").click()
    expect(page.locator("textarea").first).to_have_value("of the other tab")


@pytest.mark.parametrize("width", [390, 1280])
def test_the_pages_fit(new_page: Callable[..., Page], width: int) -> None:
    world = splitting_world()
    run = answered_run(world)
    page = new_page(user=world.admin)
    page.set_viewport_size({"width": width, "height": 900})
    for path in ("", "new/", f"{run.public_id}/", f"{run.public_id}/points/",
                 f"{run.public_id}/points/{case_of(world, 'b').public_id}/"):  # fmt: skip
        page.goto(f"/b/ward/point-splitting/{path}")
        expect(page.locator("h1")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        assert axe_violations(page) == [], path
