"""Pages of PDF files as pictures."""

from __future__ import annotations

from typing import BinaryIO, cast

from documents.models import Document
from documents.parsing.child import ChildFailed, render_page

PDF = "application/pdf"
WIDTH = 1_000  # pixels


def page_image(document: Document, number: int) -> bytes | None:
    """Page ``number`` of a document as PNG; None where there is no such page, or it cannot be drawn."""
    if document.media_type != PDF or not document.file or not 1 <= number <= (document.pages or 0):
        return None
    try:
        with document.file.open("rb") as file:
            return render_page(cast("BinaryIO", file), number, WIDTH)
    except (FileNotFoundError, ChildFailed):
        return None
