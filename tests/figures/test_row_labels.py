"""Names of rows on an axis: all of them can be told apart, and none is longer than its room."""

from __future__ import annotations

import json
import os
import re
from itertools import chain
from pathlib import Path

import pytest

from consilium.figures.charts import Point, points_and_whiskers
from consilium.figures.render import svg_file
from consilium.figures.row_labels import row_labels

REAL = Path(os.environ["CONSILIUM_REAL_DATA"])


def real_names() -> list[str]:
    """Categories of the published labels, as the figure of an item analysis names them."""
    rows = map(json.loads, (REAL / "physician_labels" / "meta_gold.jsonl").read_text("utf-8").splitlines())
    return sorted({row["category"].replace(":", ": ", 1) for row in rows})


def test_real_tags_differ_on_two_lines() -> None:
    names = real_names()
    cut = [name for name in names if len(name) > 40]
    assert len({name[:34] for name in cut}) < len(cut)  # cut at the end, some would be alike
    for limit in (220, 140):
        lines = row_labels(names, limit)
        assert len({tuple(own) for own in lines.values()}) == len(names)
        for name, (first, *rest) in lines.items():
            assert len(rest) <= 1 and name.startswith(first)
            assert limit < 220 or not rest or name.endswith(rest[0].removeprefix("…"))
            assert all(len(line) * 6.4 <= limit for line in (first, *rest))


def test_a_short_name_stays_and_two_names_that_differ_in_their_middle_are_numbered() -> None:
    long = "a" * 60
    lines = row_labels(["short", f"{long}1{long}", f"{long}2{long}"], 220)
    assert lines["short"] == ["short"]
    assert len(set(map(tuple, lines.values()))) == 3
    assert lines[f"{long}2{long}"][-1].endswith("(2)")


@pytest.mark.slow
def test_the_figure_has_both_lines_of_a_name() -> None:
    names = [name for name in real_names() if "hedging_only" in name]
    assert len(names) > 1
    points = [Point(name, 50.0, 40.0, 60.0) for name in names]
    svg = svg_file(lambda palette: points_and_whiskers(points, palette, x_title="x", description="d"))
    shown = ["".join(re.findall("<tspan[^>]*>([^<]*)</tspan>", text)) for text in re.findall("<text.*?</text>", svg)]
    for name in names:
        assert name.replace(" ", "") in [text.replace(" ", "") for text in shown], list(chain(shown))
