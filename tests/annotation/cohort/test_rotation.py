"""Rotation plans: everybody does each part equally often, and nobody does two in a round."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.cohort.rotation import rotate, turns_of


def test_four_people_take_turns() -> None:
    """By hand: a circle of four, two annotators and a checker; each round everybody moves on by one place."""
    plan = rotate(["a", "b", "c", "d"], {"annotator": 2, "checker": 1}, rounds=4, seed=1)
    order = [plan[0].parts["annotator"], plan[0].parts["checker"], plan[0].free]
    assert sorted(name for names in order for name in names) == ["a", "b", "c", "d"]
    assert turns_of(plan) == {name: {"annotator": 2, "checker": 1} for name in "abcd"}
    # Who checks in a round was the second annotator before, and is free in the next.
    for before, after in itertools.pairwise(plan):
        assert before.parts["checker"] == after.free
        assert set(after.parts["checker"]) < set(before.parts["annotator"])


@given(
    n=st.integers(1, 9),
    parts=st.dictionaries(st.sampled_from(["annotator", "checker", "author"]), st.integers(0, 4), min_size=1),
    cycles=st.integers(1, 3),
    seed=st.integers(0, 9),
)
def test_after_whole_cycles_everybody_has_done_the_same(n: int, parts: dict[str, int], cycles: int, seed: int) -> None:
    people = [f"p{number}" for number in range(n)]
    if not 0 < sum(parts.values()) <= n:
        with pytest.raises(ValueError, match="people"):
            rotate(people, parts, rounds=1, seed=seed)
        return
    plan = rotate(people, parts, rounds=cycles * n, seed=seed)
    for each in plan:
        names = [name for group in (*each.parts.values(), each.free) for name in group]
        assert sorted(names) == people
        assert {part: len(group) for part, group in each.parts.items()} == parts
    for part, number in parts.items():
        done = Counter(name for each in plan for name in each.parts[part])
        assert all(done[name] == cycles * number for name in people)


def test_the_order_of_names_has_no_influence() -> None:
    people = ["x", "y", "z"]
    assert rotate(people, {"author": 1}, rounds=5, seed=3) == rotate(people[::-1], {"author": 1}, rounds=5, seed=3)


def test_a_person_named_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="twice"):
        rotate(["x", "x"], {"author": 1}, rounds=1, seed=0)
