"""The three tables that `agreement_file` writes, computed from label files alone. Pure: no database."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agreement.label_files.reading import JudgeFile, LabelFile
from consilium.core.phrases import joined, labelled
from consilium.core.reasons import Reason
from consilium.statistics.confusion import ConfusionCounts
from consilium.statistics.estimate import Figure, Undefined
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.krippendorff_alpha import krippendorff_alpha, value_counts
from consilium.statistics.meta_evaluation import MetaEvaluation, judge_pairs, meta_evaluation, other_rater_pairs
from consilium.statistics.prevalence import PREVALENCE_A, PREVALENCE_B
from consilium.statistics.two_raters import COEFFICIENTS

SLICE = ("slice", "n_pairs", "n_responses", "n_cases")
MF1 = ("mf1", "mf1_low", "mf1_high", "f1_met", "f1_not_met")
BY_CLASS = ("precision_met", "recall_met", "precision_not_met", "recall_not_met", "f1_balanced")
PREVALENCE = (PREVALENCE_A.key, PREVALENCE_B.key)
BESIDE = tuple(
    coefficient.key
    for coefficient in COEFFICIENTS
    if coefficient.beside_reports and not coefficient.is_conservative and coefficient.key not in PREVALENCE
)
AGREEMENT_COLUMNS = (*SLICE, *MF1, *BY_CLASS, *BESIDE, *PREVALENCE, "n_invalid", "note")
PHYSICIANS_COLUMNS = ("physician", *SLICE, *MF1, *BY_CLASS, *BESIDE, *PREVALENCE, "note")
CEILING_COLUMNS = (*SLICE, *MF1, *BY_CLASS, *BESIDE, "alpha", *PREVALENCE, "note")
EFFECTIVE = "mf1_effective"  # not in the files, whose columns are a contract
TEXT_COLUMNS = ("judge", "physician", "slice", "note")
ALL = "all"

Row = dict[str, Any]


@dataclass(frozen=True)
class LabelTables:
    """Rows by column name, each with `EFFECTIVE` beside the columns of its table. `agreement` is None when there is no
    judge.
    """

    agreement: list[Row] | None
    physicians: list[Row]
    ceiling: list[Row]


def label_tables(labels: LabelFile, judge: JudgeFile | None, *, rule: IntervalRule) -> LabelTables:
    """Judge against all physicians, each physician against the others, and the physicians' ceiling.

    Slices are all items and each category. An item that the judge left out counts against it in MF1, F1, precision and
    recall (its verdict stands as the opposite of the label) and is left out of the other figures. In all three tables
    rater A is the reference: all physicians, or the other physicians.
    """
    others = other_rater_pairs(labels.item, labels.met)
    return LabelTables(
        agreement=None if judge is None else agreement_rows(labels, judge, rule=rule),
        physicians=_physician_rows(labels, others, rule),
        ceiling=_ceiling_rows(labels, others, rule),
    )


def agreement_rows(labels: LabelFile, judge: JudgeFile, *, rule: IntervalRule) -> list[Row]:
    """A judge against all physicians: the rows of `LabelTables.agreement`."""
    verdict = judge.verdict[labels.item]
    given = verdict >= 0
    counted = judge_pairs(labels.met, np.where(given, verdict == 1, ~labels.met))
    valid = ConfusionCounts.from_cells(counted.cells() * given)
    evaluations = meta_evaluation(
        _by_case_and_slice(labels, valid), counted=_by_case_and_slice(labels, counted), rule=rule
    )
    responses = _responses(labels, counted)
    rows = []
    for name, evaluation, n_responses in zip([ALL, *labels.categories], evaluations, responses, strict=True):
        row = _row(name, evaluation, n_responses)
        row["n_invalid"] = evaluation.agreement.n_invalid
        if evaluation.agreement.n_invalid:
            valid_mf1 = evaluation.agreement.mf1_valid.value
            shown = "undefined" if valid_mf1 is None else f"{valid_mf1:.6f}"
            row["note"] = joined(Reason.MF1_OF_VERDICTS(value=shown), row["note"])
        rows.append(row)
    return rows


def _physician_rows(labels: LabelFile, others: ConfusionCounts, rule: IntervalRule) -> list[Row]:
    rows: list[Row] = []
    order = np.argsort(labels.physician, kind="stable")
    for number, own in enumerate(np.split(order, np.cumsum(np.bincount(labels.physician))[:-1])):
        mine = _selected(labels, own)
        evaluations = meta_evaluation(_by_case_and_slice(mine, others[own]), rule=rule)
        responses = _responses(mine, others[own])
        for name, evaluation, n_responses in zip([ALL, *mine.categories], evaluations, responses, strict=True):
            rows.append({"physician": labels.physicians[number], **_row(name, evaluation, n_responses)})
    return rows


def _ceiling_rows(labels: LabelFile, others: ConfusionCounts, rule: IntervalRule) -> list[Row]:
    evaluations = meta_evaluation(_by_case_and_slice(labels, others), rule=rule)
    by_item = value_counts(labels.item, labels.met, len(labels.keys), 2)
    alphas = [krippendorff_alpha(by_item)]
    alphas += [krippendorff_alpha(by_item[labels.category == place]) for place in range(len(labels.categories))]
    rows = []
    responses = _responses(labels, others)
    for name, evaluation, alpha, n_responses in zip(
        [ALL, *labels.categories], evaluations, alphas, responses, strict=True
    ):
        row = _row(name, evaluation, n_responses)
        row["alpha"] = alpha.value
        if isinstance(alpha, Undefined):
            row["note"] = joined(row["note"], labelled("alpha", alpha.reason))
        rows.append(row)
    return rows


def _selected(labels: LabelFile, own: NDArray[np.int64]) -> LabelFile:
    """The same file with only the labels `own`, and with only their items' cases and categories."""
    items, item = np.unique(labels.item[own], return_inverse=True)
    places, category = np.unique(labels.category[items], return_inverse=True)
    cases, case = np.unique(labels.case[items], return_inverse=True)
    return replace(
        labels,
        item=item,
        physician=labels.physician[own],
        met=labels.met[own],
        keys=[labels.keys[i] for i in items],
        categories=[labels.categories[place] for place in places],
        category=category,
        case=case,
        response=labels.response[items],
        n_cases=len(cases),
    )


def _by_case_and_slice(labels: LabelFile, pairs: ConfusionCounts) -> ConfusionCounts:
    """Counts per label summed to (cases, 1 + categories); slice 0 is all."""
    n_slices = 1 + len(labels.categories)
    case, category = labels.case[labels.item], labels.category[labels.item]
    by_category = pairs.summed_by(case * n_slices + category + 1, labels.n_cases * n_slices)
    cells = by_category.cells().reshape(4, labels.n_cases, n_slices)
    cells[:, :, 0] = cells[:, :, 1:].sum(axis=2)
    return ConfusionCounts.from_cells(cells)


def _responses(labels: LabelFile, pairs: ConfusionCounts) -> list[int]:
    """Number of distinct responses with a pair, in all and in each category."""
    used = labels.item[pairs.n > 0]
    response, category = labels.response[used], labels.category[used]
    couples = np.unique(np.stack([category, response], axis=1), axis=0)
    by_category = np.bincount(couples[:, 0], minlength=len(labels.categories))
    return [int(np.unique(response).size), *by_category.tolist()]


def _row(name: str, evaluation: MetaEvaluation, n_responses: int) -> Row:
    agreement = evaluation.agreement
    shown: dict[str, Figure] = {
        "mf1": agreement.mf1,
        "f1_met": agreement.f1_met,
        "f1_not_met": agreement.f1_not_met,
        "precision_met": evaluation.precision_met,
        "recall_met": evaluation.recall_met,
        "precision_not_met": evaluation.precision_not_met,
        "recall_not_met": evaluation.recall_not_met,
        "f1_balanced": evaluation.f1_balanced,
        **{key: getattr(agreement, key) for key in (*BESIDE, *PREVALENCE)},
    }
    row: Row = {"slice": name, "n_pairs": agreement.n_pairs, "n_responses": n_responses, "n_cases": agreement.n_cases}
    row.update({column: figure.value for column, figure in shown.items()})
    row["mf1_low"], row["mf1_high"] = agreement.mf1.low, agreement.mf1.high
    row[EFFECTIVE] = agreement.mf1.effective
    if not agreement.n_pairs:
        row["note"] = Reason.NO_PAIRS()
    else:
        # Balanced F1 repeats MF1, whose remarks are already in the note.
        row["note"] = joined(
            *(
                labelled(column, figure.note)
                for column, figure in shown.items()
                if figure.note and not (column == "f1_balanced" and figure is agreement.mf1)
            )
        )
    return row
