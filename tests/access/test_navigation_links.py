"""Where links lead: nobody is sent to a page that answers as if it did not exist."""

from __future__ import annotations

import re

import pytest
from django.urls import NoReverseMatch, reverse

from tests.access.endpoints import ENDPOINTS
from tests.access.pages import client_of
from tests.access.world import World
from tests.chaos import FULL

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
LINK = re.compile(r'<a[^>]*href="(/[^"#?]*)')


@pytest.mark.parametrize("role", ["admin", "researcher", "author", "annotator", "checker", "adjudicator"])
def test_every_link_of_the_top_bar_leads_to_a_page(world: World, role: str) -> None:
    client = client_of(world, role)
    pages = [client.get("/", follow=True), client.get(f"/b/{world.benchmark.slug}/progress/", follow=True)]
    links = {
        link
        for page in pages
        for part in re.findall(r"<(?:nav|header)\b.*?</(?:nav|header)>", page.content.decode(), re.DOTALL)
        for link in LINK.findall(part)
    }
    assert links, role
    wrong = {link: status for link in sorted(links) if (status := client.get(link).status_code) >= 400}
    assert not wrong


# Those of the account itself, which may end the session, and files.
OTHERS = re.compile(r"^/(accounts|static|media|i18n)/|\.[^/]*$")


@pytest.mark.parametrize(
    "role", [*(["admin"] if FULL else []), "researcher", "author", "auditor", "annotator", "checker", "adjudicator"]
)
def test_every_link_of_every_page_leads_to_a_page(world: World, role: str) -> None:
    """Apart from files; an address with a query is asked for without it. Admins: at full size (``CONSILIUM_CHAOS``)."""
    client = client_of(world, role)
    pages_by_link: dict[str, str] = {}
    for name, endpoint in ENDPOINTS.items():
        if endpoint.framework or endpoint.writes_only or name.startswith("api:") or role not in endpoint.roles:
            continue
        try:
            page = client.get(reverse(name, kwargs=endpoint.arguments(world) if endpoint.arguments else None))
        except NoReverseMatch:
            continue
        if page.status_code == 200 and not page.streaming and page["Content-Type"].startswith("text/html"):
            for link in LINK.findall(page.content.decode()):
                pages_by_link.setdefault(link, name)
    assert len(pages_by_link) > 10
    listed = {link: name for link, name in sorted(pages_by_link.items()) if not OTHERS.search(link)}
    wrong = {link: (name, status) for link, name in listed.items() if (status := client.get(link).status_code) >= 400}
    assert not wrong
