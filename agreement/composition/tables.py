"""The tables of a report on composition, over the cases of a benchmark or of a slice of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from agreement.composition import summaries
from agreement.composition.dimensions import counted_as
from agreement.composition.inputs import NO_TURN, CompositionData, Ints, Mask
from agreement.composition.summaries import bins, summary
from agreement.reports.tables import Row, Table
from agreement.scoreboard.case_sets import FIRST
from consilium.statistics.estimate import notes_of
from consilium.statistics.ratio_of_shares import enrichment

COMPOSITION = ("dimension", "value", "n", "percent", "n_first", "percent_first", "n_cases", "n_labelled")
DIMENSIONS = ("dimension", "n_values", "n_cases", "n_labelled", "n_unlabelled", "n_several", "mean_labels")
CROSS = ("row", "column", "n", "row_percent", "column_percent", "percent", "n_row", "n_column", "n_cases")
ENRICHMENT = (
    *("dimension", "value", "n_inside", "n_outside", "percent_inside", "percent_outside", "percent_all"),
    *("ratio", "ratio_low", "ratio_high", "enrichment", "enrichment_low", "enrichment_high"),
    *("size_inside", "size_outside", "note"),
)
MEASURES = ("measure", *summaries.COLUMNS)
RESPONSES = ("candidate", "kind", "n_cases", *summaries.COLUMNS)
HISTOGRAM = ("measure", "low", "high", "n")
CRITERIA = (
    *("dimension", "value", "n", "percent", "n_positive", "n_negative", "points_positive", "points_negative"),
    *("n_cases", "n_criteria"),
)
CASES = (
    *("case", "difficulty", "register", "language", "specialty_first", "task_first"),
    *("messages", "user_turns", "characters", "last_user_characters"),
    *("criteria", "points_positive", "points_negative", "responses"),
)
# Measures of a case from its conversation and its rubric, in their order.
OF_CONVERSATIONS = ("messages", "user_turns", "characters", "last_user_characters")
OF_RUBRICS = ("criteria", "positive_criteria", "negative_criteria", "points_positive", "points_negative")
OF_CRITERIA, OF_RESPONSES = "criterion_characters", "response_characters"
# Kinds of tags of criteria in the order in which they are listed; others follow by name.
_CRITERIA_ORDER = ("sign", "axis", "level", "section", "cluster")
POSITIVE, NEGATIVE = "positive", "negative"


@dataclass(frozen=True, eq=False)
class CompositionTables:
    """The tables over the cases marked in ``inside``; ``row`` and ``column`` are the dimensions of the cross table."""

    data: CompositionData
    inside: Mask
    row: str
    column: str

    def tables(self) -> dict[str, Table]:
        """The tables by name; `enrichment` only where the slice is a part of the cases."""
        tables = {
            "composition": Table.of(COMPOSITION, list(self.composition()), ("dimension", "value")),
            "dimensions": Table.of(DIMENSIONS, list(self.dimensions()), ("dimension",)),
        }
        if self.row:
            tables["cross"] = Table.of(CROSS, list(self.cross()), ("row", "column"))
        if not self.inside.all():
            tables["enrichment"] = Table.of(ENRICHMENT, list(self.enrichment()), ("dimension", "value", "note"))
        return tables | {
            "conversations": Table.of(MEASURES, list(self.measures(OF_CONVERSATIONS)), ("measure", "note")),
            "rubrics": Table.of(MEASURES, list(self.measures((*OF_RUBRICS, OF_CRITERIA))), ("measure", "note")),
            "histogram": Table.of(HISTOGRAM, list(self.histogram()), ("measure",)),
            "criteria": Table.of(CRITERIA, list(self.criteria()), ("dimension", "value")),
            "responses": Table.of(RESPONSES, list(self.responses()), ("candidate", "kind", "note")),
            "cases": Table.of(CASES, list(self.cases()), CASES[:6]),
        }

    @cached_property
    def n_cases(self) -> int:
        """Cases that are counted."""
        return int(self.inside.sum())

    def composition(self) -> Iterator[Row]:
        """How many cases have each value of each dimension, and how many have it as their first."""
        for name, dimension in self.data.dimensions.items():
            n = dimension.incidence[self.inside].sum(axis=0).tolist()
            n_first = dimension.first_incidence[self.inside].sum(axis=0).tolist()
            labelled = int((dimension.sizes[self.inside] > 0).sum())
            rows = list(zip(dimension.values, n, n_first, strict=True))
            # A case whose first specialty is in no group has no first group, although it may have a later one.
            without_first = self.n_cases - sum(n_first)
            if without_first:
                rows.append(("", self.n_cases - labelled, without_first))
            for value, with_value, as_first in rows:
                yield {
                    "dimension": name,
                    "value": value,
                    "n": with_value,
                    "percent": self._percent(with_value, self.n_cases),
                    "n_first": as_first,
                    "percent_first": self._percent(as_first, self.n_cases),
                    "n_cases": self.n_cases,
                    "n_labelled": labelled,
                }

    def dimensions(self) -> Iterator[Row]:
        """How many values each dimension has, and how many labels a case."""
        for name, dimension in self.data.dimensions.items():
            sizes = dimension.sizes[self.inside]
            labelled = int((sizes > 0).sum())
            yield {
                "dimension": name,
                "n_values": int(dimension.incidence[self.inside].any(axis=0).sum()),
                "n_cases": self.n_cases,
                "n_labelled": labelled,
                "n_unlabelled": self.n_cases - labelled,
                "n_several": int((sizes > 1).sum()),
                "mean_labels": float(sizes[sizes > 0].mean()) if labelled else None,
            }

    def cross(self) -> Iterator[Row]:
        """Cases by two dimensions; a case with several values is counted in each of them. Only values that occur."""
        rows, row_marks = self._marks(self.row)
        columns, column_marks = self._marks(self.column)
        counts = row_marks.astype(np.int64).T @ column_marks.astype(np.int64)
        n_row, n_column = row_marks.sum(axis=0).tolist(), column_marks.sum(axis=0).tolist()
        for i, row in enumerate(rows):
            for j, column in enumerate(columns):
                n = int(counts[i, j])
                yield {
                    "row": row,
                    "column": column,
                    "n": n,
                    "row_percent": self._percent(n, n_row[i]),
                    "column_percent": self._percent(n, n_column[j]),
                    "percent": self._percent(n, self.n_cases),
                    "n_row": n_row[i],
                    "n_column": n_column[j],
                    "n_cases": self.n_cases,
                }

    def _marks(self, name: str) -> tuple[list[str], NDArray[np.bool_]]:
        """The values that occur, with the cases that have each; at the end the cases without a value, if any."""
        dimension, is_first = counted_as(self.data.dimensions, name)
        marks = (dimension.first_incidence if is_first else dimension.incidence)[self.inside]
        some = np.flatnonzero(marks.any(axis=0))
        values = [dimension.values[place] for place in some.tolist()]
        marks, without = marks[:, some], ~marks.any(axis=1)
        return ([*values, ""], np.column_stack([marks, without])) if without.any() else (values, marks)

    def enrichment(self) -> Iterator[Row]:
        """The share of each value in the slice beside that in the other cases, and in all of them."""
        size_inside, size_outside = self.n_cases, int((~self.inside).sum())
        for name, dimension in self.data.dimensions.items():
            inside = dimension.incidence[self.inside].sum(axis=0).tolist()
            outside = dimension.incidence[~self.inside].sum(axis=0).tolist()
            for value, n_inside, n_outside in zip(dimension.values, inside, outside, strict=True):
                both = enrichment(n_inside, size_inside, n_outside, size_outside)
                ratio, whole = both.to_rest, both.to_whole
                yield {
                    "dimension": name,
                    "value": value,
                    "n_inside": n_inside,
                    "n_outside": n_outside,
                    "percent_inside": self._percent(n_inside, size_inside),
                    "percent_outside": self._percent(n_outside, size_outside),
                    "percent_all": self._percent(n_inside + n_outside, size_inside + size_outside),
                    "ratio": ratio.value,
                    "ratio_low": ratio.low,
                    "ratio_high": ratio.high,
                    "enrichment": whole.value,
                    "enrichment_low": whole.low,
                    "enrichment_high": whole.high,
                    "size_inside": size_inside,
                    "size_outside": size_outside,
                    "note": notes_of({"ratio": ratio, "enrichment": whole}),
                }

    @cached_property
    def measured(self) -> dict[str, Ints]:
        """The values of each measure: of cases, of criteria, of responses."""
        data, inside = self.data, self.inside
        last = data.last_user_characters[inside]
        points = data.criteria.points
        by_case = {
            "criteria": data.criteria_by_case(),
            "positive_criteria": data.criteria_by_case((points > 0).astype(np.int64)),
            "negative_criteria": data.criteria_by_case((points < 0).astype(np.int64)),
            "points_positive": data.criteria_by_case(np.maximum(points, 0)),
            "points_negative": data.criteria_by_case(np.minimum(points, 0)),
        }
        graded = inside & (by_case["criteria"] > 0)
        return {
            "messages": data.messages[inside],
            "user_turns": data.user_turns[inside],
            "characters": data.characters[inside],
            "last_user_characters": last[last != NO_TURN],
            **{name: values[graded] for name, values in by_case.items()},
            OF_CRITERIA: data.criteria.length[inside[data.criteria.case]],
            OF_RESPONSES: data.responses.length[inside[data.responses.case]],
        }

    def measures(self, names: Sequence[str]) -> Iterator[Row]:
        """A summary of each measure."""
        for name in names:
            yield {"measure": name, **summary(self.measured[name])}

    def histogram(self) -> Iterator[Row]:
        """The bins of each measure."""
        for name, values in self.measured.items():
            for low, high, n in bins(values):
                yield {"measure": name, "low": low, "high": high, "n": n}

    def criteria(self) -> Iterator[Row]:
        """Criteria of current rubrics by sign and by each kind of their tags; one with several tags is in several rows.

        The row without a value has the criteria without a tag of that kind.
        """
        criteria = self.data.criteria
        counted = self.inside[criteria.case]
        signs = {POSITIVE: criteria.points > 0, NEGATIVE: criteria.points < 0}
        kinds: dict[str, dict[str, Mask]] = {"sign": signs}
        for tag, mask in criteria.tagged.items():
            kind, colon, value = tag.partition(":")
            kind, value = (kind, value) if colon and value else ("tag", tag)
            kinds.setdefault(kind, {})[value] = mask
        for kind in sorted(kinds, key=_place_of_kind):
            yield from self._criteria_of(kind, kinds[kind], counted)

    def _criteria_of(self, kind: str, masks: dict[str, Mask], counted: Mask) -> Iterator[Row]:
        criteria, n_criteria = self.data.criteria, int(counted.sum())
        sizes = {value: int((mask & counted).sum()) for value, mask in masks.items()}
        values = [value for value in sorted(sizes, key=lambda value: (-sizes[value], value)) if sizes[value]]
        rows = [(value, masks[value] & counted) for value in values]
        if not rows:
            return
        without = counted & ~np.logical_or.reduce(list(masks.values()))
        for value, own in [*rows, *([("", without)] if without.any() else [])]:
            points = criteria.points[own]
            yield {
                "dimension": kind,
                "value": value,
                "n": int(own.sum()),
                "percent": self._percent(int(own.sum()), n_criteria),
                "n_positive": int((points > 0).sum()),
                "n_negative": int((points < 0).sum()),
                "points_positive": int(points[points > 0].sum()),
                "points_negative": int(points[points < 0].sum()),
                "n_cases": len(np.unique(criteria.case[own])),
                "n_criteria": n_criteria,
            }

    def responses(self) -> Iterator[Row]:
        """Number and length of the responses of each candidate that has any, by name."""
        responses = self.data.responses
        counted = self.inside[responses.case]
        for place, (name, kind) in enumerate(self.data.candidates):
            own = counted & (responses.candidate == place)
            if own.any():
                n_cases = len(np.unique(responses.case[own]))
                yield {"candidate": name, "kind": kind, "n_cases": n_cases, **summary(responses.length[own])}

    def cases(self) -> Iterator[Row]:
        """A row for each case, by key."""
        data = self.data
        points = data.criteria.points
        n_criteria = data.criteria_by_case().tolist()
        positive = data.criteria_by_case(np.maximum(points, 0)).tolist()
        negative = data.criteria_by_case(np.minimum(points, 0)).tolist()
        n_responses = np.bincount(data.responses.case, minlength=len(data)).tolist()
        for place in sorted(np.flatnonzero(self.inside).tolist(), key=data.keys.__getitem__):
            last = int(data.last_user_characters[place])
            yield {
                "case": data.keys[place],
                **{name: self._first(name, place) for name in ("difficulty", "register", "language")},
                **{f"{name}{FIRST}": self._first(name, place) for name in ("specialty", "task")},
                "messages": int(data.messages[place]),
                "user_turns": int(data.user_turns[place]),
                "characters": int(data.characters[place]),
                "last_user_characters": None if last == NO_TURN else last,
                "criteria": n_criteria[place],
                "points_positive": positive[place],
                "points_negative": negative[place],
                "responses": n_responses[place],
            }

    def _first(self, name: str, place: int) -> str:
        dimension = self.data.dimensions.get(name)
        values: Sequence[str] = dimension.values_by_case[place] if dimension else ()
        return values[0] if values else ""

    @staticmethod
    def _percent(n: int, of: int) -> float | None:
        return 100 * n / of if of else None


def _place_of_kind(kind: str) -> tuple[int, str]:
    return (_CRITERIA_ORDER.index(kind) if kind in _CRITERIA_ORDER else len(_CRITERIA_ORDER), kind)
