"""Plain text: paragraphs between blank lines, list items, and headings where they are certain.

A heading is a short line by itself that is underlined, or numbered in the way of chapters (``2.3 Dosage``,
``Chapter 4``, ``第二章``). Everything else is text: a wrong heading would cut a passage in two. A form feed begins a
new page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from documents.parsing.blocks import Block

MAX_PARAGRAPH_CHARACTERS = 100_000  # a longer one goes on in another block
_MAX_HEADING = 100
_ITEM = re.compile(
    r"\s*(?:[-*+•‣◦▪·–]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)、]|[①-⑳]|[（(][一二三四五六七八九十]+[)）])\s+\S"
)
_UNDERLINE = re.compile(r"\s*(=|-)\1{2,}\s*\Z")
_NUMBERED = re.compile(r"\d{1,2}((?:\.\d{1,2}){1,4})\.?\s+[^\W\d_]")
_CHAPTER = re.compile(r"(?:chapter|part|section|appendix|annex)\s+(?:\d{1,3}|[ivx]{1,6}|[a-z])\b[.:]?", re.IGNORECASE)
_HAN_CHAPTER = re.compile(r"第[〇零一二三四五六七八九十百\d]{1,5}([篇章节])")
_ENDS_SENTENCE = re.compile(r"[.,;:!?…。，；：！？、][\"'”’)\]]*\Z")


def text_blocks(lines: Iterable[str], *, headings: bool = True, paged: bool = False) -> Iterator[Block]:
    r"""The blocks of a text, from its lines with or without ``\n``.

    Without ``headings`` none is looked for. ``paged``: the blocks name their page.
    """
    reader = _TextReader(headings, paged)
    for line in lines:
        yield from reader.take(line.rstrip("\n"))
    yield from reader.end()


class _TextReader:
    def __init__(self, headings: bool, paged: bool) -> None:
        self._headings = headings
        self._lines: list[str] = []
        self._length = 0
        self._page = 1 if paged else None

    def take(self, line: str) -> Iterator[Block]:
        first, *rest = line.split("\f") if "\f" in line else (line,)
        yield from self._take_line(first)
        for part in rest:
            yield from self.end()
            if self._page is not None:
                self._page += 1
            yield from self._take_line(part)

    def _take_line(self, line: str) -> Iterator[Block]:
        line = line.rstrip()
        if not line.strip():
            yield from self.end()
            return
        if self._lines and _ITEM.match(line):
            yield from self.end()
        self._lines.append(line)
        self._length += len(line)
        if self._length > MAX_PARAGRAPH_CHARACTERS:
            yield from self.end()

    def end(self) -> Iterator[Block]:
        """The block of the lines so far."""
        lines, self._lines, self._length = self._lines, [], 0
        if not lines:
            return
        if self._headings and len(lines) >= 2 and (underline := _UNDERLINE.match(lines[1])) and _is_short(lines[0]):
            yield Block("heading", lines[0].strip(), 1 if underline[1] == "=" else 2, self._page)
            lines = lines[2:]
            if not lines:
                return
        elif self._headings and len(lines) == 1 and (level := _level(lines[0].strip())):
            yield Block("heading", lines[0].strip(), level, self._page)
            return
        kind = "item" if _ITEM.match(lines[0]) else "paragraph"
        yield Block("item" if kind == "item" else "paragraph", "\n".join(lines), page=self._page)


def _is_short(line: str) -> bool:
    return len(line.strip()) <= _MAX_HEADING


def _level(line: str) -> int:
    """The level of a heading that is a line by itself; 0 where it is none for certain."""
    if not _is_short(line) or _ENDS_SENTENCE.search(line):
        return 0
    if numbered := _NUMBERED.match(line):
        return 1 + numbered[1].count(".")
    if chapter := _HAN_CHAPTER.match(line):
        return {"篇": 1, "章": 1, "节": 2}[chapter[1]]
    return 1 if _CHAPTER.match(line) else 0
