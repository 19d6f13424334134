"""The top bar shows what the reader's roles open, and marks where they are."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import HttpResponse
from django.test import RequestFactory
from django.urls import path

from config.urls import urlpatterns as project_urlpatterns
from consilium.core import navigation


def _page(request, slug):  # type: ignore[no-untyped-def]
    return HttpResponse()


urlpatterns = [
    path("b/<slug>/", _page, name="nav-overview"),
    path("b/<slug>/cases", _page, name="nav-cases"),
    path("b/<slug>/work/", _page, name="nav-work"),
    *project_urlpatterns,
]

pytestmark = pytest.mark.urls(__name__)
BENCHMARK = SimpleNamespace(slug="pilot", title="Pilot")
PERSON = SimpleNamespace(is_authenticated=True)


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(navigation, "_items", {})
    monkeypatch.setattr(navigation, "_role_sources", [])
    monkeypatch.setattr(navigation, "_home_sources", [])
    navigation.register(label="Cases", view="nav-cases", roles={"admin", "researcher"}, order=20)
    navigation.register(label="Overview", view="nav-overview", roles={"admin"}, order=10)
    navigation.register(label="My work", view="nav-work", roles={"annotator"}, order=110)
    navigation.register(label="Not built", view="nav-missing", roles={"admin"}, order=30)


def links(address: str, *roles: str, person: object = PERSON) -> list[tuple[str, bool]]:
    navigation._role_sources[:] = [lambda user, benchmark: roles]
    request = RequestFactory().get(address)
    request.user = person  # type: ignore[assignment]
    return [(str(link.label), link.active) for link in navigation.links(request, BENCHMARK)]


def test_links_follow_the_roles_in_their_order() -> None:
    assert links("/b/pilot/", "admin") == [("Overview", True), ("Cases", False)]
    assert links("/b/pilot/cases", "researcher") == [("Cases", True)]
    assert links("/b/pilot/work/", "annotator") == [("My work", True)]
    assert links("/b/pilot/", "stranger") == []


def test_a_page_below_a_section_marks_the_section_not_the_overview() -> None:
    assert links("/b/pilot/cases/abc", "admin") == [("Overview", False), ("Cases", True)]
    assert links("/b/pilot/casesque", "admin") == [("Overview", True), ("Cases", False)]


def test_pages_of_a_section_are_listed_below_the_menu_while_one_of_them_is_open() -> None:
    def page(name: str, section: str, *, active: bool = False, count: int = 0) -> navigation.Link:
        return navigation.Link(label=name, url=f"/{name}/", active=active, count=count, section=section)

    elsewhere = [page("over", "", active=True), page("cases", "content", count=2), page("imports", "content", count=1)]
    bar, below = navigation.in_sections(elsewhere)
    assert [(str(link.label), link.url, link.active, link.count) for link in bar] == [
        ("over", "/over/", True, 0), ("Content", "/cases/", False, 3),
    ]  # fmt: skip
    assert below == []
    inside = [
        page("over", ""),
        page("cases", "content"),
        page("imports", "content", active=True),
        page("judges", "results"),
    ]
    bar, below = navigation.in_sections(inside)
    assert [(str(link.label), link.active) for link in bar] == [("over", False), ("Content", True), ("judges", False)]
    assert [link.label for link in below] == ["cases", "imports"]


def test_nobody_signed_in_sees_no_links() -> None:
    assert links("/b/pilot/", "admin", person=AnonymousUser()) == []


def test_home_cards_of_one_benchmark_become_one_and_open_work_comes_first() -> None:
    card = navigation.HomeCard
    navigation.register_home_card(
        lambda user: [card("b", "Beta", url="/b/"), card("a", "Alpha", url="/a/", role="Admin")]
    )
    navigation.register_home_card(
        lambda user: [card("b", "Beta", role="Annotator", done=3, total=9, action=("Grade", "/b/next"))]
    )
    first, second = navigation.home_cards(PERSON)  # type: ignore[arg-type]
    assert (first.key, first.url, first.role, first.done, first.total, first.action) == (
        "b", "/b/", "Annotator", 3, 9, ("Grade", "/b/next"),
    )  # fmt: skip
    assert (second.key, second.role) == ("a", "Admin")
