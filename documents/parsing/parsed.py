"""What every reader of documents returns."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ParsedPassage:
    """A stretch of the document's text: ``text[start:end]`` of `ParsedDocument`, in characters."""

    start: int
    end: int
    headings: tuple[str, ...] = ()  # the outermost first
    page_from: int | None = None  # from 1
    page_to: int | None = None
    table_header: str = ""  # of a passage that begins with later rows of a table: the cells of its header


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """The text of a document and its passages, in the order of the text."""

    text: str
    passages: tuple[ParsedPassage, ...]
    title: str = ""
    pages: int | None = None  # None where the format has no pages
    pages_without_text: tuple[int, ...] = ()  # from 1
    language: str = ""
    metadata: dict[str, object] = field(default_factory=dict)  # of a JSONL line: fields of `Document` by name
    key: str = ""  # empty where the file names none
    sha256: str = ""  # of the file's bytes, or of the document's texts in a JSONL file
    media_type: str = ""
    line: int = 0  # of a JSONL file: where the document begins, from 1
    remarks: tuple[str, ...] = ()  # phrases about what was left out or replaced
