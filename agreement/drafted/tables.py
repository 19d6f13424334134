"""The tables of a report on drafting: acceptance by slice, reasons of rejections, findings, and every suggestion. Pure.

Intervals are over cases, since the suggestions for one case come from the same passages and the same author.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np

from agreement.drafted.inputs import N_GRADES, DecidedSuggestion, DraftedInputs
from agreement.drafted.rubric_tables import CASE_COLUMNS, RUBRIC_COLUMNS, Missed, case_rows, rubric_rows
from agreement.drafted.slices import SuggestionSums, few_cases, kind_of_rows
from consilium.core.out_folder import OutTable
from consilium.core.phrases import joined
from consilium.core.reasons import Reason
from consilium.statistics.estimate import Estimate, Figure, Undefined, each_note_of
from consilium.statistics.graded_auroc import graded_auroc
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.ratios import estimated, ratio_figures
from drafting.models import RejectionReason, Suggestion

Row = dict[str, Any]
State = Suggestion.State
WITH_INTERVAL = ("acceptance", "as_is", "distance_mean", "points_changed", "points_shift", "survival", "auroc")
MAX_SHIFT = 20.0  # from -10 to 10 points


def _with_ends(name: str) -> tuple[str, str, str]:
    return name, f"{name}_low", f"{name}_high"


DRAFTING_COLUMNS = (
    *("slice", "n_cases", "n_decided", "n_accepted", "n_edited", "n_rejected"),
    *_with_ends("acceptance"),
    *_with_ends("as_is"),
    *("distance_median", "distance_q1", "distance_q3"),
    *_with_ends("distance_mean"),
    *_with_ends("points_changed"),
    *_with_ends("points_shift"),
    *("n_once_taken", "n_surviving"),
    *_with_ends("survival"),
    *_with_ends("auroc"),
    *("n_read", "seconds_read_median", "endpoint_kind", "note"),
)
REASON_COLUMNS = ("slice", "reason", "n", "n_rejected", *_with_ends("share"), "endpoint_kind", "note")
FINDING_COLUMNS = (
    "finding",
    "severity",
    "n",
    "n_edited",
    "n_rejected",
    *_with_ends("rejected"),
    "endpoint_kind",
    "note",
)
SUGGESTION_COLUMNS = (
    *("suggestion", "case", "run", "recipe", "number", "axis", "rests_on", "findings", "state", "reason", "author"),
    *("month", "points", "final_points", "distance", "seconds_read", "once_taken", "stands", "endpoint_kind"),
)
TEXT_COLUMNS = (
    *("slice", "suggestion", "case", "run", "recipe", "axis", "rests_on", "findings", "finding", "severity", "state"),
    *("reason", "author", "month", "endpoint_kind", "note"),
)
NO_REASON, NO_FINDING = "none_given", "none"


@dataclass(frozen=True)
class DraftingTables:
    """Makes the tables. ``missed``: what a run of coverage says of published criteria; None where none was named."""

    inputs: DraftedInputs
    rule: IntervalRule
    missed: Missed | None = None
    sums: SuggestionSums = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sums", SuggestionSums(self.inputs))

    def files(self) -> list[OutTable]:
        """The tables as files."""
        rubrics = rubric_rows(self.inputs, rule=self.rule, missed=self.missed)
        return [
            OutTable("drafting", DRAFTING_COLUMNS, self.slices(), TEXT_COLUMNS),
            OutTable("drafting_rubrics", RUBRIC_COLUMNS, rubrics, TEXT_COLUMNS),
            OutTable("drafting_reasons", REASON_COLUMNS, list(self.reasons()), TEXT_COLUMNS),
            OutTable("drafting_findings", FINDING_COLUMNS, list(self.findings()), TEXT_COLUMNS),
            OutTable("drafting_cases", CASE_COLUMNS, list(case_rows(self.inputs, self.missed)), TEXT_COLUMNS),
            OutTable("drafting_suggestions", SUGGESTION_COLUMNS, list(self.suggestions()), TEXT_COLUMNS),
        ]

    def slices(self) -> list[Row]:
        """`DRAFTING_COLUMNS` of each slice."""
        sums = self.sums
        decided, taken = sums.counted(lambda row: True), sums.counted(lambda row: row.is_taken)
        accepted = sums.counted(lambda row: row.state == State.ACCEPTED)
        edited = sums.counted(lambda row: row.state == State.EDITED)
        once, survivors = sums.counted(lambda row: row.once_taken), sums.counted(lambda row: row.stands)
        changed = sums.counted(lambda row: row.is_taken and row.final_points != row.points)
        shift = sums.sums([row.final_points - row.points if row.final_points is not None else 0 for row in sums.rows])
        distance = sums.sums([row.distance or 0.0 if row.state == State.EDITED else 0.0 for row in sums.rows])
        no_taken = Reason.NO_SUGGESTION_TAKEN()
        bounds = (-MAX_SHIFT, MAX_SHIFT)
        columns: dict[str, list[Figure]] = {
            "acceptance": self._ratio(taken, decided, Reason.NO_SUGGESTION_DECIDED()),
            "as_is": self._ratio(accepted, decided, Reason.NO_SUGGESTION_DECIDED()),
            "distance_mean": self._ratio(distance, edited, Reason.NO_SUGGESTION_REWORDED()),
            "points_changed": self._ratio(changed, taken, no_taken),
            "points_shift": ratio_figures(shift, taken, rule=self.rule, bounds=bounds, empty=no_taken),
            "survival": self._ratio(survivors, once, no_taken),
            "auroc": self._auroc(),
        }
        counts = {
            "n_decided": decided,
            "n_accepted": accepted,
            "n_edited": edited,
            "n_rejected": decided - taken,
            "n_once_taken": once,
            "n_surviving": survivors,
        }
        totals = {name: values.sum(axis=0).astype(int).tolist() for name, values in counts.items()}
        n_cases = (decided > 0).sum(axis=0).tolist()
        rows = []
        for place, name in enumerate(sums.names):
            own = sums.within(place)
            figures = {column: columns[column][place] for column in WITH_INTERVAL}
            ordered = _ordered(own)
            rows.append(
                {
                    "slice": name,
                    "n_cases": n_cases[place],
                    **{column: values[place] for column, values in totals.items()},
                    **_cells(figures),
                    **{column: figure.value for column, figure in ordered.items()},
                    "n_read": sum(row.seconds_read > 0 for row in own),
                    "endpoint_kind": kind_of_rows(own),
                    "note": joined(each_note_of({**figures, **ordered}), few_cases(n_cases[place])),
                }
            )
        return rows

    def _ratio(self, above: Any, below: Any, empty: str) -> list[Figure]:
        return ratio_figures(above, below, rule=self.rule, empty=empty)

    def _auroc(self) -> list[Figure]:
        """Of the gravest finding, for rejection."""
        rows = self.sums.rows
        at_grade = [[row.grade == grade for row in rows] for grade in range(N_GRADES)]
        is_taken = np.array([row.is_taken for row in rows], dtype=bool)
        rejected = np.stack([self.sums.sums(np.array(own) & ~is_taken) for own in at_grade], axis=2)
        taken = np.stack([self.sums.sums(np.array(own) & is_taken) for own in at_grade], axis=2)
        n = (rejected.sum(axis=(0, 2)) + taken.sum(axis=(0, 2))).astype(int)
        return estimated(graded_auroc(rejected, taken), n=n, rule=self.rule, empty=Reason.ALL_OR_NONE_REJECTED())

    def reasons(self) -> Iterator[Row]:
        """`REASON_COLUMNS`: the reasons of rejections, of all and by recipe."""
        sums = SuggestionSums(self.inputs, ("recipe",))
        rejected = sums.counted(lambda row: not row.is_taken)
        names: list[tuple[int | None, str]] = [(int(reason), reason.name.lower()) for reason in RejectionReason]
        for reason, name in [*names, (None, NO_REASON)]:
            own = sums.sums([not row.is_taken and row.reason == reason for row in sums.rows])
            figures = self._ratio(own, rejected, Reason.NO_SUGGESTION_REJECTED())
            for place, slice_name in enumerate(sums.names):
                yield {
                    "slice": slice_name,
                    "reason": name,
                    "n": int(own[:, place].sum()),
                    "n_rejected": int(rejected[:, place].sum()),
                    **_cells({"share": figures[place]}),
                    "endpoint_kind": kind_of_rows(sums.within(place)),
                    "note": each_note_of({"share": figures[place]}),
                }

    def findings(self) -> Iterator[Row]:
        """`FINDING_COLUMNS`: how many suggestions with each finding were rejected, the gravest findings first."""
        sums = SuggestionSums(self.inputs, ())
        known = {pair for row in sums.rows for pair in row.findings}
        order = {"problem": 0, "caution": 1, "note": 2, "": 3}
        pairs = sorted(known, key=lambda pair: (order[pair[1]], pair[0]))
        for code, severity in [*pairs, (NO_FINDING, "")]:
            has = [(code, severity) in row.findings if severity else not row.findings for row in sums.rows]
            own = [row for row, inside in zip(sums.rows, has, strict=True) if inside]
            rejected = [inside and not row.is_taken for row, inside in zip(sums.rows, has, strict=True)]
            (figure,) = self._ratio(sums.sums(rejected), sums.sums(has), Reason.NO_SUGGESTION_DECIDED())
            yield {
                "finding": code,
                "severity": severity,
                "n": len(own),
                "n_edited": sum(row.state == State.EDITED for row in own),
                "n_rejected": sum(not row.is_taken for row in own),
                **_cells({"rejected": figure}),
                "endpoint_kind": kind_of_rows(own),
                "note": each_note_of({"rejected": figure}),
            }

    def suggestions(self) -> Iterator[Row]:
        """`SUGGESTION_COLUMNS`: every suggestion that counts, without its texts."""
        for row in self.inputs.suggestions:
            yield {
                **{name: getattr(row, name) for name in SUGGESTION_COLUMNS if hasattr(row, name)},
                "rests_on": "; ".join(row.kinds),
                "findings": "; ".join(dict.fromkeys(code for code, _severity in row.findings)),
                "reason": "" if row.reason is None else RejectionReason(row.reason).name.lower(),
            }


def _cells(figures: dict[str, Figure]) -> Row:
    return {
        f"{name}{end}": value
        for name, figure in figures.items()
        for end, value in (("", figure.value), ("_low", figure.low), ("_high", figure.high))
    }


def _ordered(rows: list[DecidedSuggestion]) -> dict[str, Figure]:
    """Median and quartiles over suggestions: linear between order statistics (Hyndman and Fan 1996, type 7)."""
    distances = [row.distance for row in rows if row.state == State.EDITED and row.distance is not None]
    seconds = [row.seconds_read for row in rows if row.seconds_read]
    note = Reason.INTERVAL_OF_ORDER()
    figures: dict[str, Figure] = {}
    names = ("distance_q1", "distance_median", "distance_q3")
    for name, share in zip(names, (0.25, 0.5, 0.75), strict=True):
        figures[name] = (
            Estimate(float(np.quantile(distances, share)), len(distances), note=note)
            if distances
            else Undefined(Reason.NO_SUGGESTION_REWORDED())
        )
    figures["seconds_read_median"] = (
        Estimate(float(median(seconds)), len(seconds), note=note) if seconds else Undefined(Reason.NO_TIME_RECORDED())
    )
    return figures
