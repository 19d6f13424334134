"""Where the top bar leads: nobody is sent to a page that answers as if it did not exist."""

from __future__ import annotations

import re

import pytest

from tests.access.pages import client_of
from tests.access.world import World

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
