"""Whether beat enqueues the sweeps, and whether there is exactly one."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from consilium.core.heartbeat import BeatHeartbeat, with_age
from operations.checks.check import Check, Result, State


def silent_after_s() -> float:
    """It enqueues several tasks every `SWEEP_SECONDS`; two rounds that are left out are a failure."""
    return float(2 * settings.SWEEP_SECONDS)


def look() -> Result:
    """Compare the ages of all rows."""
    rows = list(with_age(BeatHeartbeat.objects.order_by("-beat_at")))
    if not rows:
        return Result(State.FAILED, _("No beat has been seen."), _("Start beat; there must be exactly one."))
    newest = rows[0]
    age_s = max(newest.age.total_seconds(), 0.0)
    figures = {"newest_heartbeat_age_seconds": age_s}
    if age_s > silent_after_s():
        return Result(
            State.FAILED,
            _("Beat has enqueued nothing for %(seconds)s s.") % {"seconds": round(age_s)},
            _("Repair the broker if it has failed; otherwise start beat again, and look at the end of its log."),
            since=newest.beat_at,
            figures=figures,
        )
    # A beat that went on after another was started is not one that was replaced.
    both_after = timedelta(seconds=settings.SWEEP_SECONDS)
    youngest = max(rows, key=lambda row: row.started_at)
    others = [row for row in rows if row.pk != youngest.pk and row.beat_at > youngest.started_at + both_after]
    if any(row.age.total_seconds() <= silent_after_s() for row in others):
        return Result(
            State.WARNING,
            _("More than one beat runs, on %(hosts)s.")
            % {"hosts": ", ".join(sorted({row.host for row in (youngest, *others)}))},
            _("Stop all but one: each task is enqueued once by each of them."),
            figures=figures,
        )
    return Result(State.OK, _("Beat enqueues what is due."), since=youngest.started_at, figures=figures)


CHECK = Check("beat", gettext_lazy("Beat"), look, vital=True, needs_database=True)
