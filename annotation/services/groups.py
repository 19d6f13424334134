"""Writes to expert groups and their memberships."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from datetime import datetime

from django.db import transaction
from django.db.models import Count, ProtectedError, Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import User
from accounts.services import invitations, person_of
from accounts.services.invitations import IssuedInvitation
from annotation.models import Adjudication, Assignment, Batch, ExpertGroup, Involvement, Membership, Part, Physician
from annotation.services import slots
from annotation.services.rules import readable_constraint_errors
from consilium.core.errors import Conflict, DomainError
from rubrics.models import Benchmark

BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
MAX_CAPACITY = 10_000


@transaction.atomic
def create_group(*, benchmark: Benchmark, name: str) -> ExpertGroup:
    """Make an empty expert group; its name must be unique in the benchmark."""
    name = _free_name(benchmark, name)
    with readable_constraint_errors():
        return ExpertGroup.objects.create(benchmark=benchmark, name=name)


@transaction.atomic
def rename_group(*, group: ExpertGroup, name: str) -> None:
    """Give the group another name."""
    group.name = _free_name(group.benchmark, name, besides=group)
    with readable_constraint_errors():
        group.save(update_fields=["name"])


def _free_name(benchmark: Benchmark, name: str, *, besides: ExpertGroup | None = None) -> str:
    """The name without blanks around it. `DomainError` if it is empty, `Conflict` if only case sets it apart."""
    name = name.strip()
    if not name:
        raise DomainError(_("A group needs a name."), field="name")
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    others = benchmark.groups.filter(name__iexact=name)
    other = (others if besides is None else others.exclude(pk=besides.pk)).first()
    if other is not None:
        message = _("A group with this name already exists: “%(name)s”.") % {"name": other.name}
        raise Conflict(message, field="name")
    return name


@transaction.atomic
def delete_group(*, group: ExpertGroup) -> None:
    """Delete a group that was never used. `Conflict` where it has, or had, members or work: these are kept."""
    try:
        with transaction.atomic():
            group.delete()
    except ProtectedError as error:
        raise Conflict(
            _("This group has or had members or work, which are kept, so it cannot be deleted. Rename it instead.")
        ) from error


def is_unused(group: ExpertGroup) -> bool:
    """Whether the group has never had a member, a batch or any other work."""
    relations = [
        relation
        for relation in ExpertGroup._meta.related_objects
        if relation.get_accessor_name() not in (None, "events") and not relation.hidden  # its own name is no work
    ]
    return not any(getattr(group, str(relation.get_accessor_name())).exists() for relation in relations)


@transaction.atomic
def add_member(
    *, group: ExpertGroup, role: str, email: str = "", user: User | None = None, name: str = ""
) -> Membership:
    """Give a person a role in the group: ``user``, or the person with the address ``email``.

    For an unknown address an account without a password is made: its owner sets a password by "Forgot your password?".
    A former member of the group is made active again. The person's pseudonym in the benchmark is made with the first
    membership and stays.
    """
    if role not in Membership.Role.values:
        raise DomainError(_("The role must be annotator, checker or adjudicator."))
    person = user or person_of(email=email, name=name)
    refuse_of_another_group(group, person)
    with readable_constraint_errors():
        membership, created = Membership.objects.get_or_create(group=group, user=person, role=role)
        if not created and not membership.active:
            membership.active = True
            membership.save(update_fields=["active"])
    physician_of(benchmark=group.benchmark, user=person)
    return membership


class InAnotherGroup(DomainError):
    """The physician is active in another expert group of the benchmark."""


def refuse_of_another_group(group: ExpertGroup, person: User) -> None:
    """`InAnotherGroup` that names the other expert group of the benchmark in which ``person`` is active."""
    others = Membership.objects.filter(user=person, active=True, group__benchmark=group.benchmark_id)
    others = others.exclude(group=group)
    other = others.select_related("group").first()
    if other is not None:
        raise InAnotherGroup(
            _(
                "This physician belongs to another expert group of the benchmark: “%(group)s”. Groups are compared, so "
                "a physician works in one of them only. Add the role in that group, or stop them there first."
            )
            % {"group": other.group.name}
        )


@transaction.atomic
def invite_member(
    *, group: ExpertGroup, role: str, email: str, name: str = "", by: User, at: datetime
) -> tuple[Membership, IssuedInvitation | None]:
    """`add_member`, and notify the person: by an invitation if they have never signed in, otherwise by a notice."""
    membership = add_member(group=group, role=role, email=email, name=name)
    slug = group.benchmark.slug
    invitation = invitations.invite(
        user=membership.user,
        scope=slug,
        title=group.benchmark.title,
        part=role,
        by=by,
        at=at,
        url=reverse("annotation:work-in", args=[slug]),
    )
    return membership, invitation


@transaction.atomic
def set_member_active(*, membership: Membership, active: bool, by: User | None = None, at: datetime) -> int:
    """Activate or deactivate a member; their decisions stay unchanged.

    Open work of a deactivated member goes back for others to take: an annotator's responses (their number is returned),
    a checker's unfinished checks, an adjudicator's unfinished conflicts. Whoever has no part left and never signed in
    can no longer use their invitation.
    """
    released = 0 if active else _hand_back(membership, by, at)
    membership.active = active
    with readable_constraint_errors():
        membership.save(update_fields=["active"])
    if active:
        return released
    invitations.withdraw_without_part(user=membership.user, benchmark=membership.group.benchmark, at=at)
    # Work claimed meanwhile: a claim locks the row of the membership, so the save above waited for it.
    return released + _hand_back(membership, by, at)


def _hand_back(membership: Membership, by: User | None, at: datetime) -> int:
    user, group = membership.user, membership.group
    if membership.role == Membership.Role.ANNOTATOR:
        return slots.release_open_work_of(user=user, group=group, by=by, at=at)
    if membership.role == Membership.Role.CHECKER:
        slots.release_held_checks_of(user=user, group=group)
    else:
        slots.release_held_adjudications_of(user=user, group=group)
    return 0


@transaction.atomic
def set_capacity(*, membership: Membership, capacity: int | None) -> None:
    """Limit how many responses an annotator has open at a time; None for no limit. Work that is open already stays."""
    if membership.role != Membership.Role.ANNOTATOR:
        raise DomainError(_("Only annotators have a capacity."))
    if capacity is not None and not 1 <= capacity <= MAX_CAPACITY:
        raise DomainError(_("A capacity must be between 1 and %(most)d.") % {"most": MAX_CAPACITY})
    membership.capacity = capacity
    membership.save(update_fields=["capacity"])


def held_in(groups: Collection[ExpertGroup] | QuerySet[ExpertGroup]) -> dict[tuple[int, str], int]:
    """(user, role) → how much goes back for others to take when this member of ``groups`` is stopped."""
    work = Assignment.objects.filter(batch__group__in=groups, batch__imported=False).exclude(
        batch__status=Batch.Status.CLOSED
    )
    open_work = work.filter(status__in=Assignment.OPEN).exclude(batch__kind=Batch.Kind.QUALIFY)
    checks = work.filter(status=Assignment.Status.IN_CHECK)
    conflicts = Adjudication.objects.filter(
        Q(group__in=groups) | Q(other_group__in=groups), adjudicator__isnull=False, status=Adjudication.Status.OPEN
    )
    return {
        (user, role): number
        for role, rows, column in (
            (Membership.Role.ANNOTATOR, open_work, "annotator"),
            (Membership.Role.CHECKER, checks, "checker"),
            (Membership.Role.ADJUDICATOR, conflicts, "adjudicator"),
        )
        for user, number in rows.order_by().values_list(column).annotate(Count("pk"))
    }


def assigned_by_group(benchmark: Benchmark, users: Collection[int]) -> list[tuple[int, str, int]]:
    """User, name of a group and how many responses they were ever assigned in it to grade, for each such group.

    Drafts, released and untouched responses count: an assignment alone bars them in every other group, for good.
    """
    rows = Involvement.objects.filter(part=Part.ANNOTATOR, user__in=users, group__benchmark=benchmark)
    counts = rows.order_by("group__name", "user").values_list("user", "group__name")
    return list(counts.annotate(Count("response")))


def assigned_in_words(group: str, number: int) -> str:
    """That somebody was assigned so many responses in another group, which they therefore never get in theirs."""
    text = ngettext(
        "Was assigned %(n)d response in “%(group)s”, and cannot grade, check or adjudicate it in another group.",
        "Was assigned %(n)d responses in “%(group)s”, and cannot grade, check or adjudicate them in another group.",
        number,
    )
    return text % {"n": number, "group": group}


def new_pseudonym() -> str:
    """A random pseudonym, which may be taken already."""
    return "P-" + "".join(secrets.choice(BASE32) for _ in range(6))


def physician_of(*, benchmark: Benchmark, user: User) -> Physician:
    """The person's pseudonym in the benchmark, made on first use: ``P-`` and six characters of base 32."""
    row = Physician.objects.filter(benchmark=benchmark, user=user)
    known = row.first()
    while known is None:
        # Not inserted if another request made the row meanwhile, or if somebody has that pseudonym.
        physician = Physician(benchmark=benchmark, user=user, pseudonym=new_pseudonym())
        Physician.objects.bulk_create([physician], ignore_conflicts=True)
        known = row.first()
    return known
