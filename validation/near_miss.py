"""Near-miss pairs: a reference and a candidate that differs from it in one place, by a single error. Pure.

A model or a physician names words of the reference and what stands in their stead; the candidate is made by code, so
that all else is the same, byte for byte. Of two texts from a file, `changed_span` gives the one region that they differ
in. Offsets count code points, as PostgreSQL does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from consilium.core.limits import MAX_PAIR_CHANGE_LENGTH
from consilium.core.phrases import Phrase

MAX_FIND_LENGTH = 200
MAX_REPLACE_LENGTH = 1_000
MAX_CHANGED_SHARE = 0.15  # of the words; a text from a file that differs in more brings a warning
# A word, where scripts without blanks count each sign: Han, Kana, Hangul is written with blanks.
_WORD = re.compile(
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|[^\W\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+"
)


class UnusableEdit(ValueError):
    """An edit that makes no near miss; ``kind`` is for code, ``phrase`` for whoever wrote it."""

    def __init__(self, kind: str, phrase: str) -> None:
        self.kind = kind
        self.phrase = phrase
        super().__init__(str(phrase))


@dataclass(frozen=True, slots=True)
class ChangedSpan:
    """Where two texts differ: from ``start`` in both to an end in each. All before and behind is the same."""

    start: int
    reference_end: int
    candidate_end: int


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A candidate with the place of its error."""

    candidate: str
    span: ChangedSpan


def near_miss(reference: str, find: str, replace: str) -> NearMiss:
    """The reference with ``find``, which it holds exactly once, replaced; `UnusableEdit` says what is wrong."""
    if not find:
        raise UnusableEdit("empty_find", Phrase("The words to replace are empty."))
    if len(find) > MAX_FIND_LENGTH:
        raise UnusableEdit(
            "long_find", Phrase("The words to replace are longer than %(n)s characters.", n=MAX_FIND_LENGTH)
        )
    if len(replace) > MAX_REPLACE_LENGTH:
        raise UnusableEdit(
            "long_replace", Phrase("The replacement is longer than %(n)s characters.", n=MAX_REPLACE_LENGTH)
        )
    start = reference.find(find)
    if start < 0:
        raise UnusableEdit("absent", Phrase("The reference does not contain these words."))
    if reference.find(find, start + 1) >= 0:
        raise UnusableEdit("repeated", Phrase("The reference contains these words more than once."))
    if find == replace:
        raise UnusableEdit("same", Phrase("The replacement is the same as the words to replace."))
    candidate = reference[:start] + replace + reference[start + len(find) :]
    if not candidate.strip():
        raise UnusableEdit("nothing_left", Phrase("This would leave nothing of the reference."))
    return NearMiss(candidate, ChangedSpan(start, start + len(find), start + len(replace)))


def changed_span(reference: str, candidate: str) -> ChangedSpan | None:
    """The shortest span outside of which two texts are the same, grown to whole words; None where they are the same."""
    if reference == candidate:
        return None
    shorter = min(len(reference), len(candidate))
    start = next((place for place in range(shorter) if reference[place] != candidate[place]), shorter)
    behind = 0
    while behind < shorter - start and reference[-1 - behind] == candidate[-1 - behind]:
        behind += 1
    while start and _within_word(reference, candidate, start):
        start -= 1
    while behind and _within_word(reference, candidate, -behind):
        behind -= 1
    return ChangedSpan(start, len(reference) - behind, len(candidate) - behind)


def _within_word(reference: str, candidate: str, place: int) -> bool:
    """Whether a place splits a word of one of two texts: ``60`` against ``600`` differs in the whole number."""
    return any(_is_joined(text, place if place >= 0 else len(text) + place) for text in (reference, candidate))


def _is_joined(text: str, place: int) -> bool:
    if not 0 < place < len(text):
        return False
    before, after = text[place - 1], text[place]
    if not (before.isalnum() and after.isalnum()):
        return False
    match = _WORD.match(text, place - 1)
    return match is not None and match.end() > place


def changed_share(reference: str, candidate: str, span: ChangedSpan) -> float:
    """The share of the words that the span holds, of that text in which it is the greater."""
    ends = ((reference, span.reference_end), (candidate, span.candidate_end))
    return max(n_words(text[span.start : end]) / max(n_words(text), 1) for text, end in ends)


def change_words(before: str, after: str) -> str:
    """What was changed, as text."""
    return f"“{before}” → “{after}”"[:MAX_PAIR_CHANGE_LENGTH]


def n_words(text: str) -> int:
    """The number of words; of scripts without blanks, of signs."""
    return sum(1 for _match in _WORD.finditer(text))


def import_warning(reference: str, candidate: str, span: ChangedSpan) -> str:
    """Why two texts from a file may differ in more than a single error; empty where they differ in few words."""
    share = changed_share(reference, candidate, span)
    if share <= MAX_CHANGED_SHARE:
        return ""
    return Phrase("The texts differ in %(share)s%% of their words.", share=round(100 * share))
