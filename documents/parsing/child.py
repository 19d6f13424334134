"""Reads PDF, HTML and Markdown in a child process with limits on memory, time and the size of the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import BinaryIO

from consilium.core.phrases import Phrase
from documents.parsing.limits import LIMITS, DocumentLimits
from documents.parsing.parsed import ParsedDocument


class ChildFailed(ValueError):
    """The child did not read the whole file; the message is a phrase for the person who sent it."""


def read_in_child(
    file: BinaryIO,
    kind: str,
    *,
    limits: DocumentLimits = LIMITS,
    progress: Callable[[int], None] | None = None,
) -> ParsedDocument:
    """The document in ``file`` (at any position; with a descriptor). `ChildFailed` or `TooLarge` if it is refused."""
    raise ChildFailed(Phrase("Files of this format cannot be read yet."))


def render_page(file: BinaryIO, page: int, width: int = 900) -> bytes:
    """Page ``page`` (from 1) of a PDF as a PNG of ``width`` pixels. `ChildFailed` where it cannot be drawn."""
    raise ChildFailed(Phrase("Files of this format cannot be read yet."))
