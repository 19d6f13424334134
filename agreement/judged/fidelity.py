"""Fidelity of judges: the MF1 of each against each of two groups, beside the groups' MF1 with each other.

All comparisons rest on the same pairs: those that both groups answered and that every judge was to decide. So the human
ceiling is that of the very items on which the judges are measured, and judges can be compared with each other. An
invalid or missing verdict counts as the opposite of each group (`agreement.counting.pairs`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from agreement.counting.frame import Frame, read_frame
from agreement.counting.inputs import WINDOW, RatingsDigest, digest_of
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
    valid_counts,
)
from agreement.counting.slicing import Sliced, sliced
from annotation.selectors.ratings import faulty_pairs
from consilium.core.errors import DomainError
from consilium.core.phrases import joined, labelled
from consilium.core.ratings import Ratings, windows
from consilium.core.reasons import Reason
from consilium.statistics.case_figures import CaseFigures, case_mean
from consilium.statistics.estimate import Figure, Undefined, figures, notes_of
from consilium.statistics.holm import holm_of_defined
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.macro_f1 import MACRO_F1, NO_PAIRS, macro_f1_figures
from consilium.statistics.noninferiority import DEFAULT_MARGIN, TEST_LEVEL, non_inferiority, non_inferiority_p
from consilium.statistics.outcomes import Outcome
from consilium.statistics.paired_difference import difference_p, differences
from consilium.statistics.rank_agreement import rank_agreement
from consilium.statistics.ratios import estimated
from consilium.statistics.two_raters import COEFFICIENTS, WITH_INTERVAL, two_rater_agreement
from rubrics.models import Benchmark
from scoring.scores.sheet import due_pairs
from scoring.selectors.raters import Rater, nothing_together, resolve_rater

_MF1 = ("judge_a", "judge_b", "mean", "ceiling", "gap")
_MF1_COLUMNS = tuple(f"mf1_{name}{end}" for name in _MF1 for end in ("", "_low", "_high"))
_EFFECTIVE_COLUMNS = tuple(f"mf1_{name}_effective" for name in _MF1)
COLUMNS = (
    *("slice", "n_pairs", "n_cases"),
    *_MF1_COLUMNS,
    *("met_judge", "met_a", "met_b", "n_invalid", "note"),
    # Pairs of both groups on which a jury, or a judge with itself, disagreed; and the missing verdicts among n_invalid.
    *("n_undecided", "n_missing"),
    *_EFFECTIVE_COLUMNS,
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
# Every judge with every group, and the groups with each other, over all pairs.
GROUPS_COLUMNS = (
    *("rater", "reference", "n_pairs", "n_cases"),
    *(
        f"{coefficient.key}{end}"
        for coefficient in COEFFICIENTS
        for end in (("", "_low", "_high") if coefficient.has_interval else ("",))
    ),
    *("n_valid", "n_invalid", "n_missing", "n_undecided", "note"),
    *(f"{key}_effective" for key in WITH_INTERVAL),
)
# Of several judges: each with both groups and with the ceiling, over all pairs.
JUDGES_COLUMNS = (
    *("judge", "n_pairs", "n_cases", "n_own"),
    *_MF1_COLUMNS,
    *("margin", "bound", "finding", "p", "p_adjusted", "non_inferior", "rank", "rank_low", "rank_high"),
    *("met_judge", "met_a", "met_b", "n_invalid", "n_missing", "n_undecided", "note"),
    *_EFFECTIVE_COLUMNS,
)
PAIRWISE_COLUMNS = (
    *("judge_a", "judge_b", "n_pairs", "n_cases", "difference", "difference_low", "difference_high"),
    *("p", "p_adjusted", "note", "difference_effective"),
)
TEXT_COLUMNS = ("judge", "judge_a", "judge_b", "rater", "reference", "slice", "raters", "finding", "note")
MAX_JUDGES = 12
# The groups of a report, by the letters in the names of its columns.
A, B = "a", "b"
NOT_DUE = -1  # in place of an `Outcome`: the judge was not to decide the pair

Row = dict[str, Any]


class NothingInCommon(DomainError):
    """The raters share no pair."""


@dataclass(frozen=True)
class Fidelity:
    """Figures of one judge or several.

    ``rows`` are for all and for each candidate (`COLUMNS`), ``slices`` for all other slices; ``robustness`` says how
    similarly the raters rank the candidates by share met, and ``non_inferiority`` for every slice whether a judge is
    inferior to the ceiling (`MARGIN_COLUMNS`). The rows of a judge come together, in the order of the judges, and name
    it as ``judge``. ``groups`` have each two raters (`GROUPS_COLUMNS`). ``judges`` (`JUDGES_COLUMNS`) and ``pairwise``
    (`PAIRWISE_COLUMNS`) compare several judges, and are empty for one.
    """

    rows: list[Row]
    slices: list[Row]
    robustness: list[Row]
    non_inferiority: list[Row]
    groups: list[Row]
    judges: list[Row]
    pairwise: list[Row]


@dataclass(frozen=True, eq=False)
class JudgesAndGroups:
    """Judges and two groups of a benchmark, joined.

    ``answered`` are the pairs that both groups answered, A in the place of the reference. For each of them ``outcomes``
    (judges, pairs) has each judge's `Outcome`, MISSING where a verdict was due and never came, and `NOT_DUE` where none
    was; ``shared`` marks the pairs that count for every judge. ``n_faulty`` are pairs of all of them whose criterion
    was ruled faulty.
    """

    judges: tuple[Rater, ...]
    groups: dict[str, Rater]  # by A and B
    answered: Pairs
    outcomes: NDArray[np.int8]
    shared: NDArray[np.bool_]
    frame: Frame
    n_faulty: int
    digest: str

    @property
    def raters(self) -> tuple[Rater, ...]:
        """The judges, then both groups."""
        return (*self.judges, self.groups[A], self.groups[B])

    @property
    def runs(self) -> list[str]:
        """Public ids of the runs of all judges."""
        return list(dict.fromkeys(run.public_id for judge in self.judges for run in judge.runs))

    @cached_property
    def ceiling(self) -> Pairs:
        """The shared pairs: A, and B beside it."""
        return self.answered.chosen(self.shared)

    def judged(self, judge: int, group: str) -> Pairs:
        """The shared pairs: a group, and a judge beside it."""
        return _beside(self.ceiling, group, self.outcomes[judge][self.shared], self.judges[judge])

    def undecided(self, judge: int) -> Pairs:
        """The pairs that both groups answered and that a jury, or a judge with itself, disagreed about."""
        is_open = self.outcomes[judge] == Outcome.UNDECIDED
        return _beside(self.answered.chosen(is_open), A, self.outcomes[judge][is_open], self.judges[judge])

    def n_own(self, judge: int) -> int:
        """How many pairs count for a judge, whatever the other judges were to decide."""
        return int(_counts(self.outcomes[judge]).sum())


def read_judges(
    benchmark: Benchmark, *, judges: Sequence[str], group_a: str, group_b: str, window: int = WINDOW
) -> JudgesAndGroups:
    """Read the groups, then each judge window by window; `NothingInCommon` where no pair has all of them."""
    raters = [resolve_rater(benchmark, judge) for judge in judges]
    groups = {A: resolve_rater(benchmark, group_a), B: resolve_rater(benchmark, group_b)}
    a, b, faulty = groups[A].ratings(), groups[B].ratings(), faulty_pairs(benchmark)
    both = pair(a, b, faulty=faulty)
    both = both.chosen((both.status <= LAST_COUNTED) | (both.status == PairStatus.FAULTY))
    frame = read_frame(benchmark)
    digests: list[tuple[RatingsDigest, RatingsDigest | None]] = []
    outcomes = np.empty((len(raters), len(both)), dtype=np.int8)
    for judge, row in zip(raters, outcomes, strict=True):
        row[:], read, due = _outcomes(judge, both, frame, window)
        digests.append((read, due))
    is_faulty = both.status == PairStatus.FAULTY
    n_faulty = int((is_faulty & (outcomes != NOT_DUE).all(axis=0)).sum())
    answered, outcomes = both.chosen(~is_faulty), outcomes[:, ~is_faulty]
    shared = np.asarray(_counts(outcomes).all(axis=0))
    labels = {"judge": _listed(raters), A: groups[A].label, B: groups[B].label}
    if not shared.any():
        raise NothingInCommon(_why_nothing(outcomes, labels))
    response, criterion = answered.response[shared], answered.criterion[shared]
    described = frame.described(frame.response_places(response), frame.criterion_places(criterion))
    names = (*(judge.label for judge in raters), labels[A], labels[B], described)
    return JudgesAndGroups(
        judges=tuple(raters),
        groups=groups,
        answered=answered,
        outcomes=outcomes,
        shared=shared,
        frame=frame,
        n_faulty=n_faulty,
        digest=digest_of(
            *(read for read, _due in digests), a, b, *(due for _read, due in digests), faulty, names=names
        ),
    )


def _listed(raters: Sequence[Rater]) -> str:
    return ", ".join(rater.label for rater in raters)


def _why_nothing(outcomes: NDArray[np.int8], labels: Mapping[str, str]) -> str:
    """Why no pair counts for every judge."""
    undecided = int((outcomes == Outcome.UNDECIDED).any(axis=0).sum())
    if len(outcomes) > 1:
        return (
            _("There is no pair that %(a)s and %(b)s both answered and that each of these judges decided: %(judge)s.")
            % labels
        )
    if undecided:
        return _("%(judge)s is undecided on all %(n)s pairs for which both %(a)s and %(b)s gave an answer.") % {
            **labels,
            "n": undecided,
        }
    return _("There is no pair that %(a)s and %(b)s both answered and %(judge)s was to decide.") % labels


def _counts(outcomes: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Whether a judge's outcome counts: all but those not due, undecided and not assessed."""
    return np.isin(outcomes, (Outcome.NOT_MET, Outcome.MET, Outcome.INVALID, Outcome.MISSING))


def _beside(pairs: Pairs, group: str, outcome: NDArray[np.int8], judge: Rater) -> Pairs:
    """Pairs of both groups, answered, as pairs of one of them with a judge's outcomes of the same pairs."""
    answers = Ratings(pairs.response, pairs.criterion, pairs.a if group == A else pairs.b)
    return pair(
        answers, Ratings(pairs.response, pairs.criterion, outcome), judges=(False, judge.undecided_by != "group")
    )


def _outcomes(
    judge: Rater, pairs: Pairs, frame: Frame, window: int
) -> tuple[NDArray[np.int8], RatingsDigest, RatingsDigest | None]:
    """A judge's outcome of each pair, read window by window, and the digests of its verdicts and of what was due."""
    read, read_due = RatingsDigest(), RatingsDigest() if judge.runs else None
    outcome = np.full(len(pairs), NOT_DUE, dtype=np.int8)
    answers = Ratings(pairs.response, pairs.criterion, np.zeros(len(pairs), dtype=np.int8))
    n_criteria = np.bincount(frame.criterion_case, minlength=len(frame.cases))
    start = 0
    for span, _done in windows(frame.response_ids, n_criteria[frame.response_case], window):
        ratings, due, own = judge.ratings(span), due_pairs(judge, span), answers.within(span)
        read.add(ratings)
        if read_due is not None and due is not None:
            read_due.add(due)
        beside = pair(own, ratings, due_of_b=due)
        places, _is_own = positions(own.keys(), Ratings(beside.response, beside.criterion, beside.b).keys())
        outcome[start + places] = beside.b
        start += len(own)
    if judge.members and not len(read):
        raise nothing_together(judge.label)
    return outcome, read, read_due


def fidelity(inputs: JudgesAndGroups, *, margin: float = DEFAULT_MARGIN, rule: IntervalRule) -> Fidelity:
    """All figures of the comparisons: over all pairs, for each candidate, difficulty, register and tag."""
    ceiling = _tallied(inputs.frame, inputs.ceiling)
    labels = {group: rater.label for group, rater in inputs.groups.items()}
    result = Fidelity([], [], [], [], [], [], [])
    wholes: list[Row] = []
    tallies: list[list[NDArray[np.int64]]] = []
    whole: list[Row] = []
    for place, judge in enumerate(inputs.judges):
        named = {"judge": judge.label}
        with_a, with_b = (_tallied(inputs.frame, inputs.judged(place, group)).counts for group in (A, B))
        undecided = _undecided(inputs.frame, inputs.undecided(place))
        rows, margins = _rows(ceiling, with_a, with_b, undecided, margin=margin, rule=rule)
        whole = [row for row in rows if row["slice"] == "all" or row["slice"].startswith("candidate:")]
        result.rows.extend(named | row for row in whole)
        result.slices.extend(named | row for row in rows[len(whole) :])
        result.non_inferiority.extend(named | row for row in margins)
        for group, tallied in zip((A, B), (with_a, with_b), strict=True):
            alike = _robustness(whole[1:], "judge", group, judge.label, labels[group])
            result.robustness.append(named | alike)
            n_undecided = undecided.get("all", 0)
            result.groups.append(_of_two(judge.label, labels[group], tallied[:, :1], rule, n_undecided))
        tallies.append([with_a[:, 0], with_b[:, 0]])
        why = {"note": rows[0]["note"], "why": margins[0]["note"], "n_own": inputs.n_own(place)}
        wholes.append(named | margins[0] | rows[0] | why)
    result.robustness.append({"judge": "", **_robustness(whole[1:], A, B, labels[A], labels[B])})
    result.groups.append(_of_two(labels[B], labels[A], ceiling.counts[:, :1], rule, 0))
    if len(inputs.judges) > 1:
        all_with_a, all_with_b = (np.stack(tallied, axis=1) for tallied in zip(*tallies, strict=True))
        judges, pairwise = _compared(wholes, all_with_a, all_with_b, ceiling.counts[:, 0], margin=margin, rule=rule)
        result.judges.extend(judges)
        result.pairwise.extend(pairwise)
    return result


def _tallied(frame: Frame, pairs: Pairs) -> Sliced:
    return sliced(frame, pairs.response, pairs.criterion, pairs.status, N_PAIR_STATUSES)


def _rows(
    ceiling: Sliced,
    tallied_a: NDArray[np.int64],
    tallied_b: NDArray[np.int64],
    undecided: Mapping[str, int],
    *,
    margin: float,
    rule: IntervalRule,
) -> tuple[list[Row], list[Row]]:
    """Rows of every slice (`COLUMNS`) of a judge, and the conclusion of each on non-inferiority (`MARGIN_COLUMNS`)."""
    a, b, of_groups = (conservative_counts(tallied) for tallied in (tallied_a, tallied_b, ceiling.counts))
    parts = [MACRO_F1.of_cases(counts) for counts in (a, b, of_groups)]
    columns = {
        name: rule.intervals(part).attach(macro_f1_figures(counts.pooled(axis=0)))
        for name, part, counts in zip(("judge_a", "judge_b", "ceiling"), parts, (a, b, of_groups), strict=True)
    }
    columns["mean"], columns["gap"] = _joint(*parts, n=of_groups.pooled(axis=0).n, rule=rule)
    pairs_behind, invalid = n_counted(tallied_a).sum(axis=0), _invalid(tallied_a)
    cases = (n_counted(tallied_a) > 0).sum(axis=0)
    verdicts = _met(tallied_a, PairStatus.FP)
    met_a, met_b = (_met(tallied, PairStatus.FN) for tallied in (tallied_a, tallied_b))
    missing = n_missing(tallied_a).sum(axis=0)
    pooled = of_groups.pooled(axis=0)
    rows, margins = [], []
    for i, name in enumerate(ceiling.names):
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


def _of_two(rater: str, reference: str, tallied: NDArray[np.int64], rule: IntervalRule, n_undecided: int) -> Row:
    """All coefficients of two raters over all pairs (`GROUPS_COLUMNS`), from tallies of shape (cases, 1, statuses)."""
    agreement = two_rater_agreement(
        valid_counts(tallied), counted=conservative_counts(tallied), rule=rule, intervals_for=WITH_INTERVAL
    )[0]
    shown: dict[str, Figure] = {coefficient.key: getattr(agreement, coefficient.key) for coefficient in COEFFICIENTS}
    row: Row = {"rater": rater, "reference": reference, "n_pairs": agreement.n_pairs, "n_cases": agreement.n_cases}
    row |= {key: figure.value for key, figure in shown.items()}
    for key in WITH_INTERVAL:
        row[f"{key}_low"], row[f"{key}_high"] = shown[key].low, shown[key].high
        row[f"{key}_effective"] = shown[key].effective
    row |= {"n_valid": agreement.n_valid, "n_invalid": agreement.n_invalid}
    row |= {"n_missing": int(n_missing(tallied).sum()), "n_undecided": n_undecided}
    return {**row, "note": notes_of(shown)}


def _compared(
    wholes: Sequence[Row],
    tallied_a: NDArray[np.int64],
    tallied_b: NDArray[np.int64],
    ceiling: NDArray[np.int64],
    *,
    margin: float,
    rule: IntervalRule,
) -> tuple[list[Row], list[Row]]:
    """Several judges over all pairs: each (`JUDGES_COLUMNS`), and each two (`PAIRWISE_COLUMNS`).

    Tallies of the judges have the shape (cases, judges, statuses), those of the ceiling (cases, statuses); ``wholes``
    are the rows of the judges over all pairs.
    """
    both = case_mean(*(MACRO_F1.of_cases(conservative_counts(tallied)) for tallied in (tallied_a, tallied_b)))
    repeated = np.repeat(ceiling[:, None], len(wholes), axis=1)
    p = non_inferiority_p(both, MACRO_F1.of_cases(conservative_counts(repeated)), margin=margin, rule=rule)
    tested = _known(p)
    judges = []
    for whole, own, corrected, rank in zip(wholes, tested, holm_of_defined(tested), rule.ranks(both), strict=True):
        row: Row = {**whole, "p": own, "p_adjusted": corrected}
        row["non_inferior"] = None if corrected is None else corrected <= TEST_LEVEL
        row["rank"], row["rank_low"], row["rank_high"] = rank.value, rank.low, rank.high
        row["note"] = joined(
            whole["note"],
            labelled("p", whole["why"]) if own is None else "",
            labelled("rank", rank.note) if rank.note else "",
            Reason.PAIRS_NOT_OF_ALL_JUDGES.counted(whole["n_own"] - whole["n_pairs"]),
        )
        judges.append(row)
    names = [whole["judge"] for whole in wholes]
    return judges, _pairwise(names, both, n_pairs=wholes[0]["n_pairs"], rule=rule)


def _known(p: NDArray[np.float64]) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in p]


def _pairwise(names: Sequence[str], both: CaseFigures, *, n_pairs: int, rule: IntervalRule) -> list[Row]:
    first, second = (np.array(places) for places in zip(*combinations(range(len(names)), 2), strict=True))
    values = both.whole()
    n_cases = both.behind.sum(axis=0)
    apart = figures(values[first] - values[second], np.full(len(first), n_pairs), reason=lambda i: NO_PAIRS)
    shown = rule.compared(both, first, second)[1].attach(apart)
    tested = _known(difference_p(both.of_slices(first), both.of_slices(second), rule=rule))
    return [
        {
            "judge_a": names[a],
            "judge_b": names[b],
            "n_pairs": figure.n,
            "n_cases": int(n_cases[a]),
            "difference": figure.value,
            "difference_low": figure.low,
            "difference_high": figure.high,
            "p": own,
            "p_adjusted": corrected,
            "note": notes_of({"difference": figure} if own is not None else {"difference, p": figure}),
            "difference_effective": figure.effective,
        }
        for a, b, figure, own, corrected in zip(
            first.tolist(), second.tolist(), shown, tested, holm_of_defined(tested), strict=True
        )
    ]


def _robustness(candidates: Sequence[Row], first: str, second: str, *labels: str) -> Row:
    """Whether two graders rank the candidates alike, by the share of criteria met, in points of 100, over the same
    pairs; with the judge, only pairs with a valid verdict. Both are named as in the columns of ``candidates``.
    """
    second_column = f"{second}_judged" if first == "judge" else second
    rated = [
        (100 * row[f"met_{first}"], 100 * row[f"met_{second_column}"])
        for row in candidates
        if row[f"met_{first}"] is not None
    ]
    x, y = np.array(rated, dtype=np.float64).reshape(-1, 2).T
    agreement = rank_agreement(x, y)
    shown: dict[str, Figure] = {
        name: getattr(agreement, name) for name in ("spearman", "kendall", "mean_absolute_difference", "top3", "top5")
    }
    return {
        "raters": ", ".join(labels),
        "n_candidates": len(rated),
        **{name: figure.value for name, figure in shown.items()},
        "note": joined(*(labelled(name, figure.note) for name, figure in shown.items() if figure.note)),
    }
