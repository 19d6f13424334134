"""Two windows with the attributes of one candidate: the second save is refused once, and nothing typed is lost."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from rubrics.models import CandidateAttributes
from tests.axe import axe_violations
from tests.conftest import Watch
from tests.factories import BenchmarkFactory, CandidateFactory, UserFactory
from tests.overflow import cut_off

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def test_the_second_of_two_windows_sees_what_the_first_saved(
    new_page: Callable[..., Page], transactional_db: None, watch: Watch
) -> None:
    watch.allow("status of 409")
    admin = UserFactory(name="Ada Admin")
    candidate = CandidateFactory(benchmark=BenchmarkFactory(slug="bench", admin=admin), name="orchid high")
    first, second = (new_page(admin, reduced_motion="reduce") for _ in range(2))
    for page, family in ((first, "Orchid"), (second, "Tulip")):
        page.goto(f"/b/bench/candidates/{candidate.public_id}/attributes/")
        page.get_by_label("Family").fill(family)
    first.get_by_role("button", name="Save").click()
    expect(first.get_by_text("The attributes were saved.")).to_be_visible()
    second.get_by_role("button", name="Save").click()
    notice = second.get_by_role("alert")
    expect(notice).to_contain_text("Family: Orchid")
    expect(second.get_by_label("Family")).to_have_value("Tulip")
    for theme in ("light", "dark"):
        second.emulate_media(color_scheme=theme, reduced_motion="reduce")
        for width in (390, 768, 1280):
            second.set_viewport_size({"width": width, "height": 900})
            assert cut_off(second) + axe_violations(second) == [], (theme, width)
    assert CandidateAttributes.objects.get().family == "Orchid"
    second.get_by_role("button", name="Save").click()
    expect(second.get_by_text("The attributes were saved.")).to_be_visible()
    assert CandidateAttributes.objects.get().family == "Tulip"
