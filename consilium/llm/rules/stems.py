"""Word stems and numbers of a text, on which the rules rest. Pure."""

from __future__ import annotations

import re

STEM_LENGTH = 5
LEFT_OUT = frozenset(
    (
        *("a", "an", "and", "any", "are", "as", "at", "be", "by", "can", "eg", "for", "from", "has", "have", "if"),
        *("in", "is", "it", "its", "may", "not", "of", "on", "or", "patient", "response", "should", "such", "that"),
        *("the", "their", "they", "this", "to", "user", "with"),
    )
)
_WORD = re.compile(r"[a-z]+|[0-9]+(?:\.[0-9]+)?")
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+")


def stems(text: str) -> frozenset[str]:
    """Words and numbers in small letters, without the words that say little, each cut to 5 characters.

    Of Chinese characters in a row, each two neighbours are a stem; one that stands alone is a stem itself.
    """
    words = frozenset(_WORD.findall(text.lower())) - LEFT_OUT
    pairs = {run[at : at + 2] for run in _HAN.findall(text) for at in range(max(1, len(run) - 1))}
    return frozenset(word[:STEM_LENGTH] for word in words) | pairs


def numbers(text: str) -> frozenset[str]:
    """The numbers of a text, as they are written."""
    return frozenset(_NUMBER.findall(text))


def is_met(criterion: str, response: frozenset[str], response_numbers: frozenset[str]) -> bool:
    """Whether a response with these stems and numbers meets a criterion.

    It does if it has at least half of the criterion's stems, and all of its numbers.
    """
    own = stems(criterion)
    return bool(own) and 2 * len(own & response) >= len(own) and numbers(criterion) <= response_numbers
