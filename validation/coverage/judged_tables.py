"""What physicians decided beside what the model answered: agreement, and CIA put right by the decisions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilium.core.reasons import Reason
from consilium.statistics.case_figures import case_ratio, sums_by_case_and_slice
from consilium.statistics.estimate import Figure, Undefined, each_note_of
from consilium.statistics.intent_alignment import Extent
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.prediction_powered import CaseSums, case_sums, prediction_powered
from consilium.statistics.ratios import estimated
from validation.coverage.inputs import EXTENT_OF, CoverageInputs
from validation.files.table_rows import stacked

Row = dict[str, Any]
_POWERED = ("cia_judge", "cia_physicians", "cia_powered")
POWERED_COLUMNS = (
    *("set", "slice", "n_points", "n_decided", "n_cases", "n_decided_cases"),
    *(f"{name}{end}" for name in _POWERED for end in ("", "_low", "_high")),
    *("power", "endpoint_kind", "note"),
)
JUDGE_COLUMNS = (
    *("set", "slice", "n_decided", "agreement", "agreement_low", "agreement_high"),
    *("agreement_full", "agreement_full_low", "agreement_full_high", "endpoint_kind", "note"),
)
CONFUSION_COLUMNS = ("set", "judge", "physicians", "n", "weighted", "endpoint_kind")
DECISIONS_COLUMNS = (
    *("set", "n_criteria", "full", "partly", "none", "invalid", "missing"),
    *("needed", "needless", "wrong", "ungradable", "undecided", "endpoint_kind"),
)
TEXT_COLUMNS = ("set", "slice", "judge", "physicians", "endpoint_kind", "note")
WORDS = {**{extent: name for name, extent in EXTENT_OF.items()}, Extent.MISSING: "missing"}


class Decided:
    """The decisions on one measured set: which points have one, which, and the weight of each.

    A stratum is all points with the same extent by the model. A point weighs the inverse of the share of its stratum
    that was decided.
    """

    def __init__(self, inputs: CoverageInputs, place: int) -> None:
        answers = inputs.series_of(place)
        self.extent = np.array([own.extent for own in answers], dtype=np.int64)
        given = [EXTENT_OF[own.decision] if own.decision else Extent.MISSING for own in answers]
        self.decision = np.array(given, dtype=np.int64)
        self.is_decided: NDArray[np.bool_] = self.decision != Extent.MISSING
        self.weight = np.zeros(len(answers))
        self.lacking: list[str] = []  # extents of which no point has a decision
        for extent in Extent:
            own = self.extent == extent
            n, decided = int(own.sum()), int((own & self.is_decided).sum())
            if decided:
                self.weight[own & self.is_decided] = n / decided
            elif n:
                self.lacking.append(WORDS[extent])


def powered_rows(inputs: CoverageInputs, endpoint_kind: str) -> Iterator[Row]:
    """CIA by the model, by physicians, and put right by them, of each set in each slice."""
    file, member = inputs.file, stacked(inputs.slices)
    point, column = np.nonzero(member)
    for place, name in enumerate(inputs.names):
        own = Decided(inputs, place)
        label = np.where(own.is_decided, own.decision == Extent.FULL, np.nan)
        sums: CaseSums = case_sums(
            case=file.case[point],
            n_cases=file.n_cases,
            prediction=(own.extent == Extent.FULL)[point],
            label=label[point],
            weight=np.where(own.is_decided, own.weight, 1.0)[point],
            column=column,
            n_columns=member.shape[1],
        )
        for slice_name, powered in zip(inputs.slices, prediction_powered(sums), strict=True):
            n = powered.n_labelled
            figures: dict[str, Figure] = {
                "cia_judge": powered.judge,
                "cia_physicians": powered.physicians,
                "cia_powered": powered.powered,
            }
            if not n:
                figures |= dict.fromkeys(("cia_physicians", "cia_powered"), Undefined(Reason.NO_DECIDED_POINT()))
            elif own.lacking:  # what the points of a stratum would be found to be, nobody knows
                lacking = Undefined(Reason.EXTENT_WITHOUT_DECISION(extent=own.lacking[0]), n)
                figures |= {"cia_physicians": lacking, "cia_powered": lacking}
            yield {
                "set": name,
                "slice": slice_name,
                "n_points": powered.n_judged,
                "n_decided": n,
                "n_cases": powered.n_cases,
                "n_decided_cases": powered.n_labelled_cases,
                **_cells(figures),
                "power": powered.power,
                "endpoint_kind": endpoint_kind,
            }


def _cells(figures: dict[str, Figure]) -> Row:
    cells: Row = {"note": each_note_of(figures)}
    for name, figure in figures.items():
        cells |= {name: figure.value, f"{name}_low": figure.low, f"{name}_high": figure.high}
    return cells


def judge_rows(inputs: CoverageInputs, rule: IntervalRule, endpoint_kind: str) -> Iterator[Row]:
    """How often the model and physicians agree, as if they had decided on every point: on the extent, and on full."""
    file, member = inputs.file, stacked(inputs.slices)
    for place, name in enumerate(inputs.names):
        own = Decided(inputs, place)
        decided = member & own.is_decided[:, None]
        agrees = {
            "agreement": own.extent == own.decision,
            "agreement_full": (own.extent == Extent.FULL) == (own.decision == Extent.FULL),
        }
        weights = sums_by_case_and_slice(own.weight, file.case, file.n_cases, decided)
        n = decided.sum(axis=0)
        columns: dict[str, list[Figure]] = {}
        for key, values in agrees.items():
            agreed = sums_by_case_and_slice(own.weight * values, file.case, file.n_cases, decided)
            ratio = case_ratio(agreed, weights)
            columns[key] = estimated(ratio, n=n, rule=rule, empty=Reason.NO_DECIDED_POINT())
        for i, slice_name in enumerate(inputs.slices):
            yield {
                "set": name,
                "slice": slice_name,
                "n_decided": int(n[i]),
                **_cells({key: figures[i] for key, figures in columns.items()}),
                "endpoint_kind": endpoint_kind,
            }


def confusion_rows(inputs: CoverageInputs, endpoint_kind: str) -> Iterator[Row]:
    """Extents by the model and by physicians, counted, and weighted to all points."""
    for place, name in enumerate(inputs.names):
        own = Decided(inputs, place)
        for judged in Extent:
            for decided in (Extent.FULL, Extent.PARTIAL, Extent.NONE):
                both = (own.extent == judged) & (own.decision == decided)
                if both.any():
                    yield {
                        "set": name,
                        "judge": WORDS[judged],
                        "physicians": WORDS[decided],
                        "n": int(both.sum()),
                        "weighted": float(own.weight[both].sum()),
                        "endpoint_kind": endpoint_kind,
                    }


def decisions_rows(inputs: CoverageInputs, endpoint_kind: str) -> Iterator[Row]:
    """The criteria of each set by the model's answer, and the unmatched ones by what physicians say of them."""
    for place, name in enumerate(inputs.names):
        own = [each.answer for each in inputs.criteria if each.place == place]
        unmatched = [answer.decision for answer in own if answer.extent != Extent.FULL]
        yield {
            "set": name,
            "n_criteria": len(own),
            **{word: sum(answer.extent == extent for answer in own) for extent, word in WORDS.items()},
            **{word: unmatched.count(word) for word in ("needed", "needless", "wrong", "ungradable")},
            "undecided": unmatched.count(""),
            "endpoint_kind": endpoint_kind,
        }
