"""Reads PDF, HTML and Markdown in a child process with limits on memory, time and the size of the answer.

The reader of PDF is C++ on a stranger's bytes, and readers of markup can be kept busy for hours by a few kilobytes.
The child inherits no open file but the document, and no environment. `child_main.py` says what it sends.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from consilium.core.phrases import Phrase
from documents.parsing.blocks import BLOCK_KINDS, Block, DocumentFacts
from documents.parsing.characters import Unreadable
from documents.parsing.limits import LIMITS, PAGE_IMAGE_LIMITS, DocumentLimits
from documents.parsing.parsed import ParsedDocument
from documents.parsing.passages import PassageBuilder

_SCRIPT = Path(__file__).with_name("child_main.py")
_ROOT = Path(__file__).resolve().parents[2]
_READ = 1 << 16
_MAX_LINE_BYTES = 4_000_000
_MAX_IMAGE_BYTES = 20_000_000
MAX_IMAGE_WIDTH = 2_000


class ChildFailed(ValueError):
    """The child did not read the whole file; the message is a phrase for the person who sent it."""


class _BadAnswer(ValueError):
    """The child's answer is not in the form of the protocol."""


def read_in_child(
    file: BinaryIO,
    kind: str,
    *,
    limits: DocumentLimits = LIMITS,
    progress: Callable[[int], None] | None = None,
) -> ParsedDocument:
    """The document in ``file``, which needs a descriptor. ``progress`` takes the number of bytes read so far.

    `Unreadable`, `ChildFailed` or `TooLarge` if it is refused; then nothing of it may be used.
    """
    size = os.fstat(file.fileno()).st_size
    builder = PassageBuilder(limits)
    facts: DocumentFacts | None = None
    header = ""
    with _Child(file, {"kind": kind}, limits) as child:
        for message in child.messages():
            name = message[0]
            if name == "block":
                builder.add(_block(message, header))
            elif name == "header":
                header = _checked(message[1], str)
            elif name == "progress":
                if progress is not None:
                    progress(min(size, size * _checked(message[1], int) // 1000))
            elif name == "facts":
                facts = _facts(message)
            else:
                raise _BadAnswer(name)
    if facts is None:
        raise ChildFailed(_broken())
    return builder.finish(facts)


def render_page(file: BinaryIO, page: int, width: int = 900, *, limits: DocumentLimits = PAGE_IMAGE_LIMITS) -> bytes:
    """Page ``page`` (from 1) of a PDF as a PNG that is ``width`` pixels wide. `ChildFailed` where there is none."""
    settings = {"kind": "png", "page": page, "width": min(max(width, 16), MAX_IMAGE_WIDTH)}
    with _Child(file, settings, limits) as child:
        try:
            for message in child.messages():
                if message[0] == "png":
                    return child.read_bytes(_checked(message[1], int))
        except Unreadable as error:
            raise ChildFailed(error.message) from None
    raise ChildFailed(_broken())


class _Child:
    """The process and what it sends, up to the limits."""

    def __init__(self, file: BinaryIO, settings: dict[str, Any], limits: DocumentLimits) -> None:
        self._limits = limits
        self._deadline = time.monotonic() + limits.wall_s
        self._buffer = bytearray()
        self._received = 0
        file.seek(0)
        whole = {
            **settings,
            "parent": os.getpid(),
            "root": str(_ROOT),
            "size": os.fstat(file.fileno()).st_size,
            "pages": limits.pages,
            "markup_characters": limits.markup_characters,
            "cpu_s": limits.cpu_s,
            "address_space": limits.address_space,
            "data_bytes": limits.data_bytes,
        }
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-B", "-X", "utf8", str(_SCRIPT), json.dumps(whole)],
            stdin=file.fileno(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={},
            cwd="/",
            close_fds=True,
            start_new_session=True,
        )

    def __enter__(self) -> _Child:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _trace: object) -> None:
        self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        if isinstance(error, _BadAnswer):
            raise ChildFailed(_broken()) from None

    def messages(self) -> Iterator[list[Any]]:
        """What the child sends before the end. `Unreadable` where it refuses the file, `ChildFailed` where it fails."""
        while True:
            message = self._message()
            name = message[0]
            if name == "end":
                return
            if name == "refused":
                phrase = _phrase(_checked(message[1], str), _checked(message[2], dict))
                raise Unreadable(phrase, _checked(message[3], int))
            yield message

    def _message(self) -> list[Any]:
        while (end := self._buffer.find(b"\n")) < 0:
            if len(self._buffer) > _MAX_LINE_BYTES:
                raise _BadAnswer("a line is too long")
            self._receive()
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            raise _BadAnswer("no JSON") from None
        if not isinstance(message, list) or not message or not isinstance(message[0], str):
            raise _BadAnswer("no message")
        return message + [None] * max(0, 6 - len(message))

    def read_bytes(self, length: int) -> bytes:
        """The bytes that follow the last message."""
        if not 0 < length <= _MAX_IMAGE_BYTES:
            raise _BadAnswer("a length")
        while len(self._buffer) < length:
            self._receive()
        return bytes(self._buffer[:length])

    def _receive(self) -> None:
        stream = self._process.stdout
        assert stream is not None
        left = self._deadline - time.monotonic()
        waiting = select.poll()
        waiting.register(stream, select.POLLIN)
        if left <= 0 or not waiting.poll(1000 * left):
            raise ChildFailed(
                Phrase("Reading the file took longer than %(n)s s. It may be damaged.", n=round(self._limits.wall_s))
            )
        chunk = os.read(stream.fileno(), _READ)
        if not chunk:
            raise ChildFailed(_reason(self._process.wait(), self._limits))
        self._received += len(chunk)
        if self._received > self._limits.answer_bytes:
            raise ChildFailed(
                Phrase("The document contains more than %(n)s MB of text.", n=self._limits.text_bytes // 1_000_000)
            )
        self._buffer += chunk


def _reason(code: int, limits: DocumentLimits) -> Phrase:
    """Why the child ended before the end of its answer."""
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return Phrase("Reading the file took longer than %(n)s s. It may be damaged.", n=limits.cpu_s)
    return _broken()


def _broken() -> Phrase:
    return Phrase("The file cannot be read completely: it is damaged or needs more memory than is allowed.")


def _checked(value: Any, kind: type) -> Any:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise _BadAnswer(f"no {kind.__name__}")
    return value


def _block(message: list[Any], header: str) -> Block:
    _name, kind, text, level, page, has_header = message[:6]
    if kind not in BLOCK_KINDS:
        raise _BadAnswer("a kind")
    page = None if page is None else _checked(page, int)
    return Block(kind, _checked(text, str), _checked(level, int), page, header if _checked(has_header, bool) else "")


def _facts(message: list[Any]) -> DocumentFacts:
    _name, title, pages, without_text, language, remarks = message[:6]
    return DocumentFacts(
        title=_checked(title, str)[:1000],
        pages=None if pages is None else _checked(pages, int),
        pages_without_text=tuple(_checked(page, int) for page in _checked(without_text, list)),
        language=_checked(language, str)[:10],
        remarks=tuple(_phrase(_checked(template, str), _checked(values, dict)) for template, values in remarks),
    )


def _phrase(template: str, values: dict[str, Any]) -> Phrase:
    with contextlib.suppress(KeyError, TypeError, ValueError):
        return Phrase(template, **{str(name): value for name, value in values.items()})
    raise _BadAnswer("a phrase")
