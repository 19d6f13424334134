"""The state of a suggestion follows from the saved draft, and nothing undecided comes into a rubric."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from consilium.core.errors import Conflict
from drafting.models import DraftingTerms, Suggestion, SuggestionsOpened
from drafting.suggestions import services
from drafting.suggestions.opening import NotOpen
from rubrics.editor.draft_content import DraftItem
from rubrics.hooks import DraftRefused
from rubrics.models import RubricContributor
from rubrics.services.case_editing import make_erratum
from rubrics.services.drafts import open_draft
from rubrics.services.publishing import NotReady, discard_draft, send_to_review
from tests import factories
from tests.drafting.suggestions.drafted import Drafted, own, taken

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def refused(world: Drafted, items: list[DraftItem], **options: object) -> list[tuple[int, str, str]]:
    """What a save of these items is refused for; nothing of it is stored."""
    with pytest.raises(DraftRefused) as error:
        world.save(items, **options)  # type: ignore[arg-type]
    return [(fault.line, fault.field, fault.message) for fault in error.value.errors]


def test_the_state_follows_from_the_list() -> None:
    world = Drafted()
    first, second, _third = world.suggestions
    world.save([own("Names paracetamol"), taken(first)])
    assert world.states() == ["accepted", "open", "open"]
    row = Suggestion.objects.get(pk=first.pk)
    assert row.decided_by == world.author and row.decided_at is not None
    # White space is no change; words, points and another axis are.
    world.save([taken(first, text="Advises  suggestion 1 "), taken(second, points=-5)])
    assert world.states() == ["accepted", "edited", "open"]
    world.save([taken(first, tags=["axis:safety"]), taken(second)])
    assert world.states() == ["edited", "accepted", "open"]
    # A client may take it with its own text, points and tags, which do not name the axis.
    world.save([taken(first, tags=list(first.tags)), taken(second)])
    assert first.axis and world.states() == ["accepted", "accepted", "open"]
    # Two criteria of one suggestion: it is accepted while one of them is as it was.
    world.save([taken(first), taken(first, id="copy", text="Other"), taken(second, tags=["axis:accuracy", "x"])])
    assert world.states() == ["accepted", "accepted", "open"]
    # Whoever changes it later has not taken it.
    world.save([taken(first, text="Advises rest"), taken(second)], by=world.second)
    assert Suggestion.objects.get(pk=first.pk).decided_by == world.author
    # What is removed is rejected, by whoever removed it; the reason is asked for then.
    world.save([taken(first, text="Advises rest")], by=world.second)
    assert world.states() == ["edited", "rejected", "open"]
    row = Suggestion.objects.get(pk=second.pk)
    assert (row.decided_by, row.reason) == (world.second, None)
    services.reject(suggestion=second, reason=3, by=world.second, at=timezone.now())
    row.refresh_from_db()
    assert (row.state, row.reason, row.decided_by) == ("rejected", 3, world.second)
    # A rejected one may be taken after all.
    world.save([taken(second)])
    assert world.states() == ["rejected", "accepted", "open"]
    assert Suggestion.objects.get(pk=second.pk).reason is None


def test_a_rejected_or_taken_suggestion_is_open_again_by_undoing() -> None:
    world = Drafted(2)
    first, second = world.suggestions
    at = timezone.now()
    services.put_aside(suggestion=first, by=world.author, at=at)
    assert Suggestion.objects.get(pk=first.pk).put_aside and world.states() == ["open", "open"]
    services.reject(suggestion=first, reason=1, by=world.author, at=at, note=" Dose is wrong ")
    row = Suggestion.objects.get(pk=first.pk)
    assert (row.state, row.put_aside, row.reason, row.note) == ("rejected", False, 1, "Dose is wrong")
    services.reopen(suggestion=first, by=world.author, at=at)
    row.refresh_from_db()
    assert (row.state, row.reason, row.note, row.decided_by, row.decided_at) == ("open", None, "", None, None)
    # One that stands in the draft is not decided on from outside.
    world.save([taken(first), taken(second)])
    for decide in (services.reopen, services.put_aside):
        with pytest.raises(Conflict, match="is already in the rubric"):
            decide(suggestion=first, by=world.author, at=at)
    with pytest.raises(Conflict, match="is already in the rubric"):
        services.reject(suggestion=first, reason=1, by=world.author, at=at)
    # A draft that is discarded has decided nothing.
    discard_draft(rubric=world.rubric, by=world.author, at=at)
    assert world.states() == ["open", "open"]


def test_what_cannot_be_taken_is_refused_by_place() -> None:
    world, other = Drafted(3), Drafted(1)
    first, second, third = world.suggestions
    services.withdraw(suggestions=[third], by=world.admin, at=timezone.now())
    assert refused(world, [own("A"), taken(other.suggestions[0]), DraftItem("x", "B", 1, suggestion="unknown")]) == [
        (2, "suggestion", "This suggestion does not exist for this case."),
        (3, "suggestion", "This suggestion does not exist for this case."),
    ]
    assert refused(world, [taken(first), taken(third)]) == [(2, "suggestion", "This suggestion was withdrawn.")]
    world.save([own("A")])
    # Somebody who runs the benchmark and is no author of it decides on none; nor does one to whom they did not open.
    author_alone = "Only an author of the benchmark can accept a suggestion, and no one can accept it for someone else."
    assert refused(world, [taken(first)], by=world.admin) == [(1, "suggestion", author_alone)]
    assert refused(world, [taken(first)], by=world.admin, writer=world.author, in_editor=False) == [
        (1, "suggestion", author_alone)
    ]
    closed = "The suggestions for this case are not open to you yet."
    assert refused(world, [taken(first)], by=world.second) == [(1, "suggestion", closed)]
    assert world.states() == ["open", "open", "withdrawn"]
    assert list(RubricContributor.objects.values_list("user", flat=True)) == [world.author.pk]
    # In the editor many are taken by one save, for example after a time without a connection.
    world.save([taken(first), taken(second)])
    assert world.states() == ["accepted", "accepted", "withdrawn"]


def test_a_list_from_elsewhere_takes_one_at_a_time_and_brings_no_undecided_words() -> None:
    world = Drafted(3)
    first, second, third = world.suggestions
    at_a_time = "Outside the editor, suggestions can be accepted only one at a time, because each needs a decision."
    assert refused(world, [taken(first), taken(second)], in_editor=False) == [(2, "suggestion", at_a_time)]
    undecided = "This is the text of suggestion 2, which no one has decided on yet. Decide on it in the editor."
    assert refused(world, [taken(first), own("Advises\n suggestion  2")], in_editor=False) == [(2, "text", undecided)]
    # Nor under the name of another suggestion.
    hidden = taken(first, id="h", text=third.text)
    assert [line for line, _field, _message in refused(world, [taken(first), hidden], in_editor=False)] == [2]
    world.save([taken(first)], in_editor=False)
    world.save([taken(first), taken(second)], in_editor=False)
    assert world.states() == ["accepted", "accepted", "open"]
    # Once somebody has rejected it, the words are an author's own.
    services.reject(suggestion=third, reason=6, by=world.author, at=timezone.now())
    world.save([taken(first), taken(second), own(third.text)], in_editor=False)


def test_a_second_run_with_the_same_words_needs_no_second_decision() -> None:
    world = Drafted(1)
    again = factories.SuggestionFactory(case=world.case, number=1, text=world.suggestions[0].text)
    world.publish([taken(world.suggestions[0])])
    again.refresh_from_db()
    assert again.state == "open" and world.rubric.status == "published"


def test_undecided_words_in_the_editor_keep_the_rubric_from_review() -> None:
    world = Drafted(2)
    first, second = world.suggestions
    world.save([taken(first), own(second.text)])  # typed or pasted
    with pytest.raises(NotReady) as error:
        send_to_review(rubric=world.rubric, note="", by=world.author, at=timezone.now())
    assert [(fault.line, fault.field) for fault in error.value.errors] == [(2, "text")]
    services.reject(suggestion=second, reason=3, by=world.author, at=timezone.now())
    send_to_review(rubric=world.rubric, note="", by=world.author, at=timezone.now(), notify=False)


def test_publication_records_the_text_and_later_versions_keep_the_suggestion() -> None:
    world = Drafted(3)
    first, second, _third = world.suggestions
    version = world.publish([taken(first), taken(second, text="Advises suggestion two")])
    rows = {row.number: row for row in Suggestion.objects.filter(case=world.case)}
    assert [rows[n].published_in for n in (1, 2, 3)] == [version, version, None]
    assert (rows[1].final_text, rows[1].distance) == ("Advises suggestion 1", 0)
    # "Advises suggestion 2" and "… two": one replaced, two added, of 22 characters.
    assert rows[2].final_text == "Advises suggestion two" and rows[2].distance == pytest.approx(3 / 22, abs=1e-9)
    assert (rows[3].final_text, rows[3].distance) == ("", None)
    with pytest.raises(Conflict, match="was published"):
        services.reopen(suggestion=first, by=world.author, at=timezone.now())
    # A later version begins with them, by another author to whom nothing has opened; what is removed stays published.
    open_draft(case=world.case, by=world.second, at=timezone.now())
    kept = world.items()
    assert [item.suggestion for item in kept] == [first.public_id, second.public_id]
    world.save([kept[0], own("Advises rest")], by=world.second)
    assert world.states() == ["accepted", "edited", "open"]
    erratum = make_erratum(case=world.case, key="erratum", by=world.author, at=timezone.now())
    draft = erratum.rubrics.get().draft
    assert [row["suggestion"] for row in draft.content["items"]] == [first.public_id, second.public_id]


def test_of_several_criteria_of_one_suggestion_the_nearest_counts() -> None:
    world = Drafted(1)
    world.publish(
        [
            taken(world.suggestions[0], id="far", text="Other words"),
            taken(world.suggestions[0], text="Advises suggestion 2"),
        ]
    )
    row = Suggestion.objects.get()
    assert (row.final_text, row.state) == ("Advises suggestion 2", "edited")
    assert row.distance == pytest.approx(1 / 20)


def test_suggestions_open_after_so_many_criteria_of_ones_own() -> None:
    world = Drafted(2, opened=False)
    DraftingTerms.objects.create(benchmark=world.benchmark, own_first=2)
    with pytest.raises(NotOpen, match="Write 2 more criteria"):
        world.open(world.author)
    world.save([own("Asks for the age", 7, tags=("axis:safety",)), own(" "), own("Asks for a rash")][:2])
    with pytest.raises(NotOpen, match="Write 1 more criterion"):
        world.open(world.author)
    assert "are not open to you yet" in refused(world, [taken(world.suggestions[0])])[0][2]
    world.save([own("Asks for the age", 7, tags=("axis:safety",)), own("Asks for a rash")])
    world.open(world.author)
    assert SuggestionsOpened.objects.get().own_criteria == [
        {"text": "Asks for the age", "points": 7, "tags": ["axis:safety"]},
        {"text": "Asks for a rash", "points": 3, "tags": []},
    ]
    # They stay open, whatever becomes of the list; a suggestion in it is none of the author's own.
    world.save([taken(world.suggestions[0])])
    world.open(world.author)
    assert SuggestionsOpened.objects.count() == 1
    with pytest.raises(NotOpen, match="Write 2 more criteria"):
        world.open(world.second)


def test_the_time_of_reading_is_no_longer_than_the_time_that_has_passed() -> None:
    world = Drafted(1)
    (suggestion,) = world.suggestions
    opened = SuggestionsOpened.objects.get().opened_at
    at = opened + timedelta(seconds=50)
    services.read(suggestion=suggestion, seconds=20, by=world.author, at=at)
    services.read(suggestion=suggestion, seconds=3600, by=world.author, at=at)
    services.read(suggestion=suggestion, seconds=30, by=world.second, at=at)  # to whom it did not open
    assert Suggestion.objects.get().seconds_read == 70


def test_only_what_is_open_is_withdrawn() -> None:
    world = Drafted(3)
    first, second, third = world.suggestions
    world.save([taken(first)])
    services.reject(suggestion=second, reason=2, by=world.author, at=timezone.now())
    assert services.withdraw(suggestions=world.suggestions, by=world.admin, at=timezone.now()) == 1
    assert world.states() == ["accepted", "rejected", "withdrawn"]
    with pytest.raises(Conflict, match="withdrawn"):
        services.reopen(suggestion=third, by=world.author, at=timezone.now())
