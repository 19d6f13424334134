"""What of a table goes to print: which columns, under which headings, to how many places, with their intervals.

CSV and workbook hold every column as it was computed. A printed table joins a figure with its interval, leaves out what
is empty or zero throughout, and moves remarks below.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


class Tabular(Protocol):
    """Columns, rows in their order that can be read more than once, and the names of the columns that hold text."""

    @property
    def columns(self) -> Sequence[str]: ...
    @property
    def rows(self) -> Iterable[Sequence[Any]]: ...
    @property
    def text(self) -> Sequence[str]: ...


@dataclass(frozen=True)
class PrintedColumn:
    """A column as it is printed: the place of its values, of the ends of their interval, and decimal places."""

    heading: str
    place: int
    low: int | None
    high: int | None
    digits: int
    is_text: bool


DIGITS = 3
# On a scale of 100, where a third decimal says nothing.
_TO_ONE_PLACE = ("rubric_accuracy", "cacs_at_k", "mean_absolute_difference", "mean", "median", "q1", "q3")
_HEADINGS = {
    "ac1": "AC1",
    "alpha": "Krippendorff’s α",
    "cacs_at_k": "CACS@k",
    "f1_met": "F1 met",
    "f1_not_met": "F1 not met",
    "hit_rate": "Hit rate",
    "kappa": "Cohen’s κ",
    "kendall": "Kendall’s τ",
    "mean_absolute_difference": "Mean abs. diff.",
    "met_a": "Met, A",
    "met_b": "Met, B",
    "met_judge": "Met, judge",
    "mf1": "MF1",
    "mf1_ceiling": "MF1, human ceiling",
    "mf1_from": "MF1 from",
    "mf1_gap": "MF1, judge less ceiling",
    "mf1_judge_a": "MF1, judge and A",
    "mf1_judge_b": "MF1, judge and B",
    "mf1_mean": "MF1, judge, mean of both",
    "mf1_to": "MF1 to",
    "mf1_valid": "MF1, valid pairs",
    "pass_at_k": "Pass@k",
    "prevalence_a": "Met, A",
    "prevalence_b": "Met, B",
    "raw": "Raw",
    "rubric_accuracy": "Rubric Accuracy",
    "rubric_score": "Rubric score",
    "rubric_score_se": "SE",
    "spearman": "Spearman’s ρ",
    "top3": "Top 3",
    "top5": "Top 5",
    "worst_at_k": "Worst-at-k",
}
REMARKS = "note"


def printed_columns(table: Tabular) -> list[PrintedColumn]:
    """The columns that a printed table has, in the order of the table.

    Left out are remarks, the ends of intervals (they stand with their figure), columns without any value, and counts of
    what never happened.
    """
    place_of = {name: place for place, name in enumerate(table.columns)}
    used = [False] * len(place_of)
    for row in table.rows:
        for place, value in enumerate(row):
            used[place] = used[place] or value not in (None, "", 0)
    found = []
    for name, place in place_of.items():
        base = name.removesuffix("_low").removesuffix("_high")
        is_end = base != name and base in place_of
        if name == REMARKS or is_end:
            continue
        # A figure that is undefined, or nought, in every row is a finding; a count of nothing is not.
        is_figure = f"{name}_low" in place_of or name in _HEADINGS
        if not used[place] and not is_figure:
            continue
        found.append(
            PrintedColumn(
                heading=_heading(name),
                place=place,
                low=place_of.get(f"{name}_low"),
                high=place_of.get(f"{name}_high"),
                digits=1 if name in _TO_ONE_PLACE else DIGITS,
                is_text=name in table.text,
            )
        )
    return found


def _heading(name: str) -> str:
    if name in _HEADINGS:
        return _HEADINGS[name]
    if name == "n":
        return "n"
    words = name.removeprefix("n_").replace("_", " ")
    return words[:1].upper() + words[1:] if len(words) > 1 else words


def shown(value: Any, digits: int) -> str:
    """A value as plain text: thousands apart, figures to their places, a real minus; an en dash where there is none."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}".replace("-", "−")
    if isinstance(value, float):
        text = f"{value:,.{digits}f}"
        return text.replace("-", "−") if text.strip("-0.") else text.lstrip("-")
    return str(value)


def interval(row: Sequence[Any], column: PrintedColumn) -> str:
    """The interval of a figure in brackets; empty where there is none."""
    if column.low is None or column.high is None or row[column.low] is None or row[column.high] is None:
        return ""
    return f"[{shown(row[column.low], column.digits)}, {shown(row[column.high], column.digits)}]"


def remarks(table: Tabular) -> Iterator[tuple[str, str]]:
    """Of each row with a remark what it is called, by its first column, and the remark."""
    if REMARKS not in table.columns:
        return
    place = list(table.columns).index(REMARKS)
    for row in table.rows:
        if row[place]:
            yield str(row[0]), str(row[place])
