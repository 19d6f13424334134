"""What waits for an author: the home page and *Writing* list the same kinds of work, also that of other apps."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from django.test import Client
from django.utils import timezone
from playwright.sync_api import Page

from rubrics.editor.draft_content import items_of
from rubrics.services.drafts import open_draft, save_draft
from rubrics.services.publishing import return_draft, send_to_review
from rubrics.services.revisions import request_revision
from tests import factories
from tests.validation.pairs.pair_world import PairWorld, make_world, scripted

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


@pytest.fixture
def world() -> PairWorld:
    """A pair to judge, three rubrics under way, a criterion to reword and a suggestion, all in one benchmark."""
    world = make_world("worked", [scripted("c01 1")], {})
    author, other, _third = world.physicians
    at = timezone.now()

    def written(by: object, key: str) -> object:
        case = factories.CaseFactory(benchmark=world.benchmark, key=key, rubric=[5, 3])
        rubric = open_draft(case=case, by=by, at=at)
        items = items_of(rubric.draft.content)
        save_draft(
            rubric=rubric, items=[replace(items[0], points=7), *items[1:]], version=1, client_id=None, by=by, at=at
        )
        return rubric

    written(author, "my-draft")
    for by, key in ((author, "sent-back"), (other, "for-me")):
        rubric = written(by, key)
        send_to_review(rubric=rubric, note="Clearer", by=by, at=at)
        if by == author:
            return_draft(rubric=rubric, reviewer=other, comment="Too vague", item_comments={}, at=at)
    faulty = factories.CaseFactory(benchmark=world.benchmark, key="faulty", rubric=[5, 3])
    published = faulty.rubrics.get()
    for item in published.items.all():
        request_revision(rubric=published, criterion=item.criterion, response=None, reason="Vague", by=None, at=at)
    drafted = factories.CaseFactory(benchmark=world.benchmark, key="suggested-case", rubric=0)
    factories.SuggestionFactory(case=drafted, run=factories.DraftingRunFactory(benchmark=world.benchmark), number=1)
    return world


def page_of(world: PairWorld, path: str) -> str:
    client = Client()
    client.force_login(world.physicians[0])
    answer = client.get(path)
    assert answer.status_code == 200, answer.status_code
    return " ".join(answer.content.decode().split())


KINDS = ["Returned to you", "To review", "To reword", "Your drafts", "Pairs to judge", "Suggestions to decide"]


def test_home_lists_each_kind_of_work_of_an_author_with_its_number(world: PairWorld) -> None:
    # A second benchmark, without which the start page is that of the only work.
    factories.BenchmarkRoleFactory(user=world.physicians[0])
    listed = re.search(r'<section class="card todo">.*?</ol>', page_of(world, "/"))
    assert listed
    rows = dict(re.findall(r'<h3>(.*?)</h3>.*?<p class="todo-left"> <span>(.*?)</span>', listed[0]))
    assert rows == {
        "Returned to you": "1 case",
        "To review": "1 case",
        "To reword": "2 criteria",
        "Your drafts": "1 case",
        "Pairs to judge": "1",
        "Suggestions to decide": "1 case",
    }
    assert sorted(rows) == sorted(KINDS)


def test_writing_lists_the_same_kinds_with_work_of_other_pages(world: PairWorld) -> None:
    page = page_of(world, "/b/worked/write/")
    listed = re.search(r'<section id="waiting".*?</section>', page)
    assert listed
    rows = re.findall(r'<span class="badge[^"]*">\s*(.*?)\s*</span> <a href="([^"#]*)', listed[0])
    # A row here is about one draft.
    assert sorted({label.replace("draft", "drafts") for label, _url in rows}) == sorted(KINDS)
    assert dict(rows)["Pairs to judge"] == "/b/worked/pairs/judge/"
    assert page.count("Pairs to judge") == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("width", [390, 1366])
def test_no_label_of_the_list_lies_over_the_name_of_a_case(
    new_page: Callable[..., Page], world: PairWorld, width: int
) -> None:
    page = new_page(world.physicians[0], viewport={"width": width, "height": 900})
    page.goto("/b/worked/write/")
    page.locator("#waiting li", has_text="Suggestions to decide").wait_for()
    for row in page.locator("#waiting li").all():
        label, name = row.locator(".badge").bounding_box(), row.locator("a").bounding_box()
        assert label and name
        assert label["x"] + label["width"] <= name["x"] or label["y"] + label["height"] <= name["y"]
