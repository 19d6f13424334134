"""Releases expired leases. Every function may run at any time and twice: see `annotation.tasks`."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, Max, OuterRef

from annotation.models import Assignment, Batch, Decision, Membership
from annotation.services.rules import lock_batch_shared
from annotation.services.slots.returns import release
from consilium.core.errors import Conflict

# Leases do not apply to work that was handed in once: if it is returned it waits for its annotator.
LEASED = (Assignment.Status.NOT_STARTED, Assignment.Status.DRAFT)
GOLD_WAITS = timedelta(hours=24)


def release_expired(*, at: datetime) -> int:
    """Put back work of open batches whose lease has expired; returns how many pieces. Every save renews the lease.

    A save does not write the lease: this function alone derives it from the time of the last decision.
    """
    due = Assignment.objects.filter(
        status__in=LEASED,
        lease_until__lte=at,
        batch__status=Batch.Status.OPEN,
        batch__lease_hours__isnull=False,
    ).exclude(purpose=Assignment.Purpose.QUALIFICATION)
    batches = due.order_by("batch").values_list("batch", flat=True).distinct()
    return sum(_release_expired_in(batch, at) for batch in list(batches))


@transaction.atomic
def _release_expired_in(batch_id: int, at: datetime) -> int:
    lock_batch_shared(batch_id)
    batch = Batch.objects.get(pk=batch_id)
    if batch.status != Batch.Status.OPEN or batch.lease_hours is None:
        return 0
    rows = list(
        Assignment.objects.select_for_update(no_key=True, skip_locked=True)
        .filter(batch=batch, status__in=LEASED, lease_until__lte=at)
        .order_by("pk")
    )
    # Queried after the rows are locked, so that a save that held them before is seen.
    touched = dict(
        Decision.objects.filter(assignment__in=rows)
        .order_by()
        .values_list("assignment")
        .annotate(Max("updated_at"))
        .values_list("assignment", "updated_at__max")
    )
    expired, renewed = [], []
    for row in rows:
        last = touched.get(row.pk)
        until = last + timedelta(hours=batch.lease_hours) if last else None
        if until is not None and until > at:
            row.lease_until = until
            renewed.append(row)
        else:
            expired.append(row)
    Assignment.objects.bulk_update(renewed, ["lease_until"], batch_size=1000)
    return release(assignments=expired, by=None, at=at) if expired else 0


def release_abandoned(*, at: datetime) -> int:
    """Put back open work whose annotator no longer grades for the group, for any reason; returns how many pieces."""
    active = Membership.objects.filter(
        group=OuterRef("batch__group"),
        user=OuterRef("annotator"),
        role=Membership.Role.ANNOTATOR,
        active=True,
        user__is_active=True,
    )
    rows = (
        Assignment.objects.filter(~Exists(active), status__in=Assignment.OPEN, batch__imported=False)
        .exclude(batch__status=Batch.Status.CLOSED)
        .exclude(purpose=Assignment.Purpose.QUALIFICATION)
    )
    left = list(rows.only("pk"))
    try:
        return release(assignments=left, by=None, at=at) if left else 0
    except Conflict:
        return 0


def settle_gold(*, at: datetime) -> int:
    """Accept gold items handed in at least a day ago: no checker gets them, and their annotator sees no difference."""
    # While other work of the annotator in the batch waits for a checker, gold waits too: `settle_beside` accepts both.
    beside = Assignment.objects.filter(
        batch=OuterRef("batch"),
        annotator=OuterRef("annotator"),
        purpose=Assignment.Purpose.WORK,
        status__in=[Assignment.Status.SUBMITTED, Assignment.Status.IN_CHECK],
    )
    rows = Assignment.objects.filter(
        ~Exists(beside),
        purpose=Assignment.Purpose.GOLD,
        status=Assignment.Status.SUBMITTED,
        submitted_at__lte=at - GOLD_WAITS,
    ).exclude(batch__status=Batch.Status.CLOSED)
    return rows.update(status=Assignment.Status.ACCEPTED, accepted_at=at)
