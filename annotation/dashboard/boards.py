"""The dashboard of a benchmark, and the page of a batch, as plain rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.db.models import BooleanField, Count, ExpressionWrapper, Q, QuerySet
from django.utils import timezone

from annotation.dashboard.counts import STAGES, Table, Work, count_work, days_of, summed
from annotation.dashboard.forecast import Forecast, forecast
from annotation.dashboard.names import People, Person, people_of
from annotation.dashboard.waiting import Scene, Section, waits_of
from annotation.models import Adjudication, Batch, ExpertGroup, QualificationAttempt
from consilium.core.i18n import translate
from consilium.core.order import natural
from consilium.statistics.estimate import Undefined
from rubrics.models import Benchmark

SHOWN_DAYS = 14
# Seven working days and the weekends between and before them.
LOOK_BACK = 16


@dataclass(slots=True)
class Conflicts:
    """Adjudications within a group or between two."""

    open: int = 0
    done: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.open + self.done


@dataclass(slots=True)
class GroupLine:
    """One group: its work and the conflicts within it."""

    group: ExpertGroup
    work: Work = field(default_factory=Work)
    conflicts: Conflicts = field(default_factory=Conflicts)
    annotators: int = 0


@dataclass(slots=True)
class BatchLine:
    """One batch, its work, and when it will be handed in."""

    batch: Batch
    work: Work
    forecast: Forecast | Undefined
    today: date

    @property
    def running(self) -> bool:
        """Whether it takes work now or may again."""
        return bool(self.batch.status != Batch.Status.CLOSED)

    @property
    def overdue(self) -> bool:
        """Whether its date has passed with work left to hand in."""
        due: date | None = self.batch.due_date
        return self.running and due is not None and due < self.today and self.work.left > 0

    @property
    def holds(self) -> str:
        """Whether the due date holds: ``yes``, ``likely``, ``unlikely``, ``no``; empty where it is unknown."""
        due: date | None = self.batch.due_date
        if due is None or not isinstance(self.forecast, Forecast) or not self.work.left:
            return ""
        return self.forecast.holds(due)


@dataclass(slots=True)
class PhysicianLine:
    """One annotator of one group, over its batches or in one of them."""

    person: Person
    group: ExpertGroup
    work: Work
    active: bool
    capacity: int | None = None


@dataclass(slots=True)
class Board:
    """What the dashboard shows."""

    benchmark: Benchmark
    at: datetime
    total: Work
    groups: list[GroupLine]
    between: Conflicts
    batches: list[BatchLine]
    physicians: list[PhysicianLine]
    days: list[tuple[date, int]]
    waits: list[Section]

    @property
    def running(self) -> list[BatchLine]:
        """Batches that take work now or may again, by their dates."""
        return by_attention([line for line in self.batches if line.running])

    @property
    def conflicts(self) -> Conflicts:
        """All adjudications, within groups and between them."""
        total = Conflicts(self.between.open, self.between.done)
        for line in self.groups:
            total.open += line.conflicts.open
            total.done += line.conflicts.done
        return total


def batches_of(benchmark: Benchmark) -> QuerySet[Batch]:
    """The batches that are work; qualification attempts are stored as batches, too, and are left out."""
    rows = Batch.objects.filter(group__benchmark=benchmark).exclude(kind=Batch.Kind.QUALIFY)
    return rows.select_related("group")


def attempts_in(benchmark: Benchmark) -> int:
    """How many attempts to qualify the benchmark has; none of them is among `batches_of`."""
    return QualificationAttempt.objects.filter(group__benchmark=benchmark).count()


def board_of(benchmark: Benchmark, *, at: datetime, names: bool) -> Board:
    """Everything about the benchmark's work at ``at``, in a fixed number of queries.

    Imported decisions are left out: they are not work in progress.
    """
    batches = list(batches_of(benchmark).filter(imported=False))
    groups = {row.pk: row for row in ExpertGroup.objects.filter(benchmark=benchmark)}
    people = people_of(benchmark, names=names)
    table = count_work(batches, at=at)
    within, between = _conflicts(groups)
    days, lines = _lines(batches, table, at)
    scene = Scene(benchmark, groups, {row.pk: row for row in batches}, people, table)
    by_group = _by_group(batches, table)
    today = timezone.localdate(at)
    return Board(
        benchmark=benchmark,
        at=at,
        total=table.total(),
        groups=[
            GroupLine(
                group,
                by_group.get(pk, Work()),
                within.get(pk, Conflicts()),
                len(people.active("annotator", pk)),
            )
            for pk, group in groups.items()
        ],
        between=between,
        batches=lines,
        physicians=_physicians(groups, people, batches, table),
        days=[
            (day, days.get(day, 0)) for day in (today - timedelta(days=back) for back in range(SHOWN_DAYS - 1, -1, -1))
        ],
        waits=waits_of(scene),
    )


def batch_lines(benchmark: Benchmark, *, at: datetime) -> list[BatchLine]:
    """The batches of the benchmark with their work and forecasts."""
    batches = list(batches_of(benchmark))
    return _lines(batches, count_work(batches, at=at), at)[1]


def by_attention(lines: list[BatchLine]) -> list[BatchLine]:
    """Running batches by their dates, then ended ones."""
    return sorted(lines, key=lambda line: (not line.running, line.batch.due_date or date.max, line.batch.group.name))


def batch_board(batch: Batch, people: People, *, at: datetime) -> tuple[BatchLine, list[PhysicianLine]]:
    """One batch, and the physicians who have or had a part in it."""
    table = count_work([batch], at=at)
    group: ExpertGroup = batch.group
    physicians = [
        PhysicianLine(
            people[user], group, work, people[user].plays("annotator", group.pk), people[user].capacity.get(group.pk)
        )
        for user, work in table.by_annotator().items()
    ]
    physicians.sort(key=lambda line: natural(line.person.shown))
    return _lines([batch], table, at)[1][0], physicians


def _lines(batches: list[Batch], table: Table, at: datetime) -> tuple[dict[date, int], list[BatchLine]]:
    today = timezone.localdate(at)
    days = days_of(batches, since=today - timedelta(days=LOOK_BACK))
    by_batch = table.by_batch()
    lines = []
    for batch in batches:
        work = by_batch.get(batch.pk, Work())
        first = timezone.localdate(work.first) if work.first else None
        lines.append(BatchLine(batch, work, forecast(days[batch.pk], first=first, left=work.left, today=today), today))
    return summed(days), lines


def _by_group(batches: list[Batch], table: Table) -> dict[int, Work]:
    group_of = {batch.pk: batch.group_id for batch in batches}
    work_by_group: dict[int, Work] = {}
    for (batch, _annotator), work in table.items():
        work_by_group.setdefault(group_of[batch], Work()).add(work)
    return work_by_group


def _physicians(
    groups: dict[int, ExpertGroup], people: People, batches: list[Batch], table: Table
) -> list[PhysicianLine]:
    """A line for everybody who annotates or has annotated, also without work, by group and pseudonym."""
    group_of = {batch.pk: batch.group_id for batch in batches}
    work_by_physician: dict[tuple[int, int], Work] = {
        (group, person.user): Work() for group in groups for person in people.active("annotator", group)
    }
    for (batch, annotator), work in table.items():
        if annotator:
            work_by_physician.setdefault((group_of[batch], annotator), Work()).add(work)
    lines = [
        PhysicianLine(
            people[user], groups[group], work, people[user].plays("annotator", group), people[user].capacity.get(group)
        )
        for (group, user), work in work_by_physician.items()
    ]
    return sorted(lines, key=lambda line: (natural(line.group.name), natural(line.person.pseudonym)))


def _conflicts(groups: dict[int, ExpertGroup]) -> tuple[dict[int, Conflicts], Conflicts]:
    within: dict[int, Conflicts] = {}
    between = Conflicts()
    rows = (
        Adjudication.objects.filter(group__in=groups)
        .order_by()
        .annotate(within=ExpressionWrapper(Q(other_group=None), BooleanField()))
        .values_list("group", "within")
        .annotate(unsettled=Count("pk", filter=Q(status="open")), done=Count("pk", filter=Q(status="done")))
    )
    for group, inside, unsettled, done in rows:
        line = within.setdefault(group, Conflicts()) if inside else between
        line.open += unsettled
        line.done += done
    return within, between


NEVER = datetime.min.replace(tzinfo=UTC)
# Header of the table of physicians → what it is sorted by.
SORTS: dict[str, Callable[[PhysicianLine], Any]] = {
    "physician": lambda line: natural(line.person.shown),
    "left": lambda line: -line.work.open,
    "waiting": lambda line: -line.work.waiting,
    "accepted": lambda line: -line.work.accepted,
    "week": lambda line: line.work.week,
    "skipped": lambda line: -(line.work.skip_rate or 0),
    "returned": lambda line: -(line.work.return_rate or 0),
    "last": lambda line: line.work.last or NEVER,
}


def ranked(lines: list[PhysicianLine], by: str) -> list[PhysicianLine]:
    """The lines sorted by one of `SORTS`, with what needs attention first; sorted by group for any other word."""
    return sorted(sorted(lines, key=SORTS["physician"]), key=SORTS.get(by, lambda line: natural(line.group.name)))


# CSV: physicians by pseudonym, times in UTC, a rate beside its denominator. ------------------------------------------

WORK_COLUMNS = ("pieces", *STAGES, "handed_in_7_days", "given", "skipped", "checked", "returned_once", "last_activity")


def _work_row(work: Work) -> dict[str, Any]:
    return {
        "pieces": work.total,
        **work.by_stage,
        "handed_in_7_days": work.week,
        "given": work.given,
        "skipped": work.skipped,
        "checked": work.checked,
        "returned_once": work.returned,
        "last_activity": work.last.isoformat() if work.last else None,
    }


GROUP_COLUMNS = ("group", "annotators", *WORK_COLUMNS, "conflicts_open", "conflicts_adjudicated")
BATCH_COLUMNS = (
    "batch", "group", "status", "due", "overdue", *WORK_COLUMNS, "days_of_data", "per_day", "per_day_slow",
    "per_day_fast", "expected", "early", "late", "holds", "note",
)  # fmt: skip
PHYSICIAN_COLUMNS = ("group", "physician", "active", "capacity", *WORK_COLUMNS)
DAY_COLUMNS = ("day", "handed_in")


def group_rows(board: Board) -> Iterator[dict[str, Any]]:
    """A row for each group."""
    for line in board.groups:
        yield {
            "group": line.group.name, "annotators": line.annotators, **_work_row(line.work),
            "conflicts_open": line.conflicts.open, "conflicts_adjudicated": line.conflicts.done,
        }  # fmt: skip


def batch_rows(lines: list[BatchLine]) -> Iterator[dict[str, Any]]:
    """A row for each batch, with its forecast."""
    for line in lines:
        seen = line.forecast
        row = {
            "batch": line.batch.title, "group": line.batch.group.name, "status": line.batch.status,
            "due": line.batch.due_date, "overdue": line.overdue, **_work_row(line.work), "holds": line.holds,
        }  # fmt: skip
        if isinstance(seen, Forecast):
            row |= {
                "days_of_data": seen.days, "per_day": seen.rate, "per_day_slow": seen.slow, "per_day_fast": seen.fast,
                "expected": seen.expected, "early": seen.early, "late": seen.late,
            }  # fmt: skip
        else:
            row |= {"days_of_data": seen.n, "note": translate(seen.reason)}
        yield row


def physician_rows(lines: list[PhysicianLine]) -> Iterator[dict[str, Any]]:
    """A row for each physician."""
    for line in lines:
        yield {
            "group": line.group.name, "physician": line.person.pseudonym, "active": line.active,
            "capacity": line.capacity, **_work_row(line.work),
        }  # fmt: skip
