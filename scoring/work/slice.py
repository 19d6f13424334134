"""A Celery worker's work on a slice, from its task to the end of the turn.

`work_on_slice` takes the lease, asks what is missing, and writes down how the turn ended. It is safe to run twice and
to be killed anywhere: the lock goes with the connection, verdicts are unique, and the next worker asks again what is
missing. A kill costs the requests in flight and the results not yet written.
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
from consilium.llm.errors import may_pass
from scoring.judges.config import chat_config
from scoring.models import RunSlice
from scoring.runs.services import SLICES, settle_run
from scoring.work import lease
from scoring.work.chat import chat_dispatcher
from scoring.work.dispatcher import Dispatcher
from scoring.work.lease import SliceTurn
from scoring.work.missing import Questions, missing_questions, requests_of
from scoring.work.store import JudgedRequest
from scoring.work.turn import TASK_BUDGET_S, ask_all

log = structlog.get_logger(__name__)


class Stopped(Exception):
    """The slice cannot go on, for a reason that is no fault of the program's."""


class EndpointDown(Stopped):
    """The endpoint does not answer, but may do so after a while."""


def work_on_slice(
    run_id: int, number: int, *, clock: Clock, rng: random.Random | None = None, budget_s: float = TASK_BUDGET_S
) -> bool:
    """Work on a slice; True where it has to be enqueued again because the time was up.

    ``rng`` says where a later pass over the run begins; the first goes in order.
    """
    with SLICES.hold(run_id, number) as held:
        if not held:
            return False
        turn = lease.begin(run_id, number, clock, rng or random.Random())
        if turn is None:
            return False
        with language_of(turn.run.created_by):
            again = _work_to_the_end(turn, budget_s)
    if not again:
        settle_run(run_id=run_id, at=clock())
    return again


def _work_to_the_end(turn: SliceTurn, budget_s: float) -> bool:
    """Work, and write down how it ended; True where the time was up."""
    again = False
    try:
        again = turn.run.judge.kind_info.work(turn, time.monotonic() + budget_s)
    except EndpointDown as down:
        lease.pause(turn, str(down))
    except (Stopped, DomainError) as stopped:
        lease.end(turn, RunSlice.Status.STOPPED, reason=translate(stopped.args[0]))
    except DatabaseError:
        raise  # nothing can be written down; the sweep enqueues it again
    except Exception as error:
        log.exception("judge_slice_failed", run=turn.run.public_id, slice=turn.row.number)
        reason = _("The worker failed (%(error)s); its log says more.") % {"error": type(error).__name__}
        lease.end(turn, RunSlice.Status.STOPPED, reason=reason, failed=True)
    else:
        if again:
            lease.end(turn, RunSlice.Status.PENDING)
        elif turn.cancelled:
            lease.end(turn, RunSlice.Status.STOPPED)
        else:
            lease.end(turn, RunSlice.Status.DONE)
    return again


def ask_endpoint(turn: SliceTurn, until: float) -> bool:
    """Request what a slice lacks from its endpoint; True where the time was up first."""
    slices = turn.run.slices.count()
    config = chat_config(turn.run.snapshot["config"])
    # The first pass goes in order; a later one begins anywhere, lest what failed come before all the rest.
    rng = turn.rng if turn.row.calls else None
    chunks = (
        list(requests_of(questions, together=config.together))
        for questions in missing_questions(turn.run, turn.row.number, slices, whole=config.together, rng=rng)
    )
    with chat_dispatcher(turn.run, turn.row) as dispatcher:
        if turn.row.pauses:
            dispatcher.probe()
        time_is_up = ask_all(turn, dispatcher, chunks, until=until, timeout_s=config.timeout_s)
    if turn.cancelled:
        return False
    if dispatcher.down and may_pass(turn.failures.kind) and turn.pauses < config.pauses:
        raise EndpointDown(_failure_message(turn, dispatcher))
    if dispatcher.budget_spent:
        if turn.stored and lease.may_claim_more(turn):
            return True  # another turn, with a larger claim
        raise Stopped(_("The budget is spent: the next request could pass it. What is missing waits for more."))
    if dispatcher.down or (turn.failures.total and (not time_is_up or not turn.stored)):
        raise Stopped(_failure_message(turn, dispatcher))
    return time_is_up


def _failure_message(turn: SliceTurn, dispatcher: Dispatcher[Questions, JudgedRequest]) -> str:
    """Why the endpoint's failures end the turn."""
    number = dispatcher.failures_in_a_row if dispatcher.down else turn.failures.total
    if dispatcher.down and not may_pass(turn.failures.kind):
        message = _("The endpoint refuses: %(n)s requests in a row failed. The last: %(last)s")
    elif dispatcher.down:
        message = _("The endpoint does not answer: %(n)s requests in a row failed. The last: %(last)s")
    else:
        message = _("%(n)s requests failed after their retries. The last: %(last)s")
    return message % {"n": number, "last": turn.failures.last}
