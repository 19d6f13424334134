"""What a second run drafts again is offered once, and what was decided on is not offered again."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.utils import timezone

from drafting.models import DraftingRecipe, DraftingRun, Suggestion
from drafting.suggestions.asking import has_open_drafts
from drafting.suggestions.selectors import panel_rows, waiting_cases
from drafting.suggestions.services import put_aside, reject, withdraw
from drafting.suggestions.state import words_of
from rubrics.editor.draft_content import items_of
from rubrics.services.drafts import open_draft
from scoring.models import PipelineStep
from tests import factories
from tests.drafting.suggestions.drafted import Drafted, own, taken
from tests.factories import SuggestionFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def again(world: Drafted, *, texts: list[str], **fields: object) -> list[Suggestion]:
    """Suggestions with these texts from another run for the case."""
    run = factories.DraftingRunFactory(benchmark=world.benchmark)
    return [
        SuggestionFactory(case=world.case, run=run, number=number, text=text, **fields)
        for number, text in enumerate(texts, start=1)
    ]


def offered(world: Drafted) -> list[tuple[int, int]]:
    """Run and number of the open suggestions in the panel."""
    rows = [row.suggestion for row in panel_rows(world.case) if row.suggestion.state == "open"]
    return [(row.run_id, row.number) for row in rows]


def waiting(world: Drafted) -> str:
    return " ".join(str(line.detail) for line in waiting_cases(world.author, world.benchmark))


def test_a_second_run_that_drafts_the_same_offers_it_once() -> None:
    world = Drafted(3)
    texts = [row.text for row in world.suggestions]
    fresh = again(world, texts=[*texts, "Says something that is new"])
    assert offered(world) == [(fresh[0].run_id, number) for number in (1, 2, 3, 4)]
    assert waiting(world) == "4 suggestions"


def test_what_was_set_aside_stays_set_aside_when_a_later_run_drafts_it_again() -> None:
    world = Drafted(3)
    aside, other, _third = world.suggestions
    put_aside(suggestion=aside, by=world.author, at=aside.created_at)
    fresh = again(world, texts=[row.text for row in world.suggestions], citations=aside.citations)
    run = fresh[0].run_id
    assert sorted(offered(world)) == [(aside.run_id, aside.number), (run, 2), (run, 3)]
    shown = {row.suggestion.text: row.suggestion.put_aside for row in panel_rows(world.case)}
    assert shown[aside.text] is True and shown[other.text] is False
    # With other passages it is another suggestion.
    (newest,) = again(world, texts=[aside.text], citations=[{"passage": "another-passage"}])
    assert sorted(offered(world)) == [(run, 2), (run, 3), (newest.run_id, 1)]


def test_one_remains_where_the_newest_repeats_what_was_set_aside() -> None:
    """Put aside with one passage, then drafted with another, then with the first again."""
    world = Drafted(1)
    (aside,) = world.suggestions
    put_aside(suggestion=aside, by=world.author, at=aside.created_at)
    (other,) = again(world, texts=[aside.text], citations=[{"passage": "another-passage"}])
    assert offered(world) == [(other.run_id, 1)]
    again(world, texts=[aside.text], citations=aside.citations)
    assert offered(world) == [(other.run_id, 1)]
    assert waiting(world) == "1 suggestion"
    assert has_open_drafts(world.case, DraftingRecipe(name="full", version=1))  # so none is asked for again


@pytest.mark.parametrize("set_aside", [False, True])
def test_one_remains_where_the_newest_repeats_what_was_rejected(*, set_aside: bool) -> None:
    world = Drafted(1)
    (rejected,) = world.suggestions
    (other,) = again(world, texts=[rejected.text], citations=[{"passage": "another-passage"}])
    reject(suggestion=rejected, reason=5, by=world.author, at=rejected.created_at)
    if set_aside:
        put_aside(suggestion=other, by=world.author, at=other.created_at)
    again(world, texts=[rejected.text], citations=rejected.citations)
    assert offered(world) == [(other.run_id, 1)]
    assert waiting(world) == "1 suggestion"


def test_the_panel_says_what_the_latest_request_brought(client: Client) -> None:
    world = Drafted(3)
    client.force_login(world.author)
    address = f"/b/{world.benchmark.slug}/write/{world.case.public_id}/suggestions/"

    def result() -> str:
        page = re.sub(r"<[^>]+>", " ", client.get(address).text.partition("data-result>")[2].partition("</p>")[0])
        return " ".join(page.split())

    assert result() == ""  # the first one: all are new
    kept = "Decisions on earlier suggestions are kept, and what was set aside stays set aside."
    again(world, texts=[row.text for row in world.suggestions])
    assert result() == f"Nothing new: the latest request only repeats earlier suggestions. {kept}"
    again(world, texts=[world.suggestions[0].text, "Says something new", "Asks the age", "Asks the age"])
    assert result() == f"The latest request brought 2 new suggestions. 1 other repeats an earlier one. {kept}"
    again(world, texts=["Asks the weight"])
    assert result() == "The latest request brought 1 new suggestion."
    run = factories.DraftingRunFactory(benchmark=world.benchmark)
    step = PipelineStep.objects.create(run=run, case=world.case, stage="direct", state="failed")
    assert result() == "The latest request ended before any suggestion was drafted for this case."
    PipelineStep.objects.filter(pk=step.pk).update(state="done", output={})
    assert result() == "Nothing new: the latest request drafted no suggestion for this case."
    DraftingRun.objects.filter(pk=run.pk).update(status="running")
    assert result() == ""


def test_the_panel_does_not_call_withdrawn_suggestions_nothing_new(client: Client) -> None:
    world = Drafted(2)
    client.force_login(world.author)
    address = f"/b/{world.benchmark.slug}/write/{world.case.public_id}/suggestions/"
    (fresh,) = again(world, texts=["Says something new"])
    assert "The latest request brought 1 new suggestion." in client.get(address).content.decode()
    assert withdraw(suggestions=[fresh], by=world.admin, at=timezone.now()) == 1
    assert "data-result" not in client.get(address).content.decode()


@pytest.mark.parametrize("how", ["taken", "rejected"])
def test_what_was_decided_on_is_not_offered_again(how: str) -> None:
    world = Drafted(2)
    first, second = world.suggestions
    if how == "taken":
        world.save([taken(first)])
    else:
        reject(suggestion=first, reason=2, by=world.author, at=first.created_at)
    again(world, texts=[first.text])
    assert offered(world) == [(second.run_id, 2)]
    assert waiting(world) == "1 suggestion"


def test_a_rejected_text_is_offered_again_where_it_rests_on_another_passage() -> None:
    world = Drafted(1)
    reject(suggestion=world.suggestions[0], reason=5, by=world.author, at=world.suggestions[0].created_at)
    other = [{"passage": "another-passage"}]
    (fresh,) = again(world, texts=[world.suggestions[0].text], citations=other)
    assert offered(world) == [(fresh.run_id, 1)]


def test_a_published_rubric_says_that_suggestions_wait(client: Client) -> None:
    world = Drafted(2)
    world.publish([taken(world.suggestions[0]), own("Asks for the age")])
    client.force_login(world.author)
    address = f"/b/{world.benchmark.slug}/write/{world.case.public_id}/rubric/"
    assert "1 suggestion: start a new version" in client.get(address).content.decode()
    client.force_login(world.admin)  # decides on none
    assert "start a new version" not in client.get(address).content.decode()


def test_a_rubric_with_the_words_is_published_while_the_repeated_suggestion_is_open() -> None:
    world = Drafted(1)
    (fresh,) = again(world, texts=[world.suggestions[0].text])
    assert words_of(fresh.text) == words_of(world.suggestions[0].text)
    world.publish([taken(world.suggestions[0])])
    assert world.rubric.status == "published"
    assert offered(world) == []
    assert waiting(world) == ""


def test_words_are_compared_as_at_publication() -> None:
    """White space of any kind, and letters of one or of two characters (NFC), are the same words."""
    world = Drafted(1, text="Advises rest")
    texts = ["Says  that caf\u00e9\nis bad", " Says that cafe\u0301 is bad ", "Says that Caf\u00e9 is bad"]
    (first, _second, other) = again(world, texts=texts)
    assert offered(world) == [(first.run_id, 1), (first.run_id, other.number), (world.run.pk, 1)]
    assert waiting(world) == "3 suggestions"
    world.save([taken(first)])
    again(world, texts=["Says that cafe\u0301\tis bad"])
    assert waiting(world) == "2 suggestions"


def test_equal_texts_of_one_run_are_offered_once() -> None:
    world = Drafted(3, text="Advises rest")
    assert offered(world) == [(world.run.pk, 1)]
    assert waiting(world) == "1 suggestion"


def test_what_a_newer_version_dropped_may_be_offered_again() -> None:
    """A criterion counts as taken while it stands in the draft or in the published version."""
    world = Drafted(1)
    world.publish([taken(world.suggestions[0]), own("Asks for the age")])
    fresh, second = again(world, texts=[world.suggestions[0].text, "Says something new"])
    assert offered(world) == [(fresh.run_id, second.number)]
    draft = open_draft(case=world.case, by=world.author, at=timezone.now()).draft
    left = [item for item in items_of(draft.content) if not item.suggestion]
    world.save(left)
    assert offered(world) == [(fresh.run_id, second.number)]  # still in the published version
    world.publish(note="One less")
    assert offered(world) == [(fresh.run_id, 1), (fresh.run_id, 2)]
    # The draft of a third version holds it again, as it was published once.
    draft = open_draft(case=world.case, by=world.author, at=timezone.now()).draft
    world.save([*items_of(draft.content), taken(world.suggestions[0])])
    assert offered(world) == [(fresh.run_id, second.number)]
