"""Totals of a trial are added up from the points of its criteria, also of those that cost points."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest

from scoring.pipelines.kind import Answer
from validation.trials.config import TrialConfig
from validation.trials.content import Trial
from validation.trials.kind import KIND


class Given:
    """An answer of a model, as text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def usable(self) -> str:
        return self.text


# Points 5, -3 and 2. A meets all three: 5 - 3 + 2 = 4. B meets the second alone: -3.
@pytest.mark.parametrize(("order", "reference", "candidate"), [("r", 4, -3), ("c", -3, 4)])
def test_points_are_added_with_their_sign(order: str, reference: int, candidate: int) -> None:
    items = [
        {"criterion": 3, "met_a": True, "met_b": False},
        {"criterion": 1, "met_a": True, "met_b": False},
        {"criterion": 2, "met_a": True, "met_b": True},
    ]
    value = {
        "criteria": [["Names the dose.", 5, ""], ["Calls it harmless.", -3, ""], ["Names signs.", 2, ""]],
        "is_reference_first": order == "r",
    }
    # The model states the opposite, which changes no total.
    answer = cast(Answer, Given(json.dumps({"items": items, "decision": "B"})))
    output: Any = KIND.output(cast(TrialConfig, None), Trial("0", 0, order, 0).step, value, answer)
    assert (output["total_reference"], output["total_candidate"]) == (reference, candidate)
    assert output["stated"] == ("candidate" if order == "r" else "reference")
