"""Notifies those who run a benchmark of the end of a job or a run. The services of each kind call it.

Call it in the transaction that writes the end, so that no notification is lost and none comes twice.
"""

from __future__ import annotations

from collections.abc import Container
from datetime import datetime, timedelta

from accounts.models import Notification
from accounts.services.notifications import notify_each
from consilium.core.jobs import JobStatus
from rubrics.models import Benchmark, BenchmarkRole

Kind = Notification.Kind
# Who started a job that succeeds sooner, or whose file is refused sooner, is still on its page, which shows the end.
QUICK = timedelta(seconds=10)
END_OF_JOB: dict[str, str] = {JobStatus.DONE: "done", JobStatus.REFUSED: "refused", JobStatus.FAILED: "failed"}
# How something ended → the kind of notification.
KINDS = {
    "done": Kind.JOB_DONE,
    "refused": Kind.JOB_FAILED,
    "incomplete": Kind.JOB_FAILED,
    "failed": Kind.JOB_FAILED,
    "budget": Kind.BUDGET,
}
# Ends that all admins of the benchmark hear of. A file that was refused concerns who uploaded it alone.
FOR_ADMINS = frozenset({"incomplete", "failed", "budget"})


def notify_of_end(
    *,
    benchmark: Benchmark,
    by: int | None,
    begun_at: datetime,
    what: str,
    end: str,
    url: str,
    at: datetime,
    hidden_from: Container[int] = (),
    **values: str,
) -> None:
    """Notify who started something and, if it failed, the admins of ``benchmark``.

    Only those who run the benchmark are notified, because the page at ``url`` is theirs alone. ``by`` is the id of who
    started it. They get no notification of a success or a refused file within `QUICK`. ``what`` and ``end`` are a key
    of `accounts.staff_notices.ENDS`; ``values``: what its text is made from. ``hidden_from`` are ids of people who
    must not know of it.
    """
    roles = BenchmarkRole.objects.filter(benchmark=benchmark, active=True, user__is_active=True)
    people = {
        user
        for user, role in roles.values_list("user_id", "role")
        if user != by and role == BenchmarkRole.Role.ADMIN and end in FOR_ADMINS
    }
    if end in FOR_ADMINS or at - begun_at >= QUICK:
        people.update(roles.filter(user=by).values_list("user_id", flat=True))
    notify_each(
        people={user: {"what": what, "end": end, **values} for user in sorted(people) if user not in hidden_from},
        kind=KINDS[end],
        benchmark_title=benchmark.title,
        url=url,
        at=at,
    )


def admins_of(benchmark: Benchmark) -> list[int]:
    """The ids of the active admins of ``benchmark``, in order."""
    roles = BenchmarkRole.objects.filter(
        benchmark=benchmark, role=BenchmarkRole.Role.ADMIN, active=True, user__is_active=True
    )
    return sorted(roles.values_list("user_id", flat=True))
