"""The texts of the made-up messages and answers: each is told from every other, and what an answer advises is known."""

from __future__ import annotations

import random
from itertools import permutations

import pytest

from demo import SEED
from demo.acuity import N_MESSAGES, place_of, says_little, text_of, urgency_of
from demo.messages import ADVICE, COMPLAINTS, ONLY_QUESTIONS, UNDER_A_CONDITION, advice_of, answer_text


def test_no_message_is_part_of_another() -> None:
    texts = [text_of(SEED, number) for number in range(1, N_MESSAGES + 1)]
    assert not [(a, b) for a, b in permutations(texts, 2) if a in b]


def test_a_message_shows_its_urgency_unless_it_says_little() -> None:
    for number in range(1, N_MESSAGES + 1):
        pictures, complaint = COMPLAINTS[number % 10]
        picture = complaint if says_little(SEED, number) else pictures[place_of(urgency_of(SEED, number))]
        assert text_of(SEED, number).endswith(f" {picture}")


def test_no_advice_is_part_of_another() -> None:
    sentences = [*(sentence for level in ADVICE for sentence in level), UNDER_A_CONDITION, ONLY_QUESTIONS]
    assert not [(a, b) for a, b in permutations(sentences, 2) if a in b]


@pytest.mark.parametrize("escalates", [True, False])
@pytest.mark.parametrize("level", [None, 0, 1, 2, 3])
def test_what_an_answer_advises_is_known(level: int | None, escalates: bool) -> None:
    for seed in range(20):
        text = answer_text(level, escalates, random.Random(seed))
        known = advice_of(text)
        assert known.level == level
        assert known.escalates == (escalates and level is not None)
        assert known.quote in text and bool(known.quote) == (level is not None)
