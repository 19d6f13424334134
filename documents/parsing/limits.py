"""What a file of documents may hold, so that reading it takes bounded memory and time."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DocumentLimits:
    """Limits of one file. ``text_bytes`` counts what its texts take in memory: 1, 2 or 4 bytes a character, by the
    widest character of a document.
    """

    file_bytes: int = 200_000_000
    pages: int = 3_000
    text_bytes: int = 50_000_000
    passages: int = 200_000
    documents: int = 50_000
    # Of the process that reads strangers' formats.
    wall_s: float = 300.0
    cpu_s: int = 150
    address_space: int = 1 << 30
    data_bytes: int = 160 << 20  # private memory that can be written, the interpreter's own included
    answer_bytes: int = 400_000_000
    markup_characters: int = 8_000_000  # of one tag, comment or script of a page


LIMITS = DocumentLimits()
PAGE_IMAGE_LIMITS = DocumentLimits(wall_s=15.0, cpu_s=10)  # somebody waits for the page

# A passage has 60 to 220 words. A Han character counts as half a word, so that sizes are in halves of words.
MIN_PASSAGE_SIZE, MAX_PASSAGE_SIZE = 120, 440
WORD_CHARACTERS = 40  # a longer run of characters counts as several words
MAX_HEADING_CHARACTERS = 300  # a longer one is read as a paragraph
MAX_HEADER_CHARACTERS = 1_000  # of a table; what is longer is cut
MAX_ROW_CHARACTERS = 20_000  # a longer row is read as a paragraph
MAX_HEADING_LEVEL = 6
