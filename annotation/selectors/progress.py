"""Progress of batches for staff: by stage and by physician, in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.models import Adjudication, Assignment, Batch, BatchItem, Slot

# Released work is not counted: its slot counts as free, or as the work of the person who takes it next.
STAGES = tuple(status for status in Assignment.Status.values if status != Assignment.Status.RELEASED)


@dataclass(slots=True)
class Progress:
    """Pieces of work by status, without gold items and qualification. ``free``: pieces that nobody has taken."""

    by_status: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STAGES, 0))
    free: int = 0

    @property
    def total(self) -> int:
        """All pieces, including those that nobody has taken."""
        return sum(self.by_status.values()) + self.free

    @property
    def accepted(self) -> int:
        """Accepted pieces, whose decisions count."""
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
    """Adjudications: how many responses in conflict are settled, and how many there are."""

    done: int
    total: int

    @property
    def open(self) -> int:
        """Responses still to be settled."""
        return self.total - self.done


def conflicts_of(batch: Batch) -> ConflictCounts:
    """Conflicts within the group on responses of the batch."""
    responses = BatchItem.objects.filter(batch=batch).values("response")
    return _counts(Adjudication.objects.filter(group=batch.group_id, other_group=None, response__in=responses))


def _counts(rows: QuerySet[Adjudication]) -> ConflictCounts:
    counts = rows.aggregate(done=Count("pk", filter=Q(status="done")), total=Count("pk"))
    return ConflictCounts(counts["done"], counts["total"])


def conflicts_by_groups(benchmark_id: int) -> list[dict[str, object]]:
    """A row for each group, and each pair of groups, with adjudications: ids, names, number settled and in all."""
    rows = (
        Adjudication.objects.filter(group__benchmark=benchmark_id)
        .order_by("other_group__name", "group__name")
        .values("group__public_id", "group__name", "other_group__public_id", "other_group__name")
        .annotate(done=Count("pk", filter=Q(status="done")), total=Count("pk"))
    )
    return [dict(row) for row in rows]
