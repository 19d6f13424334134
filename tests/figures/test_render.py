"""Figures inlined into a page follow its colours and bring nothing of their own; files refer to nothing outside."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from consilium.figures import charts, thresholds
from consilium.figures.bars import Bar, counted_bars
from consilium.figures.calibration_curve import CurvePoint, calibration_curve
from consilium.figures.heat_map import Cell, heat_map
from consilium.figures.render import Drawing, Look, inline_svg, pdf_file, png_file, svg_file
from consilium.figures.slope import Ranked, slope
from consilium.figures.style import GREY, PAGE, PRINT, Palette

pytestmark = pytest.mark.slow

EVIL = '<script>alert(1)</script>" onload="alert(2)'
SVG = "{http://www.w3.org/2000/svg}"


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)  # noqa: S314  # what our own renderer wrote


def points(palette: Palette) -> object:
    return charts.points_and_whiskers(
        [
            charts.Point(EVIL, 0.61, 0.55, 0.67, href="/b/x/decisions/?slice=candidate%3Aa&page=1"),
            charts.Point("杏林-32B", 0.72, None, None, href="https://elsewhere.example/"),
            charts.Point("nothing", None),
        ],
        palette,
        x_title="Macro-F1",
        description="MF1 of each candidate",
        line=charts.Line(0.65, "all 0.650"),
    )


def hits(palette: Palette) -> object:
    return charts.histogram(
        [(n - 0.5, n + 0.5, n % 3) for n in range(11)],
        palette,
        x_title="hits",
        y_title="responses",
        description="hits",
        line=charts.Line(4.0, "k = 4"),
        band=(3.5, 5.5),
        whole=True,
    )


def dots(palette: Palette) -> object:
    return charts.scatter(
        [("one", 50.0, 20.0, ""), ("two", 50.5, 20.2, ""), ("none", None, 1.0, "")],
        palette,
        x_title="Rubric Accuracy",
        y_title="CACS@10",
        description="coverage",
    )


def ranks(palette: Palette) -> object:
    return charts.lines(
        [("CACS@k", 9, 0.9), ("CACS@k", 10, 1.0), ("Pass@k", 9, None), ("Pass@k", 10, 0.8)],
        palette,
        x_title="k",
        y_title="Spearman",
        description="ranks",
    )


def fidelity(palette: Palette) -> object:
    points = [charts.Point(label, 0.6, 0.5, 0.7, series=s) for label in ("a", "b") for s in ("judge", "ceiling")]
    return charts.points_and_whiskers(
        points, palette, x_title="Macro-F1", description="fidelity", line=charts.Line(0.6, "ceiling"), band=(0.5, 0.7)
    )


def curve(palette: Palette) -> object:
    points = [CurvePoint("calibrated", 0.15, 0.1, 40, 0.05, 0.2), CurvePoint("calibrated", 0.85, 0.9, 30)]
    return calibration_curve(
        [*points, CurvePoint("before", 0.3, 0.1, 70)], palette, x_title="p", y_title="met", description="curve"
    )


def heat(palette: Palette) -> object:
    cells = [Cell("alpha", "triage", 4.2, href="/b/x/"), Cell("alpha", EVIL, -12.0), Cell("beta", "triage", None)]
    return heat_map(cells, palette, description="deviations")


def slopes(palette: Palette) -> object:
    ranked = [Ranked("alpha", 1, 2), Ranked(EVIL, 2, 1), Ranked("gamma", 3, 3)]
    return slope(ranked, palette, left="A", right="B", description="ranks")


def dots_with_intervals(palette: Palette) -> object:
    return charts.scatter(
        [("one", 50.0, 40.0, ""), ("two", 30.0, 20.2, "")],
        palette,
        x_title="Rubric Accuracy",
        y_title="CACS@10",
        description="coverage",
        x_ends={"one": (41.0, 59.0)},
        y_ends={"one": (28.0, 52.0), "two": (10.0, 31.0)},
        diagonal="CACS = Rubric Accuracy",
    )


ALL = pytest.mark.parametrize(
    "drawing",
    [points, hits, dots, ranks, fidelity, curve, heat, slopes, dots_with_intervals],
    ids=lambda drawing: drawing.__name__,
)


@ALL
def test_an_inlined_figure_has_no_style_no_script_and_only_the_colours_of_the_page(drawing: Drawing) -> None:
    svg = str(inline_svg(drawing, title="Figure"))
    root = parsed(svg)
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags <= {"svg", "g", "path", "text", "tspan", "rect", "line", "circle", "a", "defs", "clipPath", "title"}
    names = {name for element in root.iter() for name in element.attrib}
    assert "style" not in names
    assert not [name for name in names if name.startswith("on")]
    colours = {
        value
        for element in root.iter()
        for name, value in element.attrib.items()
        if name in ("fill", "stroke") and value not in ("none", "transparent")
    }
    assert colours
    assert all(value.startswith("var(--") for value in colours), colours
    assert root.get("aria-label") == "Figure"


def test_names_from_outside_stay_text_and_links_stay_on_the_site() -> None:
    root = parsed(str(inline_svg(points, title="Figure")))
    texts = ["".join(element.itertext()) for element in root.iter(f"{SVG}text")]
    assert any(text.startswith("<script>") for text in texts)
    links = [element.get("href") for element in root.iter(f"{SVG}a")]
    assert "/b/x/decisions/?slice=candidate%3Aa&page=1" in links
    assert not [link for link in links if link and not link.startswith("/")]
    words = [element.get("aria-label", "") for element in root.iter()]
    assert any(word.endswith(": 0.610, 95% interval 0.550 to 0.670") for word in words)


def test_links_hidden_from_screen_readers_are_no_stop_of_the_keyboard() -> None:
    def drawing(palette: Palette) -> object:
        import altair as alt

        base = alt.Chart(alt.Data(values=[{"x": 1, "href": "/b/x/"}])).encode(x="x:Q", href="href:N")
        return alt.layer(base.mark_point(), base.mark_text(aria=False, text="one"))

    links = list(parsed(inline_svg(drawing, title="t")).iter(f"{SVG}a"))
    assert [link.get("tabindex") for link in links] == [None, "-1"]


def test_ids_of_two_figures_on_one_page_do_not_meet() -> None:
    ids = [
        set(re.findall(r'\bid="([^"]+)"', str(inline_svg(hits, title=title)))) for title in ("Figure one", "Figure two")
    ]
    assert not ids[0] & ids[1]
    for title, own in zip(("Figure one", "Figure two"), ids, strict=True):
        assert set(re.findall(r"url\(#([^)]+)\)", str(inline_svg(hits, title=title)))) <= own


@ALL
def test_files_refer_to_nothing_outside(drawing: Drawing) -> None:
    svg = svg_file(drawing)
    assert "var(" not in svg
    assert svg_file(drawing) == svg
    assert png_file(drawing, scale=1.0).startswith(b"\x89PNG\r\n\x1a\n")


def test_an_svg_with_clip_paths_is_the_same_text_each_time() -> None:
    bars = [Bar("one", 3, 60.0), Bar("two", 2, 40.0)]

    def drawing(palette: Palette) -> Any:
        return counted_bars(bars, palette, x_title="n", description="d")

    first = svg_file(drawing)
    assert "url(#clip1)" in first
    assert svg_file(drawing) == first


def test_a_pdf_is_the_same_bytes_each_time_and_its_offsets_hold() -> None:
    """Two fonts, Latin and Chinese, are what the renderer would number by chance."""
    pdfs = {pdf_file(points) for _time in range(4)}
    assert len(pdfs) == 1
    pdf = pdfs.pop()
    assert pdf.startswith(b"%PDF-")
    table = int(pdf.split(b"startxref\n")[1].split()[0])
    assert pdf[table : table + 5] == b"xref\n"
    offsets = [int(line.split()[0]) for line in pdf[table:].split(b"\r\n")[1:] if line.endswith(b" n")]
    assert [pdf[offset:].split()[:3] for offset in offsets] == [
        [str(number).encode(), b"0", b"obj"] for number in range(1, len(offsets) + 1)
    ]
    assert f"/Size {len(offsets) + 1}\n".encode() in pdf


def test_print_colours_are_those_of_the_light_theme() -> None:
    css = (Path(__file__).resolve().parents[2] / "static/css/tokens.css").read_text(encoding="utf-8")
    light = dict(re.findall(r"(--[\w-]+): (#[0-9a-f]{6})", css[: css.index("prefers-color-scheme: dark")]))
    for name in ("ink", "text", "faint", "grid", "ground"):
        assert getattr(PRINT, name) == light[getattr(PAGE, name)[4:-1]], name
    for name in ("series", "diverging"):
        assert getattr(PRINT, name) == tuple(light[colour[4:-1]] for colour in getattr(PAGE, name)), name


def test_names_beside_crowded_dots_do_not_lie_on_each_other() -> None:
    root = parsed(str(inline_svg(dots, title="Figure")))
    places = {}
    for element in root.iter(f"{SVG}text"):
        match = re.match(r"translate\(([\d.]+),([\d.]+)\)", element.get("transform", ""))
        if element.text in ("one", "two") and match:
            places[element.text] = float(match[2])
    assert abs(places["one"] - places["two"]) >= 12


def texts_of(svg: str) -> list[str]:
    return ["".join(element.itertext()) for element in parsed(svg).iter(f"{SVG}text")]


def test_dots_have_their_intervals_and_the_diagonal_says_what_it_is() -> None:
    svg = svg_file(dots_with_intervals)
    assert "CACS = Rubric Accuracy" in texts_of(svg)
    assert "one: 50.0, 95% interval 41.0 to 59.0, 40.0, 95% interval 28.0 to 52.0" in svg
    assert "two: 30.0, 20.2, 95% interval 10.0 to 31.0" in svg
    rules = re.findall(r'<line [^>]*stroke="#0f6b66"[^>]*>', svg)
    ends = [re.search(r'x2="(-?[\d.]+)" y2="(-?[\d.]+)"', rule) for rule in rules]
    assert sorted((float(end[1]) != 0, float(end[2]) != 0) for end in ends if end) == [
        (False, True), (False, True), (True, False),
    ]  # fmt: skip  # two upright, one across
    assert "CACS = Rubric Accuracy" not in texts_of(svg_file(dots))  # no diagonal in sight


def test_a_heat_map_has_a_key_that_covers_all_its_values() -> None:
    """Seven equal steps from −12 to 12 have ends at multiples of 24/7 from −12."""
    ends = [f"{-12 + 24 * step / 7:+.1f}".replace("-", "−") for step in range(8)]
    key = [text for text in texts_of(svg_file(heat)) if " to " in text]
    assert key == [f"{low} to {high}" for low, high in pairwise(ends)]


def test_an_axis_ends_where_its_data_do() -> None:
    """Figures are undefined beyond k = 12; the axis does not go on to 20."""
    rows = [("Spearman", k, 0.9 if 3 <= k <= 12 else None) for k in range(1, 21)]
    titles = {"x_title": "k", "y_title": "r", "description": "d"}
    for draw in (thresholds.compared_lines, thresholds.named_lines, charts.lines):
        spec = draw(rows, PRINT, line=charts.Line(5.0, "k = 5"), **titles).to_dict()
        domains = {
            tuple(layer["encoding"]["x"]["scale"]["domain"])
            for layer in spec["layer"]
            if "scale" in layer["encoding"]["x"]
        }
        assert domains == {(3, 12)}, draw


MM = 72 / 25.4  # points


@ALL
@pytest.mark.parametrize("width", [85, 174])
def test_a_file_has_the_width_of_a_column_and_letters_that_can_be_read(drawing: Drawing, width: int) -> None:
    look = Look(width)
    root = parsed(svg_file(drawing, look))
    assert root.get("width") == f"{width}.00mm"
    across = float((root.get("viewBox") or "").split()[2])
    sizes = [float(element.get("font-size", "12px").removesuffix("px")) for element in root.iter(f"{SVG}text")]
    assert min(sizes) * width * MM / across >= 5  # the least that journals print
    png = png_file(drawing, look=look)
    assert int.from_bytes(png[16:20]) == pytest.approx(width / 25.4 * 300, abs=1)
    box = re.search(rb"/MediaBox \[0 0 ([\d.]+) ", pdf_file(drawing, look))
    assert box and float(box[1]) == pytest.approx(width * MM, abs=0.01)


@ALL
def test_greys_have_no_colour_and_series_differ_in_lightness(drawing: Drawing) -> None:
    colours = set(re.findall(r'(?:fill|stroke)="(#[0-9a-f]{6})"', svg_file(drawing, Look(grey=True))))
    assert colours
    greys = colours - {GREY.ink}
    assert all(colour[1:3] == colour[3:5] == colour[5:7] for colour in greys), greys
    for palette in (GREY.series, GREY.diverging):
        lightness = sorted(int(colour[1:3], 16) for colour in palette)
        assert min(high - low for low, high in pairwise(lightness)) >= 13
    assert list(GREY.diverging) == sorted(GREY.diverging, reverse=True)
