"""Fidelity of a judge: its MF1 against each of two groups, beside the groups' MF1 with each other.

All three comparisons rest on the same pairs: those that both groups answered and that the judge was to decide. So the
human ceiling is that of the very items on which the judge is measured. An invalid or missing verdict counts as the
opposite of each group (`agreement.counting.pairs`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from agreement.counting.frame import Frame, read_frame
from agreement.counting.inputs import digest_of
from agreement.counting.pairs import (
    LAST_COUNTED,
    N_PAIR_STATUSES,
    Pairs,
    PairStatus,
    conservative_counts,
    n_counted,
    n_missing,
    pair,
    positions,
)
from agreement.counting.slicing import Sliced, sliced
from annotation.selectors.ratings import faulty_pairs
from consilium.core.errors import DomainError
from consilium.core.phrases import joined, labelled
from consilium.core.reasons import Reason
from consilium.statistics.case_figures import CaseFigures, case_mean
from consilium.statistics.estimate import Figure, Undefined, notes_of
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.macro_f1 import MACRO_F1, NO_PAIRS, macro_f1_figures
from consilium.statistics.noninferiority import DEFAULT_MARGIN, non_inferiority
from consilium.statistics.paired_difference import differences
from consilium.statistics.rank_agreement import rank_agreement
from consilium.statistics.ratios import estimated
from rubrics.models import Benchmark
from scoring.scores.sheet import due_pairs
from scoring.selectors.raters import Rater, resolve_rater

_MF1 = ("judge_a", "judge_b", "mean", "ceiling", "gap")
COLUMNS = (
    *("slice", "n_pairs", "n_cases"),
    *(f"mf1_{name}{end}" for name in _MF1 for end in ("", "_low", "_high")),
    *("met_judge", "met_a", "met_b", "n_invalid", "note"),
    # Pairs of both groups on which a jury, or a judge with itself, disagreed; and the missing verdicts among n_invalid.
    *("n_undecided", "n_missing"),
    *(f"mf1_{name}_effective" for name in _MF1),
)
ROBUSTNESS_COLUMNS = (
    "raters",
    "n_candidates",
    "spearman",
    "kendall",
    "mean_absolute_difference",
    "top3",
    "top5",
    "note",
)
# The one-sided 97.5% lower bound of judge less ceiling, and the conclusion at the margin.
MARGIN_COLUMNS = ("slice", "n_pairs", "margin", "difference", "bound", "finding", "note")
TEXT_COLUMNS = ("slice", "raters", "finding", "note")

Row = dict[str, Any]


class NothingInCommon(DomainError):
    """The three raters share no pair."""


@dataclass(frozen=True)
class Fidelity:
    """Rows for all and for each candidate (`COLUMNS`), and for all other slices; how similarly the raters rank the
    candidates by share met; and for every slice whether the judge is inferior to the ceiling (`MARGIN_COLUMNS`).
    """

    rows: list[Row]
    slices: list[Row]
    robustness: list[Row]
    non_inferiority: list[Row]


@dataclass(frozen=True, eq=False)
class Sides:
    """Three comparisons on the same pairs, in the same order; separately, the pairs that both groups answered and the
    judge or jury left undecided, and the number of pairs of all three whose criterion was ruled faulty.
    """

    judge_a: Pairs
    judge_b: Pairs
    ceiling: Pairs
    undecided: Pairs
    n_faulty: int


@dataclass(frozen=True, eq=False)
class Triad:
    """A judge and two groups of a benchmark, joined: the three, their labels, the runs of the judge, and the pairs."""

    labels: dict[str, str]  # judge, a, b
    runs: list[str]
    sides: Sides
    frame: Frame
    digest: str
    raters: tuple[Rater, ...]  # judge, a, b


def read_triad(benchmark: Benchmark, *, judge: str, group_a: str, group_b: str) -> Triad:
    """Read and join the three; `NothingInCommon` where no pair has all of them."""
    raters = {
        "judge": resolve_rater(benchmark, judge),
        "a": resolve_rater(benchmark, group_a),
        "b": resolve_rater(benchmark, group_b),
    }
    j, a, b = (raters[name].ratings() for name in ("judge", "a", "b"))
    due, faulty = due_pairs(raters["judge"]), faulty_pairs(benchmark)
    is_judge = {name: rater.undecided_by != "group" for name, rater in raters.items()}
    sides = _common(
        judge_a=pair(a, j, due_of_b=due, faulty=faulty, judges=(is_judge["a"], is_judge["judge"])),
        judge_b=pair(b, j, due_of_b=due, faulty=faulty, judges=(is_judge["b"], is_judge["judge"])),
        ceiling=pair(a, b, faulty=faulty),
    )
    labels = {name: rater.label for name, rater in raters.items()}
    if not len(sides.ceiling):
        if len(sides.undecided):
            raise NothingInCommon(
                _("%(judge)s is undecided on all %(n)s pairs for which both %(a)s and %(b)s gave an answer.")
                % {**labels, "n": len(sides.undecided)}
            )
        raise NothingInCommon(
            _("There is no pair that %(a)s and %(b)s both answered and %(judge)s was to decide.") % labels
        )
    frame = read_frame(benchmark)
    described = frame.described(
        frame.response_places(sides.ceiling.response), frame.criterion_places(sides.ceiling.criterion)
    )
    return Triad(
        labels=labels,
        runs=[run.public_id for run in raters["judge"].runs],
        sides=sides,
        frame=frame,
        digest=digest_of(j, a, b, due, faulty, names=(*labels.values(), described)),
        raters=tuple(raters.values()),
    )


def fidelity(triad: Triad, *, margin: float = DEFAULT_MARGIN, rule: IntervalRule) -> Fidelity:
    """All figures of the three comparisons: over all pairs, for each candidate, difficulty, register and tag."""
    rows, margins = _rows(triad.frame, triad.sides, margin=margin, rule=rule)
    whole = [row for row in rows if row["slice"] == "all" or row["slice"].startswith("candidate:")]
    return Fidelity(
        rows=whole,
        slices=rows[len(whole) :],
        robustness=_robustness(whole[1:], triad.labels),
        non_inferiority=margins,
    )


def _common(*, judge_a: Pairs, judge_b: Pairs, ceiling: Pairs) -> Sides:
    """The pairs that count in all three comparisons, and the pairs of the ceiling that the judge left undecided."""

    def keys(pairs: Pairs) -> NDArray[np.int64]:
        return (pairs.response << 31) | pairs.criterion

    def counted(pairs: Pairs) -> Pairs:
        return pairs.chosen(pairs.status <= LAST_COUNTED)

    shared = np.intersect1d(
        np.intersect1d(keys(counted(judge_a)), keys(counted(judge_b)), assume_unique=True),
        keys(counted(ceiling)),
        assume_unique=True,
    )

    def kept(pairs: Pairs) -> Pairs:
        return pairs.chosen(positions(shared, keys(pairs))[1])

    open_ = judge_a.chosen(judge_a.status == PairStatus.UNDECIDED_BY_JUDGE)
    undecided = open_.chosen(positions(keys(counted(ceiling)), keys(open_))[1])
    at_fault = keys(ceiling.chosen(ceiling.status == PairStatus.FAULTY))
    n_faulty = len(np.intersect1d(at_fault, keys(judge_a), assume_unique=True))
    return Sides(kept(judge_a), kept(judge_b), kept(ceiling), undecided, n_faulty)


def _tallied(frame: Frame, pairs: Pairs) -> Sliced:
    return sliced(frame, pairs.response, pairs.criterion, pairs.status, N_PAIR_STATUSES)


def _rows(frame: Frame, sides: Sides, *, margin: float, rule: IntervalRule) -> tuple[list[Row], list[Row]]:
    """Rows of every slice (`COLUMNS`), and the conclusion of each on non-inferiority (`MARGIN_COLUMNS`)."""
    judged = _tallied(frame, sides.judge_a)
    names, tallied_a = judged.names, judged.counts
    tallied_b, tallied_c = _tallied(frame, sides.judge_b).counts, _tallied(frame, sides.ceiling).counts
    a, b, ceiling = (conservative_counts(tallied) for tallied in (tallied_a, tallied_b, tallied_c))
    parts = [MACRO_F1.of_cases(counts) for counts in (a, b, ceiling)]
    columns = {
        name: rule.intervals(part).attach(macro_f1_figures(counts.pooled(axis=0)))
        for name, part, counts in zip(("judge_a", "judge_b", "ceiling"), parts, (a, b, ceiling), strict=True)
    }
    columns["mean"], columns["gap"] = _joint(*parts, n=ceiling.pooled(axis=0).n, rule=rule)
    pairs_behind, invalid = n_counted(tallied_a).sum(axis=0), _invalid(tallied_a)
    cases = (n_counted(tallied_a) > 0).sum(axis=0)
    verdicts, undecided = _met(tallied_a, PairStatus.FP), _undecided(frame, sides.undecided)
    met_a, met_b = (_met(tallied, PairStatus.FN) for tallied in (tallied_a, tallied_b))
    missing = n_missing(tallied_a).sum(axis=0)
    pooled = ceiling.pooled(axis=0)
    rows, margins = [], []
    for i, name in enumerate(names):
        row: Row = {"slice": name, "n_pairs": int(pairs_behind[i]), "n_cases": int(cases[i])}
        for figure, column in columns.items():
            row[f"mf1_{figure}"] = column[i].value
            row[f"mf1_{figure}_low"], row[f"mf1_{figure}_high"] = column[i].low, column[i].high
            row[f"mf1_{figure}_effective"] = column[i].effective
        n = int(pairs_behind[i])
        row["met_judge"] = verdicts[i]
        row["met_a"] = int(pooled.tp[i] + pooled.fn[i]) / n
        row["met_b"] = int(pooled.tp[i] + pooled.fp[i]) / n
        # Not columns of the table: the groups' outcomes on the judge's pairs, to compare with its verdicts.
        row["met_a_judged"], row["met_b_judged"] = met_a[i], met_b[i]
        row["n_invalid"] = int(invalid[i])
        notes = notes_of({f"mf1_{figure}": column[i] for figure, column in columns.items()})
        row["note"] = joined(notes, labelled("met_judge", Reason.NO_VALID_VERDICT()) if verdicts[i] is None else "")
        row["n_undecided"], row["n_missing"] = undecided.get(name, 0), int(missing[i])
        rows.append(row)
        margins.append(_margin(name, columns["gap"][i], margin))
    return rows, margins


def _margin(name: str, gap: Figure, margin: float) -> Row:
    conclusion = non_inferiority(gap, margin)
    row: Row = {"slice": name, "n_pairs": gap.n, "margin": margin, "difference": gap.value}
    if isinstance(conclusion, Undefined):
        return {**row, "bound": None, "finding": "", "note": conclusion.reason}
    return {**row, "bound": conclusion.bound, "finding": conclusion.finding.value, "note": ""}


def _undecided(frame: Frame, pairs: Pairs) -> dict[str, int]:
    """How many pairs the judge left undecided, by slice; slices without any are left out."""
    return _tallied(frame, pairs).totals() if len(pairs) else {}


def _joint(
    a: CaseFigures, b: CaseFigures, ceiling: CaseFigures, *, n: NDArray[np.int64], rule: IntervalRule
) -> tuple[list[Figure], list[Figure]]:
    """The mean of the judge's two MF1, and its distance from the ceiling."""
    mean = case_mean(a, b)
    return (
        estimated(mean, n=n, rule=rule, empty=NO_PAIRS),
        differences(mean, ceiling, n=n, rule=rule, empty=NO_PAIRS),
    )


def _invalid(tallied: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.asarray(tallied[..., PairStatus.INVALID_ON_MET : LAST_COUNTED + 1].sum(axis=(0, -1)))


def _met(tallied: NDArray[np.int64], alone: PairStatus) -> list[float | None]:
    """The positive rate over the pairs with a valid verdict, for each slice. ``alone`` is the status in which only one
    side said met: `PairStatus.FP` gives the judge's rate, `PairStatus.FN` the group's.
    """
    total = tallied.sum(axis=0)
    met, valid = total[:, PairStatus.TP] + total[:, alone], total[:, : PairStatus.TN + 1].sum(axis=1)
    return [int(m) / int(n) if n else None for m, n in zip(met, valid, strict=True)]


def _robustness(candidates: list[Row], labels: dict[str, str]) -> list[Row]:
    """Whether two graders rank the candidates alike, by the share of criteria met, in points of 100, over the same
    pairs; with the judge, only pairs with a valid verdict.
    """
    rows = []
    for first, second in (("judge", "a"), ("judge", "b"), ("a", "b")):
        second_column = f"{second}_judged" if first == "judge" else second
        rated = [
            (100 * row[f"met_{first}"], 100 * row[f"met_{second_column}"])
            for row in candidates
            if row[f"met_{first}"] is not None
        ]
        x, y = np.array(rated, dtype=np.float64).reshape(-1, 2).T
        agreement = rank_agreement(x, y)
        shown: dict[str, Figure] = {
            name: getattr(agreement, name)
            for name in ("spearman", "kendall", "mean_absolute_difference", "top3", "top5")
        }
        rows.append(
            {
                "raters": f"{labels[first]}, {labels[second]}",
                "n_candidates": len(rated),
                **{name: figure.value for name, figure in shown.items()},
                "note": joined(*(labelled(name, figure.note) for name, figure in shown.items() if figure.note)),
            }
        )
    return rows
