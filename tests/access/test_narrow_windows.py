"""Pages fit a phone, a window at a zoom of 200%, and a tablet: nothing is cut off, and nothing scrolls sideways.

``FITTING`` names the pages that fit. A page that was made to fit is added there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import cycle, product
from typing import TYPE_CHECKING, Any

import pytest
from django.conf import settings

from tests.access.pages import pages
from tests.access.test_axe_everywhere import NoDocument, read_in
from tests.access.world import build_world
from tests.chaos import FULL
from tests.overflow import NARROW_WIDTHS, cut_off

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.django_db(transaction=True)
NewPage = Callable[..., "Page"]

FITTING = {
    "annotation:adjudication",
    "annotation:adjudications",
    "annotation:check",
    "annotation:checks",
    "annotation:grade",
    "annotation:label",
    "annotation:work",
}


def test_no_page_is_cut_off_in_a_narrow_window(new_page: NewPage, live_server: Any) -> None:
    """Each page in one width and language after the other; all of them at full size (``CONSILIUM_CHAOS=full``)."""
    world = build_world()
    languages = [code for code, _name in settings.LANGUAGES]
    combinations = list(product(NARROW_WIDTHS, languages))
    turns = cycle(combinations)
    by_role: dict[str, list[str]] = defaultdict(list)
    listed = [entry for entry in pages(world) if entry.name in FITTING]
    assert {entry.name for entry in listed} == FITTING
    for entry in listed:
        by_role[entry.role].append(entry.url)
    faults: list[str] = []
    for role, urls in by_role.items():
        page = new_page(world.users[role], reduced_motion="reduce")
        for url in urls:
            for width, language in combinations if FULL else [next(turns)]:
                page.set_viewport_size({"width": width, "height": 844})
                try:
                    read_in(page, language, f"{live_server.url}{url}")
                except NoDocument:
                    continue
                faults += [f"{url} as {role} ({width} px, {language}): {line}" for line in cut_off(page)]
    assert not faults, "\n" + "\n".join(faults)
