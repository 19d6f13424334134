"""What an audit may do to drafted criteria, and what code refuses."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drafting.stages.audit import Ground
from drafting.stages.operations import carry_out
from drafting.stages.result import result_of
from tests.drafting.stages.rows import answered, criterion, fact, need, operations

FACTS = [
    fact(2, "red_flag", "No urine for 12 hours needs an ambulance."),
    fact(3, "red_flag", "Blood in the stool needs an ambulance."),
    fact(5, "prohibition", "Loperamide is not given."),
    fact(7, "number", "5 mL are given every 5 minutes."),
]
NEEDS = [need(1, "asks"), need(4, "missing", "How old is the child?")]
CRITERIA = [
    criterion("Names no urine for 12 hours as a reason to call an ambulance.", 9, (2,)),
    criterion("Names blood in the stool as a reason to call an ambulance.", 9, (3,)),
    criterion("Recommends 5 mL every 5 minutes.", 6, (7,)),
    criterion("Recommends small amounts: 5 mL at a time.", 5, (7,)),
    criterion("Asks how old the child is.", 5, (), (4,)),
]


def done(criteria: list[dict[str, Any]] = CRITERIA, *, limit: int = 20, **some: Any) -> Any:
    return carry_out(operations(**some), criteria, FACTS, NEEDS, limit=limit)


def texts(audited: Any) -> list[str]:
    return [each["text"] for each in audited.criteria]


def refusals(audited: Any) -> list[tuple[str, str]]:
    return [(each["operation"], each["reason"]) for each in audited.refused]


def test_nothing_asked_changes_nothing() -> None:
    assert done().criteria == CRITERIA


def test_a_merge_stands_where_its_first_part_stood_and_has_all_facts() -> None:
    into = answered("Recommends small amounts: 5 mL every 5 minutes.", 6, (4,))
    audited = done(merge=[{"criteria": [4, 3], "into": into}])
    assert texts(audited) == [
        CRITERIA[0]["text"], CRITERIA[1]["text"], "Recommends small amounts: 5 mL every 5 minutes.",
        CRITERIA[4]["text"],
    ]  # fmt: skip
    assert audited.criteria[2]["facts"] == [7]
    assert not audited.refused


def test_two_red_flags_are_not_joined() -> None:
    into = answered("Names no urine for 12 hours and blood in the stool as reasons to call an ambulance.", 10, (1, 2))
    audited = done(merge=[{"criteria": [1, 2], "into": into}])
    assert refusals(audited) == [("merge", "joins")]
    assert texts(audited) == texts(done())
    # Both criteria say so from then on.
    assert [[mark["code"] for mark in each["marks"]] for each in audited.criteria[:2]] == [["operation_refused"]] * 2


def test_a_rewording_joins_no_second_red_flag() -> None:
    into = answered("Names no urine for 12 hours or blood in the stool.", 9, (1, 2))
    assert refusals(done(reword=[{"criterion": 1, "into": into, "why": ""}])) == [("reword", "joins")]


def test_a_merge_that_loses_a_number_is_refused() -> None:
    into = answered("Recommends small amounts of 5 mL.", 6, (4,))
    audited = done(merge=[{"criteria": [3, 4], "into": into}])
    assert refusals(audited) == [("merge", "loses")]
    assert audited.refused[0]["lost"] == ["5 minutes"]


def test_a_merge_that_loses_a_medicine_or_a_time_is_refused() -> None:
    criteria = [
        criterion("Advises stopping ibuprofen immediately.", 6, (7,)),
        criterion("Advises drinking more.", 5, (7,)),
    ]
    audited = done(criteria, merge=[{"criteria": [1, 2], "into": answered("Advises stopping medicines.", 6, ())}])
    assert sorted(audited.refused[0]["lost"]) == ["ibuprofen", "immediately"]


def test_positive_and_negative_points_are_not_merged() -> None:
    criteria = [criterion("Offers soup.", 3, (7,)), criterion("Offers cola.", -3, (7,))]
    audited = done(criteria, merge=[{"criteria": [1, 2], "into": answered("Offers soup.", 3)}])
    assert refusals(audited) == [("merge", "signs")]


def test_a_split_keeps_facts_and_numbers() -> None:
    criteria = [criterion("Recommends 5 mL every 5 minutes and asks for the age.", 6, (7,), (4,))]
    parts = [answered("Recommends 5 mL every 5 minutes.", 6, (4,)), answered("Asks for the age.", 5, (), (2,))]
    audited = done(criteria, split=[{"criterion": 1, "into": parts}])
    assert [(each["text"], each["facts"], each["needs"]) for each in audited.criteria] == [
        ("Recommends 5 mL every 5 minutes.", [7], []), ("Asks for the age.", [], [4]),
    ]  # fmt: skip
    less = [answered("Recommends 5 mL.", 6, (4,)), answered("Asks for the age.", 5)]
    audited = done(criteria, split=[{"criterion": 1, "into": less}])
    assert audited.refused[0]["lost"] == ["5 minutes", "need 4"]
    assert texts(audited) == [criteria[0]["text"]]


def test_a_rewording_may_put_a_wrong_number_right_and_may_not_lose_a_right_one() -> None:
    wrong = [criterion("Recommends 50 mL every 5 minutes.", 6, (7,))]
    right = answered("Recommends 5 mL every 5 minutes.", 6, (4,))
    assert texts(done(wrong, reword=[{"criterion": 1, "into": right, "why": ""}])) == [right["text"]]
    vague = answered("Recommends small amounts.", 6, (4,))
    audited = done(reword=[{"criterion": 3, "into": vague, "why": ""}])
    assert audited.refused[0]["lost"] == ["5 mL", "5 minutes"]


def test_what_alone_carries_a_red_flag_is_not_taken_out() -> None:
    audited = done(irrelevant=[{"criterion": n, "why": "Beside the case."} for n in (1, 3, 4, 5)])
    assert refusals(audited) == [("irrelevant", "uncovers"), ("irrelevant", "uncovers")]
    assert [each["lost"] for each in audited.refused] == [["fact 2"], ["need 4"]]
    assert [each["text"] for each in audited.removed] == [CRITERIA[2]["text"], CRITERIA[3]["text"]]
    assert [each["reason"] for each in audited.removed] == ["Beside the case."] * 2


def test_of_two_criteria_on_one_red_flag_one_may_go() -> None:
    twice = [CRITERIA[0], criterion("Warns of no urine for 12 hours.", 8, (2,))]
    audited = done(twice, irrelevant=[{"criterion": 1, "why": ""}, {"criterion": 2, "why": ""}])
    assert texts(audited) == [twice[1]["text"]]
    assert refusals(audited) == [("irrelevant", "uncovers")]


def test_a_criterion_is_changed_once_in_a_round() -> None:
    right = answered("Recommends 5 mL every 5 minutes.", 6, (4,))
    audited = done(
        merge=[{"criteria": [3, 4], "into": right}],
        reword=[{"criterion": 4, "into": right, "why": ""}],
        irrelevant=[{"criterion": 3, "why": ""}],
    )
    assert refusals(audited) == [("reword", "changed"), ("irrelevant", "changed")]
    assert texts(audited).count(right["text"]) == 1


def test_doubts_mark_what_became_of_the_criterion() -> None:
    parts = [answered("Recommends 5 mL.", 6, (4,)), answered("Recommends a spoon every 5 minutes.", 6, (4,))]
    audited = done(
        split=[{"criterion": 3, "into": parts}],
        unsupported=[{"criterion": 3, "why": "Nobody says spoon."}],
        contradicts=[{"criterion": 4, "with_criterion": 1, "with_fact": 2, "why": "No."}],
    )
    marks = {each["text"]: [mark["code"] for mark in each["marks"]] for each in audited.criteria}
    assert marks["Recommends 5 mL."] == marks["Recommends a spoon every 5 minutes."] == ["unsupported"]
    assert marks[CRITERIA[3]["text"]] == ["contradicts"]
    [mark] = audited.criteria[4]["marks"]
    assert (mark["other"], mark["fact"]) == (CRITERIA[0]["text"], 3)  # the fact with the number 3 in the case


def test_a_mark_outlives_a_rewording_as_a_note() -> None:
    marked = done(unsupported=[{"criterion": 3, "why": "Nobody says so."}]).criteria
    right = answered("Recommends 5 mL every 5 minutes!", 6, (4,))
    [mark] = done(marked, reword=[{"criterion": 3, "into": right, "why": ""}]).criteria[2]["marks"]
    assert (mark["code"], mark["severity"], mark["earlier"]) == ("unsupported", "note", True)


def test_beyond_the_limit_only_what_nothing_else_carries_is_added() -> None:
    add = [answered("Greets the asker.", 1, (), (1,)), answered("Advises against loperamide.", 9, (3,))]
    audited = done(add=add, limit=5)
    assert texts(audited) == [*texts(done()), "Advises against loperamide."]
    assert audited.criteria[-1]["facts"] == [5]
    assert refusals(audited) == [("add", "full")]


# Whatever a model asks for -------------------------------------------------------------------------------------------

WORDS = (
    "no urine for 12 hours",
    "blood in the stool",
    "5 mL",
    "5 minutes",
    "loperamide",
    "immediately",
    "an ambulance",
)
NUMBERS = st.integers(1, len(CRITERIA))
LINKS = (
    st.lists(st.integers(1, len(FACTS)), unique=True).map(tuple),
    st.lists(st.integers(1, 2), unique=True).map(tuple),
)
WRITTEN = st.builds(
    answered,
    st.lists(st.sampled_from(WORDS), min_size=1).map(lambda words: f"Names {', '.join(words)}."),
    st.integers(-10, 10).filter(bool),
    *LINKS,
)
DOUBTS = st.lists(st.fixed_dictionaries({"criterion": NUMBERS, "why": st.just("")}), unique_by=lambda e: e["criterion"])
EXAMPLES = st.fixed_dictionaries(
    {
        "add": st.lists(WRITTEN, max_size=3),
        "unsupported": DOUBTS,
        "irrelevant": DOUBTS,
        "contradicts": st.just([]),
        "merge": st.lists(
            st.fixed_dictionaries({"criteria": st.lists(NUMBERS, min_size=2, unique=True), "into": WRITTEN}), max_size=2
        ),
        "split": st.lists(
            st.fixed_dictionaries({"criterion": NUMBERS, "into": st.lists(WRITTEN, min_size=2, max_size=3)}),
            max_size=2, unique_by=lambda each: each["criterion"],
        ),
        "reword": st.lists(
            st.fixed_dictionaries({"criterion": NUMBERS, "into": WRITTEN, "why": st.just("")}),
            max_size=2, unique_by=lambda each: each["criterion"],
        ),
    }
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(EXAMPLES, st.integers(1, 6))
def test_no_red_flag_is_lost_or_joined_and_no_criterion_goes_silently(example: dict[str, Any], limit: int) -> None:
    audited = done(limit=limit, **example)
    carried = {number for each in audited.criteria for number in each["facts"]}
    assert {2, 3} <= carried  # the red flags that the criteria had
    assert 4 in {number for each in audited.criteria for number in each["needs"]}  # the missing context
    # A criterion with both red flags is one that somebody added.
    added = {each["text"] for each in example["add"]}
    assert all(each["text"] in added for each in audited.criteria if {2, 3} <= set(each["facts"]))
    # Each criterion stands as it was, was taken out, or was named in an operation that was done.
    gone = [
        number
        for number, each in enumerate(CRITERIA, 1)
        if each["text"] not in {*texts(audited), *(row["text"] for row in audited.removed)}
    ]
    named = {number for each in example["merge"] for number in each["criteria"]}
    named |= {each["criterion"] for each in (*example["split"], *example["reword"])}
    assert set(gone) <= named
    # Every number of a criterion that is gone is still there.
    everything = " ".join(texts(audited))
    for number in gone:
        assert all(
            words in everything for words in ("12 hours", "5 mL", "5 minutes") if words in CRITERIA[number - 1]["text"]
        )


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(EXAMPLES, st.integers(1, 6))
def test_the_ledger_has_a_line_for_every_fact_and_need(example: dict[str, Any], limit: int) -> None:
    audited = done(limit=limit, **example)
    unusable = fact(6, is_usable=False, quote_state="absent", passage=None, start=None, end=None, words="")
    ground = Ground(FACTS, NEEDS, [], limit=limit)
    result = result_of(audited.criteria, [*FACTS, unusable], NEEDS, ground, removed=audited.removed, axes=["accuracy"])
    assert [(line["kind"], line["number"]) for line in result["ledger"]] == [
        *(("fact", number) for number in (2, 3, 5, 7, 6)), ("need", 1), ("need", 4),
    ]  # fmt: skip
    for line in result["ledger"]:
        assert bool(line["criteria"]) != bool(line["reason"])
        for number in line["criteria"]:
            assert line["number"] in result["criteria"][number - 1][f"{line['kind']}s"]
    assert next(line["reason"] for line in result["ledger"] if line["number"] == 6) == "quote_absent"
    # Beyond the limit is only what carries a red flag, a prohibition or missing context.
    must = [each for each in result["criteria"] if {2, 3, 5} & set(each["facts"]) or 4 in each["needs"]]
    assert len(result["criteria"]) <= max(limit, len(must))
    assert len(result["criteria"]) + len(result["removed"]) == len(audited.criteria) + len(audited.removed)
