"""Puts the objects of a PDF in a fixed order, so that the file of a figure has the same bytes each time.

The renderer numbers and writes fonts in a random order.
"""

from __future__ import annotations

import re
from itertools import pairwise

_START = re.compile(rb"startxref\s+(\d+)\s+%%EOF\s*$")
_SECTION = re.compile(rb"xref\s+0 (\d+)\s+")
_ENTRY = 20  # bytes of an entry of the table of offsets, by the format's own rule
_RESOURCES = re.compile(rb"(/(?:Font|XObject|ExtGState|ColorSpace|Pattern|Shading) <<\n)((?: +/\w+ [^\n<>]*\n)+)")
_REFERENCE = re.compile(rb"\b(\d+) 0 R\b")
_NUMBER = re.compile(rb"^\s*\d+ 0 obj")
_STREAM = b"\nstream"


def in_order(pdf: bytes) -> bytes:
    """The same document, with objects numbered in the order of references from the trailer on, and resources sorted.

    For files with one plain table of offsets and no update, as svg2pdf writes them; ValueError on others.
    """
    start = _START.search(pdf)
    section = _SECTION.match(pdf, int(start[1])) if start else None
    if start is None or section is None:
        raise ValueError("not a PDF with one plain table of offsets")
    table, count, first = int(start[1]), int(section[1]), section.end()
    entries = [pdf[first + _ENTRY * i : first + _ENTRY * (i + 1)] for i in range(count)]
    offsets = {number: int(entry[:10]) for number, entry in enumerate(entries) if entry[17:18] == b"n"}
    borders = [*sorted(offsets.values()), table]
    end_of = dict(pairwise(borders))
    parts = {number: _parts(pdf[offset : end_of[offset]]) for number, offset in offsets.items()}
    trailer = pdf[first + _ENTRY * count : start.start(1)]

    new: dict[int, int] = {}
    waiting = [trailer]
    while waiting:
        for match in _REFERENCE.finditer(waiting.pop(0)):
            number = int(match[1])
            if number in parts and number not in new:
                new[number] = len(new) + 1
                waiting.append(parts[number][0])

    def renumbered(text: bytes) -> bytes:
        return _REFERENCE.sub(lambda match: b"%d 0 R" % new.get(int(match[1]), 0), text)

    output, places = bytearray(pdf[: borders[0]]), []
    for number in new:
        described, data = parts[number]
        places.append(len(output))
        output += _NUMBER.sub(b"%d 0 obj" % new[number], renumbered(described), count=1) + data
    moved = len(output)
    output += b"xref\n0 %d\n0000000000 65535 f\r\n" % (len(new) + 1)
    output += b"".join(b"%010d 00000 n\r\n" % place for place in places)
    output += re.sub(rb"/Size \d+", b"/Size %d" % (len(new) + 1), renumbered(trailer))
    return bytes(output) + b"%d\n%%%%EOF\n" % moved


def _parts(text: bytes) -> tuple[bytes, bytes]:
    """The dictionary of an object, its resources in order, and its stream, which may hold any bytes."""
    described, separator, data = text.partition(_STREAM)
    return _RESOURCES.sub(_sorted, described), separator + data


def _sorted(match: re.Match[bytes]) -> bytes:
    return match[1] + b"".join(sorted(match[2].splitlines(keepends=True)))
