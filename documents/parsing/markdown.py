"""Markdown: the blocks that markdown-it finds. Their text is the source, without marks of headings, lists and quotes.

Marks inside a line (emphasis, links) stay as they were written: a quotation can then be looked for word by word.
"""

from __future__ import annotations

import html
import io
import re
from collections.abc import Callable, Iterator
from typing import BinaryIO

from markdown_it import MarkdownIt
from markdown_it.token import Token

from consilium.core.phrases import Phrase
from documents.parsing.blocks import CELL_SEPARATOR, Block, DocumentFacts
from documents.parsing.characters import Cleaner, Unreadable, encoding_of
from documents.parsing.limits import LIMITS, DocumentLimits

# A document is read part by part, so that memory is bounded: a part ends before a heading, at the latest after MAX.
_PART_CHARACTERS, _MAX_PART_CHARACTERS = 100_000, 2_000_000
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_FRONT_MATTER = re.compile(r"---\n(?:.*\n){0,100}?(?:---|\.\.\.)\n")
_TITLE = re.compile(r"^title:[ \t]*[\"']?(.{1,200}?)[\"']?[ \t]*$", re.MULTILINE)
_MAX_LINE_CHARACTERS = 1_000_000
_MAX_NESTING = 100_000  # markdown-it drops what is nested deeper; its recursion ends long before, with an error


def markdown_blocks(
    file: BinaryIO,
    *,
    limits: DocumentLimits = LIMITS,
    progress: Callable[[int], None] | None = None,
) -> Iterator[Block | DocumentFacts]:
    """The blocks of a text in Markdown; its facts come last."""
    encoding = encoding_of(file)
    file.seek(0)
    cleaner = Cleaner()
    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": _MAX_NESTING})
    parser.enable("table").disable("inline")
    title = ""
    read = 0
    for number, part in enumerate(_parts(io.TextIOWrapper(file, encoding=encoding, newline=None))):
        read += len(part)
        if number == 0 and (front := _FRONT_MATTER.match(part)):
            title = match[1].strip() if (match := _TITLE.search(front[0])) else ""
            part = part[front.end() :]
        yield from _blocks(parser.parse(cleaner.clean(part).replace("\f", "\n")))
        if progress is not None:
            progress(read)
    yield DocumentFacts(title=title, remarks=cleaner.remarks())


def _parts(file: io.TextIOWrapper) -> Iterator[str]:
    """The text in parts that end before a heading, and never inside a fence."""
    lines: list[str] = []
    length = number = 0
    fence = ""
    while line := file.readline(_MAX_LINE_CHARACTERS + 1):
        number += 1
        if len(line) > _MAX_LINE_CHARACTERS:
            raise Unreadable(Phrase("The line is longer than %(n)s characters.", n=_MAX_LINE_CHARACTERS), number)
        if match := _FENCE.match(line):
            mark = match[1]
            if not fence:
                fence = mark
            elif mark[0] == fence[0] and len(mark) >= len(fence):
                fence = ""
        ends = length > _PART_CHARACTERS and not fence and _HEADING.match(line)
        if ends or (length > _MAX_PART_CHARACTERS and not line.strip()):
            yield "".join(lines)
            lines, length = [], 0
        lines.append(line)
        length += len(line)
    yield "".join(lines)


def _blocks(tokens: list[Token]) -> Iterator[Block]:
    marks: list[str] = []  # of the open lists: what stands before the next item
    numbers: list[int] = []
    is_first = False  # whether the next paragraph begins a list item
    header = ""
    cells: list[str] = []
    in_head = False
    level = 0
    for token in tokens:
        kind = token.type
        if kind == "heading_open":
            level = int(token.tag[1])
        elif kind == "heading_close":
            level = 0
        elif kind in ("bullet_list_open", "ordered_list_open"):
            marks.append("" if kind == "ordered_list_open" else "•")
            start = token.attrGet("start")
            numbers.append(int(start) if start is not None else 1)
        elif kind in ("bullet_list_close", "ordered_list_close"):
            marks.pop()
            numbers.pop()
        elif kind == "list_item_open":
            is_first = True
        elif kind == "thead_open":
            in_head, header = True, ""
        elif kind == "thead_close":
            in_head = False
        elif kind == "tr_open":
            cells = []
        elif kind == "tr_close":
            row = CELL_SEPARATOR.join(cells)
            cells = []
            yield Block("row", row, header="" if in_head else header)
            header = row if in_head else header
        elif kind in ("td_open", "th_open"):
            cells.append("")
        elif kind == "inline" and cells:
            cells[-1] = " ".join(token.content.split())
        elif kind == "inline" and level:
            yield Block("heading", token.content, level)
        elif kind == "inline":
            if is_first and marks:
                yield Block("item", f"{marks[-1] or f'{numbers[-1]}.'} {token.content}")
                numbers[-1] += 1
                is_first = False
            else:
                yield Block("paragraph", token.content)
        elif kind in ("fence", "code_block"):
            yield Block("paragraph", token.content.strip("\n"))
        elif kind == "html_block":
            yield Block("paragraph", _without_tags(token.content))


def _without_tags(source: str) -> str:
    """The text of a block of HTML; comments, scripts and styles are left out."""
    text = re.sub(r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1>|\Z)", " ", source, flags=re.DOTALL | re.IGNORECASE)
    return html.unescape(re.sub(r"<[^<>]*>", " ", text)).strip()
