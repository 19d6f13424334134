"""Progress: pieces by stage for each physician in each batch, and their sums."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

from django.db.models import Count, Max, Min, Q, QuerySet
from django.db.models.functions import TruncDate
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation.models import Assignment, Batch, Check, Decision, LabelTask, Skip, Slot, WritingTask
from annotation.selectors.case_work import of_excluded_cases

# In the order of a bar that fills from the left: the furthest stage comes first.
STAGES: dict[str, Promise] = {
    "accepted": Assignment.Status.ACCEPTED.label,
    "in_check": Assignment.Status.IN_CHECK.label,
    "submitted": _("Waiting for a check"),
    "returned": Assignment.Status.RETURNED.label,
    "draft": Assignment.Status.DRAFT.label,
    "not_started": Assignment.Status.NOT_STARTED.label,
    "unassigned": _("In the pool"),
    "not_checked": _("Not checked (batch closed)"),
    "not_done": _("Not submitted (batch closed)"),
}
OPEN = ("not_started", "draft", "returned")
HANDED_IN = ("submitted", "in_check", "accepted")
# Stages that no longer go on once their batch is closed, and the stage that they are counted as then.
ENDED = {"submitted": "not_checked", "in_check": "not_checked"} | dict.fromkeys((*OPEN, "unassigned"), "not_done")
WEEK = timedelta(days=7)

Key = tuple[int, int]  # batch, annotator; annotator 0 stands for nobody yet


@dataclass(slots=True)
class Work:
    """Pieces of work by stage, and what was skipped and returned of them."""

    by_stage: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STAGES, 0))
    given: int = 0  # ever handed to somebody: the denominator of the skip rate
    skipped: int = 0
    checked: int = 0  # went through at least one check: the denominator of the return rate
    returned: int = 0  # of those, came back at least once
    unchecked: int = 0  # nobody checks them: they count once handed in, which is their stage *accepted*
    week: int = 0  # handed in within the last seven days
    first: datetime | None = None  # handed in
    last: datetime | None = None  # something was done

    def add(self, other: Work) -> None:
        """Add another's numbers."""
        for stage, number in other.by_stage.items():
            self.by_stage[stage] += number
        for name in ("given", "skipped", "checked", "returned", "unchecked", "week"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.first = min((at for at in (self.first, other.first) if at), default=None)
        self.last = max((at for at in (self.last, other.last) if at), default=None)

    def end(self) -> None:
        """Count what its closed batch left undone as not done and not checked."""
        for stage, ended in ENDED.items():
            self.by_stage[ended] += self.by_stage[stage]
            self.by_stage[stage] = 0

    def saw(self, at: datetime | None) -> None:
        """Record that something was done at this time."""
        if at is not None and (self.last is None or at > self.last):
            self.last = at

    @property
    def total(self) -> int:
        """All pieces, including those that nobody has yet."""
        return sum(self.by_stage.values())

    @property
    def undone(self) -> int:
        """Pieces that closed batches left undone: not submitted, or submitted and not checked."""
        return sum(self.by_stage[stage] for stage in set(ENDED.values()))

    @property
    def counted(self) -> int:
        """All pieces without those that closed batches left undone."""
        return self.total - self.undone

    @property
    def accepted(self) -> int:
        """Pieces that count."""
        return self.by_stage["accepted"]

    @property
    def open(self) -> int:
        """Pieces that an annotator has and has not finished."""
        return sum(self.by_stage[stage] for stage in OPEN)

    @property
    def left(self) -> int:
        """Pieces still to be handed in."""
        return self.open + self.by_stage["unassigned"]

    @property
    def handed_in(self) -> int:
        """Pieces that the annotator has finished for now."""
        return sum(self.by_stage[stage] for stage in (*HANDED_IN, "not_checked"))

    @property
    def counted_handed_in(self) -> int:
        """As `handed_in`, of the pieces that are `counted`."""
        return sum(self.by_stage[stage] for stage in HANDED_IN)

    @property
    def waiting(self) -> int:
        """Pieces that are a checker's turn: those that wait for one, and those in check."""
        return self.by_stage["submitted"] + self.by_stage["in_check"]

    @property
    def done(self) -> bool:
        """Whether nothing is left to do."""
        return self.total > 0 and self.accepted == self.total

    @property
    def stages(self) -> list[tuple[str, Promise, int]]:
        """Stage, its word and number, furthest first; of work that nobody checks without the stages of a check."""
        if self.is_unchecked:
            words = {
                "accepted": _("Submitted"),
                **{stage: STAGES[stage] for stage in ("draft", "not_started", "not_done")},
            }
        else:
            words = STAGES
        return [(stage, word, self.by_stage[stage]) for stage, word in words.items()]

    @property
    def is_unchecked(self) -> bool:
        """Whether nobody checks any of it."""
        return 0 < self.unchecked == self.total

    @property
    def skip_rate(self) -> float | None:
        """Share of the pieces given that were skipped at least once; what was put off for later is not."""
        return self.skipped / self.given if self.given else None

    @property
    def return_rate(self) -> float | None:
        """Share of the checked pieces that came back at least once."""
        return self.returned / self.checked if self.checked else None


class Table(dict[Key, Work]):
    """(batch, annotator) → work."""

    def __missing__(self, key: Key) -> Work:
        self[key] = Work()
        return self[key]

    def total(self, batches: Iterable[int] | None = None) -> Work:
        """Everything, or what lies in ``batches``."""
        chosen = None if batches is None else set(batches)
        total = Work()
        for (batch, _annotator), work in self.items():
            if chosen is None or batch in chosen:
                total.add(work)
        return total

    def by_batch(self) -> dict[int, Work]:
        """Batch → its work."""
        work_by_batch: dict[int, Work] = {}
        for (batch, _annotator), work in self.items():
            work_by_batch.setdefault(batch, Work()).add(work)
        return work_by_batch

    def by_annotator(self) -> dict[int, Work]:
        """Annotator → their work; pieces that nobody has yet are left out."""
        work_by_annotator: dict[int, Work] = {}
        for (_batch, annotator), work in self.items():
            if annotator:
                work_by_annotator.setdefault(annotator, Work()).add(work)
        return work_by_annotator


def count_work(batches: Iterable[Batch], *, at: datetime) -> Table:
    """The work of ``batches``, in six queries. What a closed batch left undone is counted as that, not as open."""
    batches = list(batches)
    chosen = [batch.pk for batch in batches]
    table = Table()
    rows = (
        Assignment.objects.filter(batch__in=chosen, purpose=Assignment.Purpose.WORK)
        # Checkers are given no work on an excluded case.
        .exclude(status=Assignment.Status.SUBMITTED, case__excluded_at__isnull=False)
        .order_by()
        .values_list("batch", "annotator", "status")
        .annotate(
            number=Count("pk"), week=Count("pk", filter=Q(submitted_at__gt=at - WEEK)), first=Min("submitted_at"),
            last=Max("submitted_at"), started=Max("started_at"),
        )
    )  # fmt: skip
    for batch, annotator, status, number, week, first, last, started in rows:
        work = table[batch, annotator]
        work.given += number
        work.saw(last)
        work.saw(started)
        if status == Assignment.Status.RELEASED:
            continue
        work.by_stage[status] = number
        if status in HANDED_IN:
            work.week += week
            work.first = min(filter(None, (work.first, first)), default=None)
    labelled = LabelTask.objects.filter(batch__in=chosen).values_list("batch", "annotator", "status")
    written = WritingTask.objects.filter(batch__in=chosen).values_list("batch", "writer", "status")
    _unchecked(table, labelled, at)
    _unchecked(table, written, at)
    free = Slot.objects.filter(item__batch__in=chosen, item__response__case__excluded_at=None).exclude(
        pk__in=Assignment.objects.filter(batch__in=chosen, slot__isnull=False)
        .exclude(status=Assignment.Status.RELEASED)
        .values("slot")
    )
    for batch, number in free.order_by().values_list("item__batch").annotate(Count("pk")):
        table[batch, 0].by_stage["unassigned"] = number
    _rates(table, chosen)
    # The last saves in drafts; submitted work has its own times.
    drafts = Decision.objects.filter(assignment__batch__in=chosen, assignment__status__in=["draft", "returned"])
    recent = drafts.order_by().values_list("assignment__batch", "assignment__annotator").annotate(Max("updated_at"))
    for batch, annotator, last in recent:
        table[batch, annotator].saw(last)
    closed = {batch.pk for batch in batches if batch.status == Batch.Status.CLOSED}
    for (pk, _annotator), work in table.items():
        if pk in closed:
            work.end()
    return table


def _unchecked(table: Table, tasks: QuerySet[Any, Any], at: datetime) -> None:
    """Answers about cases and written responses (batch, who, status): not checked; they count once handed in."""
    rows = (
        tasks.exclude(status=LabelTask.Status.RELEASED)
        .exclude(of_excluded_cases())
        .order_by()
        .annotate(number=Count("pk"), week=Count("pk", filter=Q(submitted_at__gt=at - WEEK)), first=Min("submitted_at"),
                  last=Max("submitted_at"), started=Max("started_at"))
    )  # fmt: skip
    for batch, annotator, status, number, week, first, last, started in rows:
        work = table[batch, annotator]
        work.by_stage["accepted" if status == LabelTask.Status.SUBMITTED else status] += number
        work.given += number
        work.unchecked += number
        work.week += week
        work.first = min(filter(None, (work.first, first)), default=None)
        work.saw(last)
        work.saw(started)


def _rates(table: Table, batches: list[int]) -> None:
    skips = Skip.objects.filter(assignment__batch__in=batches, assignment__purpose=Assignment.Purpose.WORK)
    for batch, annotator, number in (
        skips.exclude(reason=Skip.Reason.LATER)
        .order_by()
        .values_list("assignment__batch", "assignment__annotator")
        .annotate(Count("assignment", distinct=True))
    ):
        table[batch, annotator].skipped = number
    checks = Check.objects.filter(assignment__batch__in=batches, assignment__purpose=Assignment.Purpose.WORK)
    for batch, annotator, checked, returned in (
        checks.exclude(result="")
        .order_by()
        .values_list("assignment__batch", "assignment__annotator")
        .annotate(
            checked=Count("assignment", distinct=True),
            returned=Count("assignment", distinct=True, filter=Q(result=Check.Result.RETURNED)),
        )
    ):
        table[batch, annotator].checked, table[batch, annotator].returned = checked, returned


def days_of(batches: Iterable[Batch], *, since: date) -> dict[int, dict[date, int]]:
    """Batch → day in the reader's time zone → pieces handed in; a piece counts on the day it was last handed in."""
    chosen = [batch.pk for batch in batches]
    zone = timezone.get_current_timezone()
    counts_by_batch: dict[int, dict[date, int]] = {batch: {} for batch in chosen}
    start = datetime.combine(since, datetime.min.time(), tzinfo=zone)
    first, *others = (
        rows.filter(batch__in=chosen, submitted_at__gte=start)
        .order_by()
        .annotate(day=TruncDate("submitted_at", tzinfo=zone))
        .values_list("batch", "day")
        .annotate(Count("pk"))
        for rows in (
            Assignment.objects.filter(status__in=HANDED_IN, purpose=Assignment.Purpose.WORK),
            LabelTask.objects.filter(status=LabelTask.Status.SUBMITTED),
            WritingTask.objects.filter(status=WritingTask.Status.SUBMITTED),
        )
    )
    for batch, day, number in first.union(*others, all=True):
        counts_by_batch[batch][day] = counts_by_batch[batch].get(day, 0) + number
    return counts_by_batch


def summed(days: Mapping[int, Mapping[date, int]]) -> dict[date, int]:
    """Day → pieces handed in, over all batches."""
    counts_by_day: dict[date, int] = {}
    for counts in days.values():
        for day, number in counts.items():
            counts_by_day[day] = counts_by_day.get(day, 0) + number
    return counts_by_day


__all__ = ["ENDED", "OPEN", "STAGES", "Table", "Work", "count_work", "days_of", "summed"]
