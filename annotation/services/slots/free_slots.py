"""Determines the free slots that an annotator may claim, and those that nobody may claim."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import PhysicianProfile, User
from accounts.unread_cases import unread_by
from annotation.allocation.specialties import case_specialty, matching
from annotation.models import Assignment, Batch, ExpertGroup, Involvement, Membership, Part, Skip, Slot
from annotation.selectors.eligibility import NOT_QUALIFIED_YET, eligibilities
from annotation.selectors.languages_read import unreadable_pairs
from rubrics.models import Case, Response

LIVE = ~Q(status=Assignment.Status.RELEASED)


def free_slots(batches: Collection[int]) -> QuerySet[Slot]:
    """Slots of ``batches`` (ids) that are assigned to nobody."""
    holders = Assignment.objects.filter(LIVE, slot=OuterRef("pk"))
    return Slot.objects.filter(~Exists(holders), item__batch__in=batches)


def takable(annotator: User, batches: Sequence[Batch]) -> QuerySet[Slot]:
    """Free slots that ``annotator`` may take.

    These are left out: responses that they wrote, grade or have graded, have another part in, or passed over for good;
    excluded cases; and cases of another specialty, or in a language that they do not read, where the batch matches.
    """
    groups = {batch.group_id for batch in batches}
    response = OuterRef("item__response")
    other_part = Involvement.objects.filter(response=response, user=annotator.pk).exclude(
        part=Part.ANNOTATOR, group__in=groups
    )
    graded = Assignment.objects.filter(LIVE, response=response, annotator=annotator.pk)
    passed_over = Skip.objects.filter(assignment__response=response, assignment__annotator=annotator.pk).exclude(
        reason=Skip.Reason.LATER
    )
    rows = free_slots([batch.pk for batch in batches])
    rows = rows.filter(~Exists(other_part), ~Exists(graded), ~Exists(passed_over))
    rows = rows.exclude(item__response__author=annotator.pk).filter(item__response__case__excluded_at=None)
    for batch in batches:
        if batch.specialty_match == Batch.SpecialtyMatch.REQUIRED:
            rows = rows.exclude(~Q(item__response__case__in=matching_cases(annotator, batch)) & Q(item__batch=batch.pk))
    if any(batch.match_languages for batch in batches):
        rows = rows.exclude(Q(item__batch__match_languages=True) & unread_by(annotator.pk, "item__response__case"))
    return rows


def matching_cases(annotator: User, batch: Batch) -> list[int]:
    """Ids of the batch's cases whose specialty is the annotator's."""
    return sorted(case for case, _person in _matches(batch, [annotator.pk]))


def _matches(batch: Batch, users: Collection[int]) -> set[tuple[int, int]]:
    rows = Case.objects.filter(responses__batch_items__batch=batch.pk).distinct()
    cases = {pk: case_specialty(tags) for pk, tags in rows.values_list("pk", "tags")}
    known = dict(PhysicianProfile.objects.filter(user__in=users).values_list("user_id", "specialty"))
    people = {user: known.get(user, "") for user in users}
    return matching(cases, people, batch.group.benchmark.maps.get("specialty", {}))


def put_off() -> Exists:
    """A condition on assignments: their annotator passed them over for later, and has not handed them in since."""
    later = Skip.objects.filter(assignment=OuterRef("pk"), reason=Skip.Reason.LATER)
    return Exists(later.filter(Q(assignment__submitted_at=None) | Q(created_at__gt=F("assignment__submitted_at"))))


def open_in_group(annotator: int, group: int) -> int:
    """How many responses the annotator has open in the group, the number that a capacity limits."""
    rows = Assignment.objects.filter(annotator=annotator, batch__group=group, status__in=Assignment.OPEN)
    return rows.exclude(batch__status=Batch.Status.CLOSED).exclude(batch__kind=Batch.Kind.QUALIFY).count()


def annotators_of(group: ExpertGroup | int) -> QuerySet[Membership]:
    """Memberships of people who grade for the group now."""
    return Membership.objects.filter(
        group=group, role=Membership.Role.ANNOTATOR, active=True, user__is_active=True
    ).order_by("pk")


# Stuck slots ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StuckSlot:
    """A free slot that no annotator of the group may take, and why; capacities are ignored, as they are temporary."""

    slot: Slot
    response: Response
    reasons: tuple[str, ...]

    @property
    def case(self) -> str:
        """The short name of the case."""
        return self.response.case.key

    @property
    def candidate(self) -> str:
        """The name of the candidate."""
        return self.response.candidate.name


def stuck_slots(batch: Batch, *, at: datetime | None = None) -> list[StuckSlot]:
    """Free slots of an unclosed batch that nobody in the group may take, in a fixed number of queries."""
    if batch.status == Batch.Status.CLOSED:
        return []
    rows = list(
        free_slots([batch.pk]).select_related("item__response__case", "item__response__candidate").order_by("pk")
    )
    if not rows:
        return []
    people = list(annotators_of(batch.group_id).values_list("user_id", flat=True))
    eligibility = eligibilities(batch.group, at=at or timezone.now())
    refused = {user: eligibility[user].reason for user in people if user in eligibility}
    responses = [slot.item.response_id for slot in rows]
    parts = refusals(batch.group_id, people, responses)
    fits = None
    if batch.specialty_match == Batch.SpecialtyMatch.REQUIRED:
        fits = _matches(batch, people)
    unread: set[tuple[int, int]] = set()
    if batch.match_languages:
        unread = unreadable_pairs({slot.item.response.case_id for slot in rows}, people)
    stuck = []
    for slot in rows:
        response = slot.item.response
        if response.case.excluded_at is not None:
            stuck.append(StuckSlot(slot, response, (_("The case is excluded."),)))
            continue
        why: Counter[str] = Counter()
        for user in people:
            if reason := _part_in(response, user, parts):
                why[reason] += 1
            elif fits is not None and (response.case_id, user) not in fits:
                why["specialty"] += 1
            elif (response.case_id, user) in unread:
                why["language"] += 1
            elif refused.get(user):
                why["unqualified" if refused[user] in NOT_QUALIFIED_YET else "eligibility"] += 1
            else:
                break
        else:
            stuck.append(StuckSlot(slot, response, _in_words(why)))
    return stuck


def _part_in(response: Response, user: int, parts: Mapping[str, Mapping[int, Collection[int]]]) -> str:
    """The reason for which ``user`` never gets ``response``, by the dicts of `refusals`; empty without one."""
    if user == response.author_id:
        return "author"
    for reason, users in parts.items():
        if user in users.get(response.pk, ()):
            return reason
    return ""


def why_not_given(
    *,
    group: ExpertGroup,
    response: Response,
    people: Collection[int],
    unread: Collection[int] = (),
    pledged: Collection[int] = (),
) -> tuple[str, ...]:
    """Why a new batch of ``group`` cannot give ``response`` to annotators among ``people``, in sentences with numbers.

    ``unread``: those of them who do not read its language; ``pledged``: those who still have to write to its case.
    """
    parts = refusals(group.pk, people, [response.pk])
    involved = Involvement.objects.filter(response=response, user__in=people)
    had_it = set(involved.values_list("user_id", flat=True))
    why: Counter[str] = Counter()
    for user in people:
        if reason := _part_in(response, user, parts):
            why[reason] += 1
        elif user in had_it:
            why["released"] += 1
        elif user in unread:
            why["language"] += 1
        elif user in pledged:
            why["writes"] += 1
    return _in_words(why) if why else ()


def refusals(group: int, people: Collection[int], responses: Collection[int]) -> dict[str, dict[int, set[int]]]:
    """Dicts response → users, by reason: with another part in it, who was assigned it in another group, who grade or
    graded it in this group, who passed over it for good. The first reason that applies is the one to give.
    """
    other_part: dict[int, set[int]] = defaultdict(set)
    elsewhere: dict[int, set[int]] = defaultdict(set)
    parts = Involvement.objects.filter(response__in=responses, user__in=people).exclude(
        part=Part.ANNOTATOR, group=group
    )
    for response, user, part in parts.values_list("response_id", "user_id", "part"):
        (elsewhere if part == Part.ANNOTATOR else other_part)[response].add(user)
    graded: dict[int, set[int]] = defaultdict(set)
    work = Assignment.objects.filter(LIVE, response__in=responses, annotator__in=people)
    for response, user in work.values_list("response_id", "annotator_id"):
        graded[response].add(user)
    passed_over: dict[int, set[int]] = defaultdict(set)
    skips = Skip.objects.filter(assignment__response__in=responses, assignment__annotator__in=people)
    for response, user in skips.exclude(reason=Skip.Reason.LATER).values_list(
        "assignment__response_id", "assignment__annotator_id"
    ):
        passed_over[response].add(user)
    return {"part": other_part, "elsewhere": elsewhere, "graded": graded, "skipped": passed_over}


def _in_words(why: Counter[str]) -> tuple[str, ...]:
    if not why:
        return (_("The group has no annotator."),)
    words = {
        "author": ngettext("%(n)d annotator wrote it.", "%(n)d annotators wrote it.", why["author"]),
        "part": ngettext(
            "%(n)d annotator checks or adjudicates it.", "%(n)d annotators check or adjudicate it.", why["part"]
        ),
        "elsewhere": ngettext(
            "%(n)d annotator was assigned it in another group and cannot grade it here.",
            "%(n)d annotators were assigned it in another group and cannot grade it here.",
            why["elsewhere"],
        ),
        "graded": ngettext("%(n)d annotator already grades it.", "%(n)d annotators already grade it.", why["graded"]),
        "skipped": ngettext("%(n)d annotator skipped it.", "%(n)d annotators skipped it.", why["skipped"]),
        "released": ngettext("%(n)d annotator released it.", "%(n)d annotators released it.", why["released"]),
        "writes": ngettext(
            "%(n)d annotator still has to write a response to its case.",
            "%(n)d annotators still have to write a response to its case.",
            why["writes"],
        ),
        "specialty": ngettext(
            "%(n)d annotator has another specialty.", "%(n)d annotators have another specialty.", why["specialty"]
        ),
        "language": ngettext(
            "%(n)d annotator does not read its language.",
            "%(n)d annotators do not read its language.",
            why["language"],
        ),
        "unqualified": ngettext(
            "%(n)d annotator has not qualified yet.",
            "%(n)d annotators have not qualified yet.",
            why["unqualified"],
        ),
        "eligibility": ngettext(
            "Assignments are paused for %(n)d annotator.",
            "Assignments are paused for %(n)d annotators.",
            why["eligibility"],
        ),
    }
    return tuple(text % {"n": why[name]} for name, text in words.items() if why[name])
