"""Near misses: the first number of a reference is doubled. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice
from typing import Any

MAX_FIND = 200
MAX_NUMBERS = 20  # so many are looked at
_NUMBER = re.compile(r"(?<![0-9.])[0-9]{1,30}(?:\.[0-9]{1,30})?(?![0-9])")
_UNIT = re.compile(r"\s?(?:mcg|µg|μg|ug|mg|g|kg|ml|mL|l|IU|units?|tablets?|毫克|微克|克|毫升|单位|片)(?![A-Za-z])")


def near_miss(texts: Mapping[str, str]) -> dict[str, Any]:
    """A change of the reference: its first number that can be doubled, with the words that make it unique.

    Without such a number there is nothing to change, and the answer names no place.
    """
    reference = texts["REFERENCE"]
    for match in islice(_NUMBER.finditer(reference), MAX_NUMBERS):
        number = match[0]
        twice = doubled(number)
        find = _unique(reference, match.start(), match.end())
        if twice != number and find:
            kind = "dose" if _UNIT.match(reference, match.end()) else "number"
            replace = twice + find.removeprefix(number)
            return {"kind": kind, "find": find, "replace": replace, "why": f"{twice} is twice {number}."}
    return {"kind": "number", "find": "", "replace": "", "why": "The reference has no number that can be doubled."}


def doubled(number: str) -> str:
    """Twice a number, with as many decimals."""
    _, _, decimals = number.partition(".")
    twice = str(2 * int(number.replace(".", ""))).rjust(len(decimals) + 1, "0")
    return f"{twice[: -len(decimals)]}.{twice[-len(decimals) :]}" if decimals else twice


def _unique(text: str, start: int, end: int) -> str:
    """The shortest text of whole words from a place on that occurs once; empty if it would be too long."""
    for stop in range(end, min(len(text), start + MAX_FIND) + 1):
        in_word = text[stop - 1 : stop + 1].isalnum() and stop < len(text) and text[stop].isascii()
        words = text[start:stop]
        if not in_word and not words[-1].isspace() and text.find(words) == text.rfind(words):
            return words
    return ""
