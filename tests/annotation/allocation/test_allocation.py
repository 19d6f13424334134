"""What `allocate` promises, over random groups and bars."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations, pairwise, product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from annotation.allocation.allocate import (
    Allocation,
    Infeasible,
    Item,
    allocate,
    check_sample_size,
    refuse_impossible_pool,
)
from annotation.allocation.specialties import case_specialty, matching

ANNOTATORS = st.sets(st.integers(1, 60), min_size=1, max_size=12)


@st.composite
def work(draw: st.DrawFn, *, most: int = 60) -> tuple[list[Item], list[int], int]:
    cases = draw(st.lists(st.integers(1, 8), min_size=1, max_size=most))
    people = sorted(draw(ANNOTATORS))
    return [Item(100 + n, case) for n, case in enumerate(cases)], people, draw(st.integers(1, len(people)))


def loads(allocation: Allocation, people: list[int]) -> list[int]:
    return [allocation.load.get(person, 0) for person in people]


@pytest.mark.slow
@given(work(), st.booleans(), st.integers(0, 2**40))
def test_each_response_gets_its_annotators_and_loads_differ_by_one_at_most(
    given_work: tuple[list[Item], list[int], int], by_case: bool, seed: int
) -> None:
    items, people, per_item = given_work
    allocation = allocate(items, people, per_item=per_item, seed=seed, by_case=by_case, check_fraction=0)
    takers = defaultdict(set)
    for slot in allocation.slots:
        takers[slot.response].add(slot.annotator)
    assert {response: len(who) for response, who in takers.items()} == {item.response: per_item for item in items}
    assert len(allocation.slots) == per_item * len(items)  # nobody twice on one response
    assert max(loads(allocation, people)) - min(loads(allocation, people)) <= 1


@pytest.mark.slow
@given(work(), st.booleans(), st.integers(0, 2**40), st.data())
def test_positions_are_a_queue_without_gaps_and_cases_stay_together_when_by_case(
    given_work: tuple[list[Item], list[int], int], by_case: bool, seed: int, data: st.DataObject
) -> None:
    items, people, per_item = given_work
    plan = {"per_item": per_item, "seed": seed, "by_case": by_case, "check_fraction": 0.5, "checkers": {900}}
    allocation = allocate(items, people, **plan)
    case = {item.response: item.case for item in items}
    for person in people:
        queue = sorted((slot for slot in allocation.slots if slot.annotator == person), key=lambda slot: slot.position)
        assert [slot.position for slot in queue] == list(range(1, len(queue) + 1))
        if by_case:
            changes = sum(case[a.response] != case[b.response] for a, b in pairwise(queue))
            assert changes == max(0, len({case[slot.response] for slot in queue}) - 1)
    # The same seed gives the same plan, in whatever order rows and people come.
    again = allocate(data.draw(st.permutations(items)), data.draw(st.permutations(people)), **plan)
    assert again == allocation


@pytest.mark.slow
@given(work(), st.data(), st.integers(0, 2**40), st.booleans())
def test_nobody_gets_their_own_response_or_one_they_are_barred_from(
    given_work: tuple[list[Item], list[int], int], data: st.DataObject, seed: int, by_case: bool
) -> None:
    bare, people, per_item = given_work
    items = [Item(i.response, i.case, data.draw(st.none() | st.sampled_from(people))) for i in bare]
    excluded = data.draw(st.sets(st.tuples(st.sampled_from([i.response for i in items]), st.sampled_from(people))))
    free = {i.response: [p for p in people if p != i.author and (i.response, p) not in excluded] for i in items}
    plan = {"per_item": per_item, "seed": seed, "by_case": by_case, "check_fraction": 0, "excluded": excluded}
    if any(len(who) < per_item for who in free.values()):
        with pytest.raises(Infeasible, match="physicians who can grade"):
            allocate(items, people, **plan)
        return
    allocation = allocate(items, people, **plan)
    assert all(slot.annotator in free[slot.response] for slot in allocation.slots)
    assert Counter(slot.response for slot in allocation.slots) == {item.response: per_item for item in items}


@pytest.mark.slow
@settings(max_examples=60)
@given(work(most=5), st.data(), st.integers(0, 2**20))
def test_with_bars_no_other_allocation_is_more_even(
    given_work: tuple[list[Item], list[int], int], data: st.DataObject, seed: int
) -> None:
    items, people, per_item = given_work
    people = people[:4]  # every allocation is tried
    per_item = min(per_item, len(people))
    excluded = data.draw(st.sets(st.tuples(st.sampled_from([i.response for i in items]), st.sampled_from(people))))
    free = [[p for p in people if (i.response, p) not in excluded] for i in items]
    assume(all(len(who) >= per_item for who in free))
    ours = loads(
        allocate(items, people, per_item=per_item, seed=seed, check_fraction=0, excluded=excluded),
        people,
    )
    every = [
        [Counter(p for team in teams for p in team)[person] for person in people]
        for teams in product(*(list(combinations(who, per_item)) for who in free))
    ]
    assert sum(x * x for x in ours) == min(sum(x * x for x in other) for other in every)
    assert max(ours) == min(max(other) for other in every)
    assert min(ours) == max(min(other) for other in every)


def test_who_has_less_to_do_gets_the_odd_response_more() -> None:
    items = [Item(n, n) for n in range(7)]
    for seed, by_case in product(range(20), (True, False)):
        load = allocate(
            items, [1, 2, 3], per_item=1, seed=seed, by_case=by_case, check_fraction=0, existing_load={1: 5, 2: 9, 3: 0}
        ).load
        assert load == {1: 2, 2: 2, 3: 3}


@pytest.mark.parametrize(
    ("slots", "fraction", "size"), [(10, 0.25, 3), (10, 0.15, 2), (100, 0.145, 15), (3, 0.5, 2), (7, 0, 0), (7, 1, 7)]
)
def test_the_check_sample_is_rounded_half_up(slots: int, fraction: float, size: int) -> None:
    assert check_sample_size(slots, fraction) == size
    items = [Item(n, 1) for n in range(slots)]
    assert allocate(items, [1, 2], per_item=1, seed=4, checkers=[3], check_fraction=fraction).checks == size


def test_another_seed_draws_another_plan() -> None:
    items = [Item(n, n // 4) for n in range(40)]
    plans = {allocate(items, [1, 2, 3], per_item=2, seed=seed, check_fraction=0).slots for seed in range(10)}
    assert len(plans) == 10


def test_the_reason_names_what_is_missing() -> None:
    items = [Item(1, 1)]
    with pytest.raises(Infeasible, match=r"^3 annotators per response are required, but the group has 2\. Add"):
        allocate(items, [1, 2], per_item=3, seed=1)
    with pytest.raises(Infeasible, match="no checker"):
        allocate(items, [1, 2], per_item=1, seed=1)
    with pytest.raises(Infeasible, match="no one left to check"):
        allocate(items, [1, 2], per_item=2, seed=1, checkers=[1, 2])
    with pytest.raises(Infeasible, match="no one left to check"):
        allocate([Item(1, 1, author=3)], [1, 2], per_item=1, seed=1, checkers=[3])
    with pytest.raises(Infeasible, match="No response"):
        allocate([], [1, 2], per_item=1, seed=1)


@pytest.mark.slow
@settings(max_examples=60)
@given(work(most=5), st.data(), st.integers(0, 2**20))
def test_capacities_are_kept_where_any_allocation_keeps_them(
    given_work: tuple[list[Item], list[int], int], data: st.DataObject, seed: int
) -> None:
    items, people, per_item = given_work
    people = people[:4]  # every allocation is tried
    per_item = min(per_item, len(people))
    capacity = {p: data.draw(st.integers(0, 6)) for p in people}
    held = {p: data.draw(st.integers(0, 3)) for p in people}
    excluded = data.draw(st.sets(st.tuples(st.sampled_from([i.response for i in items]), st.sampled_from(people))))
    free = [[p for p in people if (i.response, p) not in excluded] for i in items]
    assume(all(len(who) >= per_item for who in free))
    every = [
        [Counter(p for team in teams for p in team)[person] for person in people]
        for teams in product(*(list(combinations(who, per_item)) for who in free))
    ]
    kept = [
        counts
        for counts in every
        if all(n <= max(0, capacity[p] - held[p]) for n, p in zip(counts, people, strict=True))
    ]
    plan = {
        "per_item": per_item,
        "seed": seed,
        "check_fraction": 0,
        "excluded": excluded,
        "by_case": data.draw(st.booleans()),
    }
    if not kept:
        with pytest.raises(Infeasible, match="capacities"):
            allocate(items, people, capacity=capacity, existing_load=held, **plan)
        return
    ours = loads(allocate(items, people, capacity=capacity, existing_load=held, **plan), people)
    assert sum(x * x for x in ours) == min(sum(x * x for x in other) for other in kept)
    assert ours in kept


@pytest.mark.slow
@given(work(), st.data(), st.integers(0, 2**40), st.booleans())
def test_a_preferred_specialty_never_costs_evenness_and_a_required_one_is_kept(
    given_work: tuple[list[Item], list[int], int], data: st.DataObject, seed: int, by_case: bool
) -> None:
    items, people, per_item = given_work
    case = {item.response: item.case for item in items}
    pairs = sorted(product(sorted(set(case.values())), people))
    matches = data.draw(st.sets(st.sampled_from(pairs)))
    plan = {"per_item": per_item, "seed": seed, "check_fraction": 0, "by_case": by_case}

    def matched(allocation: Allocation) -> int:
        return sum((case[slot.response], slot.annotator) in matches for slot in allocation.slots)

    plain = allocate(items, people, **plan)
    preferred = allocate(items, people, matches=matches, **plan)
    assert loads(preferred, people) == loads(plain, people)
    assert matched(preferred) >= matched(plain)
    short = [i for i in items if sum((i.case, p) in matches for p in people) < per_item]
    if short:
        with pytest.raises(Infeasible, match=f"^{len(short)} of {len(items)} responses .* matching specialty"):
            allocate(items, people, matches=matches, match_required=True, **plan)
    else:
        required = allocate(items, people, matches=matches, match_required=True, **plan)
        assert matched(required) == len(items) * per_item


def test_specialists_get_the_cases_of_their_field() -> None:
    items = [Item(n, n // 5) for n in range(20)]  # cases 0 and 1 are of one field, 2 and 3 of another
    matches = {(0, 1), (1, 1), (0, 2), (1, 2), (2, 3), (3, 3), (2, 4), (3, 4)}
    for seed, by_case in product(range(10), (True, False)):
        allocation = allocate(
            items, [1, 2, 3, 4], per_item=1, seed=seed, by_case=by_case, check_fraction=0, matches=matches
        )
        assert allocation.load == {1: 5, 2: 5, 3: 5, 4: 5}
        assert all((slot.response // 5, slot.annotator) in matches for slot in allocation.slots)


def test_specialties_are_compared_through_the_map_without_regard_to_capitals() -> None:
    macro = {"cardiology": "Internal medicine", "Nephrology": "Internal medicine", "emergency_medicine": "Acute care"}
    cases = {1: case_specialty(["theme:x", "specialty:Cardiology", "specialty:surgery"]), 2: case_specialty([])}
    people = {7: "nephrology", 8: "INTERNAL medicine", 9: "Emergency Medicine", 10: ""}
    assert matching(cases, people, macro) == {(1, 7), (1, 8), *((2, person) for person in people)}
    assert matching({1: "surgery"}, {7: "Surgery", 8: "cardiology"}, {}) == {(1, 7)}


def test_a_pool_that_could_never_be_finished_is_refused() -> None:
    items = [Item(1, 1), Item(2, 2, author=5)]
    assert refuse_impossible_pool(items, [4, 5, 6], per_item=2, seed=1, check_fraction=0) == {4: 2, 5: 1, 6: 2}
    with pytest.raises(Infeasible, match="1 of 2 responses have too few physicians"):
        refuse_impossible_pool(items, [4, 5, 6], per_item=3, seed=1, check_fraction=0)
    with pytest.raises(Infeasible, match="no checker"):
        refuse_impossible_pool(items, [4, 5, 6], per_item=2, seed=1)
    with pytest.raises(Infeasible, match="no one left to check"):
        refuse_impossible_pool(items, [4, 5, 6], per_item=2, seed=1, checkers=[4])
    assert refuse_impossible_pool(items, [4, 5, 6], per_item=2, seed=1, checkers=[9]) == {4: 2, 5: 1, 6: 2}
