"""Opens a PDF, or says why it is refused. Runs in the child process of `child.py`."""

from __future__ import annotations

import os
from typing import BinaryIO

import pypdfium2
from pypdfium2 import raw

from consilium.core.phrases import Phrase
from documents.parsing.characters import Unreadable

_END = 2_048


def open_pdf(file: BinaryIO) -> pypdfium2.PdfDocument:
    """The document. Refused: encrypted ones, and those that PDFium would have to repair.

    From a file that was cut off, or whose table of objects is wrong, PDFium gives the pages that it can find, and
    nobody would know which are missing.
    """
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _END))
    if b"%%EOF" not in file.read():
        raise Unreadable(Phrase("The PDF is incomplete: its end is missing."))
    file.seek(0)
    try:
        document = pypdfium2.PdfDocument(file)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == raw.FPDF_ERR_PASSWORD:
            raise Unreadable(Phrase("The PDF is encrypted. Save it without a password.")) from None
        if getattr(error, "err_code", None) == raw.FPDF_ERR_SECURITY:
            raise Unreadable(Phrase("The PDF is encrypted in a way that is not supported.")) from None
        raise Unreadable(Phrase("The PDF is damaged.")) from None
    if not raw.FPDF_DocumentHasValidCrossReferenceTable(document):
        raise Unreadable(
            Phrase("The PDF is damaged: its object table is invalid. Print it to a new PDF and compare the pages.")
        )
    return document
