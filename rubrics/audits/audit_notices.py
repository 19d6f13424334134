"""Notifies auditors of a new or closed audit, and admins of its end and of proposals to remove a case."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any

from django.urls import reverse

from accounts.models import Notification
from accounts.services.notifications import notify_each
from rubrics.audits.access import being_read, open_to, with_entries
from rubrics.models import AuditItem, AuthoringRole, CaseAudit
from rubrics.services.job_notices import admins_of

Kind = Notification.Kind


def notify_of_new_audit(audit: CaseAudit, *, at: datetime) -> None:
    """Tell each auditor how many cases of a new audit they may read."""
    benchmark = audit.benchmark
    auditors = AuthoringRole.objects.filter(benchmark=benchmark, role=AuthoringRole.Role.AUDITOR, active=True)
    people: dict[int, dict[str, Any]] = {}
    for role in auditors.select_related("user"):
        count = open_to(role.user, benchmark).filter(audit=audit).values("case").distinct().count()
        if count:
            people[role.user_id] = {"what": "audit", "batch": audit.title, "count": count}
    notify_each(
        people=people,
        kind=Kind.NEW_WORK,
        benchmark_title=benchmark.title,
        url=reverse("rubrics:audit-desk", args=[benchmark.slug]),
        at=at,
        key=f"audit:{audit.public_id}",
    )


def notify_of_closed_audit(audit: CaseAudit, *, at: datetime) -> None:
    """Tell each auditor who was reading a case of an audit that it was closed before they submitted the case.

    Whoever has saved entries is told of those cases, which their dashboard lists, and that the entries are kept.
    """
    items = audit.items.all()
    reading = Counter(being_read(items).values_list("auditor", flat=True))
    saved = Counter(with_entries(items).values_list("auditor", flat=True))
    benchmark = audit.benchmark
    notify_each(
        people={
            user: {"what": "audit-closed", "batch": audit.title, "count": n, "kept": user in saved}
            for user, n in {**reading, **saved}.items()
        },
        kind=Kind.NEW_WORK,
        benchmark_title=benchmark.title,
        url=reverse("rubrics:audit-desk", args=[benchmark.slug]),
        at=at,
        key=f"audit-closed:{audit.public_id}",
    )


def notify_of_finding(item: AuditItem, *, at: datetime) -> None:
    """Tell the admins that an auditor would remove a case, and that all cases of an audit are read."""
    audit = item.audit
    if item.outcome == AuditItem.Outcome.REMOVE:
        values = {"what": "removal", "batch": audit.title, "case": item.case.key}
        _tell_admins(audit, values, key=f"removal:{item.public_id}", at=at)
    if not audit.items.filter(done_at=None, case__excluded_at=None).exists():
        values = {"what": "audit", "batch": audit.title}
        _tell_admins(audit, values, key=f"audit-done:{audit.public_id}", at=at)


def _tell_admins(audit: CaseAudit, values: dict[str, Any], *, key: str, at: datetime) -> None:
    benchmark = audit.benchmark
    notify_each(
        people=dict.fromkeys(admins_of(benchmark), values),
        kind=Kind.BATCH,
        benchmark_title=benchmark.title,
        url=reverse("rubrics:audit", args=[benchmark.slug, audit.public_id]),
        at=at,
        key=key,
    )
