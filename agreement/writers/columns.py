"""Columns of a table in print: which ones, their headings, number of decimals, and intervals.

CSV and workbook hold every column as it was computed. A printed table joins a figure with its interval, leaves out what
is empty or zero throughout and, where it would be too wide, what matters least; remarks stand below it, each once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, inf, log10
from typing import Any, Protocol

from agreement.writers.headings import FIGURES, HEADINGS, heading_of
from agreement.writers.units import Unit, unit_of
from agreement.writers.words import value_in_words


class Tabular(Protocol):
    """Columns, rows in their order that can be read more than once, and the names of the columns that hold text."""

    @property
    def columns(self) -> Sequence[str]: ...
    @property
    def rows(self) -> Sequence[Sequence[Any]]: ...
    @property
    def text(self) -> Sequence[str]: ...


@dataclass(frozen=True)
class PrintedColumn:
    """A column as it is printed: its name and heading, the place of its values and of the ends of their interval, and
    decimal places. ``is_count`` where it holds whole numbers without an interval.
    """

    name: str
    heading: str
    place: int
    low: int | None
    high: int | None
    digits: int
    is_text: bool
    is_count: bool

    @property
    def is_p(self) -> bool:
        """Whether it holds p-values of a test, which are findings without an interval."""
        return self.name == "p" or self.name.startswith("p_")


@dataclass
class _Seen:
    """What the values of a column are like."""

    something: bool = False
    all_whole: bool = True
    all_integers: bool = True
    all_text: bool = True
    largest: float = field(default=0.0)
    smallest: float = field(default=inf)

    def add(self, value: Any) -> None:
        self.something = self.something or value not in (None, "", 0)
        self.all_text = self.all_text and (value is None or isinstance(value, str))
        if isinstance(value, int | float):
            self.all_whole = self.all_whole and float(value).is_integer()
            # A boolean is a finding, not a count.
            self.all_integers = self.all_integers and isinstance(value, int) and not isinstance(value, bool)
            self.largest = max(self.largest, abs(value))
            self.smallest = min(self.smallest, abs(value) or inf)


DIGITS = 3
# Beyond this a third decimal is not meaningful.
LARGE = 10.0
MAX_COLUMNS = 10
_OF_CRITERIA = ("mean", "median", "q1", "q3")  # counts of criteria: to one place, whatever their values
# Columns with the ends of an interval that are not called like their figure.
_ENDS = {"difference": ("low", "high"), "mean_delta": ("delta_low", "delta_high")}
_BEHIND = (
    "n_rubric_accuracy",
    "n_cacs_at_k",
)  # counts of the responses behind some figures, printed where they are not ``n``
# Nothing is left of a test, of shares that add up to 1 or of a frontier of costs where one of these is left out.
_KEPT = ("b", "c", "tie", "loss", "auroc_pooled", "mean_delta_100", "cost", *_BEHIND)
_DETAILS_OF_TESTS = ("chi2_clustered", "chi2_edwards", "p_edwards")
REMARKS = "note"
EFFECTIVE = "_effective"  # ends the column of the effective cases behind a figure
_COUNTS = ("n", "n_pairs", "n_cases", "n_responses")  # the counts that matter most to a reader
_BAND = re.compile(r"(\d+)-(\d+)")
_COLUMN_NAME = re.compile(r"\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b")
_ROWS_NAMED = 4  # rows that share a remark are named up to this number, and counted beyond


def printed_columns(table: Tabular) -> list[PrintedColumn]:
    """The columns that a printed table has, in the order of the table.

    Left out are remarks, the ends of intervals (they stand with their figure), effective cases, columns without any
    value, counts of what never happened, counts behind a figure that are n throughout, and worst-at-k where k is 1
    throughout, since it is then the rubric score. If there are more than `MAX_COLUMNS`, these are dropped in turn until
    the table fits: test statistics whose p-values stay; all counts but two; figures without an interval beside others
    that have one; all ranks but the first. What is in `_KEPT` stays.
    """
    place_of = {name: place for place, name in enumerate(table.columns)}
    seen = [_Seen() for _name in place_of]
    for row in table.rows:
        for place, value in enumerate(row):
            seen[place].add(value)
    # A table without a value keeps its headings.
    empty = not any(seen[place].something for name, place in place_of.items() if name != REMARKS)
    columns = []
    ends = {end for figure in _ENDS if figure in place_of for end in _ends(figure, place_of)}
    for name, place in place_of.items():
        base = name.removesuffix("_low").removesuffix("_high")
        is_effective = name.removesuffix(EFFECTIVE) in place_of and name.endswith(EFFECTIVE)
        if name == REMARKS or is_effective or (base != name and base in place_of) or name in ends:
            continue
        if name in _BEHIND and _equal_n(table, place_of, name):
            continue
        if name.startswith("worst_") and "worst_k" in place_of and seen[place_of["worst_k"]].largest <= 1:
            continue
        low, high = (place_of.get(end) for end in _ends(name, place_of))
        is_text = name in table.text or (seen[place].something and seen[place].all_text)
        # A figure that is undefined or zero in every row is a finding; a count that is always zero is not.
        if not empty and not seen[place].something and low is None and name not in (*FIGURES, *_KEPT):
            continue
        columns.append(
            PrintedColumn(
                name=name,
                heading=heading_of(name, place_of),
                place=place,
                low=low,
                high=high,
                digits=_digits(name, [seen[index] for index in (place, low, high) if index is not None]),
                is_text=is_text,
                is_count=not is_text and low is None and seen[place].something and seen[place].all_integers,
            )
        )
    return _narrowed(columns)


def _equal_n(table: Tabular, place_of: Mapping[str, int], name: str) -> bool:
    """Whether a count of responses behind a figure is ``n`` in every row."""
    n = place_of.get("n")
    return n is not None and all(row[place_of[name]] in (None, row[n]) for row in table.rows)


def _ends(name: str, place_of: Mapping[str, int]) -> tuple[str, str]:
    """The names of the columns that hold the ends of the interval of a figure."""
    own = (f"{name}_low", f"{name}_high")
    return own if own[0] in place_of else _ENDS.get(name, own)


def _digits(name: str, seen: Sequence[_Seen]) -> int:
    if name.endswith("_rank"):  # ties share a rank, which may then be a half
        return 0 if all(column.all_whole for column in seen) else 1
    if name == "cost" and seen[0].smallest < 1:  # a response may cost a small part of a cent
        return max(DIGITS, ceil(-log10(seen[0].smallest)) + 1)
    to_one_place = name in _OF_CRITERIA or unit_of(name) is Unit.OF_HUNDRED
    return 1 if to_one_place or any(column.largest > LARGE for column in seen) else DIGITS


def _narrowed(columns: list[PrintedColumn]) -> list[PrintedColumn]:
    numbers = [column for column in columns if column.is_count and column.name not in _KEPT]
    counts = [column.place for column in sorted(numbers, key=_rank_of_count)]
    ranks = [column.place for column in columns if column.name.endswith("_rank")]
    with_interval = any(column.low is not None for column in columns)
    droppable: list[Callable[[PrintedColumn], bool]] = [
        lambda column: column.name in _DETAILS_OF_TESTS,
        lambda column: column.place in counts[2:],
        lambda column: with_interval and column.low is None and not (column.is_text or column.is_count or column.is_p),
        lambda column: column.place in ranks[1:],
    ]
    for drops in droppable:
        if len(columns) > MAX_COLUMNS:
            columns = [column for column in columns if column.name in _KEPT or not drops(column)]
    return columns


def _rank_of_count(column: PrintedColumn) -> int:
    return _COUNTS.index(column.name) if column.name in _COUNTS else len(_COUNTS)


def text_of(row: Sequence[Any], column: PrintedColumn) -> str:
    """The value of a column of text in words: candidates without the word before them, figures by their usual names."""
    value = row[column.place]
    if value is None:
        return ""
    text = str(value)
    if column.name == "value":
        # The bounds of a band of lengths, as numbers are printed.
        ends = _BAND.fullmatch(text)
        if ends:
            return "–".join(f"{int(end):,}" for end in dict.fromkeys(ends.groups()))
    return value_in_words(column.name, text)


def value_of(row: Sequence[Any], column: PrintedColumn) -> str:
    """A value of a column as plain text; a p is never printed as 0."""
    value = row[column.place]
    if column.is_p and isinstance(value, float) and value < 10**-DIGITS:
        return f"< {10**-DIGITS}"
    return shown(value, column.digits)


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


def remarks(table: Tabular, columns: Sequence[PrintedColumn]) -> list[tuple[str, str]]:
    """Each remark on what is printed once, with the rows that it is about, named by as many of their first columns as
    tell all rows apart.
    """
    if REMARKS not in table.columns or not columns:
        return []
    place = list(table.columns).index(REMARKS)
    naming = _naming(table, columns)
    rows_of: dict[str, list[str]] = {}
    for row in table.rows:
        for remark in str(row[place] or "").split("; "):
            if remark:
                remark = _in_words(remark, table.columns, {column.name for column in columns})
                if not remark:
                    continue
                rows_of.setdefault(remark, []).append(_name_of(row, naming))
    return [(_named(names), remark) for remark, names in rows_of.items()]


def _naming(table: Tabular, columns: Sequence[PrintedColumn]) -> Sequence[PrintedColumn]:
    """The first column and, while rows still share their names, the columns of text that follow it at once."""
    n_first = 1 + next((n for n, column in enumerate(columns[1:]) if not column.is_text), len(columns) - 1)
    for n in range(1, n_first + 1):
        names = [tuple(row[column.place] for column in columns[:n]) for row in table.rows]
        if len(set(names)) == len(names):
            return columns[:n]
    return columns[:n_first]


def _name_of(row: Sequence[Any], naming: Sequence[PrintedColumn]) -> str:
    names = (text_of(row, column) if column.is_text else shown(row[column.place], 0) for column in naming)
    return ", ".join(filter(None, names))


def _in_words(remark: str, columns: Sequence[str], printed: set[str]) -> str:
    """A remark with the headings of the columns that it is about, and figures by their usual names; empty where it is
    about columns that are not printed.
    """
    label, colon, phrase = remark.partition(": ")
    names = label.split(", ")
    if colon and set(names) <= set(columns):
        headings = [heading_of(name, columns) for name in names if name in printed]
        if not headings:
            return ""
        remark = f"{'; '.join(headings)}: {phrase}"
    return _COLUMN_NAME.sub(lambda match: HEADINGS.get(match[0], match[0]), remark)


def _named(rows: list[str]) -> str:
    names = list(dict.fromkeys(rows))
    between = "; " if any(", " in name for name in names) else ", "
    return between.join(names) if len(names) <= _ROWS_NAMED else f"{len(rows):,} rows"
