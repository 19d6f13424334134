"""Reads the documents of a file, or those at the addresses that a file lists."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from tempfile import SpooledTemporaryFile
from typing import BinaryIO, cast
from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import default_storage

from consilium.core.errors import DomainError
from consilium.core.jobs import Progress
from consilium.core.limits import MAX_DOCUMENT_KEY_LENGTH, MAX_TITLE_LENGTH, MAX_URL_LENGTH
from consilium.core.phrases import Phrase
from documents.fetching import fetch_document
from documents.parsing.keys import key_from_name
from documents.parsing.limits import LIMITS
from documents.parsing.parsed import ParsedDocument
from documents.parsing.read import FORMATS as FILE_FORMATS
from documents.parsing.read import Format, read_documents
from documents.services.described import check_key
from rubrics.parsing.faults import Faults

URLS = "urls"  # a text file, one address a line
FORMATS = (*FILE_FORMATS, URLS)
MAX_ADDRESSES = 200
KEPT_IN_MEMORY = 1 << 20
# Endings under which originals are stored; the stored name is made of nothing else that a stranger chose.
STORED_ENDINGS = {
    "application/pdf": ".pdf",
    "text/html": ".html",
    "text/markdown": ".md",
    "text/plain": ".txt",
}


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A document of a file, with the key and the title by which it will be known."""

    parsed: ParsedDocument
    key: str
    title: str
    line: int = 0  # of the file, from 1
    url: str = ""
    original: BinaryIO | None = None  # the file, where it is the document


def read_file(
    file: BinaryIO, options: Mapping[str, str], faults: Faults, *, progress: Progress
) -> Iterator[ReadDocument]:
    """The documents of a file by option ``format``; what is wrong with the file is in ``faults``.

    Option ``key`` names the document of a file that names none, else the name of the file does.
    """
    if options.get("format") == URLS:
        yield from _fetched(file, faults, progress)
        return
    name = options.get("file_name", "")
    kind = cast("Format", options.get("format") or "auto")
    own_key = options.get("key", "").strip()
    documents = read_documents(file, faults, format=kind, file_name=name, progress=progress)
    for number, parsed in enumerate(documents, start=1):
        if own_key and number == 2:
            faults.add(0, "key", Phrase("This file contains several documents, which cannot share a key."))
        read = _named(parsed, parsed.key or own_key or key_from_name(name) or "document", faults, line=parsed.line)
        if read is not None:
            yield _with_original(read, file)


def key_of_address(url: str) -> str:
    """The key of a document that is known by its address: host and path; a long one ends with a digest."""
    parts = urlsplit(url)
    name = unquote(f"{parts.hostname or ''}{parts.path}{'-' + parts.query if parts.query else ''}")
    key = key_from_name(name.replace("/", "-").replace("\\", "-") + ".")  # its last dot begins an ending of nothing
    if len(key) < MAX_DOCUMENT_KEY_LENGTH:
        return key or "document"
    return f"{key[: MAX_DOCUMENT_KEY_LENGTH - 9]}-{hashlib.sha256(url.encode()).hexdigest()[:8]}"


def _fetched(file: BinaryIO, faults: Faults, progress: Progress) -> Iterator[ReadDocument]:
    """The documents at the listed addresses. A line that is empty or begins with # is none."""
    characters = 0
    keys: dict[str, int] = {}
    for line, url in _addresses(file, faults):
        own = Faults()
        try:
            # Kept until all addresses are read, in files that have no name; only small ones stay in memory.
            content = cast("BinaryIO", SpooledTemporaryFile(max_size=KEPT_IN_MEMORY))  # noqa: SIM115
            fetch_document(url, content, allowed_hosts=settings.DOCUMENT_ALLOWED_HOSTS)
            content.seek(0)
            for parsed in read_documents(content, own, file_name=urlsplit(url).path):
                characters += len(parsed.text)
                if characters > LIMITS.text_bytes:
                    faults.add(line, "", Phrase("The texts at these addresses are too long in total."))
                    return
                read = _named(parsed, parsed.key or key_of_address(url), faults, line=line, url=url)
                if read is not None and (first := keys.setdefault(read.key, line)) != line:
                    faults.add(line, "key", Phrase("The document in line %(n)s has the same key.", n=first))
                elif read is not None:
                    yield _with_original(read, content)
        except DomainError as error:
            own.add(0, "", error.args[0])
        for fault in own.first:
            faults.add(line, fault.field, fault.message)
        progress(line)


def _addresses(file: BinaryIO, faults: Faults) -> Iterator[tuple[int, str]]:
    lines: dict[str, int] = {}
    content = file.read(MAX_ADDRESSES * (MAX_URL_LENGTH + 2) + 1)
    for line, text in enumerate(content.decode("utf-8-sig", "replace").split("\n"), start=1):
        url = text.strip()
        if not url or url.startswith("#"):
            continue
        if len(lines) == MAX_ADDRESSES:
            faults.add(line, "", Phrase("A list has at most %(n)s addresses.", n=MAX_ADDRESSES))
            return
        if len(url) > MAX_URL_LENGTH:
            faults.add(line, "", Phrase("This is longer than %(n)s characters.", n=MAX_URL_LENGTH))
        elif url in lines:
            faults.add(line, "", Phrase("This address is already in line %(n)s.", n=lines[url]))
        else:
            lines[url] = line
            yield line, url
    if not lines and not faults.total:
        faults.add(0, "", Phrase("This list contains no addresses."))


def _named(parsed: ParsedDocument, key: str, faults: Faults, *, line: int, url: str = "") -> ReadDocument | None:
    if problem := check_key(key):
        faults.add(line, "key", problem)
        return None
    title = " ".join(parsed.title.split()) or key
    if len(title) > MAX_TITLE_LENGTH:
        title = title[: MAX_TITLE_LENGTH - 1] + "…"
    return ReadDocument(parsed, key, title, line, url)


def _with_original(read: ReadDocument, file: BinaryIO) -> ReadDocument:
    """The document with its original, where the file is the document."""
    return replace(read, original=file) if read.parsed.media_type in STORED_ENDINGS else read


def store_original(read: ReadDocument) -> str:
    """Store the original, once nothing is wrong with the import any more; its name, empty without one.

    The name is made of the digest: an import that is tried again finds the file there, and nothing is stored twice.
    """
    if read.original is None:
        return ""
    name = f"documents/{read.parsed.sha256}{STORED_ENDINGS[read.parsed.media_type]}"
    size = read.original.seek(0, 2)
    read.original.seek(0)
    if not (default_storage.exists(name) and default_storage.size(name) == size):
        # What a killed worker left unfinished keeps the name; the whole file then gets another.
        name = default_storage.save(name, File(read.original))
    return name
