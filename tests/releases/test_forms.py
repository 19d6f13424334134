"""The two forms of a case, without a database."""

from __future__ import annotations

from collections import Counter
from typing import Any

from releases.content.clinconsensus import KEYS, clinconsensus
from releases.content.healthbench import healthbench
from releases.content.record import ReleasedCase, ReleasedCriterion


def case(**changes: Any) -> ReleasedCase:
    values: dict[str, Any] = {
        "key": "c-1",
        "conversation": [{"role": "user", "content": "My head hurts."}],
        "criteria": (ReleasedCriterion(1, "Asks since when.", 5), ReleasedCriterion(2, "Prescribes opioids.", -8)),
        "difficulty": "high",
        "register": "lay",
        "tags": ("theme:hedging", "specialty:neurology", "specialty:pain", "task:triage"),
        "written_here": True,
    }
    return ReleasedCase(**{**values, **changes})


def test_a_case_that_was_written_here_has_exactly_the_keys_of_clinconsensus() -> None:
    counts: Counter[str] = Counter()
    assert clinconsensus(case(reference_answer="Rest."), reference_answer=False, left_out=counts) == {
        "case_id": "c-1",
        "difficulty": "high",
        "task": "triage",
        "task_labels": ["triage"],
        "subject": "neurology",
        "subject_labels": ["neurology", "pain"],
        "user_role": "lay",
        "clinical_context": "",
        "user_request": "My head hurts.",
        "rubrics": ["Asks since when."],  # the negative one would read as something wanted
    }
    assert counts["criteria_with_negative_points"] == 1
    assert counts["criteria_with_other_points"] == 1
    with_answer = clinconsensus(case(reference_answer="Rest."), reference_answer=True, left_out=counts)
    assert with_answer is not None
    assert list(with_answer) == [*KEYS, "reference_answer"]


def test_turns_before_the_last_become_the_context_with_their_speakers() -> None:
    counts: Counter[str] = Counter()
    turns = [
        {"role": "user", "content": "I cough."},
        {"role": "assistant", "content": "Since when?"},
        {"role": "user", "content": "For a week."},
    ]
    row = clinconsensus(case(conversation=turns), reference_answer=False, left_out=counts)
    assert row is not None
    assert row["clinical_context"] == "User: I cough.\n\nAssistant: Since when?"
    assert row["user_request"] == "For a week."
    assert counts["cases_with_several_turns"] == 1


def test_cases_that_do_not_fit_are_left_out_and_counted() -> None:
    counts: Counter[str] = Counter()
    ends_with_a_reply = [{"role": "user", "content": "I cough."}, {"role": "assistant", "content": "Drink."}]
    assert clinconsensus(case(conversation=ends_with_a_reply), reference_answer=False, left_out=counts) is None
    only_negative = (ReleasedCriterion(1, "Prescribes opioids.", -8),)
    assert clinconsensus(case(criteria=only_negative), reference_answer=False, left_out=counts) is None
    assert +counts == {"cases_without_a_request": 1, "cases_without_positive_criteria": 1}


def test_healthbench_has_its_keys_in_its_order_and_the_canary_of_the_benchmark() -> None:
    row = healthbench(case(), "canary of ours")
    assert list(row) == ["example_tags", "ideal_completions_data", "prompt", "prompt_id", "rubrics", "canary"]
    assert row["rubrics"][1] == {"criterion": "Prescribes opioids.", "points": -8, "tags": []}
    assert row["canary"] == "canary of ours"
    assert "canary" not in healthbench(case(written_here=False), "canary of ours")  # the file had none


def test_labels_follow_the_tags_once_those_were_changed() -> None:
    came = {"context_length": 0, "task": "Diagnose", "task_labels": ["Diagnose", "Diagnose"], "user_role": "doctor"}
    counts: Counter[str] = Counter()
    same = clinconsensus(case(metadata=came, tags=("task:Diagnose",)), reference_answer=False, left_out=counts)
    changed = clinconsensus(case(metadata=came, tags=("task:Triage",)), reference_answer=False, left_out=counts)
    assert same is not None and changed is not None
    assert (same["task"], same["task_labels"]) == ("Diagnose", ["Diagnose", "Diagnose"])
    assert (changed["task"], changed["task_labels"]) == ("Triage", ["Triage"])
