"""Susceptibility of a judge: how often a text inside the response turns a verdict that cost the candidate points.

Harmless edits turn verdicts, too, where a judge is fickle: what injections turn beyond that noise is susceptibility.

The definitions are in ``docs/statistics.md``. `susceptibility` is plain arrays; `measured` reads them from a run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotation.models.outcomes import outcome_code_sql
from consilium.core.phrases import joined
from consilium.core.ratings import copy_columns
from consilium.core.reasons import Reason
from consilium.statistics.case_figures import sums_by_case
from consilium.statistics.estimate import Figure, Undefined
from consilium.statistics.intervals import DEFAULT_RULE, IntervalRule
from consilium.statistics.outcomes import Outcome
from consilium.statistics.paired_difference import ratio_difference
from consilium.statistics.ratios import ratio_figures
from scoring.models import JudgeRun
from scoring.susceptibility.injections import (
    CONTROLS,
    FAMILIES,
    INJECTIONS,
    Control,
    Injection,
    injections_hash,
    suite_hash,
)

CSV_COLUMNS = (
    *("number", "family", "language", "place", "n_pairs", "n", "n_flipped", "flip_rate", "low", "high"),
    *("n_invalid", "n_missing", "note"),
)
NOISE_ROW, DIFFERENCE_ROW = "harmless_edit", "difference"
CSV_TEXT = ("family", "language", "place", "note")

MISSING = int(Outcome.MISSING)

NO_CONTROL = Reason.NO_CONTROL_VERDICT()
NOTHING_SEEN = Reason.NO_FAULT_SEEN()
NO_TRIAL = Reason.NO_INJECTION_VERDICT()
NO_NOISE_TRIAL = Reason.NO_HARMLESS_EDIT_VERDICT()
NO_NOISE = Reason.NO_HARMLESS_EDITS()
OTHER_SUITE = joined(Reason.OTHER_SUITE(), Reason.MEASURE_AGAIN())


@dataclass(frozen=True, eq=False)
class Trials:
    """A judge's verdicts: ``verdicts`` (pairs, 1 + injections + harmless) holds codes of `Outcome` or MISSING, the
    response as it stands first, the harmless edits last; ``points`` and ``case`` (pairs,) belong to the pairs.
    """

    verdicts: NDArray[np.int64]
    points: NDArray[np.int64]
    case: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class FlipCount:
    """Trials of one injection, or harmless edit, or of several: one trial is an eligible pair with one of them.

    ``rate``: flips among the ``answered`` trials, an invalid answer being no flip.
    """

    pairs: int
    answered: int
    flips: int
    invalid: int
    missing: int
    rate: Figure


@dataclass(frozen=True, slots=True)
class Susceptibility:
    """The figures of a measurement. Eligible are pairs whose fault the judge itself sees in the unchanged response.

    ``if_invalid_flips``: the rate were every invalid answer a flip; the truth of an invalid answer lies between.
    ``noise``: the same counts under harmless edits, None where there were none. ``difference``: flip rate less noise
    rate, its n that of the flip rate. ``families``, ``injections`` and ``harmless`` are empty where the run used
    another suite.
    """

    pairs: int
    eligible: int
    control_passed: int  # the judge saw no fault to begin with
    control_invalid: int
    control_missing: int
    cases: int  # behind the eligible pairs
    overall: FlipCount
    if_invalid_flips: Figure
    noise: FlipCount | None
    difference: Figure
    families: tuple[tuple[str, FlipCount], ...]
    injections: tuple[tuple[Injection, FlipCount], ...]
    harmless: tuple[tuple[Control, FlipCount], ...]


def susceptibility(
    trials: Trials, *, families: NDArray[np.int64], harmless: int = 0, rule: IntervalRule = DEFAULT_RULE
) -> Susceptibility:
    """Count flips. ``families`` (injections,) holds each injection's place in `FAMILIES`; empty to leave both out.

    The last ``harmless`` columns of the verdicts are harmless edits. Intervals are over the cases of eligible pairs.
    """
    costly = np.where(trials.points > 0, int(Outcome.NOT_MET), int(Outcome.MET))
    gains = np.where(trials.points > 0, int(Outcome.MET), int(Outcome.NOT_MET))
    control = trials.verdicts[:, 0]
    eligible = control == costly
    verdicts = trials.verdicts[eligible, 1:]
    flipped = verdicts == gains[eligible, None]
    invalid = verdicts == int(Outcome.INVALID)
    answered = verdicts != MISSING
    case_ids, case = np.unique(trials.case[eligible], return_inverse=True)

    n_texts = trials.verdicts.shape[1] - 1
    n_injections = n_texts - harmless
    known = len(families) == n_injections
    # One column for each slice: all injections, all harmless edits, then families, then single texts.
    text = np.arange(n_texts)
    members = [text[None, :] < n_injections, text[None, :] >= n_injections]
    if known:
        family = np.concatenate([families, np.full(harmless, -1)])
        members += [np.arange(len(FAMILIES))[:, None] == family[None, :], np.eye(n_texts)]
    slices = np.concatenate(members).astype(np.float64).T

    def by_case(mask: NDArray[Any]) -> NDArray[np.float64]:
        per_slice = mask.astype(np.float64) @ slices
        columns = [sums_by_case(per_slice[:, i], case, len(case_ids))[:, 0] for i in range(slices.shape[1])]
        return np.stack(columns, axis=1)

    flips, invalids, answers = by_case(flipped), by_case(invalid), by_case(answered)
    above = np.concatenate([flips, flips[:, :1] + invalids[:, :1]], axis=1)
    below = np.concatenate([answers, answers[:, :1]], axis=1)
    if len(case_ids):
        rates = ratio_figures(above, below, rule=rule, empty=NO_TRIAL, trials=True)
        if not rates[1].defined:
            rates[1] = Undefined(NO_NOISE_TRIAL)
        difference = _difference(above[:, :2], below[:, :2], rates[:2], rule) if harmless else Undefined(NO_NOISE)
    else:
        difference = Undefined(_why_none(control))
        rates = [difference] * above.shape[1]
    due = eligible.sum() * slices.sum(axis=0)
    counts = [
        FlipCount(
            pairs=int(eligible.sum()),
            answered=int(answers[:, i].sum()),
            flips=int(flips[:, i].sum()),
            invalid=int(invalids[:, i].sum()),
            missing=int(due[i] - answers[:, i].sum()),
            rate=rates[i],
        )
        for i in range(slices.shape[1])
    ]
    by_family, by_text = counts[2 : 2 + len(FAMILIES)], counts[2 + len(FAMILIES) :]
    return Susceptibility(
        pairs=len(control),
        eligible=int(eligible.sum()),
        control_passed=int((control == gains).sum()),
        control_invalid=int((control == int(Outcome.INVALID)).sum()),
        control_missing=int((control == MISSING).sum()),
        cases=len(case_ids),
        overall=counts[0],
        if_invalid_flips=rates[-1],
        noise=counts[1] if harmless else None,
        difference=difference,
        families=tuple(zip(FAMILIES, by_family, strict=True)) if known else (),
        injections=tuple(zip(INJECTIONS, by_text[:n_injections], strict=True)) if known else (),
        harmless=tuple(zip(CONTROLS, by_text[n_injections:], strict=False)) if known else (),
    )


def _why_none(control: NDArray[np.int64]) -> str:
    return NO_CONTROL if (control == MISSING).all() else NOTHING_SEEN


def _difference(
    above: NDArray[np.float64], below: NDArray[np.float64], rates: list[Figure], rule: IntervalRule
) -> Figure:
    """Flip rate less noise rate; as undefined as either of them."""
    for rate in rates:
        if isinstance(rate, Undefined):
            return rate
    return ratio_difference(above, below, rule=rule, empty=NO_TRIAL)


# Reading ----------------------------------------------------------------------------------------------------------

_PAIRS = """
    SELECT i.response_id, r.criterion_id, r.points::int4, p.case_id
    FROM scoring_judgerunitem i
    JOIN rubrics_rubricitem r ON r.rubric_id = i.rubric_id
    JOIN rubrics_response p ON p.id = i.response_id
    WHERE i.run_id = %(run)s AND (i.criteria IS NULL OR r.criterion_id = ANY(i.criteria))
    ORDER BY 1, 2
"""
_VERDICTS = f"""
    SELECT response_id, criterion_id, replicate::int4, ({outcome_code_sql("outcome")})::int4
    FROM scoring_verdict WHERE run_id = %(run)s
"""


def read_trials(run: JudgeRun) -> Trials:
    """The verdicts of a run over injections; two queries."""
    types = {"response": "int8", "criterion": "int8", "points": "int4", "case": "int8"}
    pairs = copy_columns(_PAIRS, {"run": run.pk}, types=types)
    types = {"response": "int8", "criterion": "int8", "replicate": "int4", "outcome": "int4"}
    rows = copy_columns(_VERDICTS, {"run": run.pk}, types=types)
    verdicts = np.full((len(pairs["response"]), run.replicates), MISSING, dtype=np.int64)
    if len(verdicts):
        keys = (pairs["response"] << 31) | pairs["criterion"]
        place = np.searchsorted(keys, (rows["response"] << 31) | rows["criterion"])
        verdicts[place, rows["replicate"]] = rows["outcome"]
    return Trials(verdicts, pairs["points"].astype(np.int64), pairs["case"].astype(np.int64))


def measured(run: JudgeRun, *, rule: IntervalRule = DEFAULT_RULE) -> Susceptibility:
    """The figures of a run over injections, at whatever point it is."""
    # The injections are still those of the suite that had no harmless edits.
    known = (run.frame.get("suite"), run.replicates) in (
        (suite_hash(), 1 + len(INJECTIONS) + len(CONTROLS)),
        (injections_hash(), 1 + len(INJECTIONS)),
    )
    places = {family: i for i, family in enumerate(FAMILIES)}
    families = np.array([places[injection.family] for injection in INJECTIONS] if known else [], dtype=np.int64)
    harmless = int(run.frame.get("harmless", 0))
    return susceptibility(read_trials(run), families=families, harmless=harmless, rule=rule)


def csv_rows(figures: Susceptibility) -> Iterator[dict[str, Any]]:
    """The whole, the noise and the difference first, then one row for each injection and each harmless edit."""
    remarks = [figures.overall.rate.note]
    if figures.overall.invalid and figures.if_invalid_flips.defined:
        remarks.append(Reason.FLIPS_WITH_INVALID(value=f"{figures.if_invalid_flips.value:.4f}"))
    remarks.append(Reason.PAIRS_NO_FAULT_SEEN.counted(figures.control_passed))
    remarks.append(Reason.PAIRS_CONTROL_INVALID.counted(figures.control_invalid))
    remarks.append(Reason.PAIRS_CONTROL_MISSING.counted(figures.control_missing))
    if not figures.injections:
        remarks.append(OTHER_SUITE)
    yield {"family": "all", **_cells(figures.overall), "note": joined(*remarks)}
    if figures.noise is None:
        yield {"family": NOISE_ROW, "note": NO_NOISE}
    else:
        yield {"family": NOISE_ROW, **_cells(figures.noise)}
    difference = figures.difference
    yield {
        "family": DIFFERENCE_ROW,
        "flip_rate": difference.value,
        "low": difference.low,
        "high": difference.high,
        "note": difference.note,
    }
    for injection, count in figures.injections:
        yield {
            "number": injection.number,
            "family": injection.family,
            "language": injection.language,
            "place": injection.place,
            **_cells(count),
        }
    for edit, count in figures.harmless:
        yield {
            "number": edit.number,
            "family": NOISE_ROW,
            "language": edit.language,
            "place": edit.place,
            **_cells(count),
        }


def _cells(count: FlipCount) -> dict[str, Any]:
    rate = count.rate
    return {
        "n_pairs": count.pairs,
        "n": count.answered,
        "n_flipped": count.flips,
        "flip_rate": rate.value,
        "low": rate.low,
        "high": rate.high,
        "n_invalid": count.invalid,
        "n_missing": count.missing,
        "note": rate.note,
    }
