"""The pieces of one batch: who holds them, and who may take them over."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, Q, QuerySet
from django.utils.functional import Promise

from accounts.models import PhysicianProfile
from annotation.allocation.specialties import case_specialty, matching
from annotation.dashboard.counts import ENDED, OPEN, STAGES
from annotation.dashboard.names import People, Person
from annotation.models import Assignment, Batch, Slot
from annotation.selectors.eligibility import eligibilities
from annotation.selectors.languages_read import unreadable_pairs
from annotation.services.slots.free_slots import StuckSlot, annotators_of, free_slots, refusals
from consilium.core.order import natural
from rubrics.models import Case, Response

PER_PAGE = 50
FREE = "unassigned"


@dataclass(frozen=True, slots=True)
class WorkItem:
    """One response in the hands of one annotator, or of nobody."""

    public_id: str  # of the assignment; empty in the pool
    code: str  # by which the handover names the piece: the assignment, or the response and the number of the free slot
    case: str
    candidate: str
    status: str
    holder: Person | None
    checker: Person | None
    since: datetime | None
    lease_until: datetime | None
    stuck: tuple[str, ...] = ()  # why nobody of the group may take it

    @property
    def ended(self) -> Promise | str:
        """What its state is called once its batch is closed, as in the counts; empty where closing changes nothing."""
        stage = ENDED.get(self.status, "")
        return STAGES[stage] if stage else ""

    @property
    def movable(self) -> bool:
        """Whether it may be handed over: it is in the pool, or its annotator has not finished it."""
        return self.status == FREE or self.status in OPEN


@dataclass(frozen=True, slots=True)
class PieceFilter:
    """What the list shows; empty fields leave nothing out."""

    status: str = ""
    physician: str = ""  # pseudonym
    case: str = ""  # part of the key


def assignments_of(batch: Batch, chosen: PieceFilter, people: People) -> QuerySet[Assignment]:
    """The batch's work that matches the filter, by case, candidate and annotator."""
    rows = Assignment.objects.filter(batch=batch, purpose=Assignment.Purpose.WORK)
    if chosen.status == "open":
        rows = rows.filter(status__in=OPEN)
    elif chosen.status:
        rows = rows.filter(status=chosen.status)
    else:
        rows = rows.exclude(status=Assignment.Status.RELEASED)
    if chosen.physician:
        rows = rows.filter(annotator__in=[p.user for p in people.values() if p.pseudonym == chosen.physician])
    if chosen.case:
        rows = rows.filter(case__key__icontains=chosen.case)
    rows = rows.select_related("case", "response__candidate").defer("response__text", "case__conversation")
    return rows.order_by("case__key", "response__candidate__name", "pk")


def free_slots_of(batch: Batch, chosen: PieceFilter) -> QuerySet[Slot]:
    """The free slots of the batch."""
    rows = Slot.objects.filter(item__batch=batch).exclude(
        pk__in=Assignment.objects.filter(batch=batch, slot__isnull=False)
        .exclude(status=Assignment.Status.RELEASED)
        .values("slot")
    )
    if chosen.case:
        rows = rows.filter(item__response__case__key__icontains=chosen.case)
    if chosen.physician:
        rows = rows.none()
    rows = rows.select_related("item__response__case", "item__response__candidate")
    return rows.defer("item__response__text", "item__response__case__conversation").order_by(
        "item__response__case__key", "item__response__candidate__name", "number"
    )


class _PoolLast(Sequence[Assignment | Slot]):
    """The assignments, then the free slots, as a paginator reads them: each by a slice of its own."""

    def __init__(self, assignments: QuerySet[Assignment], free: QuerySet[Slot]) -> None:
        self.assignments, self.free = assignments, free
        self.assigned = assignments.count()
        self.length = self.assigned + free.count()

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, rows: Any) -> Any:
        start, stop = rows.start or 0, self.length if rows.stop is None else rows.stop
        first = list(self.assignments[start:stop]) if start < self.assigned else []
        after = max(0, stop - self.assigned)
        return [*first, *(self.free[max(0, start - self.assigned) : after] if after else ())]


def page_of(
    batch: Batch, chosen: PieceFilter, people: People, *, number: str | None, stuck: Collection[StuckSlot]
) -> Page[Any]:
    """A page of pieces, those in the pool last, in a fixed number of queries.

    A piece in the pool has the reason why nobody may take it, by ``stuck``, the batch's stuck slots.
    """
    rows: Any
    if chosen.status == FREE:
        rows = free_slots_of(batch, chosen)
    elif chosen.status:
        rows = assignments_of(batch, chosen, people)
    else:
        rows = _PoolLast(assignments_of(batch, chosen, people), free_slots_of(batch, chosen))
    page: Page[Any] = Paginator(rows, PER_PAGE).get_page(number)
    reasons = {stuck_slot.slot.pk: stuck_slot.reasons for stuck_slot in stuck}
    page.object_list = [_piece(row, people, reasons) for row in page.object_list]
    return page


def code_of(piece: Assignment | Slot) -> str:
    """The name of a piece in the handover: the assignment's id, or the id of the response and the slot's number."""
    return piece.public_id if isinstance(piece, Assignment) else f"{piece.response.public_id}.{piece.number}"


def _piece(row: Assignment | Slot, people: People, stuck: Mapping[int, tuple[str, ...]]) -> WorkItem:
    if isinstance(row, Slot):
        response = row.item.response
        code = code_of(row) if response.case.excluded_at is None else ""
        return WorkItem(
            "", code, response.case.key, response.candidate.name, FREE,
            None, None, None, None, stuck.get(row.pk, ()),
        )  # fmt: skip
    since = {
        "accepted": row.accepted_at, "submitted": row.submitted_at, "in_check": row.submitted_at,
        "returned": row.submitted_at, "released": row.released_at,
    }.get(row.status, row.started_at)  # fmt: skip
    checker = people[row.checker_id] if row.checker_id and row.status in ("submitted", "in_check", "returned") else None
    return WorkItem(
        row.public_id, code_of(row), row.case.key, row.response.candidate.name, row.status, people[row.annotator_id],
        checker, since,
        row.lease_until if row.status == "not_started" else None,
    )  # fmt: skip


PIECE_COLUMNS = ("batch", "case", "candidate", "setting", "sample", "physician", "status", "checker", "round",
                 "started", "handed_in", "accepted", "lease_until")  # fmt: skip


def piece_rows(batch: Batch, chosen: PieceFilter, people: People) -> Iterator[dict[str, Any]]:
    """Rows of the CSV: the pieces that match the filter, those in the pool last, physicians by pseudonym."""
    if chosen.status != FREE:
        yield from _assignment_rows(batch, chosen, people)
    if chosen.status not in ("", FREE):
        return
    for slot in free_slots_of(batch, chosen).iterator():
        response = slot.item.response
        yield {
            "batch": batch.title, "case": response.case.key, "candidate": response.candidate.name,
            "setting": response.setting, "sample": response.sample, "status": FREE,
        }  # fmt: skip


def _assignment_rows(batch: Batch, chosen: PieceFilter, people: People) -> Iterator[dict[str, Any]]:
    for row in assignments_of(batch, chosen, people).iterator():
        yield {
            "batch": batch.title, "case": row.case.key, "candidate": row.response.candidate.name,
            "setting": row.response.setting, "sample": row.response.sample,
            "physician": people[row.annotator_id].pseudonym, "status": row.status,
            "checker": people[row.checker_id].pseudonym if row.checker_id else None, "round": row.round,
            "started": _iso(row.started_at), "handed_in": _iso(row.submitted_at), "accepted": _iso(row.accepted_at),
            "lease_until": _iso(row.lease_until),
        }  # fmt: skip


def _iso(at: datetime | None) -> str | None:
    return at.isoformat() if at else None


# Handing over -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Taker:
    """Somebody who may take work over, with the pieces they may take and the work they have open already."""

    person: Person
    pieces: list[Assignment | Slot]
    load: int
    capacity: int | None

    @property
    def may_take(self) -> int:
        """Number of pieces that they may take."""
        return len(self.pieces)


@dataclass(frozen=True, slots=True)
class HandOver:
    """Open pieces of a batch that are to leave their holders or the pool, and who may take them."""

    batch: Batch
    pieces: list[Assignment | Slot]
    holders: list[Person]
    takers: list[Taker]

    def number(self, status: str) -> int:
        """Pieces in this state."""
        return sum(isinstance(piece, Assignment) and piece.status == status for piece in self.pieces)

    @property
    def assigned(self) -> int:
        """Pieces that an annotator has."""
        return len(self.pieces) - self.pooled

    @property
    def codes(self) -> list[str]:
        """The names of the pieces, as the list sends them."""
        return [code_of(piece) for piece in self.pieces]

    @property
    def pooled(self) -> int:
        """Pieces that nobody has."""
        return sum(isinstance(piece, Slot) for piece in self.pieces)

    @property
    def untouched(self) -> int:
        """Pieces that their holders have not begun."""
        return self.number("not_started")

    @property
    def drafts(self) -> int:
        """Pieces begun and not handed in."""
        return self.number("draft")

    @property
    def returned(self) -> int:
        """Pieces that a checker sent back."""
        return self.number("returned")


def movable(batch: Batch, *, public_ids: Collection[str], holder: int | None) -> QuerySet[Assignment]:
    """The chosen pieces, or all that ``holder`` has, without those that their annotators have finished."""
    rows = Assignment.objects.filter(batch=batch, purpose=Assignment.Purpose.WORK, status__in=OPEN)
    rows = rows.filter(annotator=holder) if holder is not None else rows.filter(public_id__in=public_ids)
    return rows.order_by("position", "pk")


def movable_free(batch: Batch, *, codes: Collection[str]) -> QuerySet[Slot]:
    """The chosen free slots, each named by `code_of`.

    Unknown names, slots that were claimed meanwhile, and slots of excluded cases are left out.
    """
    chosen = Q(pk__in=())
    for code in codes:
        response, _dot, number = code.partition(".")
        if number.isascii() and number.isdecimal() and len(number) < 5:
            chosen |= Q(item__response__public_id=response, number=int(number))
    rows = free_slots([batch.pk]).filter(chosen, item__response__case__excluded_at=None)
    rows = rows.exclude(item__batch__imported=True)
    return rows.select_related("item__response").defer("item__response__text").order_by("pk")


def hand_over_of(batch: Batch, rows: QuerySet[Assignment], people: People, *, free: Collection[Slot] = ()) -> HandOver:
    """What would move, and who may take it: most pieces first, then least open work; a fixed number of queries.

    The rules are those of `annotation.services.slots.reassign` and `assign`, which check them again when work moves.
    """
    assigned = list(rows)
    pieces: list[Assignment | Slot] = [*assigned, *free]
    holders = sorted(
        (people[user] for user in {piece.annotator_id for piece in assigned}), key=lambda p: natural(p.shown)
    )
    able = _able(batch, people)
    load: dict[int, int] = dict(
        Assignment.objects.filter(annotator__in=able, status__in=OPEN, batch__group=batch.group_id)
        .exclude(batch__status=Batch.Status.CLOSED)
        .exclude(batch__kind=Batch.Kind.QUALIFY)
        .order_by()
        .values_list("annotator")
        .annotate(Count("pk"))
    )
    takers = []
    for user, fitting in _takeable(batch, pieces, able).items():
        capacity = people[user].capacity.get(batch.group_id)
        room = None if capacity is None else max(0, capacity - load.get(user, 0))
        if fitting[:room]:
            takers.append(Taker(people[user], fitting[:room], load.get(user, 0), capacity))
    takers.sort(key=lambda taker: (-taker.may_take, taker.load, natural(taker.person.shown)))
    return HandOver(batch, pieces, holders, takers)


def _able(batch: Batch, people: People) -> list[int]:
    may = eligibilities(batch.group)
    active = annotators_of(batch.group_id).values_list("user_id", flat=True)
    return [user for user in active if user in people and (user not in may or may[user].may_get_work)]


def _takeable(
    batch: Batch, pieces: Collection[Assignment | Slot], users: Collection[int]
) -> dict[int, list[Assignment | Slot]]:
    """User → the pieces that are not theirs, on which they have no other part, and that are of their specialty."""
    responses = {piece.response_id for piece in pieces}
    excluded: dict[int, set[int]] = {user: set() for user in users}
    for refused_by_response in refusals(batch.group_id, users, responses).values():
        for response, refused in refused_by_response.items():
            for user in refused:
                excluded[user].add(response)
    for author, response in Response.objects.filter(pk__in=responses, author__in=users).values_list("author_id", "pk"):
        excluded[int(author or 0)].add(response)
    fits = None
    if batch.specialty_match == Batch.SpecialtyMatch.REQUIRED:
        cases = Case.objects.filter(pk__in={piece.case_id for piece in pieces}).values_list("pk", "tags")
        known = dict(PhysicianProfile.objects.filter(user__in=users).values_list("user_id", "specialty"))
        fits = matching(
            {pk: case_specialty(tags) for pk, tags in cases},
            {user: known.get(user, "") for user in users},
            batch.group.benchmark.maps.get("specialty", {}),
        )
    unread: set[tuple[int, int]] = set()
    if batch.match_languages:
        unread = unreadable_pairs({piece.case_id for piece in pieces}, users)
    taken: dict[int, list[Assignment | Slot]] = {}
    for user in users:
        # One piece of a response is enough for one person, even where two of its holders are chosen.
        mine: dict[int, Assignment | Slot] = {}
        for piece in pieces:
            if (
                piece.response_id not in excluded[user]
                and (fits is None or (piece.case_id, user) in fits)
                and (piece.case_id, user) not in unread
            ):
                mine.setdefault(piece.response_id, piece)
        taken[user] = list(mine.values())
    return taken
