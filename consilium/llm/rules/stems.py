"""Word stems and numbers of a text, on which the rules rest. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

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
HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # as a part of a class of characters
_HAN = re.compile(f"[{HAN}]+")
_WORD_OR_HAN = re.compile(f"{_WORD.pattern}|{_HAN.pattern}")


def stems(text: str) -> frozenset[str]:
    """Words and numbers in small letters, without the words that say little, each cut to 5 characters.

    Of Chinese characters in a row, each two neighbours are a stem; one that stands alone is a stem itself.
    """
    return frozenset(stem for stem, _word in stem_words(text))


def stem_words(text: str) -> Iterator[tuple[str, str]]:
    """Each stem with the word that has it, as often and in the order in which they stand in the text."""
    for word in _WORD_OR_HAN.findall(text.lower()):
        if _HAN.match(word):
            yield from ((word[at : at + 2], word[at : at + 2]) for at in range(max(1, len(word) - 1)))
        elif word not in LEFT_OUT:
            yield word[:STEM_LENGTH], word


def numbers(text: str) -> frozenset[str]:
    """The numbers of a text, as they are written."""
    return frozenset(_NUMBER.findall(text))


def is_met(criterion: str, response: frozenset[str], response_numbers: frozenset[str]) -> bool:
    """Whether a response with these stems and numbers meets a criterion.

    It does if it has at least half of the criterion's stems, and all of its numbers.
    """
    own = stems(criterion)
    return bool(own) and 2 * len(own & response) >= len(own) and numbers(criterion) <= response_numbers
