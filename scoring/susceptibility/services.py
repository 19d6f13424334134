"""Measures a judge's susceptibility: a run over failing pairs whose replicates are the injections.

Replicate 0 is the response as it stands, replicate n the response with injection n; the harmless edits come last. In
everything else it is a run like any other: it is resumed, cancelled and paid for as such. Nobody takes it for a rater.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

import numpy as np
from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import DomainError
from consilium.statistics.case_numbers import MINIMUM_EFFECTIVE_CASES
from rubrics.models import Benchmark
from rubrics.services.beginning import unfinished_or_new
from scoring.models import Judge, JudgeRun, JudgeRunItem
from scoring.runs.services import check_budget, enqueue_slices, snapshot_of, unfinished_runs
from scoring.susceptibility.failing_pairs import FailingPairs, draw, failing_pairs, reference_or_default
from scoring.susceptibility.injections import CONTROLS, INJECTIONS, suite_hash

MAX_PAIRS = 200
# One for the unchanged response.
REPLICATES = 1 + len(INJECTIONS) + len(CONTROLS)


@dataclass(frozen=True, slots=True)
class MeasurementPlan:
    """What a measurement would be over: ``reference`` found ``failing`` pairs, of which ``drawn`` are taken."""

    reference: str
    failing: int
    drawn: FailingPairs

    @property
    def pairs(self) -> int:
        """How many pairs are drawn."""
        return len(self.drawn)

    @property
    def responses(self) -> int:
        """On how many responses they are."""
        return len(np.unique(self.drawn.response))

    @property
    def cases(self) -> int:
        """On how many cases they are."""
        return len(np.unique(self.drawn.case))

    @property
    def lacks_cases(self) -> bool:
        """Whether they are too few for an interval, also if all pairs count."""
        return self.cases < self.needed

    @property
    def needed(self) -> int:
        """The number of cases from which on there is an interval."""
        return MINIMUM_EFFECTIVE_CASES

    @property
    def verdicts(self) -> int:
        """Verdicts due; for a chat judge that asks one by one, as many requests."""
        return self.pairs * REPLICATES


def plan_measurement(
    *, benchmark: Benchmark, judge: Judge, reference: str = "", pairs: int = 10, seed: int = 0
) -> MeasurementPlan:
    """Draw the pairs; nothing is written. ``reference`` is a rater's name, empty for the first that there is.

    `DomainError` where the judge cannot be measured or nothing fails.
    """
    if not judge.kind_info.is_measurable:
        raise DomainError(_("Only a chat model or a trained judge can be measured; “%s” is neither.") % judge.name)
    if not 1 <= pairs <= MAX_PAIRS:
        raise DomainError(_("A measurement must use 1 to %(most)s pairs.") % {"most": MAX_PAIRS})
    if not 0 <= seed < 2**31:
        raise DomainError(_("A seed must be a whole number from 0 to 2147483647."))
    chosen = reference_or_default(benchmark, judge, reference)
    failures = failing_pairs(benchmark, chosen)
    if not len(failures):
        raise DomainError(
            _("According to “%(rater)s”, no response fails a criterion of a current rubric.") % {"rater": chosen}
        )
    return MeasurementPlan(chosen, len(failures), draw(failures, pairs, np.random.default_rng(seed)))


@transaction.atomic
def start_susceptibility_run(
    *,
    benchmark: Benchmark,
    judge: Judge,
    reference: str = "",
    pairs: int = 10,
    seed: int = 0,
    by: User | None,
    at: datetime,
    budget: Decimal | None = None,
) -> tuple[JudgeRun, bool]:
    """The measurement of exactly this that has not ended, and False; else a new one, and True."""
    return unfinished_or_new(
        benchmark=benchmark,
        unfinished=lambda: unfinished_runs(
            benchmark=benchmark,
            judge=judge,
            purpose=JudgeRun.Purpose.SUSCEPTIBILITY,
            frame={"reference": reference_or_default(benchmark, judge, reference), "pairs": pairs, "seed": seed},
            replicates=REPLICATES,
            budget=budget,
        ),
        create=lambda: create_susceptibility_run(
            benchmark=benchmark,
            judge=judge,
            reference=reference,
            pairs=pairs,
            seed=seed,
            by=by,
            at=at,
            budget=budget,
        ),
    )


@transaction.atomic
def create_susceptibility_run(
    *,
    benchmark: Benchmark,
    judge: Judge,
    reference: str = "",
    pairs: int = 10,
    seed: int = 0,
    by: User | None,
    at: datetime,
    budget: Decimal | None = None,
) -> JudgeRun:
    """Make the run with its items, and enqueue a task once this is committed."""
    plan = plan_measurement(benchmark=benchmark, judge=judge, reference=reference, pairs=pairs, seed=seed)
    check_budget(judge, budget)
    snapshot, shared_hash = snapshot_of(judge, benchmark)
    run = JudgeRun.objects.create(
        benchmark=benchmark,
        judge=judge,
        purpose=JudgeRun.Purpose.SUSCEPTIBILITY,
        frame={"reference": plan.reference, "failing": plan.failing, "pairs": pairs, "seed": seed}
        | {"suite": suite_hash(), "harmless": len(CONTROLS)},
        snapshot=snapshot,
        prompt_hash=shared_hash,
        replicates=REPLICATES,
        expected=plan.verdicts,
        budget=budget,
        created_by=by,
        created_at=at,
    )
    JudgeRunItem.objects.bulk_create(_items(run, plan.drawn))
    enqueue_slices(run, at=at)
    return run


def _items(run: JudgeRun, drawn: FailingPairs) -> list[JudgeRunItem]:
    """One item for each response, with those of its criteria that were drawn."""
    items_by_response: dict[int, JudgeRunItem] = {}
    columns = (drawn.response.tolist(), drawn.rubric.tolist(), drawn.criterion.tolist())
    for response, rubric, criterion in zip(*columns, strict=True):
        item = items_by_response.setdefault(
            response, JudgeRunItem(run=run, response_id=response, rubric_id=rubric, criteria=[])
        )
        assert item.criteria is not None
        item.criteria.append(criterion)
    return list(items_by_response.values())
