"""Progress of batches for staff: by stage and by physician, in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.models import Adjudication, Assignment, Batch, BatchItem, Slot

# Released work belongs to nobody: its slot counts again, for whoever takes it or as free.
STAGES = tuple(status for status in Assignment.Status.values if status != Assignment.Status.RELEASED)


@dataclass(slots=True)
class Progress:
    """Numbers of pieces of work by status; gold items and qualification are none. ``free`` waits in the pool."""

    by_status: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STAGES, 0))
    free: int = 0

    @property
    def total(self) -> int:
        """All pieces, those that nobody has taken too."""
        return sum(self.by_status.values()) + self.free

    @property
    def accepted(self) -> int:
        """Those that count."""
        return self.by_status["accepted"]


def progress_of(batches: Iterable[Batch]) -> dict[int, Progress]:
    """Batch id → progress."""
    progress_by_batch = {batch.pk: Progress() for batch in batches}
    rows = _counted(Assignment.objects.filter(batch__in=progress_by_batch))
    for batch, status, number in rows.values_list("batch", "status").annotate(Count("pk")):
        progress_by_batch[batch].by_status[status] = number
    free = Slot.objects.filter(~Exists(_holders()), item__batch__in=progress_by_batch).order_by()
    for batch, number in free.values_list("item__batch").annotate(Count("pk")):
        progress_by_batch[batch].free = number
    return progress_by_batch


def _counted(rows: QuerySet[Assignment]) -> QuerySet[Assignment]:
    work = rows.filter(purpose=Assignment.Purpose.WORK).exclude(status=Assignment.Status.RELEASED)
    return work.order_by()


def _holders() -> QuerySet[Assignment]:
    return Assignment.objects.filter(slot=OuterRef("pk")).exclude(status=Assignment.Status.RELEASED)


@dataclass(frozen=True, slots=True)
class ConflictCounts:
    """Adjudications: how many responses are settled, of how many in conflict."""

    done: int
    total: int

    @property
    def open(self) -> int:
        """Still to be settled."""
        return self.total - self.done


def conflicts_of(batch: Batch) -> ConflictCounts:
    """Conflicts within the group on responses of the batch."""
    responses = BatchItem.objects.filter(batch=batch).values("response")
    return _counts(Adjudication.objects.filter(group=batch.group_id, other_group=None, response__in=responses))


def _counts(rows: QuerySet[Adjudication]) -> ConflictCounts:
    counts = rows.aggregate(done=Count("pk", filter=Q(status="done")), total=Count("pk"))
    return ConflictCounts(counts["done"], counts["total"])


def conflicts_by_groups(benchmark_id: int) -> list[dict[str, object]]:
    """A line for each group, and for each pair of groups, that has adjudications: names, counts, conflicts in all."""
    rows = (
        Adjudication.objects.filter(group__benchmark=benchmark_id)
        .order_by("other_group__name", "group__name")
        .values("group__name", "other_group__name")
        .annotate(done=Count("pk", filter=Q(status="done")), total=Count("pk"))
    )
    return [dict(row) for row in rows]
