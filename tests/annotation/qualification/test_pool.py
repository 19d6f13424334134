"""Attempts that draw from a pool: other responses each time, and feedback with reasons as soon as an attempt ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.models import Assignment, KeyedResponse, QualificationAttempt
from annotation.qualification.pool import draw
from tests.annotation.qualification.test_qualification import QualificationWorld, signed_in
from tests.factories import decide


@dataclass(frozen=True)
class Row:
    """A row of any kind, with attributes of its own."""

    pk: int
    response_id: int
    response: Any


@dataclass(frozen=True)
class Named:
    """A response, its candidate and its case in one."""

    key: str
    name: str = "candidate"
    setting: str = ""
    sample: int = 0

    @property
    def case(self) -> Named:
        return self

    @property
    def candidate(self) -> Named:
        return self


def keys_of(number: int) -> list[KeyedResponse]:
    return [cast("KeyedResponse", Row(pk, pk + 100, Named(f"case-{pk}"))) for pk in range(number)]


@given(
    number=st.integers(1, 12), size=st.integers(1, 5), attempts=st.integers(1, 5), seeds=st.lists(st.integers(0, 99))
)
def test_no_response_comes_again_before_all_were_drawn(number: int, size: int, attempts: int, seeds: list[int]) -> None:
    keys, earlier = keys_of(number), dict[int, int]()
    for attempt in range(1, attempts + 1):
        chosen = draw(keys, size=size, earlier=earlier, seed=(seeds or [7])[attempt % max(1, len(seeds))])
        assert len(chosen) == len({key.pk for key in chosen}) == min(size, number)
        unseen = [key for key in keys if key.response_id not in earlier]
        repeated = [key for key in chosen if key.response_id in earlier]
        assert len(repeated) == max(0, min(size, number) - len(unseen))
        earlier |= {key.response_id: attempt for key in chosen}


def test_without_a_size_an_attempt_has_the_whole_set() -> None:
    keys = keys_of(5)
    assert {key.pk for key in draw(keys, size=None, earlier={101: 1}, seed=3)} == {0, 1, 2, 3, 4}


def attempt_with(world: QualificationWorld, outcome: str) -> QualificationAttempt:
    world.start()
    for row in Assignment.objects.filter(purpose="qualification", status="not_started").select_related("annotator"):
        decide(row, outcome)
    return QualificationAttempt.objects.latest("number")


def page_of(world: QualificationWorld, attempt: QualificationAttempt) -> str:
    answer = signed_in(world.annotator).get(f"/work/qualification/{attempt.public_id}/")
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


@pytest.mark.django_db
@pytest.mark.slow
def test_a_failed_attempt_shows_the_reasons_and_the_next_has_other_responses() -> None:
    world = QualificationWorld(pass_mark="0.9", attempts=2, wait_hours=0, attempt_size="1")
    first = attempt_with(world, "cannot_assess")
    assert first.status == "failed"
    page = page_of(world, first)
    assert "agreed:" in page and "Why:" in page and "because" in page
    assert f'action="/work/qualification/{world.group.public_id}/start/"' in page
    second = attempt_with(world, "cannot_assess")
    had = [set(each.batch.assignments.values_list("response", flat=True)) for each in (first, second)]
    assert [len(each) for each in had] == [1, 1] and not had[0] & had[1]
    assert f"/work/qualification/{world.group.public_id}/start/" not in page_of(world, second)


@pytest.mark.django_db
@pytest.mark.slow
def test_the_agreed_decisions_stay_hidden_while_a_response_may_come_again() -> None:
    # Three attempts of one response each, of two responses: the third repeats one.
    world = QualificationWorld(pass_mark="0.9", attempts=3, wait_hours=0, attempt_size="1")
    first = attempt_with(world, "cannot_assess")
    page = page_of(world, first)
    assert "agreed:" not in page and "because" not in page
    assert "a later attempt may have the same responses" in page
    # A person who is held back meanwhile may be let in again.
    world.group.memberships.filter(user=world.annotator).update(withheld_at=first.finished_at)
    assert "agreed:" not in page_of(world, first)
    world.set_rule(pass_mark="0.9", attempts="1", attempt_size="1")
    assert "agreed:" in page_of(world, first)


@pytest.mark.django_db
@pytest.mark.slow
def test_an_attempt_is_not_larger_than_the_set() -> None:
    world = QualificationWorld(attempts=2)
    answer = world.set_rule(attempt_size="3")
    assert answer.status_code == 422
    assert "the qualification set has 2" in answer.content.decode()
    assert world.set_rule(attempt_size="2").status_code == 302
    page = " ".join(world.client.get(world.base).content.decode().split())
    assert "unless a later attempt may have" in page


@pytest.mark.django_db
@pytest.mark.slow
def test_responses_whose_agreed_decisions_were_shown_do_not_come_again_after_a_change_of_the_rule() -> None:
    world = QualificationWorld(pass_mark="0.9", attempts=1, wait_hours=0, attempt_size="1")
    first = attempt_with(world, "cannot_assess")
    assert "agreed:" in page_of(world, first)
    # The next attempt would have the whole set.
    world.set_rule(pass_mark="0.9", attempts="3", wait_hours="0", attempt_size="")
    assert "agreed:" in page_of(world, first)  # stays to be read
    second = attempt_with(world, "cannot_assess")
    had = [set(each.batch.assignments.values_list("response", flat=True)) for each in (first, second)]
    assert [len(each) for each in had] == [1, 1] and not had[0] & had[1]
    assert "agreed:" not in page_of(world, second)
    # What was not shown may come again.
    third = attempt_with(world, "cannot_assess")
    assert set(third.batch.assignments.values_list("response", flat=True)) == had[1]
    # All are shown now: a fourth attempt has none.
    assert "agreed:" in page_of(world, second)
    world.set_rule(pass_mark="0.9", attempts="4", wait_hours="0", attempt_size="")
    started = signed_in(world.annotator).post(f"/work/qualification/{world.group.public_id}/start/", follow=True)
    assert "There is no response left for you to qualify on." in started.content.decode()
