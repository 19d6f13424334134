"""Statements past all services: no drafted criterion is published that nobody took, and no taker approves."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, ProgrammingError, connection, transaction
from django.utils import timezone

from accounts.models import User
from drafting.models import Suggestion
from rubrics.models import Criterion, Rubric, RubricContributor, RubricDraft, RubricItem, RubricReview
from rubrics.services.publishing import send_to_review
from tests import factories
from tests.drafting.suggestions.drafted import Drafted, own, taken

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def execute(sql: str, *parameters: object) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql, parameters)


def draft_with(world: Drafted, *rows: tuple[str, str], by: User | None = None) -> Rubric:
    """A draft and its items, written past the services: the text and the suggestion of each."""
    rubric = Rubric.objects.create(case=world.case, track="gold", version=9, provenance="test", status="in_review")
    content = {"items": [{"id": f"i{n}", "suggestion": name} for n, (_text, name) in enumerate(rows)]}
    RubricDraft.objects.create(rubric=rubric, content=content, digest="d", saved_at=timezone.now())
    at = timezone.now()
    RubricContributor.objects.create(rubric=rubric, user=by or world.author, first_at=at, last_at=at)
    for position, (text, name) in enumerate(rows, start=1):
        criterion = Criterion.objects.create(case=world.case, text=text)
        RubricItem.objects.create(rubric=rubric, criterion=criterion, position=position, points=1, suggestion=name)
    return rubric


def publish(rubric: Rubric, reviewer: User) -> None:
    """Approve and publish past the services."""
    RubricReview.objects.create(
        rubric=rubric, reviewer=reviewer, outcome="approved", digest="d", created_at=timezone.now()
    )
    execute("UPDATE rubrics_rubric SET status = 'published', published_at = now() WHERE id = %s", rubric.pk)


def take(suggestion: Suggestion, by: User, state: str = "accepted") -> None:
    execute(
        "UPDATE drafting_suggestion SET state = %s, decided_by_id = %s, decided_at = now() WHERE id = %s",
        state, by.pk, suggestion.pk,
    )  # fmt: skip


@pytest.mark.parametrize("state", ["open", "rejected", "withdrawn"])
def test_a_suggestion_that_nobody_took_is_not_published(state: str) -> None:
    world = Drafted(1)
    (suggestion,) = world.suggestions
    if state != "open":
        decided = (world.author.pk, timezone.now()) if state == "rejected" else (None, None)
        Suggestion.objects.filter(pk=suggestion.pk).update(state=state, decided_by=decided[0], decided_at=decided[1])
    rubric = draft_with(world, ("Reworded", suggestion.public_id))
    with pytest.raises(IntegrityError, match="when a physician has taken it"):
        publish(rubric, world.second)
    assert Rubric.objects.get(pk=rubric.pk).status == "in_review"


def test_neither_of_another_case_nor_of_none() -> None:
    world, other = Drafted(1), Drafted(1)
    other.save([taken(other.suggestions[0])])
    for name in (other.suggestions[0].public_id, "nowhere"):
        with transaction.atomic():
            rubric = draft_with(world, ("Reworded", name))
            with pytest.raises(IntegrityError, match="when a physician has taken it"):
                publish(rubric, world.second)
            transaction.set_rollback(True)


def test_nor_the_words_of_one_that_nobody_decided_on() -> None:
    world = Drafted(1)
    rubric = draft_with(world, (" Advises\n suggestion   1", ""))
    with pytest.raises(IntegrityError, match="when a physician has taken it"):
        publish(rubric, world.second)


def test_nor_by_a_rubric_that_arrives_published() -> None:
    world = Drafted(1)
    (suggestion,) = world.suggestions
    for text, name in (("Reworded", suggestion.public_id), (suggestion.text, "")):
        with pytest.raises(IntegrityError, match="when a physician has taken it"):
            arrive_published(world, text, name)


def arrive_published(world: Drafted, text: str, name: str) -> None:
    """A rubric that is inserted published, after its items, as imports of cases do."""
    with transaction.atomic(), connection.cursor() as cursor:
        criterion = Criterion.objects.create(case=world.case, text=text)
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        cursor.execute("SELECT nextval(pg_get_serial_sequence('rubrics_rubric', 'id'))")
        pk = cursor.fetchone()[0]
        RubricItem.objects.create(rubric_id=pk, criterion=criterion, position=1, points=1, suggestion=name)
        Rubric.objects.create(
            pk=pk, case=world.case, track="gold", version=8, provenance="file", status="published",
            published_at=timezone.now(),
        )  # fmt: skip


def test_who_took_a_suggestion_does_not_approve_it() -> None:
    world = Drafted(1)
    (suggestion,) = world.suggestions
    draft = world.save([taken(suggestion)])
    send_to_review(rubric=draft.rubric, note="", by=world.author, at=timezone.now(), notify=False)
    with pytest.raises(IntegrityError, match="does not approve"), transaction.atomic():
        RubricReview.objects.create(
            rubric=draft.rubric, reviewer=world.author, outcome="approved", digest=draft.digest,
            created_at=timezone.now(),
        )  # fmt: skip
    # Nor by a review that was there before the suggestion was.
    world = Drafted(1)
    (suggestion,) = world.suggestions
    draft = world.save([taken(suggestion)])
    rubric, content = draft.rubric, draft.content
    RubricDraft.objects.filter(pk=draft.pk).update(content={"items": []}, digest="d")
    RubricReview.objects.create(
        rubric=rubric, reviewer=world.author, outcome="approved", digest="d", created_at=timezone.now()
    )
    RubricDraft.objects.filter(pk=draft.pk).update(content=content)
    criterion = Criterion.objects.create(case=world.case, text="Reworded")
    RubricItem.objects.create(rubric=rubric, criterion=criterion, position=1, points=1, suggestion=suggestion.public_id)
    with pytest.raises(IntegrityError, match=r"does not approve|did not write it"):
        execute("UPDATE rubrics_rubric SET status = 'published', published_at = now() WHERE id = %s", rubric.pk)


def test_a_suggestion_is_taken_by_whoever_writes_it_into_the_draft() -> None:
    world = Drafted(2)
    first, second = world.suggestions
    with pytest.raises(IntegrityError, match="whoever writes it into the draft"):
        take(first, world.author)
    world.save([taken(first)])
    with pytest.raises(IntegrityError, match="whoever writes it into the draft"):
        take(second, world.author)
    with pytest.raises(IntegrityError, match="whoever writes it into the draft"):
        take(first, world.second)
    # None is there already decided.
    with pytest.raises(ProgrammingError), transaction.atomic():
        factories.SuggestionFactory(
            case=world.case, run=world.run, number=9, state="accepted", decided_by=world.author,
            decided_at=timezone.now(),
        )  # fmt: skip


def test_a_decision_stands_once_it_is_published() -> None:
    world = Drafted(1)
    world.publish([taken(world.suggestions[0]), own("Advises rest")])
    for change in ("state = 'edited'", "final_text = 'x'", "distance = 0.5", "published_in_id = NULL"):
        with pytest.raises(ProgrammingError):
            execute(f"UPDATE drafting_suggestion SET {change} WHERE case_id = %s", world.case.pk)
    assert Suggestion.objects.get().final_text == "Advises suggestion 1"
