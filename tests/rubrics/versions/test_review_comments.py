"""Comments beside criteria are shown with the words that were read, whatever becomes of the criteria later."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from rubrics.editor.draft_content import DraftItem
from rubrics.models import Case, RubricReview
from rubrics.services.publishing import return_draft
from tests.factories import BenchmarkFactory, CaseFactory
from tests.rubrics.versions.test_publishing import author, drafted, send, write

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

FIRST = [DraftItem("n1", "Names the dose", 5), DraftItem("n2", "Asks about drugs", 3), DraftItem("n3", "Is kind", 1)]


def text(page: str) -> str:
    """The words of a page without its tags."""
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


@pytest.fixture
def returned() -> tuple[Case, User, User]:
    """A case whose rubric was returned with three comments, then reworded, shortened and sent again."""
    benchmark = BenchmarkFactory(slug="b")
    writer, reviewer = author(benchmark), author(benchmark)
    case = CaseFactory(benchmark=benchmark, rubric=0)
    rubric, _items = drafted(case, writer)
    write(rubric, FIRST, writer)
    send(rubric, writer)
    comments = {"n1": "Per day?", "n2": "Which drugs?", "n3": "To whom?"}
    return_draft(rubric=rubric, reviewer=reviewer, comment="See below", item_comments=comments, at=timezone.now())
    write(rubric, [FIRST[0], replace(FIRST[1], text="Asks about anticoagulants")], writer)
    return case, writer, reviewer


def test_earlier_comments_name_the_wording_that_they_are_about(
    client: Client, returned: tuple[Case, User, User]
) -> None:
    case, writer, reviewer = returned
    address = f"/b/b/write/{case.public_id}/"
    client.force_login(writer)
    start = client.get(f"{address}rubric/").context["start"]
    assert start["comment_texts"] == {"n1": "Names the dose", "n2": "Asks about drugs", "n3": "Is kind"}
    send(case.rubrics.get(), writer)
    client.force_login(reviewer)
    page = client.get(f"{address}review/").content.decode()
    first, second = [text(part.split("</div>")[0]) for part in page.split('<div class="earlier">')[1:]]
    assert "Per day?" in first and "wording" not in first
    assert "on the wording “Asks about drugs” Which drugs?" in second


def test_a_comment_without_a_copy_of_what_was_read_is_put_under_no_later_wording(
    client: Client, returned: tuple[Case, User, User]
) -> None:
    case, writer, reviewer = returned
    address = f"/b/b/write/{case.public_id}/"
    RubricReview.objects.update(content=None)  # as reviews from before copies were kept
    client.force_login(writer)
    remarks = text(client.get(f"{address}history/").content.decode().split('<div class="review-remarks">')[1])
    assert "On an earlier wording of “Asks about anticoagulants” Which drugs?" in remarks
    assert "On a criterion that was removed later To whom?" in remarks
    assert "Criterion 2:" not in remarks
    send(case.rubrics.get(), writer)
    client.force_login(reviewer)
    page = client.get(f"{address}review/").content.decode()
    parts = [text(part.split("</div>")[0]) for part in page.split('<div class="earlier">')[1:]]
    assert ["on an earlier text" in part for part in parts] == [True, True]
