"""Applications in a real browser: erased in three steps, and nothing is cut off in any width or theme."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from django.test import Client
from playwright.sync_api import Page, expect

from annotation.cohort import services
from annotation.models import Application
from tests.annotation.cohort.test_applications import applicant, step
from tests.annotation.conftest import Workshop, build_workshop
from tests.axe import axe_violations
from tests.conftest import Watch
from tests.overflow import cut_off

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
NewPage = Callable[..., Page]


@pytest.fixture
def workshop(transactional_db: None) -> Workshop:
    return build_workshop()


@pytest.fixture
def twice(workshop: Workshop) -> tuple[Application, Application]:
    """Two applications with one address, the first of which was declined."""
    call = services.set_call(benchmark=workshop.benchmark, values={"is_open": True, "licence_required": True})
    rows = applicant(call, name="Ada Impostor"), applicant(call)
    client = Client()
    client.force_login(workshop.admin)
    step(client, rows[0], "decline", reason="Somebody else wrote this.")
    return rows


def looks(page: Page) -> Iterator[tuple[str, int, list[str]]]:
    """What is cut off or a violation, in each theme and width."""
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        for width in (390, 768, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            yield theme, width, cut_off(page) + axe_violations(page)


def test_an_admin_sees_both_and_erases_one(
    new_page: NewPage, workshop: Workshop, twice: tuple[Application, Application]
) -> None:
    impostor, genuine = twice
    base = f"/b/{workshop.benchmark.slug}/cohort/"
    page = new_page(workshop.admin, reduced_motion="reduce")
    page.goto(base)
    expect(page.get_by_text("Same address")).to_have_count(2)
    assert [look for look in looks(page) if look[2]] == []
    page.get_by_role("link", name=genuine.name).click()
    notice = page.locator(".notice", has_text="1 other application has this address")
    assert [look for look in looks(page) if look[2]] == []
    notice.get_by_role("link", name=impostor.name).click()
    page.get_by_role("link", name="Erase personal data").click()
    warning = page.locator(".notice", has_text="1 other application has this address, and is not erased")
    expect(warning.get_by_role("link", name=genuine.name)).to_be_visible()
    assert [look for look in looks(page) if look[2]] == []
    page.get_by_role("button", name="Erase for good").click()
    expect(page.get_by_text("1 other application had the same address, and was not erased: this one.")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_text(genuine.name)
    page.goto(f"{base}applications/{impostor.public_id}/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Erased")
    expect(page.locator(".notice", has_text="erased the personal data of this application")).to_be_visible()
    expect(page.get_by_text("Somebody else wrote this.")).to_have_count(0)
    assert [look for look in looks(page) if look[2]] == []
    page.goto(base)
    expect(page.get_by_text("Same address")).to_have_count(0)
    assert [look for look in looks(page) if look[2]] == []


def test_a_visit_to_the_address_of_an_upload_leads_back(new_page: NewPage, workshop: Workshop, watch: Watch) -> None:
    watch.allow("status of 405")
    page = new_page(workshop.admin, reduced_motion="reduce")
    page.goto(f"/b/{workshop.benchmark.slug}/cohort/")
    page.goto(f"/b/{workshop.benchmark.slug}/cohort/import/", referer=page.url)
    expect(page.get_by_role("heading", level=1)).to_have_text("This address shows no page")
    assert [look for look in looks(page) if look[2]] == []
    page.get_by_role("link", name="Back", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Cohort")
