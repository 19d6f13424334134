"""Gold items: responses with a key, mixed blindly into batches, and the results on them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _

from accounts.models import User
from accounts.services.notifications import notify_each
from annotation.allocation.allocate import keyed
from annotation.models import (
    Assignment,
    Batch,
    BatchItem,
    ExpertGroup,
    Involvement,
    KeyedResponse,
    Membership,
    Physician,
    QualificationRule,
)
from annotation.qualification.marking import gold_mark
from annotation.selectors.languages_read import unreadable_pairs
from annotation.services.notices import notify_of_hold
from annotation.services.rules import readable_constraint_errors
from consilium.core.errors import Conflict, DomainError
from consilium.core.locks import RowLock, lock_exclusive
from consilium.statistics.estimate import Estimate
from rubrics.models import Benchmark, BenchmarkRole

GOLD_RESTS = timedelta(hours=1)  # between handing in a gold item and being held back because of it

Name = tuple[str, str, str, int]  # case, candidate, setting, sample: identifies a response outside the database


@transaction.atomic
def mix_in_gold(*, batch: Batch, at: datetime) -> int:
    """Put gold items into the queue of everybody who has work in the batch; returns how many were put in.

    Their places are drawn by the batch's seed, and the queue is renumbered so that its positions have no gap. In a
    queue ordered by case, an item joins the block of its case, or is put between two blocks. Nobody gets a response
    that they wrote or have a part in; an annotator for whom too few gold items remain gets fewer.
    """
    if not batch.gold_per_annotator:
        return 0
    queues: dict[int, list[Assignment]] = defaultdict(list)
    rows = Assignment.objects.filter(batch=batch, purpose=Assignment.Purpose.WORK)
    for row in rows.order_by("annotator", "position", "pk"):
        queues[row.annotator_id].append(row)
    places = _places(batch.group, queues)
    unseen = _unseen(batch.group, places, match_languages=batch.match_languages)
    fresh: list[Assignment] = []
    moved: list[Assignment] = []
    for user, place in places.items():
        queue = queues[user]
        for name, key in _drawn(batch, place, unseen[user])[: batch.gold_per_annotator]:
            item = _assignment(batch, key, user, place, name)
            item.lease_until = queue[0].lease_until
            queue.insert(_spot(batch, queue, item, place, name), item)
        for number, row in enumerate(queue, start=1):
            if row.pk and row.position != number:
                moved.append(row)
            row.position = number
        fresh += [row for row in queue if row.pk is None]
    with readable_constraint_errors():
        Assignment.objects.bulk_create(fresh, batch_size=1000)
    Assignment.objects.bulk_update(moved, ["position"], batch_size=1000)
    return len(fresh)


@transaction.atomic
def gold_due(*, annotator: User, batch: Batch, at: datetime) -> Assignment | None:
    """Assign and return the gold item that is due instead of the annotator's next claim from a pool; usually None.

    The annotator's claims are numbered. The numbers that give gold are drawn by the batch's seed from 1 to an even
    share of the pool, gold items included. An annotator who takes more than that share meets all their gold items, and
    the schedule is the same however requests race.
    """
    if not batch.gold_per_annotator:
        return None
    lock_exclusive(RowLock.GOLD_SCHEDULE, annotator.pk % 2**31)
    own = Assignment.objects.filter(batch=batch, annotator=annotator)
    taken = list(own.values_list("purpose", "position"))
    given = sum(purpose == Assignment.Purpose.GOLD for purpose, _position in taken)
    places = _places(batch.group, [annotator.pk])
    place = places[annotator.pk]
    if given >= batch.gold_per_annotator or len(taken) + 1 < _schedule(batch, place)[given]:
        return None
    unseen = _unseen(batch.group, places, match_languages=batch.match_languages)
    choice = _drawn(batch, place, unseen[annotator.pk])
    if not choice:
        return None
    name, key = choice[0]
    item = _assignment(batch, key, annotator.pk, place, name)
    item.position = max((position for _purpose, position in taken), default=0) + 1
    item.lease_until = at + timedelta(hours=batch.lease_hours) if batch.lease_hours else None
    with readable_constraint_errors():
        item.save()
    return item


def _schedule(batch: Batch, place: int) -> list[int]:
    """Numbers of the claims, from 1, for which this annotator gets a gold item."""
    slots = BatchItem.objects.filter(batch=batch).count() * batch.annotators_per_item
    annotators = max(
        1, Membership.objects.filter(group=batch.group_id, role=Membership.Role.ANNOTATOR, active=True).count()
    )
    share = max(1, -(-slots // annotators)) + batch.gold_per_annotator
    drawn = sorted(range(1, share + 1), key=lambda number: keyed(batch.seed, "gold-claim", place, number))
    return sorted(drawn[: batch.gold_per_annotator])


def _places(group: ExpertGroup, users: Iterable[int]) -> dict[int, int]:
    """User → place in the order of joining the group, which is the same in every copy of the database."""
    joined = Membership.objects.filter(group=group, role=Membership.Role.ANNOTATOR).order_by("pk")
    order = {user: place for place, user in enumerate(joined.values_list("user_id", flat=True))}
    return {user: order.get(user, len(order)) for user in users}


def gold_available(group: ExpertGroup, users: Iterable[int], *, match_languages: bool) -> dict[int, int]:
    """User → how many gold items a new batch of the group could give them."""
    unseen = _unseen(group, list(users), match_languages=match_languages)
    return {user: len(items) for user, items in unseen.items()}


def _unseen(
    group: ExpertGroup, users: Iterable[int], *, match_languages: bool
) -> dict[int, list[tuple[Name, KeyedResponse]]]:
    """User → gold items that they neither wrote nor have a part in, in the order of names."""
    keys = KeyedResponse.objects.filter(
        benchmark=group.benchmark_id, use=KeyedResponse.Use.GOLD, active=True, response__case__excluded_at=None
    ).select_related("response__case", "response__candidate")
    items = sorted(
        (((row.case.key, row.candidate.name, row.setting, row.sample), key) for key in keys for row in [key.response]),
        key=lambda pair: pair[0],
    )
    responses = [key.response_id for _name, key in items]
    parts = set(
        Involvement.objects.filter(user__in=list(users), response__in=responses).values_list("user_id", "response_id")
    )
    cases = {key.response.case_id for _name, key in items}
    unread = unreadable_pairs(cases, list(users)) if match_languages else set()
    return {
        user: [
            (name, key)
            for name, key in items
            if key.response.author_id != user
            and (user, key.response_id) not in parts
            and (key.response.case_id, user) not in unread
        ]
        for user in users
    }


def _drawn(batch: Batch, place: int, items: Sequence[tuple[Name, KeyedResponse]]) -> list[tuple[Name, KeyedResponse]]:
    return sorted(items, key=lambda pair: (keyed(batch.seed, "gold", place, *pair[0]), pair[0]))


def _assignment(batch: Batch, key: KeyedResponse, user: int, place: int, name: Name) -> Assignment:
    """A gold item as work, drawn for a check as often as the batch's other work, so that its states look the same."""
    share = keyed(batch.seed, "gold-check", place, *name) / 2**64
    return Assignment(
        batch=batch,
        case_id=key.response.case_id,
        response_id=key.response_id,
        rubric_id=key.rubric_id,
        annotator_id=user,
        purpose=Assignment.Purpose.GOLD,
        to_check=share < batch.check_fraction,
    )


def _spot(batch: Batch, queue: Sequence[Assignment], item: Assignment, place: int, name: Name) -> int:
    """The index at which the item goes into the queue."""
    chance = keyed(batch.seed, "gold-place", place, *name)
    if batch.order == Batch.Order.SHUFFLED:
        return chance % (len(queue) + 1)
    block = [number for number, row in enumerate(queue) if row.case_id == item.case_id]
    if block:
        return block[0] + chance % (len(block) + 1)
    borders = [n for n in range(len(queue) + 1) if n in (0, len(queue)) or queue[n].case_id != queue[n - 1].case_id]
    return borders[chance % len(borders)]


def settle_beside(*, work: Assignment, at: datetime) -> None:
    """Accept the gold items that the annotator of ``work`` handed in before it; a checker has just accepted ``work``.

    No checker sees gold items, but they must be accepted at the same time as the work handed in with them.
    """
    rows = Assignment.objects.filter(
        batch=work.batch_id,
        annotator=work.annotator_id,
        purpose=Assignment.Purpose.GOLD,
        status=Assignment.Status.SUBMITTED,
        submitted_at__lte=work.submitted_at,
    )
    rows.update(status=Assignment.Status.ACCEPTED, accepted_at=at)


def unsettle_beside(*, work: Assignment, at: datetime | None) -> None:
    """Undo `settle_beside`: the gold items that were accepted with ``work``, at ``at``, wait again like the work."""
    rows = Assignment.objects.filter(
        batch=work.batch_id,
        annotator=work.annotator_id,
        purpose=Assignment.Purpose.GOLD,
        status=Assignment.Status.ACCEPTED,
        to_check=True,
        accepted_at=at,
    )
    rows.update(status=Assignment.Status.SUBMITTED, accepted_at=None)


# Consequences of gold marks -------------------------------------------------------------------------------------------


def hold_back_by_gold(*, at: datetime) -> int:
    """Hold back annotators below the mark on gold items, and notify the admins; returns how many were held back.

    This is never done at a submission: a notification right after it would reveal that the item was gold. Only items
    handed in at least `GOLD_RESTS` ago count, since other work has been handed in meanwhile.
    """
    until = at - GOLD_RESTS
    rules = QualificationRule.objects.filter(gold_mark__isnull=False).select_related("benchmark")
    given = Assignment.objects.filter(
        batch__group=OuterRef("group"),
        annotator=OuterRef("user"),
        purpose=Assignment.Purpose.GOLD,
        submitted_at__lte=until,
    )
    held = 0
    for rule in rules:
        members = Membership.objects.filter(
            Exists(given),
            group__benchmark=rule.benchmark,
            role=Membership.Role.ANNOTATOR,
            active=True,
            withheld_at=None,
        )
        held += sum(_held_back_by_gold(member, rule, until, at) for member in members.values_list("pk", flat=True))
    return held


@transaction.atomic
def _held_back_by_gold(membership: int, rule: QualificationRule, until: datetime, at: datetime) -> bool:
    members = Membership.objects.select_for_update(of=("self",)).select_related("group__benchmark", "user")
    member = members.get(pk=membership)
    if member.withheld_at is not None:
        return False
    mark = gold_mark(rule.benchmark_id, member.user_id, since=member.gold_since, until=until)
    if rule.gold_mark is None or not isinstance(mark, Estimate):
        return False
    if mark.n < rule.gold_minimum or mark.value >= rule.gold_mark:
        return False
    with translation.override(settings.LANGUAGE_CODE):  # stored, and read by admins of any language
        reason = _("MF1 of %(mf1).3f on %(n)d gold decisions, below the pass mark of %(mark).3f.") % {
            "mf1": mark.value,
            "n": mark.n,
            "mark": rule.gold_mark,
        }
    _hold(member, reason, at)
    notify_admins(benchmark=rule.benchmark, about=member, reason=reason, at=at)
    return True


@transaction.atomic
def hold_back(*, membership: Membership, reason: str, at: datetime) -> None:
    """Give a member no new work until the hold is lifted; they may finish what they have begun."""
    if not reason.strip():
        raise DomainError(_("Enter a reason. It is kept on record."))
    _hold(membership, reason.strip(), at)


def _hold(member: Membership, reason: str, at: datetime) -> None:
    hit = Membership.objects.filter(pk=member.pk, withheld_at=None).update(withheld_at=at, withheld_reason=reason)
    if hit != 1:
        raise Conflict(_("Assignments to this member are already paused."))
    member.withheld_at, member.withheld_reason = at, reason
    notify_of_hold(membership=member, at=at)


@transaction.atomic
def lift_hold(*, membership: Membership, reason: str, at: datetime) -> None:
    """Let a member get new work again. Gold items begun before no longer count against them."""
    reason = reason.strip()
    if not reason:
        raise DomainError(_("Enter a reason. It is kept on record."))
    hit = Membership.objects.filter(pk=membership.pk, withheld_at__isnull=False).update(
        withheld_at=None, withheld_reason=reason, gold_since=at
    )
    if hit != 1:
        raise Conflict(_("Assignments to this member are not paused."))
    membership.withheld_at, membership.withheld_reason, membership.gold_since = None, reason, at


def notify_admins(*, benchmark: Benchmark, about: Membership, reason: str, at: datetime) -> None:
    """Notify the admins of the benchmark that a member gets no new work."""
    pseudonym = (
        Physician.objects.filter(benchmark=benchmark, user=about.user_id).values_list("pseudonym", flat=True).first()
    )
    admins = User.objects.filter(
        benchmark_roles__benchmark=benchmark,
        benchmark_roles__role=BenchmarkRole.Role.ADMIN,
        benchmark_roles__active=True,
        is_active=True,
    )
    details = {"physician": pseudonym or str(about.user), "reason": reason}
    notify_each(
        people=dict.fromkeys(admins.values_list("pk", flat=True), details),
        kind="held_back",
        benchmark_title=benchmark.title,
        url=reverse("annotation:quality-person", args=[benchmark.slug, about.pk]),
        at=at,
    )
