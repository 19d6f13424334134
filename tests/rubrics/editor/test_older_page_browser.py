"""A page that was rendered before the last save of the page before it: it goes on from what was saved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from rubrics.models import AuthoringRole, Case, RubricDraft
from tests import factories
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def open_late(page: Page, path: str, older: Any) -> None:
    """Load the page as it was rendered for ``older``, as where its request overtook a save."""
    page.route(f"**{path}", lambda route: route.fulfill(response=older), times=1)
    page.reload()


def refuse_requests(page: Page, *, methods: tuple[str, ...] = ("POST",)) -> None:
    """From now on, no request of a script arrives that has one of ``methods``."""

    def handle(route: Route) -> None:
        request = route.request
        is_refused = request.resource_type == "fetch" and request.method in methods
        (route.abort if is_refused else route.fallback)()

    page.route("**/*", handle)


@pytest.fixture
def author() -> Any:
    return factories.UserFactory()


@pytest.fixture
def case(author: Any) -> Case:
    benchmark = factories.BenchmarkFactory(slug="b")
    AuthoringRole.objects.create(benchmark=benchmark, user=author, role="author")
    return factories.CaseFactory(benchmark=benchmark, rubric=0, reference_answer="", tags=[])


def stored_texts() -> list[str]:
    return [row["text"] for row in RubricDraft.objects.get().content["items"]]


@pytest.mark.parametrize(
    "refused",
    [("POST",), ("POST", "GET"), ()],
    ids=["something is unsaved", "something is unsaved and the server is away", "all is saved"],
)
def test_a_rubric_goes_on_from_what_was_saved(
    case: Case, author: Any, new_page: Callable[..., Page], watch: Any, refused: tuple[str, ...]
) -> None:
    watch.allow("ERR_FAILED", "status of 409")  # an older version is refused, and merged
    path = f"/b/b/write/{case.public_id}/rubric/"
    page = new_page(author)
    page.goto(path)
    expect(page.locator("#editor[data-ready]")).to_be_visible()
    older = page.request.get(page.url)
    page.keyboard.press("Enter")
    page.keyboard.insert_text("Names the dose")
    page.keyboard.press("Enter")
    page.keyboard.insert_text("Asks about allergies")
    page.keyboard.press("Control+s")
    expect(page.locator("#saved")).to_have_attribute("data-state", "saved")
    expected = ["Names the dose", "Asks about allergies"]
    if refused:
        refuse_requests(page, methods=refused)
        page.keyboard.insert_text(" to penicillin")
        expected[1] += " to penicillin"
        expect(page.locator("#saved")).to_have_attribute("data-state", "waiting")

    open_late(page, path, older)

    expect(page.locator("#editor[data-ready]")).to_be_visible()
    texts = page.locator("#items textarea[data-field=text]")
    expect(texts).to_have_count(2)
    for place, text in enumerate(expected):
        expect(texts.nth(place)).to_have_value(text)
    page.unroute("**/*")
    page.keyboard.press("Control+s")
    expect(page.locator("#saved")).to_have_attribute("data-state", "saved")
    wait_until(lambda: stored_texts() == expected, message="both criteria are stored")


def test_a_case_goes_on_from_what_was_saved(case: Case, author: Any, new_page: Callable[..., Page], watch: Any) -> None:
    watch.allow("ERR_FAILED")
    path = f"/b/b/write/{case.public_id}/"
    page = new_page(author)
    page.goto(path)
    older = page.request.get(page.url)
    answer = page.get_by_label("Reference answer")
    answer.fill("Call an ambulance.")
    wait_until(lambda: Case.objects.get().reference_answer == "Call an ambulance.", message="it saves itself")
    expect(page.locator("#case-saved")).to_contain_text("Saved")
    refuse_requests(page)
    page.get_by_label("Short name", exact=True).fill("chest-pain")
    wait_until(lambda: page.evaluate("Object.keys(localStorage).some((name) => name.startsWith('consilium.case:'))"))

    open_late(page, path, older)

    page.unroute("**/*")
    expect(page.get_by_label("Short name", exact=True)).to_have_value("chest-pain")
    expect(answer).to_have_value("Call an ambulance.")
    wait_until(lambda: Case.objects.get().key == "chest-pain", message="what was typed last is saved")
    assert Case.objects.get().reference_answer == "Call an ambulance."
