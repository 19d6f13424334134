"""PDF: the characters of every page with their places, and from them blocks. Runs in the child process of `child.py`.

Every page is read once. What is found on it is kept in a compressed form, because sizes of headings, headers and
footers are known only after the last page. `pdf_layout.py` makes lines, columns, tables and paragraphs of a page.
"""

from __future__ import annotations

import ctypes
import marshal
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import pypdfium2
from pypdfium2 import raw

from consilium.core.phrases import Phrase
from documents.parsing.blocks import Block, DocumentFacts
from documents.parsing.characters import Cleaner, Unreadable
from documents.parsing.limits import LIMITS, DocumentLimits
from documents.parsing.pdf_file import open_pdf
from documents.parsing.pdf_layout import Fragment, Sizes, lines_of, page_blocks, word_text

_MIN_HEIGHT = 1.0  # points; nobody reads smaller text
_SPACES = frozenset((0x20, 0xA0, 0x09, 0x0A, 0x0D, 0x3000, *range(0x2000, 0x200B)))
_HYPHENS = frozenset((0x02, 0xFFFE))  # PDFium's own marks of a hyphen at a line's end
_REPLACEMENT = 0xFFFD
# A header or footer stands in this part of the page, among this many lines at its edge.
_EDGE_SHARE, _EDGE_LINES = 0.12, 2
_MIN_REPEATS = 3
_DIGITS = re.compile(r"\d+")
_UNMAPPED_SHARE = 0.2


def pdf_blocks(
    file: BinaryIO,
    *,
    limits: DocumentLimits = LIMITS,
    progress: Callable[[int], None] | None = None,
) -> Iterator[Block | DocumentFacts]:
    """The blocks of a PDF; its facts come last. ``progress`` takes thousandths."""
    document = open_pdf(file)
    n_pages = len(document)
    if n_pages > limits.pages:
        raise Unreadable(
            Phrase("The PDF has %(n)s pages; a document can have at most %(most)s.", n=n_pages, most=limits.pages)
        )
    if n_pages == 0:
        raise Unreadable(Phrase("The PDF has no pages."))
    reader = _Reader(limits)
    for number in range(n_pages):
        reader.read(document, number)
        if progress is not None:
            progress(1000 * (number + 1) // n_pages)
    title = _title(document, reader.cleaner)
    yield from reader.blocks()
    yield DocumentFacts(
        title=title,
        pages=n_pages,
        pages_without_text=tuple(reader.pages_without_text),
        remarks=(*reader.remarks(), *reader.cleaner.remarks()),
    )


def _title(document: pypdfium2.PdfDocument, cleaner: Cleaner) -> str:
    """The title in the metadata, unless it is the name of a file."""
    title = " ".join(cleaner.clean(str(document.get_metadata_value("Title"))).split())[:200]
    is_name = re.search(r"\.(?:docx?|pdf|indd|qxd|pptx?|xlsx?|tex|html?)\Z", title, re.IGNORECASE)
    return "" if is_name or title.lower().startswith(("microsoft word -", "untitled")) else title


class _Reader:
    """Reads the pages one by one, then gives their blocks."""

    def __init__(self, limits: DocumentLimits) -> None:
        self.cleaner = Cleaner()
        self.pages_without_text: list[int] = []
        self._limits = limits
        self._pages: list[bytes] = []
        self._characters = 0
        self._left_out = 0  # characters outside of the page, or too small
        self._unmapped_pages: list[int] = []
        self._sizes = Sizes()
        self._edges: Counter[tuple[str, int]] = Counter()  # lines at the edges of pages, by parity of the page
        self._repeated_lines = 0

    def read(self, document: pypdfium2.PdfDocument, number: int) -> None:
        """Take what stands on a page."""
        try:
            page = document[number]
            text_page = page.get_textpage()
        except pypdfium2.PdfiumError:
            raise Unreadable(Phrase("Page %(page)s cannot be read.", page=number + 1)) from None
        fragments = self._fragments(page, text_page, number)
        text_page.close()
        page.close()
        height = max((fragment.bottom for fragment in fragments), default=0.0)
        for fragment in fragments:
            self._sizes.count(fragment)
        for text in self._edge_texts(fragments, height):
            self._edges[text, number % 2] += 1
        rows: list[Any] = [fragment.as_row() for fragment in fragments]
        self._pages.append(zlib.compress(marshal.dumps((rows, height)), 1))

    def _fragments(self, page: Any, text_page: Any, number: int) -> list[Fragment]:
        count = raw.FPDFText_CountChars(text_page)
        if count < 0:
            raise Unreadable(Phrase("Page %(page)s cannot be read.", page=number + 1))
        self._characters += count
        if self._characters > self._limits.text_bytes:
            raise Unreadable(
                Phrase("The document contains more than %(n)s MB of text.", n=self._limits.text_bytes // 1_000_000)
            )
        left, bottom, right, top = page.get_bbox()
        rotation = page.get_rotation() // 90
        turn = _Turn(left, bottom, right, top, rotation)
        builder = _FragmentBuilder(self.cleaner)
        is_bold = _BoldFonts()
        box = raw.FS_RECTF()
        reference = ctypes.byref(box)
        get_unicode, get_box = raw.FPDFText_GetUnicode, raw.FPDFText_GetLooseCharBox
        is_unmapped, get_angle = raw.FPDFText_HasUnicodeMapError, raw.FPDFText_GetCharAngle
        unmapped = high = 0
        for index in range(count):
            code = get_unicode(text_page, index)
            if code in _SPACES:
                builder.end_word()
                continue
            if high:  # the second half of a character outside of the Basic Multilingual Plane
                code = 0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00) if 0xDC00 <= code < 0xE000 else code
                high = 0
            elif 0xD800 <= code < 0xDC00:
                high = code
                continue
            if code in _HYPHENS:
                code = 0x2D
            elif code == 0 or is_unmapped(text_page, index) == 1:
                code = _REPLACEMENT
                unmapped += 1
            if not get_box(text_page, index, reference):
                continue
            if (
                box.right < left
                or box.left > right
                or box.top < bottom
                or box.bottom > top
                or max(box.top - box.bottom, box.right - box.left) < _MIN_HEIGHT
            ):
                self._left_out += 1
                continue
            if builder.is_at_word_start:
                angle = round(get_angle(text_page, index) / 1.5707963) % 4
                builder.start_word((rotation + angle) % 4, is_bold(text_page, index))
            builder.add(chr(code), *turn.box(box.left, box.bottom, box.right, box.top))
        if unmapped > _UNMAPPED_SHARE * max(1, count):
            self._unmapped_pages.append(number + 1)
        return builder.finish()

    def _edge_texts(self, fragments: list[Fragment], height: float) -> set[str]:
        """The lines at the upper and lower edge of a page, with # for numbers."""
        return {_pattern(text) for text, _top in _edge_lines(fragments, height)}

    def blocks(self) -> Iterator[Block]:
        """The blocks of all pages."""
        repeated = self._repeated()
        for number, packed in enumerate(self._pages, start=1):
            rows, height = marshal.loads(zlib.decompress(packed))  # noqa: S302  (our own bytes)
            fragments = [Fragment(*row) for row in rows]
            repeated_here = {
                top for text, top in _edge_lines(fragments, height) if (_pattern(text), (number - 1) % 2) in repeated
            }
            self._repeated_lines += len(repeated_here)
            is_empty = True
            for block in page_blocks(fragments, self._sizes, number, repeated_here):
                is_empty = False
                yield block
            if is_empty:
                self.pages_without_text.append(number)

    def _repeated(self) -> set[tuple[str, int]]:
        """Lines at the edges of most pages, or of most odd or even ones."""
        n_pages = len(self._pages)
        repeated = set()
        for text, parity in self._edges:
            n_here = self._edges[text, parity]
            n_of_parity = (n_pages + 1 - parity) // 2
            n_anywhere = self._edges[text, 0] + self._edges[text, 1]
            on_most = 2 * n_anywhere > n_pages and n_anywhere >= _MIN_REPEATS
            if on_most or (4 * n_here > 3 * n_of_parity and n_here >= _MIN_REPEATS):
                repeated.add((text, parity))
        return repeated

    def remarks(self) -> Iterator[str]:
        """What was left out, for the person who sent the file."""
        if self._repeated_lines:
            yield Phrase("Repeated lines of headers and footers were removed: %(n)s.", n=self._repeated_lines)
        if self._left_out:
            yield Phrase("Characters outside the page or too small to read were removed: %(n)s.", n=self._left_out)
        if self._unmapped_pages:
            pages = ", ".join(map(str, self._unmapped_pages[:50]))
            yield Phrase("Fonts on these pages do not identify the characters that they show: %(pages)s.", pages=pages)


def _edge_lines(fragments: list[Fragment], height: float) -> list[tuple[str, float]]:
    """The outermost lines of a page that stand in its margins: their text and place."""
    margin = _EDGE_SHARE * height
    upright = [fragment for fragment in fragments if fragment.turn == 0]
    in_margins = [cell for cell in upright if cell.bottom < margin or cell.top > height - margin]
    lines = [(" ".join(cell.text for cell in line), line[0].top) for line in lines_of(in_margins)]
    upper = [line for line in lines if line[1] < margin][:_EDGE_LINES]
    lower = [line for line in lines if line[1] >= margin][-_EDGE_LINES:]
    return [*upper, *lower]


def _pattern(text: str) -> str:
    return _DIGITS.sub("#", " ".join(text.split()))


class _Turn:
    """From the coordinates of a page to those of its reader: from the upper left corner, turned as it is shown."""

    def __init__(self, left: float, bottom: float, right: float, top: float, rotation: int) -> None:
        self._left, self._bottom, self._right, self._top, self._rotation = left, bottom, right, top, rotation

    def box(self, left: float, bottom: float, right: float, top: float) -> tuple[float, float, float, float]:
        """Left, top, right and bottom as a reader sees them."""
        if self._rotation == 1:
            return bottom - self._bottom, left - self._left, top - self._bottom, right - self._left
        if self._rotation == 2:
            return self._right - right, bottom - self._bottom, self._right - left, top - self._bottom
        if self._rotation == 3:
            return self._top - top, self._right - right, self._top - bottom, self._right - left
        return left - self._left, self._top - top, right - self._left, self._top - bottom


class _BoldFonts:
    """Whether a character is bold, by the name of its font or by its weight."""

    _NAMES = re.compile(rb"bold|black|heavy", re.IGNORECASE)

    def __init__(self) -> None:
        self._buffer = ctypes.create_string_buffer(200)
        self._flags = ctypes.c_int()

    def __call__(self, text_page: Any, index: int) -> bool:
        length = raw.FPDFText_GetFontInfo(text_page, index, self._buffer, 200, ctypes.byref(self._flags))
        if 0 < length <= 200 and self._NAMES.search(self._buffer.value):
            return True
        return raw.FPDFText_GetFontWeight(text_page, index) >= 600


class _FragmentBuilder:
    """Joins characters to words, and words that stand close to each other on a line to fragments."""

    def __init__(self, cleaner: Cleaner) -> None:
        self._cleaner = cleaner
        self._fragments: list[Fragment] = []
        self._word: list[tuple[str, float]] = []  # characters and where they begin
        self._box = (0.0, 0.0, 0.0, 0.0)
        self._turn = 0
        self._is_bold = False

    @property
    def is_at_word_start(self) -> bool:
        return not self._word

    def start_word(self, turn: int, is_bold: bool) -> None:
        self._turn, self._is_bold = turn, is_bold

    def add(self, character: str, left: float, top: float, right: float, bottom: float) -> None:
        """A character of the word, or of a new one where it stands elsewhere."""
        if self._word:
            x0, y0, x1, y1 = self._box
            size = max(y1 - y0, x1 - x0) if self._turn % 2 else y1 - y0
            is_far = self._turn == 0 and (bottom < y0 or top > y1 or left - x1 > 0.6 * size or x0 - right > 0.6 * size)
            if not is_far:
                self._word.append((character, left))
                self._box = (min(x0, left), min(y0, top), max(x1, right), max(y1, bottom))
                return
            self.end_word()
        self._word.append((character, left))
        self._box = (left, top, right, bottom)

    def end_word(self) -> None:
        """Put the word to the fragment before it, or begin another fragment."""
        if not self._word:
            return
        text = self._cleaner.clean(word_text(self._word))
        self._word.clear()
        if not text.strip():
            return
        word = Fragment(text, *_upright(self._box, self._turn), self._turn, self._is_bold)
        if not (self._fragments and self._fragments[-1].join(word)):
            self._fragments.append(word)

    def finish(self) -> list[Fragment]:
        self.end_word()
        return self._fragments


def _upright(box: tuple[float, float, float, float], turn: int) -> tuple[float, float, float, float]:
    """The box as it would be if text that is turned by quarters stood upright."""
    left, top, right, bottom = box
    if turn == 1:
        return top, -right, bottom, -left
    if turn == 2:
        return -right, -bottom, -left, -top
    if turn == 3:
        return -bottom, left, -top, right
    return box
