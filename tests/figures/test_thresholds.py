"""Figures about the threshold: the density behind a violin, labels that do not overlap, marks with links."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.stats import gaussian_kde

from consilium.figures.charts import Line
from consilium.figures.render import inline_svg
from consilium.figures.thresholds import _apart, hits, named_lines
from consilium.figures.violin import density, violin


def test_the_density_is_that_of_scipy_away_from_the_ends_and_keeps_its_mass_at_them():
    values = np.random.default_rng(1).normal(0.5, 0.08, 200)
    places, heights = density(values, 0, 1)
    q1, q3 = np.quantile(values, [0.25, 0.75])
    bandwidth = 0.9 * min(values.std(), (q3 - q1) / 1.34) * 200**-0.2
    expected = gaussian_kde(values, bw_method=bandwidth / values.std(ddof=1))(places)
    assert heights == pytest.approx(expected, abs=1e-6)
    for edge in (np.zeros(30), np.ones(30), np.repeat([0, 0.1, 1], 10)):
        places, heights = density(edge, 0, 1)
        assert trapezoid(heights, places) == pytest.approx(1, abs=0.01)
    with pytest.raises(ValueError, match="no values"):
        density([], 0, 1)


def test_labels_do_not_overlap_and_stay_as_near_as_possible_to_their_points():
    assert _apart([0, 30, 60], 14) == [0, 30, 60]
    # Three on one spot stand around it; the next one in their way joins them: its own place less 28 is 32, the mean of
    # (50, 36, 22) and (60 - 42) is 31.5, from which each is 14 further up.
    assert _apart([50, 50, 50], 14) == [36, 50, 64]
    assert _apart([50, 50, 50, 60], 14) == pytest.approx([31.5, 45.5, 59.5, 73.5])


@pytest.mark.slow
def test_marks_link_to_their_data_and_nothing_is_drawn_of_nothing():
    links = {"one": "/b/x/?slice=one"}
    rows = [("one", [0.1, 0.2, 0.2, 0.4, 0.9]), ("few", [0.5]), ("none", [])]
    svg = inline_svg(
        lambda palette: violin(rows, palette, x_title="x", description="d", line=Line(0.4, "k"), hrefs=links), title="v"
    )
    assert svg.count("/b/x/?slice=one") >= 2
    assert "one: 0.20 (0.20–0.40), n = 5" in svg
    svg = inline_svg(
        lambda palette: hits(
            [0, 3, 2],
            palette,
            line=Line(1, "k = 1"),
            quartiles=(1, 1, 2),
            quartiles_label="quartiles 1, 1, 2",
            x_title="x",
            y_title="y",
            description="d",
            href="/b/y/",
        ),
        title="h",
    )
    assert "/b/y/" in svg
    assert "quartiles 1, 1, 2" in svg
    lines = [("one", 1, 5.0), ("one", 2, 4.0), ("two", 1, None), ("two", 2, None)]
    svg = inline_svg(
        lambda palette: named_lines(
            lines, palette, x_title="k", y_title="y", description="d", line=Line(2, "k = 2"), hrefs=links
        ),
        title="l",
    )
    assert "/b/x/?slice=one" in svg
    assert "one, 2: 4.0" in svg
    assert ">two<" not in svg
