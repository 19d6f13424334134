"""HTML: headings, paragraphs, list items and rows of tables, read by `html.parser` without recursion.

What no reader sees is left out: scripts, styles, templates, comments, hidden elements; so are navigation and other
controls. A table with headings or other tables in its cells is layout: its cells are read as paragraphs.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from typing import BinaryIO

from consilium.core.phrases import Phrase
from documents.parsing.blocks import CELL_SEPARATOR, Block, BlockKind, DocumentFacts
from documents.parsing.characters import Cleaner, Unreadable, encoding_of
from documents.parsing.limits import LIMITS, MAX_ROW_CHARACTERS, DocumentLimits
from documents.parsing.plain_text import MAX_PARAGRAPH_CHARACTERS

_CHUNK = 1 << 16
_DECLARED = re.compile(
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([a-z0-9_:.-]{2,40})|<\?xml[^>]{0,100}encoding\s*=\s*[\"']([a-z0-9_.-]+)",
    re.IGNORECASE,
)
# Names of encodings as pages write them → Python's; ISO 8859-1 is read as what browsers read it as.
_ENCODINGS = {
    **dict.fromkeys(("utf-8", "utf8", "utf-16", "unicode-1-1-utf-8"), ""),
    **dict.fromkeys(("gb2312", "gbk", "gb18030", "x-gbk", "gb_2312-80"), "gb18030"),
    **dict.fromkeys(("iso-8859-1", "latin1", "l1", "us-ascii", "ascii", "windows-1252", "cp1252"), "cp1252"),
    **{f"iso-8859-{n}": f"iso8859_{n}" for n in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
    **{f"windows-{n}": f"cp{n}" for n in (1250, 1251, 1253, 1254, 1255, 1256, 1257, 1258)},
    "big5": "big5hkscs",
    "big5-hkscs": "big5hkscs",
    "shift_jis": "cp932",
    "euc-jp": "euc_jp",
    "euc-kr": "cp949",
    "koi8-r": "koi8_r",
    "koi8-u": "koi8_u",
}
_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"]
)
_LEFT_OUT = frozenset(
    [
        "script",
        "style",
        "template",
        "noscript",
        "nav",
        "svg",
        "canvas",
        "iframe",
        "object",
        "audio",
        "video",
        "button",
        "select",
        "textarea",
        "datalist",
        "dialog",
        "annotation",
    ]
)
_BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "caption",
        "center",
        "dd",
        "details",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "header",
        "hgroup",
        "hr",
        "html",
        "legend",
        "main",
        "p",
        "pre",
        "section",
        "summary",
    ]
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LISTS = frozenset(("ul", "ol", "menu"))
# The end of these may be missing: the next of them ends the one before.
_OPTIONAL_END = frozenset(["p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot"])
_STRUCTURE = _BLOCKS | _LISTS | _OPTIONAL_END | {"table"}
_MAX_TITLE = 200
_MAX_SPAN, _MAX_COLUMNS, _MAX_SPANNED_CHARACTERS = 1_000, 100, 200
_WHITE_SPACE = re.compile(r"\s+")


ENCODINGS = ("utf-8-sig", "utf-16", "utf-16-le", *sorted(set(_ENCODINGS.values()) - {""}))


def encoding_of_html(file: BinaryIO) -> str:
    """The encoding of a page: its mark, what it declares, else UTF-8 or GB18030."""
    file.seek(0)
    declared = _DECLARED.search(file.read(1024))
    if declared is None:
        return encoding_of(file)
    name = (declared[1] or declared[2]).decode("ascii").lower()
    if name not in _ENCODINGS:
        raise Unreadable(
            Phrase("The encoding “%(name)s” of the page is not supported. Save the page as UTF-8.", name=name)
        )
    return encoding_of(file, declared=_ENCODINGS[name])


def html_blocks(
    file: BinaryIO,
    *,
    limits: DocumentLimits = LIMITS,
    progress: Callable[[int], None] | None = None,
) -> Iterator[Block | DocumentFacts]:
    """The blocks of a page; its facts come last."""
    encoding = encoding_of_html(file)
    file.seek(0)
    parser = _PageParser(limits)
    decoder = _decoder(encoding)
    read = 0
    while chunk := file.read(_CHUNK):
        read += len(chunk)
        parser.feed(decoder(chunk, False))
        if progress is not None:
            progress(read)
        yield from parser.take()
    parser.feed(decoder(b"", True))
    parser.close()
    parser.end()
    yield from parser.take()
    yield DocumentFacts(title=parser.title, language=parser.language, remarks=parser.cleaner.remarks())


def _decoder(encoding: str) -> Callable[[bytes, bool], str]:
    return codecs.getincrementaldecoder(encoding)().decode


class _PageParser(HTMLParser):
    """Turns tags into blocks. The stack of what is left out is a counter by name, whatever the depth."""

    def __init__(self, limits: DocumentLimits) -> None:
        super().__init__(convert_charrefs=True)
        self.cleaner = Cleaner()
        self.title = ""
        self.language = ""
        self._limits = limits
        self._blocks: list[Block] = []
        self._pieces: list[str] = []
        self._length = 0
        self._kind: BlockKind = "paragraph"
        self._level = 1
        self._left_out = ""  # the outermost element that is left out
        self._open_inside: Counter[str] = Counter()  # its open elements
        self._in_title = False
        self._pre = 0
        self._ordered: list[int | None] = []  # of each open list: the number of its last item, None without numbers
        # The table that is being read: rows of cells.
        self._row: list[str] | None = None
        self._row_is_header = True
        self._header = ""
        self._header_is_known = False
        self._in_head = False
        self._row_length = 0  # of its cells so far
        self._has_cell = False  # whether a cell of the row is open
        self._column_span = self._row_span = 1  # of the open cell
        self._spanning: dict[int, tuple[int, str]] = {}  # column → how many rows its cell still spans, and its text

    def feed(self, data: str) -> None:
        super().feed(data)
        if len(self.rawdata) > self._limits.markup_characters:
            raise Unreadable(
                Phrase(
                    "A tag or comment of the page is longer than %(n)s characters.", n=self._limits.markup_characters
                ),
                self.getpos()[0],
            )

    def end(self) -> None:
        """The page ends, whatever is still open."""
        self._end_row()
        self.end_block()

    def take(self) -> list[Block]:
        """The blocks since the last call."""
        blocks, self._blocks = self._blocks, []
        return blocks

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._left_out:
            if not (tag == self._left_out and tag in _OPTIONAL_END):
                if tag not in _VOID:
                    self._open_inside[tag] += 1
                return
            self._left_out = ""
        if tag == "html":
            self.language = _language(dict(attrs).get("lang"))
        if tag == "title":
            self._in_title = not self.title
            return
        if tag not in _VOID and (tag in _LEFT_OUT or _is_hidden(attrs)):
            self._separate(tag)
            self._left_out = tag
            self._open_inside.clear()
            return
        if tag == "br":
            self._add("\n")
        elif tag in _HEADINGS:
            self._leave_row()
            self.end_block()
            self._kind, self._level = "heading", _HEADINGS[tag]
        elif tag == "table":
            self._leave_row()
            self.end_block()
            self._forget_table()
        elif tag == "thead":
            self._in_head = True
        elif tag == "tr":
            self._end_row()
            self.end_block()
            self._row, self._row_is_header, self._row_length = [], True, 0
        elif tag in ("td", "th"):
            if self._row is None:
                self.end_block()
                self._row, self._row_is_header, self._row_length = [], True, 0
            else:
                self._end_cell()
            self._has_cell = True
            self._row_is_header = self._row_is_header and (tag == "th" or self._in_head)
            self._column_span, self._row_span = _number(attrs, "colspan", 1), _number(attrs, "rowspan", 1)
        elif self._row is None:
            self._start_block(tag, attrs)
        elif tag in _BLOCKS or tag == "li" or tag in _LISTS:
            self._add("\n")

    def _start_block(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _LISTS:
            self.end_block()
            self._ordered.append(_start(attrs) - 1 if tag == "ol" else None)
        elif tag == "li":
            self.end_block()
            self._kind = "item"
            self._add(self._mark())
        elif tag in _BLOCKS:
            is_heading_line = self._kind == "heading" and tag in ("p", "div")
            is_item_line = self._kind == "item" and self._is_only_mark()
            if not is_heading_line and not is_item_line:
                self.end_block()
            self._pre += tag == "pre"

    def _separate(self, tag: str) -> None:
        """Keep apart what stands before and behind a block that is left out."""
        if tag in _STRUCTURE or tag in ("nav", "dialog"):
            if self._row is None:
                self.end_block()
            else:
                self._add("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        if self._left_out:
            if self._open_inside[tag]:
                self._open_inside[tag] -= 1
                return
            if tag == self._left_out:
                self._left_out = ""
                return
            if tag not in _STRUCTURE:
                return
            self._left_out = ""  # its own end is missing
        if tag in _HEADINGS:
            self.end_block()
        elif tag == "table":
            self._end_row()
            self.end_block()
            self._forget_table()
        elif tag == "thead":
            self._in_head = False
        elif tag == "tr":
            self._end_row()
        elif self._row is not None:
            if tag in _BLOCKS or tag == "li":
                self._add("\n")
        elif tag in _LISTS:
            self.end_block()
            if self._ordered:
                self._ordered.pop()
        elif tag in _BLOCKS or tag == "li":
            self.end_block()
            if tag == "pre":
                self._pre = max(0, self._pre - 1)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        # Browsers ignore the slash of <div/>.
        self.handle_starttag(tag, attrs)

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title = " ".join(self.cleaner.clean(self.title + data).split())[:_MAX_TITLE]
            return
        if not self._left_out:
            self._add(data if self._pre and self._row is None else _WHITE_SPACE.sub(" ", data))

    def unknown_decl(self, data: str) -> None:
        """A CDATA section or another declaration: browsers show none of it."""

    def _add(self, text: str) -> None:
        if self._row is None and self._length > MAX_PARAGRAPH_CHARACTERS:
            blank = _WHITE_SPACE.search(text)
            if blank:  # a paragraph of that length goes on in another block
                self._pieces.append(text[: blank.start()])
                self.end_block()
                text = text[blank.end() :]
        self._pieces.append(text)
        self._length += len(text)
        if len(self._pieces) > 4096:
            self._pieces = ["".join(self._pieces)]
        if self._row is not None and self._length > MAX_ROW_CHARACTERS:
            self._leave_row()

    def _mark(self) -> str:
        """What a browser writes before a list item."""
        if not self._ordered or self._ordered[-1] is None:
            return "• "
        self._ordered[-1] += 1
        return f"{self._ordered[-1]}. "

    def _is_only_mark(self) -> bool:
        return len("".join(self._pieces).split()) <= 1

    def _text(self) -> str:
        text = self.cleaner.clean("".join(self._pieces))
        self._pieces, self._length = [], 0
        if self._pre and self._row is None:
            return text.strip("\n")
        return "\n".join(line for line in (" ".join(part.split()) for part in text.split("\n")) if line)

    def end_block(self) -> None:
        """The text so far is a block."""
        kind = self._kind
        self._kind = "paragraph"
        if self._row is not None:
            return
        if kind == "item" and self._is_only_mark():
            self._pieces, self._length = [], 0
            return
        text = self._text() if self._pieces else ""
        if text.strip():
            self._blocks.append(Block(kind, text, self._level))

    def _forget_table(self) -> None:
        self._header, self._header_is_known, self._in_head = "", False, False
        self._spanning.clear()

    def _end_cell(self) -> bool:
        """Put the open cell into the row, behind cells of earlier rows that span this one.

        Says whether the row goes on; one that is too long is no row.
        """
        if self._row is None:
            return False
        text = " ".join(self._text().split())
        if text or self._has_cell:
            self._fill_spanned()
            column = len(self._row)
            self._row_length += len(text) + len(CELL_SEPARATOR)
            self._row += [text, *[""] * (self._column_span - 1)]
            if self._row_span > 1 and column < _MAX_COLUMNS:
                spanned = text if len(text) <= _MAX_SPANNED_CHARACTERS else ""
                self._spanning[column] = (self._row_span, spanned)
        self._has_cell = False
        self._column_span = self._row_span = 1
        if self._row_length > MAX_ROW_CHARACTERS:
            self._leave_row()
            return False
        return True

    def _fill_spanned(self) -> None:
        row = self._row
        while row is not None and len(row) in self._spanning:
            row.append(self._spanning[len(row)][1])

    def _end_row(self) -> None:
        """The row is a block: a cell that spans several rows stands in each of them."""
        if self._row is None:
            return
        if not self._end_cell():
            return
        self._fill_spanned()
        cells, self._row = self._row, None
        self._spanning = {column: (n - 1, text) for column, (n, text) in self._spanning.items() if n > 1}
        while cells and not cells[-1]:
            cells.pop()
        text = CELL_SEPARATOR.join(cells)
        if not text.strip(" |"):
            return
        if self._row_is_header and not self._header_is_known:
            self._blocks.append(Block("row", text))
            self._header = f"{self._header}\n{text}" if self._header else text
            return
        self._header_is_known = True
        self._blocks.append(Block("row", text, header=self._header))

    def _leave_row(self) -> None:
        """The row is layout: what it holds so far are paragraphs."""
        if self._row is None:
            return
        text = " ".join(self._text().split())
        cells, self._row = [*self._row, text], None
        self._row_length = 0
        self._has_cell = False
        self._blocks.extend(Block("paragraph", cell) for cell in cells if cell)


def _is_hidden(attrs: list[tuple[str, str | None]]) -> bool:
    for name, value in attrs:
        text = (value or "").lower().replace(" ", "")
        if name == "hidden" and text != "until-found":
            return True
        if name == "style" and ("display:none" in text or "visibility:hidden" in text):
            return True
        if name == "role" and text in ("navigation", "search", "menu"):
            return True
    return False


def _language(value: str | None) -> str:
    code = (value or "").strip().lower().partition("-")[0]
    return code if re.fullmatch(r"[a-z]{2,3}", code) else ""


def _start(attrs: list[tuple[str, str | None]]) -> int:
    value = dict(attrs).get("start") or ""
    return int(value) if re.fullmatch(r"-?[0-9]{1,6}", value) else 1


def _number(attrs: list[tuple[str, str | None]], name: str, default: int) -> int:
    """A span: from 1 to `_MAX_SPAN` rows or `_MAX_COLUMNS` columns."""
    value = dict(attrs).get(name) or ""
    most = _MAX_SPAN if name == "rowspan" else _MAX_COLUMNS
    return min(max(int(value), 1), most) if re.fullmatch(r"[0-9]{1,9}", value.strip()) else default
