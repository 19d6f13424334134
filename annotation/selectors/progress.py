"""Conflicts of batches and of groups for staff, in a fixed number of queries."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from annotation.models import Adjudication, Batch, BatchItem


@dataclass(frozen=True, slots=True)
class ConflictCounts:
    """Adjudications: how many responses in conflict are settled, and how many there are."""

    done: int
    total: int

    @property
    def open(self) -> int:
        """Responses still to be settled."""
        return self.total - self.done


# Open conflicts on excluded cases, which no adjudicator is given.
_OF_EXCLUDED_CASES = Q(status=Adjudication.Status.OPEN, response__case__excluded_at__isnull=False)


def conflicts_of(batch: Batch) -> ConflictCounts:
    """Conflicts within the group on responses of the batch."""
    responses = BatchItem.objects.filter(batch=batch).values("response")
    return _counts(Adjudication.objects.filter(group=batch.group_id, other_group=None, response__in=responses))


def _counts(rows: QuerySet[Adjudication]) -> ConflictCounts:
    counts = rows.exclude(_OF_EXCLUDED_CASES).aggregate(done=Count("pk", filter=Q(status="done")), total=Count("pk"))
    return ConflictCounts(counts["done"], counts["total"])


def conflicts_by_groups(benchmark_id: int) -> list[dict[str, object]]:
    """A row for each group, and each pair of groups, with adjudications: ids, names, number settled and in all."""
    rows = (
        Adjudication.objects.filter(group__benchmark=benchmark_id)
        .exclude(_OF_EXCLUDED_CASES)
        .order_by("other_group__name", "group__name")
        .values("group__public_id", "group__name", "other_group__public_id", "other_group__name")
        .annotate(done=Count("pk", filter=Q(status="done")), total=Count("pk"))
    )
    return [dict(row) for row in rows]
