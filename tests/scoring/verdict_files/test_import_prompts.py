"""Result rows that hold the conversation in ``prompt`` and the reply alone beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubrics.models import Case, Response, RubricItem
from rubrics.parsing.faults import Faults
from scoring.models import Verdict
from scoring.verdict_files import Shape, graded_responses
from tests.scoring.verdict_files.verdict_lists import Row, load, put_lines, refused

PROMPT = [
    {"role": "user", "content": "I have had a cough for three days."},
    {"role": "assistant", "content": "Do you have a fever?"},
    {"role": "user", "content": "No."},
]
REPLY = {"role": "assistant", "content": "Rest and drink."}


def row(**changes: Any) -> Row:
    """A result row with two criteria, one of them met; without its conversation."""
    fields = {
        "prompt_id": "p-1",
        "model": "omega",
        "rubrics": [
            {"criterion": "Asks about smoking.", "points": 5, "tags": ["axis:accuracy"]},
            {"criterion": "Recommends antibiotics.", "points": -8, "tags": []},
        ],
        "responses": [{"response_dict": {"criteria_met": met, "explanation": ""}} for met in (True, False)],
        **changes,
    }
    return {name: value for name, value in fields.items() if value is not None}


@pytest.mark.parametrize(
    "reply",
    [
        {"prompt_response": [REPLY]},
        {"prompt_response": REPLY["content"]},
        {"completion": REPLY["content"]},
        {"prompt_response": [*PROMPT, REPLY]},
        {"prompt_response": [{"role": "system", "content": "Answer briefly."}, *PROMPT, REPLY]},
    ],
    ids=["the turn alone", "a text", "completion", "the whole conversation", "the whole under instructions"],
)
def test_a_row_with_its_prompt_makes_case_rubric_and_response(db: None, tmp_path: Path, reply: Row) -> None:
    output = load(put_lines(tmp_path / "b.jsonl", [row(prompt=PROMPT, **reply)]), "fresh")
    assert "verdicts: 2 created" in output
    case = Case.objects.get()
    assert (case.key, case.conversation) == ("p-1", PROMPT)
    assert Response.objects.get().text == "Rest and drink."
    items = RubricItem.objects.filter(rubric__case=case, rubric__status="published").order_by("position")
    assert list(items.values_list("points", flat=True)) == [5, -8]
    assert list(Verdict.objects.order_by("criterion").values_list("outcome", flat=True)) == ["met", "not_met"]


def test_a_prompt_that_is_a_text_is_the_users_one_turn(db: None, tmp_path: Path) -> None:
    load(put_lines(tmp_path / "b.jsonl", [row(prompt="I feel dizzy.", completion="Sit down.")]), "fresh")
    assert Case.objects.get().conversation == [{"role": "user", "content": "I feel dizzy."}]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"prompt": PROMPT, "prompt_response": [*PROMPT[:2], REPLY]}, "prompt_response"),
        ({"prompt": PROMPT[:1], "prompt_response": [*PROMPT, REPLY]}, "prompt_response[1]"),
        (
            {"prompt": PROMPT, "prompt_response": [{**PROMPT[0], "content": "Other."}, *PROMPT[1:], REPLY]},
            "prompt_response[0]",
        ),
        (
            {"prompt": PROMPT, "prompt_response": [{"role": "system", "content": "S"}, *PROMPT[1:], REPLY]},
            "prompt_response[1]",
        ),
    ],
)
def test_a_prompt_that_differs_from_the_turns_before_the_reply_is_refused(
    db: None, tmp_path: Path, changes: Row, field: str
) -> None:
    other = row(prompt_id="p-0", prompt=PROMPT, completion="Fine.")
    faults = refused(put_lines(tmp_path / "b.jsonl", [other, row(**changes)]), "fresh")
    assert f"line 2, {field}: The text before the reply does not match the conversation in “prompt”." in faults
    assert not Case.objects.exists()


def test_a_prompt_of_another_kind_is_named_and_one_that_is_missing_too(db: None, tmp_path: Path) -> None:
    path = put_lines(tmp_path / "b.jsonl", [row(prompt={"role": "user"}, prompt_response=[REPLY])])
    assert "line 1, prompt: This must be a list of turns." in refused(path, "fresh")
    path = put_lines(tmp_path / "b.jsonl", [row(prompt_response=[REPLY])])
    assert "line 1, prompt_id: There is no case “p-1” in this benchmark, and the row has no prompt" in refused(
        path, "fresh"
    )


words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).filter(str.strip)
turns = st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant"]), "content": words})


@pytest.mark.slow
@given(st.lists(turns, max_size=4), words, words, st.sampled_from(["alone", "text", "whole", "completion"]))
def test_any_conversation_is_the_prompt_wherever_the_reply_is(
    earlier: list[Row], question: str, reply: str, way: str
) -> None:
    conversation = [*earlier, {"role": "user", "content": question}]
    turn = {"role": "assistant", "content": reply}
    beside: Row = {
        "alone": {"prompt_response": [turn]},
        "text": {"prompt_response": reply},
        "whole": {"prompt_response": [*conversation, turn]},
        "completion": {"completion": reply},
    }[way]
    faults = Faults()
    records = [(1, "", row(prompt=conversation, **beside))]
    (response,) = graded_responses(records, faults, Shape.GRADED_RESPONSES)
    assert not faults.total
    assert response.case is not None
    assert (list(response.case.conversation), response.text) == (conversation, reply)
