"""What `loopback_judge.py` answers in the stages of drafting: always the same, in the form of the stage.

Its quotation stands in every passage that `drafting.py` imports, so that facts are usable and every stage is asked.
"""

from __future__ import annotations

import json
import re
from typing import Any

SENTENCE = "Give 15 mg/kg of paracetamol every 4 to 6 hours to a child with fever."
_STAGE = re.compile(r"^Stage: (\w+)$", re.MULTILINE)
_FACT = {"text": SENTENCE, "passage": 1, "quote": SENTENCE}
_CRITERION = {
    "text": "States that paracetamol is given at 15 mg/kg every 4 to 6 hours.",
    "points": 7,
    "axis": "accuracy",
    "facts": [1],
    "needs": [],
    "why": "Made up for a measurement.",
}
_AUDIT = ("add", "unsupported", "irrelevant", "contradicts", "merge", "split", "reword")
ANSWERS: dict[str, dict[str, Any]] = {
    "draft_plan": {
        "intent": "How much paracetamol to give.",
        "queries": [
            {"text": "paracetamol dose child fever", "looking_for": "dose"},
            {"text": "fever child hours", "looking_for": "recommendation"},
            {"text": "paracetamol child", "looking_for": "background"},
        ],
    },
    "rank": {"order": [{"passage": number, "why": "It fits."} for number in range(1, 6)]},
    "evidence": {"statements": [_FACT], "red_flags": [], "conflicts": []},
    "facts": {"facts": [{"kind": "number", **_FACT}]},
    "relevance": {"drop": []},
    "support": {"checks": [{"fact": 1, "support": "entails", "why": "It says so."}]},
    "needs": {"register": "lay", "state": "Worried.", "asks": [], "missing": [], "tone": [], "form": []},
    "synthesis": {"criteria": [_CRITERION]},
    "direct": {"criteria": [{**_CRITERION, "facts": []}]},
    "audit": {name: [] for name in _AUDIT},
}


def drafted(text: str) -> str | None:
    """The answer to a request of drafting; None for any other."""
    stage = _STAGE.search(text)
    answer = ANSWERS.get(stage[1]) if stage else None
    return None if answer is None else json.dumps(answer)
