"""What waits for an author: the home page and *Writing* list the same kinds of work, also that of other apps."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.translation import override
from playwright.sync_api import Page

from rubrics import waiting
from rubrics.editor.draft_content import items_of
from rubrics.models import Case, Rubric
from rubrics.navigation import todos
from rubrics.services.drafts import open_draft, save_draft
from rubrics.services.publishing import return_draft, send_to_review
from rubrics.services.revisions import request_revision
from rubrics.waiting import Waits, waiting_for
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


KINDS = [
    "Returned to you",
    "To review",
    "To reword",
    "Your drafts",
    "Pairs of texts to compare",
    "Suggestions to decide",
]


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
        "Pairs of texts to compare": "1 pair",
        "Suggestions to decide": "1 case",
    }
    assert sorted(rows) == sorted(KINDS)


def test_the_only_draft_is_opened_and_of_several_the_list(world: PairWorld) -> None:
    author = world.physicians[0]

    def addresses() -> dict[str, str]:
        return {str(row.task): row.url for row in todos(author) if row.task in ("Returned to you", "Your drafts")}

    def place(key: str) -> str:
        return f"/b/worked/write/{Case.objects.get(key=key).public_id}/"

    assert addresses() == {
        "Returned to you": f"{place('sent-back')}rubric/",
        "Your drafts": f"{place('my-draft')}rubric/",
    }
    case = factories.CaseFactory(benchmark=world.benchmark, key="begun", rubric=0, created_by=author)
    assert addresses()["Your drafts"] == "/b/worked/write/#waiting"
    Rubric.objects.get(case__key="my-draft", status="draft").delete()
    assert addresses()["Your drafts"] == f"/b/worked/write/{case.public_id}/"  # a case without a rubric


def test_writing_lists_the_same_kinds_with_work_of_other_pages(world: PairWorld) -> None:
    page = page_of(world, "/b/worked/write/")
    listed = re.search(r'<section id="waiting".*?</section>', page)
    assert listed
    rows = re.findall(r'<span class="badge[^"]*">\s*(.*?)\s*</span> <a href="([^"#]*)', listed[0])
    # A row here is about one draft.
    assert sorted({label.replace("draft", "drafts") for label, _url in rows}) == sorted(KINDS)
    assert dict(rows)["Pairs of texts to compare"] == "/b/worked/pairs/judge/"
    assert page.count("Pairs of texts to compare") == 1


def test_home_asks_for_work_of_other_pages_once_and_not_for_each_benchmark(world: PairWorld) -> None:
    author = world.physicians[0]
    with CaptureQueriesContext(connection) as of_home:
        assert [str(row.task) for row in todos(author)][-1] == "Suggestions to decide"
    with CaptureQueriesContext(connection) as of_writing:
        assert "Pairs of texts to compare" in [str(line.label) for line in waiting_for(author, world.benchmark)]
    assert [
        any("validation_" in query["sql"] for query in queries.captured_queries) for queries in (of_home, of_writing)
    ] == [False, True]


def test_a_list_that_is_cut_is_not_counted_as_if_it_were_whole(
    world: PairWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    def left(number: int) -> str:
        monkeypatch.setitem(waiting._sources, source, False)
        lines[:] = [Waits("Cases to sort", f"case {n}", "/") for n in range(number)]
        (row,) = [row for row in todos(world.physicians[0]) if row.task == "Cases to sort"]
        return str(row.left)

    def source(*_arguments: object) -> list[Waits]:
        return lines

    lines: list[Waits] = []
    assert [left(1), left(19), left(20)] == ["1 case", "19 cases", "20 cases or more"]
    with override("zh-hans"):
        assert left(20) == "20 个或更多病例"


def test_cases_with_suggestions_are_listed_up_to_the_same_number(world: PairWorld) -> None:
    run = factories.DraftingRunFactory(benchmark=world.benchmark)
    for number in range(2, 23):
        case = factories.CaseFactory(benchmark=world.benchmark, key=f"suggested-{number}", rubric=0)
        factories.SuggestionFactory(case=case, run=run, number=number)
    (row,) = [row for row in todos(world.physicians[0]) if row.task == "Suggestions to decide"]
    assert row.left == "20 cases or more"


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
