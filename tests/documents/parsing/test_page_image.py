"""Pages of a PDF as pictures."""

from __future__ import annotations

import os
import struct
import zlib
from pathlib import Path

import pytest

from documents.parsing.child import ChildFailed, render_page
from tests.documents.parsing.pdf_writer import Page, write_pdf

pytestmark = pytest.mark.slow


def rows_of(png: bytes) -> tuple[int, int, list[bytes]]:
    """Width, height and the rows of a PNG without filters, read by the format's own description."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    place, data = 8, b""
    while place < len(png):
        length, name = struct.unpack(">I4s", png[place : place + 8])
        content = png[place + 8 : place + 8 + length]
        assert struct.unpack(">I", png[place + 8 + length : place + 12 + length])[0] == zlib.crc32(name + content)
        if name == b"IHDR":
            width, height, depth, color = struct.unpack(">IIBB", content[:10])
            assert (depth, color) == (8, 2)
        elif name == b"IDAT":
            data += content
        place += 12 + length
    pixels = zlib.decompress(data)
    size = 1 + 3 * width
    rows = [pixels[at : at + size] for at in range(0, len(pixels), size)]
    assert {row[0] for row in rows} == {0}
    return width, height, [row[1:] for row in rows]


def test_a_page_is_drawn_upright(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(write_pdf([Page(), Page().text(60, 800, "Near the upper edge", 20)]))
    with path.open("rb") as file:
        width, height, rows = rows_of(render_page(file, 2, 595))
    assert (width, height) == (595, 842)
    dark = [number for number, row in enumerate(rows) if min(row) < 100]
    # The baseline is 42 points below the upper edge; the letters are at most 20 points high.
    assert 15 < min(dark) < max(dark) < 55


@pytest.mark.parametrize("page", [0, 2])
def test_a_page_that_is_not_there_is_refused(page: int, tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(write_pdf([Page()]))
    with path.open("rb") as file, pytest.raises(ChildFailed, match=f"Page {page} does not exist"):
        render_page(file, page)


def test_what_is_no_pdf_is_refused() -> None:
    with open(os.devnull, "rb") as file, pytest.raises(ChildFailed):
        render_page(file, 1)
