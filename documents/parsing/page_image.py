"""The image of a page of a PDF. Runs in the child process of `child.py`."""

from __future__ import annotations

import struct
import zlib
from typing import BinaryIO

import pypdfium2

from consilium.core.phrases import Phrase
from documents.parsing.characters import Unreadable
from documents.parsing.pdf_file import open_pdf

MAX_HEIGHT = 4_000


def page_png(file: BinaryIO, page: int, width: int) -> bytes:
    """Page ``page`` (from 1) as a PNG; very tall pages become narrower than ``width``."""
    document = open_pdf(file)
    if not 1 <= page <= len(document):
        raise Unreadable(Phrase("Page %(page)s does not exist.", page=page))
    try:
        loaded = document[page - 1]
        page_width, page_height = loaded.get_size()
        scale = min(width / max(page_width, 1.0), MAX_HEIGHT / max(page_height, 1.0))
        bitmap = loaded.render(scale=scale, rev_byteorder=True, fill_color=(255, 255, 255, 255))
    except pypdfium2.PdfiumError:
        raise Unreadable(Phrase("Page %(page)s cannot be read.", page=page)) from None
    return _png(bytes(bitmap.buffer), bitmap.width, bitmap.height, bitmap.stride, bitmap.n_channels)


def _png(pixels: bytes, width: int, height: int, stride: int, channels: int) -> bytes:
    """A PNG of 8-bit grey, RGB or RGBA pixels."""
    color_type = {1: 0, 3: 2, 4: 6}[channels]
    packer = zlib.compressobj(6)
    packed = [packer.compress(b"\0" + pixels[at : at + width * channels]) for at in range(0, height * stride, stride)]
    packed.append(packer.flush())
    header = struct.pack(">IIBBBBB", width, height, 8, color_type, 0, 0, 0)
    chunks = (_chunk(b"IHDR", header), _chunk(b"IDAT", b"".join(packed)), _chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
