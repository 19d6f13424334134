"""Gives the people of a list their parts in a benchmark, and invites them: all of them or nobody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.models import User
from accounts.services import invitations, person_of, suggest_profile
from accounts.services.invitations import IssuedInvitation
from annotation.models import ExpertGroup
from annotation.people.people_list import IN_GROUPS, ListedPerson
from annotation.services.groups import (
    InAnotherGroup,
    assigned_by_group,
    assigned_in_words,
    create_group,
    invite_member,
    set_capacity,
)
from consilium.core.errors import DomainError
from rubrics.models import AuthoringRole, Benchmark, BenchmarkRole
from rubrics.parsing.faults import Faults
from rubrics.services import give_authoring_role, grant_role


@dataclass(frozen=True, slots=True)
class AddedPerson:
    """A person of a list and what their row brought: an account, a group, the part, and an invitation or none."""

    listed: ListedPerson
    user: User
    is_new: bool
    makes_group: bool
    had_part: bool
    issued: IssuedInvitation | None


@transaction.atomic
def add_people(
    *, benchmark: Benchmark, people: Sequence[ListedPerson], by: User, at: datetime, faults: Faults | None = None
) -> list[AddedPerson]:
    """Add everybody, and make the expert groups that are not there. `ImportRefused` if one row cannot be done.

    ``faults`` are those of the rows that could not be read: they are refused together with those found here.
    Specialty and languages are stored only for people who have never opened their account; others keep their profile.
    """
    faults = Faults() if faults is None else faults
    added: list[AddedPerson] = []
    for listed in people:
        field = "email"
        try:
            with transaction.atomic():
                is_new = not User.objects.filter(email__iexact=listed.email).exists()
                user = person_of(email=listed.email, name=listed.name, way="list")
                field = "role"
                if listed.role in IN_GROUPS:
                    group, makes_group = _group(benchmark, listed.group)
                    had_part = group.memberships.filter(user=user, role=listed.role, active=True).exists()
                    membership, issued = invite_member(group=group, role=listed.role, email=user.email, by=by, at=at)
                    suggest_profile(user=user, specialty=listed.specialty, languages=listed.reads)
                    if listed.capacity is not None:
                        field = "capacity"
                        set_capacity(membership=membership, capacity=listed.capacity)
                else:
                    makes_group = False
                    had_part, issued = _outside_groups(benchmark, user, listed.role, by, at)
        except DomainError as refused:
            field = "group" if isinstance(refused, InAnotherGroup) else field
            faults.add(listed.line, field, _earlier_line(listed, added, refused) or str(refused))
        else:
            added.append(AddedPerson(listed, user, is_new, makes_group, had_part, issued))
    faults.refuse_if_any()
    return added


def assigned_elsewhere(benchmark: Benchmark, added: Sequence[AddedPerson]) -> dict[int, list[str]]:
    """User → a sentence for each other group in which they were assigned responses, which they get in no other.

    ``added``: those who would get a role in an expert group; a group that would be made has assigned nothing.
    """
    groups = {person.user.pk: person.listed.group for person in added if person.listed.role in IN_GROUPS}
    lines: dict[int, list[str]] = {}
    for user, group, number in assigned_by_group(benchmark, groups):
        if group.casefold() != groups[user].casefold():
            lines.setdefault(user, []).append(assigned_in_words(group, number))
    return lines


def _earlier_line(listed: ListedPerson, added: Sequence[AddedPerson], refused: DomainError) -> str:
    """The line of the list that puts the person in another group, if ``refused`` is about that; else empty."""
    if not isinstance(refused, InAnotherGroup):
        return ""
    address = listed.email.lower()
    earlier = (row.listed for row in added if row.listed.group and row.listed.email.lower() == address)
    first = next(earlier, None)
    if first is None:
        return ""
    return _(
        "Line %(line)s already gives this physician a role in the expert group “%(group)s”. A physician can belong to "
        "only one expert group of a benchmark."
    ) % {"line": first.line, "group": first.group}


@transaction.atomic
def preview_people(
    *, benchmark: Benchmark, people: Sequence[ListedPerson], by: User, at: datetime, faults: Faults | None = None
) -> list[AddedPerson]:
    """What `add_people` would do, or the `ImportRefused` that it would raise; nothing is stored, no mail is sent."""
    added = add_people(benchmark=benchmark, people=people, by=by, at=at, faults=faults)
    transaction.set_rollback(True)
    return added


def _group(benchmark: Benchmark, name: str) -> tuple[ExpertGroup, bool]:
    """The group of that name, whatever its capital letters, and whether it was made now."""
    known = benchmark.groups.filter(name__iexact=name).order_by("pk").first()
    return (known, False) if known is not None else (create_group(benchmark=benchmark, name=name), True)


def _outside_groups(
    benchmark: Benchmark, user: User, role: str, by: User, at: datetime
) -> tuple[bool, IssuedInvitation | None]:
    """Give a part that belongs to no group; whether the person had it, and their invitation."""
    if role in BenchmarkRole.Role.values:
        had_part = benchmark.roles.filter(user=user, role=role, active=True).exists()
        grant_role(benchmark=benchmark, user=user, role=role)
        url = reverse("rubrics:overview", args=[benchmark.slug])
    else:
        had_part = benchmark.authoring_roles.filter(user=user, role=role, active=True).exists()
        give_authoring_role(benchmark=benchmark, user=user, role=role, at=at)
        writes = role == AuthoringRole.Role.AUTHOR
        url = reverse("rubrics:write", args=[benchmark.slug]) if writes else reverse("accounts:home")
    issued = invitations.invite(
        user=user, scope=benchmark.slug, title=benchmark.title, part=role, by=by, at=at, url=url
    )
    return had_part, issued
