"""The tables of a report on failures; figures by `consilium.statistics`, over cases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agreement.failures.inputs import PRESENT, UNKNOWN, FailureInputs, Marks, members_of
from agreement.reports.tables import Row, Table
from consilium.core.phrases import once
from consilium.core.reasons import Reason
from consilium.statistics.confusion import ConfusionCounts
from consilium.statistics.estimate import Estimate, Figure, Undefined
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.krippendorff_alpha import krippendorff_alpha
from consilium.statistics.ratios import ratio_figures
from consilium.statistics.risk_ratio import ratio_figures_of_groups
from consilium.statistics.two_raters import two_rater_agreement

ANY = "any"  # at least one code; no key of a code may be a word of pages, and files need one
RATE = ("n_responses", "n_marked", "rate", "rate_low", "rate_high", "n_cases", "note")
RATES_COLUMNS = ("rater", "code", "title", *RATE)
CANDIDATE_COLUMNS = ("candidate", "code", "title", *RATE)
SLICE_COLUMNS = ("slice", "code", "title", *RATE)
AGREEMENT_FIGURES = ("raw", "kappa", "ac1", "f1_present")
AGREEMENT_COLUMNS = (
    *("code", "title", "n_pairs", "n_cases"),
    *(f"{name}{end}" for name in AGREEMENT_FIGURES for end in ("", "_low", "_high")),
    *("rate_a", "rate_b", "n_alpha", "alpha_all", "alpha_all_low", "alpha_all_high", "note"),
)
TOGETHER_COLUMNS = (
    *("code_a", "code_b", "n_responses", "n_a", "n_b", "n_both"),
    *("jaccard", "jaccard_low", "jaccard_high", "phi", "n_cases", "note"),
)
COVERAGE_COLUMNS = (
    *("code", "title", "n_covered_little", "n_others", "marked_covered_little", "marked_others"),
    *("rate_covered_little", "rate_others"),
    *("risk_ratio", "risk_ratio_low", "risk_ratio_high", "odds_ratio", "odds_ratio_low", "odds_ratio_high"),
    *("n_cases", "below", "graded_by", "note"),
)
JUDGE_COLUMNS = (
    *("rater", "model", "language", "prompt_hash", "run", "finished_at", "n_responses", "n_invalid", "n_failed"),
    "endpoint_kind",
)
TEXT = (
    *("rater", "candidate", "slice", "code", "title", "code_a", "code_b", "note", "model", "language", "prompt_hash"),
    *("run", "finished_at", "endpoint_kind", "graded_by"),
)


def failure_tables(
    inputs: FailureInputs, *, rater_a: str, rater_b: str, counted: str, below: float, graded_by: str, rule: IntervalRule
) -> dict[str, Table]:
    """All tables; ``counted`` is the rater whose codes the rates by candidate and slice, and the pairs, are of."""
    marks = inputs.marks[counted]
    names = members_of(inputs.candidate)
    of_slice: dict[str, list[int]] = {}
    for at, own_slices in enumerate(inputs.slices):
        for name in own_slices:
            of_slice.setdefault(name, []).append(at)
    raters = [
        {"rater": name, **row}
        for name, own in inputs.marks.items()
        for row in _rates(inputs, own, np.arange(len(inputs.response)), rule)
    ]
    candidates = [
        {"candidate": name, **row}
        for name, places in names.items()
        for row in _rates(inputs, marks, np.array(places), rule)
    ]
    slices = [
        {"slice": name, **row}
        for name, places in sorted(of_slice.items())
        for row in _rates(inputs, marks, np.array(places), rule)
    ]
    tables: dict[str, tuple[tuple[str, ...], Iterable[Row]]] = {
        "failures": (RATES_COLUMNS, raters),
        "failures_agreement": (AGREEMENT_COLUMNS, _agreement(inputs, rater_a, rater_b, rule)),
        "failures_candidates": (CANDIDATE_COLUMNS, candidates),
        "failures_slices": (SLICE_COLUMNS, slices),
        "failures_together": (TOGETHER_COLUMNS, _together(inputs, marks, rule)),
        "failures_coverage": (COVERAGE_COLUMNS, _coverage(inputs, marks, below, graded_by, rule)),
        "failures_judges": (JUDGE_COLUMNS, _judges(inputs)),
    }
    return {name: Table.of(columns, list(rows), TEXT) for name, (columns, rows) in tables.items()}


def _judges(inputs: FailureInputs) -> Iterator[Row]:
    """The run of each judge; answers that stayed faulty are counted, and coded nothing."""
    for name, judge in inputs.judges.items():
        run = judge.run
        yield {
            "rater": name,
            "model": run.model_name,
            "language": run.terms.get("language", ""),
            "prompt_hash": run.terms.get("prompt_hash", ""),
            "run": run.public_id,
            "finished_at": run.finished_at.isoformat(timespec="seconds") if run.finished_at else "",
            "n_responses": len(judge.codes),
            "n_invalid": judge.n_invalid,
            "n_failed": judge.n_failed,
            "endpoint_kind": run.endpoint_kind,
        }


def _named(inputs: FailureInputs, with_any: bool = True) -> list[tuple[str, str]]:
    own = [(code.key, code.title_en) for code in inputs.codes]
    return [*own, (ANY, "Any failure")] if with_any else own


def with_any(marks: Marks) -> Marks:
    """The marks with one more column, for at least one code: unknown where no code is marked and one is unknown."""
    present, unknown = (marks == PRESENT).any(axis=1), (marks == UNKNOWN).any(axis=1)
    last = np.where(present, PRESENT, np.where(unknown, UNKNOWN, 0)).astype(np.int8)
    return np.concatenate([marks, last[:, None]], axis=1)


def by_case(inputs: FailureInputs, values: NDArray[Any]) -> NDArray[np.float64]:
    """Sums of rows of responses over cases: (cases, columns)."""
    sums = np.zeros((inputs.n_cases, values.shape[1]))
    np.add.at(sums, inputs.case, values.astype(np.float64))
    return sums


def _interval(figure: Figure, name: str) -> Row:
    return {name: figure.value, f"{name}_low": figure.low, f"{name}_high": figure.high}


def _rates(inputs: FailureInputs, marks: Marks, places: NDArray[np.int64], rule: IntervalRule) -> Iterator[Row]:
    """The share of responses with each code, over cases."""
    chosen = np.zeros(len(inputs.response), dtype=bool)
    chosen[places] = True
    whole = with_any(marks)
    known = (whole != UNKNOWN) & chosen[:, None]
    present = (whole == PRESENT) & known
    above, below = by_case(inputs, present), by_case(inputs, known)
    figures = ratio_figures(above, below, rule=rule, trials=True)
    for at, (key, title) in enumerate(_named(inputs)):
        yield {
            "code": key,
            "title": title,
            "n_responses": int(known[:, at].sum()),
            "n_marked": int(present[:, at].sum()),
            **_interval(figures[at], "rate"),
            "n_cases": int((below[:, at] > 0).sum()),
            "note": figures[at].note,
        }


def _agreement(inputs: FailureInputs, rater_a: str, rater_b: str, rule: IntervalRule) -> Iterator[Row]:
    """Per code, the agreement of two raters, and the alpha of all physicians."""
    first, second = inputs.marks[rater_a], inputs.marks[rater_b]
    valid = (first != UNKNOWN) & (second != UNKNOWN)
    cells = [
        by_case(inputs, valid & (first == a) & (second == b)).astype(np.int64)
        for a, b in ((1, 1), (0, 1), (1, 0), (0, 0))
    ]
    counts = ConfusionCounts(*cells)
    figures = two_rater_agreement(counts, rule=rule, intervals_for=("raw", "kappa", "ac1", "f1_met"))
    for at, (key, title) in enumerate(_named(inputs, with_any=False)):
        figure = figures[at]
        alpha = krippendorff_alpha(inputs.counts[:, at], case=inputs.case, n_cases=inputs.n_cases, rule=rule)
        named = {"raw": figure.raw, "kappa": figure.kappa, "ac1": figure.ac1, "f1_present": _of_code(figure.f1_met)}
        row: Row = {"code": key, "title": title, "n_pairs": figure.n_pairs, "n_cases": figure.n_cases}
        for name, each in named.items():
            row |= _interval(each, name)
        yield {
            **row,
            "rate_a": figure.prevalence_a.value,
            "rate_b": figure.prevalence_b.value,
            "n_alpha": alpha.n,
            **_interval(alpha, "alpha_all"),
            "note": once((name, each.note) for name, each in {**named, "alpha_all": alpha}.items()),
        }


def _of_code(figure: Figure) -> Figure:
    """The F1 of a code being present, whose reason speaks of codes and not of criteria."""
    is_unmarked = isinstance(figure, Undefined) and figure.reason == Reason.NEITHER_MET()
    return Undefined(Reason.NEITHER_MARKED(), figure.n) if is_unmarked else figure


def _together(inputs: FailureInputs, marks: Marks, rule: IntervalRule) -> Iterator[Row]:
    """Each two codes: on how many responses both are marked, and the share of those with either."""
    pairs = list(combinations(range(len(inputs.codes)), 2))
    if not pairs:
        return
    first, second = (marks[:, [pair[side] for pair in pairs]] for side in (0, 1))
    valid = (first != UNKNOWN) & (second != UNKNOWN)
    a, b = (valid & (side == PRESENT) for side in (first, second))
    either, both = by_case(inputs, a | b), by_case(inputs, a & b)
    jaccards = ratio_figures(both, either, rule=rule, empty=Reason.NOTHING_COUNTED())
    for at, (left, right) in enumerate(pairs):
        n, n_a, n_b, n_both = (int(each[:, at].sum()) for each in (valid, a, b, a & b))
        phi = phi_figure(n, n_a, n_b, n_both)
        yield {
            "code_a": inputs.codes[left].key,
            "code_b": inputs.codes[right].key,
            "n_responses": n,
            "n_a": n_a,
            "n_b": n_b,
            "n_both": n_both,
            **_interval(jaccards[at], "jaccard"),
            "phi": phi.value,
            "n_cases": int((either[:, at] > 0).sum()),
            "note": once((("jaccard", jaccards[at].note), ("phi", phi.note))),
        }


def phi_figure(n: int, n_a: int, n_b: int, n_both: int) -> Figure:
    """Pearson's correlation of two codes over responses, from the fourfold table; without an interval."""
    if not n:
        return Undefined(Reason.NOTHING_COUNTED())
    spread = n_a * (n - n_a) * n_b * (n - n_b)
    if not spread:
        return Undefined(Reason.CONSTANT_CODE(), n)
    return Estimate((n * n_both - n_a * n_b) / float(np.sqrt(float(spread))), n)


def _coverage(inputs: FailureInputs, marks: Marks, below: float, graded_by: str, rule: IntervalRule) -> Iterator[Row]:
    """Each code among responses whose accuracy is below the threshold, and among the others."""
    known = ~np.isnan(inputs.accuracy)
    low = known & (np.nan_to_num(inputs.accuracy) < below)
    whole = with_any(marks)
    rated = whole != UNKNOWN
    groups = [rated & side[:, None] for side in (low, known & ~low)]
    events = [group & (whole == PRESENT) for group in groups]
    sums = [by_case(inputs, each) for each in (events[0], groups[0], events[1], groups[1])]
    ratios = ratio_figures_of_groups(*sums, rule=rule)
    for at, (key, title) in enumerate(_named(inputs)):
        n = [int(group[:, at].sum()) for group in groups]
        marked = [int(event[:, at].sum()) for event in events]
        rates = [marked[side] / n[side] if n[side] else None for side in (0, 1)]
        yield {
            "code": key,
            "title": title,
            **dict(zip(("n_covered_little", "n_others"), n, strict=True)),
            **dict(zip(("marked_covered_little", "marked_others"), marked, strict=True)),
            **dict(zip(("rate_covered_little", "rate_others"), rates, strict=True)),
            **_interval(ratios[at].risk, "risk_ratio"),
            **_interval(ratios[at].odds, "odds_ratio"),
            "n_cases": int(((sums[1][:, at] + sums[3][:, at]) > 0).sum()),
            "below": below,
            "graded_by": graded_by,
            "note": once((("risk_ratio", ratios[at].risk.note), ("odds_ratio", ratios[at].odds.note))),
        }
