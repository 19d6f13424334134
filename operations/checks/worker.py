"""Whether a worker makes progress, by the rows of their heartbeats."""

from __future__ import annotations

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from consilium.core.heartbeat import WorkerHeartbeat, with_age
from operations.checks.check import Check, Result, State

ADVICE = gettext_lazy("Start the worker again; the end of its log says why it ended.")


def silent_after_s() -> float:
    """A worker that has not written for this long is not at work.

    It writes six times within the limit of its watchdog, and stops after half of it. So whatever keeps it from its
    work is seen within the limit.
    """
    return float(settings.WORKER_STALL_LIMIT_S) / 2


def look() -> Result:
    """Compare the ages of all rows."""
    rows = list(with_age(WorkerHeartbeat.objects.order_by("-beat_at")))
    limit_s = silent_after_s()
    at_work = [row for row in rows if row.age.total_seconds() <= limit_s]
    # A worker that was started again on the same machine takes the place of the one before.
    silent = [
        row
        for row in rows
        if row not in at_work
        and not any(other.host == row.host and other.started_at > row.beat_at for other in at_work)
    ]
    figures = {
        "at_work": float(len(at_work)),
        "silent": float(len(silent)),
        "active_tasks": float(sum(len(row.active_tasks) for row in at_work)),
        "waiting_tasks": float(sum(row.waiting_tasks for row in at_work)),
    }
    if rows:
        figures["newest_heartbeat_age_seconds"] = max(rows[0].age.total_seconds(), 0.0)
    if not at_work:
        if not rows:
            message = _("No worker has been seen.")
            return Result(State.FAILED, message, _("Start a worker."), figures=figures)
        message = _("No worker has made progress for %(seconds)s s.") % {"seconds": round(rows[0].age.total_seconds())}
        return Result(State.FAILED, message, str(ADVICE), since=rows[0].beat_at, figures=figures)
    if silent:
        message = _("A worker on %(host)s makes no progress.") % {"host": silent[0].host}
        return Result(State.WARNING, message, str(ADVICE), since=silent[0].beat_at, figures=figures)
    if all(row.state != WorkerHeartbeat.State.WORKING for row in at_work):
        return Result(
            State.WARNING,
            _("The worker is not connected to the broker."),
            _("See what the broker’s line says; the worker connects again by itself."),
            figures=figures,
        )
    message = ngettext("%(count)s worker is at work.", "%(count)s workers are at work.", len(at_work)) % {
        "count": len(at_work)
    }
    return Result(State.OK, message, since=min(row.started_at for row in at_work), figures=figures)


CHECK = Check("worker", gettext_lazy("Worker"), look, vital=True, needs_database=True)
