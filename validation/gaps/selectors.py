"""Reads what runs of coverage and of trials say about the published rubric of one case."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.fields.json import KeyTextTransform, KeyTransform

from consilium.statistics.intervals import DEFAULT_RULE
from consilium.statistics.trials import DecisionRule
from rubrics.models import Case, Rubric
from scoring.models import EndpointKind, PipelineStep
from validation.coverage import selectors as coverage_selectors
from validation.coverage.content import Point
from validation.coverage.selectors import CaseCoverage, CasePoint
from validation.files.pair_tables import PairOptions
from validation.files.table_rows import nfc
from validation.models import CoverageDecision, CoverageRun, ErrorKind, RubricSet, TrialRun
from validation.trials import selectors as trial_selectors
from validation.trials.inputs import DANGEROUS, read_trials
from validation.trials.tables import TrialTables

MAX_RUNS = 5  # of each kind, the newest
UNCOVERED = ("partly", "none")  # extents of a model; of an invalid or missing answer nobody knows
# What physicians say of a criterion that the rubric need not have.
NOT_MISSED = (CoverageDecision.Answer.NEEDLESS, CoverageDecision.Answer.WRONG, CoverageDecision.Answer.UNGRADABLE)
Row = dict[str, Any]


@dataclass(frozen=True)
class Uncovered:
    """What one comparison of a run of coverage says: the points of ``other`` that the rubric does not cover in full.

    ``n_points``: how many there are to cover; ``n_unknown``: those without a valid answer or decision;
    ``n_not_missed``: criteria that physicians call needless, wrong or impossible to grade. ``is_gold``: ``other`` is
    the gold set of the run, else a set that was measured. ``has_changed``: the rubric was published anew since.
    """

    run: CoverageRun
    other: str
    is_gold: bool
    points: list[CasePoint]
    n_points: int
    n_unknown: int
    n_not_missed: int
    has_changed: bool
    by_rules: bool


@dataclass(frozen=True)
class Unnoticed:
    """What a run of trials says: errors that no criterion notices, and criteria that tell no pair apart.

    ``n_pairs``: confirmed dangerous pairs of the case with a decision, of which ``n_noticed`` are noticed. ``n_tried``:
    pairs of any grade with an answer. ``n_criteria``: how many criteria the rubric had.
    """

    run: TrialRun
    errors: list[Row]
    n_pairs: int
    n_noticed: int
    never_decisive: list[Row]
    n_tried: int
    n_criteria: int
    has_changed: bool
    by_rules: bool


@dataclass(frozen=True)
class Gaps:
    """All that is known about the published rubric of a case; ``rubric`` is None where none is published."""

    rubric: Rubric | None
    coverage: list[Uncovered] = field(default_factory=list)
    trials: list[Unnoticed] = field(default_factory=list)

    @property
    def is_measured(self) -> bool:
        """Whether any run says something."""
        return bool(self.coverage or self.trials)

    @property
    def by_rules(self) -> bool:
        """Whether rules answered in any of the runs, or wrote criteria of their sets."""
        findings: list[Uncovered | Unnoticed] = [*self.coverage, *self.trials]
        return any(own.by_rules for own in findings)


def gaps_of(case: Case, *, with_coverage: bool = True, with_pairs: bool = True) -> Gaps:
    """What runs that measured the published rubric of ``case`` say about it, the newest first.

    A run counts where one of its sets is a copy of the gold track, by its digest. A case without a published rubric is
    in no such set, so nothing is shown to an author who is still to write it.
    """
    rubric = case.rubrics.current().first()
    if rubric is None or case.excluded_at is not None:
        return Gaps(rubric)
    sets = RubricSet.objects.finished().filter(benchmark=case.benchmark_id, origin=RubricSet.Origin.GOLD)
    digests = frozenset(sets.values_list("digest", flat=True))
    items = rubric.items.select_related("criterion").order_by("position")
    published = sorted((item.criterion.text, item.points) for item in items)
    coverage = [
        own
        for run in (_newest(coverage_selectors.reported_runs(case.benchmark), case, digests) if with_coverage else ())
        for own in _uncovered(run, case, digests, published)
    ]
    trials = [
        own
        for run in (_newest(trial_selectors.reported_runs(case.benchmark), case, digests) if with_pairs else ())
        for own in _unnoticed(run, case, digests, published)
    ]
    return Gaps(rubric, coverage, trials)


def _newest(runs: QuerySet[Any], case: Case, digests: frozenset[str]) -> list[Any]:
    """The newest runs with an answer about the case, one of whose sets is a copy of the gold track."""
    answered = PipelineStep.objects.filter(run=OuterRef("pk"), case=case, state=PipelineStep.State.DONE)
    named = runs.filter(Exists(answered)).annotate(
        gold_digest=KeyTextTransform("digest", KeyTransform("gold", "config")),
        own_sets=KeyTransform("sets", "config"),
    )
    own = [run for run in named if {run.gold_digest, *(each["digest"] for each in run.own_sets or ())} & digests]
    return own[:MAX_RUNS]


def _has_changed(criteria: Iterable[Point], published: Sequence[tuple[str, int]]) -> bool:
    return sorted((each.text, each.points) for each in criteria) != list(published)


# Coverage ----------------------------------------------------------------------------------------------------------


def _uncovered(
    run: CoverageRun, case: Case, digests: frozenset[str], published: Sequence[tuple[str, int]]
) -> list[Uncovered]:
    covered = coverage_selectors.case_coverage(run, case)
    if covered is None:
        return []
    config, content = covered.config, covered.content
    rows = []
    if config.gold.digest in digests:
        # Criteria of the others, held against the rubric.
        for own, (name, unmatched) in zip(config.sets, covered.unmatched, strict=True):
            if own.digest not in digests:
                n_points = len(content.sets[config.sets.index(own)])
                changed = _has_changed(content.gold, published)
                rows.append(_comparison(run, covered, name, unmatched, n_points, changed, is_gold=False))
    for place, own in enumerate(config.sets):
        if own.digest in digests and config.gold.digest not in digests:
            points = [CasePoint(point.number, point.point, [point.answers[place]]) for point in covered.points]
            changed = _has_changed(content.sets[place], published)
            rows.append(_comparison(run, covered, config.gold.name, points, len(points), changed, is_gold=True))
    return rows


def _comparison(
    run: CoverageRun,
    covered: CaseCoverage,
    other: str,
    points: Sequence[CasePoint],
    n_points: int,
    has_changed: bool,
    *,
    is_gold: bool,
) -> Uncovered:
    """A physician's decision goes before the answer of the model."""
    lacking, n_unknown, n_not_missed = [], 0, 0
    for own in points:
        answer = own.answers[0]
        judged = answer.decided or answer.extent
        if judged in NOT_MISSED:
            n_not_missed += 1
        elif judged in (*UNCOVERED, CoverageDecision.Answer.NEEDED):
            lacking.append(own)
        elif judged != CoverageDecision.Answer.FULL:
            n_unknown += 1
    numbers = (n_points, n_unknown, n_not_missed)
    return Uncovered(run, other, is_gold, lacking, *numbers, has_changed, covered.by_rules)


# Near-miss pairs ---------------------------------------------------------------------------------------------------


def _unnoticed(
    run: TrialRun, case: Case, digests: frozenset[str], published: Sequence[tuple[str, int]]
) -> list[Unnoticed]:
    inputs = read_trials(run, only=case.key)
    tables = TrialTables(inputs, PairOptions(DecisionRule.SIGN, n_trials=inputs.config.trials), DEFAULT_RULE)
    content = next((own.case for own in inputs.pairs), None)
    rows = []
    for place, own in enumerate(inputs.config.sets):
        name = nfc(own.name)
        if own.digest not in digests or content is None or not content.sets[place]:
            continue
        pairs = [row for row in tables.each_pair() if row["set"] == name]
        decided = [row for row in pairs if row["grade"] == DANGEROUS and row["decision"]]
        tried = [row for row in pairs if row["n_good"]]
        rows.append(
            Unnoticed(
                run=run,
                errors=[_error(row) for row in tables.unnoticed() if row["set"] == name],
                n_pairs=len(decided),
                n_noticed=sum(row["noticed"] for row in decided),
                never_decisive=[row for row in tables.never_decisive() if row["set"] == name],
                n_tried=len(tried),
                n_criteria=len(content.sets[place]),
                has_changed=_has_changed(content.sets[place], published),
                by_rules=inputs.endpoint_kind == EndpointKind.RULES,
            )
        )
    return rows


def _error(row: Row) -> Row:
    kind = row["kind"]
    return {**row, "kind_label": ErrorKind(kind).label if kind in ErrorKind.values else kind}
