"""Reads a file of documents, whatever its format: all of it, or faults that name what is wrong."""

from __future__ import annotations

import hashlib
import io
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import BinaryIO, Literal, cast

from consilium.core.phrases import Phrase
from documents.parsing.blocks import DocumentFacts
from documents.parsing.characters import Cleaner, Unreadable, encoding_of
from documents.parsing.child import ChildFailed, read_in_child
from documents.parsing.jsonl import read_jsonl
from documents.parsing.limits import LIMITS, DocumentLimits
from documents.parsing.parsed import ParsedDocument
from documents.parsing.passages import PassageBuilder, TooLarge
from documents.parsing.plain_text import text_blocks
from rubrics.parsing.faults import Faults
from rubrics.parsing.reader import archive_of

Format = Literal["auto", "pdf", "html", "markdown", "text", "jsonl"]
MEDIA_TYPES = {
    "pdf": "application/pdf",
    "html": "text/html",
    "markdown": "text/markdown",
    "text": "text/plain",
    "jsonl": "application/jsonl",
}
FORMATS = tuple(MEDIA_TYPES)
_ENDINGS = {
    "pdf": "pdf", "html": "html", "htm": "html", "xhtml": "html", "md": "markdown", "markdown": "markdown",
    "txt": "text", "text": "text", "jsonl": "jsonl", "ndjson": "jsonl",
}  # fmt: skip
_START = 1024
_COPY = 1 << 20
_MAX_LINE_CHARACTERS = 10_000_000
_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)[\s>]",
    re.IGNORECASE | re.DOTALL,
)
_JSON_LINE = re.compile(rb"\s*\{\s*\"")


def read_documents(
    file: BinaryIO,
    faults: Faults,
    *,
    format: Format = "auto",
    file_name: str = "",
    progress: Callable[[int], None] | None = None,
    limits: DocumentLimits = LIMITS,
) -> Iterator[ParsedDocument]:
    """The documents of ``file``: one, or as many as a JSONL file holds.

    Whatever is wrong is in ``faults`` when the iterator ends: keep nothing of a file before `Faults.refuse_if_any`.
    ``progress`` takes the number of bytes read. A document of another format than JSONL has no key.
    """
    with tempfile.TemporaryFile() as copy:
        try:
            sha256 = _copy(file, copy, limits)
            kind = format_of(copy, file_name) if format == "auto" else format
            if kind == "jsonl":
                copy.seek(0)
                yield from read_jsonl(cast("BinaryIO", copy), faults, limits=limits, progress=progress)
                return
            parsed = _read_one(cast("BinaryIO", copy), kind, limits, progress)
        except Unreadable as error:
            faults.add(error.line, "", error.message)
        except (ChildFailed, TooLarge) as error:
            faults.add(0, "", error.args[0])
        else:
            if not parsed.passages:
                faults.add(0, "", _no_text(parsed))
                return
            yield replace(parsed, sha256=sha256, media_type=MEDIA_TYPES[kind])


def _no_text(parsed: ParsedDocument) -> str:
    if parsed.pages:
        return Phrase("None of the %(n)s pages contains text. Run text recognition (OCR) on scanned pages first.",
                      n=parsed.pages)  # fmt: skip
    return Phrase("The file contains no text.")


def _copy(file: BinaryIO, copy: io.IOBase | BinaryIO, limits: DocumentLimits) -> str:
    """Copy a file to one that a child process can be given; returns its SHA-256."""
    digest = hashlib.sha256()
    size = 0
    while chunk := file.read(_COPY):
        size += len(chunk)
        if size > limits.file_bytes:
            raise Unreadable(Phrase("The file is larger than %(n)s MB.", n=limits.file_bytes // 1_000_000))
        digest.update(chunk)
        copy.write(chunk)
    copy.flush()
    if not size:
        raise Unreadable(Phrase("The file is empty."))
    return digest.hexdigest()


def format_of(file: io.IOBase | BinaryIO, file_name: str = "") -> Format:
    """The format of a file: by its content, else by the ending of its name, else plain text."""
    file.seek(0)
    start = file.read(_START)
    if b"%PDF-" in start:
        return "pdf"
    if archive := archive_of(start):
        raise Unreadable(
            Phrase("This is an archive or office file (%(kind)s). Save it as PDF, HTML or text.", kind=archive)
        )
    ending = _ENDINGS.get(file_name.rpartition(".")[2].lower(), "") if "." in file_name else ""
    if ending == "pdf":
        raise Unreadable(Phrase("The file is named as a PDF but is not a PDF."))
    if _JSON_LINE.match(start) and ending in ("", "jsonl"):
        return "jsonl"
    if _HTML.match(start) and ending not in ("markdown", "text"):
        return "html"
    return cast("Format", ending or "text")


def _read_one(
    file: BinaryIO, kind: str, limits: DocumentLimits, progress: Callable[[int], None] | None
) -> ParsedDocument:
    if kind == "text":
        return _read_text(file, limits, progress)
    return read_in_child(file, kind, limits=limits, progress=progress)


def _read_text(file: BinaryIO, limits: DocumentLimits, progress: Callable[[int], None] | None) -> ParsedDocument:
    encoding = encoding_of(file)
    file.seek(0)
    n_feeds = sum(chunk.count(b"\f") for chunk in iter(lambda: file.read(_COPY), b""))
    file.seek(0)
    cleaner = Cleaner()
    builder = PassageBuilder(limits)
    pages_with_text = set()
    with_lines = io.TextIOWrapper(file, encoding=encoding, newline=None)
    try:
        for block in text_blocks(_lines(with_lines, cleaner, progress), paged=n_feeds > 0):
            builder.add(block)
            if block.page is not None:
                pages_with_text.add(block.page)
    finally:
        with_lines.detach()
    # A form feed ends a page or begins one; nothing behind the last is no page.
    pages = max(n_feeds, max(pages_with_text, default=0)) if n_feeds else None
    if pages and pages > limits.pages:
        raise TooLarge(Phrase("The document has more than %(n)s pages.", n=limits.pages))
    empty = tuple(page for page in range(1, (pages or 0) + 1) if page not in pages_with_text)
    return builder.finish(DocumentFacts(pages=pages, pages_without_text=empty, remarks=cleaner.remarks()))


def _lines(file: io.TextIOWrapper, cleaner: Cleaner, progress: Callable[[int], None] | None) -> Iterator[str]:
    number = characters = 0
    while line := file.readline(_MAX_LINE_CHARACTERS + 1):
        number += 1
        characters += len(line)
        if len(line) > _MAX_LINE_CHARACTERS:
            message = Phrase("The line is longer than %(n)s characters.", n=_MAX_LINE_CHARACTERS)
            raise Unreadable(message, number)
        if progress is not None and number % 1024 == 0:
            progress(characters)
        yield from cleaner.clean(line.rstrip("\n")).split("\n")
