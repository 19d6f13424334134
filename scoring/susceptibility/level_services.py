"""Measures how far texts in a response move the level that a judge reads: a run whose replicates are the texts.

Replicate 0 is the response as it stands, replicate n the response with text n; the harmless edits come last. In
everything else it is a run like any other. Its readings have a source of their own and say nothing of a candidate.
"""

from __future__ import annotations

import hashlib
from datetime import datetime
from decimal import Decimal

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import DomainError
from rubrics.models import Benchmark
from rubrics.services.beginning import unfinished_or_new
from scoring.models import AcuityReading, Judge, JudgeRun, JudgeRunItem
from scoring.runs.services import check_budget, enqueue_slices, snapshot_of, unfinished_runs
from scoring.susceptibility.level_texts import LEVEL_CONTROLS, LEVEL_REPLICATES, level_suite_hash

MAX_MEASURED = 200


def plan_level_measurement(*, benchmark: Benchmark, judge: Judge, responses: int, seed: int) -> list[int]:
    """The ids of the responses that a measurement would be over; nothing is written.

    They are drawn by ``seed`` from those in which the judge's newest finished run read a level.
    """
    if not judge.kind_info.reads_levels:
        raise DomainError(_("“%(name)s” does not read levels.") % {"name": judge.name})
    judge.kind_info.check_benchmark(judge, benchmark)
    if not 1 <= responses <= MAX_MEASURED:
        raise DomainError(_("A measurement must use 1 to %(most)s responses.") % {"most": MAX_MEASURED})
    finished = JudgeRun.objects.filter(
        benchmark=benchmark, judge__name=judge.name, purpose=JudgeRun.Purpose.ACUITY, status=JudgeRun.Status.FINISHED
    )
    run_read = finished.order_by("-finished_at", "-pk").first()
    readings = AcuityReading.objects.filter(judge_run=run_read, replicate=0, state=AcuityReading.State.LEVEL)
    rows = readings.values_list("response", "response__public_id") if run_read else []
    drawn = sorted(rows, key=lambda row: hashlib.sha256(f"{seed}:{row[1]}".encode()).digest())[:responses]
    if not drawn:
        raise DomainError(_("This judge has not read any levels in a finished run. Start a run first."))
    return [int(response) for response, _id in drawn]


@transaction.atomic
def start_level_measurement(
    *,
    benchmark: Benchmark,
    judge: Judge,
    responses: int = 20,
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
            purpose=JudgeRun.Purpose.ACUITY_EDITED,
            frame={"responses": responses, "seed": seed},
            replicates=LEVEL_REPLICATES,
            budget=budget,
        ),
        create=lambda: create_level_measurement(
            benchmark=benchmark, judge=judge, responses=responses, seed=seed, by=by, at=at, budget=budget
        ),
    )


@transaction.atomic
def create_level_measurement(
    *,
    benchmark: Benchmark,
    judge: Judge,
    responses: int = 20,
    seed: int = 0,
    by: User | None,
    at: datetime,
    budget: Decimal | None = None,
) -> JudgeRun:
    """Make the run with its items, and enqueue a task once this is committed."""
    drawn = plan_level_measurement(benchmark=benchmark, judge=judge, responses=responses, seed=seed)
    check_budget(judge, budget)
    snapshot, shared_hash = snapshot_of(judge, benchmark)
    run = JudgeRun.objects.create(
        benchmark=benchmark,
        judge=judge,
        purpose=JudgeRun.Purpose.ACUITY_EDITED,
        frame={"responses": responses, "seed": seed, "suite": level_suite_hash(), "harmless": len(LEVEL_CONTROLS)},
        snapshot=snapshot,
        prompt_hash=shared_hash,
        replicates=LEVEL_REPLICATES,
        expected=len(drawn) * LEVEL_REPLICATES,
        budget=budget,
        created_by=by,
        created_at=at,
    )
    JudgeRunItem.objects.bulk_create(JudgeRunItem(run=run, response_id=response) for response in drawn)
    enqueue_slices(run, at=at)
    return run
