"""What waits for a physician: the numbers behind "My work" and the home page, in a fixed number of queries."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date

from django.db.models import Case, Count, IntegerField, OuterRef, Q, QuerySet, Subquery, Value, When
from django.utils import timezone

from accounts.models import User
from annotation import access
from annotation.models import Assignment, Batch, Check, Membership
from annotation.standing import Standing, own_standings
from rubrics.models import Benchmark

HANDED_IN = (Assignment.Status.SUBMITTED, Assignment.Status.IN_CHECK, Assignment.Status.ACCEPTED)


@dataclass(frozen=True, slots=True)
class ReturnedWork:
    """Work that a checker sent back, with what they wrote."""

    public_id: str
    position: int
    note: str


@dataclass(slots=True)
class BatchWork:
    """One annotator's part of a batch."""

    batch: Batch
    total: int
    open: int
    waiting: int  # handed in, a checker's turn
    accepted: int
    started: bool
    next_id: str = ""  # public id of the assignment to go on with
    next_position: int = 0
    returned: list[ReturnedWork] = field(default_factory=list)

    @property
    def done(self) -> int:
        """Handed in, whether it was accepted yet or not."""
        return self.waiting + self.accepted

    @property
    def paused(self) -> bool:
        """The admin has stopped the work for now."""
        return bool(self.batch.status == Batch.Status.PAUSED)

    @property
    def overdue(self) -> bool:
        """Past its date with work left."""
        due: date | None = self.batch.due_date
        return due is not None and self.open > 0 and due < timezone.localdate()


@dataclass(frozen=True, slots=True)
class Workload:
    """Everything that "My work" shows."""

    batches: list[BatchWork]
    roles: frozenset[str]
    checks_waiting: int
    checks_held: int
    adjudications: int
    standings: list[Standing] = field(default_factory=list)  # in each group that the physician annotates for

    @property
    def held_back(self) -> bool:
        """Whether some group gives no new work: not qualified, or held back."""
        return any(not standing.may_get_work for standing in self.standings)

    @property
    def current(self) -> list[BatchWork]:
        """Batches that take work now or again later, or whose work a checker still has."""
        return [work for work in self.batches if work.batch.status != Batch.Status.CLOSED]

    @property
    def past(self) -> list[BatchWork]:
        """Closed batches."""
        return [work for work in self.batches if work.batch.status == Batch.Status.CLOSED]

    @property
    def first(self) -> BatchWork | None:
        """The batch to go on with: something returned first, then what is due first."""
        ready = [work for work in self.current if work.next_id and work.batch.status == Batch.Status.OPEN]
        ready.sort(key=lambda work: (not work.returned, work.batch.due_date or date.max, work.batch.pk))
        return ready[0] if ready else None

    @property
    def state(self) -> str:
        """Why there is nothing to grade: ``held_back`` (no new work, `Standing` says why), ``none`` (never any),
        ``paused``, ``waiting`` (a checker's turn) or ``done``; empty where there is something to do."""
        if self.first is not None:
            return ""
        if self.held_back:
            return "held_back"
        if not self.current:
            return "done" if self.past else "none"
        if any(work.open for work in self.current):
            return "paused"
        return "waiting" if any(work.waiting for work in self.current) else "done"


def workload(user: User, benchmark: Benchmark | None = None) -> Workload:
    """The work of ``user``, in one benchmark or in all."""
    own = access.own_assignments(user)
    waiting, held = access.waiting_checks(user), access.held_checks(user)
    conflicts = access.open_adjudications(user)
    members = Membership.objects.filter(user=user, active=True)
    if benchmark is not None:
        own, waiting, held = (rows.filter(batch__group__benchmark=benchmark) for rows in (own, waiting, held))
        conflicts = conflicts.filter(group__benchmark=benchmark)
        members = members.filter(group__benchmark=benchmark)
    standings = own_standings(user, benchmark)
    counts = (
        own.order_by()
        .values("batch")
        .annotate(
            total=Count("pk"),
            open=Count("pk", filter=Q(status__in=Assignment.OPEN)),
            accepted=Count("pk", filter=Q(status=Assignment.Status.ACCEPTED)),
            started=Count("pk", filter=~Q(status=Assignment.Status.NOT_STARTED)),
        )
    )
    numbers = {row["batch"]: row for row in counts}
    batches = (
        Batch.objects.filter(pk__in=numbers).select_related("group__benchmark").order_by("due_date", "created_at", "pk")
    )
    work = {
        batch.pk: BatchWork(
            batch,
            total=numbers[batch.pk]["total"],
            open=numbers[batch.pk]["open"],
            waiting=numbers[batch.pk]["total"] - numbers[batch.pk]["open"] - numbers[batch.pk]["accepted"],
            accepted=numbers[batch.pk]["accepted"],
            started=numbers[batch.pk]["started"] > 0,
        )
        for batch in batches
    }
    _fill_in_next(own.exclude(_not_to_begin(standings)), work)
    _fill_in_returned(own, work)
    return Workload(
        batches=list(work.values()),
        roles=frozenset(members.values_list("role", flat=True)),
        checks_waiting=waiting.count(),
        checks_held=held.count(),
        adjudications=conflicts.count(),
        standings=standings,
    )


def _not_to_begin(standings: list[Standing]) -> Q:
    """New work of groups that give none now; what is begun goes on, and so does the qualification."""
    groups = [standing.group for standing in standings if not standing.may_get_work]
    begun = ~Q(status=Assignment.Status.NOT_STARTED) | Q(purpose=Assignment.Purpose.QUALIFICATION)
    return Q(batch__group__in=groups) & ~begun


def _fill_in_next(own: QuerySet[Assignment], work: dict[int, BatchWork]) -> None:
    """Returned work first, then drafts and untouched work by their place in the queue."""
    rank = Case(When(status=Assignment.Status.RETURNED, then=Value(0)), default=Value(1), output_field=IntegerField())
    rows = (
        Assignment.objects.filter(pk__in=own.filter(status__in=Assignment.OPEN))
        .annotate(rank=rank)
        .order_by("batch", "rank", "position", "pk")
        .distinct("batch")
        .values_list("batch", "public_id", "position")
    )
    for batch, public_id, position in rows:
        work[batch].next_id, work[batch].next_position = public_id, position


def _fill_in_returned(own: QuerySet[Assignment], work: dict[int, BatchWork]) -> None:
    last = Check.objects.filter(assignment=OuterRef("pk"), result=Check.Result.RETURNED).order_by("-round")
    rows = own.filter(status=Assignment.Status.RETURNED).annotate(what=Subquery(last.values("note")[:1]))
    for batch, public_id, position, note in rows.order_by("position").values_list(
        "batch", "public_id", "position", "what"
    ):
        work[batch].returned.append(ReturnedWork(public_id, position, note or ""))
