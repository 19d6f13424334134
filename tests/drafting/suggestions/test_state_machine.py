"""Saves, decisions, discards and publications in any order: the states of suggestions always follow the list."""

from __future__ import annotations

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from consilium.core.errors import DomainError
from drafting.models import Suggestion
from drafting.suggestions import services
from rubrics.editor.draft_content import DraftItem
from rubrics.models import RubricDraft
from rubrics.services.drafts import open_draft
from rubrics.services.publishing import discard_draft
from tests.drafting.suggestions.drafted import Drafted, own, taken

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

N = 3
PLACES = st.integers(0, N - 1)
STEPS = st.one_of(
    st.tuples(st.sampled_from(["take", "reword", "points", "remove", "reject", "reopen", "aside", "withdraw"]), PLACES),
    st.tuples(st.sampled_from(["discard", "publish"]), st.just(0)),
)


class Model:
    """What the states must be, told from the steps alone."""

    def __init__(self) -> None:
        self.items: list[tuple[int, str, int]] = []  # number of the suggestion, text, points
        self.states = ["open"] * N
        self.published: set[int] = set()
        self.stood: list[tuple[int, str, int]] = []  # in the published version

    def follow(self, before: set[int]) -> None:
        present = {number for number, _text, _points in self.items}
        for number in range(N):
            if number in self.published:
                continue
            if number in present:
                kept = any(
                    (other, text, points) == (number, f"Advises suggestion {number + 1}", 5)
                    for other, text, points in self.items
                )
                self.states[number] = "accepted" if kept else "edited"
            elif number in before:
                self.states[number] = "rejected"


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEPS, max_size=25))
def test_the_states_always_follow_the_list(steps: list[tuple[str, int]]) -> None:
    with transaction.atomic():
        _run(steps)
        transaction.set_rollback(True)


def _run(steps: list[tuple[str, int]]) -> None:
    world, model = Drafted(N), Model()
    for action, place in steps:
        before = {number for number, _text, _points in model.items}
        suggestion = Suggestion.objects.get(pk=world.suggestions[place].pk)
        items = list(model.items)
        if action == "take" and place not in before:
            items.append((place, suggestion.text, suggestion.points))
        elif action == "reword":
            items = [(n, f"{text}!" if n == place else text, points) for n, text, points in items]
        elif action == "points":
            items = [(n, text, -points if n == place else points) for n, text, points in items]
        elif action == "remove":
            items = [row for row in items if row[0] != place]
        if action in ("take", "reword", "points", "remove"):
            if not _save(world, items):
                assert action == "take" and model.states[place] == "withdrawn"
                continue
            model.items = items
            model.follow(before)
        elif action == "discard":
            if _discard(world):
                model.states = [
                    "open" if n in before and n not in model.published else state
                    for n, state in enumerate(model.states)
                ]
                # The next draft begins as the published version.
                model.items = list(model.stood)
        elif action == "publish":
            if items and _publish(world):
                model.published |= before
                model.stood = list(model.items)
        else:
            _decide(world, model, action, place, suggestion)
        assert world.states() == model.states, (action, place)
    for row in Suggestion.objects.filter(case=world.case):
        assert (row.published_in_id is not None) == (row.number - 1 in model.published)


def _listed(world: Drafted, rows: list[tuple[int, str, int]]) -> list[DraftItem]:
    items = [taken(world.suggestions[n], text=text, points=points) for n, text, points in rows]
    return [own("Asks for the age"), *items]


def _save(world: Drafted, rows: list[tuple[int, str, int]]) -> bool:
    try:
        with transaction.atomic():
            if world.case.rubrics.filter(status="published").exists():
                open_draft(case=world.case, by=world.author, at=timezone.now())
            world.save(_listed(world, rows))
    except DomainError:
        return False
    return True


def _discard(world: Drafted) -> bool:
    draft = RubricDraft.objects.filter(rubric__case=world.case, rubric__status="draft").first()
    if draft is None:
        return False
    discard_draft(rubric=draft.rubric, by=world.author, at=timezone.now())
    return True


def _publish(world: Drafted) -> bool:
    if not RubricDraft.objects.filter(rubric__case=world.case, rubric__status="draft").exists():
        return False
    try:
        with transaction.atomic():
            world.publish(note="Other criteria")
    except DomainError:  # nothing differs from the published version
        return False
    return True


def _decide(world: Drafted, model: Model, action: str, place: int, suggestion: Suggestion) -> None:
    by, at, state = world.author, timezone.now(), model.states[place]
    may = state in ("open", "rejected") and place not in model.published
    try:
        with transaction.atomic():
            if action == "reject":
                services.reject(suggestion=suggestion, reason=1, by=by, at=at)
            elif action == "reopen":
                services.reopen(suggestion=suggestion, by=by, at=at)
            elif action == "aside":
                services.put_aside(suggestion=suggestion, by=by, at=at)
            else:
                services.withdraw(suggestions=[suggestion], by=world.admin, at=at)
    except DomainError:
        assert not may
        return
    if action == "withdraw":
        model.states[place] = "withdrawn" if state == "open" else state
        return
    assert may
    model.states[place] = "rejected" if action == "reject" else "open"
