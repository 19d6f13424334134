"""Strips: every value has its mark and its words, dots stand apart in the same way each time, and series differ."""

from __future__ import annotations

from typing import Any

import pytest

from consilium.figures.render import inline_svg
from consilium.figures.strip import StripRow, jitter, strip
from consilium.figures.style import GREY, PRINT, Palette

pytestmark = pytest.mark.slow
ROWS = [
    StripRow("one", [("P1", 0.5), ("P2", 0.5), ("P3", 0.9)], 0.633, [("judge", 0.7), ("other", 0.4)]),
    StripRow("two", [], None, [("judge", 0.3)]),
]


def drawing(palette: Palette) -> Any:
    return strip(
        ROWS,
        palette,
        x_title="x",
        description="all of it",
        dots_name="a physician",
        mean_name="mean",
        domain=(0.0, 1.0),
    )


def test_every_value_is_a_mark_with_words() -> None:
    svg = inline_svg(drawing, title="strip")
    for words in (
        *("one, P1: 0.500", "one, P2: 0.500", "one, P3: 0.900", "one, mean: 0.633"),
        *("one, judge: 0.700", "one, other: 0.400", "two, judge: 0.300"),
    ):
        assert svg.count(f'aria-label="{words}"') == 1, words
    assert "two, mean" not in svg
    assert svg == inline_svg(drawing, title="strip")


def test_equal_values_of_a_row_are_apart() -> None:
    values = drawing(PRINT).to_dict()["layer"][0]["data"]["values"]
    places = {value["words"]: value["offset"] for value in values}
    assert places["one, P1: 0.500"] != places["one, P2: 0.500"]
    assert all(-1 <= offset <= 1 for offset in jitter(200))
    assert len({round(offset, 6) for offset in jitter(200)}) == 200


def test_series_differ_in_shape_and_in_greys() -> None:
    encoding = drawing(GREY).to_dict()["layer"][0]["encoding"]
    for channel in ("shape", "color"):
        assert encoding[channel]["scale"]["domain"] == ["a physician", "mean", "judge", "other"]
    assert len(set(encoding["shape"]["scale"]["range"])) == 4
    dots, *others = encoding["color"]["scale"]["range"]
    assert dots not in others and others[1] != others[2]
