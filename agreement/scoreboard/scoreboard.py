"""The scoreboard: every figure of every candidate in every slice, with intervals, ranks and conclusions.

A difference (of two figures, of two registers, of a family and the whole) is one of two figures on the same cases; the
interval rule knows how both move together (`consilium.statistics.intervals`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agreement.reports.tables import Row
from consilium.core.phrases import joined
from consilium.core.reasons import Reason
from consilium.statistics.estimate import Figure, Undefined, figures, notes_of
from rubrics.models import Difficulty
from scoring.scores.score_columns import FIGURES, ScoreFigures
from scoring.scores.score_tables import SCOREBOARD_COLUMNS
from scoring.scores.scored import Scored
from scoring.scores.sheet import Slice
from scoring.scores.worst import worst_figures

RANKED = ("cacs_at_k", "rubric_accuracy", "pass_at_k", "rubric_score", "worst_at_k")
ENDS = ("", "_low", "_high")
MORE_COLUMNS = (
    "worst_k",
    *(f"worst_at_k{end}" for end in ENDS),
    *(f"{name}_rank{end}" for name in RANKED for end in ENDS),
)
# The number of effective cases behind each figure.
EFFECTIVE_COLUMNS = tuple(f"{name}_effective" for name in (*FIGURES, "worst_at_k"))
# Responses behind Rubric Accuracy and Pass@k, behind CACS@k, and without a rubric score; ``n`` is that of the latter.
BEHIND_COLUMNS = ("n_rubric_accuracy", "n_cacs_at_k", "n_unscored")
COLUMNS = (*SCOREBOARD_COLUMNS, *MORE_COLUMNS, *EFFECTIVE_COLUMNS, *BEHIND_COLUMNS)
SLICE_COLUMNS = ("slice", *COLUMNS)
TEXT = ("slice", "candidate", "kind", "note")
GAPS = {"gap_cacs": "cacs_at_k", "gap_pass": "pass_at_k"}
GAP_COLUMNS = (
    *("slice", "candidate", "n", "n_cases", "rubric_accuracy", "cacs_at_k", "pass_at_k"),
    *(f"{name}{end}" for name in GAPS for end in ENDS),
    *("k", "note"),
    *(f"{name}_effective" for name in GAPS),
)
IN_FAMILIES = ("cacs_at_k", "rubric_accuracy")
FAMILY_COLUMNS = (
    *("family", "candidate", "n", "n_cases"),
    *(column for name in IN_FAMILIES for column in (name, *(f"{name}_deviation{end}" for end in ENDS))),
    "note",
    *(f"{name}_deviation_effective" for name in IN_FAMILIES),
)
# Which slices are the capability families: the first of these of which the benchmark has two.
FAMILY_KINDS = ("task_group", "task", "theme", "axis")
REGISTERS = ("lay", "professional")
REGISTER_COLUMNS = (
    *("candidate", "n_lay", "n_professional", "n_cases_lay", "n_cases_professional"),
    *(
        column
        for name in FIGURES
        for column in (*(f"{name}_{register}" for register in REGISTERS), *(f"{name}_difference{end}" for end in ENDS))
    ),
    "note",
    *(f"{name}_difference_effective" for name in FIGURES),
)
# Kinds of slices of which every value is in a table by itself, so that it can be drawn.
VALUE_KINDS = ("theme", "task", "specialty", "axis", "task_group", "specialty_group", "subset_axis", "difficulty")
VALUE_COLUMNS = (
    *("kind", "slice", "candidate", "measure", "value", "low", "high", "effective", "n", "n_cases", "k", "note"),
)
VALUE_TEXT = ("kind", "slice", "candidate", "measure", "note")
# From the easiest to the hardest, as cases are labelled.
DIFFICULTIES = tuple(Difficulty.values)
DIFFICULTY_COLUMNS = (
    *("candidate", "measure", "easiest", "hardest", "n_easiest", "n_hardest", "n_cases_easiest", "n_cases_hardest"),
    *("value_easiest", "value_hardest", *(f"drop{end}" for end in ENDS), "drop_effective", "note"),
)
DIFFICULTY_TEXT = ("candidate", "measure", "easiest", "hardest", "note")
# Pass@k is a share; beside figures from 0 to 100 it is taken times 100.
SCALES = {"rubric_score": 1.0, "rubric_accuracy": 1.0, "pass_at_k": 100.0, "cacs_at_k": 1.0}


@dataclass(frozen=True, eq=False)
class Scoreboard:
    """Rows of the tables by column name."""

    slices: list[Row]  # SLICE_COLUMNS; the whole comes first, as ``overall_score``
    gap: list[Row]
    families: list[Row]
    family_kind: str  # empty where the benchmark has no two families
    registers: list[Row]
    values: list[Row]
    difficulty: list[Row]
    worst_k: int


def make_scoreboard(scored: Scored) -> Scoreboard:
    """The whole scoreboard, from scores with an interval rule."""
    if not scored.names:
        return Scoreboard([], [], [], "", [], [], [], 1)
    board = _Board(scored)
    kind, families = _families(scored.slices)
    registers = {
        part.name.removeprefix("register:"): place
        for place, part in enumerate(scored.slices)
        if part.name.startswith("register:")
    }
    return Scoreboard(
        slices=[row for place in range(len(scored.slices)) for row in board.slice_rows(place)],
        gap=[row for place in range(len(scored.slices)) for row in board.gap_rows(place)],
        families=[row for place in families for row in board.family_rows(place)],
        family_kind=kind,
        registers=board.register_rows(registers) if len(registers) == len(REGISTERS) else [],
        values=[row for kind in VALUE_KINDS for row in board.value_rows(kind)],
        difficulty=board.difficulty_rows(),
        worst_k=board.worst_k,
    )


def _families(slices: Sequence[Slice]) -> tuple[str, list[int]]:
    for kind in FAMILY_KINDS:
        places = [place for place, part in enumerate(slices) if part.name.startswith(f"{kind}:")]
        if len(places) > 1:
            return kind, places
    return "", []


class _Board:
    """Figures over cases; a column is slice · candidates + candidate."""

    def __init__(self, scored: Scored) -> None:
        self.scored = scored
        self.n_candidates = len(scored.names)
        self.size = scored.columns.size
        self.worst_k = _worst_k(scored)
        self.figures_by_name: dict[str, ScoreFigures] = {
            **scored.columns.figures_by_name,
            "worst_at_k": worst_figures(scored, self.worst_k),
        }
        self.gaps = {
            name: self._differences(("rubric_accuracy", slice(None)), (other, slice(None)))
            for name, other in GAPS.items()
        }

    def _present(self, place: int) -> list[tuple[int, str]]:
        """The columns and names of the candidates with a response in the slice, by name."""
        start = place * self.n_candidates
        return [
            (start + candidate, self.scored.names[candidate])
            for candidate in self.scored.order
            if self.scored.columns.present[start + candidate]
        ]

    def slice_rows(self, place: int) -> list[Row]:
        """`SLICE_COLUMNS` of one slice."""
        present = self._present(place)
        columns = np.array([column for column, _name in present], dtype=np.int64)
        ranks = {name: self._ranks(name, columns) for name in RANKED}
        rows = []
        for i, (column, name) in enumerate(present):
            candidate = column - place * self.n_candidates
            scores = self.scored.columns.row(place, candidate)
            assert scores is not None
            row: Row = {
                "slice": self.scored.slices[place].name,
                "candidate": name,
                "kind": self.scored.kinds[candidate],
                "k": self.scored.k,
                **scores,
                "worst_k": self.worst_k,
                "n_rubric_accuracy": int(self.scored.columns.settled[column]),
                "n_cacs_at_k": int(self.scored.columns.settled[column] - self.scored.columns.short[column]),
                "n_unscored": int(self.scored.columns.unscored[column]),
            }
            figures_by_name: dict[str, Figure] = {"worst_at_k": self.figures_by_name["worst_at_k"].figures[column]}
            figures_by_name |= {f"{figure}_rank": ranks[figure][i] for figure in RANKED}
            _put(row, figures_by_name)
            row["note"] = joined(scores["note"], notes_of(figures_by_name))
            rows.append(row)
        return rows

    def _ranks(self, name: str, columns: NDArray[np.int64]) -> list[Figure]:
        assert self.scored.rule is not None
        return self.scored.rule.ranks(self.figures_by_name[name].over_cases.of_slices(columns))

    def gap_rows(self, place: int) -> list[Row]:
        """`GAP_COLUMNS` of one slice."""
        rows = []
        for column, name in self._present(place):
            figures_by_name = {gap: differences[column] for gap, differences in self.gaps.items()}
            # These responses are part of Rubric Accuracy and not of CACS@k, so the two then cover different responses.
            short = int(self.scored.columns.short[column])
            row: Row = {
                "slice": self.scored.slices[place].name,
                "candidate": name,
                "n": int(self.scored.columns.settled[column]),
                "n_cases": self._cases("rubric_accuracy", column),
                **{
                    name: self.figures_by_name[name].figures[column].value
                    for name in ("rubric_accuracy", *GAPS.values())
                },
                "k": self.scored.k,
                "note": joined(notes_of(figures_by_name), Reason.SHORT_RESPONSES.counted(short)),
            }
            _put(row, figures_by_name)
            rows.append(row)
        return rows

    def family_rows(self, place: int) -> list[Row]:
        """`FAMILY_COLUMNS` of one family: how far each candidate lies from its own figure over everything."""
        part, start = self.scored.slices[place], place * self.n_candidates
        own, whole = slice(start, start + self.n_candidates), slice(0, self.n_candidates)
        apart = {name: self._differences((name, own), (name, whole)) for name in IN_FAMILIES}
        rows = []
        for column, candidate in self._present(place):
            figures_by_name = {f"{name}_deviation": apart[name][column - start] for name in IN_FAMILIES}
            row: Row = {
                "family": part.name,
                "candidate": candidate,
                "n": int(self.scored.columns.settled[column]),
                "n_cases": self._cases("rubric_accuracy", column),
                **{name: self.figures_by_name[name].figures[column].value for name in IN_FAMILIES},
                "note": notes_of(figures_by_name),
            }
            _put(row, figures_by_name)
            rows.append(row)
        return rows

    def register_rows(self, places: Mapping[str, int]) -> list[Row]:
        """`REGISTER_COLUMNS`: lay less professional, of the candidates that have answered in both."""
        starts = {register: places[register] * self.n_candidates for register in REGISTERS}
        lay, professional = (slice(starts[register], starts[register] + self.n_candidates) for register in REGISTERS)
        apart = {name: self._differences((name, lay), (name, professional), scaled=False) for name in FIGURES}
        rows = []
        for candidate in self.scored.order:
            columns = {register: starts[register] + candidate for register in REGISTERS}
            if not all(self.scored.columns.present[column] for column in columns.values()):
                continue
            figures_by_name = {f"{name}_difference": apart[name][candidate] for name in FIGURES}
            row: Row = {"candidate": self.scored.names[candidate], "note": notes_of(figures_by_name)}
            for register, column in columns.items():
                row[f"n_{register}"] = int(self.scored.columns.settled[column])
                row[f"n_cases_{register}"] = self._cases("rubric_accuracy", column)
                row |= {f"{name}_{register}": self.figures_by_name[name].figures[column].value for name in FIGURES}
            _put(row, figures_by_name)
            rows.append(row)
        return rows

    def value_rows(self, kind: str) -> list[Row]:
        """`VALUE_COLUMNS` of the slices of one kind: each figure of each candidate, also where it is undefined."""
        columns = self.scored.columns
        rows = []
        for place in self._places(kind):
            for candidate in self.scored.order:
                column = place * self.n_candidates + candidate
                for name in FIGURES:
                    figure = self.figures_by_name[name].figures[column]
                    rows.append(
                        {
                            "kind": kind,
                            "slice": self.scored.slices[place].name,
                            "candidate": self.scored.names[candidate],
                            "measure": name,
                            "value": figure.value,
                            "low": figure.low,
                            "high": figure.high,
                            "effective": figure.effective,
                            "n": columns.behind(name, column),
                            "n_cases": self._cases(name, column),
                            "k": self.scored.k,
                            "note": columns.remark(name, column) if columns.present[column] else Reason.NO_RESPONSES(),
                        }
                    )
        return rows

    def _places(self, kind: str) -> list[int]:
        """The places of the slices of a kind in the order of their names; difficulties from the easiest on."""
        place_by_value = {
            part.name.removeprefix(f"{kind}:"): place
            for place, part in enumerate(self.scored.slices)
            if part.name.startswith(f"{kind}:")
        }
        values = DIFFICULTIES if kind == "difficulty" else sorted(place_by_value)
        return [place_by_value[value] for value in values if value in place_by_value]

    def difficulty_rows(self) -> list[Row]:
        """`DIFFICULTY_COLUMNS`: each figure on the easiest cases less that on the hardest. They are different cases."""
        places = self._places("difficulty")
        if len(places) < 2:
            return []
        starts = {end: place * self.n_candidates for end, place in (("easiest", places[0]), ("hardest", places[-1]))}
        own = {end: slice(start, start + self.n_candidates) for end, start in starts.items()}
        rows = []
        for candidate in self.scored.order:
            columns = {end: start + candidate for end, start in starts.items()}
            if not any(self.scored.columns.present[column] for column in columns.values()):
                continue
            for name in FIGURES:
                row: Row = {"candidate": self.scored.names[candidate], "measure": name}
                for end, column in columns.items():
                    row[end] = self.scored.slices[column // self.n_candidates].name.removeprefix("difficulty:")
                    row[f"n_{end}"] = self.scored.columns.behind(name, column)
                    row[f"n_cases_{end}"] = self._cases(name, column)
                    row[f"value_{end}"] = self.figures_by_name[name].figures[column].value
                rows.append(row)
        drops = {
            name: self._differences((name, own["easiest"]), (name, own["hardest"]), scaled=False) for name in FIGURES
        }
        place_of = {name: candidate for candidate, name in enumerate(self.scored.names)}
        for row in rows:
            figure = drops[row["measure"]][place_of[row["candidate"]]]
            _put(row, {"drop": figure})
            row["note"] = figure.note
        return rows

    def _cases(self, name: str, column: int) -> int:
        return int(self.figures_by_name[name].n_cases[column])

    def _differences(self, first: tuple[str, slice], second: tuple[str, slice], *, scaled: bool = True) -> list[Figure]:
        """The first less the second, column by column, with intervals."""
        assert self.scored.rule is not None
        parts, values, sizes, reasons = [], [], [], []
        for name, columns in (first, second):
            own = self.figures_by_name[name].figures[columns]
            over_cases = self.figures_by_name[name].over_cases.of_slices(np.arange(self.size)[columns])
            parts.append(over_cases.scaled(SCALES[name]) if scaled else over_cases)
            values.append(parts[-1].whole())
            sizes.append(np.array([figure.n for figure in own], dtype=np.int64))
            reasons.append([figure.reason if isinstance(figure, Undefined) else "" for figure in own])
        apart = figures(values[0] - values[1], sizes[0], reason=lambda i: reasons[0][i] or reasons[1][i])
        return self.scored.rule.differences(parts[0], parts[1]).attach(apart)


def _worst_k(scored: Scored) -> int:
    """The largest k at which every candidate has a case with k scored samples; at least 1."""
    sheet, scores = scored.sheet, scored.grid.has_score[0]
    if not len(sheet.response_ids):
        return 1
    group = sheet.response_candidate * len(sheet.case_ids) + sheet.response_case
    counts = np.bincount(group[scores], minlength=len(sheet.candidate_ids) * len(sheet.case_ids))
    most = counts.reshape(len(sheet.candidate_ids), len(sheet.case_ids)).max(axis=1)
    # A candidate without any score does not prevent the comparison of the others.
    return max(1, int(most[most > 0].min())) if (most > 0).any() else 1


def effective_cases(rows: Iterable[Row]) -> list[float]:
    """The effective cases behind each score of each candidate; none of a report that is older than them."""
    numbers = (row.get(f"{name}_effective") for row in rows for name in FIGURES)
    return [number for number in numbers if number is not None]


def _put(row: Row, figures_by_name: Mapping[str, Figure]) -> None:
    """Value, ends and effective cases of each figure, into the columns of its name."""
    for name, figure in figures_by_name.items():
        row[name], row[f"{name}_low"], row[f"{name}_high"] = figure.value, figure.low, figure.high
        row[f"{name}_effective"] = figure.effective
