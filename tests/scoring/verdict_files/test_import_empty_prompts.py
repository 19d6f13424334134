"""Rows of results whose ``prompt`` is empty, or has instructions alone."""

from __future__ import annotations

from typing import Any

import pytest

from rubrics.parsing.faults import Faults
from scoring.verdict_files import Shape, graded_responses
from scoring.verdict_files.graded import GradedResponse

QUESTION = {"role": "user", "content": "May I take both?"}
REPLY = {"role": "assistant", "content": "No."}


def row(**fields: Any) -> dict[str, Any]:
    return {
        "prompt_id": "one",
        "rubrics": [{"criterion": "Says no", "points": 3, "tags": []}],
        "responses": [{"criteria_met": True, "explanation": ""}],
        **fields,
    }


def read(fields: dict[str, Any]) -> GradedResponse:
    faults = Faults()
    (response,) = graded_responses([(1, "", fields)], faults, Shape.GRADED_RESPONSES, candidate="alpha")
    faults.refuse_if_any()
    return response


@pytest.mark.parametrize("instructions", ["system", "developer"])
def test_only_turns_of_the_conversation_are_compared(instructions: str) -> None:
    turns = [{"role": instructions, "content": "Be brief."}, REPLY]
    assert read(row(prompt=[QUESTION], prompt_response=turns)).text == "No."


@pytest.mark.parametrize("prompt", ["", "  \n"])
def test_an_empty_prompt_is_as_none(prompt: str) -> None:
    response = read(row(prompt=prompt, prompt_response=[QUESTION, REPLY]))
    assert response.case is not None and [turn["content"] for turn in response.case.conversation] == [
        "May I take both?"
    ]
