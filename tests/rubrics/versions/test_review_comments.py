"""Comments beside criteria are shown with the words that were read, whatever becomes of the criteria later."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from django.test import Client

from rubrics.editor.draft_content import DraftItem
from rubrics.models import RubricReview
from tests.rubrics.versions.new_versions import Begun

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

FIRST = [DraftItem("n1", "Names the dose", 5), DraftItem("n2", "Asks about drugs", 3), DraftItem("n3", "Is kind", 1)]


def text(page: str) -> str:
    """The words of a page without its tags."""
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


@pytest.fixture
def returned() -> Begun:
    """A rubric that was returned with three comments, then reworded and shortened."""
    world = Begun()
    world.send(*FIRST)
    world.return_with("See below", n1="Per day?", n2="Which drugs?", n3="To whom?")
    world.write(FIRST[0], replace(FIRST[1], text="Asks about anticoagulants"))
    return world


def test_earlier_comments_name_the_wording_that_they_are_about(client: Client, returned: Begun) -> None:
    address = returned.address
    client.force_login(returned.writer)
    start = client.get(f"{address}rubric/").context["start"]
    assert start["comment_texts"] == {"n1": "Names the dose", "n2": "Asks about drugs", "n3": "Is kind"}
    notice = client.get(f"{address}rubric/").content.decode().split("Comments on criteria:")[1].split("</ul>")[0]
    assert re.findall(r'data-goto="(\w+)"', notice) == ["n1", "n2"]  # the third was removed
    assert text(notice) == "Names the dose Per day? Asks about anticoagulants Which drugs?"
    returned.send()
    client.force_login(returned.reviewer)
    page = client.get(f"{address}review/").content.decode()
    first, second = [text(part.split("</div>")[0]) for part in page.split('<div class="earlier">')[1:]]
    assert "Per day?" in first and "wording" not in first
    assert "on the wording “Asks about drugs” Which drugs?" in second


def test_a_comment_without_a_copy_of_what_was_read_is_put_under_no_later_wording(
    client: Client, returned: Begun
) -> None:
    address = returned.address
    RubricReview.objects.update(content=None)  # as reviews from before copies were kept
    client.force_login(returned.writer)
    remarks = text(client.get(f"{address}history/").content.decode().split('<div class="review-remarks">')[1])
    assert "On an earlier wording of “Asks about anticoagulants” Which drugs?" in remarks
    assert "On a criterion that was removed later To whom?" in remarks
    assert "Criterion 2:" not in remarks
    returned.send()
    client.force_login(returned.reviewer)
    page = client.get(f"{address}review/").content.decode()
    parts = [text(part.split("</div>")[0]) for part in page.split('<div class="earlier">')[1:]]
    assert ["on an earlier text" in part for part in parts] == [True, True]


def test_the_list_to_do_has_the_time_of_the_return_and_not_of_the_last_change(client: Client) -> None:
    world = Begun()
    world.send(*FIRST)
    world.return_with("See below")
    client.force_login(world.writer)
    row = client.get("/b/b/write/").content.decode().split("Returned to you")[1].split("</li>")[0]
    assert f'datetime="{RubricReview.objects.get().created_at.isoformat()}"' in row
    client.force_login(world.reviewer)
    world.send(FIRST[0])
    for address in ("/b/b/write/", "/b/b/write/reviews/"):
        assert "last changed just now" in text(client.get(address).content.decode())
