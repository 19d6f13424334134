"""Documents in JSONL: a document, or one of its passages, on a line.

Lines with the same key are passages of one document, in their order, and follow each other. The fields of `Document`
stand on its first line; a later line may repeat them, with the same values. A line's text is never joined with that of
another line; one that is longer than a passage is split.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from typing import BinaryIO

from consilium.core.limits import (
    MAX_LICENCE_LENGTH,
    MAX_PUBLISHER_LENGTH,
    MAX_TITLE_LENGTH,
    MAX_URL_LENGTH,
    MAX_VERSION_LABEL_LENGTH,
)
from consilium.core.phrases import Phrase
from documents.parsing.blocks import DocumentFacts
from documents.parsing.characters import Cleaner
from documents.parsing.keys import is_key
from documents.parsing.limits import LIMITS, MAX_HEADING_CHARACTERS, MAX_HEADING_LEVEL, DocumentLimits
from documents.parsing.parsed import ParsedDocument
from documents.parsing.passages import PassageBuilder, TooLarge
from documents.parsing.plain_text import text_blocks
from rubrics.parsing.faults import Faults
from rubrics.parsing.fields import Fields, Ids
from rubrics.parsing.reader import Limits, RecordReader

KINDS = ("guideline", "drug_reference", "patient_information", "research", "local_protocol", "other")
AUDIENCES = ("lay", "professional")
FLAGS = ("may_send", "may_quote", "may_redistribute")
_TEXTS = {
    "title": MAX_TITLE_LENGTH,
    "publisher": MAX_PUBLISHER_LENGTH,
    "url": MAX_URL_LENGTH,
    "version_label": MAX_VERSION_LABEL_LENGTH,
    "licence": MAX_LICENCE_LENGTH,
}
_DATES = ("published_on", "review_by")
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_JURISDICTION = re.compile(r"[A-Z]{2}|INT")
_MAX_JURISDICTIONS = 50


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    key: str
    text: str
    headings: tuple[str, ...] | None
    page: int | None
    metadata: dict[str, object]


def read_jsonl(
    file: BinaryIO,
    faults: Faults,
    *,
    limits: DocumentLimits = LIMITS,
    progress: Callable[[int], None] | None = None,
) -> Iterator[ParsedDocument]:
    """The sound documents of a file; everything else is in ``faults`` when the iterator ends."""
    keys = Ids(Phrase("key"))
    reader = RecordReader(file, faults, limits=Limits(total_bytes=limits.file_bytes), progress=progress)
    document: _Document | None = None
    left = limits
    number = 0
    for line_number, record in reader:
        fields = Fields(line_number, record, faults)
        line = _read_line(fields, limits)
        if line is None:
            continue
        try:
            if document is not None and line.key == document.key:
                document.add(line, fields)
                continue
            keys.add(fields, "key", line.key)
            if not fields.sound:
                continue
            if document is not None:
                parsed = document.finish()
                left = _what_is_left(left, parsed)
                yield parsed
            number += 1
            if number > limits.documents:
                faults.add(line_number, "", Phrase("A file can contain at most %(n)s documents.", n=limits.documents))
                return
            document = _Document(line, left)
        except TooLarge as error:
            faults.add(line_number, "text", error.args[0])
            return
    if document is not None and not faults.total:
        yield document.finish()


def _what_is_left(limits: DocumentLimits, parsed: ParsedDocument) -> DocumentLimits:
    text = parsed.text
    width = 1 if text.isascii() else 4 if max(text) > "\uffff" else 2 if max(text) > "\xff" else 1
    return replace(
        limits,
        text_bytes=limits.text_bytes - len(text) * width,
        passages=limits.passages - len(parsed.passages),
    )


class _Document:
    """The document whose lines are being read."""

    def __init__(self, line: _Line, limits: DocumentLimits) -> None:
        self.key = line.key
        self._first = line
        self._cleaner = Cleaner()
        self._hash = hashlib.sha256()
        self._builder = PassageBuilder(limits)
        self._pages = 0
        self._title = ""
        self._pending: _Line | None = line  # the first line, as long as it is not known whether others follow

    def add(self, line: _Line, fields: Fields) -> None:
        """Add a later line; what it says of the document must be what the first line says."""
        for name, value in line.metadata.items():
            if name not in self._first.metadata or self._first.metadata[name] != value:
                fields.fault(
                    name,
                    Phrase("This differs from line %(line)s for the same document.", line=self._first.number),
                )
        if self._pending is not None:
            self._keep(self._pending, has_others=True)
            self._pending = None
        self._keep(line, has_others=True)

    def _keep(self, line: _Line, *, has_others: bool) -> None:
        # The digest is over the texts: another licence is no other edition.
        content = [line.text, list(line.headings or ()), line.page]
        self._hash.update(json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
        self._pages = max(self._pages, line.page or 0)
        if line.headings is not None or has_others:
            self._builder.begin_section(tuple(map(self._cleaner.clean, line.headings or ())))
        look_for_headings = line.headings is None and not has_others
        lines = self._cleaner.clean(line.text).split("\n")
        for block in text_blocks(lines, headings=look_for_headings):
            self._builder.add(replace(block, page=line.page))

    def finish(self) -> ParsedDocument:
        """The document of its lines."""
        if self._pending is not None:
            self._keep(self._pending, has_others=False)
        facts = DocumentFacts(
            title=str(self._first.metadata.get("title", "")),
            pages=self._pages or None,
            language=str(self._first.metadata.get("language", "")),
            remarks=self._cleaner.remarks(),
        )
        return replace(
            self._builder.finish(facts),
            metadata=dict(self._first.metadata),
            key=self.key,
            sha256=self._hash.hexdigest(),
            media_type="application/jsonl",
            line=self._first.number,
        )


def _read_line(fields: Fields, limits: DocumentLimits) -> _Line | None:
    """What a line says; None where it has a fault."""
    key = fields.text("key")
    if key and not is_key(key):
        fields.fault(
            "key",
            Phrase(
                "A key consists of letters, digits, dots, colons, hyphens and underscores, and does not "
                "begin with a dot."
            ),
        )
    text = fields.text("text")
    headings = None
    if fields.take("headings") is not None:
        headings = tuple(fields.texts("headings", longest=MAX_HEADING_CHARACTERS))
        if len(headings) > MAX_HEADING_LEVEL:
            fields.fault("headings", Phrase("At most %(n)s are allowed.", n=MAX_HEADING_LEVEL))
    page = (
        fields.integer("page", low=1, high=limits.pages, default=0) if fields.record.get("page") is not None else None
    )
    metadata = _metadata(fields)
    for name in fields.rest():
        fields.fault(name, Phrase("This field does not exist."))
    if not fields.sound:
        return None
    return _Line(fields.line, key, text, headings, page, metadata)


def _metadata(fields: Fields) -> dict[str, object]:
    """The fields of `Document` that the line gives; null counts as not given."""
    metadata: dict[str, object] = {}
    for name in [*_TEXTS, "kind", "tier", *_DATES, "jurisdictions", "language", "audience", *FLAGS]:
        if fields.record.get(name) is None:
            fields.take(name)
            continue
        metadata[name] = _value(fields, name)
    return metadata


def _value(fields: Fields, name: str) -> object:
    if name in _TEXTS:
        return fields.text(name, longest=_TEXTS[name]).strip()
    if name == "kind":
        return fields.choice(name, KINDS)
    if name == "audience":
        return fields.choice(name, AUDIENCES)
    if name == "tier":
        return fields.integer(name, low=1, high=4)
    if name in _DATES:
        return _date(fields, name)
    if name == "jurisdictions":
        return _jurisdictions(fields, name)
    if name == "language":
        language = fields.text(name)
        if language and (len(language) > 10 or not _LANGUAGE.fullmatch(language)):
            message = Phrase("“%(name)s” is not a language code such as en or zh.", name=language[:20])
            fields.fault(name, message)
        return language
    flag = fields.take(name)
    if not isinstance(flag, bool):
        fields.fault(name, Phrase("This must be true or false."))
    return flag


def _date(fields: Fields, name: str) -> date | None:
    text = fields.text(name)
    try:
        if len(text) == len("2026-01-31"):
            return date.fromisoformat(text)
    except ValueError:
        pass
    if text:
        fields.fault(name, Phrase("This is not a date in the form 2026-01-31."))
    return None


def _jurisdictions(fields: Fields, name: str) -> list[str]:
    codes = fields.texts(name)
    if len(codes) > _MAX_JURISDICTIONS:
        fields.fault(name, Phrase("At most %(n)s are allowed.", n=_MAX_JURISDICTIONS))
    for index, code in enumerate(codes):
        if not _JURISDICTION.fullmatch(code):
            fields.fault(
                f"{name}[{index}]",
                Phrase("“%(code)s” is neither an ISO 3166 country code nor INT.", code=code[:20]),
            )
    return codes
