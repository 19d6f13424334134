"""The workload of a physician: the counts of "My work" and the home page, in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date

from django.db.models import Count, OuterRef, Q, Subquery
from django.utils import timezone

from accounts.models import User
from annotation import access
from annotation.labels.selectors import label_work
from annotation.models import Assignment, Batch, Membership, Slot
from annotation.qualification.pool import with_startable_attempts
from annotation.selectors import own_work_queries as queries
from annotation.selectors.case_work import CaseWork, pace_of
from annotation.selectors.eligibility import QUALIFICATION, Eligibility, own_eligibilities
from annotation.selectors.reviews import AmendedLine, amendments_in
from annotation.services import slots
from annotation.writing.selectors import writing_work
from rubrics.models import Benchmark

HANDED_IN = (Assignment.Status.SUBMITTED, Assignment.Status.IN_CHECK, Assignment.Status.ACCEPTED)


@dataclass(frozen=True, slots=True)
class ReturnedWork:
    """Work that a checker sent back, with the checker's note and outcomes."""

    public_id: str
    place: int  # in the annotator's queue
    note: str
    amended: list[AmendedLine]


@dataclass(slots=True)
class BatchWork:
    """One annotator's part of a batch."""

    batch: Batch
    total: int
    open: int
    waiting: int  # handed in, waiting for a checker
    accepted: int
    started: bool
    next_id: str = ""  # public id of the assignment to go on with
    next_position: int = 0
    returned: list[ReturnedWork] = field(default_factory=list)
    unread: int = 0  # in languages that the annotator does not read
    unread_new: int = 0  # of these, not begun
    seconds: int = 0  # spent on it by its annotator
    paced: int = 0  # of these, seconds on responses that were handed in once
    timed: int = 0  # such responses
    pool: bool = False  # responses are taken one by one
    left: int = 0  # responses of the pool that the annotator may take now
    free: int = 0  # places of the pool that nobody has, whether this annotator may take them or not
    elsewhere: int = 0  # places of the pool that others have in hand
    refused: str = ""  # why its annotator may begin nothing new (`Eligibility.reason`); empty where they may

    @property
    def pace(self) -> int | None:
        """The annotator's own mean seconds for a response of this batch, None below three responses."""
        return pace_of(self.paced, self.timed)

    @property
    def may_take(self) -> bool:
        """Whether a response can be taken from the pool and none is open in the annotator's queue."""
        return self.left > 0 and not self.next_id and bool(self.batch.status == Batch.Status.OPEN)

    @property
    def days_left(self) -> int | None:
        """Days to the due date, in the reader's time zone; negative once it has passed, None without a due date."""
        due: date | None = self.batch.due_date
        return None if due is None else (due - timezone.localdate()).days

    @property
    def days_over(self) -> int:
        """Days since the due date."""
        return -(self.days_left or 0)

    @property
    def state(self) -> str:
        """Why this batch gives nothing to grade; empty where there is something to do.

        ``paused``, ``held_back`` (only new work is left, which the annotator may not begin), ``barred`` (this annotator
        may not take what is free in the pool), ``locked`` (others have the rest of the pool in hand), ``waiting``
        (for a checker), ``done``.
        """
        if self.batch.status == Batch.Status.PAUSED and (self.open or self.pool):
            return "paused"
        if self.next_id or self.left:
            return ""
        if self.open:
            return "held_back"
        if self.pool and self.free:
            return "barred"
        if self.pool and self.elsewhere:
            return "locked"
        return "waiting" if self.waiting else "done"

    @property
    def done(self) -> int:
        """Number handed in, accepted or not."""
        return self.waiting + self.accepted

    @property
    def paused(self) -> bool:
        """Whether an admin has paused the batch."""
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
    held_checks: list[str]  # public ids, the longest waiting first
    adjudications: int
    checks_again: int = 0  # of those that wait: what this checker returned and what was resubmitted
    checks_in: list[str] = field(default_factory=list)  # titles of the benchmarks of the checks
    held_adjudications: list[str] = field(default_factory=list)  # public ids, in a benchmark the lowest agreement first
    adjudications_in: list[str] = field(default_factory=list)
    rulings: int = 0  # ambiguous cases on which this person may rule
    code_rulings: int = 0  # responses on whose codes this person may rule
    eligibilities: list[Eligibility] = field(default_factory=list)  # in each group that the physician annotates for
    labels: list[CaseWork] = field(default_factory=list)
    writing: list[CaseWork] = field(default_factory=list)
    seconds: int = 0  # spent on all of it: grading, checking and adjudicating
    checks_due: date | None = None  # the earliest due date of a check
    unread: int = 0  # responses in languages that this person does not read
    unread_new: int = 0  # of these, those that were not begun
    has_ended: bool = False  # they have no role now: an admin ended it
    spent: dict[str, tuple[int, int]] = field(default_factory=dict)  # kind of work → seconds, of finished pieces

    def seconds_of(self, kind: str, pieces: int) -> int | None:
        """How long so many pieces take at this person's own mean pace; None below three pieces with time."""
        pace = pace_of(*self.spent.get(kind, (0, 0)))
        return None if pace is None else pace * pieces

    @property
    def grading_pace(self) -> int | None:
        """The annotator's own mean seconds for a response, over all batches."""
        return pace_of(*self.spent.get("grade", (0, 0)))

    @property
    def checks_held(self) -> int:
        """Checks that this person has taken and not finished."""
        return len(self.held_checks)

    @property
    def held_back(self) -> bool:
        """Whether some group gives no new work: not qualified, or held back."""
        return any(not eligibility.may_get_work for eligibility in self.eligibilities)

    @property
    def current(self) -> list[BatchWork]:
        """Batches that are not closed: open or paused."""
        return [work for work in self.batches if work.batch.status != Batch.Status.CLOSED]

    @property
    def past(self) -> list[BatchWork]:
        """Closed batches."""
        return [work for work in self.batches if work.batch.status == Batch.Status.CLOSED]

    @property
    def first(self) -> BatchWork | None:
        """The batch to go on with: one with returned work first, then the earliest due date."""
        ready = [work for work in self.current if work.next_id and work.batch.status == Batch.Status.OPEN]
        ready.sort(key=lambda work: (not work.returned, work.batch.due_date or date.max, work.batch.pk))
        return ready[0] if ready else None

    @property
    def pool(self) -> BatchWork | None:
        """The pool to take the next response from, where nothing is open: that with the earliest due date."""
        ready = [work for work in self.current if work.may_take]
        return min(ready, key=lambda work: (work.batch.due_date or date.max, work.batch.pk)) if ready else None

    @property
    def label(self) -> CaseWork | None:
        """The first batch of cases that takes work."""
        return next((work for work in self.labels if work.takes_work), None)

    @property
    def write(self) -> CaseWork | None:
        """The first batch of cases to write to that takes work."""
        return next((work for work in self.writing if work.takes_work), None)

    @property
    def to_qualify(self) -> bool:
        """Whether the physician may begin or go on with a qualification."""
        return any(eligibility.reason == QUALIFICATION for eligibility in self.eligibilities)

    @property
    def state(self) -> str:
        """Why there is nothing to grade; empty where there is something to do.

        ``no_group``, ``ended`` (an admin ended their work in a group), ``other_part`` (only checks, adjudicates),
        ``held_back`` (`Eligibility` has the reason), ``none`` (no batch yet), ``paused``, ``locked`` and ``barred``
        (see `BatchWork`), ``waiting`` (for a checker), ``done``.
        """
        if self.first is not None or self.pool is not None or self.label is not None or self.write is not None:
            return ""
        if not self.roles and not self.batches:
            return "ended" if self.has_ended else "no_group"
        if self.held_back:
            return "held_back"
        if not self.batches and not self.labels and not self.writing:
            return "none" if "annotator" in self.roles else "other_part"
        states = {work.state for work in self.current}
        cases = [*self.labels, *self.writing]
        states |= {"paused" for work in cases if work.open and work.batch.status == Batch.Status.PAUSED}
        return next((name for name in ("paused", "locked", "barred", "waiting") if name in states), "done")


def workload(user: User, benchmark: Benchmark | None = None) -> Workload:
    """The work of ``user``, in one benchmark or in all; the number of queries depends only on their groups."""
    memberships = [row for row in queries.MEMBERSHIPS.rows(user=user.pk) if benchmark is None or row[2] == benchmark.pk]
    roles = frozenset(role for role, _group, _benchmark in memberships)
    annotates, checks, adjudicates = (
        role in roles for role in (Membership.Role.ANNOTATOR, Membership.Role.CHECKER, Membership.Role.ADJUDICATOR)
    )
    eligibilities = with_startable_attempts(user, own_eligibilities(user, benchmark)) if annotates else []
    work = _graded_work(user, benchmark, eligibilities) if annotates else {}
    labels = label_work(user, benchmark) if annotates else []
    written = writing_work(user, benchmark) if annotates else []
    waiting = queries.CHECKS_WAITING.rows(user, benchmark) if checks else []
    held = queries.CHECKS_HELD.rows(user, benchmark) if checks else []
    conflicts = queries.CONFLICTS.rows(user, benchmark) if adjudicates else []
    due_dates = [due for due, *_rest in waiting] + [due for _public_id, due, _title in held]
    seconds, spent = _fill_in_time(user, benchmark, work)
    return Workload(
        batches=list(work.values()),
        roles=roles,
        checks_waiting=sum(row[3] for row in waiting),
        checks_again=sum(number for _due, _title, again, number in waiting if again),
        held_checks=[public_id for public_id, *_rest in held],
        checks_in=sorted({row[1] for row in waiting} | {row[2] for row in held}),
        adjudications=sum(number for _title, number, _held in conflicts),
        held_adjudications=[public_id for _title, _number, held in conflicts for public_id in held or ()],
        adjudications_in=sorted({title for title, *_rest in conflicts}),
        rulings=queries.RULINGS.count(user, benchmark) if adjudicates else 0,
        code_rulings=queries.CODE_RULINGS.count(user, benchmark) if adjudicates else 0,
        eligibilities=eligibilities,
        labels=labels,
        writing=written,
        seconds=seconds + sum(row.seconds for row in written),
        checks_due=min((due for due in due_dates if due is not None), default=None),
        unread=sum(row.unread for row in work.values()),
        unread_new=sum(row.unread_new for row in work.values()),
        has_ended=not roles and access.ended_memberships(user, benchmark).exists(),
        spent=spent,
    )


def _graded_work(user: User, benchmark: Benchmark | None, eligibilities: Sequence[Eligibility]) -> dict[int, BatchWork]:
    """Batch (id) → the user's part of it, the earliest due date first."""
    counts = {batch: numbers for batch, *numbers in queries.COUNTS.rows(user, benchmark)}
    groups = {eligibility.group.pk: eligibility.group for eligibility in eligibilities}
    work = {}
    for batch in queries.BATCHES.objects(user, benchmark):
        batch.group = groups[batch.group_id]
        total, open_, accepted, started, unread, unread_new = counts.get(batch.pk, (0,) * 6)
        work[batch.pk] = BatchWork(
            batch,
            total=total,
            open=open_,
            waiting=total - open_ - accepted,
            accepted=accepted,
            started=started > 0,
            unread=unread,
            unread_new=unread_new,
            pool=batch.is_pool,
        )
    if work:
        refused = {each.group.pk: each.reason for each in eligibilities if not each.may_get_work}
        for row in work.values():
            row.refused = refused.get(row.batch.group_id, "")
        for batch_id, status, public_id, place in queries.NEXT.rows(user, benchmark):
            row = work[batch_id]
            new = status == Assignment.Status.NOT_STARTED
            if not row.next_id and not (new and row.batch.group_id in refused):
                row.next_id, row.next_position = public_id, place
        _fill_in_returned(user, benchmark, work)
    pools = [each for each in work.values() if each.pool and each.batch.status == Batch.Status.OPEN]
    if pools:
        _fill_in_pools(user, pools)
    return work


def _fill_in_time(
    user: User, benchmark: Benchmark | None, work: dict[int, BatchWork]
) -> tuple[int, dict[str, tuple[int, int]]]:
    """Fill in the user's time at each batch; all of their seconds, and by kind of work those on finished pieces, and
    the number of these.
    """
    whole = 0
    spent: dict[str, tuple[int, int]] = {}
    for batch, kind, paced, pieces, seconds in queries.TIME.rows(user, benchmark):
        whole += seconds
        total, number = spent.get(kind, (0, 0))
        spent[kind] = total + paced, number + pieces
        if kind == "grade" and batch in work:
            work[batch].seconds, work[batch].paced, work[batch].timed = seconds, paced, pieces
    return whole, spent


def _fill_in_pools(user: User, pools: list[BatchWork]) -> None:
    left = slots.available_in(annotator=user, batches=[work.batch for work in pools])
    holder = Assignment.objects.filter(slot=OuterRef("pk")).exclude(status=Assignment.Status.RELEASED)
    states = (
        Slot.objects.filter(item__batch__in=[work.batch for work in pools])
        .annotate(state=Subquery(holder.values("status")[:1]))
        .order_by()
        .values_list("item__batch")
        .annotate(free=Count("pk", filter=Q(state=None)), held=Count("pk", filter=Q(state__in=Assignment.OPEN)))
    )
    counts = {batch: (free, held) for batch, free, held in states}
    for work in pools:
        work.left = left.get(work.batch.pk, 0)
        work.free, held = counts.get(work.batch.pk, (0, 0))
        work.elsewhere = max(0, held - work.open)


def _fill_in_returned(user: User, benchmark: Benchmark | None, work: dict[int, BatchWork]) -> None:
    rows = queries.RETURNED.rows(user, benchmark)
    amended = amendments_in([row[0] for row in rows]) if rows else {}
    for pk, batch, public_id, place, note in rows:
        work[batch].returned.append(ReturnedWork(public_id, place, note or "", amended.get(pk, [])))
