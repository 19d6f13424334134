"""The queries of a physician's own work, compiled: *My work* and the home page run all of them on each request."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Case, Count, Exists, IntegerField, OuterRef, Q, QuerySet, Subquery, Sum, Value, When
from django.db.models.functions import Coalesce

from annotation import access
from annotation.models import Adjudication, Assignment, Attention, Batch, Check, LabelTask, Membership
from annotation.selectors.queue_places import graded_place
from annotation.selectors.unread_work import unread_work_of
from annotation.services import slots
from consilium.core.compiled_queries import CompiledQuery

if TYPE_CHECKING:
    from accounts.models import User
    from rubrics.models import Benchmark

HANDED_IN = (Assignment.Status.SUBMITTED, Assignment.Status.IN_CHECK, Assignment.Status.ACCEPTED)
Condition = Callable[[str], Q]  # the path of a benchmark → a condition on it


class OwnQuery:
    """A query of the rows of a person, compiled twice: for one benchmark and for all.

    ``build(user, within)`` returns it; ``within("batch__group__benchmark")`` is the condition on the benchmark.
    """

    def __init__(self, build: Callable[[Any, Condition], QuerySet[Any, Any]]) -> None:
        self._everywhere: CompiledQuery[Any] = CompiledQuery(lambda user: build(user, lambda path: Q()))
        self._inside: CompiledQuery[Any] = CompiledQuery(
            lambda user, benchmark: build(user, lambda path: Q(**{path: benchmark}))
        )

    def rows(self, user: User, benchmark: Benchmark | None) -> list[tuple[Any, ...]]:
        """The rows of ``user``, in ``benchmark`` or, where it is None, in all."""
        if benchmark is None:
            return self._everywhere.rows(user=user.pk)
        return self._inside.rows(user=user.pk, benchmark=benchmark.pk)

    def objects(self, user: User, benchmark: Benchmark | None) -> list[Any]:
        """As `rows`, for a query of models."""
        if benchmark is None:
            return self._everywhere.objects(user=user.pk)
        return self._inside.objects(user=user.pk, benchmark=benchmark.pk)

    def count(self, user: User, benchmark: Benchmark | None) -> int:
        """The number of `rows`."""
        if benchmark is None:
            return self._everywhere.count(user=user.pk)
        return self._inside.count(user=user.pk, benchmark=benchmark.pk)


BATCH = "batch__group__benchmark"
GROUP = "group__benchmark"


def graded(user: Any, within: Condition) -> QuerySet[Assignment]:
    """The annotator's work without that of a qualification, which has pages of its own."""
    return access.own_assignments(user).filter(within(BATCH)).exclude(purpose=Assignment.Purpose.QUALIFICATION)


def _pools(user: Any, within: Condition) -> QuerySet[Batch]:
    return access.own_pools(user).filter(within(GROUP)).exclude(status=Batch.Status.CLOSED)


def _batches(user: Any, within: Condition) -> QuerySet[Batch]:
    pools = _pools(user, within)
    rows = Batch.objects.filter(Q(pk__in=graded(user, within).values("batch")) | Q(pk__in=pools.values("pk")))
    return rows.annotate(is_pool=Exists(pools.filter(pk=OuterRef("pk")))).order_by("due_date", "created_at", "pk")


def _next(user: Any, within: Condition) -> QuerySet[Any, Any]:
    rank = Case(
        When(status=Assignment.Status.RETURNED, then=Value(0)),
        When(slots.put_off(), then=Value(2)),
        default=Value(1),
        output_field=IntegerField(),
    )
    open_work = graded(user, within).filter(status__in=Assignment.OPEN).order_by("batch_id", rank, "position", "pk")
    untouched = Q(status=Assignment.Status.NOT_STARTED)
    first = [
        rows.distinct("batch_id").values("pk") for rows in (open_work.exclude(untouched), open_work.filter(untouched))
    ]
    return (
        Assignment.objects.filter(Q(pk__in=first[0]) | Q(pk__in=first[1]))
        .order_by("batch_id", rank, "position", "pk")
        .values_list("batch", "status", "public_id", graded_place())
    )


def _returned(user: Any, within: Condition) -> QuerySet[Any, Any]:
    last = Check.objects.filter(assignment=OuterRef("pk"), result=Check.Result.RETURNED).order_by("-round")
    rows = graded(user, within).filter(status=Assignment.Status.RETURNED)
    rows = rows.annotate(what=Subquery(last.values("note")[:1]), place=graded_place()).order_by("position", "pk")
    return rows.values_list("pk", "batch", "public_id", "place", "what")


def _time(user: Any, within: Condition) -> QuerySet[Any, Any]:
    in_groups = ("adjudication__" + GROUP, "ruling_request__" + GROUP, "code_ruling__" + GROUP)
    condition = Q()
    for path in ("assignment__" + BATCH, "label_task__" + BATCH, *in_groups):
        condition |= within(path)
    kind = Case(
        When(assignment__annotator=user, then=Value("grade")),
        When(assignment__isnull=False, then=Value("check")),
        When(adjudication__isnull=False, then=Value("adjudicate")),
        When(ruling_request__isnull=False, then=Value("rule")),
        When(code_ruling__isnull=False, then=Value("rule_on_codes")),
        default=Value("label"),
    )
    rows = Attention.objects.filter(condition, user=user).order_by()
    settled = _settled(user)
    return rows.values_list("assignment__batch", kind).annotate(
        paced=Coalesce(Sum("seconds", filter=settled), 0),
        pieces=Count("pk", filter=settled),
        seconds=Sum("seconds"),
    )


def _settled(user: Any) -> Q:
    """Time on pieces that are finished, and were not done again: half of a piece says nothing of the pace."""
    handed_in = Q(assignment__status__in=HANDED_IN)
    grading = Q(assignment__annotator=user)
    return (
        (grading & handed_in & Q(assignment__round=1))
        | (Q(assignment__isnull=False) & ~grading & ~Q(assignment__status=Assignment.Status.IN_CHECK))
        | Q(adjudication__status=Adjudication.Status.DONE)
        | Q(ruling_request__isnull=False)
        | Q(code_ruling__isnull=False)
        | Q(label_task__status=LabelTask.Status.SUBMITTED)
    )


def _unread(user: Any) -> Q:
    """Work of open batches in languages that ``user`` does not read."""
    return Q(batch__status=Batch.Status.OPEN) & unread_work_of(user)


# role, group and benchmark of each active membership, in whichever benchmark
MEMBERSHIPS: CompiledQuery[Any] = CompiledQuery(
    lambda user: (
        Membership.objects.filter(user=user, active=True).order_by().values_list("role", "group", "group__benchmark")
    )
)
# `Batch` with `is_pool`, by due date
BATCHES = OwnQuery(_batches)
# batch; all work, open work, accepted work, work that was begun, unread work, unread work that was not begun
COUNTS = OwnQuery(
    lambda user, within: (
        graded(user, within)
        .order_by()
        .values_list("batch")
        .annotate(
            total=Count("pk"),
            open=Count("pk", filter=Q(status__in=Assignment.OPEN)),
            accepted=Count("pk", filter=Q(status=Assignment.Status.ACCEPTED)),
            started=Count("pk", filter=~Q(status=Assignment.Status.NOT_STARTED)),
            unread=Count("pk", filter=_unread(user)),
            unread_new=Count("pk", filter=_unread(user) & Q(status=Assignment.Status.NOT_STARTED)),
        )
    )
)
# batch, status, public id, place: of each batch the next piece that was begun, and the next that was not; the one to do
# first is above the other
NEXT = OwnQuery(_next)
# id, batch, public id, place, note of the checker
RETURNED = OwnQuery(_returned)
# batch, kind of work (``grade``, ``check``, ``adjudicate``, ``rule``, ``label``), seconds on finished pieces, their
# number, all seconds
TIME = OwnQuery(_time)
# due date, title of the benchmark, whether this checker returned them before, number of checks
CHECKS_WAITING = OwnQuery(
    lambda user, within: (
        access.waiting_checks(user)
        .filter(within(BATCH))
        .annotate(again=Case(When(checker=user, then=Value(1)), default=Value(0), output_field=IntegerField()))
        .order_by()
        .values_list("batch__due_date", f"{BATCH}__title", "again")
        .annotate(n=Count("pk"))
    )
)
# public id, due date and title of the benchmark, the longest waiting first
CHECKS_HELD = OwnQuery(
    lambda user, within: (
        access.held_checks(user)
        .filter(within(BATCH))
        .order_by("submitted_at", "pk")
        .values_list("public_id", "batch__due_date", f"{BATCH}__title")
    )
)
# title of the benchmark, number of conflicts, public ids of those that this adjudicator has claimed (None without any),
# the lowest agreement first
CONFLICTS = OwnQuery(
    lambda user, within: (
        access.open_adjudications(user)
        .filter(within(GROUP))
        .order_by()
        .values_list(f"{GROUP}__title")
        .annotate(
            n=Count("pk"),
            held=ArrayAgg("public_id", filter=Q(adjudicator=user), order_by=("agreement", "pk")),
        )
    )
)
CODE_RULINGS = OwnQuery(
    lambda user, within: access.open_code_rulings(user).filter(within(GROUP)).order_by().values_list("pk")
)
RULINGS = OwnQuery(
    lambda user, within: access.open_ruling_requests(user).filter(within(GROUP)).order_by().values_list("pk")
)
