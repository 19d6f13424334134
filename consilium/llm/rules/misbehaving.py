"""Models that break one rule each on purpose, to show what a run makes of it. Pure."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

from consilium.llm.rules.drafting.misbehaviour import MISBEHAVIOURS as OF_DRAFTING

Answer = dict[str, Any]
Texts = Mapping[str, str]  # the fences of the request
Misbehaviour = Callable[[str, Answer, Texts, random.Random], str]

NEW_DOSE = "Take 750 mg of paracetamol twice a day."
_BEYOND = 1000  # added to a number, it is that of no criterion


def written(answer: Answer) -> str:
    """An answer as text."""
    return json.dumps(answer, ensure_ascii=False)


def always_a(stage: str, answer: Answer, texts: Texts, draw: random.Random) -> str:
    """The response A is better, whatever the two are."""
    return written(_decided(answer, "A", met_a=True, score_a=10))


def always_same(stage: str, answer: Answer, texts: Texts, draw: random.Random) -> str:
    """The two responses are the same, whatever they are."""
    return written(_decided(answer, "same", met_a=False, score_a=0))


def _decided(answer: Answer, decision: str, *, met_a: bool, score_a: int) -> Answer:
    """A comparison with another outcome; any other answer stays."""
    if "decision" not in answer:
        return answer
    if "items" in answer:
        items = [{**item, "met_a": met_a, "met_b": False} for item in answer["items"]]
        return {**answer, "items": items, "decision": decision}
    return {**answer, "score_a": score_a, "score_b": 0, "decision": decision}


def new_dose(stage: str, answer: Answer, texts: Texts, draw: random.Random) -> str:
    """An edit also adds a dose that is neither in the base nor in the plan."""
    return written({**answer, "text": f"{answer['text']} {NEW_DOSE}"} if stage == "edit" else answer)


def prose(stage: str, answer: Answer, texts: Texts, draw: random.Random) -> str:
    """The object stands between two sentences."""
    return f"Here is my answer.\n\n{written(answer)}\n\nI hope that this helps."


def unknown(stage: str, answer: Answer, texts: Texts, draw: random.Random) -> str:
    """Every number of a criterion or an edit is one that does not exist."""
    return written(_beyond(answer))


def _beyond(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        return {key: _beyond(entry, key) for key, entry in value.items()}
    if isinstance(value, list):
        return [_beyond(entry, name) for entry in value]
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value + _BEYOND if is_number and name in {"by", "criterion", "criteria", "edits_done"} else value


def fuzz(stage: str, answer: Answer, texts: Texts, draw: random.Random) -> str:
    """The answer is broken in one of many ways, drawn from the request; now and then it is left as it is."""
    text = written(answer)
    place = draw.randrange(len(text) + 1)
    key = draw.choice(sorted(answer))
    odd: Any = draw.choice([None, True, "x", -1, 0.5, [], {}, ["x"], {"x": 1}, 10**30, "\x00", "\u202e"])
    ways = (
        text,
        "",
        text[:place],
        f"{text[:place]}\x00{text[place:]}",
        f"{text[:place]}{draw.choice(['{', '}', '[', ',', chr(34), 'NaN', '1e999'])}{text[place:]}",
        f"{text}{text}",
        f"[{text}]",
        "null",
        "[" * 5000,
        written({**answer, key: odd}),
        written({name: value for name, value in answer.items() if name != key}),
        written({**answer, "extra": odd}),
        f'{{"{key}": 1, {text[1:]}',
        "I cannot help with that.",
    )
    return draw.choice(ways)


def _as_text(change: Callable[[str, Answer, Texts], Answer]) -> Misbehaviour:
    return lambda stage, answer, texts, draw: written(change(stage, answer, texts))


MISBEHAVING: Mapping[str, Misbehaviour] = {
    "rules-always-a": always_a,
    "rules-always-same": always_same,
    "rules-new-dose": new_dose,
    "rules-prose": prose,
    "rules-unknown": unknown,
    "rules-fuzz": fuzz,
    **{name: _as_text(change) for name, change in OF_DRAFTING.items()},
}


def draw_of(request: Any) -> random.Random:
    """Draws that depend on the request alone."""
    return random.Random(sha256(json.dumps(request, sort_keys=True).encode()).digest())
