"""Quotations: whether words stand in a text, and where.

A quotation holds if it stands in the text word for word. These differences do not count, because they come from
typesetting and from copying:

- what NFKC makes equal, such as full-width figures and ligatures;
- the length of a run of white space, and white space between two Han characters;
- the form of quotation marks (double, single, angle, corner) and of dashes;
- soft hyphens, and signs of no width;
- a hyphen at the end of a line between two small letters: the text is read with it and without it, and either counts.

Nothing else is left out or matched approximately: an ellipsis joins nothing. `nearest_words` is for people who look
for what the text says instead.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, lru_cache

from rapidfuzz import fuzz

# Fewer letters and figures would be found nearly anywhere; a Han character weighs as much as three of them.
MIN_QUOTE_LETTERS = 12
HAN_WEIGHT = 3

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# Stands for a hyphen at the end of a line, which may or may not be part of the word. It is in no text.
OPTIONAL_HYPHEN = "\uffff"
ONE_FORM = {
    **dict.fromkeys("'`\u00b4\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u00ab\u00bb\u2039\u203a", '"'),
    **dict.fromkeys("\u300c\u300d\u300e\u300f\u301d\u301e\u301f", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d", "-"),
}
NO_WIDTH = frozenset("\u00ad\u200b\u2060\ufeff")
END_OF_LINE = re.compile(r"[-\u2010\u00ad][^\S\n]*\r?\n\s*")
HAN_BLANK_HAN = re.compile(f"(?<=[{HAN}]) (?=[{HAN}])")
LETTER_OR_FIGURE = re.compile(r"[^\W_]")
HAN_CHARACTER = re.compile(f"[{HAN}]")


class Match(Enum):
    """How a quotation stands in a text."""

    EXACT = "exact"  # character by character
    NORMALISED = "normalised"  # word for word; the form differs as described above
    ABSENT = "absent"
    TOO_SHORT = "too_short"


@dataclass(frozen=True, slots=True)
class Quote:
    """Where a quotation stands: ``text[start:end]``. Both are 0 where it does not."""

    match: Match
    start: int = 0
    end: int = 0

    @property
    def holds(self) -> bool:
        """Whether the text has these words."""
        return self.match in (Match.EXACT, Match.NORMALISED)


class Source:
    """A text in which quotations are looked for; its canonical form is made once, when it is first needed."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _form(self) -> tuple[str, list[int], list[int]]:
        return _canonical(self.text)

    def find(self, quote: str, *, near: int = 0) -> Quote:
        """Where ``quote`` stands. Of several places, the one that begins closest to ``near`` counts."""
        if _weight(quote) < MIN_QUOTE_LETTERS:
            return Quote(Match.TOO_SHORT)
        exact = [(match.start(), match.end()) for match in re.finditer(re.escape(quote), self.text)]
        if exact:
            return Quote(Match.EXACT, *_closest(exact, near))
        normal, starts, ends = self._form
        places = [(starts[match.start()], ends[match.end() - 1]) for match in _pattern(quote).finditer(normal)]
        return Quote(Match.NORMALISED, *_closest(places, near)) if places else Quote(Match.ABSENT)


def find_quote(quote: str, text: str, *, near: int = 0) -> Quote:
    """As `Source.find`, for a text that is searched once."""
    return Source(text).find(quote, near=near)


def nearest_words(quote: str, text: str) -> str:
    """The stretch of ``text`` that is most like ``quote``, in whole words; for people, never for a decision."""
    likeness = fuzz.partial_ratio_alignment(quote, text)
    if likeness is None:
        return ""
    start, end = likeness.dest_start, likeness.dest_end
    while start > 0 and _in_one_word(text, start):
        start -= 1
    while end < len(text) and _in_one_word(text, end):
        end += 1
    return text[start:end].strip()


def _weight(quote: str) -> int:
    han = len(HAN_CHARACTER.findall(quote))
    return len(LETTER_OR_FIGURE.findall(quote)) - han + HAN_WEIGHT * han


def _closest(places: list[tuple[int, int]], near: int) -> tuple[int, int]:
    return min(places, key=lambda place: abs(place[0] - near))


def _in_one_word(text: str, place: int) -> bool:
    """Whether a cut at ``place`` would part a word; Han characters are words of their own."""
    before, after = text[place - 1], text[place]
    return before.isalnum() and after.isalnum() and not HAN_CHARACTER.match(before + after)


@lru_cache(maxsize=256)
def _pattern(quote: str) -> re.Pattern[str]:
    """A pattern that finds a quotation in a canonical text, whose line ends may have hyphens or not."""
    parts = []
    normal, _starts, _ends = _canonical(quote)
    for before, here in zip(" " + normal, normal, strict=False):
        if here == OPTIONAL_HYPHEN:
            parts.append(f"[-{OPTIONAL_HYPHEN}]?")
            continue
        if before.islower() and here.islower():
            parts.append(f"{OPTIONAL_HYPHEN}?")
        parts.append(f"[-{OPTIONAL_HYPHEN}]" if here == "-" else re.escape(here))
    return re.compile("".join(parts))


def _canonical(text: str) -> tuple[str, list[int], list[int]]:
    """The text in one form, and for each of its characters where that began and ended in ``text``.

    No white space at either end.
    """
    signs: list[str] = []
    starts: list[int] = []
    ends: list[int] = []

    def add(sign: str, start: int, end: int) -> None:
        signs.append(sign)
        starts.append(start)
        ends.append(end)

    for cluster, start, end in _clusters(text):
        if cluster == OPTIONAL_HYPHEN:
            if signs and signs[-1].islower() and end < len(text) and text[end].islower():
                add(OPTIONAL_HYPHEN, start, end)
                continue
            # Between other characters a hyphen stays, and the end of the line is white space.
            cluster = "- " if text[start] != "\u00ad" else " "
        for sign in unicodedata.normalize("NFKC", cluster):
            if sign in NO_WIDTH:
                continue
            if not sign.isspace():
                add(ONE_FORM.get(sign, sign), start, end)
            elif signs and signs[-1] != " ":
                add(" ", start, end)
    if signs and signs[-1] == " ":
        signs.pop(), starts.pop(), ends.pop()
    blanks = [match.start() for match in HAN_BLANK_HAN.finditer("".join(signs))]
    for place in reversed(blanks):
        del signs[place], starts[place], ends[place]
    return "".join(signs), starts, ends


def _clusters(text: str) -> Iterator[tuple[str, int, int]]:
    """Stretches that NFKC changes independently of each other, and hyphens at line ends as `OPTIONAL_HYPHEN`."""
    line_ends = {match.start(): match.end() for match in END_OF_LINE.finditer(text)}
    place = 0
    while place < len(text):
        if place in line_ends:
            yield OPTIONAL_HYPHEN, place, line_ends[place]
            place = line_ends[place]
            continue
        end = place + 1
        while end < len(text) and end not in line_ends and _belongs(text[place:end], text[end]):
            end += 1
        yield text[place:end].replace(OPTIONAL_HYPHEN, "\ufffd"), place, end
        place = end


def _belongs(cluster: str, sign: str) -> bool:
    """Whether NFKC treats ``sign`` together with what stands before it."""
    if sign < "\u0300":  # neither a combining sign nor one that composes with what stands before it
        return False
    if unicodedata.combining(sign):
        return True
    both = unicodedata.normalize("NFKC", cluster + sign)
    return both != unicodedata.normalize("NFKC", cluster) + unicodedata.normalize("NFKC", sign)
