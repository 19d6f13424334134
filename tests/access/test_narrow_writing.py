"""The pages on which cases and rubrics are written, reviewed and audited fit a phone, a zoom of 200%, and a tablet."""

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
    *("rubrics:write", "rubrics:write-new", "rubrics:write-case", "rubrics:write-rubric", "rubrics:traceability"),
    *("rubrics:reviews", "rubrics:review", "rubrics:drafts", "rubrics:history", "rubrics:diff", "rubrics:revisions"),
    *("rubrics:audits", "rubrics:audit-new", "rubrics:audit", "rubrics:audit-desk", "rubrics:audit-item"),
    *(
        "annotation:writing-task",
        "annotation:writing-new",
        "rubrics:cases",
        "rubrics:case",
        "rubrics:excluded",
        "rubrics:bank",
        "rubrics:banks",
    ),
}


def test_no_page_of_authors_is_cut_off_in_a_narrow_window(new_page: NewPage, live_server: Any) -> None:
    """Each page in one width and language after the other; all of them at full size (``CONSILIUM_CHAOS=full``)."""
    world = build_world()
    combinations = list(product(NARROW_WIDTHS, [code for code, _name in settings.LANGUAGES]))
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
