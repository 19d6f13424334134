"""Renders charts: SVG inside a page; SVG, PNG and PDF files for a paper."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from xml.etree import ElementTree

from django.utils.safestring import SafeString

from consilium.core.loading import LOADING_PANDAS
from consilium.figures.pdf import in_order
from consilium.figures.room import with_room
from consilium.figures.style import GREY, NARROW, PAGE, PRINT, Palette

# A function that makes a chart in the colours of a palette.
Drawing = Callable[[Palette], Any]

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
# What Vega's SVG consists of. Anything else, `style` and `script` above all, does not reach a page.
ELEMENTS = frozenset({"svg", "g", "path", "text", "tspan", "rect", "line", "circle", "a", "defs", "clipPath", "title"})
ATTRIBUTES = frozenset(
    {
        *("class", "id", "viewBox", "width", "height", "x", "y", "x1", "y1", "x2", "y2", "dx", "dy", "cx", "cy", "r"),
        *("d", "transform", "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity"),
        *("stroke-linecap", "stroke-linejoin", "stroke-miterlimit", "opacity", "clip-path", "href", "pointer-events"),
        *("font-family", "font-size", "font-weight", "font-style", "text-anchor", "aria-label", "aria-hidden", "role"),
        *("aria-roledescription", "tabindex"),
    }
)
_FOREIGN_PREFIX = re.compile(r"^https://vega\.github\.io/vega-datasets/")
ONE_COLUMN, TWO_COLUMNS = 85, 174  # millimetres
DOTS_AN_INCH, MM_AN_INCH = 300, 25.4
_SIZE = re.compile(r'width="([\d.]+)" height="([\d.]+)"')
_CLIP = re.compile(r'((?:id="|url\(#)clip)(\d+)')
_REFERENCE = re.compile(r"url\(#([^)]+)\)")


def inline_svg(drawing: Drawing, *, title: str) -> SafeString:
    """The figure as markup for a page: colours by the page's own properties, no inline style, links of this site only.

    Vega escapes its input; still the markup is parsed and written again from an allow-list, so that a name from outside
    can put nothing else into the page. Ids carry a prefix of the figure, since several figures may share a page.
    """
    root = ElementTree.fromstring(_svg(drawing, PAGE))  # noqa: S314  # our own renderer's output
    prefix = "f" + hashlib.sha256(title.encode()).hexdigest()[:8] + "-"
    _clean(root, prefix)
    root.set("class", "figure-svg")
    root.set("role", "graphics-document")
    root.set("aria-label", title)
    ElementTree.register_namespace("", SVG)
    return SafeString(ElementTree.tostring(root, encoding="unicode"))


@dataclass(frozen=True)
class Look:
    """How a file is printed: ``width`` in millimetres, of one column or two of a journal, or None for the size on a
    page; and whether in greys.
    """

    width: int | None = None
    grey: bool = False

    @property
    def palette(self) -> Palette:
        """Its colours. A plot for one column is drawn narrower, since letters made small with it could not be read."""
        colours = GREY if self.grey else PRINT
        return replace(colours, width=NARROW) if self.width == ONE_COLUMN else colours


AS_ON_PAGE = Look()


def svg_file(drawing: Drawing, look: Look = AS_ON_PAGE) -> str:
    """The figure as an SVG file with real colours on a white ground."""
    svg = _svg(drawing, look.palette)
    return svg if look.width is None else _resized(svg, look.width, 1.0, "mm")


def png_file(drawing: Drawing, *, scale: float = 3.0, look: Look = AS_ON_PAGE) -> bytes:
    """The figure as a PNG with real colours, at 300 dots an inch; the default scale is that of the size on a page."""
    import vl_convert

    if look.width is None:
        _register_fonts()
        return bytes(vl_convert.vegalite_to_png(_specification(drawing, look.palette), scale=scale))
    svg = _svg(drawing, look.palette)
    dots = look.width / MM_AN_INCH * DOTS_AN_INCH
    # The renderer multiplies by dots an inch over 72 as well.
    scale = dots / _size(svg)[0] * 72 / DOTS_AN_INCH
    return bytes(vl_convert.svg_to_png(svg, scale=scale, ppi=DOTS_AN_INCH))


def pdf_file(drawing: Drawing, look: Look = AS_ON_PAGE) -> bytes:
    """The figure as a PDF with real colours and its letters as text; the same bytes each time."""
    svg = _svg(drawing, look.palette)
    return pdf_of(svg if look.width is None else _resized(svg, look.width, 72 / MM_AN_INCH, ""))


def pdf_of(svg: str) -> bytes:
    """The PDF of an SVG file that was made here, without drawing the figure once more."""
    import vl_convert

    _register_fonts()
    return in_order(bytes(vl_convert.svg_to_pdf(svg)))


def _size(svg: str) -> tuple[float, float]:
    match = _SIZE.search(svg)
    assert match, "the renderer gives width and height in pixels"
    return float(match[1]), float(match[2])


def _resized(svg: str, width: int, units_a_mm: float, unit: str) -> str:
    """The SVG at ``width`` millimetres, its height in proportion; its content is scaled by its view box."""
    across, down = _size(svg)
    to = width * units_a_mm
    return _SIZE.sub(f'width="{to:.2f}{unit}" height="{to * down / across:.2f}{unit}"', svg, count=1)


def _svg(drawing: Drawing, palette: Palette) -> str:
    import vl_convert

    _register_fonts()
    svg = _renumbered(str(vl_convert.vegalite_to_svg(_specification(drawing, palette))))
    return svg if palette is PAGE else with_room(svg)  # the pages have the font of the figures


def _specification(drawing: Drawing, palette: Palette) -> dict[str, Any]:
    with LOADING_PANDAS:
        specification: dict[str, Any] = drawing(palette).to_dict()
    return specification


def _renumbered(svg: str) -> str:
    """The clip paths of an SVG numbered from 1: the renderer counts on from figure to figure."""
    numbers: dict[str, int] = {}

    def renumber(match: re.Match[str]) -> str:
        return f"{match[1]}{numbers.setdefault(match[2], len(numbers) + 1)}"

    return _CLIP.sub(renumber, svg)


_fonts_registered = False


def _register_fonts() -> None:
    """Chinese labels need a font with Chinese glyphs for their widths and for PNG; Debian's is used if installed."""
    global _fonts_registered
    if not _fonts_registered:
        import vl_convert

        for folder in ("/usr/share/fonts/truetype/wqy", "/usr/share/fonts/opentype/noto"):
            vl_convert.register_font_directory(folder)
        _fonts_registered = True


def _clean(element: ElementTree.Element, prefix: str, *, hidden: bool = False) -> None:
    hidden = hidden or element.get("aria-hidden") == "true"
    for child in list(element):
        if child.tag.removeprefix(f"{{{SVG}}}") not in ELEMENTS:
            element.remove(child)
        else:
            _clean(child, prefix, hidden=hidden)
    for name, value in list(element.attrib.items()):
        plain = name.removeprefix(f"{{{XLINK}}}")
        del element.attrib[name]
        if plain == "href":
            value = _FOREIGN_PREFIX.sub("", value)
            if not value.startswith(("/", "?", "#")) or value.startswith("//"):
                continue
        elif plain == "id":
            value = prefix + value
        elif plain not in ATTRIBUTES:
            continue
        element.set(plain, _REFERENCE.sub(lambda match: f"url(#{prefix}{match[1]})", value))
    # Words beside a mark are hidden from screen readers. The keyboard skips them as well and stops at the mark.
    if hidden and element.tag == f"{{{SVG}}}a":
        element.set("tabindex", "-1")
    # A screen reader would announce a symbol without a label, such as an empty group of marks, without any words.
    if element.get("role") == "graphics-symbol" and not element.get("aria-label"):
        del element.attrib["role"]
        element.attrib.pop("aria-roledescription", None)
