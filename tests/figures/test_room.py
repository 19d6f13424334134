"""Labels of a file keep room for a wider font than that in which they were measured."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from consilium.figures.room import with_room

SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" class="marks" width="200" height="100" viewBox="0 0 200 100">'
    '<rect width="200" height="100" fill="#ffffff"/><g transform="translate(50,10)">{}</g></svg>'
)
# Widths of labels at 10 pixels in DejaVu Sans, whose letters are about as wide as those of Verdana: sums of the advance
# widths in the table ``hmtx`` of DejaVuSans.ttf 2.37, which has 2,048 units an em.
WIDTHS = {"Emergency medicine": 105.54, "DeepSeek-R1-0528": 96.77, "Obstetrics and gynaecology": 139.85}


def box(svg: str) -> list[float]:
    root = ElementTree.fromstring(svg)  # noqa: S314  # our own file
    x, y, width, height = map(float, root.get("viewBox", "").split())
    assert (float(root.get("width", "")), float(root.get("height", ""))) == (width, height)
    ground = next(iter(root))
    assert (float(ground.get("x", "0")), float(ground.get("width", ""))) == (x, width)
    return [x, y, width, height]


def test_labels_that_fit_change_nothing() -> None:
    svg = SVG.format('<text text-anchor="end" font-size="10px">short</text>')
    assert with_room(svg) == svg


@pytest.mark.parametrize("label", WIDTHS)
def test_a_label_that_could_reach_over_the_left_edge_widens_the_figure(label: str) -> None:
    svg = with_room(SVG.format(f'<text text-anchor="end" font-size="10px">{label}</text>'))
    left, _top, width, _height = box(svg)
    assert WIDTHS[label] - 50 <= -left <= 1.5 * WIDTHS[label] - 50
    assert width == 200 - left


@pytest.mark.parametrize("label", WIDTHS)
def test_a_label_that_could_reach_over_the_right_edge_widens_the_figure(label: str) -> None:
    svg = with_room(SVG.format(f'<g transform="translate(120,0)"><text font-size="10px">{label}</text></g>'))
    left, _top, width, _height = box(svg)
    assert left == 0
    assert 50 + 120 + WIDTHS[label] <= width <= 50 + 120 + 1.5 * WIDTHS[label]


def test_chinese_labels_need_more_room_than_others_and_upright_ones_none() -> None:
    of_words = box(with_room(SVG.format(f'<text text-anchor="end" font-size="10px">{"m" * 12}</text>')))
    chinese = box(with_room(SVG.format(f'<text text-anchor="end" font-size="10px">{"病" * 12}</text>')))
    assert chinese[2] > of_words[2] + 40
    upright = SVG.format(f'<text transform="rotate(-90)" text-anchor="middle" font-size="10px">{"m" * 40}</text>')
    assert with_room(upright) == upright


def test_of_several_lines_the_longest_counts() -> None:
    lines = f"<tspan>{'m' * 20}</tspan><tspan x='0' dy='12'>{'m' * 20}</tspan>"
    single = SVG.format(f'<text text-anchor="end" font-size="10px">{"m" * 20}</text>')
    assert box(with_room(SVG.format(f'<text text-anchor="end" font-size="10px">{lines}</text>'))) == box(
        with_room(single)
    )
