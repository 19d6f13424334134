"""Reads the trail of changes: pages of events of several tables, newest first, with what each changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import BigIntegerField, Exists, IntegerField, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.fields.json import KeyTextTransform
from django.db.models.fields.tuple_lookups import Tuple, TupleLessThan
from django.db.models.functions import Cast
from django.db.models.lookups import In

from accounts.models import User
from operations.keyset import EPOCH, MICROSECOND
from operations.trail.kinds import OF_BENCHMARKS, OF_SERVER, TrailKind
from rubrics.models import AuthoringRole, Benchmark

# Of these there are millions of events: a page has them only where its reader chooses them.
ONLY_IF_CHOSEN = frozenset({"decisions", "verdicts"})
MAX_DIGITS = 18
# A page looks back this far, and further only where it is not full: in a busy table, it does not pass over all that
# others changed, for few changes long ago.
WINDOWS = (timedelta(days=30), None)


@dataclass(frozen=True, slots=True)
class TrailPlace:
    """An event in the order of the trail: by time, then by the kind's number, then newest first."""

    at: datetime
    kind: int
    number: int

    def __str__(self) -> str:
        return f"{(self.at - EPOCH) // MICROSECOND}-{self.kind}-{self.number}"


@dataclass(frozen=True, slots=True)
class Change:
    """One event: ``fields`` are the names of those that changed, with the value before and after."""

    kind: TrailKind
    event: Any
    is_new: bool
    fields: Sequence[tuple[str, Any, Any]]
    user: User | None
    is_signed_in: bool  # False: a command, or a job in the background


@dataclass(frozen=True, slots=True)
class Trail:
    """What a reader may see: ``kinds``, and for each a condition that its events must meet.

    ``until``: none is later, if it is given.
    """

    kinds: tuple[TrailKind, ...]
    conditions: Mapping[TrailKind, Q] = field(default_factory=dict)
    until: datetime | None = None

    def rows(self, kind: TrailKind) -> QuerySet[Any]:
        """The events of ``kind`` that the reader may see."""
        rows: QuerySet[Any] = kind.events.objects.filter(self.conditions[kind])
        return rows


def trail_of_benchmark(benchmark: Benchmark, reader: User) -> Trail:
    """What an admin of ``benchmark`` sees; less if they are its author or auditor as well."""
    is_author = AuthoringRole.objects.filter(benchmark=benchmark, user=reader, active=True).exists()
    kinds = tuple(kind for kind in OF_BENCHMARKS if not (is_author and kind.hidden_from_authors))
    groups = list(benchmark.groups.values_list("pk", flat=True))
    return Trail(kinds, {kind: kind.of_benchmark(benchmark, groups) for kind in kinds})


def trail_of_server() -> Trail:
    """What operators see. A benchmark is made with its first role."""
    conditions: dict[TrailKind, Q] = {}
    for kind in OF_SERVER:
        conditions[kind] = Q()
        if kind.subject == "benchmarks":
            earlier = kind.events.objects.filter(benchmark=OuterRef("benchmark"), pgh_id__lt=OuterRef("pgh_id"))
            conditions[kind] = ~Q(Exists(earlier))
    return Trail(OF_SERVER, conditions)


def narrow_trail(trail: Trail, chosen: Mapping[str, Any]) -> Trail:
    """The trail that the cleaned fields of `operations.trail.forms.TrailFilters` leave."""
    kinds = tuple(kind for kind in trail.kinds if chosen.get("subject") in {"", None, kind.subject})
    condition = Q()
    if person := (chosen.get("person") or "").strip():
        people = User.objects.filter(Q(name__icontains=person) | Q(email__icontains=person))
        # As numbers, so that PostgreSQL may look up the account of each event while it reads the newest ones.
        actor = Cast(KeyTextTransform("user", "pgh_context"), BigIntegerField())
        condition &= Q(In(actor, people.values("pk")))
    if since := chosen.get("since"):
        condition &= Q(pgh_created_at__gte=since)
    if until := chosen.get("until"):
        condition &= Q(pgh_created_at__lte=until)
    return Trail(kinds, {kind: trail.conditions[kind] & condition for kind in kinds}, until)


def without_the_largest(trail: Trail) -> Trail:
    """The trail without the kinds of `ONLY_IF_CHOSEN`, for a page on which no kind is chosen."""
    kinds = tuple(kind for kind in trail.kinds if kind.subject not in ONLY_IF_CHOSEN)
    return Trail(kinds, {kind: trail.conditions[kind] for kind in kinds}, trail.until)


def place_of(text: str) -> TrailPlace | None:
    """The place that `TrailPlace.__str__` wrote; None where ``text`` is none, which is the beginning."""
    parts = text.split("-")
    if len(parts) != 3 or not all(p.isascii() and p.isdecimal() and len(p) <= MAX_DIGITS for p in parts):
        return None
    try:
        return TrailPlace(EPOCH + int(parts[0]) * MICROSECOND, int(parts[1]), int(parts[2]))
    except OverflowError:
        return None


def changes_before(
    trail: Trail, place: TrailPlace | None, *, size: int, at: datetime
) -> tuple[list[Change], TrailPlace | None]:
    """The newest ``size`` changes before ``place``, and the place for the next page; None on the last."""
    numbers = {kind: number for number, kind in enumerate((*OF_BENCHMARKS, *OF_SERVER))}
    heads: list[TrailPlace] = []
    until = max(EPOCH, min(filter(None, (at, trail.until, place.at if place is not None else None))))
    for window in WINDOWS:
        since = until - window if window is not None else None
        heads = _heads(trail, numbers, place, since, size + 1)
        if len(heads) > size:
            break
    shown = heads[:size]
    kinds = {number: kind for kind, number in numbers.items()}
    changes = _changes(trail, [(kinds[head.kind], head.number) for head in shown])
    return changes, shown[-1] if len(heads) > size else None


def all_changes(trail: Trail, *, at: datetime, size: int = 1000) -> Iterator[list[Change]]:
    """All changes, kind by kind, newest first, in lists of ``size``.

    Each list begins at a primary key, so that no table is sorted once for every list.
    """
    for kind in trail.kinds:
        rows = trail.rows(kind).filter(pgh_created_at__lte=at).order_by("-pgh_id")
        numbers = list(rows.values_list("pgh_id", flat=True)[:size])
        while numbers:
            yield _changes(trail, [(kind, number) for number in numbers])
            numbers = list(rows.filter(pgh_id__lt=numbers[-1]).values_list("pgh_id", flat=True)[:size])


def _heads(
    trail: Trail, numbers: Mapping[TrailKind, int], place: TrailPlace | None, since: datetime | None, size: int
) -> list[TrailPlace]:
    """The places of the next events, in one query over the tables of all kinds."""
    parts = []
    for kind in trail.kinds:
        number = numbers[kind]
        rows = trail.rows(kind)
        if since is not None:
            rows = rows.filter(pgh_created_at__gte=since)
        if place is not None:
            if number < place.kind:
                rows = rows.filter(pgh_created_at__lt=place.at)
            elif number == place.kind:
                place_of_row = Tuple("pgh_created_at", "pgh_id")  # compared as a whole, as the index is read
                rows = rows.filter(TupleLessThan(place_of_row, (place.at, place.number)))
            else:
                rows = rows.filter(pgh_created_at__lte=place.at)
        rows = rows.annotate(kind_number=Value(number, IntegerField()))
        rows = rows.order_by("-pgh_created_at", "-pgh_id").values_list("pgh_created_at", "pgh_id", "kind_number")
        parts.append(rows[:size])
    if not parts:
        return []
    heads = parts[0] if len(parts) == 1 else parts[0].union(*parts[1:], all=True)
    if len(parts) > 1:
        heads = heads.order_by("-pgh_created_at", "kind_number", "-pgh_id")[:size]
    return [TrailPlace(at.astimezone(UTC), kind, number) for at, number, kind in heads]


def _changes(trail: Trail, heads: Sequence[tuple[TrailKind, int]]) -> list[Change]:
    by_kind: dict[TrailKind, list[int]] = defaultdict(list)
    for kind, number in heads:
        by_kind[kind].append(number)
    events: dict[tuple[str, str, int], Any] = {}
    earlier: dict[tuple[str, int], Any] = {}
    for kind, pks in by_kind.items():
        model = kind.events
        before = model.objects.filter(pgh_obj_id=OuterRef("pgh_obj_id"), pgh_id__lt=OuterRef("pgh_id"))
        rows = model.objects.filter(pk__in=pks).select_related(*kind.joins)
        rows = rows.annotate(earlier_id=Subquery(before.order_by("-pgh_id").values("pgh_id")[:1]))
        loaded = list(rows)
        events |= {(kind.model, kind.subject, row.pk): row for row in loaded}
        known = model.objects.filter(pk__in=[row.earlier_id for row in loaded if row.earlier_id])
        earlier |= {(kind.model, row.pk): row for row in known}
    rows_in_order = [(kind, events[kind.model, kind.subject, number]) for kind, number in heads]
    people = _people(rows_in_order, earlier.values())
    changes = []
    for kind, event in rows_in_order:
        before_event = earlier.get((kind.model, event.earlier_id))
        context = event.pgh_context or {}
        changes.append(
            Change(
                kind,
                event,
                before_event is None,
                _fields(kind, event, before_event, people),
                people.get(context.get("user")),
                "url" in context,
            )
        )
    return changes


def _people(events: Sequence[tuple[TrailKind, Any]], earlier: Any) -> dict[Any, User]:
    """Everybody whom the events name, in one query."""
    numbers = {(event.pgh_context or {}).get("user") for _kind, event in events}
    for event in (*(event for _kind, event in events), *earlier):
        numbers |= {
            getattr(event, each.attname)
            for each in event._meta.concrete_fields
            if each.is_relation and each.related_model is User
        }
    return User.objects.in_bulk([number for number in numbers if number is not None])


def _fields(kind: TrailKind, event: Any, before: Any, people: Mapping[Any, User]) -> list[tuple[str, Any, Any]]:
    changed = []
    for name in kind.fields:
        new, old = _value(event, name, people), _value(before, name, people) if before is not None else None
        # Of a new object, what is empty or off says nothing.
        if (new != old) if before is not None else new not in (None, "", False, [], {}):
            changed.append((name, old, new))
    if before is None:
        return changed
    # A field that is on record since an upgrade has no earlier value; it has not changed along with another field.
    known = [change for change in changed if change[1] is not None or _tracked(event, change[0]).null]
    return known or changed


def _value(event: Any, name: str, people: Mapping[Any, User]) -> Any:
    column = event._meta.get_field(name)
    if column.is_relation:
        number = getattr(event, column.attname)
        return people.get(number, number)
    value = getattr(event, name)
    labels = dict(column.flatchoices or ()) or dict(_tracked(event, name).flatchoices or ())
    return labels.get(value, value) if isinstance(value, str | int) and labels else value


def _tracked(event: Any, name: str) -> Any:
    return event.pgh_tracked_model._meta.get_field(name)
