"""A chat endpoint on this machine that follows rules and is no language model, for the time of loading the demo.

Its models are the made-up candidates of `demo.acuity.ASKED`, which choose a level or answer as to a patient, and a
judge, which reads the level that an answer advises. All of them know the made-up messages, and nothing else. Server,
handshake and the names by which runs see that no language model answered are those of `consilium.llm.rules`.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from django.conf import settings

from consilium.llm.rules.completion import completion, envelope
from consilium.llm.rules.names import MODEL, PREFIX
from consilium.llm.rules.server import Complete, serving
from demo.acuity import ASKED, LETTERS, N_MESSAGES, DemoReader, keyed_draw, place_of, text_of, urgency_of
from demo.messages import CONDITION, advice_of, answer_text
from rubrics.acuity.scales import FOUR

JUDGE_MODEL = f"{PREFIX}judge"
ESCALATION_RATE = 0.4  # of answers below the most urgent level
MISREADING_RATE = 0.08  # of the judge
REFUSAL = "I'm sorry, I cannot help with that."
_REPLY = re.compile(r"^<<<REPLY (\w+)\n(.*)\n>>>REPLY \1$", re.DOTALL | re.MULTILINE)


def model_of(reader: DemoReader) -> str:
    """The name of a candidate's model."""
    return f"{PREFIX}{reader.name.lower()}"


class Rules:
    """What the models answer; the same request always gets the same answer."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.readers = {model_of(reader): reader for reader in ASKED}
        self.numbers = {text_of(seed, number): number for number in range(1, N_MESSAGES + 1)}

    def completion(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """A chat completion."""
        model, messages = str(request["model"]), request["messages"]
        logprobs = None
        if model == JUDGE_MODEL:
            text = self._reading(messages[-1]["content"])
        elif messages[0]["role"] == "system":
            text, logprobs = self._choice(self.readers[model], messages[-1]["content"], request)
        else:
            text = self._answer(self.readers[model], messages[-1]["content"])
        return envelope(request, text, logprobs if request.get("logprobs") else None)

    def _number(self, content: str) -> int:
        return next(number for text, number in self.numbers.items() if text in content)

    def _choice(
        self, reader: DemoReader, content: str, request: Mapping[str, Any]
    ) -> tuple[str, list[dict[str, Any]] | None]:
        """A letter and a confidence, with the log probabilities of the letter."""
        number = self._number(content)
        draw = keyed_draw(self.seed, "choice", number, reader.name, request.get("seed", 0))
        if draw.random() < reader.unusable:
            return REFUSAL, None
        reading = urgency_of(self.seed, number) + reader.leaning
        reading += keyed_draw(self.seed, "view", number, reader.name).gauss(0, reader.scatter)
        weights = [math.exp(-((place - reading) ** 2) / (2 * reader.scatter)) for place in range(len(FOUR))]
        shares = [0.97 * weight / sum(weights) for weight in weights]
        place = draw.choices(range(len(FOUR)), shares)[0]
        confidence = str(max(5, min(99, round(60 + 40 * shares[place] - draw.uniform(0, 25)))))
        top = [{"token": letter, "logprob": math.log(share)} for letter, share in zip(LETTERS, shares, strict=True)]
        first = {**top[place], "top_logprobs": sorted(top, key=lambda token: -float(str(token["logprob"])))}
        rest = [{"token": token, "logprob": -0.1, "top_logprobs": []} for token in ("\n", confidence)]
        return f"{LETTERS[place]}\n{confidence}", [first, *rest]

    def _answer(self, reader: DemoReader, content: str) -> str:
        """An answer as to a patient."""
        number = self._number(content)
        draw = keyed_draw(self.seed, "answer", number, reader.name)
        level = None
        if draw.random() >= reader.unusable:
            level = place_of(urgency_of(self.seed, number) + reader.leaning_chat + draw.gauss(0, reader.scatter))
        escalates = level is not None and level < len(FOUR) - 1 and draw.random() < ESCALATION_RATE
        return answer_text(level, escalates, draw)

    def _reading(self, content: str) -> str:
        """What the judge reads in an answer: now and then the level next to it."""
        match = _REPLY.search(content)
        reply = match[2] if match else ""
        known = advice_of(reply)
        level = known.level
        if level is not None:
            level = misread(level, MISREADING_RATE, keyed_draw(self.seed, "judge", self._number(content), reply))
        return json.dumps(
            {
                "explanation": "It says so in the quoted words." if known.quote else "It only asks back.",
                "level": "none" if level is None else FOUR.values[level],
                "escalation": FOUR.values[-1] if known.escalates else "none",
                "condition": CONDITION if known.escalates else "",
                "quote": known.quote,
            }
        )


def misread(level: int, rate: float, draw: random.Random) -> int:
    """A level as somebody reads it who takes the one next to it at this rate."""
    if draw.random() >= rate:
        return level
    return max(0, min(len(FOUR) - 1, level + draw.choice((-1, 1))))


@contextmanager
def rules_endpoint(seed: int) -> Iterator[str]:
    """Serve the rules on a free port of this machine, and give the address.

    Meanwhile this process, and no other, may call it: whoever loads the demo allows that.
    """
    rules = Rules(seed)
    with _allowed(rules.completion, (*rules.readers, JUDGE_MODEL)) as url:
        yield url


@contextmanager
def stages_endpoint() -> Iterator[str]:
    """The same for the rules that answer stages of requests, such as coverage."""
    with _allowed(completion, (MODEL,)) as url:
        yield url


@contextmanager
def _allowed(complete: Complete, models: Sequence[str]) -> Iterator[str]:
    with serving(complete, models) as address, host_allowed(address):
        yield f"http://{address}/v1"


@contextmanager
def host_allowed(address: str) -> Iterator[None]:
    """Let this process call an address (``HOST:PORT``) meanwhile."""
    allowed = settings.JUDGE_ALLOWED_HOSTS
    settings.JUDGE_ALLOWED_HOSTS = [*allowed, address]
    try:
        yield
    finally:
        settings.JUDGE_ALLOWED_HOSTS = allowed
