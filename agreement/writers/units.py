"""The units of columns: which are on a scale of 1 or of 100, so that a value in another unit is not taken for one.

Printed tables and the values of papers that are compared with ours read the same lists.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto


class Unit(Enum):
    """What the values of a column are measured in."""

    SHARE = auto()  # shares, coefficients, p-values and their differences: at most 1
    OF_HUNDRED = auto()  # percentages and points of 100
    RATIO = auto()  # a part of something else, which may be more than all of it
    NONE = auto()  # counts, lengths, levels, prices: no bound and no percent sign
    WORDS = auto()  # text, dates, and answers of yes or no


_NAMES: Mapping[Unit, tuple[str, ...]] = {
    Unit.SHARE: (
        *("acceptance", "accuracy", "ac1", "agreement", "agreement_full", "alpha", "alpha_ordinal_single"),
        *("alpha_set", "as_is", "auroc_paired", "auroc_pooled", "average", "best_so_far", "better", "cacs_pearson"),
        *("cacs_residual", "cacs_spearman", "ceiling", "ceiling_jsd", "ceiling_rps", "ceiling_tvd", "cia"),
        *("cia_mean_of_cases", "cia_partly", "cia_weighted", "cost_normalised", "difference", "emergency_recall"),
        *("entropy", "entropy_panel", "equal", "error_rate", "exact", "f", "f1", "f1_balanced", "f1_met"),
        *("f1_not_met", "f1_present", "high", "hit_rate", "hits_pearson", "hits_residual", "hits_spearman"),
        *("inclination", "jsd", "kappa", "kendall", "length_adjusted", "loss", "low", "macro_f1", "mf1", "mf1_a"),
        *("mf1_b", "mf1_ceiling", "mf1_gap", "mf1_judge_a", "mf1_judge_b", "mf1_mean", "over", "p", "p_adjusted"),
        *("p_clustered", "p_edwards", "p_exact", "p_holm", "p_mode", "p_sign_flip", "pass_at_k", "pearson"),
        *("physicians_mean", "physicians_median", "physicians_q1", "physicians_q3", "precision", "prevalence", "q"),
        *("quote_overlap", "qwk", "rate", "rate_a", "rate_b", "rate_covered_little", "rate_others", "raw", "recall"),
        *("rps", "rubric_score", "safety", "score", "severe_over", "severe_under", "share", "shown", "spearman", "tie"),
        *("top3", "top5", "tvd", "under", "win", "within_one", "worse", "worst_at_k", "written"),
    ),
    Unit.OF_HUNDRED: (
        *("cacs_at_k", "column_percent", "delta_100", "gap_cacs", "mean_absolute_difference", "mean_delta_100"),
        *("percent", "percent_first", "percentile", "row_percent", "rubric_accuracy"),
    ),
    Unit.RATIO: ("length_ratio", "relative", "risk_ratio"),
    Unit.NONE: (
        *("b", "bias", "c", "chi2_edwards", "cost", "delta", "df", "hits_above", "hits_below", "k", "maximum", "mean"),
        *("mean_delta", "mean_length", "median", "median_length", "minimum", "n", "out", "physician_mean"),
        *("points_negative", "points_positive", "q1", "q3", "rank", "rank_change", "reached", "sd", "statistic"),
        *("both_right", "both_wrong", "only_a_right", "only_b_right", "waiting", "w1", "ceiling_w1"),
    ),
    Unit.WORDS: (
        *("base_model", "candidate_above", "candidate_below", "case", "cost_basis", "cost_currency", "decision"),
        *("dominated_by", "effort", "family", "frontier", "grade", "in_k", "kind", "mode_name", "rater"),
        *("release_date", "role", "slice", "source", "theme", "title"),
    ),
}
_UNITS = {name: unit for unit, names in _NAMES.items() for name in names}
# Columns that hold something else in one table than elsewhere.
_IN_TABLES: Mapping[str, Mapping[str, Unit]] = {
    "judge_error": dict.fromkeys(("by_physicians", "by_judge", "bias"), Unit.OF_HUNDRED),
    "refinement": {
        **dict.fromkeys(("base", "refined", "gain"), Unit.OF_HUNDRED),
        **dict.fromkeys(("improved", "same", "worse"), Unit.NONE),
    },
    "refinement_length": dict.fromkeys(("gain", "gain_at_equal_length"), Unit.OF_HUNDRED),
    "repeats": dict.fromkeys(("sd", "minimum", "maximum"), Unit.SHARE),  # of rubric scores
}
# Columns that hold the figure that another column of the row names, by the table.
_NAMED_BY: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "candidates": ("setting", ("value", "low", "high")),
    "formats": ("measure", ("qa", "chat", "difference")),
    "judge": ("measure", ("value",)),
    "judge_ceiling": ("measure", ("judge", "physicians", "gap")),
}
_BEGINNINGS = ("rubric_accuracy_", "cacs_at_k_")  # of figures on a scale of 100, by slice or as a difference
# Of what is on a scale of 100, these may be small without being a share.
_DIFFERENCES = frozenset(
    ("bias", "delta_100", "gain", "gain_at_equal_length", "gap_cacs", "mean_absolute_difference", "mean_delta_100")
)


def unit_of(column: str, table: str = "", row: Mapping[str, str] | None = None) -> Unit | None:
    """The unit of a column of a report's ``table``; None where it is not known.

    ``row`` has the cells that name a row: where these say which figure it is of, the unit is that figure's, and
    `Unit.NONE` for a figure that is not known.
    """
    name = _figure_of(column)
    by, columns = _NAMED_BY.get(table, ("", ()))
    if name in columns:
        return _UNITS.get((row or {}).get(by, ""), Unit.NONE)
    own = _IN_TABLES.get(table, {}).get(name) or _UNITS.get(name)
    if own is not None:
        return own
    if name.startswith("n_") or name.endswith("_rank"):
        return Unit.NONE
    return Unit.OF_HUNDRED if name.startswith(_BEGINNINGS) else None


def is_difference(column: str) -> bool:
    """Whether a column on a scale of 100 holds differences, which may well be below 1."""
    name = _figure_of(column)
    return name in _DIFFERENCES or name.endswith("_difference")


def _figure_of(column: str) -> str:
    """The figure whose interval a column is an end of; else the column."""
    return column.removesuffix("_low").removesuffix("_high")
