"""The table that `refinement_file` writes: what refining gained, arm by arm. Pure: no database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilium.core.phrases import joined, labelled
from consilium.core.reasons import Reason
from consilium.statistics.estimate import Figure, Undefined, each_note_of
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.relative_gain import gain_figures, gain_of_upper_bound, length_ratio, own_gains
from consilium.statistics.sign_flip import sign_flip_p
from validation.files.refinement_reading import Arm, RefinementFile

REFINEMENT_COLUMNS = (
    *("arm", "slice", "n", "base", "refined", "gain", "gain_low", "gain_high", "relative", "headroom"),
    *("relative_of_cases", "n_relative", "of_upper_bound", "improved", "same", "worse", "p_sign_flip"),
    *("length_ratio", "new_numbers", "endpoint_kind", "note"),
)
TEXT_COLUMNS = ("arm", "slice", "endpoint_kind", "note")
UPPER_BOUND = "gold"

Row = dict[str, Any]


def refinement_rows(
    file: RefinementFile, *, rule: IntervalRule, seed: int, upper_bound: str = UPPER_BOUND, endpoint_kind: str = ""
) -> list[Row]:
    """Each arm in each slice; ``upper_bound`` names the arm that the others are held against."""
    return arm_rows(file.arms, rule=rule, seed=seed, upper_bound=upper_bound, endpoint_kind=endpoint_kind)


def arm_rows(
    arms: Sequence[Arm], *, rule: IntervalRule, seed: int, upper_bound: str = UPPER_BOUND, endpoint_kind: str = ""
) -> list[Row]:
    """The same from arrays."""
    upper = next((arm for arm in arms if arm.name == upper_bound), None)
    upper_gains = None if upper is None else _gains_by_case(upper)
    rows: list[Row] = []
    for arm in arms:
        for name, own in arm.slices.items():
            scored = own & arm.has_scores
            bound = (
                Undefined(Reason.NO_UPPER_BOUND(arm=upper_bound))
                if upper_gains is None
                else _of_upper_bound(arm, scored, upper_gains)
            )
            left_out = int((own & ~scored).sum())
            cells = _cells(arm, scored, bound, left_out, rule, seed)
            rows.append({"arm": arm.name, "slice": name, **cells, "endpoint_kind": endpoint_kind})
    return rows


def _gains_by_case(arm: Arm) -> dict[str, float]:
    gains, scored = own_gains(arm.base, arm.refined), arm.has_scores
    return {case: float(gains[place]) for place, case in enumerate(arm.cases) if scored[place]}


def _of_upper_bound(arm: Arm, scored: NDArray[np.bool_], upper_gains: dict[str, float]) -> Figure:
    shared = [place for place in np.flatnonzero(scored).tolist() if arm.cases[place] in upper_gains]
    gains = own_gains(arm.base[shared], arm.refined[shared])
    return gain_of_upper_bound(gains, [upper_gains[arm.cases[place]] for place in shared])


def _cells(arm: Arm, scored: NDArray[np.bool_], bound: Figure, left_out: int, rule: IntervalRule, seed: int) -> Row:
    base, refined = arm.base[scored], arm.refined[scored]
    gain = gain_figures(base, refined, rule=rule)
    lengths = length_ratio(arm.length_base[scored], arm.length_refined[scored])
    figures: dict[str, Figure] = {
        **{name: getattr(gain, name) for name in ("base", "refined", "gain", "relative", "headroom")},
        "relative_of_cases": gain.relative_of_cases,
        "of_upper_bound": bound,
        "p_sign_flip": sign_flip_p(own_gains(base, refined), seed=seed),
        "length_ratio": lengths,
    }
    notes = [each_note_of(figures)]
    if lengths.defined and lengths.n < gain.n:
        notes.append(labelled("length_ratio", Reason.LENGTHS_OF_CASES(cases=lengths.n)))
    if arm.new_numbers is None:
        notes.append(labelled("new_numbers", Reason.NO_TEXTS_IN_FILE()))
    notes.append(Reason.CASES_WITHOUT_SCORES.counted(left_out))
    return {
        **{name: getattr(gain, name) for name in ("n", "n_relative", "improved", "same", "worse")},
        **{name: figure.value for name, figure in figures.items()},
        "gain_low": gain.gain.low,
        "gain_high": gain.gain.high,
        "new_numbers": None if arm.new_numbers is None else int(arm.new_numbers[scored].sum()),
        "note": joined(*notes),
    }
