"""Splits a response into text blocks for display; each block keeps its offset in the stored text.

Evidence is kept as code-point offsets into the stored text, and a selection in the browser must map back to them.
Rendered Markdown loses these offsets, so the response is cut into blocks and pieces here. A piece is an unchanged
substring of the stored text with its offset; markup characters (``**``, ``#``, table bars) are not part of any piece.
The template writes each piece as one element with its offset, escaped like any other text. Headings, lists, quotes,
code, tables, bold, italics and inline code are recognised; everything else is shown as it was typed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TextPiece:
    """``text`` begins at code point ``start`` of the response; ``style`` is empty, strong, em or code."""

    text: str
    start: int
    style: str = ""


Line = tuple[TextPiece, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """``kind``: p, heading, item, quote, code, table or rule. The lines of a table are cells, ``width`` to a row."""

    kind: str
    lines: tuple[Line, ...] = ()
    level: int = 0  # of a heading 1 to 6; of an item its indentation from 0
    marker: TextPiece | None = None  # bullet or number of an item
    width: int = 0

    @property
    def rows(self) -> list[tuple[Line, ...]]:
        """The cells of a table by row; the first is the head."""
        return [self.lines[at : at + self.width] for at in range(0, len(self.lines), self.width or 1)]


_LINE = re.compile(r"[^\r\n]*")
_BREAK = re.compile(r"\r\n|\r|\n")
_FENCE = re.compile(r"[ \t]{0,3}(```|~~~)")
_HEADING = re.compile(r"[ \t]{0,3}(#{1,6})[ \t]+(?=\S)")
_ITEM = re.compile(r"([ \t]*)([-*+•·]|\d{1,3}[.)、])[ \t]+(?=\S)")
_QUOTE = re.compile(r"[ \t]{0,3}>[ \t]?")
_RULE = re.compile(r"[ \t]{0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_TABLE_HEAD = re.compile(r"[ \t]*\|.*\|[ \t]*$")
_TABLE_RULE = re.compile(r"[ \t]*\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*$")
_CELL = re.compile(r"[^|]*")
_INLINE = re.compile(
    r"(?P<code>`)(?P<code_text>[^`\n]+)`"
    r"|(?P<strong>\*\*|__)(?=\S)(?P<strong_text>.+?)(?<=\S)(?P=strong)"
    r"|(?<![\w*])(?P<em>\*)(?=[^\s*])(?P<em_text>[^*\n]*[^\s*])\*(?![\w*])"
)


def blocks(text: str) -> list[Block]:
    """Cut ``text`` into blocks. Every piece is a substring: ``text[p.start:p.start + len(p.text)] == p.text``."""
    lines = list(_lines(text))
    block_list: list[Block] = []
    paragraph: list[Line] = []

    def end_paragraph() -> None:
        if paragraph:
            block_list.append(Block("p", tuple(paragraph)))
            paragraph.clear()

    at = 0
    while at < len(lines):
        start, line = lines[at]
        at += 1
        if not line.strip(" \t"):
            end_paragraph()
        elif fence := _FENCE.match(line):
            end_paragraph()
            code: list[Line] = []
            while at < len(lines) and not lines[at][1].strip().startswith(fence[1]):
                code.append((TextPiece(lines[at][1], lines[at][0]),) if lines[at][1] else ())
                at += 1
            at += 1
            block_list.append(Block("code", tuple(code)))
        elif _RULE.match(line):
            end_paragraph()
            block_list.append(Block("rule"))
        elif heading := _HEADING.match(line):
            end_paragraph()
            block_list.append(Block("heading", (_inline(line.rstrip(" \t#"), heading.end(), start),), len(heading[1])))
        elif _TABLE_HEAD.match(line) and at < len(lines) and _TABLE_RULE.match(lines[at][1]):
            end_paragraph()
            rows = [_cells(line, start)]
            at += 1
            while at < len(lines) and _TABLE_HEAD.match(lines[at][1]):
                rows.append(_cells(lines[at][1], lines[at][0]))
                at += 1
            width = len(rows[0])
            cells = [cell for row in rows for cell in (*row, *[()] * (width - len(row)))[: max(width, len(row))]]
            if all(len(row) <= width for row in rows):
                block_list.append(Block("table", tuple(cells), width=width))
            else:  # no table after all: a row has more cells than the head, and none may be lost
                block_list.append(Block("p", tuple(tuple(piece for cell in row for piece in cell) for row in rows)))
        elif item := _ITEM.match(line):
            end_paragraph()
            indent = min(4, len(item[1].expandtabs(4)) // 2)
            marker = TextPiece(item[2], start + item.start(2))
            block_list.append(Block("item", (_inline(line, item.end(), start),), indent, marker))
        elif quote := _QUOTE.match(line):
            end_paragraph()
            quoted = [_inline(line, quote.end(), start)]
            while at < len(lines) and (more := _QUOTE.match(lines[at][1])):
                quoted.append(_inline(lines[at][1], more.end(), lines[at][0]))
                at += 1
            block_list.append(Block("quote", tuple(quoted)))
        else:
            lead = len(line) - len(line.lstrip(" \t"))
            paragraph.append(_inline(line.rstrip(" \t"), lead, start))
    end_paragraph()
    return block_list


def _lines(text: str) -> Iterator[tuple[int, str]]:
    at = 0
    while at <= len(text):
        line = _LINE.match(text, at)
        assert line is not None
        yield at, line[0]
        end = _BREAK.match(text, line.end())
        if end is None:
            return
        at = end.end()


def _cells(line: str, start: int) -> list[Line]:
    body_start = line.index("|") + 1
    body_end = line.rindex("|")
    cells = []
    at = body_start
    while at <= body_end:
        cell = _CELL.match(line, at, body_end)
        assert cell is not None
        raw = cell[0]
        lead = len(raw) - len(raw.lstrip(" \t"))
        cells.append(_inline(line[: cell.start() + len(raw.rstrip(" \t"))], cell.start() + lead, start))
        at = cell.end() + 1
    return cells


def _inline(line: str, begin: int, offset: int) -> Line:
    pieces: list[TextPiece] = []
    at = begin
    for match in _INLINE.finditer(line, begin):
        if match.start() > at:
            pieces.append(TextPiece(line[at : match.start()], offset + at))
        style = match.lastgroup.removesuffix("_text") if match.lastgroup else ""
        inner = f"{style}_text"
        pieces.append(TextPiece(match[inner], offset + match.start(inner), style))
        at = match.end()
    if at < len(line):
        pieces.append(TextPiece(line[at:], offset + at))
    return tuple(pieces)
