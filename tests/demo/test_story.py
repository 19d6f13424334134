"""The story leaves something to do for everybody, and nothing in the future."""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demo.cases import read_cases
from demo.story import CLOSED_CASES, OPEN_CASES, Calendar, Ending, Place, endings, spread, workday


def test_every_case_is_in_one_of_the_two_parts_and_chinese_cases_in_both() -> None:
    languages = {case.key.removeprefix("demo-")[:2]: case.language for case in read_cases()}
    assert sorted((*CLOSED_CASES, *OPEN_CASES)) == sorted(languages)
    assert "zh-Hans" in {languages[number] for number in CLOSED_CASES}
    assert "zh-Hans" in {languages[number] for number in OPEN_CASES}


def test_two_annotators_of_eight_responses_have_work_in_every_state() -> None:
    places = [
        Place(pk=10 * response + i, response=response, annotator=f"{name}@example.org", position=9 - response)
        for response in range(1, 9)
        for i, name in enumerate("ab")
    ]
    ends = endings(places)
    assert len(ends) == 16
    assert {ending for ending, _ in ends.values()} == set(Ending)
    own = Counter(ends[place.pk][0] for place in places if place.annotator.startswith("a"))
    assert own[Ending.NOT_STARTED] == 2
    assert own[Ending.DRAFT] == own[Ending.RETURNED] == 1
    # The first in the queue is done first: response 8 has position 1.
    assert ends[80] == (Ending.ACCEPTED, 0)
    assert ends[10] == (Ending.NOT_STARTED, 0)


def test_working_days_skip_the_weekend() -> None:
    friday = datetime(2026, 3, 6, 9, 30, tzinfo=UTC)
    assert workday(friday, 1) == datetime(2026, 3, 9, tzinfo=UTC)
    assert workday(friday, 6) == datetime(2026, 3, 16, tzinfo=UTC)


@pytest.mark.slow
@given(
    now=st.integers(0, 10_000_000).map(lambda minutes: datetime(2024, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)),
    ago=st.integers(0, 60),
    day=st.integers(0, 60),
)
def test_no_session_lies_in_the_future_and_starts_are_weekdays(now: datetime, ago: int, day: int) -> None:
    calendar = Calendar(now, random.Random(1))
    assert calendar.days_ago(ago).weekday() < 5
    assert calendar.session(calendar.days_ago(ago), day) < now
    assert calendar.later(now - timedelta(hours=1), (3, 40)) < now


def test_a_queue_is_spread_over_all_days_in_order() -> None:
    assert spread("abcd", 2) == [("a", 1), ("b", 1), ("c", 2), ("d", 2)]
