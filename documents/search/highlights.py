"""Which words of a passage a query has found."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from documents.search.index import Terms
from documents.search.words import HAN, HAN_RUN, QUANTITY, quantities, stems

_WORD = re.compile(rf"[0-9]+(?:[.][0-9]+)+(?:(?![{HAN}])[\w%°])*|(?:(?![{HAN}])[\w%°])+")


class Part(NamedTuple):
    """A stretch of a text; the stretches of a text are the whole of it."""

    text: str
    is_match: bool


class Marker:
    """Marks the words of one query in any number of texts."""

    def __init__(self, terms: Terms) -> None:
        self._words = frozenset(terms.words)
        self._pairs = frozenset(terms.pairs)
        self._known: dict[str, bool] = {}  # whether a word is one of the query's: texts repeat their words

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Start and end of each stretch that the query found, in order, without overlaps."""
        folded, places = _folded(text)
        spans: list[tuple[int, int]] = []
        for start, end in sorted(self._matches(folded)):
            start, end = places[start], places[end - 1] + 1
            if spans and start <= spans[-1][1]:
                spans[-1] = spans[-1][0], max(end, spans[-1][1])
            else:
                spans.append((start, end))
        return spans

    def _matches(self, text: str) -> Iterator[tuple[int, int]]:
        free = 0
        for match in QUANTITY.finditer(text):
            yield from self._words_in(text, free, match.start())
            if not self._words.isdisjoint(quantities(match)):
                yield match.span()
            free = match.end()
        yield from self._words_in(text, free, len(text))

    def _words_in(self, text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
        for match in _WORD.finditer(text, start, end) if self._words else ():
            if self._is_known(match[0]):
                yield match.span()
        for match in HAN_RUN.finditer(text, start, end) if self._pairs else ():
            for place in range(match.start(), match.end()):
                if text[place] in self._pairs:
                    yield place, place + 1
                if place + 2 <= match.end() and text[place : place + 2] in self._pairs:
                    yield place, place + 2

    def _is_known(self, word: str) -> bool:
        known = self._known.get(word)
        if known is None:
            known = self._known[word] = not self._words.isdisjoint(stems(word))
        return known


def _folded(text: str) -> tuple[str, Sequence[int]]:
    """The text with one form of each character, and where each character of it comes from."""
    if text.isascii():
        return text, range(len(text))
    forms = [unicodedata.normalize("NFKC", sign) for sign in text]
    return "".join(forms), [place for place, form in enumerate(forms) for _ in form]
