"""The alternative annotator test on a benchmark: a judge against each physician, with the others as reference.

An instance is a pair of a response and a criterion that the judge was to decide and that two physicians or more
answered met or not met, each in their own decisions of round 1. A physician's *cannot assess* is no label. An invalid
or missing verdict agrees with nobody; what the judge or jury left undecided, and what an adjudicator found at fault, is
left out. The same tables come from label files (`agreement.label_files.reading`), where an instance is an item.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from agreement.counting.frame import Frame, read_frame
from agreement.counting.inputs import digest_of
from agreement.counting.pairs import Pairs, PairStatus, pair, positions
from agreement.label_files.reading import JudgeFile, LabelFile
from agreement.reports.tables import Row, Table
from annotation.models import ExpertGroup, Physician
from annotation.models.outcomes import outcome_code_sql
from annotation.selectors.ratings import faulty_pairs
from consilium.core.errors import DomainError
from consilium.core.order import natural
from consilium.core.ratings import Ratings, copy_columns
from consilium.statistics.alternative_annotator import (
    EPSILON,
    MINIMUM_INSTANCES,
    NO_ANSWER,
    AlternativeAnnotator,
    Compared,
    alternative_annotator_test,
)
from consilium.statistics.estimate import each_note_of
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.outcomes import Outcome
from rubrics.models import Benchmark
from scoring.scores.sheet import due_pairs
from scoring.selectors.raters import Rater, UnknownRater, resolve_rater

ALL = "all"
_WITH_INTERVAL = ("rho_judge", "rho_physician", "difference")
COLUMNS = (
    *("physician", "n_instances", "n_cases"),
    *(f"{name}{end}" for name in _WITH_INTERVAL for end in ("", "_low", "_high")),
    *("test", "p", "p_adjusted", "wins", "p_clustered", "p_clustered_adjusted", "wins_clustered", "note"),
    *(f"{name}_effective" for name in _WITH_INTERVAL),
)
SUMMARY_COLUMNS = (
    *("judge", "group", "epsilon", "q", "minimum", "n_instances", "n_physicians", "n_tested"),
    *("winning_rate", "passes", "winning_rate_clustered", "passes_clustered"),
    *("advantage", "advantage_low", "advantage_high", "note", "advantage_effective"),
)
TEXT_COLUMNS = ("physician", "test", "judge", "group", "note")

Ints = NDArray[np.int64]

# Own decisions of round 1, as `annotation.selectors.ratings.physician_ratings` reads them.
_OWN = f"""
    SELECT DISTINCT ON (p.id, a.response_id, d.criterion_id)
           p.id::int8, a.response_id::int8, d.criterion_id::int8, ({outcome_code_sql("d.outcome")})::int2
    FROM annotation_physician p
    JOIN annotation_assignment a ON a.annotator_id = p.user_id
    JOIN annotation_batch b ON b.id = a.batch_id AND b.group_id = ANY(%(groups)s)
    JOIN annotation_decision d ON d.assignment_id = a.id AND d.round = 1
    JOIN rubrics_case x ON x.id = a.case_id
    WHERE p.benchmark_id = %(benchmark)s AND d.outcome IS NOT NULL AND a.submitted_at IS NOT NULL
      AND a.purpose = 'work' AND a.status <> 'released' AND x.excluded_at IS NULL
    ORDER BY p.id, a.response_id, d.criterion_id, a.submitted_at, a.id
"""


class NoInstances(DomainError):
    """There is no instance: no pair that the judge was to decide and that two physicians answered."""


@dataclass(frozen=True, eq=False)
class Labelled:
    """The data of the test: an entry for each label (``item``, ``annotator``, ``met``), an entry for each item
    (``judge``, ``case``), and the names of the annotators. Only items with two labels or more.
    """

    item: Ints
    annotator: Ints
    met: NDArray[np.bool_]
    judge: Ints
    case: Ints
    names: list[str]
    n_cases: int


@dataclass(frozen=True, eq=False)
class Bench:
    """A judge and the physicians of a benchmark, joined. ``pairs`` of a physician are read by `pairs_of`."""

    judge: Rater
    group: str
    labelled: Labelled
    keys: Ints  # of the items: response and criterion as one number
    verdicts: Pairs  # of the judge, one for each item
    frame: Frame
    n_undecided: int
    n_faulty: int
    digest: str

    def pairs_of(self, physician: str) -> Pairs:
        """The physician's own decisions on the instances, each beside the judge's; KeyError where there is none."""
        if physician not in self.labelled.names:
            raise KeyError(physician)
        own = self.labelled.annotator == self.labelled.names.index(physician)
        keys, met = self.keys[self.labelled.item[own]], self.labelled.met[own]
        order = np.argsort(keys)
        ratings = Ratings(keys[order] >> 31, keys[order] & (2**31 - 1), met[order].astype(np.int8))
        judge_ratings = Ratings(self.verdicts.response, self.verdicts.criterion, self.verdicts.b)
        return pair(ratings, judge_ratings)


def checked_group(benchmark: Benchmark, text: str) -> str:
    """``all``, or ``group:NAME``; `UnknownRater` where the benchmark has no such group."""
    name = text.strip()
    known = set(ExpertGroup.objects.filter(benchmark=benchmark).values_list("name", flat=True))
    if name in ("", ALL):
        return ALL
    name = name.removeprefix("group:") if name not in known else name
    base, _at, stage = name.rpartition("@")
    name = base if name not in known and stage else name
    if name not in known:
        raise UnknownRater(_("There is no expert group “%(group)s” in this benchmark.") % {"group": text})
    return f"group:{name}"


@dataclass(frozen=True, eq=False)
class OwnDecisions:
    """Physicians' own decisions of the first round, and what they are about: what judges are joined with."""

    group: str
    columns: dict[str, NDArray[Any]]
    faulty: Ratings
    frame: Frame

    def digest(self) -> str:
        """SHA-256 of the decisions."""
        sha = hashlib.sha256()
        for column in self.columns.values():
            sha.update(np.ascontiguousarray(column, dtype="<i8").tobytes())
        return sha.hexdigest()


def read_own_decisions(benchmark: Benchmark, group: str = ALL) -> OwnDecisions:
    """Read the decisions of the physicians of a group, or of all."""
    group = checked_group(benchmark, group)
    groups = ExpertGroup.objects.filter(benchmark=benchmark)
    if group != ALL:
        groups = groups.filter(name=group.removeprefix("group:"))
    types = {**dict.fromkeys(("physician", "response", "criterion"), "int8"), "outcome": "int2"}
    own = copy_columns(
        _OWN, {"benchmark": benchmark.pk, "groups": sorted(groups.values_list("pk", flat=True))}, types=types
    )
    return OwnDecisions(group, own, faulty_pairs(benchmark), read_frame(benchmark))


def read_bench(benchmark: Benchmark, *, judge: str, group: str = ALL) -> Bench:
    """Read judge and physicians; `NoInstances` where there is nothing to compare."""
    rater = resolve_rater(benchmark, judge)
    return bench_of(benchmark, rater, read_own_decisions(benchmark, group))


def bench_of(benchmark: Benchmark, rater: Rater, decisions: OwnDecisions) -> Bench:
    """Read a judge and join it with physicians; `NoInstances` where there is nothing to compare."""
    own, faulty, frame = decisions.columns, decisions.faulty, decisions.frame
    ratings, due = rater.ratings(), due_pairs(rater)
    answered = own["outcome"] <= Outcome.MET
    keys = ((own["response"] << 31) | own["criterion"])[answered]
    verdicts, n_undecided, n_faulty = _verdicts(keys, ratings, due, faulty)
    labelled, kept = _labelled(benchmark, own["physician"][answered], keys, own["outcome"][answered], verdicts, frame)
    if not len(labelled.item):
        raise NoInstances(
            _("No decision of %(judge)s has an outcome of met or not met from two physicians.") % {"judge": rater.label}
        )
    names = (rater.label, decisions.group, *labelled.names, decisions.digest())
    return Bench(
        judge=rater,
        group=decisions.group,
        labelled=labelled,
        keys=(kept.response << 31) | kept.criterion,
        verdicts=kept,
        frame=frame,
        n_undecided=n_undecided,
        n_faulty=n_faulty,
        digest=digest_of(ratings, due, faulty, names=names),
    )


def _verdicts(keys: Ints, ratings: Ratings, due: Ratings | None, faulty: Ratings) -> tuple[Pairs, int, int]:
    """The judge's verdict on each pair that two physicians answered; how many of those it left undecided; and on how
    many an adjudicator found the criterion faulty. Pairs of both kinds are left out of the verdicts.
    """
    shared_keys, count = np.unique(keys, return_counts=True)
    shared_keys = shared_keys[count > 1]
    # The physicians' outcome does not matter here, only the judge's, and whether it was to decide the pair.
    reference = Ratings(shared_keys >> 31, shared_keys & (2**31 - 1), np.zeros(len(shared_keys), dtype=np.int8))
    pairs = pair(reference, ratings, due_of_b=due, faulty=faulty, judges=(False, True))
    undecided = pairs.b == Outcome.UNDECIDED
    at_fault = pairs.status == PairStatus.FAULTY
    fine = ~at_fault & (pairs.b != Outcome.CANNOT_ASSESS) & ~undecided
    return pairs.chosen(fine), int((undecided & ~at_fault).sum()), int(at_fault.sum())


def _labelled(
    benchmark: Benchmark, physician: Ints, keys: Ints, outcome: NDArray[Any], verdicts: Pairs, frame: Frame
) -> tuple[Labelled, Pairs]:
    verdict_keys = (verdicts.response << 31) | verdicts.criterion
    item, is_judged = positions(verdict_keys, keys)
    who = physician[is_judged]
    known = dict(Physician.objects.filter(benchmark=benchmark).values_list("pk", "pseudonym"))
    ids = sorted(np.unique(who).tolist(), key=lambda response: natural(known[response]))
    place = {pk: number for number, pk in enumerate(ids)}
    cases = frame.response_case[frame.response_places(verdicts.response)]
    numbers, case = np.unique(cases, return_inverse=True)
    labelled = Labelled(
        item=item[is_judged],
        annotator=np.array([place[pk] for pk in who.tolist()], dtype=np.int64),
        met=outcome[is_judged] == Outcome.MET,
        judge=np.where(verdicts.b <= Outcome.MET, verdicts.b, NO_ANSWER).astype(np.int64),
        case=case.astype(np.int64),
        names=[known[pk] for pk in ids],
        n_cases=len(numbers),
    )
    return labelled, verdicts


def of_files(labels: LabelFile, judge: JudgeFile) -> Labelled:
    """The data of the test from label files; an item that the judge's file leaves out is a missing verdict."""
    n_labels = np.bincount(labels.item, minlength=len(labels.keys))
    items = np.flatnonzero(n_labels > 1)
    if not len(items):
        raise NoInstances(_("No item was labelled by two physicians."))
    item, is_shared = positions(items, labels.item)
    who, annotator = np.unique(labels.physician[is_shared], return_inverse=True)
    cases, case = np.unique(labels.case[items], return_inverse=True)
    return Labelled(
        item=item[is_shared],
        annotator=annotator.astype(np.int64),
        met=labels.met[is_shared],
        judge=np.where(judge.verdict[items] >= 0, judge.verdict[items], NO_ANSWER),
        case=case.astype(np.int64),
        names=[labels.physicians[physician] for physician in who.tolist()],
        n_cases=len(cases),
    )


def alternative(
    labelled: Labelled,
    *,
    epsilon: float = EPSILON,
    minimum: int = MINIMUM_INSTANCES,
    rule: IntervalRule,
) -> AlternativeAnnotator:
    """The test, with intervals of the shares."""
    return alternative_annotator_test(
        labelled.item,
        labelled.annotator,
        labelled.met,
        labelled.judge,
        case=labelled.case,
        n_annotators=len(labelled.names),
        n_cases=labelled.n_cases,
        epsilon=epsilon,
        minimum=minimum,
        rule=rule,
    )


def rows_of(test_result: AlternativeAnnotator, names: list[str]) -> list[Row]:
    """`COLUMNS`, one row a physician."""
    return [_row(comparison, names[comparison.annotator]) for comparison in test_result.annotators]


def _row(comparison: Compared, name: str) -> Row:
    shares = {
        "rho_judge": comparison.advantage,
        "rho_physician": comparison.annotators_advantage,
        "difference": comparison.difference,
    }
    tests = {
        "p": comparison.p,
        "p_adjusted": comparison.p_adjusted,
        "p_clustered": comparison.p_clustered,
        "p_clustered_adjusted": comparison.p_clustered_adjusted,
    }
    row: Row = {
        "physician": name,
        "n_instances": comparison.n_instances,
        "n_cases": comparison.n_cases,
        "test": comparison.test,
    }
    row |= {column: figure.value for column, figure in {**shares, **tests}.items()}
    for column, figure in shares.items():
        row[f"{column}_low"], row[f"{column}_high"] = figure.low, figure.high
        row[f"{column}_effective"] = figure.effective
    row["wins"], row["wins_clustered"] = comparison.wins, comparison.wins_clustered
    row["note"] = each_note_of({**shares, **tests})
    return row


def summary_of(test_result: AlternativeAnnotator, labelled: Labelled, *, judge: str, group: str) -> Row:
    """`SUMMARY_COLUMNS`: the results of the test."""
    rates = {
        "winning_rate": test_result.winning_rate,
        "winning_rate_clustered": test_result.winning_rate_clustered,
        "advantage": test_result.advantage,
    }
    return {
        "judge": judge,
        "group": group,
        "epsilon": test_result.epsilon,
        "q": test_result.q,
        "minimum": test_result.minimum,
        "n_instances": len(labelled.judge),
        "n_physicians": len(labelled.names),
        "n_tested": sum(comparison.wins is not None for comparison in test_result.annotators),
        **{name: figure.value for name, figure in rates.items()},
        "passes": test_result.passes,
        "passes_clustered": test_result.passes_clustered,
        "advantage_low": test_result.advantage.low,
        "advantage_high": test_result.advantage.high,
        "advantage_effective": test_result.advantage.effective,
        "note": each_note_of(rates),
    }


def tables_of(test_result: AlternativeAnnotator, labelled: Labelled, *, judge: str, group: str) -> dict[str, Table]:
    """The tables that reports and the command have in common."""
    summary = summary_of(test_result, labelled, judge=judge, group=group)
    return {
        "physicians": Table.of(COLUMNS, rows_of(test_result, labelled.names), TEXT_COLUMNS),
        "summary": Table.of(SUMMARY_COLUMNS, [summary], TEXT_COLUMNS),
    }
