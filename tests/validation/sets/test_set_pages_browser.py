"""The form of a rubric set in a browser: its preview is in sight."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from rubrics.models import Benchmark
from tests.factories import UserFactory


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_cases_included_are_in_sight_beside_the_form(new_page: Callable[..., Any], benchmark: Benchmark) -> None:
    user = UserFactory()
    benchmark.roles.create(user=user, role="researcher")
    page = new_page(user)
    page.goto("/b/bench/rubric-sets/new/")
    box = page.get_by_role("region", name="Cases included")
    expect(box.get_by_role("columnheader", name="Combined with those above")).to_be_visible()
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert box.evaluate("box => box.scrollWidth - box.clientWidth") <= 0, width
