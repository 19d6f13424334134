"""From the blocks of a document to its text and passages.

A passage has 60 to 220 words (120 to 440 Han characters). It never continues across a heading, and never begins or
ends inside a row of a table. Passages do not overlap, and every word of the text is in one of them. Where there is a
choice, a passage ends between two blocks, else after a sentence, else at white space. A section shorter than 60 words
is one passage. Only rows of tables can make others that are shorter or longer.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from consilium.core.phrases import Phrase
from documents.parsing.blocks import Block, DocumentFacts
from documents.parsing.limits import (
    LIMITS,
    MAX_HEADER_CHARACTERS,
    MAX_HEADING_CHARACTERS,
    MAX_HEADING_LEVEL,
    MAX_PASSAGE_SIZE,
    MAX_ROW_CHARACTERS,
    MIN_PASSAGE_SIZE,
    WORD_CHARACTERS,
    DocumentLimits,
)
from documents.parsing.parsed import ParsedDocument, ParsedPassage
from rubrics.parsing.language import detect_language

# Han characters, and kana, which are written without spaces, too.
_HAN = "\u3005\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HAN_PUNCTUATION = "\u3001-\u3003\u3008-\u3020\u30fb\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
_SENTENCE_END = re.compile(r"[.!?…]+[\"'’”)\]]*(?=\s+[^\sa-z])\s+|[。！？；]+[\"'’”」』）】]*\s*|\n(?=\n)\s*")
_UNIT = re.compile(rf"[{_HAN}]|[^\s{_HAN}{_HAN_PUNCTUATION}]{{1,{WORD_CHARACTERS}}}|[{_HAN_PUNCTUATION}]+")
_HAN_CHARACTER = re.compile(rf"[{_HAN}]")
_CLAUSE_MARKS = frozenset("，、：,;:")
# What a passage may end before: a block, a sentence, white space, any character; the highest is tried first.
_BLOCK, _SENTENCE, _SPACE, _CHARACTER = 3, 2, 1, 0


def size_of_text(text: str) -> int:
    """The size of a text in halves of words: 2 for a word, 1 for a Han character."""
    if text.isascii():
        words = text.split()
        return 2 * (len(words) + sum((len(word) - 1) // WORD_CHARACTERS for word in words))
    return sum(_size_of_unit(match[0]) for match in _UNIT.finditer(text))


@lru_cache(maxsize=1 << 16)  # the same words and characters recur
def _size_of_unit(unit: str) -> int:
    if len(unit) == 1 and _HAN_CHARACTER.match(unit):
        return 1
    return 0 if "\u3000" < unit[0] < "\u3021" or "\uff00" < unit[0] < "\uff66" or unit[0] == "\u30fb" else 2


@dataclass(frozen=True, slots=True)
class _Atom:
    """A stretch that is never cut: a sentence or a part of one, a heading, a row of a table."""

    start: int
    end: int
    size: int
    level: int  # what a passage that begins here ends before
    page: int | None
    header: str


class TooLarge(ValueError):
    """A document exceeds the limits; the message is a phrase for the person who sent it."""


class _Text:
    """Joins many small texts without keeping an object for each."""

    def __init__(self, limits: DocumentLimits) -> None:
        self._limits = limits
        self._pieces: list[str] = []
        self._chunks: list[str] = []
        self._width = 1
        self.length = 0

    def add(self, text: str) -> None:
        self._pieces.append(text)
        self.length += len(text)
        if not text.isascii():
            self._width = max(self._width, 4 if max(text) > "\uffff" else 2 if max(text) > "\xff" else 1)
        if self.length * self._width > self._limits.text_bytes:
            raise TooLarge(
                Phrase("The document contains more than %(n)s MB of text.", n=self._limits.text_bytes // 1_000_000)
            )
        if len(self._pieces) >= 4096:
            self._compact()

    def _compact(self) -> None:
        self._chunks.append("".join(self._pieces))
        self._pieces.clear()

    def join(self) -> str:
        self._compact()
        return "".join(self._chunks)


class PassageBuilder:
    """Takes the blocks of one document in their order; `finish` gives the document. `TooLarge` over the limits."""

    def __init__(self, limits: DocumentLimits = LIMITS) -> None:
        self._limits = limits
        self._text = _Text(limits)
        self._atoms: deque[_Atom] = deque()
        self._size = 0  # of the atoms that are in no passage yet
        self._passages: list[ParsedPassage] = []
        self._outline: list[tuple[int, str]] = []
        self._headings: tuple[str, ...] = ()
        self._has_body = False  # whether the section holds more than headings
        self._last: Block | None = None
        self._pages = 0
        self.first_heading = ""

    def add(self, block: Block) -> None:
        """Add a block; one without a word is left out."""
        text = block.text.strip()
        if not text:
            return
        kind = block.kind
        if (kind == "heading" and len(text) > MAX_HEADING_CHARACTERS) or (
            kind == "row" and len(text) > MAX_ROW_CHARACTERS
        ):
            kind = "paragraph"
        if kind == "heading":
            self._begin_heading(text, block.level)
        else:
            self._has_body = True
        last = self._last
        if self._text.length:
            same_run = last is not None and kind == last.kind and kind in ("item", "row")
            self._text.add("\n" if same_run else "\n\n")
        start = self._text.length
        self._text.add(text)
        # The first row stays with its header.
        is_first_row = kind == "row" and last is not None and bool(block.header) and block.header.endswith(last.text)
        level = _SENTENCE if is_first_row else _BLOCK
        if kind in ("heading", "row"):
            self._add_atom(_Atom(start, start + len(text), size_of_text(text), level, block.page, _cut(block.header)))
        else:
            for atom in _atoms(text, start, block.page):
                self._add_atom(atom)
        self._last = block

    def begin_section(self, headings: tuple[str, ...]) -> None:
        """End the passage, and go on under these headings, which are no part of the text."""
        self._end_section()
        self._headings = tuple(_heading(heading) for heading in headings[:MAX_HEADING_LEVEL])
        self._outline = list(enumerate(self._headings, start=1))

    def _begin_heading(self, text: str, level: int) -> None:
        if self._has_body:
            self._end_section()
        level = min(max(level, 1), MAX_HEADING_LEVEL)
        self._outline = [(outer, heading) for outer, heading in self._outline if outer < level]
        self._outline.append((level, _heading(text)))
        self._headings = tuple(heading for _level, heading in self._outline)
        self.first_heading = self.first_heading or self._headings[-1]

    def _add_atom(self, atom: _Atom) -> None:
        self._atoms.append(atom)
        self._size += atom.size
        while self._size >= MAX_PASSAGE_SIZE + MIN_PASSAGE_SIZE and len(self._atoms) > 1:
            self._end_passage()

    def _end_section(self) -> None:
        while self._atoms:
            self._end_passage()
        self._has_body = False

    def _end_passage(self) -> None:
        """Make a passage of the first atoms."""
        atoms = [self._atoms.popleft() for _ in range(_choose_end(self._atoms, self._size))]
        self._size -= sum(atom.size for atom in atoms)
        if len(self._passages) >= self._limits.passages:
            raise TooLarge(Phrase("The file contains more than %(n)s passages.", n=self._limits.passages))
        first, last = atoms[0], atoms[-1]
        self._passages.append(ParsedPassage(first.start, last.end, self._headings, first.page, last.page, first.header))

    def finish(self, facts: DocumentFacts | None = None) -> ParsedDocument:
        """The document of all blocks; it takes its title from its first heading where ``facts`` has none."""
        self._end_section()
        facts = facts or DocumentFacts()
        text = self._text.join()
        return ParsedDocument(
            text=text,
            passages=tuple(self._passages),
            title=facts.title or self.first_heading,
            pages=facts.pages,
            pages_without_text=facts.pages_without_text,
            language=facts.language or detect_language(text),
            remarks=facts.remarks,
        )


def build(blocks: Iterable[Block], facts: DocumentFacts | None = None) -> ParsedDocument:
    """The document of these blocks."""
    builder = PassageBuilder()
    for block in blocks:
        builder.add(block)
    return builder.finish(facts)


def _choose_end(atoms: deque[_Atom], size: int) -> int:
    """How many of the first atoms make the next passage. ``size`` is that of all atoms of the section so far."""
    if size <= MAX_PASSAGE_SIZE:
        return len(atoms)
    best: dict[bool, tuple[int, int]] = {}  # whether enough is left for another passage → level and number of atoms
    short = total = 0
    for count, following in enumerate(atoms):
        if count:
            # ``following`` would begin the next passage.
            if total > MAX_PASSAGE_SIZE:
                break
            short = count
            if total >= MIN_PASSAGE_SIZE:
                leaves_enough = size - total >= MIN_PASSAGE_SIZE
                best[leaves_enough] = max(best.get(leaves_enough, (0, 0)), (following.level, count))
        total += following.size
    for leaves_enough in (True, False):
        if leaves_enough in best:
            return best[leaves_enough][1]
    return short or 1


def _atoms(text: str, offset: int, page: int | None) -> Iterator[_Atom]:
    """The sentences of a paragraph or list item; one that is longer than a short passage is cut."""
    start, level = 0, _BLOCK
    for end, following in _sentences(text):
        sentence = text[start:end].rstrip()
        if not sentence:
            continue
        for part_start, part_end, part_level, size in _parts(sentence):
            yield _Atom(
                offset + start + part_start,
                offset + start + part_end,
                size,
                level if part_level is None else part_level,
                page,
                "",
            )
        start, level = following, _SENTENCE


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Where each sentence ends, and where the next one begins."""
    for match in _SENTENCE_END.finditer(text):
        if match.end() < len(text):
            yield match.end(), match.end()
    yield len(text), len(text)


def _parts(sentence: str) -> Iterator[tuple[int, int, int | None, int]]:
    """A sentence in parts of at most `MIN_PASSAGE_SIZE`: start, end, level (None: that of the sentence), size."""
    whole = size_of_text(sentence)
    if whole <= MIN_PASSAGE_SIZE:
        yield 0, len(sentence), None, whole
        return
    start = 0
    level: int | None = None
    size = 0
    cut: tuple[int, int] | None = None  # the last place where it may be cut well, and the size up to there
    previous_end = 0
    for match in _UNIT.finditer(sentence):
        unit = _size_of_unit(match[0])
        place = match.start()
        if place > start and (place > previous_end or sentence[place - 1] in _CLAUSE_MARKS):
            cut = (place, size)
        if size + unit > MIN_PASSAGE_SIZE and place > start:
            at, size_before = cut or (place, size)
            yield start, _end_of_word(sentence, at), level, size_before
            start, level, size = at, _SPACE if cut else _CHARACTER, size - size_before
            cut = None
        size += unit
        previous_end = match.end()
    yield start, len(sentence), level, size


def _end_of_word(text: str, place: int) -> int:
    """``place`` without the white space before it."""
    while text[place - 1].isspace():
        place -= 1
    return place


def _heading(text: str) -> str:
    """A heading as it is shown above a passage: on one line."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_HEADING_CHARACTERS else f"{line[: MAX_HEADING_CHARACTERS - 1]}…"


def _cut(header: str) -> str:
    return header if len(header) <= MAX_HEADER_CHARACTERS else f"{header[: MAX_HEADER_CHARACTERS - 1]}…"
