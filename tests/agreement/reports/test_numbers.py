"""A figure of a table's row, as a cell shows it."""

from __future__ import annotations

from agreement.reports.numbers import number
from consilium.core.phrases import each_once, joined
from consilium.core.reasons import Reason

NOTE = (
    "mf1, raw: no interval: 4.0 of the 5 effective cases needed; kappa: without one case the figure is at its limit or "
    "undefined: interval by the number of cases alone; alpha: constant ratings: both raters gave one answer throughout"
)
ROW = {
    "mf1": 0.8, "mf1_low": None, "mf1_high": None, "mf1_effective": 4.0,
    "kappa": 0.5, "kappa_low": 0.1, "kappa_high": 0.9, "kappa_effective": 11.98,
    "ac1": 0.6, "ac1_low": 0.2, "ac1_high": 0.8, "ac1_effective": 12.0,
    "alpha": None, "alpha_low": None, "alpha_high": None,
    "f1": 0.7,
    "note": NOTE,
}  # fmt: skip


def test_each_figure_has_the_remarks_about_it_alone() -> None:
    assert number(ROW, "mf1").reason == "no interval: 4.0 of the 5 effective cases needed"
    assert number(ROW, "alpha").reason == "constant ratings: both raters gave one answer throughout"
    for name in ("kappa", "ac1", "f1"):
        assert number(ROW, name).reason == ""


def test_an_interval_says_what_it_rests_on() -> None:
    assert number(ROW, "ac1").behind == "12 effective cases"
    assert number(ROW, "kappa").behind == "12 effective cases; interval from the number of cases alone"
    # The mark is explained once, below the tables.
    assert ">0.100–0.900†<" in number(ROW, "kappa").cell and "†" not in number(ROW, "ac1").cell


def test_an_interval_that_a_few_equal_cases_put_on_both_sides_of_0_is_not_shown() -> None:
    note = "delta: all cases are alike: interval by the number of cases alone"
    row = {"delta": 0.0, "delta_low": -25.889, "delta_high": 25.889, "n_cases": 8, "note": note}
    cell = number(row, "delta").cell
    assert ">too few cases to say anything†<" in cell
    assert 'title="−25.889 to 25.889; interval from the number of cases alone"' in cell
    shares = {**row, "delta_low": 0.0, "delta": 0.0}  # 0 of 8: at most some
    assert ">0.000–25.889†<" in number(shares, "delta").cell
    assert ">−25.889 to 25.889†<" in number({**row, "n_cases": 50}, "delta").cell
    assert ">−25.889 to 25.889<" in number({**row, "note": ""}, "delta").cell


def test_a_phrase_of_several_figures_names_them_all() -> None:
    few, edge = Reason.INTERVAL_EFFECTIVE_CASES(cases="4.0", needed=5), Reason.EDGE_INTERVAL()
    note = each_once([("mf1", joined(few, edge)), ("raw", few), ("kappa", ""), ("ac1", edge)])
    assert note == f"mf1, raw: {few}; mf1, ac1: {edge}"


def test_cells() -> None:
    assert number(ROW, "f1").cell == "0.700"
    assert number({"mean_length": 1716.4, "note": ""}, "mean_length", digits=0).cell == "1,716"
    assert number({"mean_length": -1716.4, "note": ""}, "mean_length", digits=0).cell == "−1,716"
    assert 'class="ci" title="12 effective cases">0.200–0.800' in number(ROW, "ac1").cell
    assert 'class="no-interval" title="no interval: 4.0 of the 5' in number(ROW, "mf1").cell
    assert '<span class="visually-hidden"> (no interval: 4.0' in number(ROW, "mf1").cell
    assert 'class="undefined" title="constant ratings' in number(ROW, "alpha").cell


def test_remarks_of_earlier_versions_are_read_too() -> None:
    stored = {**ROW, "note": "kappa: fewer than two cases differ from the bound: interval by the number of cases"}
    assert number(stored, "kappa").behind.endswith("interval from the number of cases alone")
    stored = {
        **ROW,
        "note": "mf1: no interval: 3 of the 5 cases needed with a rating outside the most frequent category",
    }
    assert number(stored, "mf1").reason.startswith("no interval: 3 of the 5")
