"""Deciding on screened cases in a browser, by keys and for many at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from django.test import Client
from playwright.sync_api import expect

from rubrics.models import Case
from scoring.models import ScreenedCase
from tests.scoring.screening.test_screening import begin, bench

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from rubrics.models import Benchmark

__all__ = ["bench"]
pytestmark = pytest.mark.django_db(transaction=True)


def test_cases_are_decided_with_keys(new_page: Callable[..., Page], bench: Benchmark) -> None:
    admin = bench.roles.get().user
    client = Client()
    client.force_login(admin)
    place = begin(client)
    page = new_page(user=admin)
    page.goto(f"{place}?show=all")
    rows = page.locator("tr[data-row]")
    expect(rows).to_have_count(4)
    first, second = (rows.nth(n).get_attribute("id") for n in range(2))
    page.keyboard.press("k")
    expect(rows.last).to_be_focused()
    for key in ("k", "k", "k", "k"):
        page.keyboard.press(key)
    expect(rows.first).to_be_focused()
    page.keyboard.press("x")
    page.keyboard.type("j x u are letters here")
    page.keyboard.press("Escape")
    expect(rows.first).to_be_focused()
    expect(rows.first.locator("details.why")).not_to_have_attribute("open", "")
    page.keyboard.press("x")
    page.keyboard.press("Enter")
    expect(page.locator(f"#{first}")).to_have_attribute("data-decision", "exclude")
    expect(page.locator(f"#{second}")).to_be_focused()  # the next one without a decision
    page.keyboard.press("Shift+K")
    expect(page.locator(f"#{second}")).to_have_attribute("data-decision", "keep")
    page.locator(f"#{first}").focus()
    page.keyboard.press("u")
    expect(page.locator(f"#{first}")).not_to_have_attribute("data-decision", "exclude")
    assert ScreenedCase.objects.get(case__public_id=str(first).removeprefix("case-")).decision == ""
    page.locator(f"#{first}").focus()
    page.keyboard.press("Space")
    expect(page.locator(f"#{first} [form=bulk]")).to_be_checked()
    page.locator("[data-pick-all]").check()
    expect(page.locator("[form=bulk][name=case]:checked")).to_have_count(3)
    page.get_by_role("button", name="Exclude selected").click()  # a reason is asked for, and the ticks stay
    expect(page.locator("[form=bulk][name=case]:checked")).to_have_count(3)
    page.locator("#bulk [name=reason]").fill("  all of them  ")
    page.get_by_role("button", name="Exclude selected").click()
    expect(page.locator("tr[data-decision=exclude]")).to_have_count(3)
    assert set(Case.objects.exclude(exclusion="").values_list("exclusion_reason", flat=True)) == {"all of them"}


def test_the_close_dialog_counts_what_is_undecided_now(new_page: Callable[..., Page], bench: Benchmark) -> None:
    admin = bench.roles.get().user
    client = Client()
    client.force_login(admin)
    page = new_page(user=admin)
    page.goto(begin(client))
    rows, text = page.locator("tr[data-row]"), page.locator("#close-text")
    expect(rows).to_have_count(2)
    expect(text).to_contain_text("2 flagged cases are undecided")
    rows.first.locator("summary").click()
    rows.first.locator("details.why button").click()  # without a reason
    expect(page.locator("#toasts .error")).to_be_visible()
    rows.first.locator("[name=reason]").fill("Solved by all.")
    rows.first.locator("details.why button").click()
    expect(rows.first).to_have_attribute("data-decision", "exclude")
    expect(text).to_contain_text("1 flagged case is undecided")
    expect(page.locator("#toasts .error")).to_have_count(0)
    rows.first.get_by_role("button", name="Undo").click()
    expect(text).to_contain_text("2 flagged cases are undecided")
