"""Judges and physicians by theme: Macro-F1 of each, and the percentile of a judge among the physicians. Pure.

A theme holds the items of its clusters (`rubrics.bank.themes`). In each theme a judge is compared with every physician
of an item, and each physician with every other physician of it (`consilium.statistics.meta_evaluation`). A physician
counts with enough pairs and a defined balanced F1, as in HealthBench (Arora et al. 2025).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agreement.label_files.label_tables import ALL
from agreement.label_files.reading import JudgeFile, LabelFile
from consilium.core.phrases import joined, labelled
from consilium.core.reasons import Reason
from consilium.statistics.case_figures import case_joint
from consilium.statistics.confusion import ConfusionCounts
from consilium.statistics.estimate import Estimate, Figure, Undefined, notes_of
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.macro_f1 import MACRO_F1
from consilium.statistics.meta_evaluation import MetaEvaluation, judge_pairs, meta_evaluation, other_rater_pairs
from consilium.statistics.percentile_rank import percentile_rank
from rubrics.bank.themes import theme_of, theme_order

WEIGHTED = "weighted"  # the row of the averages over themes
MINIMUM_PAIRS = 10  # from which a physician counts
NO_THEME = "no theme"
_BESIDE = ("mf1", "mf1_low", "mf1_high")
_CEILING = ("ceiling", "ceiling_low", "ceiling_high", "n_ceiling")
_EFFECTIVE = ("mf1_effective", "ceiling_effective")
THEMES_COLUMNS = (
    *("judge", "theme", "n_pairs", "n_cases", *_BESIDE, "f1_met", "f1_not_met", "f1_balanced", *_CEILING),
    *("n_invalid", "note", *_EFFECTIVE),
)
CLUSTERS_COLUMNS = (
    *("judge", "cluster", "theme", "n_pairs", "n_cases", *_BESIDE, "f1_balanced", *_CEILING),
    *("n_invalid", "note", *_EFFECTIVE),
)
PERCENTILES_COLUMNS = (
    *("judge", "theme", "f1_balanced", "percentile", "n_physicians"),
    *(f"physicians_{name}" for name in ("mean", "q1", "median", "q3")),
    "note",
)
PHYSICIANS_COLUMNS = ("physician", "theme", "n_pairs", "n_cases", "mf1", "f1_balanced", "counts", "note")
TEXT_COLUMNS = ("judge", "theme", "cluster", "physician", "note")

Row = dict[str, Any]


@dataclass(frozen=True)
class ThemeTables:
    """Rows by column name. ``themes`` and ``percentiles`` begin, for each judge, with all items and end with the
    weighted average over themes.
    """

    themes: list[Row]
    clusters: list[Row]
    percentiles: list[Row]
    physicians: list[Row]


def theme_tables(
    labels: LabelFile,
    judges: Mapping[str, JudgeFile],
    themes: Mapping[str, str],
    *,
    minimum: int = MINIMUM_PAIRS,
    rule: IntervalRule,
) -> ThemeTables:
    """Every table, of all judges on the same labels. ``themes`` maps clusters to themes; those that it leaves out have
    the theme that their name begins with. A physician needs ``minimum`` pairs in a theme.

    An item without a verdict of a judge counts against it, as in `label_tables`.
    """
    by_theme = _by_theme(labels, themes)
    others = other_rater_pairs(labels.item, labels.met)
    physicians = _physician_rows(by_theme, others, minimum)
    ceilings = meta_evaluation(_by_case(by_theme, others), rule=rule)
    cluster_ceilings = meta_evaluation(_by_case(labels, others), rule=rule)
    theme_rows: list[Row] = []
    cluster_rows: list[Row] = []
    percentile_rows: list[Row] = []
    for name, judge in judges.items():
        rows = _judge_rows(by_theme, judge, ceilings, rule)
        percentiles = [_percentile_row(row, physicians) for row in rows]
        rows.append(_weighted_row(by_theme, judge, rows[1:], rule))
        percentiles.append(_weighted_percentile(rows, percentiles))
        theme_rows += [{**row, "judge": name} for row in rows]
        percentile_rows += [{**row, "judge": name} for row in percentiles]
        for row in _judge_rows(labels, judge, cluster_ceilings, rule)[1:]:
            cluster = row.pop("theme")
            cluster_rows.append({"judge": name, "cluster": cluster, "theme": _named(cluster, themes), **row})
    return ThemeTables(theme_rows, cluster_rows, percentile_rows, physicians)


def _named(cluster: str, themes: Mapping[str, str]) -> str:
    return theme_of(cluster, themes) or NO_THEME


def _by_theme(labels: LabelFile, themes: Mapping[str, str]) -> LabelFile:
    """The same labels with themes in place of their categories."""
    theme_by_category = [theme_of(category, themes) for category in labels.categories]
    names = sorted(set(theme_by_category), key=theme_order)
    places = np.array([names.index(theme) for theme in theme_by_category], dtype=np.int64)
    return replace(labels, categories=[name or NO_THEME for name in names], category=places[labels.category])


def _by_case(labels: LabelFile, pairs: ConfusionCounts) -> ConfusionCounts:
    """Counts per label summed to (cases, 1 + categories); slice 0 is all."""
    cells = _cells(labels, pairs)
    return ConfusionCounts.from_cells(np.concatenate([cells.sum(axis=2, keepdims=True), cells], axis=2))


def _cells(labels: LabelFile, pairs: ConfusionCounts) -> NDArray[np.int64]:
    size = len(labels.categories)
    place = labels.case[labels.item] * size + labels.category[labels.item]
    summed = pairs.summed_by(place, labels.n_cases * size)
    return np.asarray(summed.cells().reshape(4, labels.n_cases, size))


def _pairs_of(labels: LabelFile, judge: JudgeFile) -> tuple[ConfusionCounts, ConfusionCounts]:
    """For each label the pair with the judge: of valid verdicts alone, and with the others against the judge."""
    verdict = judge.verdict[labels.item]
    given = verdict >= 0
    counted = judge_pairs(labels.met, np.where(given, verdict == 1, ~labels.met))
    return ConfusionCounts.from_cells(counted.cells() * given), counted


def _judge_rows(
    labels: LabelFile, judge: JudgeFile, ceilings: Sequence[MetaEvaluation], rule: IntervalRule
) -> list[Row]:
    """A row over everything and one for each category, in the column ``theme``."""
    valid, counted = (_by_case(labels, pairs) for pairs in _pairs_of(labels, judge))
    evaluations = meta_evaluation(valid, counted=counted, rule=rule)
    return [
        {"theme": name, **_figures_of(evaluation, ceiling)}
        for name, evaluation, ceiling in zip([ALL, *labels.categories], evaluations, ceilings, strict=True)
    ]


def _figures_of(evaluation: MetaEvaluation, ceiling: MetaEvaluation) -> Row:
    agreement, physicians = evaluation.agreement, ceiling.agreement.mf1
    figures: dict[str, Figure] = {
        "mf1": agreement.mf1,
        "f1_met": agreement.f1_met,
        "f1_not_met": agreement.f1_not_met,
        "f1_balanced": evaluation.f1_balanced,
        "ceiling": physicians,
    }
    row: Row = {"n_pairs": agreement.n_pairs, "n_cases": agreement.n_cases, "n_ceiling": physicians.n}
    for name, figure in figures.items():
        row[name], row[f"{name}_low"], row[f"{name}_high"] = figure.value, figure.low, figure.high
        row[f"{name}_effective"] = figure.effective
    # Balanced F1 repeats MF1, whose remarks are in the note already.
    noted = {name: figure for name, figure in figures.items() if name != "f1_balanced" or figure is not agreement.mf1}
    row["n_invalid"] = agreement.n_invalid
    row["note"] = notes_of(noted)
    return row


def _physician_rows(labels: LabelFile, others: ConfusionCounts, minimum: int) -> list[Row]:
    """A row for each physician and theme, with those of all themes first."""
    rows: list[Row] = []
    order = np.argsort(labels.physician, kind="stable")
    for number, own in enumerate(np.split(order, np.cumsum(np.bincount(labels.physician))[:-1])):
        cases, case = np.unique(labels.case[labels.item[own]], return_inverse=True)
        mine = replace(
            labels,
            item=np.arange(len(own)),
            case=case,
            category=labels.category[labels.item[own]],
            n_cases=len(cases),
        )
        evaluations = meta_evaluation(_by_case(mine, others[own]))
        for theme, evaluation in zip([ALL, *labels.categories], evaluations, strict=True):
            agreement, balanced = evaluation.agreement, evaluation.f1_balanced
            if not agreement.n_pairs:
                continue
            enough = agreement.n_pairs >= minimum
            few = "" if enough else Reason.FEW_PAIRS_OF_PHYSICIAN(n=agreement.n_pairs, needed=minimum)
            rows.append(
                {
                    "physician": labels.physicians[number],
                    "theme": theme,
                    "n_pairs": agreement.n_pairs,
                    "n_cases": agreement.n_cases,
                    "mf1": agreement.mf1.value,
                    "f1_balanced": balanced.value,
                    "counts": enough and balanced.defined,
                    "note": joined(few, notes_of({"mf1": agreement.mf1, "f1_balanced": _reason_alone(balanced)})),
                }
            )
    return rows


def _reason_alone(figure: Figure) -> Figure:
    """Without the remarks of MF1, which balanced F1 has too where it is defined."""
    return replace(figure, note="") if isinstance(figure, Estimate) else figure


def _percentile_row(row: Row, physicians: Iterable[Row]) -> Row:
    """The judge among the physicians of a theme."""
    own = [each["f1_balanced"] for each in physicians if each["theme"] == row["theme"] and each["counts"]]
    values = np.array(own, dtype=np.float64)
    figure = percentile_rank(row["f1_balanced"], values, reason=Reason.NO_BALANCED_F1_OF_JUDGE())
    quartiles = np.quantile(values, [0.25, 0.5, 0.75]).tolist() if len(values) else [None] * 3
    return {
        "theme": row["theme"],
        "f1_balanced": row["f1_balanced"],
        "percentile": figure.value,
        "n_physicians": len(values),
        "physicians_mean": float(values.mean()) if len(values) else None,
        **dict(zip(("physicians_q1", "physicians_median", "physicians_q3"), quartiles, strict=True)),
        "note": labelled("percentile", figure.note) if isinstance(figure, Undefined) else "",
    }


def _weighted_row(labels: LabelFile, judge: JudgeFile, rows: Sequence[Row], rule: IntervalRule) -> Row:
    """The mean of the themes' figures, each by its number of pairs; the weights stay as they are in its interval.

    Items without a theme are in no theme, and count in none of it.
    """
    themes = [place for place, row in enumerate(rows) if row["theme"] != NO_THEME]
    used = [place for place in themes if rows[place]["f1_balanced"] is not None]
    n_pairs = sum(rows[place]["n_pairs"] for place in used)
    ceilings = [rows[place] for place in themes if rows[place]["ceiling"] is not None]
    n_ceiling = sum(row["n_ceiling"] for row in ceilings)
    figure: Figure = Undefined(Reason.NO_PAIRS())
    if used:
        weights = np.array([rows[place]["n_pairs"] for place in used], dtype=np.float64) / n_pairs
        cells = _cells(labels, _pairs_of(labels, judge)[1])
        parts = [MACRO_F1.of_cases(ConfusionCounts.from_cells(cells[:, :, place, None])) for place in used]
        mean = case_joint(lambda values: values @ weights, *parts, bounds=(0.0, 1.0))
        figure = rule.intervals(mean).attach([Estimate(float(mean.whole()[0]), n_pairs)])[0]
    ceiling = sum(row["ceiling"] * row["n_ceiling"] for row in ceilings) / n_ceiling if n_ceiling else None
    return {
        **dict.fromkeys((*THEMES_COLUMNS, *_CEILING, *_EFFECTIVE)),
        "theme": WEIGHTED,
        "n_pairs": n_pairs,
        "n_cases": len(np.unique(labels.case[np.isin(labels.category, used)])),
        "mf1": figure.value,
        "mf1_low": figure.low,
        "mf1_high": figure.high,
        "mf1_effective": figure.effective,
        "f1_balanced": figure.value,
        "ceiling": ceiling,
        "n_ceiling": n_ceiling,
        "n_invalid": sum(rows[place]["n_invalid"] for place in used),
        "note": joined(
            labelled("mf1", figure.note) if figure.note else "",
            Reason.THEMES_UNDEFINED.counted(len(themes) - len(used)),
        ),
    }


def _weighted_percentile(rows: Sequence[Row], percentiles: Sequence[Row]) -> Row:
    """The means and percentiles of the themes, each by the judge's pairs in its theme."""
    weights = {row["theme"]: row["n_pairs"] for row in rows}
    themes = [row for row in percentiles if row["theme"] not in (ALL, NO_THEME)]
    used = [row for row in themes if row["percentile"] is not None]
    total = sum(weights[row["theme"]] for row in used)
    left_out = len(themes) - len(used)

    def mean(name: str) -> float | None:
        return sum(row[name] * weights[row["theme"]] for row in used) / total if total else None

    return {
        **dict.fromkeys(PERCENTILES_COLUMNS),
        "theme": WEIGHTED,
        "f1_balanced": mean("f1_balanced"),
        "percentile": mean("percentile"),
        "n_physicians": sum(row["n_physicians"] for row in used),
        "physicians_mean": mean("physicians_mean"),
        "note": joined(
            Reason.MEANS_ONLY() if total else labelled("percentile", Reason.NO_THEME_WITH_PERCENTILE()),
            Reason.THEMES_UNDEFINED.counted(left_out),
        ),
    }
