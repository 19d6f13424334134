"""What a reader looks for is shown first: what changed in a review, and a criterion to reword where it stands."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from rubrics.editor.draft_content import DraftItem
from rubrics.models import Case
from rubrics.services.revisions import request_revision, take_up_revisions
from tests.factories import BenchmarkFactory, CaseFactory, UserFactory
from tests.rubrics.versions.test_publishing import author, drafted, send, write

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def places(page: str) -> list[str]:
    """The numbers of the criteria in the order of the page, with the heading of the unchanged ones."""
    rows = re.findall(r'class="place num">\s*([^<\s]+)|(\d+ unchanged criteri(?:a|on))', page)
    return [place or heading for place, heading in rows]


def review(case: Case, user: User, client: Client) -> str:
    client.force_login(user)
    return client.get(f"/b/b/write/{case.public_id}/review/").content.decode()


def test_a_review_of_a_new_version_begins_with_what_changed(client: Client) -> None:
    benchmark = BenchmarkFactory(slug="b")
    writer, reviewer = author(benchmark), author(benchmark)
    case = CaseFactory(benchmark=benchmark, rubric=[5, 4, 3, 2, 1])
    rubric, items = drafted(case, writer)
    changed = [*items[:3], replace(items[3], points=-2), items[4], DraftItem("new", "Names the dose", 4)]
    write(rubric, changed, writer)
    send(rubric, writer)
    assert places(review(case, reviewer, client)) == ["4", "6", "4 unchanged criteria", "1", "2", "3", "5"]


def test_a_review_of_a_first_version_has_its_order(client: Client) -> None:
    benchmark = BenchmarkFactory(slug="b")
    writer, reviewer = author(benchmark), author(benchmark)
    case = CaseFactory(benchmark=benchmark, rubric=0)
    rubric, _items = drafted(case, writer)
    write(rubric, [DraftItem(f"n{n}", f"Names fact {n}", n) for n in (1, 2, 3)], writer)
    send(rubric, writer)
    assert places(review(case, reviewer, client)) == ["1", "2", "3"]


def test_the_criterion_to_reword_is_marked_where_its_link_leads(client: Client) -> None:
    benchmark = BenchmarkFactory(slug="b")
    writer = author(benchmark)
    case = CaseFactory(benchmark=benchmark, rubric=[5, 4, 3])
    rubric = case.rubrics.get()
    second = rubric.items.select_related("criterion").get(position=2).criterion
    request = request_revision(
        rubric=rubric, criterion=second, response=None, reason="Two doses", by=UserFactory(), at=timezone.now()
    )
    client.force_login(writer)
    desk = client.get("/b/b/write/").content.decode()
    address, anchor = re.search(r'href="([^"#]*/rubric/)#(criterion-\d+)"', desk).groups()  # type: ignore[union-attr]
    assert anchor == f"criterion-{second.pk}"
    page = client.get(address).content.decode()
    rows = re.findall(r'<li\s+class="item read([^"]*)"\s+id="(criterion-\d+)"', page)
    assert [name for name, _id in rows] == ["", " to-reword", ""]
    assert rows[1][1] == anchor
    assert page.count("Two doses") == 1

    # In a draft the script marks it by what the page gives it.
    take_up_revisions(benchmark=benchmark, requests=[request.public_id], by=writer, at=timezone.now())
    page = client.get(address).content.decode()
    assert f'"evidence": {{"{second.pk}": ["Two doses"]}}' in page
