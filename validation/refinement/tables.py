"""All tables of a run of refinement: that of `refinement_file`, every case, harms, findings, and the part of length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from consilium.core.out_folder import OutTable
from consilium.core.phrases import joined
from consilium.core.reasons import Reason
from consilium.statistics.estimate import Figure, each_note_of
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.length_control import gain_at_equal_length, length_control
from consilium.statistics.relative_gain import own_gains
from validation.files.refinement_reading import Arm
from validation.files.refinement_tables import REFINEMENT_COLUMNS, arm_rows
from validation.files.refinement_tables import TEXT_COLUMNS as GAIN_TEXT
from validation.files.table_rows import ALL
from validation.refinement.checks import NEW_DRUG, NEW_NUMBER, STRAY
from validation.refinement.inputs import Refined, RefinementInputs

Row = dict[str, Any]
CASE_COLUMNS = (
    *("arm", "case", "base", "refined", "gain", "length_base", "length_refined", "length_ratio", "changed_words"),
    *("n_edits", "n_refused", "new_numbers", "new_drugs", "strays", "base_response", "refined_response"),
    "endpoint_kind",
)
HARM_COLUMNS = ("arm", "case", "criterion", "points", "axis", "text", "before", "after", "endpoint_kind")
FINDING_COLUMNS = ("arm", "case", "kind", "action", "text", "endpoint_kind")
REFUSED_COLUMNS = ("arm", "case", "edit", "instruction", "why", "endpoint_kind")
LENGTH_COLUMNS = (
    *("arm", "n", "gain", "length_ratio", "gain_at_equal_length", "pearson", "spearman", "spearman_low"),
    *("spearman_high", "residual_pearson", "endpoint_kind", "note"),
)
TEXT_COLUMNS = (
    *GAIN_TEXT,
    *("case", "axis", "text", "before", "after", "kind", "action", "instruction", "why"),
    *("base_response", "refined_response"),
)


def refinement_files(inputs: RefinementInputs, *, rule: IntervalRule, seed: int) -> list[OutTable]:
    """The tables as files."""
    kind = inputs.endpoint_kind
    gains = gain_rows(inputs, rule=rule, seed=seed)
    return [
        OutTable("refinement", REFINEMENT_COLUMNS, gains, TEXT_COLUMNS),
        OutTable("refinement_cases", CASE_COLUMNS, list(case_rows(inputs)), TEXT_COLUMNS),
        OutTable("refinement_harms", HARM_COLUMNS, list(harm_rows(inputs)), TEXT_COLUMNS),
        OutTable("refinement_findings", FINDING_COLUMNS, list(finding_rows(inputs)), TEXT_COLUMNS),
        OutTable("refinement_refused", REFUSED_COLUMNS, list(refused_rows(inputs)), TEXT_COLUMNS),
        OutTable("refinement_length", LENGTH_COLUMNS, list(length_rows(inputs, gains, rule, kind)), TEXT_COLUMNS),
    ]


def gain_rows(inputs: RefinementInputs, *, rule: IntervalRule, seed: int) -> list[Row]:
    """`REFINEMENT_COLUMNS` of each arm in each slice. An axis is held against the same axis of the upper bound."""
    options: dict[str, Any] = {
        "rule": rule,
        "seed": seed,
        "upper_bound": inputs.upper_bound,
        "endpoint_kind": inputs.endpoint_kind,
    }
    by_slice = [arm_rows(inputs.arms(axis), **options) for axis in (None, *inputs.axes)]
    return [row for name in inputs.names for rows in by_slice for row in rows if row["arm"] == name]


def case_rows(inputs: RefinementInputs) -> Iterator[Row]:
    """Every case of every arm, with its scores, as a file that `refinement_file` reads."""
    for place, arm in enumerate(inputs.arms()):
        for number, text in enumerate(inputs.own(place)):
            base, refined = _number(arm.base[number]), _number(arm.refined[number])
            yield {
                "arm": arm.name,
                "case": text.case,
                "base": base,
                "refined": refined,
                "gain": None if base is None or refined is None else float(own_gains([base], [refined])[0]),
                "length_base": len(text.base),
                "length_refined": None if text.text is None else len(text.text),
                "length_ratio": text.size.get("length_ratio"),
                "changed_words": text.size.get("changed_words"),
                "n_edits": None if text.plan is None else len(text.plan["edits"]),
                "n_refused": None if text.edit is None else len(text.edit["edits_refused"]),
                "new_numbers": text.count(NEW_NUMBER),
                "new_drugs": text.count(NEW_DRUG),
                "strays": text.count(STRAY),
                "base_response": text.base_id,
                "refined_response": text.response,
                "endpoint_kind": inputs.endpoint_kind,
            }


def _number(value: Any) -> float | None:
    return None if np.isnan(value) else float(value)


def harm_rows(inputs: RefinementInputs) -> Iterator[Row]:
    """Criteria that a refined text does worse by than its base."""
    for harm in inputs.harms():
        before, after = ("met", "not_met") if harm.criterion.points > 0 else ("not_met", "met")
        yield {
            **_place(inputs, harm.refined),
            "criterion": harm.criterion.position,
            "points": harm.criterion.points,
            "axis": harm.criterion.axis,
            "text": harm.criterion.text,
            "before": before,
            "after": after,
        }


def finding_rows(inputs: RefinementInputs) -> Iterator[Row]:
    """What code finds in the refined texts."""
    for text, finding in inputs.findings():
        action = finding.get("action", "added")
        yield {**_place(inputs, text), "kind": finding["kind"], "action": action, "text": finding["text"]}


def refused_rows(inputs: RefinementInputs) -> Iterator[Row]:
    """Edits that the editor refused, and why."""
    for text in inputs.texts:
        if text.plan is None or text.edit is None:
            continue
        instructions = {edit["number"]: edit["instruction"] for edit in text.plan["edits"]}
        for refused in text.edit["edits_refused"]:
            yield {
                **_place(inputs, text),
                "edit": refused["number"],
                "instruction": instructions[refused["number"]],
                "why": refused["why"],
            }


def _place(inputs: RefinementInputs, text: Refined) -> Row:
    return {"arm": inputs.names[text.arm], "case": text.case, "endpoint_kind": inputs.endpoint_kind}


def length_rows(inputs: RefinementInputs, gains: list[Row], rule: IntervalRule, kind: str) -> Iterator[Row]:
    """The gain of each arm beside its length ratio, and what is left of it once length is taken out.

    The correlations are of length and score over base and refined responses; the residual one takes the case, and
    before or after, out of both.
    """
    whole = {row["arm"]: row for row in gains if row["slice"] == ALL}
    for arm in inputs.arms():
        before, after, length_before, length_after = _both(arm)
        n = len(before)
        left = gain_at_equal_length(after - before, length_after - length_before)
        control = length_control(
            np.concatenate([length_before, length_after]),
            np.concatenate([before, after]),
            np.repeat(["before", "after"], n),
            np.tile(np.arange(n), 2),
            with_interval=rule.key == "jackknife",
        )
        figures: dict[str, Figure] = {
            "gain_at_equal_length": left,
            "pearson": control.pearson,
            "spearman": control.spearman,
            "residual_pearson": control.residual_pearson,
        }
        own = whole[arm.name]
        yield {
            "arm": arm.name,
            "n": n,
            "gain": own["gain"],
            "length_ratio": own["length_ratio"],
            **{name: figure.value for name, figure in figures.items()},
            "spearman_low": control.spearman.low,
            "spearman_high": control.spearman.high,
            "endpoint_kind": kind,
            "note": joined(each_note_of(figures), Reason.CASES_WITHOUT_SCORES.counted(len(arm.cases) - n)),
        }


def _both(arm: Arm) -> tuple[Any, Any, Any, Any]:
    """Scores and lengths of the cases that have all four."""
    known = arm.has_scores & ~np.isnan(arm.length_base) & ~np.isnan(arm.length_refined)
    return arm.base[known], arm.refined[known], arm.length_base[known], arm.length_refined[known]
