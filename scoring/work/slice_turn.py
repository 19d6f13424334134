"""`SliceTurn`, a worker's turn at a slice: how it begins, what it writes, and the state in which it ends.

The caller of `begin` holds the advisory lock of the slice (``SLICES.hold``).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import timedelta

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from consilium.core.i18n import language_of
from consilium.core.jobs import Clock
from scoring.models import JudgeRun, RunSlice
from scoring.runs.services import settle_run
from scoring.work.claims import claim_for
from scoring.work.store import JudgedRequest, store_results
from scoring.work.turn import ACTIVE_FOR, Starts, Turn, database_start, pause_after

# A slice that was enqueued within this time counts as about to run.
EXPECTED_FOR = timedelta(seconds=10)
STARTABLE = (JudgeRun.Status.PENDING, JudgeRun.Status.RUNNING, JudgeRun.Status.PAUSED)


class SliceTurn(Turn[JudgedRequest]):
    """A worker's turn at a slice."""

    def __init__(self, run: JudgeRun, row: RunSlice, clock: Clock, rng: random.Random) -> None:
        super().__init__(clock)
        self.run = run
        self.row = row
        self.rng = rng

    @property
    def pauses(self) -> int:
        """How often the slice has paused since its last verdict."""
        return 0 if self.stored else self.row.pauses

    def store(self, results: Sequence[JudgedRequest]) -> int:
        """Write calls, verdicts or readings, and cost; return the number of verdicts and readings."""
        store_results(self.run, results, slice_id=self.row.pk, at=self.clock())
        return sum(len(result.verdicts) + len(result.readings) for result in results)

    def heartbeat(self) -> bool:
        """Write the heartbeats of slice and run; False where the run was cancelled."""
        at = self.clock()
        fresh = {"starts_without_progress": 0, "pauses": 0} if self.stored else {}
        RunSlice.objects.filter(pk=self.row.pk).update(heartbeat_at=at, **fresh)
        running = JudgeRun.objects.filter(pk=self.run.pk, status=JudgeRun.Status.RUNNING)
        return bool(running.update(heartbeat_at=at))

    def others_at_work(self) -> QuerySet[RunSlice]:
        """The other slices, of this run and of others, that ask this endpoint for this model, or soon will."""
        at = self.clock()
        config = self.run.snapshot.get("config", {})
        others = RunSlice.objects.filter(
            Q(status=RunSlice.Status.RUNNING, heartbeat_at__gt=at - ACTIVE_FOR)
            | Q(status=RunSlice.Status.PENDING, enqueued_at__gt=at - EXPECTED_FOR, resume_at=None),
            run__status__in=JudgeRun.LIVE,
            run__snapshot__config__endpoint=config.get("endpoint"),
            run__snapshot__config__model=config.get("model"),
        )
        return others.exclude(pk=self.row.pk)


@transaction.atomic
def begin(run_id: int, slice_number: int, clock: Clock, rng: random.Random) -> SliceTurn | None:
    """Mark run and slice as running, and claim a share of the budget; None where there is nothing to do."""
    at = clock()
    run = JudgeRun.objects.select_for_update().filter(pk=run_id).select_related("judge").first()
    row = RunSlice.objects.filter(run_id=run_id, number=slice_number, status__in=RunSlice.OPEN).first()
    if run is None or row is None or run.status not in STARTABLE or (row.resume_at and row.resume_at > at):
        return None
    starts = Starts(row.starts_without_progress, row.ended_with_database, row.database_start).seen_at(database_start())
    if starts.are_too_many():
        row.status, row.failed = RunSlice.Status.STOPPED, True
        with language_of(run.created_by):
            row.reason = _(
                "The worker stopped unexpectedly %(times)s times here without a single verdict. See its log "
                "for details."
            ) % {"times": starts.number}
        row.save(update_fields=["status", "failed", "reason"])
        transaction.on_commit(lambda: settle_run(run_id=run_id, at=clock()))
        return None
    JudgeRun.objects.filter(pk=run_id).update(
        status=JudgeRun.Status.RUNNING, heartbeat_at=at, started_at=run.started_at or at, error=""
    )
    run.status = JudgeRun.Status.RUNNING
    row.claim = claim_for(run, row)
    RunSlice.objects.filter(pk=row.pk).update(
        status=RunSlice.Status.RUNNING,
        heartbeat_at=at,
        starts_without_progress=starts.number + 1,
        **starts.next_fields(),
        resume_at=None,
        claim=row.claim,
    )
    return SliceTurn(run, row, clock, rng)


@transaction.atomic
def end(turn: SliceTurn, status: str, *, reason: str = "", failed: bool = False) -> None:
    """Record the state in which the turn leaves the slice."""
    at = turn.clock()
    RunSlice.objects.filter(pk=turn.row.pk, status__in=RunSlice.OPEN).update(
        status=status, reason=reason, failed=failed, heartbeat_at=at, enqueued_at=at, starts_without_progress=0
    )


@transaction.atomic
def pause(turn: SliceTurn, reason: str) -> None:
    """Pause the slice until the sweep enqueues it again; `settle_run` decides whether the whole run pauses."""
    at = turn.clock()
    run = JudgeRun.objects.select_for_update().get(pk=turn.run.pk)
    rows = RunSlice.objects.filter(pk=turn.row.pk, status__in=RunSlice.OPEN)
    if run.status == JudgeRun.Status.CANCELLING:
        rows.update(status=RunSlice.Status.STOPPED, reason=reason, heartbeat_at=at)
        return
    rows.update(
        status=RunSlice.Status.PENDING,
        reason=reason,
        heartbeat_at=at,
        starts_without_progress=0,
        pauses=turn.pauses + 1,
        resume_at=at + pause_after(turn.pauses),
    )


@transaction.atomic
def may_claim_more(turn: SliceTurn) -> bool:
    """Whether slices that have ended meanwhile leave more of the budget than this slice had claimed."""
    run = JudgeRun.objects.select_for_update().get(pk=turn.run.pk)
    row = RunSlice.objects.get(pk=turn.row.pk)
    return (claim_for(run, row) or 0.0) > (row.claim or 0.0) * (1 + 1e-9)
