"""Finds a quote in a text. Pure."""

from __future__ import annotations

import unicodedata


def quote_span(quote: str, text: str) -> tuple[int, int] | None:
    """Where ``quote`` stands first in ``text``, as offsets of characters; None where it does not.

    Both are compared in NFC, with every run of white space as one blank and without blanks around the quote.
    """
    words = "".join(piece for piece, _start, _end in _folded(quote)).strip()
    if not words:
        return None
    pieces = _folded(text)
    starts: list[int] = []
    ends: list[int] = []
    for piece, start, end in pieces:
        starts += [start] * len(piece)
        ends += [end] * len(piece)
    place = "".join(piece for piece, _start, _end in pieces).find(words)
    return None if place < 0 else (starts[place], ends[place + len(words) - 1])


def _folded(text: str) -> list[tuple[str, int, int]]:
    """The text in NFC with single blanks, in pieces that each know where they come from."""
    pieces: list[tuple[str, int, int]] = []
    at = 0
    while at < len(text):
        end = at + 1
        if text[at].isspace():
            while end < len(text) and text[end].isspace():
                end += 1
            pieces.append((" ", at, end))
        else:
            # Nothing below U+0300 combines with what stands before it.
            while end < len(text) and text[end] >= "\u0300" and _combines(text[at:end], text[end]):
                end += 1
            pieces.append((unicodedata.normalize("NFC", text[at:end]), at, end))
        at = end
    return pieces


def _combines(before: str, character: str) -> bool:
    normalized = unicodedata.normalize("NFC", before) + unicodedata.normalize("NFC", character)
    return bool(unicodedata.combining(character)) or unicodedata.normalize("NFC", before + character) != normalized
