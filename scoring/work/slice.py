"""A Celery worker's work on a slice, from its task to the end of the turn.

`work_on_slice` takes the lock, calls the work of the judge's kind, and records how the turn ended. It may run twice or
be killed at any point: the lock is released with the connection, verdicts are unique, and the next worker asks for
what is missing. A kill loses the requests in flight and the results not yet written.
"""

from __future__ import annotations

import random
import time

import structlog
from django.db import DatabaseError
from django.utils.translation import gettext as _

from consilium.core.errors import DomainError
from consilium.core.i18n import language_of, translate
from consilium.core.jobs import Clock
from scoring.models import RunSlice
from scoring.runs.services import SLICES, settle_run
from scoring.work import slice_turn
from scoring.work.slice_turn import SliceTurn
from scoring.work.turn import TASK_BUDGET_S, EndpointDown, TurnStopped

log = structlog.get_logger(__name__)


def work_on_slice(
    run_id: int, slice_number: int, *, clock: Clock, rng: random.Random | None = None, budget_s: float = TASK_BUDGET_S
) -> bool:
    """Work on a slice; True where it has to be enqueued again because the time was up.

    ``rng`` picks where a later pass over the run begins; the first pass goes in order.
    """
    with SLICES.hold(run_id, slice_number) as held:
        if not held:
            return False
        turn = slice_turn.begin(run_id, slice_number, clock, rng or random.Random())
        if turn is None:
            return False
        with language_of(turn.run.created_by):
            again = _work_to_the_end(turn, budget_s)
    if not again:
        settle_run(run_id=run_id, at=clock())
    return again


def _work_to_the_end(turn: SliceTurn, budget_s: float) -> bool:
    """Work on the slice and record how the turn ended; True where the time was up."""
    again = False
    try:
        again = turn.run.judge.kind_info.work(turn, time.monotonic() + budget_s)
    except EndpointDown as down:
        slice_turn.pause(turn, str(down))
    except (TurnStopped, DomainError) as stopped:
        slice_turn.end(turn, RunSlice.Status.STOPPED, reason=translate(stopped.args[0]))
    except DatabaseError:
        raise  # nothing can be recorded; the sweep enqueues it again
    except Exception as error:
        log.exception("judge_slice_failed", run=turn.run.public_id, slice=turn.row.number)
        reason = _("The worker failed (%(error)s). See its log for details.") % {"error": type(error).__name__}
        slice_turn.end(turn, RunSlice.Status.STOPPED, reason=reason, failed=True)
    else:
        if again:
            slice_turn.end(turn, RunSlice.Status.PENDING)
        elif turn.cancelled:
            slice_turn.end(turn, RunSlice.Status.STOPPED)
        else:
            slice_turn.end(turn, RunSlice.Status.DONE)
    return again
