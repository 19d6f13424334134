"""Room in a figure's file for labels in another font than that in which they were measured.

A reader of an SVG file may not have the font of the figure, and sets its labels in a wider one; what then reaches over
the edge would be cut.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator
from xml.etree import ElementTree

LETTER = 0.62  # of the font size: the mean width of a letter in the widest of the usual fonts, such as Verdana
EDGE = 4.0  # pixels beside the widest label
_TRANSFORM = re.compile(r"(translate|rotate)\(([^)]*)\)")
_SIZE = re.compile(r'width="[\d.]+" height="[\d.]+" viewBox="[^"]+"')
_GROUND = re.compile(r'<rect width="[\d.]+" height="[\d.]+"')


def with_room(svg: str) -> str:
    """The SVG, wider where a label would be cut in a wider font."""
    root = ElementTree.fromstring(svg)  # noqa: S314  # our own renderer's output
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    ends = [end.real for pair in _labels(root, 0j, 1 + 0j) for end in pair if 0 <= end.imag <= height]
    left = max(0, math.ceil(EDGE - min(ends, default=EDGE)))
    right = max(0, math.ceil(max(ends, default=0.0) + EDGE - width))
    if not left and not right:
        return svg
    size = f'width="{width + left + right:g}" height="{height:g}"'
    svg = _SIZE.sub(f'{size} viewBox="{-left} 0 {width + left + right:g} {height:g}"', svg, count=1)
    return _GROUND.sub(f'<rect x="{-left}" {size}', svg, count=1)


def _labels(element: ElementTree.Element, origin: complex, turn: complex) -> Iterator[tuple[complex, complex]]:
    """The two ends of each label in the figure's pixels; ``origin`` and ``turn`` are those of the group it is in."""
    for kind, numbers in _TRANSFORM.findall(element.get("transform") or ""):
        values = [float(number) for number in re.split(r"[ ,]+", numbers.strip())]
        if kind == "translate":
            origin += turn * complex(values[0], values[1] if len(values) > 1 else 0.0)
        else:
            turn *= complex(math.cos(math.radians(values[0])), math.sin(math.radians(values[0])))
    if element.tag.rpartition("}")[2] == "text":
        letters = max(map(_letters, element.itertext()), default=0.0)
        width = letters * float((element.get("font-size") or "12").removesuffix("px"))
        start = {"end": -width, "middle": -width / 2}.get(element.get("text-anchor") or "", 0.0)
        yield origin + turn * start, origin + turn * (start + width)
        return
    for child in element:
        yield from _labels(child, origin, turn)


def _letters(text: str) -> float:
    """The width of a line at a font size of 1; a Chinese character is as wide as it is high."""
    return sum(1.0 if unicodedata.east_asian_width(letter) in "WF" else LETTER for letter in text)
